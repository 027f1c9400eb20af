// Element-wise arithmetic of one data type (numerics: bm1684x-elementwise.md section 2).
#include <cmath>
#include <type_traits>

#include "device/chip/rules.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/elementwise/command.hpp"
#include "device/engines/bdc/elementwise/fast.hpp"
#include "device/engines/bdc/rows/flushed_halves.hpp"
#include "device/engines/bdc/rows/one_nan.hpp"
#include "device/engines/bdc/rows/walk_rows.hpp"
#include "device/memory/rows.hpp"
#include "device/memory/sources_apart.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/float_unit.hpp"
#include "device/numeric/fp8.hpp"

namespace softtpu {
namespace {

// Between two steps of one command the value takes the precision of its type.
template <class T>
float settle(float value) {
  return Wide<T>::load(Wide<T>::round(value));
}

// Lanes: what one element computes. Float lanes see loaded operands and give an unrounded f32.
struct Add {
  template <class T>
  static float apply(float a, float b) {
    return chip_add(a, b);
  }
};
struct Sub {
  template <class T>
  static float apply(float a, float b) {
    return chip_sub(a, b);
  }
};
struct Mul {
  template <class T>
  static float apply(float a, float b) {
    return chip_mul(a, b);
  }
};
struct DiffAbs {
  template <class T>
  static float apply(float a, float b) {
    return a > b ? chip_sub(a, b) : chip_sub(b, a);
  }
};
struct AddSquare {
  template <class T>
  static float apply(float a, float b) {
    const float sum = settle<T>(chip_add(a, b));
    return chip_mul(sum, sum);
  }
};
struct SubSquare {
  template <class T>
  static float apply(float a, float b) {
    const float difference = settle<T>(chip_sub(a, b));
    return chip_mul(difference, difference);
  }
};
struct Prelu {
  template <class T>
  static float apply(float a, float b) {
    return a > 0 ? a : chip_mul(a, b);
  }
};

// Where f16 subnormals are zeros: what is handed on stays, what is multiplied does not.
struct FlushedPrelu {
  static float zero_below(float value) {
    constexpr float kLeastHalf = 0x1p-14F;
    return std::fabs(value) < kLeastHalf ? std::copysign(0.0F, value) : value;
  }
  template <class T>
  static float apply(float a, float b) {
    return a > 0 ? a : zero_below(settle<T>(chip_mul(zero_below(a), zero_below(b))));
  }
};

// As it is stored. E4M3 overflows to the NaN without a sign here (numerics newer-rules.md section 1).
template <class T>
T stored(float value) {
  const T result = Wide<T>::round(value);
  if constexpr (std::is_same_v<T, E4m3>) return {(result.bits & 0x7FU) == kNanFp8 ? kNanFp8 : result.bits};
  return result;
}

template <class T, class Lane>
void compute(Memories& mem, const ArithCmd& cmd) {
  for_each_row<T, T, T>(
      mem, cmd.dst,
      [](T* dst, const T* a, const T* b, int count) {
        for (int i = 0; i < count; ++i)
          dst[i] = stored<T>(Lane::template apply<T>(Wide<T>::load(a[i]), Wide<T>::load(b[i])));
      },
      cmd.a, cmd.b);
}

// max and min hand one operand through: its bits, f32 and bf16 subnormals flushed, a NaN untouched.
template <class T>
T passed(T value) {
  if constexpr (std::is_same_v<T, float>) return flush(value);
  if constexpr (std::is_same_v<T, Bf16>) {
    const std::uint32_t bits = flush_bits(static_cast<std::uint32_t>(value.bits) << 16);
    return {static_cast<std::uint16_t>(bits >> 16)};
  }
  return value;
}

struct Max {
  template <class T>
  static bool takes_first(T a, T b) {
    return a > b;
  }
};
struct Min {
  template <class T>
  static bool takes_first(T a, T b) {
    return !(a >= b);
  }
};

template <class T, class Lane>
void choose(Memories& mem, const ArithCmd& cmd) {
  for_each_row<T, T, T>(
      mem, cmd.dst,
      [](T* dst, const T* a, const T* b, int count) {
        for (int i = 0; i < count; ++i) {
          const bool first = Lane::takes_first(Wide<T>::load(a[i]), Wide<T>::load(b[i]));
          dst[i] = passed(first ? a[i] : b[i]);
        }
      },
      cmd.a, cmd.b);
}

struct And {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a & b; }
};
struct Or {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a | b; }
};
struct Xor {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a ^ b; }
};

template <class T, class Lane>
void combine(Memories& mem, const ArithCmd& cmd) {
  for_each_row<T, T, T>(
      mem, cmd.dst,
      [](T* dst, const T* a, const T* b, int count) {
        for (int i = 0; i < count; ++i) dst[i] = static_cast<T>(Lane::apply(a[i], b[i]));
      },
      cmd.a, cmd.b);
}

// -0 of a distance becomes +0 (device/chip/rules.def: one-f32-nan).
template <class T>
void drop_minus_zeros(Memories& mem, const Tensor& dst) {
  constexpr T kMinusZero = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
  for_each_row<T, T>(
      mem, dst,
      [](T* to, const T* from, int count) {
        for (int i = 0; i < count; ++i) to[i] = from[i] == kMinusZero ? T{0} : from[i];
      },
      dst);
}

// What a chip with one NaN makes of results.
void settle_results(Memories& mem, const ArithCmd& cmd) {
  if (cmd.keeps_nans) return;
  switch (cmd.mode) {
    case ArithMode::kDiffAbs:
      if (mem.chip().has(Quirk::kOneNan))
        for_size(size_of(cmd.dst.dtype), [&]<class T>(T) { drop_minus_zeros<T>(mem, cmd.dst); });
      return unify_nans(mem, cmd.dst);
    case ArithMode::kAdd:
    case ArithMode::kSub:
    case ArithMode::kMul:
    case ArithMode::kPrelu: return unify_nans(mem, cmd.dst);
    case ArithMode::kAddSquare:
    case ArithMode::kSubSquare:
      if (mem.chip().has(Quirk::kOneNanOfChannels)) unify_nans(mem, cmd.dst);
      return;
    case ArithMode::kMax:
    case ArithMode::kMin:
    case ArithMode::kAnd:
    case ArithMode::kOr:
    case ArithMode::kXor: return;
  }
  unreachable(cmd.mode);
}

}  // namespace

static void carry_out(Memories& mem, const ArithCmd& cmd) {
  if (fast_rows(mem, cmd.dst, cmd.a, cmd.b)) {
    const bool flushed_prelu =
        cmd.mode == ArithMode::kPrelu && cmd.dst.dtype == Dtype::kFp16 && mem.chip().has(Quirk::kHalfFlushes);
    if (const BinaryRow row =
            is_fp8(cmd.dst.dtype) || flushed_prelu ? nullptr : fast_arith_row(cmd.mode, cmd.dst.dtype)) {
      walk_apart_rows(mem, row, cmd.dst, cmd.a, cmd.b);
      return settle_results(mem, cmd);
    }
  }
  const auto computed = [&]<class Lane>(Lane) {
    const auto run = [&]<class T>(T) { compute<T, Lane>(mem, cmd); };
    is_fp8(cmd.dst.dtype) ? for_fp8_type(cmd.dst.dtype, run) : for_float_type(cmd.dst.dtype, run);
    settle_results(mem, cmd);
  };
  const auto chosen = [&]<class Lane>(Lane) {
    const auto run = [&]<class T>(T) { choose<T, Lane>(mem, cmd); };
    is_fp8(cmd.dst.dtype) ? for_fp8_type(cmd.dst.dtype, run) : for_any_type(cmd.dst.dtype, run);
  };
  const auto combined = [&]<class Lane>(Lane) {
    for_size(size_of(cmd.dst.dtype), [&]<class T>(T) { combine<T, Lane>(mem, cmd); });
  };
  switch (cmd.mode) {
    case ArithMode::kAdd: return computed(Add{});
    case ArithMode::kSub: return computed(Sub{});
    case ArithMode::kMul: return computed(Mul{});
    case ArithMode::kDiffAbs: return computed(DiffAbs{});
    case ArithMode::kMax: return chosen(Max{});
    case ArithMode::kMin: return chosen(Min{});
    case ArithMode::kAddSquare: return computed(AddSquare{});
    case ArithMode::kSubSquare: return computed(SubSquare{});
    case ArithMode::kPrelu:
      if (cmd.dst.dtype == Dtype::kFp16 && mem.chip().has(Quirk::kHalfFlushes)) return computed(FlushedPrelu{});
      return computed(Prelu{});
    case ArithMode::kAnd: return combined(And{});
    case ArithMode::kOr: return combined(Or{});
    case ArithMode::kXor: return combined(Xor{});
  }
  unreachable(cmd.mode);
}

static bool flushes(ArithMode mode) {
  switch (mode) {
    case ArithMode::kAdd:
    case ArithMode::kSub:
    case ArithMode::kMul:
    case ArithMode::kDiffAbs:
    case ArithMode::kAddSquare:
    case ArithMode::kSubSquare: return true;
    case ArithMode::kPrelu:  // what is handed on stays (prelu below)
    case ArithMode::kMax:
    case ArithMode::kMin:
    case ArithMode::kAnd:
    case ArithMode::kOr:
    case ArithMode::kXor: return false;
  }
  unreachable(mode);
}

void execute(Memories& mem, const ArithCmd& cmd) {
  const auto compute = [&](const ArithCmd& apart) {
    if (!flushes(cmd.mode)) return carry_out(mem, apart);
    with_flushed_halves(mem, apart, [&](const ArithCmd& flushed) { carry_out(mem, flushed); });
  };
  with_sources_apart(mem, cmd, compute, &ArithCmd::a, &ArithCmd::b);
}

}  // namespace softtpu
