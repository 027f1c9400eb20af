// The tracks of a device in a Chrome trace: a process for each device, and in it tracks for each core, the launches
// above the engines.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "device/chip/chip.hpp"
#include "device/isa/op.hpp"

namespace softtpu {

class TraceTracks {
 public:
  static constexpr std::array kEngines = {Engine::kBdc, Engine::kGdma, Engine::kHau, Engine::kControl, Engine::kSdma};

  explicit TraceTracks(std::uint32_t device, int core = 0) : device_(device), core_(core) {}

  int process() const { return static_cast<int>(device_) + 1; }
  int launches() const { return core_ * kPerCore + 1; }
  int engine(Engine engine) const;
  // The events that name them all, separated by commas, and the chip with the revision whose results these are.
  std::string names(const Chip& chip) const;

 private:
  static constexpr int kPerCore = 10;  // so that a core's stay together
  std::uint32_t device_;
  int core_;
};

}  // namespace softtpu
