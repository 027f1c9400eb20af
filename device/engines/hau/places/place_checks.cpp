#include "device/engines/hau/places/place_checks.hpp"

#include <fmt/format.h>

namespace softtpu {

void check_hau_place(Checks& check, const char* name, const Tensor& tensor, std::uint64_t alignment) {
  check.multiple_of(name, tensor.addr, alignment);
  const Chip& chip = check.chip();
  check.require(chip.global_mem.contains(tensor.addr) || chip.l2_sram.contains(tensor.addr), [&] {
    return fmt::format("{} address (0x{:x}) is neither in global memory nor in L2 SRAM", name, tensor.addr);
  });
  check.tensor(name, tensor, NaturalAlignment::kElement);
}

}  // namespace softtpu
