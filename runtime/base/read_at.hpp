// Reads a file at a place.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/base/result.hpp"

namespace softtpu {

// Fills `to`; an error, too, when the file ends before.
inline Result<void> read_at(int fd, std::uint64_t offset, std::span<std::uint8_t> to) {
  constexpr std::size_t kBlock = std::size_t{64} << 20;  // a signal need not wait for gigabytes
  while (!to.empty()) {
    const ssize_t got = ::pread(fd, to.data(), std::min(to.size(), kBlock), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return Error{ErrorKind::kResource,
                   fmt::format("{} bytes at {} cannot be read: {}", to.size(), offset, std::strerror(errno))};
    if (got == 0)
      return Error{ErrorKind::kUsage, fmt::format("the file ends at byte {}, {} bytes too early: it has been shortened",
                                                  offset, to.size())};
    offset += static_cast<std::uint64_t>(got);
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace softtpu
