// softtpu-remote: TLS in front of a shared device (--listen) and behind a host program (--connect). A program of its
// own, so that neither keys and tokens nor what parses a stranger's bytes share a process with kernels, devices or host
// programs.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "runtime/remote/connector.hpp"
#include "runtime/remote/gateway.hpp"
#include "runtime/transport/refuse.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

// The other end of the program that started this one.
constexpr int kParentFd = 3;

int report(const Error& error) {
  std::fprintf(stderr, "softtpu-remote: %s\n", escape_controls(error.text).c_str());
  return 1;
}

UniqueFd take_parent() {
  std::signal(SIGPIPE, SIG_IGN);
  ::syscall(SYS_close_range, static_cast<unsigned>(kParentFd + 1), ~0U, 0U);
  ::fcntl(kParentFd, F_SETFD, FD_CLOEXEC);
  // No debugger of the same user, and no core file, gets at what is in memory here.
  ::prctl(PR_SET_DUMPABLE, 0);
  return UniqueFd(kParentFd);
}

void let_go_of_terminal() {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {0, 1, 2}) ::dup2(null.get(), fd);
}

int listen(const GatewayOptions& options, bool daemon) {
  UniqueFd parent = take_parent();
  if (std::getenv("SOFTTPU_LOG") == nullptr) set_log_level(LogLevel::kInfo);  // as in the server
  auto gateway = Gateway::create(options);
  if (!gateway) return report(gateway.error());
  const std::string ready = (*gateway)->endpoint() + "\n";
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(ready.data()), ready.size());
  if (auto sent = send_all(parent.get(), bytes); !sent) return report(sent.error());
  if (daemon) let_go_of_terminal();
  (*gateway)->run(std::move(parent));
  return 0;
}

// The first process only forks: its parent waits for it and has no child left afterwards.
int connect(const ConnectorOptions& options) {
  if (const pid_t connector = ::fork(); connector != 0) return connector > 0 ? 0 : 1;
  std::signal(SIGINT, SIG_IGN);
  UniqueFd parent = take_parent();
  if (auto done = run_connector(options, parent); !done) {
    refuse(std::move(parent), done.error());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace softtpu

int main(int argc, char** argv) {
  using namespace softtpu;
  CLI::App app("TLS of remote devices. Started by \"softtpu serve --tcp\" (--listen) and by libbmlib (--connect).",
               "softtpu-remote");
  std::string listen_at, connect_to, token_file;
  GatewayOptions gateway;
  ConnectorOptions connector;
  app.add_option("--listen", listen_at, "HOST:PORT to take connections on");
  app.add_option("--connect", connect_to, "HOST:PORT of a remote device");
  app.add_option("--token-file", token_file, "file with the clients' token")->required();
  bool daemon = false;
  app.add_flag("--daemon", daemon, "with --listen: go to the background once connections are accepted");
  app.add_option("--socket", gateway.socket_path, "the device's Unix socket");
  app.add_option("--tls-cert", gateway.certificate_file, "certificate chain (PEM)");
  app.add_option("--tls-key", gateway.key_file, "the certificate's key (PEM)");
  app.add_option("--ca", connector.ca_file,
                 "certificates that the server's is checked against (PEM); default: the system's");
  CLI11_PARSE(app, argc, argv);
  const auto endpoint = find_endpoint(listen_at.empty() ? connect_to : listen_at);
  if (listen_at.empty() == connect_to.empty() || !endpoint) {
    return report({ErrorKind::kUsage, "one of --listen HOST:PORT and --connect HOST:PORT is needed."});
  }
  gateway.endpoint = connector.endpoint = *endpoint;
  gateway.token_file = connector.token_file = token_file;
  return listen_at.empty() ? connect(connector) : listen(gateway, daemon);
}
