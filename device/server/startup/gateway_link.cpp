#include "device/server/startup/gateway_link.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "runtime/base/endpoint.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/ownership.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/transport/event_loop.hpp"
#include "runtime/transport/socket.hpp"

extern char** environ;

namespace softtpu {
namespace {

constexpr std::chrono::seconds kRestartPause{1};

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// One line; empty when the gateway has ended before it said anything.
std::string read_line(int socket) {
  std::string line;
  char byte = 0;
  for (;;) {
    const ssize_t got = ::read(socket, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return "";
    if (byte == '\n') return line;
    line += byte;
  }
}

}  // namespace

Result<void> GatewayLink::check(const Options& options) {
  std::string given, missing;
  for (const auto& [option, value] :
       {std::pair("--tls-cert", &options.certificate_file), std::pair("--tls-key", &options.key_file),
        std::pair("--token-file", &options.token_file)}) {
    std::string& list = value->empty() ? missing : given;
    list += (list.empty() ? "" : ", ") + std::string(option);
  }
  if (options.endpoint.empty()) {
    if (given.empty()) return {};
    return Error{ErrorKind::kUsage, fmt::format("{} without --tcp: there is nothing to protect.", given)};
  }
  if (!missing.empty())
    return Error{ErrorKind::kUsage, fmt::format("--tcp is only served with TLS and a token; missing: {}.", missing)};
  if (find_endpoint(options.endpoint)) return {};
  return Error{ErrorKind::kUsage, fmt::format("--tcp: \"{}\" is not HOST:PORT.", options.endpoint)};
}

Result<std::unique_ptr<GatewayLink>> GatewayLink::start(EventLoop& loop, const Options& options) {
  std::unique_ptr<GatewayLink> link(new GatewayLink(loop, options));
  if (auto spawned = link->spawn(); !spawned) return spawned.error();
  link->endpoint_ = read_line(link->socket_.get());
  if (link->endpoint_.empty()) {
    wait_for(link->pid_);
    link->pid_ = -1;
    return Error{ErrorKind::kResource, "softtpu-remote does not start (its message is above)."};
  }
  // Should it have to be started again, clients look for it where it was.
  link->options_.endpoint = link->endpoint_;
  link->watch();
  return link;
}

GatewayLink::~GatewayLink() {
  if (socket_) loop_.unwatch(socket_.get());
  socket_.reset();
  if (pid_ <= 0 || !has_ownership()) return;
  ::kill(pid_, SIGTERM);
  wait_for(pid_);
}

Result<void> GatewayLink::spawn() {
  auto program = find_program("softtpu-remote");
  if (!program) return program.error();
  auto pair = make_socket_pair();
  if (!pair) return pair.error();
  std::vector<std::string> words = {"softtpu-remote",     "--listen",     options_.endpoint,         "--socket",
                                    options_.socket_path, "--tls-cert",   options_.certificate_file, "--tls-key",
                                    options_.key_file,    "--token-file", options_.token_file};
  if (options_.daemon) words.emplace_back("--daemon");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pair->second.get(), 3);
  const int failed = ::posix_spawn(&pid_, program->c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    pid_ = -1;
    return Error{ErrorKind::kResource, fmt::format("starting {}: {}", *program, std::strerror(failed))};
  }
  socket_ = std::move(pair->first);
  return {};
}

void GatewayLink::watch() {
  loop_.watch(socket_.get());
  loop_.when_readable(socket_.get(), [this] { when_ended(); });
}

// Also called for the line that a gateway which was started again says: only its end matters then.
void GatewayLink::when_ended() {
  char bytes[256];
  const ssize_t got = ::read(socket_.get(), bytes, sizeof bytes);
  if (got > 0 || (got < 0 && errno == EINTR)) {
    loop_.when_readable(socket_.get(), [this] { when_ended(); });
    return;
  }
  loop_.unwatch(socket_.get());
  socket_.reset();
  log_error(fmt::format("the gateway {}; remote clients are cut off until it is started again.",
                        to_exit_text(wait_for(pid_))));
  pid_ = -1;
  start_again();
}

// Until it succeeds: descriptors or memory may be short for a while. The link lives as long as the loop runs.
void GatewayLink::start_again() {
  loop_.after(kRestartPause, [this] {
    auto spawned = spawn();
    if (spawned) return watch();
    log_error("the gateway cannot be started again: " + spawned.error().text);
    start_again();
  });
}

}  // namespace softtpu
