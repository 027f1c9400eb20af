#include "device/server/session/device.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <new>

#include "device/core/launch_page.hpp"
#include "device/server/crash/crash_folder.hpp"
#include "runtime/base/text.hpp"
#include "runtime/module/kernel_registry.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

// As fp32, fp16 and bf16 a small negative number, as an index or address far outside: what uses it stands out.
constexpr std::uint8_t kPoison = 0xA5;
// Giving back that many pages takes some ten microseconds.
constexpr std::uint64_t kClearedBytes = 256U << 10;

// For "softtpu dump", which finds it among this process's files.
Result<Mapping> make_chip_file(const std::string& chip, std::uint32_t number) {
  std::error_code ignored;
  const std::string text =
      std::filesystem::exists(chip, ignored) ? std::filesystem::absolute(chip, ignored).string() : chip;
  auto file = Mapping::create("the chip's name", text.size() + 1, fmt::format("softtpu{}-chip.0", number));
  if (!file) return file;
  std::memcpy(file->data(), text.c_str(), text.size() + 1);
  file->make_read_only();
  return file;
}

// A debugger has no time limit. A program may set limits as it likes for a device of its
// own; on one that it shares, others wait for it.
LaunchQueue::Limits limits_of(const Settings& settings, bool shared) {
  if (!settings.gdb_socket.empty()) return {0, 0, true, false};
  return {settings.timeout_ms, settings.limit_ms, false, shared};
}

// An answer for the whole device, when the last core has answered: the first failure, else what the first core said.
template <class Value>
std::function<void(Result<Value>)> when_all(std::size_t count, std::function<void(Result<Value>)> answer) {
  struct State {
    std::size_t left;
    std::optional<Result<Value>> result;
  };
  auto state = std::make_shared<State>(State{count, std::nullopt});
  return [state, answer = std::move(answer)](Result<Value> result) {
    if (!state->result || (*state->result && !result)) state->result = std::move(result);
    if (--state->left == 0) answer(*std::move(state->result));
  };
}

}  // namespace

Device::Device(std::unique_ptr<Memories> memories, const Settings& settings, DeviceObservers observers,
               const Options& options)
    : in_process_(options.in_process),
      poison_(settings.poison),
      limits_(limits_of(settings, options.shared)),
      memories_(std::move(memories)),
      observers_(std::move(observers)),
      heap_(chip().global_mem.start + chip().global_reserved, chip().global_mem.start + chip().global_mem.bytes),
      queue_(cores_, limits_) {
  queue_.use_observers(observers_);
}

// Each core has a local memory of its own; L2 and global memory are the same for all.
Result<void> Device::make_cores(EventLoop& loop, const Settings& settings) {
  queue_.use_loop(loop);
  LaunchPage* pages = nullptr;
  if (chip().cores > 1) {
    auto memory = Mapping::create("the pages of launches", kLaunchPages * sizeof(LaunchPage), "softtpu-launches");
    if (!memory) return memory.error();
    launch_pages_ = *std::move(memory);
    pages = reinterpret_cast<LaunchPage*>(launch_pages_.data());
    for (std::size_t i = 0; i < kLaunchPages; ++i) new (pages + i) LaunchPage;
    queue_.use_pages({pages, kLaunchPages});
  }
  if (!in_process_) {
    auto rings = CoreRings::create(chip().cores);
    if (!rings) return rings.error();
    rings_ = *std::move(rings);
  }
  for (int i = 0; i < chip().cores; ++i) {
    if (i > 0) {
      auto own = memories_->make_for_core(i);
      if (!own) return own.error();
      core_memories_.push_back(*std::move(own));
    }
    // gdb needs the real process ids: a core in a PID namespace of its own has others.
    const bool own_namespace = settings.own_namespace && settings.gdb_socket.empty();
    const CoreLink::Options core{i,     in_process_, settings.sandbox, own_namespace, settings.dump_folder,
                                 pages, rings_.get()};
    cores_.push_back(std::make_unique<CoreLink>(loop, i > 0 ? *core_memories_.back() : *memories_, observers_, core));
    // The owner of a launch is the client that the queue has given.
    cores_.back()->when_lost([this](const void* owner, std::chrono::nanoseconds cost) {
      queue_.note_crash(*static_cast<const LaunchQueue::Client*>(owner), cost);
    });
  }
  return {};
}

Result<std::unique_ptr<Device>> Device::create(EventLoop& loop, const Chip& chip, const Settings& settings,
                                               DeviceObservers observers, const Options& options,
                                               std::uint32_t number) {
  Chip sized = chip;
  if (settings.global_bytes) {
    if (*settings.global_bytes <= chip.global_reserved) {
      return Error{ErrorKind::kUsage,
                   fmt::format("CMODEL_GLOBAL_MEM_SIZE: {} bytes are not more than the {} that chip {} reserves.",
                               *settings.global_bytes, chip.global_reserved, chip.name)};
    }
    sized.global_mem.bytes = *settings.global_bytes;
  }
  auto memories = Memories::create(sized, fmt::format("softtpu{}", number));
  if (!memories) return memories.error();
  auto chip_file = make_chip_file(settings.chip, number);
  if (!chip_file) return chip_file.error();
  if (!settings.dump_folder.empty()) {
    if (auto made = make_crash_folder(settings.dump_folder); !made) return made.error();
    if (auto copied = keep_file(chip_file->fd(), settings.dump_folder); !copied) return copied.error();
  }
  std::unique_ptr<Device> device(new Device(std::move(*memories), settings, std::move(observers), options));
  device->chip_file_ = std::move(*chip_file);
  if (auto made = device->make_cores(loop, settings); !made) return made.error();
  for (auto& core : device->cores_) {
    if (auto started = core->start(); !started) return started.error();
  }
  return device;
}

Result<std::uint64_t> Device::allocate(std::uint64_t bytes) {
  const auto address = heap_.find_room(bytes);
  if (!address) {
    return Error{ErrorKind::kResource,
                 fmt::format("no device memory for {} (largest hole {}, {} of {} used; CMODEL_GLOBAL_MEM_SIZE, or "
                             "softtpu run --global-memory, gives the device more)",
                             to_size_text(bytes), to_size_text(heap_.largest_hole()), to_size_text(heap_.bytes_used()),
                             to_size_text(heap_.bytes_total()))};
  }
  return *address;
}

Result<void> Device::take(std::uint64_t address, std::uint64_t bytes) {
  if (heap_.take(address, bytes)) return {};
  return Error{ErrorKind::kResource,
               fmt::format("the chip's device memory (0x{:x}..0x{:x}) has no room for {} bytes at 0x{:x}",
                           heap_.start(), heap_.end() - 1, bytes, address)};
}

Piecewise Device::clear(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + Allocator::whole_pages(bytes);
  return [this, at = address, end]() mutable {
    at = next_used(at, end);
    const std::uint64_t piece = std::min(kClearedBytes, end - at);
    if (piece > 0) make_zero(at, piece);
    at += piece;
    return at == end;
  };
}

// Where pages begin that may hold something: untouched pages need no time.
std::uint64_t Device::next_used(std::uint64_t address, std::uint64_t end) const {
  const std::uint64_t start = chip().global_mem.start;
  const off_t used = ::lseek(global_fd(), static_cast<off_t>(address - start), SEEK_DATA);
  if (used < 0) return errno == ENXIO ? end : address;
  return std::min(start + static_cast<std::uint64_t>(used), end);
}

// A launch that was under way when this memory was given back may have written to it since.
Piecewise Device::freshen(std::uint64_t address, std::uint64_t bytes) {
  if (!poison_) return clear(address, bytes);
  return one_after_the_other(clear(address, bytes), fill_in_pieces(global(address), bytes, std::array{kPoison}));
}

// Gives the pages back: they read as zero, and memory is used only by what is allocated and touched.
void Device::make_zero(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t pages = (bytes + Allocator::kPageBytes - 1) / Allocator::kPageBytes * Allocator::kPageBytes;
  const auto offset = static_cast<off_t>(address - chip().global_mem.start);
  if (::fallocate(global_fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, static_cast<off_t>(pages)) == 0)
    return;
  std::memset(global(address), 0, bytes);
}

void Device::load(std::uint32_t module, const std::string& name, const UniqueFd& image, const void* owner,
                  CoreLink::Loaded answer) {
  const auto all = when_all<std::vector<std::string>>(cores_.size(), std::move(answer));
  for (auto& core : cores_) {
    UniqueFd own = image.duplicate();
    if (!own) {
      all(system_error(ErrorKind::kResource, "keeping kernel module " + name));
      continue;
    }
    core->load(module, name, std::move(own), terms_of(owner), all);
  }
}

void Device::unload(std::uint32_t module, const void* owner, CoreLink::Answered answer) {
  const auto all = when_all<void>(cores_.size(), std::move(answer));
  for (auto& core : cores_) core->unload(module, terms_of(owner), all);
}

void Device::define(std::uint32_t function, std::uint32_t module, const std::string& name, const void* owner,
                    CoreLink::Answered answer) {
  const auto all = when_all<void>(cores_.size(), std::move(answer));
  for (auto& core : cores_) core->define(function, module, name, terms_of(owner), all);
}

void Device::flush() {
  for (auto& core : cores_) core->push();
  if (rings_) rings_->ring();
  bool has_answered = false;
  for (auto& core : cores_) has_answered = core->watch_launch() || has_answered;
  if (!has_answered) return;
  for (auto& core : cores_) core->flush();
}

}  // namespace softtpu
