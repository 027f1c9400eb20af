// Entry points of GDMA functions that choose elements or rows.
#include <fmt/format.h>

#include <algorithm>

#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "device/memory/tensor_view.hpp"
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
  const bool local_index = rows.index.space == Space::kLocal;
  const Tensor indices =
      anywhere(call, "index", rows.index.addr, local_index, index, rows.index.stride, Dtype::kUint32);
  if (call.chip().has(Quirk::kWholeIndices) && !local_index && dim.c > 1)
    call.require(indices.stride.c == 0 || indices.stride.c >= index.h,
                 "{argument} c stride ({value}) lets the indices of a channel overlap those of the next one.", "index",
                 indices.stride.c);
  return {mode,
          call.in(rows.dst.space, rows.dst.addr, dim, rows.dst.stride, type),
          call.in(rows.param.space, rows.param.addr, param, rows.param.stride, type),
          indices,
          {},
          0};
}

void issue_gather(const Call& call, const Rows& rows, const scalar_t& fill, std::uint32_t start, data_type_t dtype) {
  DmaRowsCmd cmd = rows_command(call, RowsMode::kGather, rows, dtype);
  cmd.fill = scalar(fill, cmd.dst.dtype);
  cmd.start = start;
  call.issue(cmd);
}

void issue_scatter(const Call& call, RowsMode mode, Rows rows, std::uint32_t start, data_type_t dtype) {
  const bool by_output =
      call.op() == Op::tpu_gdma_h_scatter_S2S_ext && call.chip().has(Quirk::kScatterByOutput) && rows.shape != nullptr;
  if (by_output) rows.param_h = rows.shape->h;
  DmaRowsCmd cmd = rows_command(call, mode, rows, dtype);
  cmd.start = start;
  if (by_output) {
    if (rows.param.stride == nullptr) cmd.param.stride.c = std::int64_t{cmd.dst.shape.h} * cmd.dst.shape.w;
    if (rows.index.stride == nullptr) cmd.index.stride.c = cmd.dst.shape.h;
  }
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

// What channel moves have in common. `shape` is that of the output; the indices follow each other, in local memory on
// one NPU.
struct Channels {
  bool scatters;
  Side dst, param, index;
  const dim4* shape;
  int param_c;
};

// The chip refuses to scatter beyond the output.
bool has_places(const Call& call, const Tensor& index, int channels) {
  const TensorView view(call.core().memories(), index);
  for (int i = 0; i < index.shape.h; ++i) {
    const std::uint32_t named = *view.at<const std::uint32_t>(0, 0, i, 0);
    if (named < static_cast<std::uint32_t>(channels)) continue;
    return call.require(false, "an index ({value}) is not below the channels of the output ({limit}).", "index", named,
                        channels);
  }
  return true;
}

// Channels are rows of h * w elements. Those of the output that lie on different NPUs at one offset are as far apart as
// local memories are in the system map: one command for each such group.
void issue_channels(const Call& call, const Channels& of, const scalar_t& fill, data_type_t dtype) {
  const Chip& chip = call.chip();
  const Dim4 dim = call.dim("shape", of.shape);
  const Dtype type = call.dtype("dtype", dtype);
  if (!call.is_in_range("shape.n", dim.n, 1, 1) || !call.is_in_range("param_c", of.param_c, 1, kMaxExtent)) return;
  const Tensor dst = call.local(static_cast<std::uint32_t>(of.dst.addr), dim, of.dst.stride, type);
  const Tensor whole = call.system(of.param.addr, {1, of.param_c, dim.h, dim.w}, of.param.stride, type);
  const bool rows = dst.stride.h == dim.w && dst.stride.w == 1 && whole.stride.h == dim.w && whole.stride.w == 1;
  if (!call.require(rows, "channels whose rows do not follow each other are not determined.")) return;
  const int count = of.scatters ? of.param_c : dim.c, width = dim.h * dim.w;
  const Tensor param = {Space::kSystem, whole.addr, {1, 1, of.param_c, width}, {0, 0, whole.stride.c, 1}, type, false};
  Tensor index = anywhere(call, "index", of.index.addr, of.index.space == Space::kLocal, {1, 1, count, 1}, nullptr,
                          Dtype::kUint32);
  index.stride = {0, 0, 1, 1};
  if (of.scatters && !has_places(call, index, dim.c)) return;
  const int first_npu = chip.npu_of(dst.addr);
  for (int first = 0; first < dim.c;) {
    const int npu = (first_npu + first) % chip.npu_num, group = (first_npu + first) / chip.npu_num;
    const int here = std::min(chip.npu_num - npu, dim.c - first);
    const std::uint64_t offset =
        chip.offset_of(dst.addr) + static_cast<std::uint64_t>(group * dst.stride.c) * size_of(type);
    const std::uint64_t start = chip.local_mem.start + std::uint64_t{chip.local_bytes} * npu + offset;
    DmaRowsCmd cmd{
        of.scatters ? RowsMode::kScatter : RowsMode::kGather,
        {Space::kSystem, start, {1, 1, here, width}, {0, 0, chip.local_bytes / size_of(type), 1}, type, false},
        param,
        index,
        scalar(fill, type),
        of.scatters ? static_cast<std::uint32_t>(first) : 0};
    if (!of.scatters) {
      cmd.index.shape.h = here;
      cmd.index.addr += static_cast<std::uint64_t>(first) * sizeof(std::uint32_t);
    }
    call.issue(cmd);
    first += here;
  }
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

void tpu_gdma_c_gather_S2L(local_addr_t output_addr, system_addr_t input_addr, addr_t index_addr, bool index_is_local,
                           scalar_t C, const dim4* shape, int param_c, const dim4* output_stride,
                           const dim4* param_stride, data_type_t dtype) {
  issue_channels(Call(Op::tpu_gdma_c_gather_S2L),
                 {false,
                  {Space::kLocal, output_addr, output_stride},
                  in_system(input_addr, param_stride),
                  {index_space(index_is_local), index_addr, nullptr},
                  shape,
                  param_c},
                 C, dtype);
}
void tpu_gdma_c_scatter_S2L(local_addr_t output_addr, system_addr_t input_addr, addr_t index_addr, bool index_is_local,
                            const dim4* shape, int param_c, const dim4* output_stride, const dim4* param_stride,
                            data_type_t dtype) {
  issue_channels(Call(Op::tpu_gdma_c_scatter_S2L),
                 {true,
                  {Space::kLocal, output_addr, output_stride},
                  in_system(input_addr, param_stride),
                  {index_space(index_is_local), index_addr, nullptr},
                  shape,
                  param_c},
                 scalar_t{}, dtype);
}

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
