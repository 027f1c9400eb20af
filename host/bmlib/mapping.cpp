// Device memory in the program's address space: a feature of SoC mode, where host and device share their memory.
#include <fmt/format.h>

#include "host/bmlib/descriptor.hpp"
#include "host/bmlib/handle.hpp"

namespace softtpu::host {
namespace {

// The handle of a device in SoC mode, or nullptr with the status of the refusal.
std::shared_ptr<Handle> find_soc(const char* function, bm_handle_t handle, bm_status_t& status) {
  std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) {
    status = BM_ERR_DEVNOTREADY;
  } else if (!h->device().info().soc_mode) {
    status = not_supported(
        function, fmt::format("{} is in PCIe mode; mapping device memory needs SoC mode (\"mode\" of the chip)",
                              h->device().info().chip_name));
    h = nullptr;
  }
  return h;
}

template <class Mem>
bm_status_t map(const char* function, bm_handle_t handle, const Mem* mem, unsigned long long* pointer) {
  bm_status_t status = BM_SUCCESS;
  const std::shared_ptr<Handle> h = find_soc(function, handle, status);
  if (h == nullptr) return status;
  if (mem == nullptr || pointer == nullptr)
    return fail(function, BM_ERR_PARAM, mem == nullptr ? "dmem is NULL" : "vmem is NULL");
  const Result<Range> range = make_range("dmem", *mem);
  if (!range) return fail(function, range.error());
  const Result<void*> mapped = h->device().map(range->address, range->bytes);
  if (!mapped) return fail(function, mapped.error());
  *pointer = reinterpret_cast<std::uintptr_t>(*mapped);
  return BM_SUCCESS;
}

// Flushing and invalidating move nothing, since both sides see one memory; the arguments are checked all the same.
template <class Mem>
bm_status_t synchronise(const char* function, bm_handle_t handle, const Mem* mem, std::uint64_t offset,
                        std::uint64_t bytes) {
  bm_status_t status = BM_SUCCESS;
  const std::shared_ptr<Handle> h = find_soc(function, handle, status);
  if (h == nullptr) return status;
  if (mem == nullptr) return fail(function, BM_ERR_PARAM, "dmem is NULL");
  const Result<Range> range = make_range("dmem", *mem, offset, bytes);
  return range ? BM_SUCCESS : fail(function, range.error());
}

template <class Mem>
bm_status_t synchronise(const char* function, bm_handle_t handle, const Mem* mem) {
  return synchronise(function, handle, mem, 0, mem == nullptr ? 0 : mem->size);
}

bm_status_t find_device_address(const char* function, bm_handle_t handle, std::uintptr_t pointer,
                                unsigned long long* address) {
  bm_status_t status = BM_SUCCESS;
  const std::shared_ptr<Handle> h = find_soc(function, handle, status);
  if (h == nullptr) return status;
  const Result<std::uint64_t> found = h->device().find_address(reinterpret_cast<const void*>(pointer));
  if (!found) return fail(function, found.error());
  if (address != nullptr) *address = *found;
  return BM_SUCCESS;
}

bm_status_t unmap(const char* function, bm_handle_t handle, const void* pointer) {
  return find_device_address(function, handle, reinterpret_cast<std::uintptr_t>(pointer), nullptr);
}

}  // namespace
}  // namespace softtpu::host

using namespace softtpu::host;

extern "C" {

// One row for each kind of handle to device memory: the function, and what it takes.
#define MAP(function, mem_t)                                                            \
  bm_status_t function(bm_handle_t handle, mem_t* dmem, unsigned long long* vmem) try { \
    return map(__func__, handle, dmem, vmem);                                           \
  } catch (...) {                                                                       \
    return softtpu::caught(__func__);                                                   \
  }
MAP(bm_mem_mmap_device_mem, bm_device_mem_t)
MAP(sg_mem_mmap_device_mem, sg_device_mem_t)
MAP(bm_mem_mmap_device_mem_u64, bm_device_mem_u64_t)
MAP(bm_mem_mmap_device_mem_no_cache, bm_device_mem_t)
MAP(sg_mem_mmap_device_mem_no_cache, sg_device_mem_t)
MAP(bm_mem_mmap_device_mem_no_cache_u64, bm_device_mem_u64_t)

bm_status_t bm_mem_vir_to_phy(bm_handle_t handle, unsigned long long vmem, unsigned long long* device_mem) try {
  SOFTTPU_NOT_NULL(device_mem);
  return find_device_address(__func__, handle, vmem, device_mem);
} catch (...) {
  return softtpu::caught(__func__);
}

#define SYNCHRONISE(function, mem_t)                          \
  bm_status_t function(bm_handle_t handle, mem_t* dmem) try { \
    return synchronise(__func__, handle, dmem);               \
  } catch (...) {                                             \
    return softtpu::caught(__func__);                         \
  }
SYNCHRONISE(bm_mem_invalidate_device_mem, bm_device_mem_t)
SYNCHRONISE(sg_mem_invalidate_device_mem, sg_device_mem_t)
SYNCHRONISE(bm_mem_invalidate_device_mem_u64, bm_device_mem_u64_t)
SYNCHRONISE(bm_mem_flush_device_mem, bm_device_mem_t)
SYNCHRONISE(sg_mem_flush_device_mem, sg_device_mem_t)
SYNCHRONISE(bm_mem_flush_device_mem_u64, bm_device_mem_u64_t)

#define SYNCHRONISE_PART(function, mem_t, size_type)                                           \
  bm_status_t function(bm_handle_t handle, mem_t* dmem, size_type offset, size_type len) try { \
    return synchronise(__func__, handle, dmem, offset, len);                                   \
  } catch (...) {                                                                              \
    return softtpu::caught(__func__);                                                          \
  }
SYNCHRONISE_PART(bm_mem_invalidate_partial_device_mem, bm_device_mem_t, unsigned int)
SYNCHRONISE_PART(sg_mem_invalidate_partial_device_mem, sg_device_mem_t, unsigned long long)
SYNCHRONISE_PART(bm_mem_invalidate_partial_device_mem_u64, bm_device_mem_u64_t, unsigned long long)
SYNCHRONISE_PART(bm_mem_flush_partial_device_mem, bm_device_mem_t, unsigned int)
SYNCHRONISE_PART(sg_mem_flush_partial_device_mem, sg_device_mem_t, unsigned long long)
SYNCHRONISE_PART(bm_mem_flush_partial_device_mem_u64, bm_device_mem_u64_t, unsigned long long)

// The mapping belongs to the device and stays; the pointer is checked.
#define UNMAP(function, size_type)                                               \
  bm_status_t function(bm_handle_t handle, void* vmem, size_type /*size*/) try { \
    return unmap(__func__, handle, vmem);                                        \
  } catch (...) {                                                                \
    return softtpu::caught(__func__);                                            \
  }
UNMAP(bm_mem_unmap_device_mem, int)
UNMAP(sg_mem_unmap_device_mem, unsigned long long)
UNMAP(bm_mem_unmap_device_mem_u64, unsigned long long)

}  // extern "C"
