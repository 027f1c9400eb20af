// Conversions from and to 4-bit integers (reports int4-types).
#include "device/engines/bdc/convert/packed.hpp"

#include <algorithm>
#include <array>

#include "device/chip/conversions.hpp"
#include "device/command/packing.hpp"
#include "device/engines/bdc/convert/command.hpp"
#include "device/engines/bdc/integer/nibble_rows.hpp"
#include "device/numeric/convert.hpp"
#include "device/numeric/shift.hpp"

namespace softtpu {

static IntRange range_of_elements(Dtype type, bool packed) {
  if (!packed) return range_of(type);
  return range_of(type == Dtype::kInt8 ? Dtype::kInt4 : Dtype::kUint4);
}

void execute_packed(const Memories& mem, const CastCmd& cmd) {
  const Packing packing = packing_of(cmd.rounding);
  const Dim4& shape = packing.dst ? cmd.src.shape : cmd.dst.shape;
  const NibbleRows dst(mem, cmd.dst, packing.dst, shape), src(mem, cmd.src, packing.first, shape);
  const Dtype to = cmd.dst.dtype;
  if (is_integer(to)) {
    const IntRange range = range_of_elements(to, packing.dst);
    return for_each_nibble_piece(mem.chip(), shape, [&](const PieceAt& at) {
      NibblePiece values;
      src.read(values, at);
      for (int i = 0; i < at.count(); ++i) {
        auto& value = values[static_cast<std::size_t>(i)];
        value = std::clamp(value, range.low, range.high);
      }
      dst.write(values, at);
    });
  }
  constexpr std::int32_t kLowest = -8;  // the values of 4 bits are -8..15
  std::array<std::uint32_t, 24> floats{};
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const auto value = static_cast<std::uint32_t>(static_cast<std::int32_t>(i) + kLowest) & 0xFFU;
    floats[i] = convert_bits(value, to, Dtype::kInt8, mode_of(cmd.rounding), conversion_specials(mem.chip()));
  }
  for_each_nibble_piece(mem.chip(), shape, [&](const PieceAt& at) {
    NibblesAs<std::int32_t> values;
    src.read(values, at);
    for (int i = 0; i < at.count(); ++i) {
      auto& value = values[static_cast<std::size_t>(i)];
      value = static_cast<std::int32_t>(floats[static_cast<std::size_t>(value - kLowest)]);
    }
    dst.write(values, at);
  });
}

}  // namespace softtpu
