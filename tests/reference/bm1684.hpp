// What BM1684 computes, element by element, written from the numerics page with the reference's own f32 operations and
// wide integers, for comparison with the device.
#pragma once

#include <cstdint>
#include <vector>

namespace softtpu::reference::bm1684 {

// ---- f32 and 32-bit words, by their bits ----
std::uint32_t add(std::uint32_t a, std::uint32_t b);
std::uint32_t sub(std::uint32_t a, std::uint32_t b);
std::uint32_t mul(std::uint32_t a, std::uint32_t b);
std::uint32_t div(std::uint32_t a, std::uint32_t b);
std::uint32_t max(std::uint32_t a, std::uint32_t b);
std::uint32_t min(std::uint32_t a, std::uint32_t b);
std::uint32_t rsqrt(std::uint32_t x);
std::uint32_t sqrt(std::uint32_t x);
std::uint32_t to_int32(std::uint32_t x);
std::uint32_t exp(std::uint32_t x, int terms);
std::uint32_t shift(std::uint32_t value, std::uint32_t by, bool arithmetic);
bool greater(std::uint32_t a, std::uint32_t b);

// ---- sums ----
// Products in order: two sums by parity, a single one as it is.
std::uint32_t two_lanes(const std::vector<std::uint32_t>& products);
// products[step][parity of the input channel]; a missing odd channel is left out of its row.
std::uint32_t four_lanes(const std::vector<std::vector<std::uint32_t>>& products);

// ---- fixed point ----
// Rounded shift to the right, then the range of `bits` bits.
std::int64_t finish(std::int64_t value, int rshift, int bits, bool is_signed);

}  // namespace softtpu::reference::bm1684
