#include "tools/softtpu/python.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace softtpu::cli {
namespace {

namespace fs = std::filesystem;

// The checkout that a build tree was made from; empty: this is no build tree.
fs::path checkout_of(const fs::path& build) {
  std::ifstream cache(build / "CMakeCache.txt");
  const std::string key = "softtpu_SOURCE_DIR:STATIC=";
  for (std::string line; std::getline(cache, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return {};
}

// Where the package that belongs to this program may be: in a wheel, which holds this program; beside a build tree;
// below the prefix; else wherever Python finds it.
fs::path find_package_folder(const fs::path& self) {
  const fs::path prefix = self.parent_path().parent_path();
  std::error_code failed;
  for (const fs::path& folder :
       {prefix.parent_path().parent_path(), checkout_of(prefix) / "python", prefix / "lib/python3/dist-packages"}) {
    if (fs::exists(folder / "softtpu" / "trial.py", failed)) return folder;
  }
  return {};
}

// Says which Python it is and what it lacks; status 0: nothing. A folder of that name is no package.
constexpr const char* kQuestion =
    "import importlib.util as util, sys\n"
    "package = util.find_spec('softtpu')\n"
    "found = {'softtpu': package and package.origin, 'numpy': util.find_spec('numpy')}\n"
    "lacking = [name for name in found if not found[name]]\n"
    "print(sys.executable, 'lacks', ' and '.join(lacking), end='')\n"
    "sys.exit(bool(lacking))";

// What a Python answers, without its errors; its status, or the error of starting it below 0.
int ask(const std::string& python, std::string& answer) {
  ::signal(SIGCHLD, SIG_DFL);  // a parent may have it ignored, and then no status comes
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -errno;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const char* const words[] = {python.c_str(), "-c", kQuestion, nullptr};
  pid_t process = 0;
  const int failed =
      ::posix_spawnp(&process, python.c_str(), &actions, nullptr, const_cast<char* const*>(words), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  char piece[4096];
  for (ssize_t size = 1; failed == 0 && (size = ::read(ends[0], piece, sizeof piece)) > 0;)
    answer.append(piece, static_cast<std::size_t>(size));
  ::close(ends[0]);
  if (failed != 0) return -failed;
  int status = 0;
  if (::waitpid(process, &status, 0) != process) return -errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Empty when the Python has softtpu and what it needs, else what is wrong with it.
std::string trouble_with(const std::string& python) {
  std::string answer;
  const int status = ask(python, answer);
  if (status == 0) return {};
  if (status < 0) return fmt::format("\"{}\" cannot be started: {}", python, std::strerror(-status));
  return status == 1 && !answer.empty() ? answer : fmt::format("\"{}\" ends with status {}", python, status);
}

// The first python3 of the path may be another one than the system's, for which the packages are installed.
Result<std::string> find_python() {
  const char* const chosen = std::getenv("SOFTTPU_PYTHON");
  std::vector<std::string> candidates = {"python3", "/usr/bin/python3"};
  if (chosen != nullptr && *chosen != '\0') candidates = {chosen};
  std::vector<std::string> troubles;
  for (const std::string& python : candidates) {
    std::string trouble = trouble_with(python);
    if (trouble.empty()) return python;
    if (std::ranges::find(troubles, trouble) == troubles.end()) troubles.push_back(std::move(trouble));
  }
  return Error{ErrorKind::kUsage,
               fmt::format("no Python with softtpu and numpy: {}; install softtpu's wheel (pip install softtpu-*.whl, "
                           "in a virtual environment that PATH begins with) or python3-softtpu (apt), or name a Python "
                           "that has them: SOFTTPU_PYTHON=/path/to/python3",
                           fmt::join(troubles, ", "))};
}

}  // namespace

Error become_python(const std::string& what, const std::vector<std::string>& arguments) {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  const fs::path folder = find_package_folder(self);
  if (!folder.empty()) {
    const char* const old = std::getenv("PYTHONPATH");
    const std::string path = folder.string() + (old != nullptr && *old != '\0' ? std::string(":") + old : "");
    ::setenv("PYTHONPATH", path.c_str(), 1);
  }
  const auto python = find_python();
  if (!python) return Error{python.error().kind, what + ": " + python.error().text};
  std::vector<std::string> words = {*python, "-m"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(python->c_str(), pointers.data());
  return Error{ErrorKind::kUsage, fmt::format("{}: \"{}\" cannot be started: {}", what, *python, std::strerror(errno))};
}

}  // namespace softtpu::cli
