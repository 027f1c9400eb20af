#include "device/server/crash/crash_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "runtime/base/unique_fd.hpp"

namespace softtpu {
namespace {

namespace fs = std::filesystem;

Error failure(const std::string& path) {
  return Error{ErrorKind::kResource, fmt::format("SOFTTPU_DUMP: \"{}\": {}", path, std::strerror(errno))};
}

// "/memfd:softtpu0-local.3 (deleted)" is softtpu0-local.0.
std::string find_name(int fd) {
  std::error_code failed;
  const std::string target = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd), failed).filename();
  const std::size_t colon = target.find(':'), dot = target.rfind('.');
  return target.substr(colon + 1, dot - colon - 1) + ".0";
}

bool copy_range(int from, int to, off_t begin, off_t end) {
  std::vector<char> piece(1 << 20);
  for (off_t at = begin; at < end;) {
    const auto wanted = std::min(piece.size(), static_cast<std::size_t>(end - at));
    const ssize_t got = ::pread(from, piece.data(), wanted, at);
    if (got <= 0) return false;
    for (ssize_t done = 0; done < got;) {
      const ssize_t written = ::pwrite(to, piece.data() + done, static_cast<std::size_t>(got - done), at + done);
      if (written < 0) return false;
      done += written;
    }
    at += got;
  }
  return true;
}

bool copy_all(int from, int to) {
  struct stat status {};
  if (::fstat(from, &status) != 0 || ::ftruncate(to, status.st_size) != 0) return false;
  for (off_t begin = 0; begin < status.st_size;) {
    begin = ::lseek(from, begin, SEEK_DATA);
    if (begin < 0) return errno == ENXIO;  // nothing but a hole is left
    const off_t end = ::lseek(from, begin, SEEK_HOLE);
    if (end < 0 || !copy_range(from, to, begin, end)) return false;
    begin = end;
  }
  return true;
}

}  // namespace

Result<void> make_crash_folder(const std::string& folder) {
  std::error_code failed;
  const fs::path path = fs::path(folder).lexically_normal();
  if (!path.parent_path().empty()) fs::create_directories(path.parent_path(), failed);
  // What a kernel leaves is its user's data.
  if (!failed && ::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) failed.assign(errno, std::generic_category());
  if (!failed && !fs::is_directory(path, failed)) failed = std::make_error_code(std::errc::not_a_directory);
  if (failed) return Error{ErrorKind::kResource, fmt::format("SOFTTPU_DUMP: \"{}\": {}", folder, failed.message())};
  return {};
}

Result<void> keep_file(int fd, const std::string& folder) {
  const std::string path = (fs::path(folder) / find_name(fd)).string();
  // There may be a link here; a new file under another name follows none.
  std::string partial = path + "-XXXXXX";
  const UniqueFd to(::mkostemp(partial.data(), O_CLOEXEC));
  if (!to) return failure(partial);
  if (!copy_all(fd, to.get()) || ::rename(partial.c_str(), path.c_str()) != 0) {
    const Error error = failure(path);
    ::unlink(partial.c_str());
    return error;
  }
  return {};
}

Result<void> keep_memories(const std::vector<int>& fds, const std::string& folder) {
  for (const int fd : fds) {
    const std::string name = find_name(fd);
    if (name.find("-global.") != std::string::npos || name.find("-static.") != std::string::npos) continue;
    if (auto kept = keep_file(fd, folder); !kept) return kept;
  }
  return {};
}

}  // namespace softtpu
