// Integer arithmetic with shifts, and integer quantisation (numerics: bm1684x-elementwise.md section 5).
//
// Operands are read as 64-bit integers; the operation and the shift run in the narrowest type that holds every
// intermediate value exactly, which is 128 bits for a product of 32-bit operands shifted left.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "device/chip/rules.hpp"
#include "device/command/functions.hpp"
#include "device/command/packing.hpp"
#include "device/engines/bdc/integer/command.hpp"
#include "device/engines/bdc/integer/fast.hpp"
#include "device/engines/bdc/integer/float_product.hpp"
#include "device/engines/bdc/integer/packed.hpp"
#include "device/engines/bdc/requant/shifted_sums.hpp"
#include "device/engines/bdc/rows/from_the_end.hpp"
#include "device/engines/bdc/rows/walk_rows.hpp"
#include "device/memory/rows.hpp"
#include "device/memory/sources_apart.hpp"
#include "device/numeric/requant.hpp"

namespace softtpu {
namespace {

using Value = As<std::int64_t>;

struct Add {
  template <class Acc>
  static Acc apply(Acc a, Acc b) {
    return a + b;
  }
};
struct Sub {
  template <class Acc>
  static Acc apply(Acc a, Acc b) {
    return a - b;
  }
};
struct Mul {
  template <class Acc>
  static Acc apply(Acc a, Acc b) {
    return a * b;
  }
};
struct Max {
  template <class Acc>
  static Acc apply(Acc a, Acc b) {
    return a > b ? a : b;
  }
};
struct Min {
  template <class Acc>
  static Acc apply(Acc a, Acc b) {
    return a < b ? a : b;
  }
};

// Bits of the largest magnitude that an operand can have; a constant is known exactly.
int magnitude_bits(const Operand& operand) {
  if (const auto* tensor = std::get_if<Tensor>(&operand)) return 8 * size_of(tensor->dtype);
  const Scalar& scalar = std::get<Scalar>(operand);
  std::int64_t value = 0;
  row_reader<std::int64_t>(scalar.dtype)(&value, reinterpret_cast<const std::uint8_t*>(&scalar.bits), 1, 1);
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value < 0 ? -value : value)));
}

int constant_shift(const Operand& shift) { return static_cast<std::int8_t>(std::get<Scalar>(shift).bits); }

// 64 bits are enough for a value of `bits` bits and a constant shift (see Shifter).
bool fits_64(int bits, const Operand& shift) {
  return std::holds_alternative<Scalar>(shift) && softtpu::fits_64(bits, constant_shift(shift));
}

// Clamped to the type, or left to be cut by the store.
struct Finish {
  IntRange range;
  bool saturate;
  template <class Acc>
  std::int64_t operator()(Acc value) const {
    if (saturate) value = value < range.low ? range.low : value > range.high ? range.high : value;
    return static_cast<std::int64_t>(value);
  }
};

template <class Acc, class Lane>
void with_constant_shift(Memories& mem, const IntArithCmd& cmd, const Finish& finish) {
  const Shifter<Acc> shift(constant_shift(cmd.shift), cmd.rounding);
  for_each_row<Value, Value, Value>(
      mem, cmd.dst,
      [&](std::int64_t* dst, const std::int64_t* a, const std::int64_t* b, int count) {
        for (int i = 0; i < count; ++i)
          dst[i] = finish(shift(Lane::template apply<Acc>(static_cast<Acc>(a[i]), static_cast<Acc>(b[i]))));
      },
      cmd.a, cmd.b);
}

// Bits of a shift to the left from memory that count.
constexpr int kResultShiftBits = 31, kProductShiftBits = 63;

// How amounts of shifts in memory are read: their bits to the left that count, and whether only their low byte does.
struct AmountRule {
  int left_bits;
  bool low_byte;
};

template <class Lane>
void with_shift_operand(Memories& mem, const IntArithCmd& cmd, const Finish& finish, const AmountRule& rule) {
  // By more than 65 places to the right, every value of 64 bits gives what it gives by so many.
  const std::int64_t most_right = rule.low_byte ? -63 : -65;
  for_each_row<Value, Value, Value, Value>(
      mem, cmd.dst,
      [&](std::int64_t* dst, const std::int64_t* a, const std::int64_t* b, const std::int64_t* shift, int count) {
        for (int i = 0; i < count; ++i) {
          const std::int64_t amount = rule.low_byte ? static_cast<std::int8_t>(shift[i]) : shift[i];
          const auto places = static_cast<int>(amount > 0 ? amount & rule.left_bits : std::max(amount, most_right));
          const Shifter<Int128> shifted(places, cmd.rounding);
          const Int128 result = shifted(Lane::template apply<Int128>(a[i], b[i]));
          dst[i] = finish(rule.left_bits == kProductShiftBits && places > 0 ? within_64(result) : result);
        }
      },
      cmd.a, cmd.b, cmd.shift);
}

// In words of 32 bits, with the loops of shifted sums.
template <class Lane>
void in_words(Memories& mem, const IntArithCmd& cmd) {
  // Results that are cut by the store: as words shifted by at most 2 places to the left they lie within this.
  constexpr std::int64_t kUncut = std::int64_t{1} << 33;
  const IntRange range = cmd.saturate ? range_of(cmd.dst.dtype) : IntRange{-kUncut, kUncut};
  const SumShift rule{true, {constant_shift(cmd.shift), cmd.rounding}, range.low, range.high};
  const ShiftSums shift = fast_shift_sums(size_of(cmd.dst.dtype));
  using Word = As<std::int32_t>;
  for_size(size_of(cmd.dst.dtype), [&]<class D>(D) {
    for_each_apart_row<D, Word, Word>(
        mem, cmd.dst,
        [&](D* dst, const std::int32_t* a, const std::int32_t* b, int count) {
          std::array<std::uint32_t, kRowChunk> words;
          for (int first = 0; first < count; first += kRowChunk) {
            const int piece = std::min(kRowChunk, count - first);
            for (int i = 0; i < piece; ++i)
              words[static_cast<std::size_t>(i)] =
                  static_cast<std::uint32_t>(Lane::template apply<std::int32_t>(a[first + i], b[first + i]));
            shift(rule, words.data(), 0, nullptr, piece, dst + first);
          }
        },
        cmd.a, cmd.b);
  });
}

// Whether that is exact for values of `bits` bits.
bool fits_words(const Memories& mem, const IntArithCmd& cmd, int bits) {
  if (bits > 31 || std::holds_alternative<Tensor>(cmd.shift) || !fits_64(bits, cmd.shift)) return false;
  return (cmd.saturate || constant_shift(cmd.shift) <= 2) && fast_rows(mem, cmd.dst, cmd.a, cmd.b);
}

// As vectors of lanes that hold every value on the way. False: there are none.
bool in_narrow_lanes(Memories& mem, const IntArithCmd& cmd) {
  const int size = size_of(cmd.dst.dtype);
  if (std::holds_alternative<Tensor>(cmd.shift) || size_of(type_of(cmd.a)) != size || size_of(type_of(cmd.b)) != size ||
      !fast_rows(mem, cmd.dst, cmd.a, cmd.b))
    return false;
  const ShiftedInts shifted = fast_shifted_ints(cmd.mode, type_of(cmd.a), type_of(cmd.b));
  const int places = constant_shift(cmd.shift);
  if (shifted.row == nullptr || places > shifted.reach.left || -places > shifted.reach.right) return false;
  NarrowShift end{Shifter<std::int64_t>(places, cmd.rounding).steps(), INT16_MIN, INT16_MAX};
  if (cmd.saturate) {
    const IntRange range = range_of(cmd.dst.dtype);
    end.low = static_cast<std::int32_t>(range.low);
    end.high = static_cast<std::int32_t>(range.high);
  } else if (size == 2 || cmd.mode == IntMode::kMul) {
    end.low = INT32_MIN;
    end.high = INT32_MAX;
  }
  walk_apart_rows(
      mem, [&](void* dst, const void* a, const void* b, int count) { shifted.row(end, dst, a, b, count); }, cmd.dst,
      cmd.a, cmd.b);
  return true;
}

template <class Lane>
void arith(Memories& mem, const IntArithCmd& cmd, int bits) {
  if (in_narrow_lanes(mem, cmd)) return;
  if (fits_words(mem, cmd, bits)) return in_words<Lane>(mem, cmd);
  const Finish finish{range_of(cmd.dst.dtype), cmd.saturate};
  if (const auto* shift = std::get_if<Tensor>(&cmd.shift)) {
    // To the left they count modulo the 32 bits of a result (golden-bmodel ar/0446, ar/0649, ar/0823), those of each
    // channel modulo the 64 of a product (golden-bmodel bm1688/instr_1 ar/0218). The sign is that of the low byte
    // (ar/0649), or of the whole amount (bm1688/instr_1 ar/0295).
    const bool newer = mem.chip().has(Quirk::kUncutShifts);
    const bool of_channels = shift->stride.w == 0 && shift->stride.h == 0;
    return with_shift_operand<Lane>(mem, cmd, finish,
                                    {newer && of_channels ? kProductShiftBits : kResultShiftBits, !newer});
  }
  if (fits_64(bits, cmd.shift)) return with_constant_shift<std::int64_t, Lane>(mem, cmd, finish);
  with_constant_shift<Int128, Lane>(mem, cmd, finish);
}

bool has_equal_types(const IntArithCmd& cmd) {
  return type_of(cmd.a) == cmd.dst.dtype && type_of(cmd.b) == cmd.dst.dtype;
}
// Whether one element stands for a row.
bool is_repeated(const Operand& operand) {
  const auto* tensor = std::get_if<Tensor>(&operand);
  return tensor == nullptr || tensor->stride.w == 0;
}
bool has_shift(const IntArithCmd& cmd) {
  return std::holds_alternative<Tensor>(cmd.shift) || constant_shift(cmd.shift) != 0;
}

}  // namespace

static void carry_out(Memories& mem, const IntArithCmd& cmd) {
  if (has_equal_types(cmd) && !has_shift(cmd) && fast_rows(mem, cmd.dst, cmd.a, cmd.b)) {
    if (is_repeated(cmd.a) || is_repeated(cmd.b)) {
      if (const RepeatedRow row = fast_repeated_int_row(cmd.mode, cmd.dst.dtype, cmd.saturate)) {
        return for_size(size_of(cmd.dst.dtype),
                        [&]<class T>(T) { for_each_row<T, OrOne<T>, OrOne<T>>(mem, cmd.dst, row, cmd.a, cmd.b); });
      }
    }
    if (const BinaryRow row = fast_int_row(cmd.mode, cmd.dst.dtype, cmd.saturate))
      return walk_apart_rows(mem, row, cmd.dst, cmd.a, cmd.b);
  }
  const int a = magnitude_bits(cmd.a);
  const int b = magnitude_bits(cmd.b);
  const int widest = std::max(a, b);
  switch (cmd.mode) {
    case IntMode::kAdd: return arith<Add>(mem, cmd, widest + 1);
    case IntMode::kSub: return arith<Sub>(mem, cmd, widest + 1);
    case IntMode::kMul: return arith<Mul>(mem, cmd, a + b);
    case IntMode::kMax: return arith<Max>(mem, cmd, widest);
    case IntMode::kMin: return arith<Min>(mem, cmd, widest);
  }
  unreachable(cmd.mode);
}

void execute(Memories& mem, const IntArithCmd& cmd) {
  if (is_float(type_of(cmd.b))) return execute_float_product(mem, cmd);
  if (packing_of(cmd.rounding).any()) return execute_packed(mem, cmd);
  if (overwrites_narrower(cmd.a, cmd.dst) || overwrites_narrower(cmd.b, cmd.dst))
    return execute_from_the_end(mem, cmd, &IntArithCmd::a, &IntArithCmd::b, &IntArithCmd::shift);
  with_sources_apart(
      mem, cmd, [&](const IntArithCmd& apart) { carry_out(mem, apart); }, &IntArithCmd::a, &IntArithCmd::b,
      &IntArithCmd::shift);
}

namespace {

// By how many places the elements are shifted to the left, where that is a product with a power of two that their type
// has. 0: it is not.
int places_to_left(const ShiftCmd& cmd) {
  if (cmd.src.dtype != cmd.dst.dtype || std::holds_alternative<Tensor>(cmd.shift)) return 0;
  const int shift = constant_shift(cmd.shift);
  return shift > 0 && shift < 8 * size_of(cmd.dst.dtype) ? shift : 0;
}

}  // namespace

void execute(Memories& mem, const ShiftCmd& cmd) {
  const Scalar zero{0, cmd.src.dtype};
  if (const int places = places_to_left(cmd); places > 0 && fast_rows(mem, cmd.dst, cmd.src)) {
    const Scalar power{1U << places, cmd.src.dtype};
    return execute(mem, IntArithCmd{IntMode::kMul, cmd.dst, cmd.src, power, zero, cmd.rounding, false});
  }
  execute(mem, IntArithCmd{IntMode::kAdd, cmd.dst, cmd.src, zero, cmd.shift, cmd.rounding, false});
}

namespace {

// The shifted product wraps round at 64 bits, unlike that of the other integer commands, or keeps its sign (golden
// bm1690/quant: int_pc_dequant).
template <class Acc, Quant kDirection>
Acc scaled(std::int64_t src, std::int64_t multiplier, const Shifter<Acc>& shift, std::int64_t offset, bool uncut) {
  if constexpr (kDirection == Quant::kRequant) {
    const Acc product = shifted_product(src, multiplier, shift, uncut);
    return (uncut ? within_64(product) : product) + offset;
  } else {
    const Acc product = shifted_product(src - offset, multiplier, shift, uncut);
    return uncut ? within_64(product) : product;
  }
}

// Left shifts from memory count modulo the 64 bits of the product (golden-bmodel rq_sdq/0006; golden bm1690/quant:
// int_pc_dequant).
int counted_places(std::int64_t stored) { return static_cast<int>(stored > 0 ? stored & 63 : stored); }

template <class Acc, Quant kDirection>
void quantise(Memories& mem, const IntQuantCmd& cmd) {
  const Finish finish{range_of(cmd.dst.dtype), true};
  const bool uncut = mem.chip().has(Quirk::kUncutShifts);
  if (std::holds_alternative<Scalar>(cmd.shift)) {
    const Shifter<Acc> shift(constant_shift(cmd.shift), cmd.rounding);
    for_each_row<Value, Value, Value, Value>(
        mem, cmd.dst,
        [&](std::int64_t* dst, const std::int64_t* src, const std::int64_t* multiplier, const std::int64_t* offset,
            int count) {
          for (int i = 0; i < count; ++i)
            dst[i] = finish(scaled<Acc, kDirection>(src[i], multiplier[i], shift, offset[i], uncut));
        },
        cmd.src, cmd.multiplier, cmd.offset);
    return;
  }
  for_each_row<Value, Value, Value, Value, Value>(
      mem, cmd.dst,
      [&](std::int64_t* dst, const std::int64_t* src, const std::int64_t* multiplier, const std::int64_t* offset,
          const std::int64_t* shift, int count) {
        for (int i = 0; i < count; ++i) {
          const Shifter<Acc> shifted(counted_places(shift[i]), cmd.rounding);
          dst[i] = finish(scaled<Acc, kDirection>(src[i], multiplier[i], shifted, offset[i], uncut));
        }
      },
      cmd.src, cmd.multiplier, cmd.offset, cmd.shift);
}

// Rows with the loops of shifted sums wherever 64 bits hold what they compute, as which they are the same on all chips.
class QuantRows {
 public:
  QuantRows(const Memories& mem, const IntQuantCmd& cmd)
      : cmd_(cmd),
        uncut_(mem.chip().has(Quirk::kUncutShifts)),
        range_(range_of(cmd.dst.dtype)),
        shift_sums_(fast_shift_sums(size_of(cmd.dst.dtype))) {}

  // With the same parameters for all elements; `shift` as it is carried out.
  template <class S>
  void operator()(void* dst, const S* src, std::int64_t multiplier, int shift, std::int64_t offset, int count) const {
    const bool requant = cmd_.direction == Quant::kRequant;
    // Shifts to the right have their room (see Shifter); those to the left may wrap round.
    const bool fits = shift <= 0 && -shift <= Shifter<std::int64_t>::kMaxRight;
    constexpr std::int64_t kRoom = std::int64_t{1} << 30;
    // The loops read signed words of 32 bits, and take the offset off in as many.
    const bool in_words = sizeof(S) < 4 || (std::is_signed_v<S> && requant);
    if (!fits || !in_words || multiplier != static_cast<std::int32_t>(multiplier) || std::abs(offset) >= kRoom)
      return one_by_one(dst, src, multiplier, shift, offset, count);
    SumShift rule{true, {shift, cmd_.rounding}, range_.low, range_.high};
    rule.multiplier = static_cast<std::int32_t>(multiplier);
    rule.offset = requant ? static_cast<std::int32_t>(offset) : 0;
    const std::uint32_t start = requant ? 0 : static_cast<std::uint32_t>(-offset);
    if constexpr (std::is_same_v<S, std::int32_t>) {
      shift_sums_(rule, reinterpret_cast<const std::uint32_t*>(src), start, nullptr, count, dst);
    } else {
      std::array<std::uint32_t, kRowChunk> words;
      auto* to = static_cast<std::uint8_t*>(dst);
      for (int i = 0; i < count; i += kRowChunk) {
        const int piece = std::min(kRowChunk, count - i);
        for (int k = 0; k < piece; ++k) words[static_cast<std::size_t>(k)] = static_cast<std::uint32_t>(src[i + k]);
        shift_sums_(rule, words.data(), start, nullptr, piece, to + std::int64_t{i} * size_of(cmd_.dst.dtype));
      }
    }
  }

 private:
  template <class S>
  void one_by_one(void* dst, const S* src, std::int64_t multiplier, int places, std::int64_t offset, int count) const {
    const Finish finish{range_, true};
    const Shifter<Int128> shift(places, cmd_.rounding);
    for_size(size_of(cmd_.dst.dtype), [&]<class D>(D) {
      for (int i = 0; i < count; ++i) {
        const Int128 value = cmd_.direction == Quant::kRequant
                                 ? scaled<Int128, Quant::kRequant>(src[i], multiplier, shift, offset, uncut_)
                                 : scaled<Int128, Quant::kDequant>(src[i], multiplier, shift, offset, uncut_);
        static_cast<D*>(dst)[i] = static_cast<D>(finish(value));
      }
    });
  }

  const IntQuantCmd& cmd_;
  bool uncut_;
  IntRange range_;
  ShiftSums shift_sums_;
};

void quantise_rows(Memories& mem, const IntQuantCmd& cmd) {
  const QuantRows rows(mem, cmd);
  const bool stored = std::holds_alternative<Tensor>(cmd.shift);
  for_int_type(cmd.src.dtype, [&]<class S>(S) {
    for_size(size_of(cmd.dst.dtype), [&]<class D>(D) {
      using Values = ValuesOrOne<std::int64_t>;
      using Parameter = OneAs<std::int64_t>;
      for_each_row<D, S, Parameter, Parameter, Parameter>(
          mem, cmd.dst,
          [&](D* dst, const S* src, Values multiplier, Values offset, Values shift, int count) {
            const int step = multiplier.one && offset.one && shift.one ? count : 1;
            for (int i = 0; i < count; i += step) {
              const int places = stored ? counted_places(shift[i]) : constant_shift(cmd.shift);
              rows(dst + i, src + i, multiplier[i], places, offset[i], step);
            }
          },
          cmd.src, cmd.multiplier, cmd.offset, cmd.shift);
    });
  });
}

template <Quant kDirection>
void quantise(Memories& mem, const IntQuantCmd& cmd) {
  // An offset may have more bits than what it is taken off from.
  const int src = kDirection == Quant::kDequant ? std::max(magnitude_bits(cmd.src), magnitude_bits(cmd.offset)) + 1
                                                : magnitude_bits(cmd.src);
  if (fits_64(src + magnitude_bits(cmd.multiplier), cmd.shift)) return quantise<std::int64_t, kDirection>(mem, cmd);
  quantise<Int128, kDirection>(mem, cmd);
}

}  // namespace

static void carry_out(Memories& mem, const IntQuantCmd& cmd) {
  if (fast_rows(mem, cmd.dst, cmd.src, cmd.multiplier, cmd.shift, cmd.offset)) return quantise_rows(mem, cmd);
  if (cmd.direction == Quant::kRequant) return quantise<Quant::kRequant>(mem, cmd);
  quantise<Quant::kDequant>(mem, cmd);
}

void execute(Memories& mem, const IntQuantCmd& cmd) {
  if (overwrites_narrower(cmd.src, cmd.dst)) {
    return execute_from_the_end(mem, cmd, &IntQuantCmd::src, &IntQuantCmd::multiplier, &IntQuantCmd::shift,
                                &IntQuantCmd::offset);
  }
  with_sources_apart(
      mem, cmd, [&](const IntQuantCmd& apart) { carry_out(mem, apart); }, &IntQuantCmd::src, &IntQuantCmd::multiplier,
      &IntQuantCmd::shift, &IntQuantCmd::offset);
}

}  // namespace softtpu
