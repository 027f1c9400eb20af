// Functions that read or fill a memory descriptor and touch no device.
#include "host/bmlib/descriptor.hpp"

#include <fmt/format.h>

#include "bmlib_internal.h"
#include "host/bmlib/log.hpp"

namespace softtpu::host {

Result<Range> make_range(const char* role, bm_mem_type_t type, std::uint64_t address, std::uint64_t size,
                         std::uint64_t offset, std::uint64_t bytes) {
  if (type != BM_MEM_TYPE_DEVICE && type != BM_MEM_TYPE_INT8_DEVICE) {
    return Error{ErrorKind::kUsage, fmt::format("{} is not device memory (type {})", role, static_cast<int>(type))};
  }
  if (bytes > size || offset > size - bytes) {
    return Error{ErrorKind::kUsage, fmt::format("offset {} and {} bytes run past the end of {} ({} bytes at 0x{:x})",
                                                offset, bytes, role, size, address)};
  }
  return Range{address + offset, bytes};
}

namespace {

template <class Mem>
void set_device(const char* function, Mem* mem, std::uint64_t bytes, std::uint64_t address) {
  if (mem == nullptr) {
    fail(function, BM_ERR_PARAM, "pmem is NULL");
    return;
  }
  *mem = make_descriptor<Mem>(address, bytes);
}

template <class Mem>
void set_address(const char* function, Mem* mem, std::uint64_t address) {
  if (mem == nullptr) {
    fail(function, BM_ERR_PARAM, "pmem is NULL");
    return;
  }
  mem->u.device.device_addr = address;
}

template <class Mem, class Size>
void set_size(const char* function, Mem* mem, Size bytes) {
  if (mem == nullptr) {
    fail(function, BM_ERR_PARAM, "pmem is NULL");
    return;
  }
  mem->size = bytes;
}

template <class Mem>
void set_system(const char* function, Mem* mem, void* address) {
  if (mem == nullptr) {
    fail(function, BM_ERR_PARAM, "pmem is NULL");
    return;
  }
  mem->u.system.system_addr = address;
  mem->flags.u.mem_type = BM_MEM_TYPE_SYSTEM;
}

}  // namespace
}  // namespace softtpu::host

using namespace softtpu::host;

extern "C" {

u32 bm_mem_get_size(struct bm_mem_desc mem) { return mem.size; }
u64 sg_mem_get_size(struct sg_mem_desc mem) { return mem.size; }
u64 bm_mem_get_size_u64(struct bm_mem_desc_u64 mem) { return mem.size; }

bm_mem_type_t bm_mem_get_type(struct bm_mem_desc mem) { return mem.flags.u.mem_type; }
bm_mem_type_t sg_mem_get_type(struct sg_mem_desc mem) { return mem.flags.u.mem_type; }
bm_mem_type_t bm_mem_get_type_u64(struct bm_mem_desc_u64 mem) { return mem.flags.u.mem_type; }

unsigned long long bm_mem_get_device_addr(struct bm_mem_desc mem) { return mem.u.device.device_addr; }
unsigned long long sg_mem_get_device_addr(struct sg_mem_desc mem) { return mem.u.device.device_addr; }
unsigned long long bm_mem_get_device_addr_u64(struct bm_mem_desc_u64 mem) { return mem.u.device.device_addr; }

void bm_mem_set_device_addr(struct bm_mem_desc* pmem, unsigned long long addr) try {
  set_address(__func__, pmem, addr);
} catch (...) {
  softtpu::caught(__func__);
}
void sg_mem_set_device_addr(struct sg_mem_desc* pmem, unsigned long long addr) try {
  set_address(__func__, pmem, addr);
} catch (...) {
  softtpu::caught(__func__);
}
void bm_mem_set_device_addr_u64(struct bm_mem_desc_u64* pmem, unsigned long long addr) try {
  set_address(__func__, pmem, addr);
} catch (...) {
  softtpu::caught(__func__);
}

unsigned int bm_mem_get_device_size(struct bm_mem_desc mem) { return mem.size; }
unsigned long long sg_mem_get_device_size(struct sg_mem_desc mem) { return mem.size; }
unsigned long long bm_mem_get_device_size_u64(struct bm_mem_desc_u64 mem) { return mem.size; }

void bm_mem_set_device_size(struct bm_mem_desc* pmem, unsigned int size) try {
  set_size(__func__, pmem, size);
} catch (...) {
  softtpu::caught(__func__);
}
void sg_mem_set_device_size(struct sg_mem_desc* pmem, unsigned long long size) try {
  set_size(__func__, pmem, size);
} catch (...) {
  softtpu::caught(__func__);
}
void bm_mem_set_device_size_u64(struct bm_mem_desc_u64* pmem, unsigned long long size) try {
  set_size(__func__, pmem, size);
} catch (...) {
  softtpu::caught(__func__);
}

void bm_set_device_mem(bm_device_mem_t* pmem, unsigned int size, unsigned long long addr) try {
  set_device(__func__, pmem, size, addr);
} catch (...) {
  softtpu::caught(__func__);
}
void sg_set_device_mem(sg_device_mem_t* pmem, unsigned long long size, unsigned long long addr) try {
  set_device(__func__, pmem, size, addr);
} catch (...) {
  softtpu::caught(__func__);
}
void bm_set_device_mem_u64(bm_device_mem_u64_t* pmem, unsigned long long size, unsigned long long addr) try {
  set_device(__func__, pmem, size, addr);
} catch (...) {
  softtpu::caught(__func__);
}

bm_device_mem_t bm_mem_from_device(unsigned long long device_addr, unsigned int len) try {
  return make_descriptor<bm_device_mem_t>(device_addr, len);
} catch (...) {
  return softtpu::caught(__func__);
}
sg_device_mem_t sg_mem_from_device(unsigned long long device_addr, unsigned long long len) try {
  return make_descriptor<sg_device_mem_t>(device_addr, len);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_device_mem_u64_t bm_mem_from_device_u64(unsigned long long device_addr, unsigned long long len) try {
  return make_descriptor<bm_device_mem_u64_t>(device_addr, len);
} catch (...) {
  return softtpu::caught(__func__);
}

void* bm_mem_get_system_addr(struct bm_mem_desc mem) { return mem.u.system.system_addr; }
void* sg_mem_get_system_addr(struct sg_mem_desc mem) { return mem.u.system.system_addr; }
void* bm_mem_get_system_addr_u64(struct bm_mem_desc_u64 mem) { return mem.u.system.system_addr; }

void bm_mem_set_system_addr(struct bm_mem_desc* pmem, void* addr) try {
  set_system(__func__, pmem, addr);
} catch (...) {
  softtpu::caught(__func__);
}
void sg_mem_set_system_addr(struct sg_mem_desc* pmem, void* addr) try {
  set_system(__func__, pmem, addr);
} catch (...) {
  softtpu::caught(__func__);
}
void bm_mem_set_system_addr_u64(struct bm_mem_desc_u64* pmem, void* addr) try {
  set_system(__func__, pmem, addr);
} catch (...) {
  softtpu::caught(__func__);
}

bm_system_mem_t bm_mem_from_system(void* system_addr) {
  bm_system_mem_t mem{};
  mem.u.system.system_addr = system_addr;
  mem.flags.u.mem_type = BM_MEM_TYPE_SYSTEM;
  return mem;
}

bm_device_mem_t bm_mem_null(void) try {
  bm_device_mem_t mem = make_descriptor<bm_device_mem_t>(BM_MEM_ADDR_NULL, 0);
  mem.flags.u.mem_type = BM_MEM_TYPE_INVALID;
  return mem;
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
