#include "runtime/process/device_process.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "runtime/process/begun_files.hpp"
#include "runtime/transport/socket.hpp"

extern char** environ;

namespace softtpu {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// Attributes of a process that starts with default signals: what the host program blocks or ignores is its own affair.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&value);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&value, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&value, &signals);
    posix_spawnattr_setflags(&value, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&value); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  posix_spawnattr_t value;
};

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&value); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&value); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t value;
};

// The environment of a program that this one starts: this one's, but for what the settings give instead.
class Environment {
 public:
  explicit Environment(const std::vector<std::string>& given) {
    for (char** own = environ; own != nullptr && *own != nullptr; ++own) {
      const std::string_view name = name_of(*own);
      const auto replaces = [&](const std::string& text) { return name_of(text) == name; };
      if (std::none_of(given.begin(), given.end(), replaces)) texts_.emplace_back(*own);
    }
    for (auto text = given.begin(); text != given.end(); ++text) {
      const auto comes_again = [&](const std::string& later) { return name_of(later) == name_of(*text); };
      if (std::none_of(text + 1, given.end(), comes_again)) texts_.push_back(*text);
    }
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  char* const* pointers() const { return pointers_.data(); }

 private:
  static std::string_view name_of(std::string_view text) { return text.substr(0, text.find('=')); }
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

// Starts a program that forks and ends at once, so that no child of this process stays behind; the fork has the other
// end of the returned socket as descriptor 3.
Result<UniqueFd> start_detached(const std::string& program, const std::vector<std::string>& words,
                                const std::vector<std::string>& given) {
  // Else the reason would be that the program does not exist.
  constexpr const char* kNothing = "/dev/null";
  if (::access(kNothing, R_OK) != 0) {
    return Error{ErrorKind::kResource,
                 fmt::format("starting {}: {} cannot be read ({}); a container or chroot needs it.", program, kNothing,
                             std::strerror(errno))};
  }
  auto pair = make_socket_pair();
  if (!pair) return pair.error();
  SpawnActions actions;
  posix_spawn_file_actions_addopen(&actions.value, 0, kNothing, O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.value, pair->second.get(), 3);
  const SpawnAttributes attributes;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const Environment environment(given);
  const int failed =
      ::posix_spawn(&pid, program.c_str(), &actions.value, &attributes.value, arguments.data(), environment.pointers());
  if (failed != 0) return Error{ErrorKind::kResource, fmt::format("starting {}: {}", program, std::strerror(failed))};
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  // Before it could answer: the loader has found no libraries, or no descriptors for them.
  if (status != 0) {
    return Error{ErrorKind::kResource,
                 fmt::format("{} did not start: it {} (its messages are above).", program, to_exit_text(status))};
  }
  return std::move(pair->first);
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  std::vector<fs::path> folders;
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&find_program), &here) != 0 && here.dli_fname != nullptr) {
    std::error_code failed;
    const fs::path file = fs::canonical(here.dli_fname, failed);
    if (!failed) {
      folders.push_back(file.parent_path() / ".." / "bin");
      folders.push_back(file.parent_path() / ".." / ".." / "bin");  // lib/<architecture>/
      folders.push_back(file.parent_path());
    }
  }
  std::string path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin) folders.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const fs::path& folder : folders) {
    if (is_program(folder / name)) return (folder / name).lexically_normal().string();
  }
  return Error{ErrorKind::kResource, fmt::format("{} is neither beside {} nor in PATH.", name,
                                                 here.dli_fname != nullptr ? here.dli_fname : "the library")};
}

Result<std::string> find_device_binary(const Settings& settings) {
  if (!settings.device_binary.empty()) {
    if (is_program(settings.device_binary)) return settings.device_binary;
    return Error{ErrorKind::kUsage,
                 fmt::format("SOFTTPU_DEVICE_BINARY: \"{}\" is not a program.", settings.device_binary)};
  }
  auto found = find_program("softtpu-device");
  if (!found) return Error{found.error().kind, found.error().text + " SOFTTPU_DEVICE_BINARY can name it."};
  return found;
}

Result<UniqueFd> start_embedded_device(const Settings& settings, std::uint32_t number) {
  auto binary = find_device_binary(settings);
  if (!binary) return binary.error();
  begin_files(settings);
  std::vector<std::string> words = {"softtpu-device", "--embedded", "--number", std::to_string(number), "--keep-files"};
  if (!settings.preload.empty()) words.insert(words.end(), {"--preload", settings.preload});
  return start_detached(*binary, words, settings.given);
}

Result<UniqueFd> start_remote_connection(const Settings& settings) {
  if (settings.token_file.empty()) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{} needs a token: SOFTTPU_TOKEN_FILE is not set.", shared_device_name(settings))};
  }
  auto binary = find_program("softtpu-remote");
  if (!binary) return binary.error();
  std::vector<std::string> words = {"softtpu-remote", "--connect", to_text(settings.remote), "--token-file",
                                    settings.token_file};
  if (!settings.ca_file.empty()) words.insert(words.end(), {"--ca", settings.ca_file});
  return start_detached(*binary, words, settings.given);
}

std::string runtime_folder() {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  if (folder != nullptr && *folder == '/') return std::string(folder) + "/softtpu";
  return fmt::format("/tmp/softtpu-{}", ::getuid());
}

std::string default_socket_path() { return runtime_folder() + "/device.sock"; }

Result<void> make_private_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error(ErrorKind::kResource, "making " + folder);
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) return system_error(ErrorKind::kResource, folder);
  if (!S_ISDIR(status.st_mode)) return Error{ErrorKind::kUsage, folder + " is not a directory."};
  if (status.st_uid != ::getuid()) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{} belongs to user {}, not to {}.", folder, status.st_uid, ::getuid())};
  }
  if ((status.st_mode & 0077) != 0) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{} is open to other users (mode {:04o}, must be 0700).", folder, status.st_mode & 07777)};
  }
  return {};
}

std::string to_exit_text(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const char* name = ::sigdescr_np(signal);
    return fmt::format("was ended by signal {} ({})", signal, name != nullptr ? name : "unknown");
  }
  return fmt::format("called exit({})", WEXITSTATUS(wait_status));
}

}  // namespace softtpu
