// Entry points of GDMA compression. The compressed form is softtpu's own (device/engines/dma/README.md).
#include <fmt/format.h>

#include <climits>

#include "device/isa/packing_size.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

constexpr std::int64_t kSlotAlignment = 16;  // bytes

struct Packing {
  const dim4* shape;
  data_type_t dtype;
  unsigned char bias0, bias1;
  bool zero_guard;
};

// A shape that fits a command, so that no size below overflows; (1, 1, 1, 1) after a fault.
Dim4 checked_shape(const Call& call, const dim4* shape) {
  const Dim4 dim = call.dim("shape", shape);
  const auto fits = [](int extent) { return extent >= 1 && extent <= kMaxExtent; };
  const bool sized = fits(dim.n) && fits(dim.c) && fits(dim.h) && fits(dim.w);
  if (sized && std::int64_t{dim.c} * dim.h <= INT_MAX / dim.w / dim.n) return dim;
  call.fault(fmt::format("shape {} has an extent outside 1..{}, or too many elements", to_text(dim), kMaxExtent));
  return {};
}

Dtype checked_type(const Call& call, data_type_t code) {
  const Dtype type = call.dtype("dtype", code);
  if (size_of(type) != 0) return type;
  call.fault(fmt::format("{} has no byte size", to_text(type)));
  return Dtype::kInt8;
}

std::int64_t stream_bytes(const Dim4& shape, Dtype type) {
  return kStreamHeaderBytes + max_packed_bytes(shape.elements(), size_of(type));
}
std::int64_t slot_bytes(const Dim4& shape, Dtype type) {
  return align_up(max_packed_bytes(shape.w, size_of(type)), kSlotAlignment);
}
// Slots in bytes, their lengths in 32-bit words, one after the other in n, c, h order.
Stride4 slot_stride(const Dim4& shape, Dtype type) {
  const std::int64_t slot = slot_bytes(shape, type);
  return {shape.c * shape.h * slot, shape.h * slot, slot, 1};
}
Stride4 length_stride(const Dim4& shape) { return {std::int64_t{shape.c} * shape.h, shape.h, 1, 1}; }

int to_int(const Call& call, std::int64_t value) {
  if (value <= INT_MAX) return static_cast<int>(value);
  call.fault(fmt::format("the result ({}) does not fit into an int", value));
  return 0;
}
dim4 to_dim4(const Call& call, const Stride4& stride) {
  return {to_int(call, stride.n), to_int(call, stride.c), to_int(call, stride.h), to_int(call, stride.w)};
}

void issue_stream(Op op, bool expand, local_addr_t local, const dim4* stride, global_addr_t packed,
                  const Packing& how) {
  const Call call(op);
  const Dim4 dim = checked_shape(call, how.shape);
  const Dtype type = checked_type(call, how.dtype);
  const Dim4 bytes{1, 1, 1, to_int(call, stream_bytes(dim, type))};
  call.issue(DmaCompressCmd{expand,
                            false,
                            call.local(local, dim, stride, type),
                            call.system(packed, bytes, nullptr, Dtype::kUint8),
                            {},
                            {how.bias0, how.bias1, how.zero_guard}});
}

struct Units {
  global_addr_t packed, meta;
  const dim4* packed_stride;
  const dim4* meta_stride;
};

void issue_units(Op op, bool expand, local_addr_t local, const dim4* stride, const Units& units, const Packing& how) {
  const Call call(op);
  const Dim4 dim = checked_shape(call, how.shape);
  const Dtype type = checked_type(call, how.dtype);
  const auto slot = static_cast<int>(slot_bytes(dim, type));
  Tensor packed = call.system(units.packed, {dim.n, dim.c, dim.h, slot}, units.packed_stride, Dtype::kUint8);
  Tensor meta = call.system(units.meta, {dim.n, dim.c, dim.h, 1}, units.meta_stride, Dtype::kUint32);
  packed.stride.w = 1;
  if (units.packed_stride == nullptr) packed.stride = slot_stride(dim, type);
  if (units.meta_stride == nullptr) meta.stride = length_stride(dim);
  call.issue(DmaCompressCmd{
      expand, true, call.local(local, dim, stride, type), packed, meta, {how.bias0, how.bias1, how.zero_guard}});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_gdma_compress_normal_L2S(global_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
                                  const dim4* src_stride, data_type_t dtype, unsigned char bias0, unsigned char bias1,
                                  bool zero_guard) {
  issue_stream(Op::tpu_gdma_compress_normal_L2S, false, src_addr, src_stride, dst_addr,
               {shape, dtype, bias0, bias1, zero_guard});
}
void tpu_gdma_decompress_normal_S2L(local_addr_t dst_addr, global_addr_t src_addr, const dim4* shape,
                                    const dim4* dst_stride, data_type_t dtype, unsigned char bias0, unsigned char bias1,
                                    bool zero_guard) {
  issue_stream(Op::tpu_gdma_decompress_normal_S2L, true, dst_addr, dst_stride, src_addr,
               {shape, dtype, bias0, bias1, zero_guard});
}
void tpu_gdma_compress_RACU_L2S(global_addr_t dst_racu_addr, global_addr_t dst_meta_addr, local_addr_t src_addr,
                                const dim4* shape, const dim4* dst_racu_stride, const dim4* dst_meta_stride,
                                const dim4* src_stride, data_type_t dtype, unsigned char bias0, unsigned char bias1,
                                bool zero_guard) {
  issue_units(Op::tpu_gdma_compress_RACU_L2S, false, src_addr, src_stride,
              {dst_racu_addr, dst_meta_addr, dst_racu_stride, dst_meta_stride},
              {shape, dtype, bias0, bias1, zero_guard});
}
void tpu_gdma_decompress_RACU_S2L(local_addr_t dst_addr, global_addr_t src_racu_addr, global_addr_t src_meta_addr,
                                  const dim4* shape, const dim4* dst_stride, const dim4* src_racu_stride,
                                  const dim4* src_meta_stride, data_type_t dtype, unsigned char bias0,
                                  unsigned char bias1, bool zero_guard) {
  issue_units(Op::tpu_gdma_decompress_RACU_S2L, true, dst_addr, dst_stride,
              {src_racu_addr, src_meta_addr, src_racu_stride, src_meta_stride},
              {shape, dtype, bias0, bias1, zero_guard});
}

// The sizes do not depend on the zero guard in this format.
int tpu_gdma_compress_normal_max_bytes(const dim4* shape, data_type_t dtype, bool) {
  const Call call(Op::tpu_gdma_compress_normal_max_bytes);
  return to_int(call, stream_bytes(checked_shape(call, shape), checked_type(call, dtype)));
}
int tpu_gdma_compress_RACU_max_racu_bytes(const dim4* shape, data_type_t dtype, bool) {
  const Call call(Op::tpu_gdma_compress_RACU_max_racu_bytes);
  const Dim4 dim = checked_shape(call, shape);
  return to_int(call, dim.n * slot_stride(dim, checked_type(call, dtype)).n);
}
int tpu_gdma_compress_RACU_max_meta_bytes(const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_gdma_compress_RACU_max_meta_bytes);
  checked_type(call, dtype);
  const Dim4 dim = checked_shape(call, shape);
  return to_int(call, dim.n * length_stride(dim).n * static_cast<std::int64_t>(sizeof(std::uint32_t)));
}
dim4 tpu_gdma_compress_RACU_racu_stride(const dim4* shape, data_type_t dtype, bool) {
  const Call call(Op::tpu_gdma_compress_RACU_racu_stride);
  return to_dim4(call, slot_stride(checked_shape(call, shape), checked_type(call, dtype)));
}
dim4 tpu_gdma_compress_RACU_meta_stride(const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_gdma_compress_RACU_meta_stride);
  checked_type(call, dtype);
  return to_dim4(call, length_stride(checked_shape(call, shape)));
}
}
