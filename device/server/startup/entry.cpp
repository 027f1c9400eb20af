// The two ways into the device side of libcmodel_firmware.so: the softtpu-device program, and a thread of a program
// that has its kernels linked in. C functions, found by name.
#include "device/server/startup/entry.hpp"
#include "device/server/core_process/kernel_stack.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <system_error>
#include <thread>

#include "device/server/core_process/shared_memory_guard.hpp"
#include "device/server/startup/replay.hpp"
#include "device/server/startup/server.hpp"
#include "device/server/startup/setting_options.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "runtime/module/kernel_registry.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/transport/refuse.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr int kEmbeddedFd = 3;

int report(const Error& error) {
  std::fprintf(stderr, "softtpu-device: %s\n", escape_controls(error.text).c_str());
  return 1;
}

// Without descriptors or memory for it the event loop throws.
Result<std::unique_ptr<Server>> create_server(const Settings& settings, const Server::Options& options) {
  try {
    return Server::create(settings, options);
  } catch (const std::exception& failure) {
    return Error{ErrorKind::kResource, fmt::format("the device cannot start: {}", failure.what())};
  }
}

// The first process only forks the device: its parent waits for it and has no child left afterwards.
int run_embedded(const Settings& settings, const DeviceOptions& options) {
  if (const pid_t device = ::fork(); device != 0) {
    if (device < 0) refuse(UniqueFd(kEmbeddedFd), system_error(ErrorKind::kResource, "fork"));
    return 0;
  }
  // Ctrl-C is meant for the program. And Linux gives each session its share of the processors
  // (sched_autogroup_enabled): a program that keeps them busy with many processes does not push its device aside.
  ::setsid();
  std::signal(SIGINT, SIG_IGN);
  // Files that the program has open are none of this process's business.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  survive_shared_memory_faults();
  ::syscall(SYS_close_range, static_cast<unsigned>(kEmbeddedFd + 1), ~0U, 0U);
  ::fcntl(kEmbeddedFd, F_SETFD, FD_CLOEXEC);
  ::prctl(PR_SET_NAME, "softtpu-device");

  UniqueFd socket(kEmbeddedFd);
  const auto peer = find_peer(socket.get());
  if (!peer) return report(peer.error());
  auto server = create_server(settings, {.devices = options, .end_with_last_client = true});
  if (!server) {
    refuse(std::move(socket), server.error());
    return 1;
  }
  (*server)->end_with(peer->pid);
  if (auto adopted = (*server)->adopt(std::move(socket)); !adopted) return report(adopted.error());
  (*server)->run();
  return 0;
}

struct ServeOptions {
  std::string socket;
  std::uint32_t devices = 1;
  bool daemon = false;
  GatewayLink::Options gateway;
};

int serve(const Settings& settings, const ServeOptions& options, int ready) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  survive_shared_memory_faults();
  if (auto good = GatewayLink::check(options.gateway); !good) return report(good.error());
  // A server that others use logs its remote clients and the modules that are loaded.
  if (std::getenv("SOFTTPU_LOG") == nullptr) set_log_level(LogLevel::kInfo);
  if (options.socket.empty()) {
    if (auto folder = make_private_folder(runtime_folder()); !folder) return report(folder.error());
  }
  const std::string path = options.socket.empty() ? default_socket_path() : options.socket;
  auto server = create_server(settings, {.devices = {.count = options.devices, .many_clients = true}});
  if (!server) return report(server.error());
  if (auto listening = (*server)->listen(path); !listening) return report(listening.error());
  std::string remote;
  if (!options.gateway.endpoint.empty()) {
    GatewayLink::Options gateway = options.gateway;
    gateway.daemon = options.daemon;
    auto endpoint = (*server)->open_gateway(gateway);
    if (!endpoint) return report(endpoint.error());
    remote = *endpoint;
  }
  (*server)->stop_on_signals();
  (*server)->look_after_socket();
  std::printf("softtpu: %u device%s of chip %s, pid %d; use with SOFTTPU_DEVICE=unix:%s\n", options.devices,
              options.devices == 1 ? "" : "s", escape_controls(settings.chip).c_str(), ::getpid(),
              escape_controls(path).c_str());
  if (!remote.empty()) std::printf("softtpu: remote clients use SOFTTPU_DEVICE=tcp://%s\n", remote.c_str());
  std::fflush(stdout);
  if (ready >= 0) {
    const char yes = 1;
    if (::write(ready, &yes, 1) == 1) ::close(ready);
    const UniqueFd null(::open("/dev/null", O_RDWR));
    ::dup2(null.get(), 0);
    ::dup2(null.get(), 1);
    ::dup2(null.get(), 2);
  }
  (*server)->run();
  return 0;
}

// Passes on what is there. False: nothing more will come.
bool pass_on(int from, int to) {
  std::array<char, 4096> bytes{};
  const ssize_t got = ::read(from, bytes.data(), bytes.size());
  for (ssize_t done = 0; done < got;) {
    const ssize_t written = ::write(to, bytes.data() + done, static_cast<std::size_t>(got - done));
    if (written < 0 && errno != EINTR) break;
    done += std::max<ssize_t>(written, 0);
  }
  return got > 0 || (got < 0 && errno == EINTR);
}

// The calling process ends when the daemon listens, or with its failure. Until then it passes on what the daemon
// prints: nothing of the daemon, its cores and its gateway holds what the caller has open, so that a program that waits
// for the end of that output does not wait for theirs.
int serve_as_daemon(const Settings& settings, const ServeOptions& options) {
  // Else the daemon would keep its caller's output, and whatever waits for the end of that would wait forever.
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) {
    const Error why = system_error(ErrorKind::kResource, "/dev/null cannot be opened");
    return report(
        {why.kind, why.text + ". A daemon needs it in place of its output; a container or chroot has to have it."});
  }
  int ready[2], out[2], err[2];
  if (::pipe2(ready, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0)
    return report(system_error(ErrorKind::kResource, "pipe"));
  const pid_t daemon = ::fork();
  if (daemon < 0) return report(system_error(ErrorKind::kResource, "fork"));
  if (daemon == 0) {
    for (const int read_end : {ready[0], out[0], err[0]}) ::close(read_end);
    ::dup2(null.get(), 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    ::close(out[1]);
    ::close(err[1]);
    ::setsid();
    return serve(settings, options, ready[1]);
  }
  for (const int write_end : {ready[1], out[1], err[1]}) ::close(write_end);
  pollfd waits[] = {{ready[0], POLLIN, 0}, {out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  // What was printed before is passed on before the end is looked at.
  for (;;) {
    if (::poll(waits, 3, -1) < 0 && errno != EINTR) return 1;
    bool printed = false;
    for (const int stream : {1, 2}) {
      if (waits[stream].revents == 0) continue;
      if (pass_on(waits[stream].fd, stream)) {
        printed = true;
      } else {
        waits[stream].fd = -1;
      }
    }
    if (printed || waits[0].revents == 0) continue;
    char yes = 0;
    return ::read(ready[0], &yes, 1) == 1 ? 0 : 1;
  }
}

// The loader takes LD_PRELOAD of a program's start. A library that is not there would be left out with a line that
// is not read.
Result<void> check_preload(const std::string& libraries) {
  std::istringstream list(libraries);
  for (std::string path; std::getline(list, path, ':');) {
    if (path.find('/') == std::string::npos || ::access(path.c_str(), R_OK) == 0) continue;
    return Error{ErrorKind::kUsage, fmt::format("SOFTTPU_PRELOAD: \"{}\": {}.", path, std::strerror(errno))};
  }
  return {};
}

// Starts this program again with the libraries of SOFTTPU_PRELOAD in front, unless that has happened.
Result<void> preload(const Settings& settings, char** argv) {
  if (settings.preload.empty()) return {};
  const std::string before = std::getenv("LD_PRELOAD") != nullptr ? std::getenv("LD_PRELOAD") : "";
  if (before.starts_with(settings.preload)) {
    // Programs that this one starts do not need them.
    const std::string rest = before.substr(std::min(settings.preload.size() + 1, before.size()));
    rest.empty() ? ::unsetenv("LD_PRELOAD") : ::setenv("LD_PRELOAD", rest.c_str(), 1);
    return {};
  }
  if (auto good = check_preload(settings.preload); !good) return good;
  ::setenv("LD_PRELOAD", (settings.preload + (before.empty() ? "" : ":" + before)).c_str(), 1);
  ::execv("/proc/self/exe", argv);
  return system_error(ErrorKind::kResource, "starting with SOFTTPU_PRELOAD");
}

int replay_record(const Settings& settings, const std::string& file) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return run_replay(settings, file);
}

}  // namespace
}  // namespace softtpu

using namespace softtpu;

extern "C" int softtpu_device_main(int argc, char** argv) {
  CLI::App app("The emulated device of softtpu. Started by libbmlib (--embedded) or by \"softtpu serve\".",
               "softtpu-device");
  ServeOptions options;
  bool embedded = false, serving = false;
  DeviceOptions own;  // of an embedded device
  std::string replay;
  app.add_flag("--embedded", embedded, "one device for the program at the other end of descriptor 3");
  app.add_option("--number", own.first, "with --embedded: the number that the program knows the device by");
  app.add_flag(
      "--keep-files", own.keep_files,
      "with --embedded: appends to the trace and the other files that another device of the program has begun");
  app.add_flag("--serve", serving, "devices for all programs of this user, on a Unix socket");
  app.add_option("--replay", replay, "runs the launch that this file records, as \"softtpu replay\" does");
  app.add_option("--socket", options.socket, "the socket's path");
  app.add_option("--devices", options.devices, "number of devices")->check(CLI::Range(1, 64));
  app.add_flag("--daemon", options.daemon, "go on in the background once the socket is ready");
  app.add_option("--tcp", options.gateway.endpoint, "HOST:PORT for remote clients; needs the three options below");
  app.add_option("--tls-cert", options.gateway.certificate_file, "certificate chain (PEM)");
  app.add_option("--tls-key", options.gateway.key_file, "the certificate's key (PEM), readable by its owner only");
  app.add_option("--token-file", options.gateway.token_file,
                 "file with the token that clients show, readable by its owner only");
  add_setting_options(app, SettingUser::kServer);
  CLI11_PARSE(app, argc, argv);
  auto settings = read_settings();
  if (!settings) return report(settings.error());
  auto possible = check_stack_limit();
  if (possible) possible = preload(*settings, argv);
  if (!possible) {
    if (!embedded) return report(possible.error());
    // The program waits for the first process to end, and gets the reason from another one.
    if (::fork() == 0) refuse(UniqueFd(kEmbeddedFd), possible.error());
    return 0;
  }
  if (!replay.empty()) return replay_record(*settings, replay);
  if (embedded) return run_embedded(*settings, own);
  if (!serving) return report({ErrorKind::kUsage, "one of --embedded, --serve and --replay is needed."});
  return options.daemon ? serve_as_daemon(*settings, options) : serve(*settings, options, -1);
}

extern "C" unsigned long softtpu_registered_kernel_count() { return kernel_registry().size(); }

extern "C" int softtpu_start_inprocess(char* error_text, unsigned long error_bytes) {
  const auto fail = [&](const Error& error) {
    if (error_text != nullptr && error_bytes > 0) std::snprintf(error_text, error_bytes, "%s", error.text.c_str());
    return -1;
  };
  auto settings = read_settings();
  if (!settings) return fail(settings.error());
  auto pair = make_socket_pair();
  if (!pair) return fail(pair.error());
  static std::atomic<std::uint32_t> started{0};  // in this program
  const std::uint32_t number = started++;
  auto server = create_server(*settings, {.devices = {.first = number, .in_process = true, .keep_files = number > 0}});
  if (!server) return fail(server.error());
  if (auto adopted = (*server)->adopt(std::move(pair->second)); !adopted) return fail(adopted.error());
  // Lives until the program ends, with everything in it: kernels may run to the last moment.
  Server* const running = server->release();
  try {
    std::thread([running] { running->run(); }).detach();
  } catch (const std::system_error& failure) {
    return fail({ErrorKind::kResource, fmt::format("starting the device's thread: {}", failure.what())});
  }
  return pair->first.release();
}
