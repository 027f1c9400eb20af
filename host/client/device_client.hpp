// DeviceClient: one emulated device as a host program sees it. Everything in libbmlib that touches a device goes
// through here.
//
// One client exists per process and device id. It is made by the first open() of that id and lives until the process
// ends, because memory and contents survive bm_dev_free (measured). All functions may be called from any thread at any
// time; a thread that waits for a launch does not hold up the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/memory_ops.hpp"
#include "runtime/base/result.hpp"
#include "runtime/protocol/launch.hpp"

namespace softtpu {
struct Settings;
enum class HostEvent : std::uint8_t;
}  // namespace softtpu

// The libraries of all interfaces share one copy of what stands here: libsofttpu_client.so.
#pragma GCC visibility push(default)
namespace softtpu {

struct DeviceInfo {
  std::string chip_name;      // "bm1684x"
  std::uint32_t chip_id = 0;  // 0x1686
  bool soc_mode = false;      // the chip shares its memory with the host: mapping is allowed
  std::uint32_t core_count = 1;
  std::uint64_t global_start = 0;  // address of the first byte of global memory
  std::uint64_t global_bytes = 0;
  std::uint64_t heap_start = 0;  // first address that an allocation can get
  bool in_process = false;       // kernels run in a thread of this program
};

struct DeviceStat {
  std::uint64_t bytes_total = 0;  // what allocations can get in all
  std::uint64_t bytes_used = 0;   // by all clients of the device
  std::uint64_t launches = 0;     // finished since the device started
  std::uint64_t failures = 0;     // of these, how many failed
  std::uint64_t core_restarts = 0;
  std::uint32_t clients = 0;
  std::uint32_t queued = 0;  // launches waiting or running
};

// Numbers that only the device gives meaning to; 0 is never valid.
enum class ModuleId : std::uint32_t {};
enum class FunctionId : std::uint32_t {};
enum class StreamId : std::uint32_t {};

class DeviceClient {
 public:
  // How many devices there are: of the shared device that SOFTTPU_DEVICE names, else SG_MAX_DEVICE_COUNT.
  static Result<int> device_count();
  // Starts or connects the device on first use; later calls with the same id return the same object. `usual_chip`: what
  // the device is where no setting names a chip; empty: what the settings fall back to.
  static Result<std::shared_ptr<DeviceClient>> open(int device_id, std::string_view usual_chip = {});
  // Starts or connects a device for this call alone, which ends with the last of its owners. `given`: settings that
  // count instead of the environment's ("NAME=value"). Its device_id() is a number that no other device of this program
  // has or gets.
  static Result<std::shared_ptr<DeviceClient>> open_alone(int device_id, const std::vector<std::string>& given);
  // The device that open_alone() gave this number to; nullptr: none that is still there.
  static std::shared_ptr<DeviceClient> find_alone(int device_id);

  DeviceClient(const DeviceClient&) = delete;
  DeviceClient& operator=(const DeviceClient&) = delete;
  ~DeviceClient();

  const DeviceInfo& info() const;
  int device_id() const;
  // Whether its global memory can be mapped.
  bool shares_memory() const;
  // An error: this process is a fork of the one that opened the device.
  Result<void> check_process() const;

  // Memory. Addresses are device addresses. Every range must lie inside one allocation of this process.
  Result<std::uint64_t> allocate(std::uint64_t bytes);
  Result<void> release(std::uint64_t address);
  // The most bytes that this process has had allocated at a time, since the start or the last reset_peak().
  std::uint64_t peak_bytes() const;
  void reset_peak();
  // The size that was asked for, for an address that allocate() returned and that is not released yet.
  Result<std::uint64_t> allocation_bytes(std::uint64_t address) const;
  // Whether the range lies inside one allocation; `what` names it in the error.
  Result<void> check_range(const char* what, std::uint64_t address, std::uint64_t bytes) const;
  Result<void> write(std::uint64_t destination, const void* source, std::uint64_t bytes);
  // The same with bytes of a file.
  Result<void> write_from_file(std::uint64_t destination, int fd, std::uint64_t offset, std::uint64_t bytes);
  Result<void> read(std::uint64_t source, void* destination, std::uint64_t bytes);
  // Repeats the pattern (1 to 4 bytes) over the range; `bytes` is a multiple of the pattern's size.
  Result<void> fill(std::uint64_t destination, std::uint64_t bytes, std::span<const std::uint8_t> pattern);
  // Ranges may overlap (as memmove).
  Result<void> copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes);
  // Moves `count` elements; strides count elements.
  struct StridedCopy {
    std::uint64_t destination = 0, source = 0;
    std::uint64_t count = 0;
    std::uint32_t element_bytes = 1;
    std::uint32_t destination_stride = 1, source_stride = 1;
  };
  Result<void> copy_strided(const StridedCopy& what);
  // From this device to another one (or itself).
  Result<void> copy_to(DeviceClient& other, std::uint64_t destination, std::uint64_t source, std::uint64_t bytes);
  // The host pointer to device memory; stays valid until the memory is released. Refused when the device is reached by
  // streaming.
  Result<void*> map(std::uint64_t address, std::uint64_t bytes);
  // A mapping of its own, which stays valid until munmap() of these bytes whatever becomes of device and memory. Starts
  // on a page: `into_page` gets how far in the address lies. Without a note to the device's checks.
  Result<void*> map_alone(std::uint64_t address, std::uint64_t bytes, std::uint64_t& into_page);
  // The program can have written there without a call, for the device's checks.
  Result<void> note_mapped(std::uint64_t address, std::uint64_t bytes);
  // The type of the elements of an allocation, for checks; empty: they have no single one.
  void note_type(std::uint64_t address, const std::string& type);
  // The device address behind a pointer that map() returned.
  Result<std::uint64_t> find_address(const void* pointer) const;

  // Modules. The image is copied: the file may be rebuilt or removed afterwards. An image of zero bytes ({0}, what the
  // SDK's emulator builds embed) stands for the library in TPUKERNEL_FIRMWARE_PATH or libcmodel.so.
  Result<ModuleId> load_module_file(const std::string& path);
  Result<ModuleId> load_module_bytes(std::span<const std::byte> image);
  // Functions of the module become invalid. Launches already queued still run.
  Result<void> unload_module(ModuleId module);
  // A registered kernel of this module, else its exported C symbol.
  Result<FunctionId> find_function(ModuleId module, std::string_view name);

  // Launches. A stream is a queue: its launches run in order. One stream per bm_handle_t.
  StreamId make_stream();
  void close_stream(StreamId stream);
  // Waits for the kernel and returns its outcome. `launch.cores` may be more than the settings allow a launch: it then
  // gets as many as they allow.
  Result<void> launch(msg::Launch launch);
  // Returns once the launch is queued; an outcome other than success is kept for sync().
  Result<void> launch_async(msg::Launch launch);
  // Waits for every launch of the stream so far and returns the first failure since the last sync.
  Result<void> sync(StreamId stream);
  // Ends the launch that the stream runs and those that wait; they fail as ended by their program.
  void cancel(StreamId stream);
  // The same as sync() for all streams of this process.
  Result<void> sync_device();
  // A launch of this stream that issues no command for so long is ended; 0: no limit. The default is SOFTTPU_TIMEOUT.
  Result<void> set_timeout(StreamId stream, std::uint32_t milliseconds);

  // How long the stream's launches would have taken on the chip (stream 0: those of all streams); nullopt when the
  // device estimates no times.
  struct EstimatedTime {
    std::uint64_t last_us = 0, total_us = 0;
    std::uint64_t total_ns = 0;
  };
  Result<std::optional<EstimatedTime>> estimated_time(StreamId stream);

  Result<DeviceStat> stat();

  // Whether copies between the program's memory and the device's wait for the launches of their handle
  // (SOFTTPU_COPIES).
  bool copies_wait() const;

  // For the device's checks; nothing happens when it has none.
  void note_refused_copy(const std::string& text);
  // The program has waited for launches.
  void note_synced();
  // Such a copy, which the program did not order behind the launches that it has not waited for.
  void note_unordered_copy(const char* function, std::uint64_t address, std::uint64_t bytes, bool to_device);
  void note_closed();

 private:
  struct State;
  explicit DeviceClient(std::unique_ptr<State> state);
  static Result<std::shared_ptr<DeviceClient>> make(int device_id, std::uint32_t number, Settings settings);
  Result<void> attach(const Settings& settings);
  Result<void> load_default_module(const Settings& settings);
  void note(HostEvent event, std::uint64_t address, std::uint64_t bytes, bool wait, const std::string& text = "");
  void note_written(std::uint64_t address, std::uint64_t bytes);
  Result<void> release_row(Allocations::node_type row);
  void release_owed();
  Result<void> limit_cores(msg::Launch& launch) const;
  Result<ModuleId> load_image(const std::string& name, int fd);
  Result<void> make_ready_for(int fd);
  std::unique_ptr<State> state_;
  // Devices that others have replaced before they were used; other threads may still hold what belongs to them.
  std::vector<std::unique_ptr<State>> retired_;
};

}  // namespace softtpu
#pragma GCC visibility pop
