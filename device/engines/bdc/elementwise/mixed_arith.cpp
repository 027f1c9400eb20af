// A tensor and a constant of float types that may differ, FP8 among them (numerics: bm1690.md section 3).
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "device/command/functions.hpp"
#include "device/engines/bdc/elementwise/command.hpp"
#include "device/engines/bdc/rows/flushed_halves.hpp"
#include "device/engines/bdc/rows/one_nan.hpp"
#include "device/memory/rows.hpp"
#include "device/memory/sources_apart.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/float_unit.hpp"
#include "device/numeric/fp8.hpp"

namespace softtpu {
namespace {

template <class T>
T stored(float value, bool saturate) {
  if constexpr (std::is_same_v<T, float>) {
    // An infinity saturates too (golden bm1690-varied/m_a/bdc_fp8_add_C/001).
    constexpr float kMost = std::numeric_limits<float>::max();
    return saturate && !std::isnan(value) ? std::clamp(flush(value), -kMost, kMost) : flush(value);
  } else if constexpr (std::is_same_v<T, F16>) {
    const std::uint16_t bits = round_f16(value);
    return {static_cast<std::uint16_t>(saturate && (bits & 0x7FFFU) == 0x7C00U ? bits - 1 : bits)};
  } else {
    const std::uint8_t bits = round_fp8<T>(value, Rounding::kHalfToEven, saturate);
    // Unlike a product's, this overflow to a NaN loses its sign (golden bm1690/fp8_ew).
    const bool no_number = is_nan_bits(std::bit_cast<std::uint32_t>(value));
    return {no_number || (std::is_same_v<T, E4m3> && bits == 0xFF) ? kNanFp8 : bits};
  }
}

float combined(const MixedArithCmd& cmd, float value, float constant) {
  const float a = cmd.constant_first ? constant : value;
  const float b = cmd.constant_first ? value : constant;
  if (cmd.mode == ArithMode::kMul) return chip_mul(a, b);
  return cmd.mode == ArithMode::kSub ? chip_sub(a, b) : chip_add(a, b);
}

template <class T>
float value_of(const Scalar& scalar) {
  const auto bits = static_cast<std::uint8_t>(scalar.bits);
  return widen_fp8(T{bits});
}

template <class Body>
void for_result_type(Dtype type, Body body) {
  if (type == Dtype::kFp32) return body(float());
  if (type == Dtype::kFp16) return body(F16());
  for_fp8_type(type, body);
}

}  // namespace

static void carry_out(Memories& mem, const MixedArithCmd& cmd) {
  float constant = 0;
  for_fp8_type(cmd.constant.dtype, [&]<class C>(C) { constant = value_of<C>(cmd.constant); });
  for_fp8_type(cmd.src.dtype, [&]<class S>(S) {
    for_result_type(cmd.dst.dtype, [&]<class D>(D) {
      // An FP8 has few values: what becomes of each is found once.
      std::array<D, 256> results;
      for (unsigned bits = 0; bits < results.size(); ++bits) {
        const float value = widen_fp8(S{static_cast<std::uint8_t>(bits)});
        results[bits] = stored<D>(combined(cmd, value, constant), cmd.saturate);
      }
      for_each_row<D, S>(
          mem, cmd.dst,
          [&](D* dst, const S* src, int count) {
            for (int i = 0; i < count; ++i) dst[i] = results[src[i].bits];
          },
          cmd.src);
    });
  });
  unify_nans(mem, cmd.dst);
}

void execute(Memories& mem, const MixedArithCmd& cmd) {
  const auto compute = [&](const MixedArithCmd& apart) {
    with_flushed_halves(mem, apart, [&](const MixedArithCmd& flushed) { carry_out(mem, flushed); });
  };
  with_sources_apart(mem, cmd, compute, &MixedArithCmd::src);
}

}  // namespace softtpu
