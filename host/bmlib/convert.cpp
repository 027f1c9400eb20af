// Allocates device memory for data that a descriptor of host memory names, and copies it if wanted.
#include <fmt/format.h>

#include "host/bmlib/descriptor.hpp"
#include "host/bmlib/handle.hpp"

namespace softtpu::host {
namespace {

bm_status_t convert(const char* function, bm_handle_t handle, bm_mem_desc* dev_mem, const bm_mem_desc& sys_mem,
                    bool need_copy, std::uint64_t bytes) {
  if (dev_mem == nullptr) return fail(function, BM_ERR_PARAM, "dev_mem is NULL");
  if (sys_mem.flags.u.mem_type != BM_MEM_TYPE_SYSTEM) {
    return fail(function, BM_ERR_PARAM,
                fmt::format("sys_mem is not system memory (type {})", static_cast<int>(sys_mem.flags.u.mem_type)));
  }
  if (need_copy && sys_mem.u.system.system_addr == nullptr)
    return fail(function, BM_ERR_PARAM, "the address of sys_mem is NULL");
  if (bytes > kMaxSize<bm_device_mem_t>) {
    return fail(
        function, BM_ERR_PARAM,
        fmt::format("size {} does not fit the descriptor (at most {} bytes)", bytes, kMaxSize<bm_device_mem_t>));
  }
  if (const bm_status_t status = bm_malloc_device_byte(handle, dev_mem, static_cast<unsigned>(bytes));
      status != BM_SUCCESS)
    return status;
  if (!need_copy) return BM_SUCCESS;
  const bm_status_t status = bm_memcpy_s2d(handle, *dev_mem, sys_mem.u.system.system_addr);
  if (status != BM_SUCCESS) bm_free_device(handle, *dev_mem);
  return status;
}

bm_status_t convert(const char* function, bm_handle_t handle, bm_mem_desc* dev_mem, const bm_mem_desc& sys_mem,
                    bool need_copy, std::uint64_t element_bytes, std::initializer_list<int> counts) {
  std::uint64_t bytes = element_bytes;
  for (const int count : counts) {
    if (count < 0) return fail(function, BM_ERR_PARAM, fmt::format("count {} is negative", count));
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(count), &bytes)) {
      return fail(function, BM_ERR_PARAM,
                  fmt::format("{} elements of {} bytes do not fit 64 bits", fmt::join(counts, " x "), element_bytes));
    }
  }
  return convert(function, handle, dev_mem, sys_mem, need_copy, bytes);
}

}  // namespace
}  // namespace softtpu::host

using softtpu::host::convert;

extern "C" {

bm_status_t bm_mem_convert_system_to_device_neuron(bm_handle_t handle, struct bm_mem_desc* dev_mem,
                                                   struct bm_mem_desc sys_mem, bool need_copy, int n, int c, int h,
                                                   int w) try {
  return convert(__func__, handle, dev_mem, sys_mem, need_copy, 4, {n, c, h, w});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_mem_convert_system_to_device_neuron_byte(bm_handle_t handle, struct bm_mem_desc* dev_mem,
                                                        struct bm_mem_desc sys_mem, bool need_copy, int n, int c, int h,
                                                        int w) try {
  return convert(__func__, handle, dev_mem, sys_mem, need_copy, 1, {n, c, h, w});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_mem_convert_system_to_device_coeff(bm_handle_t handle, struct bm_mem_desc* dev_mem,
                                                  struct bm_mem_desc sys_mem, bool need_copy, int coeff_count) try {
  return convert(__func__, handle, dev_mem, sys_mem, need_copy, 4, {coeff_count});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_mem_convert_system_to_device_coeff_byte(bm_handle_t handle, struct bm_mem_desc* dev_mem,
                                                       struct bm_mem_desc sys_mem, bool need_copy,
                                                       int coeff_count) try {
  return convert(__func__, handle, dev_mem, sys_mem, need_copy, 1, {coeff_count});
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
