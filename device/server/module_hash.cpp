#include "device/server/module_hash.hpp"

// The one-purpose functions: the general ones bring all of the library into every device process, which takes
// milliseconds to load.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <unistd.h>

#include <array>

#include <fmt/format.h>

namespace softtpu {

std::string module_hash(int fd) {
  SHA256_CTX context;
  ::SHA256_Init(&context);
  std::array<unsigned char, 64 << 10> piece{};
  for (off_t offset = 0;;) {
    const ssize_t got = ::pread(fd, piece.data(), piece.size(), offset);
    if (got < 0) return "unknown";
    if (got == 0) break;
    ::SHA256_Update(&context, piece.data(), static_cast<std::size_t>(got));
    offset += got;
  }
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256_Final(digest.data(), &context);
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace softtpu
