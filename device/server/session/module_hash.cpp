#include "device/server/session/module_hash.hpp"

// The one-purpose functions: the general ones bring all of the library into every device process, which takes
// milliseconds to load.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <unistd.h>

#include <array>

#include <fmt/format.h>

namespace softtpu {

struct ModuleHash::State {
  SHA256_CTX context;
  std::array<unsigned char, 64 << 10> piece;
};

ModuleHash::ModuleHash(int fd) : fd_(fd), state_(std::make_shared<State>()) { ::SHA256_Init(&state_->context); }

bool ModuleHash::step() {
  const ssize_t got = ::pread(fd_, state_->piece.data(), state_->piece.size(), offset_);
  if (got < 0) return true;
  offset_ += got;
  if (got > 0) {
    ::SHA256_Update(&state_->context, state_->piece.data(), static_cast<std::size_t>(got));
    return false;
  }
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256_Final(digest.data(), &state_->context);
  text_.clear();
  for (const unsigned char byte : digest) text_ += fmt::format("{:02x}", byte);
  return true;
}

}  // namespace softtpu
