#include "device/server/session/piecewise.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/base/memory_ops.hpp"

namespace softtpu {
namespace {

// Touches four pages of each side. Those that are touched for the first time take microseconds each.
constexpr std::uint64_t kPieceBytes = 16 << 10;
// Elements far apart touch a page each.
constexpr std::uint64_t kFewestElements = 8;

// Pieces go from the end where the destination lies behind the source, as in memmove.
Piecewise move_in_pieces(std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes) {
  return in_pieces(bytes, kPieceBytes, [=, backwards = to > from](std::uint64_t done, std::uint64_t piece) {
    const std::uint64_t at = backwards ? bytes - done - piece : done;
    copy_elements(to + at, from + at, piece, 1, 1, 1);
  });
}

}  // namespace

Piecewise in_pieces(std::uint64_t bytes, std::uint64_t piece_bytes,
                    std::function<void(std::uint64_t, std::uint64_t)> piece) {
  return [=, piece = std::move(piece), done = std::uint64_t{0}]() mutable {
    const std::uint64_t step = std::min(piece_bytes, bytes - done);
    piece(done, step);
    done += step;
    return done == bytes;
  };
}

Piecewise copy_in_pieces(const ElementCopy& copy) {
  if (copy.to_stride == 1 && copy.from_stride == 1)
    return move_in_pieces(copy.to, copy.from, copy.count * copy.element_bytes);
  const std::uint64_t to_step = std::uint64_t{copy.to_stride} * copy.element_bytes,
                      from_step = std::uint64_t{copy.from_stride} * copy.element_bytes;
  const std::uint64_t piece = std::max(kPieceBytes / std::max(to_step, from_step), kFewestElements);
  return in_pieces(copy.count, piece, [=](std::uint64_t done, std::uint64_t count) {
    copy_elements(copy.to + done * to_step, copy.from + done * from_step, count, copy.element_bytes, copy.to_stride,
                  copy.from_stride);
  });
}

Piecewise fill_in_pieces(std::uint8_t* to, std::uint64_t bytes, std::span<const std::uint8_t> pattern) {
  return in_pieces(bytes, kPieceBytes / pattern.size() * pattern.size(),
                   [to, pattern = std::vector<std::uint8_t>(pattern.begin(), pattern.end())](
                       std::uint64_t done, std::uint64_t count) { fill_bytes(to + done, count, pattern); });
}

Piecewise one_after_the_other(Piecewise first, Piecewise second) {
  return [first = std::move(first), second = std::move(second), at_second = false]() mutable {
    if (at_second) return second();
    at_second = first();
    return false;
  };
}

}  // namespace softtpu
