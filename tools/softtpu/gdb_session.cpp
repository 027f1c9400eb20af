#include "tools/softtpu/gdb_session.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "runtime/transport/socket.hpp"
#include "tools/softtpu/command.hpp"

namespace softtpu::cli {
namespace {

namespace fs = std::filesystem;

// A core says its process and its kernels' addresses; more than this is none.
constexpr std::size_t kMostCallBytes = 1U << 20;

Result<std::string> find_gdb() {
  std::istringstream path(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) {
    const fs::path program = fs::path(folder) / "gdb";
    if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) return program.string();
  }
  return Error{ErrorKind::kUsage, "--gdb: there is no gdb in PATH; it is the Debian package gdb"};
}

// share/ stands beside bin/, in an installed tree and in a build tree.
Result<std::string> find_script() {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  const fs::path script = self.parent_path().parent_path() / "share/softtpu/gdb/softtpu.py";
  if (fs::exists(script, failed)) return script.string();
  return Error{ErrorKind::kResource, fmt::format("--gdb: {} is missing", script.string())};
}

// The line that a core sends, in words; empty when it is none.
std::vector<std::string> receive_call(int socket) {
  std::string text;
  char piece[4096];
  while (text.find('\n') == std::string::npos && text.size() < kMostCallBytes) {
    const ssize_t got = ::recv(socket, piece, sizeof piece, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    text.append(piece, static_cast<std::size_t>(got));
  }
  std::istringstream words(text);
  std::vector<std::string> call;
  for (std::string word; words >> word;) call.push_back(word);
  return call.size() >= 2 ? call : std::vector<std::string>();
}

// gdb gets the terminal for itself: Ctrl-C shall interrupt the kernel and not end the program, which goes on in the
// background.
class Foreground {
 public:
  explicit Foreground(bool wanted) : wanted_(wanted && ::isatty(STDIN_FILENO) == 1) {
    if (wanted_) before_ = std::signal(SIGTTOU, SIG_IGN);
  }
  ~Foreground() {
    if (!wanted_) return;
    ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
    std::signal(SIGTTOU, before_);
  }
  Foreground(const Foreground&) = delete;
  Foreground& operator=(const Foreground&) = delete;
  void give(pid_t group) const {
    if (!wanted_) return;
    ::setpgid(group, group);
    ::tcsetpgrp(STDIN_FILENO, group);
  }

 private:
  bool wanted_;
  sighandler_t before_ = SIG_DFL;
};

[[noreturn]] void be_gdb(std::vector<char*>& arguments, pid_t launcher, bool batch) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(1);
  if (batch) {
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
  } else {
    ::setpgid(0, 0);
    if (::isatty(STDIN_FILENO) == 1) ::tcsetpgrp(STDIN_FILENO, ::getpid());
  }
  for (const int signal : {SIGINT, SIGQUIT, SIGTTOU}) std::signal(signal, SIG_DFL);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

}  // namespace

Result<std::unique_ptr<GdbSession>> GdbSession::create(const std::string& commands) {
  auto gdb = find_gdb();
  if (!gdb) return gdb.error();
  auto script = find_script();
  if (!script) return script.error();
  if (!commands.empty() && ::access(commands.c_str(), R_OK) != 0) {
    return Error{ErrorKind::kUsage, fmt::format("--gdb-commands: \"{}\": {}", commands, std::strerror(errno))};
  }
  std::unique_ptr<GdbSession> session(new GdbSession);
  session->gdb_ = *gdb;
  session->script_ = *script;
  session->commands_ = commands;
  std::error_code failed;
  std::string folder = (fs::temp_directory_path(failed) / "softtpu-gdb-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return system_error(ErrorKind::kResource, folder);
  session->folder_ = folder;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder + "/cores";
  if (path.size() >= sizeof address.sun_path)
    return Error{ErrorKind::kUsage, fmt::format("--gdb: the path {} is too long for a socket", path)};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  session->listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(session->listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(session->listener_.get(), 16) != 0) {
    return system_error(ErrorKind::kResource, "listening on " + path);
  }
  session->socket_path_ = path;
  ::setenv("SOFTTPU_GDB", path.c_str(), 1);
  return session;
}

GdbSession::~GdbSession() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Meanwhile GdbSession::meanwhile() {
  return {listener_.get(), [this](pid_t program) { serve_core(program); }};
}

void GdbSession::serve_core(pid_t program) {
  // The core waits as long as this connection is open.
  const UniqueFd core(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!core) return;
  const auto call = receive_call(core.get());
  if (call.empty()) return;
  const int status = run_gdb(call);
  if (status != 0) fail(fmt::format("gdb ended with status {}", status).c_str());
  ::kill(program, SIGCONT);  // it may have wanted the terminal meanwhile
}

int GdbSession::run_gdb(const std::vector<std::string>& call) const {
  const bool batch = !commands_.empty();
  std::string process_and_kernels;
  for (const std::string& word : call) process_and_kernels += " " + word;
  std::vector<std::string> words = {gdb_, "-q",    "-iex", "set debuginfod enabled off",
                                    "-x", script_, "-ex",  "softtpu begin" + process_and_kernels};
  if (batch) words.insert(words.end(), {"-batch", "-x", commands_});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t launcher = ::getpid();
  const Foreground terminal(!batch);
  const pid_t gdb = ::fork();
  if (gdb < 0) return -1;
  if (gdb == 0) be_gdb(arguments, launcher, batch);
  terminal.give(gdb);
  int status = 0;
  while (::waitpid(gdb, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace softtpu::cli
