#include "device/numeric/convert.hpp"

#include <algorithm>
#include <cstring>

#include "device/numeric/fp8.hpp"
#include "device/numeric/wide.hpp"

namespace softtpu {
namespace {

template <class W>
W value_of(std::uint32_t bits, Dtype type) {
  W value;
  row_reader<W>(type)(&value, reinterpret_cast<const std::uint8_t*>(&bits), 1, 1);
  return value;
}

std::uint32_t float_to_float(std::uint32_t bits, Dtype to, Dtype from, Rounding mode, Specials specials) {
  const auto half = static_cast<std::uint16_t>(bits);
  if (from == Dtype::kFp16) return std::bit_cast<std::uint32_t>(convert_f16(half, specials));
  if (from == Dtype::kBfp16) return std::bit_cast<std::uint32_t>(widen_bf16(half));
  return convert_to_half(std::bit_cast<float>(bits), to, mode, specials);
}

std::uint32_t int_to_any_float(std::int64_t value, Dtype to, Rounding mode, Ties ties) {
  if (to == Dtype::kFp32) return std::bit_cast<std::uint32_t>(int_to_float(value, mode, ties));
  return to == Dtype::kFp16 ? int_to_f16(value, mode, ties) : int_to_bf16(value, mode, ties);
}

// The value of an FP8 or of what is converted to one, exactly; integers beyond 24 bits exceed every FP8.
float as_float(std::uint32_t bits, Dtype from, Specials specials) {
  float value = 0;
  if (is_fp8(from)) {
    for_fp8_type(from, [&]<class T>(T) { value = widen_fp8(T{static_cast<std::uint8_t>(bits)}); });
    const std::uint32_t wide = std::bit_cast<std::uint32_t>(value);
    return is_nan_bits(wide) ? std::bit_cast<float>(wide | 0x7FFFFFFFU) : value;
  }
  return std::bit_cast<float>(convert_bits(bits, Dtype::kFp32, from, Rounding::kTowardsZero, specials));
}

// Conversions from and to FP8; those of floats to it saturate.
std::uint32_t convert_fp8(std::uint32_t bits, Dtype to, Dtype from, Rounding mode, Specials specials) {
  const float value = as_float(bits, from, specials);
  if (!is_fp8(to)) return convert_bits(std::bit_cast<std::uint32_t>(value), to, Dtype::kFp32, mode, specials);
  std::uint32_t result = 0;
  for_fp8_type(to, [&]<class T>(T) { result = round_fp8<T>(value, mode, is_float(from)); });
  return result;
}

}  // namespace

std::uint32_t convert_bits(std::uint32_t bits, Dtype to, Dtype from, Rounding mode, Specials specials) {
  if (from == to) return bits;
  if (is_fp8(from) || is_fp8(to)) return convert_fp8(bits, to, from, mode, specials);
  if (is_float(from) && is_float(to)) return float_to_float(bits, to, from, mode, specials);
  if (is_float(to)) return int_to_any_float(value_of<std::int64_t>(bits, from), to, mode, ties_of(from));
  const IntRange range = range_of(to);
  if (is_integer(from))
    return static_cast<std::uint32_t>(std::clamp(value_of<std::int64_t>(bits, from), range.low, range.high));
  std::int64_t integer = 0;
  for_float_type(from, [&]<class T>(T) {
    T value;
    std::memcpy(&value, &bits, sizeof(value));
    for_integral_rounding(mode,
                          [&]<Rounding kMode>() { integer = float_to_int<kMode>(wide_bits(value), range, specials); });
  });
  return static_cast<std::uint32_t>(integer);
}

}  // namespace softtpu
