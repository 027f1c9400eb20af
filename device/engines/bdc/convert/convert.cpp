// Conversions between data types (numerics: bm1684x-elementwise.md section 4) and quantisation through f32 (section 5).
#include "device/numeric/convert.hpp"
#include "device/engines/bdc/rows/flushed_halves.hpp"
#include "device/engines/bdc/rows/one_nan.hpp"

#include <array>
#include <cmath>

#include "device/chip/conversions.hpp"
#include "device/command/functions.hpp"
#include "device/command/packing.hpp"
#include "device/engines/bdc/convert/command.hpp"
#include "device/engines/bdc/convert/fast.hpp"
#include "device/engines/bdc/convert/packed.hpp"
#include "device/engines/bdc/elementwise/command.hpp"
#include "device/memory/apart_rows.hpp"
#include "device/memory/rows.hpp"
#include "device/memory/sources_apart.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/float_unit.hpp"
#include "device/numeric/fp8.hpp"

namespace softtpu {
namespace {

using Value = As<std::int64_t>;

// dst[i] = convert(src[i]).
template <class D, class S, class Convert>
void map(Memories& mem, const CastCmd& cmd, Convert convert) {
  for_each_row<D, S>(
      mem, cmd.dst,
      [&](auto* dst, const auto* src, int count) {
        for (int i = 0; i < count; ++i) dst[i] = convert(src[i]);
      },
      cmd.src);
}

void walk(Memories& mem, UnaryRow row, const CastCmd& cmd) {
  for_size(size_of(cmd.dst.dtype), [&]<class D>(D) {
    for_size(size_of(cmd.src.dtype), [&]<class S>(S) { for_each_apart_row<D, S>(mem, cmd.dst, row, cmd.src); });
  });
}

// From an FP8 each of the 256 results is found once; to an FP8 element by element.
void fp8_cast(Memories& mem, const CastCmd& cmd) {
  const Dtype to = cmd.dst.dtype, from = cmd.src.dtype;
  const Rounding mode = cmd.rounding;
  const Specials specials = conversion_specials(mem.chip());
  const bool drops = mem.chip().has(Quirk::kFp8CastNans);
  if (is_fp8(from)) {
    return for_size(size_of(to), [&]<class D>(D) {
      std::array<D, 256> results;
      for (std::uint32_t bits = 0; bits < results.size(); ++bits) {
        results[bits] = static_cast<D>(convert_bits(bits, to, from, mode, specials));
        const bool nan = (bits & 0x7FU) > (from == Dtype::kFp8E5M2 ? 0x7CU : 0x7EU);
        if (!drops || !nan || is_integer(to)) continue;
        const bool none = to == Dtype::kFp8E4M3 && mode != Rounding::kHalfToEven;
        results[bits] = none ? D{0} : static_cast<D>(results[bits] & static_cast<D>(~(D{1} << (8 * sizeof(D) - 1))));
      }
      map<D, std::uint8_t>(mem, cmd, [&](std::uint8_t value) { return results[value]; });
    });
  }
  for_fp8_type(to, [&]<class T>(T) {
    const bool nan_is_zero = drops && !is_integer(from) && from != Dtype::kFp16 && mode != Rounding::kHalfToEven;
    if (from == Dtype::kFp32)
      return map<std::uint8_t, float>(mem, cmd, [=](float value) {
        if (nan_is_zero && is_nan_bits(std::bit_cast<std::uint32_t>(value))) return std::uint8_t{0};
        return round_fp8<T>(value, mode, true);
      });
    const bool plain_nan = drops && is_integer(from) && to == Dtype::kFp8E4M3;
    map<std::uint8_t, As<std::uint32_t>>(mem, cmd, [=](std::uint32_t bits) {
      if (nan_is_zero && is_nan_bits(bits << 16)) return std::uint8_t{0};
      const auto result = static_cast<std::uint8_t>(convert_bits(bits, to, from, mode, specials));
      return plain_nan && result == 0xFF ? kNanFp8 : result;
    });
  });
}

constexpr float kBeyondHalf = 65536.0F;

// By the rule half-overflow-by-mode.
void overflowing_half(Memories& mem, const CastCmd& cmd) {
  const Rounding mode = cmd.rounding;
  const Dtype from = cmd.src.dtype;
  if (from == Dtype::kFp32) {
    return map<F16, float>(mem, cmd, [=](float value) {
      const bool beyond = std::isfinite(value);
      return F16{half_overflow(from, mode, beyond, convert_to_half(value, Dtype::kFp16, mode, Specials::kExact))};
    });
  }
  const Ties ties = ties_of(from);
  map<F16, Value>(mem, cmd, [=](std::int64_t value) {
    const bool beyond = static_cast<float>(value) >= kBeyondHalf;
    return F16{half_overflow(from, mode, beyond, int_to_f16(value, mode, ties))};
  });
}

// By the rule half-overflow-towards-zero.
void cut_halves(Memories& mem, const CastCmd& cmd) {
  if (cmd.src.dtype == Dtype::kFp32) {
    return map<F16, float>(mem, cmd, [](float value) {
      return F16{cut_half(value, convert_to_half(value, Dtype::kFp16, Rounding::kTowardsZero, Specials::kExact))};
    });
  }
  const Ties ties = ties_of(cmd.src.dtype);
  map<F16, Value>(mem, cmd, [=](std::int64_t value) {
    return F16{cut_half(value, int_to_f16(value, Rounding::kTowardsZero, ties))};
  });
}

void float_to_float(Memories& mem, const CastCmd& cmd) {
  const Rounding mode = cmd.rounding;
  const Specials specials = conversion_specials(mem.chip());
  if (cmd.src.dtype == Dtype::kFp16)
    return map<float, F16>(mem, cmd, [=](F16 value) { return convert_f16(value.bits, specials); });
  if (cmd.src.dtype == Dtype::kBfp16)
    return map<float, Bf16>(mem, cmd, [](Bf16 value) { return widen_bf16(value.bits); });
  if (cmd.dst.dtype == Dtype::kFp16)
    return map<F16, float>(mem, cmd,
                           [=](float value) { return F16{convert_to_half(value, Dtype::kFp16, mode, specials)}; });
  map<Bf16, float>(mem, cmd, [=](float value) { return Bf16{convert_to_half(value, Dtype::kBfp16, mode, specials)}; });
}

void to_int(Memories& mem, const CastCmd& cmd) {
  const IntRange range = range_of(cmd.dst.dtype);
  if (is_integer(cmd.src.dtype)) {
    return map<Value, Value>(mem, cmd, [=](std::int64_t value) { return std::clamp(value, range.low, range.high); });
  }
  const Specials specials = conversion_specials(mem.chip());
  for_float_type(cmd.src.dtype, [&]<class S>(S) {
    for_integral_rounding(cmd.rounding, [&]<Rounding kMode>() {
      map<Value, S>(mem, cmd, [=](S value) { return float_to_int<kMode>(wide_bits(value), range, specials); });
    });
  });
}

void int_to_float_type(Memories& mem, const CastCmd& cmd) {
  const Rounding mode = cmd.rounding;
  const Ties ties = ties_of(cmd.src.dtype);
  if (cmd.dst.dtype == Dtype::kFp32)
    return map<float, Value>(mem, cmd, [=](std::int64_t value) { return int_to_float(value, mode, ties); });
  if (cmd.dst.dtype == Dtype::kFp16)
    return map<F16, Value>(mem, cmd, [=](std::int64_t value) { return F16{int_to_f16(value, mode, ties)}; });
  map<Bf16, Value>(mem, cmd, [=](std::int64_t value) { return Bf16{int_to_bf16(value, mode, ties)}; });
}

}  // namespace

static void carry_out(Memories& mem, const CastCmd& cmd) {
  if (cmd.src.dtype == cmd.dst.dtype) return execute(mem, CopyCmd{cmd.dst, cmd.src});
  if (is_fp8(cmd.src.dtype) || is_fp8(cmd.dst.dtype)) return fp8_cast(mem, cmd);
  if (half_overflow_is_cut(mem.chip(), cmd.dst.dtype, cmd.src.dtype, cmd.rounding)) return cut_halves(mem, cmd);
  if (half_overflows_by_mode(mem.chip(), cmd.dst.dtype, cmd.src.dtype, cmd.rounding)) return overflowing_half(mem, cmd);
  if (fast_rows(mem, cmd.dst, cmd.src)) {
    if (const UnaryRow row = fast_cast_row(cmd.dst.dtype, cmd.src.dtype, cmd.rounding, conversion_specials(mem.chip())))
      return walk(mem, row, cmd);
  }
  if (is_integer(cmd.dst.dtype)) return to_int(mem, cmd);
  if (is_integer(cmd.src.dtype)) return int_to_float_type(mem, cmd);
  float_to_float(mem, cmd);
}

static void carry_out(Memories& mem, const FloatQuantCmd& cmd) {
  // Recorded: this conversion to f32 takes ties of HALF_UP and HALF_DOWN on the value for every integer type.
  const auto to_float = [mode = cmd.to_float](std::int64_t value) { return int_to_float(value, mode, Ties::kValue); };
  if (cmd.direction == Quant::kDequant) {
    for_each_row<float, Value, float, Value>(
        mem, cmd.dst,
        [&](float* dst, const std::int64_t* src, const float* scale, const std::int64_t* offset, int count) {
          for (int i = 0; i < count; ++i) dst[i] = flush(chip_mul(to_float(src[i] - offset[i]), flush(scale[i])));
        },
        cmd.src, cmd.scale, cmd.offset);
    return;
  }
  const IntRange range = range_of(cmd.dst.dtype);
  for_integral_rounding(cmd.to_int, [&]<Rounding kMode>() {
    for_each_row<Value, Value, float, float>(
        mem, cmd.dst,
        [&](std::int64_t* dst, const std::int64_t* src, const float* scale, const float* offset, int count) {
          for (int i = 0; i < count; ++i) {
            const float product = flush(chip_mul(to_float(src[i]), flush(scale[i])));
            const float sum = flush(chip_add(product, flush(offset[i])));
            // Recorded: no number becomes 0 here, where tpu_bdc_cast gives the least of a signed type.
            dst[i] = std::isnan(sum) ? 0 : float_to_int<kMode>(sum, range);
          }
        },
        cmd.src, cmd.scale, cmd.offset);
  });
}

void execute(Memories& mem, const FloatQuantCmd& cmd) {
  with_sources_apart(
      mem, cmd, [&](const FloatQuantCmd& apart) { carry_out(mem, apart); }, &FloatQuantCmd::src, &FloatQuantCmd::scale,
      &FloatQuantCmd::offset);
  unify_nans(mem, cmd.dst);
}

void execute(Memories& mem, const CastCmd& cmd) {
  if (packing_of(cmd.rounding).any()) return execute_packed(mem, cmd);
  with_sources_apart(
      mem, cmd, [&](const CastCmd& apart) { carry_out(mem, apart); }, &CastCmd::src);
  const Chip& chip = mem.chip();
  // What FP8 and cutting make of f16 subnormals stays.
  const bool cut = half_overflow_is_cut(chip, cmd.dst.dtype, cmd.src.dtype, cmd.rounding);
  if (cmd.dst.dtype == Dtype::kFp16 && !is_fp8(cmd.src.dtype) && !cut && chip.has(Quirk::kHalfFlushes)) {
    FlushedHalves halves(mem);
    halves.result(cmd.dst);
  }
  if (cmd.src.dtype == Dtype::kFp16 && chip.has(Quirk::kHalfNanPlain)) unify_nans(mem, cmd.dst);
}

}  // namespace softtpu
