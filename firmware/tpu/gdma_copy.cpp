// Entry points of GDMA copies, fills, matrix and vector moves.
#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "firmware/tpu/address.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// The shape of the source of a copy with this destination shape.
Dim4 source_shape(CopyOrder order, const Dim4& dst) {
  if (order == CopyOrder::kCnhw) return {dst.c, dst.n, dst.h, dst.w};
  if (order == CopyOrder::kNwhc) return {dst.n, dst.w, dst.h, dst.c};
  if (order == CopyOrder::kOneChannel) return {dst.n, 1, dst.h, dst.w};
  return dst;
}

// This function checks the w strides it is given; the emulator of 2023 then takes both sides as continuous (golden
// bm1684x/gdma_cw_trans_cpy/S2S).
void check_w_strides(const Call& call, DmaCopyCmd& cmd) {
  for (Tensor* side : {&cmd.dst, &cmd.src}) {
    call.require(side->stride.w == 1, "{argument} ({value}) must be 1.", "w stride", side->stride.w);
    if (!call.chip().has(Quirk::kCwTransStrides)) *side = call.system(side->addr, side->shape, nullptr, side->dtype);
  }
}

bool is_reversal(CopyOrder order) {
  return order == CopyOrder::kReverseN || order == CopyOrder::kReverseC || order == CopyOrder::kReverseH ||
         order == CopyOrder::kReverseW;
}

// NULL strides of local memory in a copy from or to system memory, where the start NPU does not count in them.
void natural_from_zero(const Call& call, DmaCopyCmd& cmd) {
  const bool counts = cmd.order == CopyOrder::kNchw || is_reversal(cmd.order);
  if (!counts || !call.chip().has(Quirk::kNaturalFromZero)) return;
  if (cmd.dst.space == cmd.src.space) return;
  for (Tensor* side : {&cmd.dst, &cmd.src}) {
    if (side->space == Space::kLocal && side->natural && size_of(side->dtype) != 0)
      side->stride = aligned_stride(call.chip(), 0, side->shape, side->dtype);
  }
}

// A plain copy that is a loop over n: an empty one is fine.
bool takes_empty(const Call& call, const Dim4& dim) {
  const Op op = call.op();
  if (call.chip().has(Quirk::kEmptyCopies))
    return op == Op::tpu_gdma_cpy_S2S || op == Op::tpu_gdma_cpy_S2L || op == Op::tpu_gdma_cpy_L2S;
  return op == Op::tpu_gdma_cpy_S2S && std::min({dim.c, dim.h, dim.w}) > 0;
}

void issue_copy(Op op, CopyOrder order, const Side& dst, const Side& src, const dim4* shape, data_type_t dtype) {
  const Call call(op);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  if (dim.n == 0 && takes_empty(call, dim)) return;
  DmaCopyCmd cmd{order, call.in(dst.space, dst.addr, dim, dst.stride, type),
                 call.in(src.space, src.addr, source_shape(order, dim), src.stride, type)};
  // Rows move whole in this order: the w strides do not count (golden bm1684x/gdma_limits/nc_trans).
  if (order == CopyOrder::kCnhw && !call.chip().has(Quirk::kUnitDmaWStride)) cmd.dst.stride.w = cmd.src.stride.w = 1;
  if (op == Op::tpu_gdma_cpy_cw_trans_S2S) check_w_strides(call, cmd);
  natural_from_zero(call, cmd);
  call.issue(cmd);
}

void issue_reverse(Op op, const Side& dst, const Side& src, const dim4* shape, int axis, data_type_t dtype) {
  constexpr CopyOrder kOrders[] = {CopyOrder::kReverseN, CopyOrder::kReverseC, CopyOrder::kReverseH,
                                   CopyOrder::kReverseW};
  const Call call(op);
  call.in_range("reverse_axis", axis, TENSOR_N_DIM, TENSOR_W_DIM);
  if (call.chip().has(Quirk::kReversesCAndW)) {
    const bool from_local = src.space == Space::kLocal, into_local = dst.space == Space::kLocal;
    // Along one element there is nothing to turn; rows of their own strides are refused along w.
    const bool none = axis == TENSOR_H_DIM && shape != nullptr && shape->h == 1;
    const bool strides = axis == TENSOR_W_DIM && into_local && (dst.stride != nullptr || src.stride != nullptr);
    call.require(!strides, "strides of a reversal along w are not determined.");
    const bool takes =
        none || (from_local ? axis == TENSOR_C_DIM : axis == TENSOR_W_DIM || (into_local && axis == TENSOR_C_DIM));
    call.require(takes, "{argument} ({value}) is no dimension that this chip reverses there.", "reverse_axis", axis);
  } else if (call.chip().has(Quirk::kFewReversals)) {
    const int last = src.space == Space::kLocal ? TENSOR_C_DIM : TENSOR_H_DIM;
    const int first = src.space == Space::kLocal ? TENSOR_C_DIM : TENSOR_N_DIM;
    call.require(axis >= first && axis <= last, "{argument} ({value}) is outside {limit} on this chip.", "reverse_axis",
                 axis, Range{first, last});
  }
  const CopyOrder order = kOrders[std::clamp(axis, TENSOR_N_DIM, TENSOR_W_DIM)];
  const bool local = dst.space == Space::kLocal && src.space == Space::kLocal;
  if (local && call.chip().has(Quirk::kLostReversals) && call.chip().npu_of(dst.addr) != 0) {
    return log_warning(fmt::format("tpu_gdma_reverse_L2L: {} does not write to NPU {}: the destination stays as it was",
                                   to_upper(call.chip().name), call.chip().npu_of(dst.addr)));
  }
  issue_copy(op, order, dst, src, shape, dtype);
}

void issue_compact(Op op, CopyOrder order, const Side& dst, const Side& src, const dim4* shape, data_type_t dtype) {
  const Call call(op);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  const auto side = [&](const Side& which, const Dim4& extent) {
    if (which.space == Space::kSystem) return call.system(which.addr, extent, nullptr, type);
    auto addr = static_cast<local_addr_t>(which.addr);
    if (const Chip& chip = call.chip(); chip.has(Quirk::kCompactStartTwice)) {
      const int npu = remainder(2 * chip.npu_of(addr), chip.npu_num);
      addr = static_cast<std::uint32_t>(npu) * chip.local_bytes + chip.offset_of(addr);
    }
    return call.local(addr, extent, type, Layout::kCompact);
  };
  call.issue(DmaCopyCmd{order, side(dst, dim), side(src, source_shape(order, dim))});
}

void issue_general(Op op, const Side& dst, const Side& src, const dim4* dst_shape, const dim4* src_shape,
                   data_type_t dtype) {
  const Call call(op);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(DmaCopyCmd{CopyOrder::kReshape,
                        call.in(dst.space, dst.addr, call.dim("dst_shape", dst_shape), dst.stride, type),
                        call.in(src.space, src.addr, call.dim("src_shape", src_shape), src.stride, type)});
}

// The matrix in local memory: each row spread over channels of `per_channel` columns.
Tensor local_matrix(const Call& call, local_addr_t addr, int rows, int cols, int per_channel, Dtype type) {
  call.positive("columns per channel", per_channel);
  Tensor tensor = call.local(addr, matrix_shape(rows, std::max(cols, 1), std::max(per_channel, 1)), type);
  tensor.shape.w = std::min(tensor.shape.w, std::max(cols, 1));
  return tensor;
}

Tensor system_matrix(const Call& call, system_addr_t addr, int rows, int cols, int row_stride, Dtype type) {
  return {Space::kSystem, call.shared_address(addr), {rows, 1, 1, cols}, {row_stride, 0, 0, 1}, type, false};
}

// Contiguous elements in system memory.
Tensor block(const Call& call, system_addr_t addr, unsigned int count, Dtype type) {
  return call.system(addr, {1, 1, 1, call.in_range("count", count, 1, INT_MAX)}, nullptr, type);
}

void fill_system(const Call& call, system_addr_t addr, const scalar_t& value, const dim4* shape, const dim4* stride,
                 data_type_t dtype) {
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(DmaFillCmd{call.system(addr, call.dim("shape", shape), stride, type), scalar(value, type)});
}
void copy_block(const Call& call, system_addr_t dst, system_addr_t src, unsigned int count, data_type_t dtype) {
  const Dtype type = call.dtype("dtype", dtype);
  if (count == 0 && call.op() == Op::tpu_gdma_system_cpy && call.chip().has(Quirk::kEmptyBlocks)) return;
  call.issue(DmaCopyCmd{CopyOrder::kBlock, block(call, dst, count, type), block(call, src, count, type)});
}
void fill_block(const Call& call, system_addr_t addr, const scalar_t& value, unsigned int count, data_type_t dtype) {
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(DmaFillCmd{block(call, addr, count, type), scalar(value, type), true});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OP(family, ...) OP_##family(__VA_ARGS__)
#define OP_gdma(...)
#define OP_gdma_copy(name, dst_space, src_space, order)                                                              \
  void name(AddressIn<dst_space> dst_addr, AddressIn<src_space> src_addr, const dim4* shape, const dim4* dst_stride, \
            const dim4* src_stride, data_type_t dtype) {                                                             \
    issue_copy(Op::name, order, {dst_space, dst_addr, dst_stride}, {src_space, src_addr, src_stride}, shape, dtype); \
  }
#define OP_gdma_reverse(name, dst_space, src_space)                                                                    \
  void name(AddressIn<dst_space> dst_addr, AddressIn<src_space> src_addr, const dim4* shape, const dim4* dst_stride,   \
            const dim4* src_stride, int reverse_axis, data_type_t dtype) {                                             \
    issue_reverse(Op::name, {dst_space, dst_addr, dst_stride}, {src_space, src_addr, src_stride}, shape, reverse_axis, \
                  dtype);                                                                                              \
  }
#define OP_gdma_compact(name, dst_space, src_space, order)                                                        \
  void name(AddressIn<dst_space> dst_addr, AddressIn<src_space> src_addr, const dim4* shape, data_type_t dtype) { \
    issue_compact(Op::name, order, {dst_space, dst_addr, nullptr}, {src_space, src_addr, nullptr}, shape, dtype); \
  }
#define OP_gdma_general(name, dst_space, src_space)                                                          \
  void name(AddressIn<dst_space> dst_addr, AddressIn<src_space> src_addr, const dim4* dst_shape,             \
            const dim4* src_shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dtype) {      \
    issue_general(Op::name, {dst_space, dst_addr, dst_stride}, {src_space, src_addr, src_stride}, dst_shape, \
                  src_shape, dtype);                                                                         \
  }
#include "device/isa/ops/dma.def"
#undef OP

void tpu_gdma_matrix_S2L(local_addr_t dst_addr, system_addr_t src_addr, int rows, int cols, int cols_per_channel,
                         int row_stride, data_type_t dtype) {
  const Call call(Op::tpu_gdma_matrix_S2L);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(DmaMatrixCmd{local_matrix(call, dst_addr, rows, cols, cols_per_channel, type),
                          system_matrix(call, src_addr, rows, cols, row_stride, type), false});
}
void tpu_gdma_matrix_L2S(system_addr_t dst_addr, local_addr_t src_addr, int rows, int cols, int cols_per_channel,
                         int row_stride, data_type_t dtype) {
  const Call call(Op::tpu_gdma_matrix_L2S);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(DmaMatrixCmd{system_matrix(call, dst_addr, rows, cols, row_stride, type),
                          local_matrix(call, src_addr, rows, cols, cols_per_channel, type), false});
}
void tpu_gdma_matrix_trans_S2L(local_addr_t dst_addr, system_addr_t src_addr, int src_rows, int src_cols,
                               int dst_cols_per_channel, int src_row_stride, data_type_t dtype) {
  const Call call(Op::tpu_gdma_matrix_trans_S2L);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(DmaMatrixCmd{local_matrix(call, dst_addr, src_cols, src_rows, dst_cols_per_channel, type),
                          system_matrix(call, src_addr, src_rows, src_cols, src_row_stride, type), true});
}
void tpu_gdma_matrix_trans_L2S(system_addr_t dst_addr, local_addr_t src_addr, int src_rows, int src_cols,
                               int src_cols_per_channel, int dst_row_stride, data_type_t dtype) {
  const Call call(Op::tpu_gdma_matrix_trans_L2S);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(DmaMatrixCmd{system_matrix(call, dst_addr, src_cols, src_rows, dst_row_stride, type),
                          local_matrix(call, src_addr, src_rows, src_cols, src_cols_per_channel, type), true});
}
void tpu_gdma_vector_S2L(local_addr_t dst_addr, system_addr_t src_addr, int len, int len_per_channel,
                         data_type_t dtype) {
  const Call call(Op::tpu_gdma_vector_S2L);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(DmaMatrixCmd{local_matrix(call, dst_addr, 1, len, len_per_channel, type),
                          system_matrix(call, src_addr, 1, len, 0, type), false});
}
void tpu_gdma_vector_L2S(system_addr_t dst_addr, local_addr_t src_addr, int len, int len_per_channel,
                         data_type_t dtype) {
  const Call call(Op::tpu_gdma_vector_L2S);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(DmaMatrixCmd{system_matrix(call, dst_addr, 1, len, 0, type),
                          local_matrix(call, src_addr, 1, len, len_per_channel, type), false});
}

void tpu_gdma_set_C_system(system_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
                           data_type_t dtype) {
  fill_system(Call(Op::tpu_gdma_set_C_system), dst_addr, C, shape, dst_stride, dtype);
}
void tpu_gdma_set_C_local(local_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
                          data_type_t dtype) {
  const Call call(Op::tpu_gdma_set_C_local);
  const Dtype type = call.dtype("dtype", dtype);
  Tensor dst = call.local(dst_addr, call.dim("shape", shape), dst_stride, type);
  // The start NPU does not count in this function's default n stride (golden bm1684x/gdma_misc).
  if (dst_stride == nullptr && size_of(type) != 0) dst.stride = aligned_stride(call.chip(), 0, dst.shape, type);
  call.issue(DmaFillCmd{dst, scalar(C, type)});
}

void tpu_gdma_system_cpy(system_addr_t dst_addr, system_addr_t src_addr, unsigned int count, data_type_t dtype) {
  copy_block(Call(Op::tpu_gdma_system_cpy), dst_addr, src_addr, count, dtype);
}
void tpu_gdma_system_set(system_addr_t dst_addr, scalar_t C, unsigned int count, data_type_t dtype) {
  fill_block(Call(Op::tpu_gdma_system_set), dst_addr, C, count, dtype);
}
// dst is the window onto local memory: `count` elements go to the same offset of dst_channel NPUs.
void tpu_gdma_system_bcast(system_addr_t dst_addr, system_addr_t src_addr, unsigned int count, int dst_channel,
                           data_type_t dtype) {
  const Call call(Op::tpu_gdma_system_bcast);
  const Dtype type = call.dtype("dtype", dtype);
  // Some chips take an offset in the NPUs instead of an address.
  MemoryRange window = call.chip().local_mem;
  if (call.chip().has(Quirk::kBroadcastByOffset)) window = {0, call.chip().local_bytes};
  if (!call.inside("dst address", dst_addr, window, "local memory")) return;
  const Tensor src = block(call, src_addr, count, type);
  const Dim4 shape{1, dst_channel, 1, src.shape.w};
  const auto local = static_cast<local_addr_t>(dst_addr - window.start);
  call.issue(DmaCopyCmd{CopyOrder::kOneChannel, call.local(local, shape, type, Layout::kCompact), src});
}

// ---- SDMA: the same between system memories, on an engine of its own ----

#define SDMA_COPY(name, order)                                                                                         \
  void name(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,                 \
            const dim4* src_stride, data_type_t dtype) {                                                               \
    issue_copy(Op::name, order, {Space::kSystem, dst_addr, dst_stride}, {Space::kSystem, src_addr, src_stride}, shape, \
               dtype);                                                                                                 \
  }
SDMA_COPY(tpu_sdma_cpy_S2S, CopyOrder::kNchw)
SDMA_COPY(tpu_sdma_cpy_nc_trans_S2S, CopyOrder::kCnhw)
SDMA_COPY(tpu_sdma_cpy_cw_trans_S2S, CopyOrder::kNwhc)

void tpu_sdma_reverse_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                          const dim4* src_stride, int reverse_axis, data_type_t dtype) {
  issue_reverse(Op::tpu_sdma_reverse_S2S, {Space::kSystem, dst_addr, dst_stride},
                {Space::kSystem, src_addr, src_stride}, shape, reverse_axis, dtype);
}
void tpu_sdma_set_C_system(system_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
                           data_type_t dtype) {
  fill_system(Call(Op::tpu_sdma_set_C_system), dst_addr, C, shape, dst_stride, dtype);
}
void tpu_sdma_system_cpy(system_addr_t dst_addr, system_addr_t src_addr, unsigned int count, data_type_t dtype) {
  copy_block(Call(Op::tpu_sdma_system_cpy), dst_addr, src_addr, count, dtype);
}
void tpu_sdma_system_set(system_addr_t dst_addr, scalar_t C, unsigned int count, data_type_t dtype) {
  fill_block(Call(Op::tpu_sdma_system_set), dst_addr, C, count, dtype);
}

// ---- VSDMA: the same through a port ----

#define VSDMA_COPY(name, order)                                                                                        \
  void name(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,                 \
            const dim4* src_stride, data_type_t dtype, int) {                                                          \
    issue_copy(Op::name, order, {Space::kSystem, dst_addr, dst_stride}, {Space::kSystem, src_addr, src_stride}, shape, \
               dtype);                                                                                                 \
  }
VSDMA_COPY(tpu_vsdma_cpy_S2S, CopyOrder::kNchw)
VSDMA_COPY(tpu_vsdma_cpy_nc_trans_S2S, CopyOrder::kCnhw)

void tpu_vsdma_set_C_system(system_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
                            data_type_t dtype, int) {
  fill_system(Call(Op::tpu_vsdma_set_C_system), dst_addr, C, shape, dst_stride, dtype);
}
void tpu_vsdma_system_cpy(system_addr_t dst_addr, system_addr_t src_addr, unsigned int count, data_type_t dtype, int) {
  copy_block(Call(Op::tpu_vsdma_system_cpy), dst_addr, src_addr, count, dtype);
}
void tpu_vsdma_system_set(system_addr_t dst_addr, scalar_t C, unsigned int count, data_type_t dtype, int) {
  fill_block(Call(Op::tpu_vsdma_system_set), dst_addr, C, count, dtype);
}
}
