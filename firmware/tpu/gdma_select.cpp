// Entry points of GDMA functions that choose elements or rows.
#include <fmt/format.h>

#include <algorithm>

#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "firmware/tpu/address.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// A tensor whose memory another argument of the call names.
Tensor anywhere(const Call& call, const char* name, addr_t addr, bool is_local, const Dim4& shape, const dim4* stride,
                Dtype type) {
  call.require(!is_local || addr < call.chip().local_mem.bytes,
               "{argument} address ({value}) lies beyond local memory.", name, Address{addr});
  return call.in(is_local ? Space::kLocal : Space::kSystem, addr, shape, stride, type);
}

Side in_system(system_addr_t addr, const dim4* stride) { return {Space::kSystem, addr, stride}; }

struct Rows {
  Side dst, param, index;
  const dim4* shape;
  int param_h;
};

DmaRowsCmd rows_command(const Call& call, RowsMode mode, const Rows& rows, data_type_t dtype) {
  if (call.chip().has(Quirk::kWholeIndices)) call.multiple_of("index", rows.index.addr, sizeof(std::uint32_t));
  const Dim4 dim = call.dim("shape", rows.shape);
  const Dtype type = call.dtype("dtype", dtype);
  const Dim4 param{1, dim.c, rows.param_h, dim.w};
  const Dim4 index{1, dim.c, mode == RowsMode::kGather ? dim.h : rows.param_h, 1};
  return {mode,
          call.in(rows.dst.space, rows.dst.addr, dim, rows.dst.stride, type),
          call.in(rows.param.space, rows.param.addr, param, rows.param.stride, type),
          anywhere(call, "index", rows.index.addr, rows.index.space == Space::kLocal, index, rows.index.stride,
                   Dtype::kUint32),
          {},
          0};
}

void issue_gather(const Call& call, const Rows& rows, const scalar_t& fill, std::uint32_t start, data_type_t dtype) {
  DmaRowsCmd cmd = rows_command(call, RowsMode::kGather, rows, dtype);
  cmd.fill = scalar(fill, cmd.dst.dtype);
  cmd.start = start;
  call.issue(cmd);
}

void issue_scatter(const Call& call, RowsMode mode, const Rows& rows, std::uint32_t start, data_type_t dtype) {
  DmaRowsCmd cmd = rows_command(call, mode, rows, dtype);
  cmd.start = start;
  // All channels read the first one's NPU, where it lies in the window of local memory.
  const bool first_npu = call.chip().has(Quirk::kRepeatedFirstNpu) && rows.param.space == Space::kLocal &&
                         rows.dst.space == Space::kSystem;
  // Where nothing differs between channels, only the first one is moved.
  if (first_npu && cmd.param.stride.c == 0 && cmd.index.stride.c == 0)
    cmd.dst.shape.c = cmd.param.shape.c = cmd.index.shape.c = std::min(cmd.dst.shape.c, 1);
  for (Tensor* side : {&cmd.param, &cmd.index}) {
    if (!first_npu || side->space != Space::kLocal || side->stride.c != 0) continue;
    side->space = Space::kSystem;
    side->addr += call.chip().local_mem.start;
  }
  call.issue(cmd);
}

Space index_space(bool is_local) { return is_local ? Space::kLocal : Space::kSystem; }

std::uint32_t issue_select(Op op, global_addr_t dst_addr, const Side& src, addr_t mask_addr, int mask_in_lmem,
                           const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype) {
  const Call call(op);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("data_dtype", data_dtype);
  const Dtype mask_type = call.dtype("mask_dtype", mask_dtype);
  const std::uint32_t count = call.issue(
      DmaMaskSelectCmd{call.system(dst_addr, dim, nullptr, type), call.in(src.space, src.addr, dim, nullptr, type),
                       anywhere(call, "mask", mask_addr, mask_in_lmem != 0, dim, nullptr, mask_type)});
  return call.core().state().filter_num = count;
}

void issue_nonzero(Op op, global_addr_t dst_addr, const Side& src, const dim4* shape, data_type_t data_dtype,
                   unsigned int base_idx) {
  const Call call(op);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("data_dtype", data_dtype);
  call.core().state().filter_num = call.issue(DmaNonzeroCmd{
      call.system(dst_addr, dim, nullptr, Dtype::kUint32), call.in(src.space, src.addr, dim, nullptr, type), base_idx});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OP(family, ...) OP_##family(__VA_ARGS__)
#define OP_gdma(...)
#define OP_query(...)
#define OP_gdma_h_gather(name, dst_space, param_space)                                                  \
  void name(AddressIn<dst_space> output_addr, AddressIn<param_space> param_addr, addr_t index_addr,     \
            bool index_is_local, scalar_t C, const dim4* shape, int param_h, const dim4* output_stride, \
            const dim4* param_stride, const dim4* index_stride, data_type_t dtype) {                    \
    issue_gather(Call(Op::name),                                                                        \
                 {{dst_space, output_addr, output_stride},                                              \
                  {param_space, param_addr, param_stride},                                              \
                  {index_space(index_is_local), index_addr, index_stride},                              \
                  shape,                                                                                \
                  param_h},                                                                             \
                 C, 0, dtype);                                                                          \
  }
#define OP_gdma_h_scatter(name, dst_space, param_space)                                                               \
  void name(AddressIn<dst_space> output_addr, AddressIn<param_space> param_addr, addr_t index_addr,                   \
            bool index_is_local, const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, \
            const dim4* index_stride, data_type_t dtype) {                                                            \
    issue_scatter(Call(Op::name), RowsMode::kScatter,                                                                 \
                  {{dst_space, output_addr, output_stride},                                                           \
                   {param_space, param_addr, param_stride},                                                           \
                   {index_space(index_is_local), index_addr, index_stride},                                           \
                   shape,                                                                                             \
                   param_h},                                                                                          \
                  0, dtype);                                                                                          \
  }
#include "device/isa/ops/dma_select.def"
#undef OP

// Indices count from start_pos: index i names row i - start_pos.
void tpu_gdma_h_gather_S2S_ext(system_addr_t output_addr, system_addr_t param_addr, addr_t index_addr,
                               bool index_is_local, scalar_t C, const dim4* shape, int param_h, u32 start_pos,
                               const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
                               data_type_t dtype) {
  const Rows rows{in_system(output_addr, output_stride),
                  in_system(param_addr, param_stride),
                  {index_space(index_is_local), index_addr, index_stride},
                  shape,
                  param_h};
  issue_gather(Call(Op::tpu_gdma_h_gather_S2S_ext), rows, C, start_pos, dtype);
}
void tpu_gdma_h_scatter_S2S_ext(system_addr_t output_addr, system_addr_t param_addr, addr_t index_addr,
                                bool index_is_local, const dim4* shape, int param_h, u32 start_pos, int inplace_add,
                                const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
                                data_type_t dtype) {
  const Rows rows{in_system(output_addr, output_stride),
                  in_system(param_addr, param_stride),
                  {index_space(index_is_local), index_addr, index_stride},
                  shape,
                  param_h};
  const RowsMode mode = inplace_add != 0 ? RowsMode::kScatterAdd : RowsMode::kScatter;
  issue_scatter(Call(Op::tpu_gdma_h_scatter_S2S_ext), mode, rows, start_pos, dtype);
}

void tpu_gdma_mask_select_L2S(global_addr_t dst_addr, local_addr_t src_addr, addr_t mask_addr, int mask_in_lmem,
                              const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype) {
  issue_select(Op::tpu_gdma_mask_select_L2S, dst_addr, {Space::kLocal, src_addr, nullptr}, mask_addr, mask_in_lmem,
               shape, data_dtype, mask_dtype);
}
void tpu_gdma_mask_select_S2S(global_addr_t dst_addr, global_addr_t src_addr, addr_t mask_addr, int mask_in_lmem,
                              const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype) {
  issue_select(Op::tpu_gdma_mask_select_S2S, dst_addr, {Space::kSystem, src_addr, nullptr}, mask_addr, mask_in_lmem,
               shape, data_dtype, mask_dtype);
}
unsigned int tpu_gdma_mask_select_S2S_with_ret(global_addr_t dst_addr, global_addr_t src_addr, addr_t mask_addr,
                                               int mask_in_lmem, const dim4* shape, data_type_t data_dtype,
                                               data_type_t mask_dtype) {
  return issue_select(Op::tpu_gdma_mask_select_S2S_with_ret, dst_addr, {Space::kSystem, src_addr, nullptr}, mask_addr,
                      mask_in_lmem, shape, data_dtype, mask_dtype);
}
void tpu_gdma_nonzero_L2S(global_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t data_dtype,
                          unsigned int base_idx) {
  issue_nonzero(Op::tpu_gdma_nonzero_L2S, dst_addr, {Space::kLocal, src_addr, nullptr}, shape, data_dtype, base_idx);
}
void tpu_gdma_nonzero_S2S(global_addr_t dst_addr, global_addr_t src_addr, const dim4* shape, data_type_t data_dtype,
                          unsigned int base_idx) {
  issue_nonzero(Op::tpu_gdma_nonzero_S2S, dst_addr, {Space::kSystem, src_addr, nullptr}, shape, data_dtype, base_idx);
}
unsigned int tpu_gdma_get_filter_num(void) { return Call(Op::tpu_gdma_get_filter_num).core().state().filter_num; }

// SDMA moves rows of system memory by an index there; VSDMA does so through a port.
#define SDMA_ROWS(engine, ...)                                                                                     \
  void tpu_##engine##_h_gather_S2S(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr,  \
                                   scalar_t C, const dim4* shape, int param_h, const dim4* output_stride,          \
                                   const dim4* param_stride, const dim4* index_stride,                             \
                                   data_type_t dtype __VA_OPT__(, ) __VA_ARGS__) {                                 \
    const Rows rows{in_system(output_addr, output_stride), in_system(param_addr, param_stride),                    \
                    in_system(index_addr, index_stride), shape, param_h};                                          \
    issue_gather(Call(Op::tpu_##engine##_h_gather_S2S), rows, C, 0, dtype);                                        \
  }                                                                                                                \
  void tpu_##engine##_h_scatter_S2S(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr, \
                                    const dim4* shape, int param_h, const dim4* output_stride,                     \
                                    const dim4* param_stride, const dim4* index_stride,                            \
                                    data_type_t dtype __VA_OPT__(, ) __VA_ARGS__) {                                \
    const Rows rows{in_system(output_addr, output_stride), in_system(param_addr, param_stride),                    \
                    in_system(index_addr, index_stride), shape, param_h};                                          \
    issue_scatter(Call(Op::tpu_##engine##_h_scatter_S2S), RowsMode::kScatter, rows, 0, dtype);                     \
  }
SDMA_ROWS(sdma)
SDMA_ROWS(vsdma, int)
}
