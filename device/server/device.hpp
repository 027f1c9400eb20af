// One emulated device: its chip, memories, heap, cores and launch queue. Sessions (clients) use it; it knows none of
// them. Lives on the server's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/memory/memories.hpp"
#include "device/observe/observers.hpp"
#include "device/server/allocator.hpp"
#include "device/server/core_link.hpp"
#include "device/server/launch_queue.hpp"
#include "runtime/base/config.hpp"

namespace softtpu {

class EventLoop;

class Device {
 public:
  static Result<std::unique_ptr<Device>> create(EventLoop& loop, const Chip& chip, const Settings& settings,
                                                Tools tools, bool in_process, std::uint32_t number);

  const Chip& chip() const { return memories_->chip(); }
  bool in_process() const { return in_process_; }
  LaunchQueue& queue() { return queue_; }
  CoreLink& core(std::size_t index) { return *cores_[index]; }
  std::size_t core_count() const { return cores_.size(); }
  const Allocator& heap() const { return heap_; }
  const Tools& tools() const { return tools_; }
  int global_fd() const { return memories_->fds().front(); }

  // Zeroed memory, or poisoned (SOFTTPU_FRESH). The error names the sizes.
  Result<std::uint64_t> allocate(std::uint64_t bytes);
  void release(std::uint64_t address);
  // Takes this place, as a recorded launch found it, with what the memory holds.
  Result<void> take(std::uint64_t address, std::uint64_t bytes);
  Memories& memories() { return *memories_; }
  // Global memory at an address that lies in an allocation.
  std::uint8_t* global(std::uint64_t address) { return memories_->global() + (address - chip().global_mem.start); }

  std::uint32_t next_module() { return ++last_module_; }
  std::uint32_t next_function() { return ++last_function_; }
  // The same for every core.
  void load(std::uint32_t module, const std::string& name, const UniqueFd& image, CoreLink::Loaded answer);
  void unload(std::uint32_t module);
  void define(std::uint32_t function, std::uint32_t module, const std::string& name, CoreLink::Answered answer);

  // Sends what has been collected for the cores, and answers launches that end at once.
  void flush();

 private:
  Device(EventLoop& loop, std::unique_ptr<Memories> memories, const Settings& settings, Tools tools, bool in_process);
  void make_zero(std::uint64_t address, std::uint64_t bytes);

  const bool in_process_, poison_;
  std::unique_ptr<Memories> memories_;
  Mapping chip_file_;
  Tools tools_;
  Allocator heap_;
  std::vector<std::unique_ptr<CoreLink>> cores_;
  LaunchQueue queue_;
  std::uint32_t last_module_ = 0, last_function_ = 0;
};

}  // namespace softtpu
