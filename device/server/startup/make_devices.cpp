#include "device/server/startup/make_devices.hpp"

#include <algorithm>

#include "device/core/execution.hpp"
#include "device/core/schedule.hpp"
#include "device/observers/device_observers.hpp"
#include "device/record/launch_recorder.hpp"

namespace softtpu {
namespace {

Result<DeviceObservers> make_device_observers(const Settings& settings, const Chip& chip, const ObserverScope& of) {
  auto observers = make_observers(settings, chip, of);
  if (!observers || settings.record_path.empty()) return observers;
  auto recorder = LaunchRecorder::create(
      {settings.record_path, settings.record_launch, settings.chip, observers->allocations, observers->shadow});
  if (!recorder) return recorder.error();
  observers->recorder = *std::move(recorder);
  return observers;
}

}  // namespace

Result<std::vector<std::unique_ptr<Device>>> make_devices(EventLoop& loop, const Settings& settings,
                                                          const DeviceOptions& options) {
  auto chip = load_chip(settings.chip);
  if (!chip) return chip.error();
  // Kernels are tried on numbers of cores that the chip may not have.
  for (const std::uint32_t count : settings.core_counts) chip->cores = std::max(chip->cores, static_cast<int>(count));
  if (auto chosen = choose_execution(settings); !chosen) return chosen.error();
  if (auto order = Schedule::parse(settings.schedule); !order) {
    return Error{order.error().kind, "SOFTTPU_SCHEDULE: " + order.error().text};
  }
  std::vector<std::unique_ptr<Device>> devices;
  for (std::uint32_t i = 0; i < options.count; ++i) {
    const std::uint32_t number = options.first + i;
    auto observers =
        make_device_observers(settings, *chip, {number, options.many_clients, options.keep_files || i > 0});
    if (!observers) return observers.error();
    auto device = Device::create(loop, *chip, settings, *std::move(observers),
                                 {options.in_process, options.many_clients}, number);
    if (!device) return device.error();
    devices.push_back(std::move(*device));
  }
  return devices;
}

}  // namespace softtpu
