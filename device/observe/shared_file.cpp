#include "device/observe/shared_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/log.hpp"

namespace softtpu {
namespace {

constexpr std::string_view kArrayEnd = "\n]\n";

// Locks of a process, not of an open file: the cores share the latter.
class FileLock {
 public:
  explicit FileLock(int fd) : fd_(fd) { set(F_WRLCK); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() { set(F_UNLCK); }

 private:
  void set(short type) const {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    while (::fcntl(fd_, F_SETLKW, &lock) != 0 && errno == EINTR) {
    }
  }
  int fd_;
};

bool write_at(int fd, std::string_view text, off_t place) {
  while (!text.empty()) {
    const ssize_t done = ::pwrite(fd, text.data(), text.size(), place);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(done));
    place += done;
  }
  return true;
}

off_t size_of_file(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? status.st_size : 0;
}

}  // namespace

Result<std::unique_ptr<SharedFile>> SharedFile::create(const char* setting, const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd) {
    return Error{ErrorKind::kResource,
                 fmt::format("{}: \"{}\" cannot be written: {}.", setting, path, std::strerror(errno))};
  }
  return std::unique_ptr<SharedFile>(new SharedFile(setting, std::move(fd)));
}

void SharedFile::append_line(std::string_view line) {
  const FileLock lock(fd_.get());
  const off_t size = size_of_file(fd_.get());
  put(std::string(line) + "\n", size, "");
}

void SharedFile::append_elements(std::string_view elements) {
  const FileLock lock(fd_.get());
  const off_t size = size_of_file(fd_.get());
  const auto end = static_cast<off_t>(kArrayEnd.size());
  const off_t place = size < end ? 0 : size - end;
  const std::string text = std::string(size < end ? "[\n" : ",\n") + std::string(elements) + std::string(kArrayEnd);
  put(text, place, size < end ? "" : kArrayEnd);
}

// A full disk must not stop the kernel: the file ends with what found room, and this is said once.
void SharedFile::put(std::string_view text, off_t place, std::string_view former_end) {
  if (full_ || write_at(fd_.get(), text, place)) return;
  full_ = true;
  const int cause = errno;
  if (::ftruncate(fd_.get(), place) == 0) static_cast<void>(write_at(fd_.get(), former_end, place));
  log_warning(fmt::format("{}: the file ends here: {}", setting_, std::strerror(cause)));
}

}  // namespace softtpu
