// Work on memory that one client asks for and that may take long, in pieces of some ten microseconds: between two of
// them the server serves its other clients.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace softtpu {

// Does one piece. True: that was the last one.
using Piecewise = std::function<bool()>;

// Strides count elements. The ranges may overlap, as in copy_elements().
struct ElementCopy {
  std::uint8_t* to = nullptr;
  const std::uint8_t* from = nullptr;
  std::uint64_t count = 0;
  std::uint32_t element_bytes = 1, to_stride = 1, from_stride = 1;
};
Piecewise copy_in_pieces(const ElementCopy& copy);

// A pattern of 1 to 4 bytes, of which `bytes` is a multiple.
Piecewise fill_in_pieces(std::uint8_t* to, std::uint64_t bytes, std::span<const std::uint8_t> pattern);

// Calls piece(offset, bytes) for one part of a range after the other. At least once.
Piecewise in_pieces(std::uint64_t bytes, std::uint64_t piece_bytes,
                    std::function<void(std::uint64_t, std::uint64_t)> piece);

// One work after the other.
Piecewise one_after_the_other(Piecewise first, Piecewise second);

}  // namespace softtpu
