#include "runtime/remote/secret.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "runtime/base/unique_fd.hpp"

namespace softtpu {
namespace {

Error file_error(const char* what, const std::string& path, const std::string& text) {
  return Error{ErrorKind::kUsage, fmt::format("{} {}: {}.", what, path, text)};
}

Result<UniqueFd> open_private(const std::string& path, const char* what) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return file_error(what, path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return file_error(what, path, "it is not a regular file");
  if (status.st_uid != ::getuid() && status.st_uid != 0) {
    return file_error(what, path, fmt::format("it belongs to user {}, not to {}", status.st_uid, ::getuid()));
  }
  if ((status.st_mode & 0077) != 0) {
    return file_error(
        what, path, fmt::format("other users can read it (mode {:04o}, must be 0600 or 0400)", status.st_mode & 07777));
  }
  return file;
}

}  // namespace

Result<void> check_private_file(const std::string& path, const char* what) {
  if (auto file = open_private(path, what); !file) return file.error();
  return {};
}

Result<Bytes> read_token(const std::string& path) {
  constexpr const char* kWhat = "token file";
  auto file = open_private(path, kWhat);
  if (!file) return file.error();
  Bytes token(kMaxTokenBytes + 3);  // room for the end of the line, and one byte to see that there is too much
  const ssize_t got = ::read(file->get(), token.data(), token.size());
  if (got < 0) return file_error(kWhat, path, std::strerror(errno));
  token.resize(static_cast<std::size_t>(got));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  if (token.size() < kMinTokenBytes || token.size() > kMaxTokenBytes) {
    return file_error(
        kWhat, path,
        fmt::format("a token of {} bytes is outside {}..{}", token.size(), kMinTokenBytes, kMaxTokenBytes));
  }
  return token;
}

bool is_same_secret(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  // Of two digests neither the length nor the place of the first difference says anything about what went in.
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> left{}, right{};
  ::SHA256(a.data(), a.size(), left.data());
  ::SHA256(b.data(), b.size(), right.data());
  return ::CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace softtpu
