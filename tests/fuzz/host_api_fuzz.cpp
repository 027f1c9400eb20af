// Sequences of libbmlib calls with arbitrary numbers, descriptors and handles' contents: each returns a status. Host
// buffers are as long as the largest size that a call can be granted, because a host program's own memory is its own
// business.
#include <cstring>
#include <string>
#include <vector>

#include "bmlib_runtime.h"
#include "tests/fuzz/input.hpp"

namespace softtpu::fuzz {
namespace {

constexpr unsigned kMostBytes = 64 << 10;

class Program {
 public:
  Program() {
    ::setenv("SOFTTPU_CHIP", "demo4", 0);
    ::setenv("BMLIB_LOG", "-8", 0);
    ::setenv("SOFTTPU_LOG", "off", 0);
    require(bm_dev_request(&handle_, 0) == BM_SUCCESS, "a device can be requested");
    buffer_.resize(2 * kMostBytes);
  }

  void run(Input& input) {
    while (!input.empty()) step(input);
    for (const bm_device_mem_t& mem : memories_) bm_free_device(handle_, mem);
    memories_.clear();
    static_cast<void>(bm_handle_sync(handle_));
    // Whatever was said before, the device still works.
    bm_device_mem_t mem;
    std::uint32_t out = 0x12345678, back = 0;
    require(bm_malloc_device_byte(handle_, &mem, sizeof out) == BM_SUCCESS, "memory is left");
    require(bm_memcpy_s2d(handle_, mem, &out) == BM_SUCCESS && bm_memcpy_d2s(handle_, &back, mem) == BM_SUCCESS,
            "copies work");
    require(out == back, "what is read is what was written");
    bm_free_device(handle_, mem);
  }

 private:
  // One of the program's memories, perhaps with a changed size or address, or anything.
  bm_device_mem_t memory(Input& input) {
    bm_device_mem_t mem{};
    const std::uint8_t kind = input.byte();
    if (memories_.empty() || kind % 8 == 0) {
      mem = input.take<bm_device_mem_t>();
      // A descriptor of host memory is a host pointer.
      if (bm_mem_get_type(mem) == BM_MEM_TYPE_SYSTEM) bm_mem_set_system_addr(&mem, buffer_.data());
      if (bm_mem_get_device_size(mem) > kMostBytes) bm_mem_set_device_size(&mem, kMostBytes);
      return mem;
    }
    mem = memories_[kind / 8 % memories_.size()];
    if (kind % 8 == 1) bm_mem_set_device_addr(&mem, bm_mem_get_device_addr(mem) + input.take<std::uint16_t>());
    if (kind % 8 == 2) bm_mem_set_device_size(&mem, input.take<std::uint16_t>());
    return mem;
  }

  void allocate(Input& input) {
    bm_device_mem_t mem{};
    const std::uint8_t kind = input.byte();
    const unsigned size = kind % 8 == 0 ? input.take<std::uint32_t>() : input.take<std::uint16_t>();
    bm_status_t status = BM_ERR_FAILURE;
    switch (kind / 8 % 4) {
      case 0: status = bm_malloc_device_byte(handle_, &mem, size); break;
      case 1: status = bm_malloc_device_byte_heap(handle_, &mem, static_cast<std::int8_t>(input.byte()), size); break;
      case 2:
        status = bm_malloc_device_byte_heap_mask(handle_, &mem, static_cast<std::int8_t>(input.byte()), size);
        break;
      default: status = bm_malloc_device_dword(handle_, &mem, static_cast<int>(size)); break;
    }
    if (status != BM_SUCCESS) return;
    if (bm_mem_get_device_size(mem) > kMostBytes || memories_.size() >= 16) return bm_free_device(handle_, mem);
    memories_.push_back(mem);
  }

  void step(Input& input) {
    void* const host = buffer_.data();
    const auto any = [&] { return input.take<std::uint32_t>(); };
    const auto near = [&] { return static_cast<int>(input.take<std::int16_t>()); };
    switch (input.byte() % 24) {
      case 0:
      case 1: return allocate(input);
      case 2:
        if (memories_.empty()) return;
        bm_free_device(handle_, memories_.back());
        return memories_.pop_back();
      case 3: return static_cast<void>(bm_memcpy_s2d(handle_, memory(input), host));
      case 4: return static_cast<void>(bm_memcpy_d2s(handle_, host, memory(input)));
      case 5:
        return static_cast<void>(
            bm_memcpy_s2d_partial_offset(handle_, memory(input), host, input.take<std::uint16_t>(), any()));
      case 6:
        return static_cast<void>(
            bm_memcpy_d2s_partial_offset(handle_, host, memory(input), input.take<std::uint16_t>(), any()));
      case 7: return static_cast<void>(bm_memcpy_d2d_byte(handle_, memory(input), any(), memory(input), any(), any()));
      case 8: return static_cast<void>(bm_memcpy_d2d(handle_, memory(input), near(), memory(input), near(), near()));
      case 9:
        return static_cast<void>(
            bm_memcpy_d2d_stride(handle_, memory(input), near(), memory(input), near(), near(), near()));
      case 10: return static_cast<void>(bm_memset_device(handle_, near(), memory(input)));
      case 11: return static_cast<void>(bm_memset_device_ext(handle_, host, near(), memory(input)));
      case 12: return static_cast<void>(bm_handle_sync(handle_));
      case 13: return static_cast<void>(bm_handle_sync_from_core(handle_, near()));
      case 14: return static_cast<void>(bm_device_sync(handle_));
      case 15: return static_cast<void>(bm_set_sync_timeout(handle_, near()));
      case 16: {
        const auto name = input.take_bytes(input.byte());
        const std::string text(name.begin(), name.end());
        return static_cast<void>(tpu_kernel_launch_sync(handle_, text.c_str(), host, input.take<std::uint16_t>()));
      }
      case 17: {
        const auto image = input.take_bytes(input.byte());
        const auto module = tpu_kernel_load_module(handle_, reinterpret_cast<const char*>(image.data()), image.size());
        if (module != nullptr) static_cast<void>(tpu_kernel_unload_module(handle_, module));
        return;
      }
      case 18: return static_cast<void>(tpu_kernel_launch(handle_, near(), host, input.take<std::uint16_t>()));
      case 19:
        return static_cast<void>(
            tpu_kernel_launch_async_from_core(handle_, near(), host, input.take<std::uint16_t>(), near()));
      case 20: return bm_free_device_mem(handle_, input.take<std::uint64_t>());
      case 21: return static_cast<void>(bm_memcpy_p2p(handle_, memory(input), handle_, memory(input)));
      case 22: {
        bm_device_mem_t mem = memory(input);
        unsigned long long pointer = 0;
        return static_cast<void>(bm_mem_mmap_device_mem(handle_, &mem, &pointer));
      }
      default: {
        unsigned long long address = 0;
        return static_cast<void>(bm_mem_vir_to_phy(handle_, input.take<std::uint64_t>(), &address));
      }
    }
  }

  bm_handle_t handle_ = nullptr;
  std::vector<bm_device_mem_t> memories_;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace
}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static auto* const program = new softtpu::fuzz::Program;  // lives until the process ends, as its device does
  softtpu::fuzz::Input input(data, bytes);
  program->run(input);
  return 0;
}
