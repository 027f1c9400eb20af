#include "device/server/server.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "runtime/base/log.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr int kBacklog = 64;
constexpr std::chrono::milliseconds kDrainStep{20};
constexpr std::size_t kMaxSessions = 1024;

// A socket left by a server that is gone may be replaced; one that answers, or anything else, may not.
Result<void> make_way(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode) || status.st_uid != ::getuid()) {
    return Error{ErrorKind::kUsage, path + " exists and is not a socket of this user."};
  }
  if (connect_unix(path)) return Error{ErrorKind::kUsage, "another server listens on " + path + "."};
  if (::unlink(path.c_str()) != 0) return system_error(ErrorKind::kResource, "removing the old " + path);
  return {};
}

}  // namespace

Server::Server(const Options& options)
    : options_(options),
      host_{loop_, devices_, [this](Session& session) { on_closed(session); },
            [this](StatReply& stat, const Device& device) {
              for (const auto& session : sessions_) {
                if (session->device() == &device) stat.clients.push_back(session->stat());
              }
            }} {}

Server::~Server() {
  if (listener_) loop_.unwatch(listener_.get());
  if (client_process_) loop_.unwatch(client_process_.get());
  if (!socket_path_.empty()) ::unlink(socket_path_.c_str());
}

Result<std::unique_ptr<Server>> Server::create(const Settings& settings, const Options& options) {
  std::unique_ptr<Server> server(new Server(options));
  server->drain_ms_ = settings.drain_ms;
  server->host_.most_findings = settings.max_findings;
  auto devices = make_devices(server->loop_, settings, options.devices);
  if (!devices) return devices.error();
  server->devices_ = *std::move(devices);
  return server;
}

Result<void> Server::adopt(UniqueFd socket) {
  auto peer = find_peer(socket.get());
  if (!peer) return peer.error();
  if (peer->uid != ::getuid()) {
    return Error{ErrorKind::kUsage, fmt::format("user {} may not use the devices of user {}", peer->uid, ::getuid())};
  }
  auto session = std::make_shared<Session>(host_, std::move(socket), peer->pid);
  sessions_.insert(session);
  session->start();
  return {};
}

void Server::end_with(pid_t process) {
  client_process_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!client_process_) return;  // gone already: the socket says so too
  loop_.watch(client_process_.get());
  loop_.when_readable(client_process_.get(), [this] { loop_.stop(); });
}

Result<void> Server::listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return Error{ErrorKind::kUsage, fmt::format("a socket path of {} characters is outside 1..{}.", path.size(),
                                                sizeof(address.sun_path) - 1)};
  }
  if (auto way = make_way(path); !way) return way;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_) return system_error(ErrorKind::kResource, "socket");
  // The mode is right from the first moment on, not only after a chmod.
  const mode_t before = ::umask(0177);
  const int bound = ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  ::umask(before);
  if (bound != 0) return system_error(ErrorKind::kResource, "binding " + path);
  socket_path_ = path;
  if (::listen(listener_.get(), kBacklog) != 0) return system_error(ErrorKind::kResource, "listening on " + path);
  loop_.watch(listener_.get());
  loop_.when_readable(listener_.get(), [this] { when_connecting(); });
  return {};
}

Result<std::string> Server::open_gateway(GatewayLink::Options options) {
  options.socket_path = socket_path_;
  auto gateway = GatewayLink::start(loop_, options);
  if (!gateway) return gateway.error();
  gateway_ = std::move(*gateway);
  return gateway_->endpoint();
}

void Server::when_connecting() {
  for (;;) {
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
    loop_.on_signal({}, [this](int) { loop_.stop(); });  // whoever asks twice does not want to wait
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
