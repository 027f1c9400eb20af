// Pointers that a function hands out without a check of their range: past what C++ may add to a pointer.
#pragma once

#include <cstdint>

namespace softtpu {

inline std::uint8_t* unchecked_pointer(std::uint8_t* start, std::uint64_t offset) {
  return reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(start) + offset);
}

}  // namespace softtpu
