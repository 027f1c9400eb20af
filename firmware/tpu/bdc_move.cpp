// Entry points of copies, constants, transposes, broadcasts and sequences.
#include <fmt/format.h>

#include <algorithm>

#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// A static_addr_t is an offset in static memory, or its address in the system map.
Tensor in_static(const Call& call, static_addr_t addr, const Dim4& shape, const Stride4& stride, Dtype type) {
  const MemoryRange& memory = call.chip().static_mem;
  const bool is_address = memory.contains(addr) && !call.chip().has(Quirk::kStaticByOffset);
  const std::uint64_t offset = is_address ? addr - memory.start : addr;
  return {Space::kStatic, offset, shape, stride, type, true};
}

// `length` elements on each of npu_num NPUs, and one element on each channel.
Dim4 row_on_npus(const Call& call, int npu_num, const char* name, int length) {
  return {1, call.in_range("npu_num", npu_num, 1, call.chip().npu_num), 1, call.in_range(name, length, 1, kMaxExtent)};
}
Dim4 spread(const Call& call, const char* name, int length) {
  return {1, call.in_range(name, length, 1, kMaxExtent), 1, 1};
}

// start, start + step ... in `num` elements. The older functions have 32 bits, of which both types hold the same.
struct Numbers {
  int start, step, num;
  data_type_t dtype;
};
void sequence_bcast(const Call& call, local_addr_t dst, int npu_num, const Numbers& of) {
  const Dtype type = call.dtype("dtype", of.dtype);
  // As many channels, where they go on with the first NPU.
  const int most = call.chip().has(Quirk::kWrappingSequences) ? kMaxExtent : call.chip().npu_num;
  const Dim4 row{1, call.in_range("npu_num", npu_num, 1, most), 1, call.in_range("num", of.num, 1, kMaxExtent)};
  call.issue(SequenceCmd{call.local(dst, row, type), of.start, of.step, true});
}
void sequence_distribute(const Call& call, local_addr_t dst, const Numbers& of, Layout layout) {
  const Dtype type = call.dtype("dtype", of.dtype);
  const Dim4 row = spread(call, "num", of.num);
  call.issue(SequenceCmd{call.local(dst, row, type, layout), of.start, of.step, false});
}
void sequence_general(const Call& call, local_addr_t dst, int npu_num, const Numbers& of) {
  const Dtype type = call.dtype("dtype", of.dtype);
  const Dim4 row = row_on_npus(call, npu_num, "num", of.num);
  call.issue(SequenceCmd{call.local(dst, row, type), of.start, of.step, false});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_bdc_cpy(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                 const dim4* src_stride, data_type_t dtype) {
  const Call call(Op::tpu_bdc_cpy);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(CopyCmd{call.local(dst_addr, dim, dst_stride, type), call.local(src_addr, dim, src_stride, type)});
}
void tpu_bdc_set_C(local_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride, data_type_t dtype) {
  const Call call(Op::tpu_bdc_set_C);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(CopyCmd{call.local(dst_addr, dim, dst_stride, type), scalar(C, type)});
}

void tpu_bdc_cpy_cross_npu(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_bdc_cpy_cross_npu);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(CrossCopyCmd{CopyOrder::kNchw, call.local(dst_addr, dim, type), call.local(src_addr, dim, type)});
}
void tpu_bdc_npu_bcast(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_bdc_npu_bcast);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  const Dim4 src_dim{dim.n, 1, dim.h, dim.w};
  call.issue(CrossCopyCmd{CopyOrder::kNchw, call.local(dst_addr, dim, type), call.local(src_addr, src_dim, type)});
}
void tpu_bdc_cw_trans(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_bdc_cw_trans);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  const Dim4 src_dim{dim.n, dim.w, dim.h, dim.c};
  call.issue(CrossCopyCmd{CopyOrder::kNwhc, call.local(dst_addr, dim, type, Layout::kLineAligned),
                          call.local(src_addr, src_dim, type)});
}
void tpu_bdc_wc_trans(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_bdc_wc_trans);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  const Dim4 src_dim{dim.n, dim.w, dim.h, dim.c};
  call.issue(CrossCopyCmd{CopyOrder::kNwhc, call.local(dst_addr, dim, type), call.local(src_addr, src_dim, type)});
}

void tpu_bdc_npu_bcast_from_static(local_addr_t dst_addr, static_addr_t src_addr, int npu_num, int len,
                                   data_type_t dtype) {
  const Call call(Op::tpu_bdc_npu_bcast_from_static);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(CrossCopyCmd{CopyOrder::kNchw, call.local(dst_addr, row_on_npus(call, npu_num, "len", len), type),
                          in_static(call, src_addr, row_on_npus(call, 1, "len", len), Stride4{0, 0, 0, 1}, type)});
}
void tpu_bdc_npu_distribute_from_static(local_addr_t dst_addr, static_addr_t src_addr, int len, data_type_t dtype) {
  const Call call(Op::tpu_bdc_npu_distribute_from_static);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(CrossCopyCmd{CopyOrder::kNchw, call.local(dst_addr, spread(call, "len", len), type, Layout::kCompact),
                          in_static(call, src_addr, spread(call, "len", len), Stride4{0, 1, 0, 0}, type)});
}

void tpu_bdc_arithmetic_sequence_bcast(local_addr_t dst_addr, int npu_num, int start, int step, int num) {
  sequence_bcast(Call(Op::tpu_bdc_arithmetic_sequence_bcast), dst_addr, npu_num, {start, step, num, DT_INT32});
}
void tpu_bdc_arithmetic_sequence_bcast_with_dtype(local_addr_t dst_addr, int npu_num, int start, int step, int num,
                                                  data_type_t dtype) {
  sequence_bcast(Call(Op::tpu_bdc_arithmetic_sequence_bcast_with_dtype), dst_addr, npu_num, {start, step, num, dtype});
}
void tpu_bdc_arithmetic_sequence_distribute(local_addr_t dst_addr, int start, int step, int num) {
  sequence_distribute(Call(Op::tpu_bdc_arithmetic_sequence_distribute), dst_addr, {start, step, num, DT_INT32},
                      Layout::kCompact);
}
void tpu_bdc_arithmetic_sequence_distribute_with_dtype(local_addr_t dst_addr, int start, int step, int num,
                                                       data_type_t dtype) {
  sequence_distribute(Call(Op::tpu_bdc_arithmetic_sequence_distribute_with_dtype), dst_addr, {start, step, num, dtype},
                      Layout::kCompact);
}
// One element per channel, each at the start of an aligned channel (golden bm1684x-1.30/new_ew/seq_aligned).
void tpu_bdc_arithmetic_sequence_distribute_aligned(local_addr_t dst_addr, int start, int step, int num) {
  sequence_distribute(Call(Op::tpu_bdc_arithmetic_sequence_distribute_aligned), dst_addr, {start, step, num, DT_INT32},
                      Layout::kAligned);
}
void tpu_bdc_arithmetic_sequence_distribute_aligned_with_dtype(local_addr_t dst_addr, int start, int step, int num,
                                                               data_type_t dtype) {
  sequence_distribute(Call(Op::tpu_bdc_arithmetic_sequence_distribute_aligned_with_dtype), dst_addr,
                      {start, step, num, dtype}, Layout::kAligned);
}
// 0, 1, 2 ... in one row; never fewer than a table of static memory holds (golden bm1684x-1.30/new_ew/seq_generate).
void tpu_bdc_generate_arithmetic_sequence(local_addr_t dst_addr, int num, data_type_t dtype) {
  constexpr int kLeast = 64;
  const Call call(Op::tpu_bdc_generate_arithmetic_sequence);
  const Dtype type = call.dtype("dtype", dtype);
  const Dim4 row = row_on_npus(call, 1, "num", num);
  call.issue(SequenceCmd{call.local(dst_addr, {1, 1, 1, std::max(row.w, kLeast)}, type), 0, 1, false});
}
// One sequence over the rows of all NPUs: each goes on where the one before it ends (golden
// bm1684x-1.30/new_ew/seq_general). The buffer is the chip's scratch; its content is not defined and stays as it was.
void tpu_bdc_arithmetic_sequence_general(local_addr_t dst_addr, local_addr_t, int npu_num, int start, int step,
                                         int num) {
  sequence_general(Call(Op::tpu_bdc_arithmetic_sequence_general), dst_addr, npu_num, {start, step, num, DT_INT32});
}
void tpu_bdc_arithmetic_sequence_general_with_dtype(local_addr_t dst_addr, local_addr_t, int npu_num, int start,
                                                    int step, int num, data_type_t dtype) {
  sequence_general(Call(Op::tpu_bdc_arithmetic_sequence_general_with_dtype), dst_addr, npu_num,
                   {start, step, num, dtype});
}
}
