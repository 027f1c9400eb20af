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
std::uint32_t reciprocal(std::uint32_t x);
std::uint32_t neg(std::uint32_t x);
std::uint32_t relu(std::uint32_t x);
// Rounded after the product and after the sum.
std::uint32_t mac(std::uint32_t a, std::uint32_t b, std::uint32_t c);
// The low 8 bits as a signed number: its value, and e to it.
std::uint32_t lookup_int32_to_fp32(std::uint32_t index);
std::uint32_t lookup_exp(std::uint32_t index);
// The sum of x^k / k! for k = 0..terms.
std::uint32_t taylor_exp(std::uint32_t x, int terms);
// exp's series for the fraction of x without its 1: what exp leaves in its work tensor.
std::uint32_t exp_series(std::uint32_t x, int terms);
std::uint32_t exp(std::uint32_t x, int terms);
std::uint32_t sigmoid(std::uint32_t x, int terms);
std::uint32_t tanh(std::uint32_t x, int terms);
std::uint32_t shift(std::uint32_t value, std::uint32_t by, bool arithmetic);
bool greater(std::uint32_t a, std::uint32_t b);
// Neither is greater: NaN equals everything.
bool equal(std::uint32_t a, std::uint32_t b);

// ---- sums ----
// Products in order: two sums by parity, a single one as it is.
std::uint32_t two_lanes(const std::vector<std::uint32_t>& products);
// products[step][parity of the input channel]; a missing odd channel is left out of its row.
std::uint32_t four_lanes(const std::vector<std::vector<std::uint32_t>>& products);

// ---- fixed point ----
// Rounded shift to the right, then the range of `bits` bits.
std::int64_t finish(std::int64_t value, int rshift, int bits, bool is_signed);
// A 16-bit value by the low 8 bits of `by`: left when positive, right when negative.
std::int64_t shift16(std::int64_t value, std::int64_t by, bool arithmetic);
// int16 by uint8, by sign and magnitude: |a| and the result are at most 32767.
std::int64_t s16_mul_u8(std::int64_t a, std::int64_t b, int rshift);

}  // namespace softtpu::reference::bm1684
