// Products of floats whose result has another type (golden bm1684x2/fused, bm1684x2/fp4).
#include "device/engines/bdc/integer/float_product.hpp"

#include <array>
#include <bit>
#include <cmath>

#include "device/command/packing.hpp"
#include "device/engines/bdc/integer/command.hpp"
#include "device/engines/bdc/integer/nibble_rows.hpp"
#include "device/numeric/convert.hpp"
#include "device/numeric/float_unit.hpp"
#include "device/numeric/fp4.hpp"
#include "device/numeric/fp8.hpp"
#include "device/numeric/only_nan.hpp"
#include "device/numeric/shift.hpp"

namespace softtpu {
namespace {

constexpr std::uint16_t kHalfNan = 0x7FFF;
constexpr float kLeastHalf = 0x1p-14F;  // f16 subnormals are zeros

float without_subnormals(float half) { return std::fabs(half) < kLeastHalf ? std::copysign(0.0F, half) : half; }

float value_of(Dtype type, std::int64_t bits) {
  const auto half = static_cast<std::uint16_t>(bits);
  if (type == Dtype::kFp16) return without_subnormals(widen_f16(half));
  if (type == Dtype::kBfp16) return flush(widen_bf16(half));
  return flush(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

// Rounded to a type, as a number.
float rounded(Dtype type, float value) {
  if (type == Dtype::kFp16) return without_subnormals(widen_f16(round_f16(value)));
  return type == Dtype::kBfp16 ? widen_bf16(round_bf16(value)) : value;
}

template <Rounding kMode>
float integral(float value) {
  constexpr float kAllIntegral = 0x1p23F;
  if (std::fabs(value) >= kAllIntegral) return value;
  return std::copysign(static_cast<float>(round_integral<kMode>(static_cast<double>(value))), value);
}

// The bits of a number that the type has.
std::uint32_t exact_bits(Dtype type, float value) {
  if (type == Dtype::kFp32) return std::bit_cast<std::uint32_t>(value);
  return type == Dtype::kFp16 ? round_f16(value) : round_bf16(value);
}

template <class T>
std::uint32_t fp8_bits(float value, Rounding mode, bool saturate) {
  if (std::isnan(value)) return mode == Rounding::kHalfToEven ? kNanFp8 : 0U;
  const std::uint8_t bits = round_fp8<T>(value, mode, saturate);
  return std::is_same_v<T, E4m3> && bits == 0xFF ? kNanFp8 : bits;
}

// Of a product of sources of type `from`. It is rounded to their type first, unless the result is f32; a result of
// their type, and f32, is an integral number.
template <Rounding kMode>
std::uint32_t converted(float product, Dtype from, Dtype to, bool saturate) {
  if (to == Dtype::kFp32)
    return std::isnan(product) ? kOnlyNan : std::bit_cast<std::uint32_t>(integral<kMode>(product));
  const float value = rounded(from, product);
  if (to == Dtype::kInt8)
    return static_cast<std::uint32_t>(
        float_to_int<kMode>(std::bit_cast<std::uint32_t>(value), range_of(to), Specials::kExact));
  if (to == Dtype::kFp8E4M3) return fp8_bits<E4m3>(value, kMode, saturate);
  if (to == Dtype::kFp8E5M2) return fp8_bits<E5m2>(value, kMode, saturate);
  if (std::isnan(value)) return saturate && to == Dtype::kFp16 ? 0U : kHalfNan;
  if (to == from) return exact_bits(to, rounded(to, integral<kMode>(value)));
  // Subnormals of a result stay. Only f16 saturates, and has no NaN then.
  const std::uint16_t bits = convert_to_half(value, to, kMode, Specials::kExact);
  return saturate && to == Dtype::kFp16 && (bits & 0x7FFFU) == 0x7C00U ? bits - 1U : bits;
}

// Of an FP4 and a 16-bit float.
std::uint32_t fp4_product(float product, Dtype to) {
  if (std::isnan(product)) return to == Dtype::kFp32 ? kOnlyNan : kHalfNan;
  return exact_bits(to, rounded(to, product));
}

// An operand as its bits.
Tensor bits_of(const Operand& operand) {
  Tensor tensor = std::get<Tensor>(operand);
  constexpr std::array<Dtype, 3> kBits = {Dtype::kUint8, Dtype::kUint16, Dtype::kUint32};
  tensor.dtype = kBits[static_cast<std::size_t>(size_of(tensor.dtype) / 2)];
  return tensor;
}

}  // namespace

void execute_float_product(const Memories& mem, const IntArithCmd& cmd) {
  const bool narrow = packing_of(cmd.rounding).first;
  const Dim4& shape = cmd.dst.shape;
  const Dtype to = cmd.dst.dtype, from = type_of(cmd.b);
  const Tensor dst = bits_of(cmd.dst), a = bits_of(cmd.a), b = bits_of(cmd.b);
  const NibbleRows results(mem, dst, false, shape), first(mem, a, narrow, shape), second(mem, b, false, shape);
  for_each_nibble_piece(mem.chip(), shape, [&](const PieceAt& at) {
    NibblePiece left, right;
    first.read(left, at);
    second.read(right, at);
    for (std::size_t i = 0; i < static_cast<std::size_t>(at.count()); ++i) {
      const float factor = narrow ? kFp4Values[static_cast<std::size_t>(left[i])] : value_of(from, left[i]);
      const float product = flush(chip_mul(factor, value_of(from, right[i])));
      left[i] = narrow         ? fp4_product(product, to)
                : cmd.saturate ? converted<Rounding::kHalfAwayFromZero>(product, from, to, true)
                               : converted<Rounding::kHalfToEven>(product, from, to, false);
    }
    results.write(left, at);
  });
}

}  // namespace softtpu
