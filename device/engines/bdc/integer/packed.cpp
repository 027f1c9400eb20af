// Sums, differences and products of 4-bit integers (reports int4-types).
#include "device/engines/bdc/integer/packed.hpp"

#include "device/command/packing.hpp"
#include "device/engines/bdc/integer/command.hpp"
#include "device/engines/bdc/integer/nibble_rows.hpp"
#include "device/numeric/shift.hpp"

namespace softtpu {

void execute_packed(const Memories& mem, const IntArithCmd& cmd) {
  const Packing packing = packing_of(cmd.rounding);
  const Dim4& shape = cmd.dst.shape;
  const NibbleRows dst(mem, cmd.dst, packing.dst, shape);
  const NibbleRows first(mem, std::get<Tensor>(cmd.a), packing.first, shape);
  const NibbleRows second(mem, std::get<Tensor>(cmd.b), packing.second, shape);
  const auto places = static_cast<std::int8_t>(std::get<Scalar>(cmd.shift).bits);
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
