#include "device/trace/shared_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "runtime/base/log.hpp"

namespace softtpu {
namespace {

constexpr std::string_view kArrayEnd = "\n]\n", kEmptyArray = "[\n]\n";

// Cores in threads of one program.
std::mutex& thread_mutex() {
  static std::mutex mutex;
  return mutex;
}

// Locks of a process, not of an open file: the cores share the latter.
class FileLock {
 public:
  explicit FileLock(int fd) : threads_(thread_mutex()), fd_(fd) { set(F_WRLCK); }
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
  const std::lock_guard<std::mutex> threads_;
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

Result<std::unique_ptr<SharedFile>> SharedFile::create(const char* setting, const std::string& path, Content content,
                                                       bool keep) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | (keep ? 0 : O_TRUNC), 0666));
  if (!fd) {
    return Error{ErrorKind::kResource,
                 fmt::format("{}: \"{}\" cannot be written: {}.", setting, path, std::strerror(errno))};
  }
  if (content == Content::kJsonArray && size_of_file(fd.get()) == 0) {
    static_cast<void>(write_at(fd.get(), kEmptyArray, 0));  // what fails here fails again in a write that reports it
  }
  return std::unique_ptr<SharedFile>(new SharedFile(setting, std::move(fd)));
}

void SharedFile::append_line(std::string_view line) {
  const FileLock lock(fd_.get());
  put(std::string(line) + "\n", size_of_file(fd_.get()), "", "a line");
}

// Writes over the array's end.
void SharedFile::append_elements(std::string_view elements, std::string_view what) {
  const FileLock lock(fd_.get());
  const off_t size = size_of_file(fd_.get());
  const bool first = size <= static_cast<off_t>(kEmptyArray.size());
  const off_t place = first ? 0 : size - static_cast<off_t>(kArrayEnd.size());
  const std::string text = (first ? "[\n" : ",\n") + std::string(elements) + std::string(kArrayEnd);
  put(text, place, first ? kEmptyArray : kArrayEnd, what);
}

// A full disk must not stop the kernel: the file ends with what found room, and this is said once.
void SharedFile::put(std::string_view text, off_t place, std::string_view former_end, std::string_view what) {
  if (full_ || write_at(fd_.get(), text, place)) return;
  full_ = true;
  const int cause = errno;
  if (::ftruncate(fd_.get(), place) == 0) static_cast<void>(write_at(fd_.get(), former_end, place));
  log_warning(fmt::format("{}: the file ends before {}: {}", setting_, what, std::strerror(cause)));
}

}  // namespace softtpu
