#include "device/server/startup/server.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr std::chrono::milliseconds kDrainStep{20};
constexpr std::size_t kMaxSessions = 1024;

// So many connections are taken before others are served.
constexpr int kTakenAtOnce = 16;
constexpr std::chrono::milliseconds kLookAtSocket{1000};

// Of a device that others share. A client with a device of its own may have all of it.
ShareLimits share_limits(const Settings& settings, std::uint64_t device_bytes) {
  return {settings.client_bytes.value_or(device_bytes / 8 * 7), settings.client_modules, settings.client_descriptors,
          settings.client_connections};
}

}  // namespace

Server::Server(const Options& options)
    : options_(options),
      host_{loop_, devices_, [this](Session& session) { on_closed(session); },
            [this](msg::StatReply& stat, const Device& device) {
              for (const auto& session : sessions_) {
                if (session->device() == &device) stat.clients.push_back(session->stat());
              }
            },
            ClientShares()} {}

Server::~Server() {
  close_listener();
  if (client_process_) loop_.unwatch(client_process_.get());
}

Result<std::unique_ptr<Server>> Server::create(const Settings& settings, const Options& options) {
  std::unique_ptr<Server> server(new Server(options));
  server->drain_ms_ = settings.drain_ms;
  server->host_.most_findings = settings.max_findings;
  auto devices = make_devices(server->loop_, settings, options.devices);
  if (!devices) return devices.error();
  server->devices_ = *std::move(devices);
  if (options.is_shared())
    server->host_.shares = ClientShares(share_limits(settings, server->devices_.front()->heap().bytes_total()));
  return server;
}

Result<void> Server::adopt(UniqueFd socket) {
  auto peer = find_peer(socket.get());
  if (!peer) return peer.error();
  if (peer->uid != ::getuid()) {
    return Error{ErrorKind::kUsage, fmt::format("user {} may not use the devices of user {}", peer->uid, ::getuid())};
  }
  // Not in one block with its counts: a timer that only knows of a session must not keep its memory.
  std::shared_ptr<Session> session(new Session(host_, std::move(socket), peer->pid));
  if (auto started = session->start(gateway_ && peer->pid == gateway_->pid()); !started) return started;
  sessions_.insert(session);
  return {};
}

void Server::end_with(pid_t process) {
  client_process_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!client_process_) return;  // it has ended already, which closes the socket
  loop_.watch(client_process_.get());
  loop_.when_readable(client_process_.get(), [this] { loop_.stop(); });
}

Result<void> Server::listen(const std::string& path) {
  socket_path_ = path;
  return open_listener();
}

Result<void> Server::open_listener() {
  auto listener = place_.listen(socket_path_);
  if (!listener) return listener.error();
  listener_ = *std::move(listener);
  loop_.watch(listener_.get());
  loop_.when_readable(listener_.get(), [this] { when_connecting(); });
  return {};
}

void Server::close_listener() {
  if (!listener_) return;
  loop_.unwatch(listener_.get());
  listener_.reset();
  place_.leave();
}

// A socket can lose its name: when a folder is cleared up, or with the folder, which goes with the last session
// of its user. The device could not be reached then.
void Server::look_after_socket() {
  loop_.after(kLookAtSocket, [this] { look_after_socket(); });
  if (place_.is_ours()) return;
  const bool warned = std::exchange(warned_of_place_, true);
  if (!warned) log_warning(socket_path_ + " has been removed or replaced.");
  if (listener_) loop_.unwatch(listener_.get());
  listener_.reset();
  if (socket_path_ == default_socket_path()) static_cast<void>(make_private_folder(runtime_folder()));
  if (auto opened = open_listener(); !opened) {
    if (!warned) log_error("programs cannot reach this device: " + opened.error().text);
    return;
  }
  warned_of_place_ = false;
  log_warning(socket_path_ + " is there again.");
}

Result<std::string> Server::open_gateway(GatewayLink::Options options) {
  options.socket_path = socket_path_;
  auto gateway = GatewayLink::start(loop_, options);
  if (!gateway) return gateway.error();
  gateway_ = std::move(*gateway);
  return gateway_->endpoint();
}

void Server::when_connecting() {
  if (!listener_) return;  // called again after a pause
  for (int i = 0;; ++i) {
    if (i == kTakenAtOnce) return loop_.soon([this] { when_connecting(); });
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) break;
    if (sessions_.size() >= kMaxSessions) {
      log_warning(fmt::format("a connection is refused: there are {} already", sessions_.size()));
      continue;
    }
    if (auto adopted = adopt(std::move(socket)); !adopted)
      log_warning("a connection is refused: " + adopted.error().text);
  }
  // Out of descriptors or memory: try again when something has been closed.
  if (errno != EAGAIN && errno != ECONNABORTED) {
    log_warning(fmt::format("accepting a connection: {}", std::strerror(errno)));
    loop_.after(std::chrono::milliseconds(100), [this] { when_connecting(); });
    return;
  }
  loop_.when_readable(listener_.get(), [this] { when_connecting(); });
}

void Server::on_closed(Session& session) {
  sessions_.erase(session.shared_from_this());
  if (options_.end_with_last_client && sessions_.empty()) loop_.stop();
}

void Server::stop_on_signals() {
  loop_.on_signal({SIGINT, SIGTERM}, [this](int) {
    end_when_idle(std::chrono::steady_clock::now() + std::chrono::milliseconds(drain_ms_));
    loop_.on_signal({}, [this](int) { loop_.stop(); });  // a second signal ends it without waiting
  });
}

// Takes nothing new. What runs may come to its end within the time; then it is cancelled with the connections.
void Server::end_when_idle(std::chrono::steady_clock::time_point deadline) {
  host_.is_ending = true;
  std::size_t queued = 0;
  for (const auto& device : devices_) queued += device->queue().queued();
  if (queued == 0) return loop_.stop();
  if (std::chrono::steady_clock::now() >= deadline) {
    log_warning(fmt::format("{} launches are cancelled: they did not end within {} s (SOFTTPU_DRAIN)", queued,
                            drain_ms_ / 1000));
    return loop_.stop();
  }
  loop_.after(kDrainStep, [this, deadline] { end_when_idle(deadline); });
}

void Server::run() { loop_.run(); }

}  // namespace softtpu
