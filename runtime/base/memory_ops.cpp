#include "runtime/base/memory_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/base/text.hpp"

namespace softtpu {
namespace {

// Keeps count * element * stride far from wrapping round.
constexpr std::uint64_t kMaxFactor = 1ULL << 40;

}  // namespace

Result<void> check_allocated(const Allocations& allocations, const char* what, std::uint64_t address,
                             std::uint64_t bytes) {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{} (address 0x{:x}) is not in memory that this program has allocated.", what, address)};
  }
  const auto [start, size] = *std::prev(after);
  const std::uint64_t offset = address - start;
  if (offset > size || (offset == size && size > 0 && bytes > 0)) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{} (address 0x{:x}) is not in memory that this program has allocated.", what, address)};
  }
  if (bytes > size - offset) {
    return Error{
        ErrorKind::kUsage,
        fmt::format("{} (address 0x{:x}, {}) ends {} past the end of its allocation (0x{:x}, {}).", what, address,
                    to_size_text(bytes), to_size_text(bytes - (size - offset)), start, to_size_text(size))};
  }
  return {};
}

Result<void> check_fill(std::uint64_t bytes, std::size_t pattern_bytes) {
  if (pattern_bytes < 1 || pattern_bytes > 4) {
    return Error{ErrorKind::kUsage, fmt::format("a fill pattern of {} bytes is outside 1..4.", pattern_bytes)};
  }
  if (bytes % pattern_bytes != 0) {
    return Error{ErrorKind::kUsage,
                 fmt::format("the size to fill ({}) is not a multiple of the pattern's ({}).", bytes, pattern_bytes)};
  }
  return {};
}

void fill_bytes(std::uint8_t* to, std::uint64_t bytes, std::span<const std::uint8_t> pattern) {
  if (bytes == 0) return;
  if (pattern.size() == 1) {
    std::memset(to, pattern[0], bytes);
    return;
  }
  std::memcpy(to, pattern.data(), pattern.size());
  for (std::uint64_t done = pattern.size(); done < bytes;) {
    // A block of at most 64 KiB: the part that is read stays in the cache.
    const std::uint64_t step = std::min({done, bytes - done, std::uint64_t{65536} / pattern.size() * pattern.size()});
    std::memcpy(to + done, to, step);
    done += step;
  }
}

Result<CopyExtent> copy_extent(std::uint64_t count, std::uint32_t element_bytes, std::uint32_t destination_stride,
                               std::uint32_t source_stride) {
  const bool plain = destination_stride == 1 && source_stride == 1;
  if (element_bytes < 1 || element_bytes > 4 || (!plain && element_bytes == 3)) {
    return Error{ErrorKind::kUsage, fmt::format("an element of {} bytes is not 1, 2 or 4.", element_bytes)};
  }
  if (destination_stride == 0 || source_stride == 0)
    return Error{ErrorKind::kUsage, "a stride of 0 elements moves nothing."};
  if (count == 0) return CopyExtent{};
  const std::uint64_t stride = std::max(destination_stride, source_stride);
  if (count > kMaxFactor / stride) {
    return Error{ErrorKind::kUsage, fmt::format("{} elements with a stride of {} are over the limit.", count, stride)};
  }
  return CopyExtent{((count - 1) * source_stride + 1) * element_bytes,
                    ((count - 1) * destination_stride + 1) * element_bytes};
}

void copy_elements(std::uint8_t* to, const std::uint8_t* from, std::uint64_t count, std::uint32_t element_bytes,
                   std::uint32_t destination_stride, std::uint32_t source_stride) {
  if (destination_stride == 1 && source_stride == 1) {
    std::memmove(to, from, count * element_bytes);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memmove(to + i * destination_stride * element_bytes, from + i * source_stride * element_bytes, element_bytes);
  }
}

}  // namespace softtpu
