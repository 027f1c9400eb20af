#include "tools/softtpu/python.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tools/softtpu/command.hpp"

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

bool has_numpy(const char* python) {
  const char* const words[] = {
      python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('numpy') is None)", nullptr};
  pid_t process = 0;
  int status = 0;
  return ::posix_spawnp(&process, python, nullptr, nullptr, const_cast<char* const*>(words), environ) == 0 &&
         ::waitpid(process, &status, 0) == process && status == 0;
}

// The first python3 of the path may be another one than the system's, for which numpy is installed.
std::string find_python() {
  const char* const chosen = std::getenv("SOFTTPU_PYTHON");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  constexpr const char* kSystems = "/usr/bin/python3";
  return !has_numpy("python3") && has_numpy(kSystems) ? kSystems : "python3";
}

}  // namespace

int become_python(const std::string& what, const std::vector<std::string>& arguments) {
  const std::string python = find_python();
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  const fs::path folder = find_package_folder(self);
  if (!folder.empty()) {
    const char* const old = std::getenv("PYTHONPATH");
    const std::string path = folder.string() + (old != nullptr && *old != '\0' ? std::string(":") + old : "");
    ::setenv("PYTHONPATH", path.c_str(), 1);
  }
  std::vector<std::string> words = {python, "-m"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(python.c_str(), pointers.data());
  return fail(Error{ErrorKind::kUsage, fmt::format("{}: \"{}\" cannot be started: {} (SOFTTPU_PYTHON names the Python "
                                                   "that has the package softtpu, numpy included)",
                                                   what, python, std::strerror(errno))});
}

}  // namespace softtpu::cli
