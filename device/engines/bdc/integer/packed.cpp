// Sums, differences and products of 4-bit integers (reports int4-types).
#include "device/engines/bdc/integer/packed.hpp"

#include <algorithm>

#include "device/command/packing.hpp"
#include "device/engines/bdc/integer/command.hpp"
#include "device/engines/bdc/integer/nibble_rows.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/numeric/shift.hpp"

namespace softtpu {

namespace {

template <class W>
void compute(IntMode mode, W* a, const W* b, int count) {
  switch (mode) {
    case IntMode::kMul:
      for (int i = 0; i < count; ++i) a[i] = static_cast<W>(a[i] * b[i]);
      return;
    case IntMode::kSub:
      for (int i = 0; i < count; ++i) a[i] = static_cast<W>(a[i] - b[i]);
      return;
    default:
      for (int i = 0; i < count; ++i) a[i] = static_cast<W>(a[i] + b[i]);
  }
}

// Of bytes and halves of them, which are not shifted: everything fits in 32 bits.
void execute_bytes(const Memories& mem, const IntArithCmd& cmd, const NibbleRows& dst, const NibbleRows& first,
                   const NibbleRows& second) {
  const IntRange range = range_of(cmd.dst.dtype);
  // 32 bits hold all results, and an unsigned one has unsigned operands.
  const bool clamps = cmd.saturate && size_of(cmd.dst.dtype) < 4;
  const auto low = static_cast<std::int32_t>(clamps ? range.low : 0);
  const auto high = static_cast<std::int32_t>(clamps ? range.high : 0);
  for_each_nibble_piece(mem.chip(), cmd.dst.shape, [&](int n, int c, int h, int w, int count) {
    NibblesAs<std::int32_t> a, b;
    first.read(a, n, c, h, w, count);
    second.read(b, n, c, h, w, count);
    compute(cmd.mode, a.data(), b.data(), count);
    for (int i = 0; clamps && i < count; ++i) {
      std::int32_t& value = a[static_cast<std::size_t>(i)];
      value = std::min(std::max(value, low), high);
    }
    dst.write(a, n, c, h, w, count);
  });
}

bool are_bytes(const IntArithCmd& cmd) { return size_of(type_of(cmd.a)) == 1 && size_of(type_of(cmd.b)) == 1; }

}  // namespace

void execute_packed(const Memories& mem, const IntArithCmd& cmd) {
  const Packing packing = packing_of(cmd.rounding);
  const Dim4& shape = cmd.dst.shape;
  const NibbleRows dst(mem, cmd.dst, packing.dst, shape);
  const NibbleRows first(mem, std::get<Tensor>(cmd.a), packing.first, shape);
  const NibbleRows second(mem, std::get<Tensor>(cmd.b), packing.second, shape);
  const auto places = static_cast<std::int8_t>(std::get<Scalar>(cmd.shift).bits);
  if (places == 0 && are_bytes(cmd) && !plain_kernels()) return execute_bytes(mem, cmd, dst, first, second);
  const Shifter<Int128> shift(places, mode_of(cmd.rounding));
  const IntRange range = range_of(cmd.dst.dtype);
  for_each_nibble_piece(mem.chip(), shape, [&](int n, int c, int h, int w, int count) {
    NibblePiece a, b;
    first.read(a, n, c, h, w, count);
    second.read(b, n, c, h, w, count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const Int128 raw = cmd.mode == IntMode::kMul   ? Int128{a[i]} * b[i]
                         : cmd.mode == IntMode::kSub ? Int128{a[i]} - b[i]
                                                     : Int128{a[i]} + b[i];
      const Int128 shifted = shift(raw);
      const Int128 clamped = shifted < range.low ? range.low : shifted > range.high ? range.high : shifted;
      a[i] = static_cast<std::int64_t>(cmd.saturate ? clamped : shifted);
    }
    dst.write(a, n, c, h, w, count);
  });
}

}  // namespace softtpu
