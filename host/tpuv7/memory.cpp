// Memory of the device and of the host, and copies.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "bmlib_runtime.h"
#include "host/client/log_sink.hpp"
#include "host/tpuv7/support.hpp"

namespace softtpu::tpuv7 {
namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

tpuRtStatus_t allocate(const char* function, void** pointer, unsigned long long size) {
  if (pointer == nullptr) return fail(function, tpuRtErrParam, "devPtr is NULL");
  if (size == 0) return fail(function, tpuRtErrParam, "size is 0");
  const auto device = current_device(function);
  if (device == nullptr) return tpuRtErrorNoDevice;
  const Result<std::uint64_t> address = device->allocate(size);
  if (!address && address.error().kind == ErrorKind::kConnection) return fail(function, address.error());
  if (!address) return fail(function, kMemoryRefused, address.error().text);
  *pointer = reinterpret_cast<void*>(*address);
  return tpuRtSuccess;
}

// As the recorded runtime: what a number of other pieces would mean is not defined.
void note_parallel(const char* function, int parallel_num) {
  constexpr int kAll = 15;
  if (parallel_num == 0 || parallel_num == 1 || parallel_num == kAll) return;
  host::write_log("tpurt", BMLIB_LOG_WARNING,
                  fmt::format("{}: parallel_num {} is neither 0, 1 nor 15; one piece of memory is allocated",
                              host::called_function(function), parallel_num));
}

tpuRtStatus_t release(const char* function, void** pointer) {
  if (pointer == nullptr || *pointer == nullptr)
    return fail(function, tpuRtErrParam, pointer == nullptr ? "devPtr is NULL" : "*devPtr is NULL");
  const auto device = current_device(function);
  if (device == nullptr) return tpuRtErrorNoDevice;
  const auto released = device->release(address_of(*pointer));
  if (released || released.error().kind != ErrorKind::kUsage) return to_status(function, released);
  return fail(function, kMemoryRefused, released.error().text);
}

// ---- Host memory ----

struct HostBlocks {
  std::mutex mutex;
  std::unordered_set<void*> known;
};
HostBlocks& host_blocks() {
  static auto& instance = *new HostBlocks;
  return instance;
}

// ---- Copies ----

enum class Way { kToDevice, kToHost, kOnDevice };

struct Copy {
  Way way;
  void* to;
  const void* from;
  unsigned long long bytes;
};

tpuRtStatus_t check(const char* function, const Copy& copy) {
  if (copy.bytes == 0) return fail(function, tpuRtErrParam, "size is 0");
  if (copy.to == nullptr || copy.from == nullptr)
    return fail(function, tpuRtErrParam,
                fmt::format("the {} of {} bytes is NULL", copy.to == nullptr ? "destination" : "source", copy.bytes));
  return tpuRtSuccess;
}

Result<void> carry_out(DeviceClient& device, const Copy& copy) {
  switch (copy.way) {
    case Way::kToDevice: return device.write(address_of(copy.to), copy.from, copy.bytes);
    case Way::kToHost: return device.read(address_of(copy.from), copy.to, copy.bytes);
    case Way::kOnDevice: return device.copy(address_of(copy.to), address_of(copy.from), copy.bytes);
  }
  return {};
}

// A refused copy is passed on to the device's checks.
Result<void> carry_out_and_tell(const std::string& function, DeviceClient& device, const Copy& copy) {
  auto done = carry_out(device, copy);
  if (!done && done.error().kind == ErrorKind::kUsage) device.note_refused_copy(function + ": " + done.error().text);
  return done;
}

tpuRtStatus_t copy_now(const char* function, const Copy& copy) {
  if (const auto status = check(function, copy); status != tpuRtSuccess) return status;
  const auto device = current_device(function);
  if (device == nullptr) return tpuRtErrorNoDevice;
  softtpu::host::Stream::wait_for_all_launches(*device);
  return to_status(function, carry_out_and_tell(host::called_function(function), *device, copy));
}

tpuRtStatus_t copy_in_stream(const char* function, const Copy& copy, tpuRtStream_t stream) {
  const auto found = find_stream(function, stream);
  if (found == nullptr) return kNoHandle;
  if (const auto status = check(function, copy); status != tpuRtSuccess) return status;
  DeviceClient& device = found->device();
  Result<void> inside;
  if (copy.way != Way::kToHost) inside = device.check_range("the destination", address_of(copy.to), copy.bytes);
  if (inside && copy.way != Way::kToDevice)
    inside = device.check_range("the source", address_of(copy.from), copy.bytes);
  if (!inside) return to_status(function, inside);
  return to_status(function, found->add([name = std::string(host::called_function(function)), copy,
                                         owner = found->shared_device()]() -> Result<void> {
    auto done = carry_out_and_tell(name, *owner, copy);
    if (!done) return Error{done.error().kind, name + ": " + done.error().text};
    return done;
  }));
}

struct Fill {
  void* to;
  int value;
  unsigned long long bytes;
};

tpuRtStatus_t check(const char* function, const Fill& fill) {
  if (fill.bytes == 0) return fail(function, tpuRtErrParam, "size is 0");
  if (fill.to == nullptr)
    return fail(function, tpuRtErrParam, fmt::format("the memory of {} bytes is NULL", fill.bytes));
  return tpuRtSuccess;
}

Result<void> carry_out(DeviceClient& device, const Fill& fill) {
  constexpr unsigned long long kPiece = 1ULL << 20;
  const std::vector<std::uint8_t> piece(std::min(fill.bytes, kPiece), static_cast<std::uint8_t>(fill.value));
  for (unsigned long long at = 0; at < fill.bytes; at += piece.size()) {
    const auto bytes = std::min<unsigned long long>(piece.size(), fill.bytes - at);
    if (auto done = device.write(address_of(fill.to) + at, piece.data(), bytes); !done) return done;
  }
  return {};
}

// A copy between two devices, through the host where they differ.
struct PeerCopy {
  void* to;
  const void* from;
  unsigned long long bytes;
  std::shared_ptr<DeviceClient> to_device, from_device;
};

Result<void> carry_out(const PeerCopy& copy) {
  if (copy.to_device == copy.from_device)
    return copy.to_device->copy(address_of(copy.to), address_of(copy.from), copy.bytes);
  std::vector<std::uint8_t> bytes(copy.bytes);
  if (auto read = copy.from_device->read(address_of(copy.from), bytes.data(), bytes.size()); !read) return read;
  return copy.to_device->write(address_of(copy.to), bytes.data(), bytes.size());
}

// The devices of a copy; tpuRtSuccess when both are there.
tpuRtStatus_t open_devices(const char* function, PeerCopy& copy, int to, int from) {
  if (const auto status = check(function, Copy{Way::kOnDevice, copy.to, copy.from, copy.bytes}); status != tpuRtSuccess)
    return status;
  copy.to_device = open_device(function, to);
  if (copy.to_device == nullptr) return tpuRtErrorInvalidValue;
  copy.from_device = from == to ? copy.to_device : open_device(function, from);
  return copy.from_device == nullptr ? tpuRtErrorInvalidValue : tpuRtSuccess;
}

}  // namespace
}  // namespace softtpu::tpuv7

using namespace softtpu::tpuv7;

extern "C" {

tpuRtStatus_t tpuRtMalloc(void** devPtr, unsigned long long size, int parallel_num) try {
  note_parallel(__func__, parallel_num);
  return allocate(__func__, devPtr, size);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtMallocInstr(void** devPtr, unsigned long long size, int parallel_num) try {
  note_parallel(__func__, parallel_num);
  return allocate(__func__, devPtr, size);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtMallocMedia(void** devPtr, unsigned long long size) try {
  return allocate(__func__, devPtr, size);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtFree(void** devPtr, int /*free_num*/) try { return release(__func__, devPtr); } catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtFreeInstr(void** devPtr, int /*free_num*/) try { return release(__func__, devPtr); } catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtMallocHost(void** ptr, unsigned long long size) try {
  SOFTTPU_RT_NOT_NULL(ptr, tpuRtErrParam);
  constexpr std::size_t kPage = 4096;
  void* block = nullptr;
  if (size >= SIZE_MAX - kPage || ::posix_memalign(&block, kPage, size == 0 ? 1 : size) != 0)
    return fail(__func__, tpuRtErrorMemoryAllocation, fmt::format("no {} bytes of host memory", size));
  HostBlocks& blocks = host_blocks();
  const std::lock_guard lock(blocks.mutex);
  blocks.known.insert(block);
  *ptr = block;
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtFreeHost(void* ptr) try {
  SOFTTPU_RT_NOT_NULL(ptr, tpuRtErrParam);
  HostBlocks& blocks = host_blocks();
  const std::lock_guard lock(blocks.mutex);
  if (blocks.known.erase(ptr) == 0)
    return fail(__func__, tpuRtErrParam, fmt::format("{} is not from tpuRtMallocHost, or was freed", ptr));
  std::free(ptr);
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtMemcpyS2D(void* devPtr, const void* hostPtr, unsigned long long size) try {
  return copy_now(__func__, {Way::kToDevice, devPtr, hostPtr, size});
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtMemcpyD2S(void* hostPtr, const void* devPtr, unsigned long long size) try {
  return copy_now(__func__, {Way::kToHost, hostPtr, devPtr, size});
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtMemcpyD2D(void* dstDevPtr, const void* srcDevPtr, unsigned long long size) try {
  return copy_now(__func__, {Way::kOnDevice, dstDevPtr, srcDevPtr, size});
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtMemcpyS2DAsync(void* devPtr, const void* hostPtr, unsigned long long size,
                                  tpuRtStream_t stream) try {
  return copy_in_stream(__func__, {Way::kToDevice, devPtr, hostPtr, size}, stream);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtMemcpyD2SAsync(void* hostPtr, const void* devPtr, unsigned long long size,
                                  tpuRtStream_t stream) try {
  return copy_in_stream(__func__, {Way::kToHost, hostPtr, devPtr, size}, stream);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtMemcpyD2DAsync(void* dstDevPtr, const void* srcDevPtr, unsigned long long size,
                                  tpuRtStream_t stream) try {
  return copy_in_stream(__func__, {Way::kOnDevice, dstDevPtr, srcDevPtr, size}, stream);
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtMemset(void* devPtr, int value, unsigned long long size) try {
  const Fill fill{devPtr, value, size};
  if (const auto status = check(__func__, fill); status != tpuRtSuccess) return status;
  SOFTTPU_RT_DEVICE(device);
  softtpu::host::Stream::wait_for_all_launches(*device);
  return to_status(__func__, carry_out(*device, fill));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtMemsetAsync(void* devPtr, int value, unsigned long long size, tpuRtStream_t stream) try {
  SOFTTPU_RT_STREAM(found, stream);
  const Fill fill{devPtr, value, size};
  if (const auto status = check(__func__, fill); status != tpuRtSuccess) return status;
  if (auto inside = found->device().check_range("the memory", address_of(devPtr), size); !inside)
    return to_status(__func__, inside);
  return to_status(__func__, found->add([fill, owner = found->shared_device()] { return carry_out(*owner, fill); }));
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtMemcpyP2P(void* dstDevPtr, int dstDevice, const void* srcDevPtr, int srcDevice,
                             unsigned long long size) try {
  PeerCopy copy{dstDevPtr, srcDevPtr, size, nullptr, nullptr};
  if (const auto status = open_devices(__func__, copy, dstDevice, srcDevice); status != tpuRtSuccess) return status;
  softtpu::host::Stream::wait_for_all_launches(*copy.to_device);
  softtpu::host::Stream::wait_for_all_launches(*copy.from_device);
  return to_status(__func__, carry_out(copy));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtMemcpyP2PAsync(void* dstDevPtr, int dstDevice, const void* srcDevPtr, int srcDevice,
                                  unsigned long long size, tpuRtStream_t stream) try {
  SOFTTPU_RT_STREAM(found, stream);
  PeerCopy copy{dstDevPtr, srcDevPtr, size, nullptr, nullptr};
  if (const auto status = open_devices(__func__, copy, dstDevice, srcDevice); status != tpuRtSuccess) return status;
  return to_status(__func__, found->add([copy] { return carry_out(copy); }));
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
