#include "runtime/base/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/base/unique_fd.hpp"

namespace softtpu {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;

Error file_error(const std::string& path) {
  return Error{ErrorKind::kResource, fmt::format("{}: {}", path, std::strerror(errno))};
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, std::size_t most) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return file_error(path);
  if (!S_ISREG(status.st_mode)) return Error{ErrorKind::kUsage, path + ": not a regular file"};
  std::string text;
  for (;;) {
    // What a file says of its length need not be so; those of /proc have none.
    const std::size_t have = text.size();
    if (have > most) return Error{ErrorKind::kUsage, fmt::format("{}: has more than {} bytes", path, most)};
    text.resize(have + std::min(kPieceBytes, most + 1 - have));
    const ssize_t got = ::read(file.get(), text.data() + have, text.size() - have);
    text.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path);
    if (got == 0) return text;
  }
}

}  // namespace softtpu
