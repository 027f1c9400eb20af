// Files that other users cannot read, and tokens.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/protocol/wire.hpp"

namespace softtpu {

inline constexpr std::size_t kMinTokenBytes = 16;
inline constexpr std::size_t kMaxTokenBytes = 1024;

// Refuses what is no regular file, belongs to another user (other than root), or can be read by others. `what` is the
// option's name.
Result<void> check_private_file(const std::string& path, const char* what);
// The token in a private file, without the end of its line.
Result<Bytes> read_token(const std::string& path);
// Compares in a time that depends neither on the bytes nor on their number.
bool is_same_secret(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

}  // namespace softtpu
