// What the copies and fills of the host interface mean, byte by byte, and their checks. The server and the host library
// both use them: the one when bytes are streamed, the other when it has the device's memory mapped.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "runtime/base/result.hpp"

namespace softtpu {

// Address and size asked for of every live allocation of a program.
using Allocations = std::map<std::uint64_t, std::uint64_t>;

// The range lies inside one allocation (whose pages belong to the program up to the page's end). `what` starts the
// message.
Result<void> check_allocated(const Allocations& allocations, const char* what, std::uint64_t address,
                             std::uint64_t bytes);

// A pattern of 1 to 4 bytes that fills `bytes` without a rest.
Result<void> check_fill(std::uint64_t bytes, std::size_t pattern_bytes);
void fill_bytes(std::uint8_t* to, std::uint64_t bytes, std::span<const std::uint8_t> pattern);

// The bytes from the first to the last element that a strided copy touches.
struct CopyExtent {
  std::uint64_t source_bytes = 0, destination_bytes = 0;
};
Result<CopyExtent> copy_extent(std::uint64_t count, std::uint32_t element_bytes, std::uint32_t destination_stride,
                               std::uint32_t source_stride);
// Strides count elements. The ranges may overlap: with both strides 1 the result is that of memmove, else elements are
// copied one after another in ascending order.
void copy_elements(std::uint8_t* to, const std::uint8_t* from, std::uint64_t count, std::uint32_t element_bytes,
                   std::uint32_t destination_stride, std::uint32_t source_stride);

}  // namespace softtpu
