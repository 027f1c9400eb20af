// Where the parts of a stream in the chip's own form begin: a header, the map of the groups, the codes. Each is filled
// up to a step (device/chip/rules.def: compressed-codes-apart).
#pragma once

#include <cstdint>

#include "device/chip/rules.hpp"
#include "device/isa/packing_size.hpp"

namespace softtpu {

struct StreamPlaces {
  StreamPlaces(const Chip& chip, std::int64_t count)
      : step(chip.has(Quirk::kCodesApart) ? kWideStep : kGroupAlignment),
        map(step),
        codes(map + filled(groups_of(count))) {}
  std::int64_t filled(std::int64_t bytes) const { return (bytes + step - 1) / step * step; }

  static constexpr std::int64_t kWideStep = 128;
  std::int64_t step, map, codes;
};

}  // namespace softtpu
