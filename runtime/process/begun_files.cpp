#include "runtime/process/begun_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/base/unique_fd.hpp"

namespace softtpu {
namespace {

std::string text_of(int fd) {
  std::string text;
  std::array<char, 65536> piece;
  off_t at = 0;
  for (ssize_t got = 0; (got = ::pread(fd, piece.data(), piece.size(), at)) > 0; at += got)
    text.append(piece.data(), static_cast<std::size_t>(got));
  return text;
}

// Whether no process of the run has begun the file: their journal, which all of them can open, has a line for each.
bool is_first_of_run(const std::string& journal, const std::string& path) {
  const UniqueFd file(::open(journal.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!file) return true;
  // Belongs to the open file, and ends with it; the shared locks of writers are of another kind.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  ::fcntl(file.get(), F_OFD_SETLKW, &lock);
  const std::string line =
      "{\"begun\":" + nlohmann::json(path).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "}\n";
  if (text_of(file.get()).find(line) != std::string::npos) return false;
  static_cast<void>(!::write(file.get(), line.data(), line.size()));
  return true;
}

}  // namespace

void begin_file(const std::string& path) {
  if (path.empty()) return;
  static std::mutex mutex;
  static std::set<std::string> begun;
  std::error_code failed;
  const std::string absolute = std::filesystem::absolute(path, failed).lexically_normal().string();
  const std::lock_guard lock(mutex);
  if (!begun.insert(absolute).second) return;
  const char* const journal = std::getenv("SOFTTPU_JOURNAL");
  if (journal != nullptr && *journal != '\0' && !is_first_of_run(journal, absolute)) return;
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    static_cast<void>(!::truncate(path.c_str(), 0));
}

void begin_files(const Settings& settings) {
  begin_file(settings.trace_path);
  begin_file(settings.timeline_path);
  begin_file(settings.time_record_path);
}

}  // namespace softtpu
