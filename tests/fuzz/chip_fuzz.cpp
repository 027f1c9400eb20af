// The reader of chip descriptions: what it accepts has the properties that the device is built on.
#include <string>

#include "device/chip/chip.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu;
  const auto chip = parse_chip(std::string(reinterpret_cast<const char*>(data), bytes), "input");
  if (!chip) {
    fuzz::require(!chip.error().text.empty(), "a refusal says why");
    return 0;
  }
  fuzz::require(chip->npu_num > 0 && chip->banks > 0 && chip->eu_bytes > 0 && chip->cores > 0, "counts are positive");
  fuzz::require(chip->local_bytes > 0 && chip->local_bytes % static_cast<unsigned>(chip->banks) == 0,
                "banks divide local memory");
  fuzz::require(chip->global_reserved < chip->global_mem.bytes, "some global memory is left");
  return 0;
}
