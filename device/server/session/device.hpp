// One emulated device: its chip, memories, heap, cores and launch queue. Sessions (clients) use it; it knows none of
// them. Lives on the server's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/memory/memories.hpp"
#include "device/observers/device_observers.hpp"
#include "device/server/queue/core_link.hpp"
#include "device/server/queue/core_rings.hpp"
#include "device/server/queue/launch_queue.hpp"
#include "device/server/session/allocator.hpp"
#include "device/server/session/piecewise.hpp"
#include "runtime/base/config.hpp"

namespace softtpu {

class EventLoop;

class Device {
 public:
  struct Options {
    bool in_process = false;
    bool shared = false;  // by clients that may know nothing of each other
  };
  static Result<std::unique_ptr<Device>> create(EventLoop& loop, const Chip& chip, const Settings& settings,
                                                DeviceObservers observers, const Options& options,
                                                std::uint32_t number);

  const Chip& chip() const { return memories_->chip(); }
  bool in_process() const { return in_process_; }
  LaunchQueue& queue() { return queue_; }
  CoreLink& core(std::size_t index) { return *cores_[index]; }
  std::size_t core_count() const { return cores_.size(); }
  const Allocator& heap() const { return heap_; }
  const DeviceObservers& observers() const { return observers_; }
  int global_fd() const { return memories_->fds().front(); }

  // Allocates `bytes`. The caller must zero them. The error states the sizes.
  Result<std::uint64_t> allocate(std::uint64_t bytes);
  void release(std::uint64_t address) { heap_.release(address); }
  // Zeroes memory and gives its pages back to the system.
  Piecewise clear(std::uint64_t address, std::uint64_t bytes);
  // What new memory is made to hold: zeros, or poison (SOFTTPU_FRESH).
  Piecewise freshen(std::uint64_t address, std::uint64_t bytes);
  // Takes this place, as a recorded launch found it, with what the memory holds.
  Result<void> take(std::uint64_t address, std::uint64_t bytes);
  Memories& memories() { return *memories_; }
  // Global memory at an address that lies in an allocation.
  std::uint8_t* global(std::uint64_t address) { return memories_->global() + (address - chip().global_mem.start); }

  std::uint32_t next_module() { return ++last_module_; }
  std::uint32_t next_function() { return ++last_function_; }
  // The same for every core, within the limits of launches. The owner is that of CoreLink::abandon().
  void load(std::uint32_t module, const std::string& name, const UniqueFd& image, const void* owner,
            CoreLink::Loaded answer);
  void unload(std::uint32_t module, const void* owner, CoreLink::Answered answer);
  void define(std::uint32_t function, std::uint32_t module, const std::string& name, const void* owner,
              CoreLink::Answered answer);

  // Sends what has been collected for the cores, and answers launches that end at once.
  void flush();

 private:
  Device(std::unique_ptr<Memories> memories, const Settings& settings, DeviceObservers observers,
         const Options& options);
  Result<void> make_cores(EventLoop& loop, const Settings& settings);
  void make_zero(std::uint64_t address, std::uint64_t bytes);
  std::uint64_t next_used(std::uint64_t address, std::uint64_t end) const;
  CoreLink::Terms terms_of(const void* owner) const { return {owner, limits_.timeout_ms, limits_.limit_ms, 0, {}}; }

  const bool in_process_, poison_;
  const LaunchQueue::Limits limits_;
  std::unique_ptr<Memories> memories_;
  std::vector<std::unique_ptr<Memories>> core_memories_;  // of the cores but the first
  Mapping launch_pages_;
  std::unique_ptr<CoreRings> rings_;  // null: the cores are threads
  Mapping chip_file_;
  DeviceObservers observers_;
  Allocator heap_;
  std::vector<std::unique_ptr<CoreLink>> cores_;
  LaunchQueue queue_;
  std::uint32_t last_module_ = 0, last_function_ = 0;
};

}  // namespace softtpu
