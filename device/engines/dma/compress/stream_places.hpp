// Where the parts of a stream in the chip's own form begin: a header, the map of the groups, the codes. Each is filled
// up to a step (device/chip/rules.def: compressed-codes-apart).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "device/chip/rules.hpp"
#include "device/engines/dma/compress/command.hpp"
#include "device/engines/dma/compress/group_code.hpp"
#include "device/isa/packing_size.hpp"

namespace softtpu {

inline GroupFormat stream_format(const Chip& chip, const DmaCompressCmd& cmd) {
  return {cmd.plain.dtype, cmd.rule, is_float(cmd.plain.dtype) && chip.has(Quirk::kCodesApart)};
}

struct StreamPlaces {
  StreamPlaces(const Chip& chip, std::int64_t count, const GroupFormat& format)
      : step(chip.has(Quirk::kCodesApart) ? kWideStep : kGroupAlignment),
        map(step),
        codes(map + filled(groups_of(count) * (format.zeros_in_map ? 2 : 1))) {}
  std::int64_t filled(std::int64_t bytes) const { return (bytes + step - 1) / step * step; }

  static constexpr std::int64_t kWideStep = 128;
  std::int64_t step, map, codes;
};

// Bytes of codes that a stream's header gives, as far as its memory goes.
inline std::int64_t stream_codes(const DmaCompressCmd& cmd, const std::uint8_t* packed, const StreamPlaces& places) {
  std::uint64_t length = 0;
  std::memcpy(&length, packed, sizeof(length));
  const auto room = static_cast<std::uint64_t>(std::max<std::int64_t>(cmd.packed.shape.w - places.codes, 0));
  return static_cast<std::int64_t>(std::min(length, room));
}

// Bytes of codes that a unit's meta word gives, where it has room for all that `count` elements may take.
inline std::optional<std::int64_t> unit_codes(const DmaCompressCmd& cmd, std::uint32_t meta, std::int64_t count) {
  return UnitMeta::code_bytes(meta, groups_of(count) * kGroupElements * size_of(cmd.plain.dtype));
}

}  // namespace softtpu
