// Questions about BM1684: sizes, addresses, pointers for the kernel's own loads and stores, layouts.
#include "device/isa/op_names.hpp"
#include "firmware/answers.hpp"
#include "firmware/okk/okk_call.hpp"
#include "firmware/unchecked_pointer.hpp"

namespace softtpu {
namespace {

unsigned to_size(std::uint64_t bytes) { return static_cast<unsigned>(bytes); }

MemoryRange dtcm(const Call& call) { return call.chip().dtcm.value_or(MemoryRange{}); }

void store_aligned(const Call& call, dim4* stride, int start_idx, const dim4* shape, Dtype type) {
  store_stride(call, stride, aligned_stride(call.chip(), start_idx, call.dim("shape", shape), type));
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

int okk_npu_num(void) { return Call(Op::okk_npu_num).chip().npu_num; }
unsigned int okk_eu_num(void) { return static_cast<unsigned>(Call(Op::okk_eu_num).chip().eu_num(Dtype::kFp32)); }
unsigned long long okk_global_mem_start_addr(void) {
  return Call(Op::okk_global_mem_start_addr).chip().global_mem.start;
}
unsigned int okk_local_mem_start_addr(void) {
  return to_size(Call(Op::okk_local_mem_start_addr).chip().local_mem.start);
}
unsigned int okk_local_mem_bank_per_npu(void) {
  return static_cast<unsigned>(Call(Op::okk_local_mem_bank_per_npu).chip().banks);
}
unsigned int okk_local_mem_size_per_npu(void) { return Call(Op::okk_local_mem_size_per_npu).chip().local_bytes; }
unsigned int okk_l2_sram_start_addr(void) { return to_size(Call(Op::okk_l2_sram_start_addr).chip().l2_sram.start); }
unsigned int okk_l2_sram_size(void) { return to_size(Call(Op::okk_l2_sram_size).chip().l2_sram.bytes); }
unsigned int okk_dtcm_start_addr(void) { return to_size(dtcm(Call(Op::okk_dtcm_start_addr)).start); }
unsigned int okk_dtcm_size(void) { return to_size(dtcm(Call(Op::okk_dtcm_size)).bytes); }
unsigned int okk_lookup_table_start_addr(void) {
  return to_size(Call(Op::okk_lookup_table_start_addr).chip().static_mem.start);
}
unsigned int okk_lookup_table_size(void) { return to_size(Call(Op::okk_lookup_table_size).chip().static_mem.bytes); }

// The pointers are not range-checked, as measured; the mappings lie between guard areas.
unsigned char* okk_global_mem_addr(unsigned long long addr) {
  const Call call(Op::okk_global_mem_addr);
  call.core().note_pointer(call.op(), Space::kSystem, addr);
  return unchecked_pointer(call.core().memories().global(), addr - call.chip().global_mem.start);
}
unsigned char* okk_local_mem_addr(unsigned int idx, unsigned int addr) {
  const Call call(Op::okk_local_mem_addr);
  if (idx >= static_cast<unsigned>(call.chip().npu_num)) return nullptr;
  call.core().note_pointer(call.op(), Space::kLocal, std::uint64_t{call.chip().local_bytes} * idx + addr);
  return unchecked_pointer(call.core().memories().local(static_cast<int>(idx)), addr);
}
unsigned char* okk_l2_sram_addr(unsigned int addr) {
  const Call call(Op::okk_l2_sram_addr);
  call.core().note_pointer(call.op(), Space::kSystem, addr);
  return unchecked_pointer(call.core().memories().l2(), addr - call.chip().l2_sram.start);
}
unsigned char* okk_dtcm_addr(unsigned int addr) {
  const Call call(Op::okk_dtcm_addr);
  return unchecked_pointer(call.core().memories().dtcm(), addr - dtcm(call).start);
}

int okk_start_npu_index(local_addr_t addr) { return Call(Op::okk_start_npu_index).chip().npu_of(addr); }
int okk_channle_num_per_npu(int start_idx, int num_channels) {
  const Call call(Op::okk_channle_num_per_npu);
  return call.to_int(channels_per_npu(call.chip(), start_idx, num_channels));
}
void okk_128_byte_aligned_stride_for_32bit(dim4* stride, int start_idx, const dim4* shape) {
  store_aligned(Call(Op::okk_128_byte_aligned_stride_for_32bit), stride, start_idx, shape, Dtype::kUint32);
}
void okk_128_byte_aligned_stride_for_16bit(dim4* stride, int start_idx, const dim4* shape) {
  store_aligned(Call(Op::okk_128_byte_aligned_stride_for_16bit), stride, start_idx, shape, Dtype::kUint16);
}
void okk_128_byte_aligned_stride_for_8bit(dim4* stride, int start_idx, const dim4* shape) {
  store_aligned(Call(Op::okk_128_byte_aligned_stride_for_8bit), stride, start_idx, shape, Dtype::kUint8);
}
void okk_compact_stride(dim4* stride, int start_idx, const dim4* shape) {
  const Call call(Op::okk_compact_stride);
  store_stride(call, stride, compact_stride(call.chip(), start_idx, call.dim("shape", shape)));
}
void okk_continuous_stride(dim4* stride, const dim4* shape) {
  const Call call(Op::okk_continuous_stride);
  store_stride(call, stride, continuous_stride(call.dim("shape", shape)));
}
}
