// Questions about layouts, banks and channels.
#include <algorithm>

#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/answers.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// A data type that has whole bytes.
Dtype byte_type(const Call& call, data_type_t code) {
  const Dtype type = call.dtype("dtype", code);
  return call.whole_bytes(type) ? type : Dtype::kInt8;
}

int checked_start(const Call& call, int start_idx, int count) {
  if (call.chip().has(Quirk::kAnyQueryIndex)) return call.not_negative("start_idx", start_idx) ? start_idx : 0;
  return call.is_in_range("start_idx", start_idx, 0, count - 1) ? start_idx : 0;
}
int checked_npu(const Call& call, int start_idx) { return checked_start(call, start_idx, call.chip().npu_num); }
// Sizes and strides count channels from a number that fits the interface, on chips with fewer NPUs as well (golden
// bm1688/new_query: local_size, local_nstride).
int counted_npu(const Call& call, int start_idx) {
  constexpr int kMostNpus = 64;
  return checked_start(call, start_idx, std::max(call.chip().npu_num, kMostNpus));
}

std::int64_t channel_stride(const Call& call, int h, int w, bool align, Dtype type) {
  const Dim4 feature{1, 1, h, w};
  return (align ? aligned_stride(call.chip(), 0, feature, type) : compact_stride(call.chip(), 0, feature)).c;
}

// The place of channel c when channel 0 is at the very start of NPU 0.
LocalSpot spot_of_channel(const Call& call, int c, int c_stride, data_type_t dtype) {
  const int size = size_of(byte_type(call, dtype));
  call.not_negative("c", c);
  const int lanes = call.chip().npu_num;
  return {npu_of_channel(lanes, 0, c), row_of_channel(lanes, 0, c) * c_stride * size};
}

bool ranges_meet(const range_t& a, const range_t& b) { return a.start <= b.end && b.start <= a.end; }

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

int tpu_eu_num(data_type_t dtype) {
  const Call call(Op::tpu_eu_num);
  const Dtype type = call.dtype("dtype", dtype);
  // Two 4-bit elements share a byte.
  return size_of(type) == 0 ? 2 * call.chip().eu_bytes : call.chip().eu_num(type);
}
dim2 tpu_cube_shape(data_type_t dtype) {
  const Call call(Op::tpu_cube_shape);
  if (dtype == DT_INT8 || dtype == DT_UINT8) return {64, 4};
  if (dtype == DT_FP16 || dtype == DT_BFP16) return {32, 4};
  return {1, 4};
}
int tpu_gdma_shape_limit(int dim) {
  const Call call(Op::tpu_gdma_shape_limit);
  const bool dimension = dim >= TENSOR_N_DIM && dim <= TENSOR_W_DIM;
  if (!dimension && call.chip().has(Quirk::kAnyQueryIndex)) return 0;
  call.in_range("dim", dim, TENSOR_N_DIM, TENSOR_W_DIM);
  return kMaxExtent;
}
int tpu_gdma_move_max_wstride_byte_len(void) {
  const Call call(Op::tpu_gdma_move_max_wstride_byte_len);
  return call.chip().dma_w_stride_bytes;
}

int tpu_npu_index(local_addr_t addr) { return Call(Op::tpu_npu_index).chip().npu_of(addr); }
int tpu_bank_index(local_addr_t addr) {
  const Chip& chip = Call(Op::tpu_bank_index).chip();
  return static_cast<int>(chip.offset_of(addr) / chip.bank_bytes());
}
range_t tpu_bank_range(local_addr_t addr, int size) {
  const Call call(Op::tpu_bank_range);
  if (!call.positive("size", size)) return {0, 0};
  const Chip& chip = call.chip();
  const std::uint64_t first = chip.offset_of(addr);
  const std::uint64_t last = first + static_cast<unsigned>(size) - 1;
  return {static_cast<int>(first / chip.bank_bytes()), static_cast<int>(last / chip.bank_bytes())};
}
bool tpu_range_overlapped(const range_t* r0, const range_t* r1) {
  const Call call(Op::tpu_range_overlapped);
  return call.given("a range", r0) && call.given("a range", r1) && ranges_meet(*r0, *r1);
}
bool tpu_any_range_overlapped(const range_t* ranges, int num) {
  const Call call(Op::tpu_any_range_overlapped);
  if (call.chip().has(Quirk::kRangesOfTwo) &&
      !call.require(num >= 2, "{argument} ({value}) is less than {limit}.", "num", num, 2))
    return false;
  if (num > 0 && !call.given("ranges", ranges)) return false;
  for (int i = 0; i < num; ++i) {
    for (int j = i + 1; j < num; ++j) {
      if (ranges_meet(ranges[i], ranges[j])) return true;
    }
  }
  return false;
}

int tpu_channle_num_per_npu(int start_idx, int num_channels) {
  const Call call(Op::tpu_channle_num_per_npu);
  return call.to_int(channels_per_npu(call.chip(), checked_npu(call, start_idx), num_channels));
}
int tpu_aligned_feature_size(int h, int w, data_type_t dtype) {
  const Call call(Op::tpu_aligned_feature_size);
  const Dtype type = byte_type(call, dtype);
  const std::int64_t elements = channel_stride(call, h, w, true, type);
  return call.to_int(elements > INT32_MAX ? elements : elements * size_of(type));
}
void tpu_aligned_stride(dim4* stride, int start_idx, const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_aligned_stride);
  store_stride(
      call, stride,
      aligned_stride(call.chip(), checked_npu(call, start_idx), call.dim("shape", shape), byte_type(call, dtype)));
}
void tpu_compact_stride(dim4* stride, int start_idx, const dim4* shape) {
  const Call call(Op::tpu_compact_stride);
  store_stride(call, stride, compact_stride(call.chip(), checked_npu(call, start_idx), call.dim("shape", shape)));
}
void tpu_line_aligned_stride(dim4* stride, int start_idx, const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_line_aligned_stride);
  store_stride(
      call, stride,
      line_aligned_stride(call.chip(), checked_npu(call, start_idx), call.dim("shape", shape), byte_type(call, dtype)));
}
void tpu_continuous_stride(dim4* stride, const dim4* shape) {
  const Call call(Op::tpu_continuous_stride);
  store_stride(call, stride, continuous_stride(call.dim("shape", shape)));
}
int tpu_get_local_cstride(int h, int w, bool align, data_type_t dtype) {
  const Call call(Op::tpu_get_local_cstride);
  return call.to_int(channel_stride(call, h, w, align, byte_type(call, dtype)));
}
int tpu_get_local_nstride(int c_stride, int c, int start_idx) {
  const Call call(Op::tpu_get_local_nstride);
  return call.to_int(channels_per_npu(call.chip(), counted_npu(call, start_idx), c) * c_stride);
}
int tpu_get_local_size(const dim4* shape, data_type_t dtype, int start_idx, bool align) {
  const Call call(Op::tpu_get_local_size);
  const Dtype type = byte_type(call, dtype);
  const Dim4 dim = call.dim("shape", shape);
  const int npu = counted_npu(call, start_idx);
  const Stride4 stride = align ? aligned_stride(call.chip(), npu, dim, type) : compact_stride(call.chip(), npu, dim);
  const std::int64_t batch = call.to_int(stride.n);
  return call.to_int(batch * dim.n * size_of(type));
}
// The depth joins the batch: one local tensor for each (n, d).
void tpu_local_shape_5d_to_4d(const dim5* shape_5d, dim4* shape_4d) {
  const Call call(Op::tpu_local_shape_5d_to_4d);
  if (!call.given("a shape", shape_5d) || !call.given("a shape", shape_4d)) return;
  *shape_4d = {call.to_int(std::int64_t{shape_5d->n} * shape_5d->d), shape_5d->c, shape_5d->h, shape_5d->w};
}
int tpu_npu_c_offset(int c, int c_stride, data_type_t dtype) {
  const Call call(Op::tpu_npu_c_offset);
  return call.to_int(spot_of_channel(call, c, c_stride, dtype).offset);
}
int tpu_unified_c_offset(int c, int c_stride, data_type_t dtype) {
  const Call call(Op::tpu_unified_c_offset);
  const auto [npu, offset] = spot_of_channel(call, c, c_stride, dtype);
  return call.to_int(std::int64_t{npu} * call.chip().local_bytes + offset);
}
}
