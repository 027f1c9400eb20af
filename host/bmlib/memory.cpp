// Allocation of device memory. The device has one heap; the SDK's heap ids all mean it.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "host/bmlib/descriptor.hpp"
#include "host/bmlib/handle.hpp"

namespace softtpu::host {
namespace {

constexpr int kHeapIds = 4;

// The device gives each allocation an address of its own, also one of 0 bytes.
bm_status_t allocate(const char* function, bm_handle_t handle, std::uint64_t bytes, unsigned long long& address) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  const Result<std::uint64_t> result = h->device().allocate(std::max<std::uint64_t>(bytes, 1));
  if (!result) return fail(function, result.error());
  address = *result;
  return BM_SUCCESS;
}

template <class Mem>
bm_status_t allocate(const char* function, bm_handle_t handle, Mem* mem, std::uint64_t bytes) {
  if (mem == nullptr) return fail(function, BM_ERR_PARAM, "pmem is NULL");
  if (bytes > kMaxSize<Mem>) {
    return fail(function, BM_ERR_PARAM,
                fmt::format("size {} does not fit the descriptor (at most {} bytes)", bytes, kMaxSize<Mem>));
  }
  unsigned long long address = 0;
  const bm_status_t status = allocate(function, handle, bytes, address);
  if (status == BM_SUCCESS) *mem = make_descriptor<Mem>(address, bytes);
  return status;
}

// The product of the counts and 4 bytes, unless it overflows.
std::optional<std::uint64_t> find_words(std::initializer_list<unsigned long long> counts) {
  std::uint64_t bytes = 4;
  for (const unsigned long long count : counts) {
    if (__builtin_mul_overflow(bytes, std::uint64_t{count}, &bytes)) return std::nullopt;
  }
  return bytes;
}

template <class Mem>
bm_status_t allocate_words(const char* function, bm_handle_t handle, Mem* mem,
                           std::initializer_list<unsigned long long> counts) {
  const std::optional<std::uint64_t> bytes = find_words(counts);
  if (!bytes) return fail(function, BM_ERR_PARAM, fmt::format("{} words do not fit 64 bits", fmt::join(counts, " x ")));
  return allocate(function, handle, mem, *bytes);
}

bm_status_t check_heap(const char* function, int heap_id) {
  if (heap_id >= 0 && heap_id < kHeapIds) return BM_SUCCESS;
  return fail(function, BM_ERR_PARAM, fmt::format("heap_id {} is outside 0..{}", heap_id, kHeapIds - 1));
}

// The status for an empty mask is the one that the SDK returns.
bm_status_t check_mask(const char* function, int mask) {
  return mask != 0 ? BM_SUCCESS : fail(function, BM_ERR_DEVNOTREADY, "heap_id_mask 0 names no heap");
}

template <class Mem>
bm_status_t allocate_heap(const char* function, bm_handle_t handle, Mem* mem, int heap_id, std::uint64_t bytes) {
  const bm_status_t status = check_heap(function, heap_id);
  return status == BM_SUCCESS ? allocate(function, handle, mem, bytes) : status;
}

template <class Mem>
bm_status_t allocate_mask(const char* function, bm_handle_t handle, Mem* mem, int mask, std::uint64_t bytes) {
  const bm_status_t status = check_mask(function, mask);
  return status == BM_SUCCESS ? allocate(function, handle, mem, bytes) : status;
}

void release(const char* function, bm_handle_t handle, std::uint64_t address) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h != nullptr) to_status(function, h->device().release(address));
}

bool all_positive(std::initializer_list<int> counts) {
  return std::all_of(counts.begin(), counts.end(), [](int count) { return count >= 0; });
}

unsigned long long u(int count) { return static_cast<unsigned long long>(count); }

}  // namespace
}  // namespace softtpu::host

using namespace softtpu::host;

extern "C" {

bm_status_t bm_malloc_neuron_device(bm_handle_t handle, bm_device_mem_t* pmem, int n, int c, int h, int w) try {
  if (!all_positive({n, c, h, w})) {
    return fail(__func__, BM_ERR_PARAM, fmt::format("shape [{}, {}, {}, {}] has a negative dimension", n, c, h, w));
  }
  return allocate_words(__func__, handle, pmem, {u(n), u(c), u(h), u(w)});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_malloc_neuron_device(bm_handle_t handle, sg_device_mem_t* pmem, unsigned long long n,
                                    unsigned long long c, unsigned long long h, unsigned long long w) try {
  return allocate_words(__func__, handle, pmem, {n, c, h, w});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_malloc_neuron_device_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, unsigned long long n,
                                        unsigned long long c, unsigned long long h, unsigned long long w) try {
  return allocate_words(__func__, handle, pmem, {n, c, h, w});
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_malloc_device_dword(bm_handle_t handle, bm_device_mem_t* pmem, int count) try {
  if (count < 0) return fail(__func__, BM_ERR_PARAM, fmt::format("count {} is negative", count));
  return allocate_words(__func__, handle, pmem, {u(count)});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_malloc_device_dword(bm_handle_t handle, sg_device_mem_t* pmem, unsigned long long count) try {
  return allocate_words(__func__, handle, pmem, {count});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_malloc_device_dword_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, unsigned long long count) try {
  return allocate_words(__func__, handle, pmem, {count});
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_malloc_device_byte(bm_handle_t handle, bm_device_mem_t* pmem, unsigned int size) try {
  return allocate(__func__, handle, pmem, size);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_malloc_device_byte(bm_handle_t handle, sg_device_mem_t* pmem, unsigned long long size) try {
  return allocate(__func__, handle, pmem, size);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_malloc_device_byte_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, unsigned long long size) try {
  return allocate(__func__, handle, pmem, size);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_malloc_device_byte_heap(bm_handle_t handle, bm_device_mem_t* pmem, int heap_id, unsigned int size) try {
  return allocate_heap(__func__, handle, pmem, heap_id, size);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_malloc_device_byte_heap(bm_handle_t handle, sg_device_mem_t* pmem, int heap_id,
                                       unsigned long long size) try {
  return allocate_heap(__func__, handle, pmem, heap_id, size);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_malloc_device_byte_heap_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, int heap_id,
                                           unsigned long long size) try {
  return allocate_heap(__func__, handle, pmem, heap_id, size);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_malloc_device_byte_heap_mask(bm_handle_t handle, bm_device_mem_t* pmem, int heap_id_mask,
                                            unsigned int size) try {
  return allocate_mask(__func__, handle, pmem, heap_id_mask, size);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_malloc_device_byte_heap_mask(bm_handle_t handle, sg_device_mem_t* pmem, int heap_id_mask,
                                            unsigned long long size) try {
  return allocate_mask(__func__, handle, pmem, heap_id_mask, size);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_malloc_device_byte_heap_mask_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, int heap_id_mask,
                                                unsigned long long size) try {
  return allocate_mask(__func__, handle, pmem, heap_id_mask, size);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_malloc_device_mem(bm_handle_t handle, unsigned long long* paddr, int heap_id,
                                 unsigned long long size) try {
  SOFTTPU_NOT_NULL(paddr);
  const bm_status_t status = check_heap(__func__, heap_id);
  return status == BM_SUCCESS ? allocate(__func__, handle, size, *paddr) : status;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_malloc_device_mem_mask(bm_handle_t handle, unsigned long long* paddr, int heap_id_mask,
                                      unsigned long long size) try {
  SOFTTPU_NOT_NULL(paddr);
  const bm_status_t status = check_mask(__func__, heap_id_mask);
  return status == BM_SUCCESS ? allocate(__func__, handle, size, *paddr) : status;
} catch (...) {
  return softtpu::caught(__func__);
}

void bm_free_device_mem(bm_handle_t ctx, unsigned long long paddr) try { release(__func__, ctx, paddr); } catch (...) {
  softtpu::caught(__func__);
}
void bm_free_device(bm_handle_t handle, bm_device_mem_t mem) try {
  release(__func__, handle, mem.u.device.device_addr);
} catch (...) {
  softtpu::caught(__func__);
}
void sg_free_device(bm_handle_t handle, sg_device_mem_t mem) try {
  release(__func__, handle, mem.u.device.device_addr);
} catch (...) {
  softtpu::caught(__func__);
}
void bm_free_device_u64(bm_handle_t handle, bm_device_mem_u64_t mem) try {
  release(__func__, handle, mem.u.device.device_addr);
} catch (...) {
  softtpu::caught(__func__);
}

unsigned long long bm_gmem_arm_reserved_request(bm_handle_t handle) try {
  SOFTTPU_HANDLE_OR(handle, 0);
  return h->device().info().global_start;
} catch (...) {
  return softtpu::caught(__func__);
}
void bm_gmem_arm_reserved_release(bm_handle_t handle) try { find_handle(__func__, handle); } catch (...) {
  softtpu::caught(__func__);
}

}  // extern "C"
