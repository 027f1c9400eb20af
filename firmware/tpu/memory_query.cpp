// Questions about the chip's memories, and pointers for the kernel's own loads and stores.
#include <fmt/format.h>

#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "firmware/unchecked_pointer.hpp"
#include "tpu_kernel.h"

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

int tpu_npu_num(void) { return Call(Op::tpu_npu_num).chip().npu_num; }
int tpu_bank_num(void) { return Call(Op::tpu_bank_num).chip().banks; }
int tpu_local_mem_size_per_npu(void) {
  return static_cast<int>(Call(Op::tpu_local_mem_size_per_npu).chip().local_bytes);
}
int tpu_l2_sram_size(void) {
  const Call call(Op::tpu_l2_sram_size);
  const Chip& chip = call.chip();
  const int cores = chip.l2_per_core ? call.core().launch().workitems : 1;
  return static_cast<int>(chip.l2_usable) * cores;
}
unsigned long long tpu_l2_sram_get_start_addr(void) {
  const Call call(Op::tpu_l2_sram_get_start_addr);
  return call.chip().l2_sram.start + static_cast<unsigned>(call.core().index()) * call.chip().l2_core_step;
}
unsigned long long tpu_global_mem_get_start_addr(void) {
  return Call(Op::tpu_global_mem_get_start_addr).chip().global_mem.start;
}
unsigned long long tpu_local_mem_get_start_addr(void) {
  const Call call(Op::tpu_local_mem_get_start_addr);
  return call.chip().local_mem.start + static_cast<unsigned>(call.core().index()) * call.chip().local_core_step;
}
unsigned long long tpu_static_mem_get_start_addr(void) {
  return Call(Op::tpu_static_mem_get_start_addr).chip().static_mem.start;
}

void* tpu_global_mem_addr(global_addr_t addr) {
  const Call call(Op::tpu_global_mem_addr);
  // Not range-checked, as measured; the mapping ends in guard pages.
  call.core().note_pointer(call.op(), Space::kSystem, addr);
  return unchecked_pointer(call.core().memories().global(), addr - call.chip().global_mem.start);
}

void* tpu_local_mem_addr(int start_idx, local_addr_t addr) {
  const Call call(Op::tpu_local_mem_addr);
  const Chip& chip = call.chip();
  if (!call.is_in_range("NPU index", start_idx, 0, chip.npu_num - 1)) return nullptr;
  if (!call.require(addr < chip.local_bytes, "{argument} ({value}) is outside an NPU's local memory ({limit} bytes).",
                    "offset", Address{addr}, chip.local_bytes))
    return nullptr;
  call.core().note_pointer(call.op(), Space::kLocal,
                           std::uint64_t{chip.local_bytes} * static_cast<unsigned>(start_idx) + addr);
  return call.core().memories().local(start_idx) + addr;
}

void* tpu_local_mem_addr_unified(local_addr_t addr) {
  const Call call(Op::tpu_local_mem_addr_unified);
  if (!call.in_local_memory("address", addr)) return nullptr;
  call.core().note_pointer(call.op(), Space::kLocal, addr);
  return call.core().memories().local(0) + addr;
}

void* tpu_l2_sram_addr(l2_sram_addr_t given) {
  const Call call(Op::tpu_l2_sram_addr);
  const std::uint64_t addr = call.shared_address(given);
  // On some chips commands may reach behind the end that kernels ask for, pointers may not (golden bm1688/sync).
  MemoryRange l2 = call.chip().l2_sram;
  if (call.chip().has(Quirk::kOpenL2End)) l2.bytes = call.chip().l2_usable;
  if (!call.inside("address", addr, l2, "L2 SRAM")) return nullptr;
  call.core().note_pointer(call.op(), Space::kSystem, addr);
  return call.core().memories().l2() + (addr - l2.start);
}
}
