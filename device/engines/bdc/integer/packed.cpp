// Sums, differences and products of 4-bit integers (reports int4-types).
#include "device/engines/bdc/integer/packed.hpp"

#include <algorithm>
#include <limits>

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

template <class W>
void limit(W low, W high, W* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = std::min(std::max(values[i], low), high);
}

// Of bytes and halves of them, which are not shifted. W holds all results: 16 bits sums and differences, 32 products.
template <class W>
void execute_bytes(const Memories& mem, const IntArithCmd& cmd, const NibbleRows& dst, const NibbleRows& first,
                   const NibbleRows& second) {
  const IntRange range = range_of(cmd.dst.dtype);
  constexpr std::int64_t kLow = std::numeric_limits<W>::min(), kHigh = std::numeric_limits<W>::max();
  const auto low = static_cast<W>(std::clamp(range.low, kLow, kHigh));
  const auto high = static_cast<W>(std::clamp(range.high, kLow, kHigh));
  for_each_nibble_piece(mem.chip(), cmd.dst.shape, [&](const PieceAt& at) {
    NibblesAs<W> a, b;
    first.read(a, at);
    second.read(b, at);
    compute(cmd.mode, a.data(), b.data(), at.count());
    if (cmd.saturate) limit(low, high, a.data(), at.count());
    dst.write(a, at);
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
  if (places == 0 && are_bytes(cmd) && !plain_kernels()) {
    const auto execute_as = cmd.mode == IntMode::kMul ? execute_bytes<std::int32_t> : execute_bytes<std::int16_t>;
    return execute_as(mem, cmd, dst, first, second);
  }
  const Shifter<Int128> shift(places, mode_of(cmd.rounding));
  const IntRange range = range_of(cmd.dst.dtype);
  for_each_nibble_piece(mem.chip(), shape, [&](const PieceAt& at) {
    NibblePiece a, b;
    first.read(a, at);
    second.read(b, at);
    for (std::size_t i = 0; i < static_cast<std::size_t>(at.count()); ++i) {
      const Int128 raw = cmd.mode == IntMode::kMul   ? Int128{a[i]} * b[i]
                         : cmd.mode == IntMode::kSub ? Int128{a[i]} - b[i]
                                                     : Int128{a[i]} + b[i];
      const Int128 shifted = shift(raw);
      const Int128 clamped = shifted < range.low ? range.low : shifted > range.high ? range.high : shifted;
      a[i] = static_cast<std::int64_t>(cmd.saturate ? clamped : shifted);
    }
    dst.write(a, at);
  });
}

}  // namespace softtpu
