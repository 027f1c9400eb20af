// Element-wise functions of one operand (numerics: bm1684x-elementwise.md sections 2 and 5).
#include <bit>
#include <cmath>
#include <type_traits>

#include "device/chip/conversions.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/elementwise/command.hpp"
#include "device/engines/bdc/elementwise/fast.hpp"
#include "device/engines/bdc/rows/flushed_halves.hpp"
#include "device/engines/bdc/rows/one_nan.hpp"
#include "device/engines/bdc/rows/walk_rows.hpp"
#include "device/memory/rows.hpp"
#include "device/memory/sources_apart.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/convert.hpp"
#include "device/numeric/float_unit.hpp"
#include "device/numeric/fp8.hpp"

namespace softtpu {
namespace {

// abs only clears the sign bit of a float; the minimum of an integer type stays what it is.
struct Abs {
  static float apply(float value) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU); }
  static F16 apply(F16 value) { return {static_cast<std::uint16_t>(value.bits & 0x7FFFU)}; }
  static Bf16 apply(Bf16 value) { return {static_cast<std::uint16_t>(value.bits & 0x7FFFU)}; }
  template <class T>
  static T apply(T value) {
    return static_cast<T>(value < 0 ? 0U - static_cast<std::uint32_t>(value) : static_cast<std::uint32_t>(value));
  }
};

// Where subnormals are zeros of abs.
struct FlushedAbs {
  template <class T>
  static T apply(T value) {
    const T absolute = Abs::apply(value);
    if constexpr (std::is_same_v<T, float>) return flush(absolute);
    if constexpr (std::is_same_v<T, Bf16>)
      return {static_cast<std::uint16_t>(absolute.bits < 0x80 ? 0 : absolute.bits)};
    return absolute;
  }
};

// A float is subtracted from +0, so -0 and +0 give +0.
struct Neg {
  template <class T>
  static T apply(T value) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(0U - static_cast<std::uint32_t>(value));
    } else {
      return Wide<T>::round(chip_sub(0.0F, Wide<T>::load(value)));
    }
  }
};

struct Not {
  template <class T>
  static T apply(T value) {
    return static_cast<T>(~value);
  }
};

// -1, 0 or 1; a NaN counts as negative.
struct Sign {
  template <class T>
  static T apply(T value) {
    const auto wide = Wide<T>::load(value);
    using W = std::remove_const_t<decltype(wide)>;
    const W sign = wide > 0 ? W{1} : wide == 0 ? W{0} : static_cast<W>(-1);
    return Wide<T>::round(sign);
  }
};

// 0 for the bits of +0 only; subnormals and -0 count as negative.
struct SignOfBits {
  template <class T>
  static T apply(T value) {
    if constexpr (std::is_integral_v<T>) {
      return Sign::apply(value);
    } else {
      const float sign = Wide<T>::load(value) > 0.0F ? 1.0F : wide_bits(value) == 0 ? 0.0F : -1.0F;
      return Wide<T>::round(sign);
    }
  }
};

template <Rounding kMode, Specials kSpecials>
struct Round {
  // Every f32 from 2^23 on is an integer; Inf and NaN pass too.
  static float integral(float value) {
    if (!(std::abs(value) < 0x1p23F)) return value;
    return static_cast<float>(std::copysign(round_integral<kMode>(static_cast<double>(value)), value));
  }
  template <class T>
  static T apply(T value) {
    const float wide = integral_operand(wide_bits(value), kSpecials);
    return is_nan_bits(std::bit_cast<std::uint32_t>(wide)) ? value : Wide<T>::round(integral(wide));
  }
};

template <class T, class Lane>
void compute(Memories& mem, const UnaryCmd& cmd) {
  for_each_row<T, T>(
      mem, cmd.dst,
      [](T* dst, const T* src, int count) {
        for (int i = 0; i < count; ++i) dst[i] = Lane::apply(src[i]);
      },
      cmd.src);
}

// abs and neg of FP8.
void fp8_unary(Memories& mem, const UnaryCmd& cmd) {
  if (cmd.mode == UnaryMode::kAbs) {
    return for_each_row<std::uint8_t, std::uint8_t>(
        mem, cmd.dst,
        [](std::uint8_t* dst, const std::uint8_t* src, int count) {
          for (int i = 0; i < count; ++i) dst[i] = src[i] & 0x7FU;
        },
        cmd.src);
  }
  for_fp8_type(cmd.dst.dtype, [&]<class T>(T) { compute<T, Neg>(mem, cmd); });
}

}  // namespace

static void carry_out(Memories& mem, const UnaryCmd& cmd) {
  const Dtype type = cmd.dst.dtype;
  const Specials specials = conversion_specials(mem.chip());
  const bool sign_of_bits = mem.chip().has(Quirk::kSignOfBits);
  const bool flushed_abs = cmd.mode == UnaryMode::kAbs && is_float(type) && mem.chip().has(Quirk::kAbsFlushes);
  if (!is_fp8(type) && !flushed_abs && fast_rows(mem, cmd.dst, cmd.src)) {
    if (const UnaryRow row = fast_unary_row(cmd.mode, cmd.rounding, type, specials, sign_of_bits)) {
      walk_apart_rows(mem, row, cmd.dst, cmd.src);
      if (cmd.mode == UnaryMode::kNeg) unify_nans(mem, cmd.dst);
      return;
    }
  }
  if (is_fp8(type)) return fp8_unary(mem, cmd);
  const auto computed = [&]<class Lane>(Lane) { return [&]<class T>(T) { compute<T, Lane>(mem, cmd); }; };
  switch (cmd.mode) {
    case UnaryMode::kAbs:
      return flushed_abs ? for_float_type(type, computed(FlushedAbs{})) : for_any_type(type, computed(Abs{}));
    case UnaryMode::kNeg: for_any_type(type, computed(Neg{})); return unify_nans(mem, cmd.dst);
    case UnaryMode::kNot: return for_int_type(type, computed(Not{}));
    case UnaryMode::kSign:
      return sign_of_bits ? for_any_type(type, computed(SignOfBits{})) : for_any_type(type, computed(Sign{}));
    case UnaryMode::kRound:
      return for_integral_rounding(cmd.rounding, [&]<Rounding kMode>() {
        if (specials == Specials::kExact) return for_float_type(type, computed(Round<kMode, Specials::kExact>{}));
        for_float_type(type, computed(Round<kMode, Specials::kFlushed>{}));
      });
  }
  unreachable(cmd.mode);
}

static void carry_out(const Memories& mem, const CopyCmd& cmd) {
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) {
    for_each_row<T, T>(
        mem, cmd.dst,
        [](T* dst, const T* src, int count) { std::memmove(dst, src, sizeof(T) * static_cast<unsigned>(count)); },
        cmd.src);
  });
}

void execute(Memories& mem, const CopyCmd& cmd) {
  with_sources_apart(
      mem, cmd, [&](const CopyCmd& apart) { carry_out(mem, apart); }, &CopyCmd::src);
}

// The one NaN of each type, where roundings give it.
static void unify_rounded(Memories& mem, const Tensor& dst) {
  unify_nans(mem, dst);
  if (dst.dtype != Dtype::kFp16 && dst.dtype != Dtype::kBfp16) return;
  const std::uint16_t infinity = dst.dtype == Dtype::kFp16 ? 0x7C00U : 0x7F80U;
  for_each_row<std::uint16_t, std::uint16_t>(
      mem, dst,
      [infinity](std::uint16_t* to, const std::uint16_t* from, int count) {
        for (int i = 0; i < count; ++i) to[i] = (from[i] & 0x7FFFU) > infinity ? kNan16 : from[i];
      },
      dst);
}

void execute(Memories& mem, const UnaryCmd& cmd) {
  const auto compute = [&](const UnaryCmd& apart) {
    if (cmd.mode == UnaryMode::kNeg)
      return with_flushed_halves(mem, apart, [&](const UnaryCmd& flushed) { carry_out(mem, flushed); });
    carry_out(mem, apart);
    if (cmd.mode == UnaryMode::kRound && mem.chip().has(Quirk::kRoundsNans)) unify_rounded(mem, cmd.dst);
  };
  with_sources_apart(mem, cmd, compute, &UnaryCmd::src);
}

}  // namespace softtpu
