// Entry points of GDMA compression (the forms: device/engines/dma/README.md).
#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "device/isa/packing_size.hpp"
#include "firmware/answers.hpp"
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
  call.require(false, "{argument} {value} has an extent outside 1..{limit}, or too many elements.", "shape",
               to_text(dim), kMaxExtent);
  return {};
}

Dtype checked_type(const Call& call, data_type_t code) {
  const Dtype type = call.dtype("dtype", code);
  return call.whole_bytes(type) ? type : Dtype::kInt8;
}

// Whether the chip codes such elements in its own form.
bool grouped(const Chip& chip, Dtype type) { return chip.has(Quirk::kGroupCode) && in_groups(size_of(type)); }

// Steps of sizes, and of the parts of a stream, on chips that have wide ones.
constexpr std::int64_t kWideStep = 128;

// What the size functions answer for `count` elements in the chip's own form; streams have their header besides.
std::int64_t group_bytes(const Chip& chip, std::int64_t count, Dtype type) {
  if (!chip.has(Quirk::kWideCodeSizes)) return max_group_bytes(count, size_of(type));
  if (chip.has(Quirk::kCodesApart)) {
    return align_up(groups_of(count) * std::int64_t{kGroupElements} * size_of(type), kWideStep) +
           align_up(groups_of(count) * (is_float(type) ? 2 : 1), kWideStep);
  }
  const std::int64_t extra = type == Dtype::kBfp16 ? 2 : 1;
  return align_up(groups_of(count) * (std::int64_t{kGroupElements} * size_of(type) + extra), kWideStep);
}

// What the size functions take elements for: words for their bytes, where the chip does.
void to_sized(const Chip& chip, Dim4& shape, Dtype& type) {
  if (size_of(type) != 4 || !chip.has(Quirk::kSizesOfWords)) return;
  shape.w = static_cast<int>(std::min<std::int64_t>(std::int64_t{shape.w} * 4, INT_MAX));
  type = Dtype::kUint8;
}

std::int64_t stream_bytes(const Dim4& shape, Dtype type) {
  return kStreamHeaderBytes + max_packed_bytes(shape.elements(), size_of(type));
}
// Units as a tensor: how many there are in each direction, and the bytes of a slot.
Dim4 units_of(const Chip& chip, const Dim4& shape, Dtype type) {
  if (!grouped(chip, type)) {
    return {shape.n, shape.c, shape.h,
            static_cast<int>(align_up(max_packed_bytes(shape.w, size_of(type)), kSlotAlignment))};
  }
  const std::int64_t count = std::int64_t{std::min(shape.c, chip.npu_num)} * shape.w;
  return {shape.n, static_cast<int>(ceil_div(shape.c, chip.npu_num)), shape.h,
          static_cast<int>(group_bytes(chip, count, type))};
}
// The same for the size functions.
Dim4 sized_units(const Call& call, const dim4* shape, data_type_t dtype) {
  Dim4 dim = checked_shape(call, shape);
  Dtype type = checked_type(call, dtype);
  to_sized(call.chip(), dim, type);
  return units_of(call.chip(), dim, type);
}
// Slots in bytes, their lengths in 32-bit words, one after the other in n, c, h order.
Stride4 slot_stride(const Dim4& units) {
  const std::int64_t slot = units.w;
  return {std::int64_t{units.c} * units.h * slot, units.h * slot, slot, 1};
}
Stride4 length_stride(const Dim4& units) { return {std::int64_t{units.c} * units.h, units.h, 1, 1}; }

void issue_stream(Op op, bool expand, local_addr_t local, const dim4* stride, global_addr_t packed,
                  const Packing& how) {
  const Call call(op);
  const Dim4 dim = checked_shape(call, how.shape);
  const Dtype type = checked_type(call, how.dtype);
  const bool in_own_form = grouped(call.chip(), type);
  const bool apart = call.chip().has(Quirk::kCodesApart);
  const std::int64_t own = apart ? kWideStep + group_bytes(call.chip(), dim.elements(), type)
                                 : kGroupAlignment + max_group_bytes(dim.elements(), size_of(type));
  const std::int64_t most = in_own_form ? own : stream_bytes(dim, type);
  const Dim4 bytes{1, 1, 1, call.to_int(most)};
  call.issue(DmaCompressCmd{expand,
                            false,
                            in_own_form,
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

void issue_units(Op op, bool expand, local_addr_t local, const dim4* stride, const Units& at, const Packing& how) {
  const Call call(op);
  const Dim4 dim = checked_shape(call, how.shape);
  const Dtype type = checked_type(call, how.dtype);
  const Dim4 units = units_of(call.chip(), dim, type);
  const bool in_own_form = grouped(call.chip(), type);
  Tensor packed = call.system(at.packed, units, at.packed_stride, Dtype::kUint8);
  Tensor meta = call.system(at.meta, {units.n, units.c, units.h, 1}, at.meta_stride, Dtype::kUint32);
  packed.stride.w = 1;
  // In the chip's own form the rows follow each other.
  if (in_own_form) packed.stride.h = units.w;
  if (at.packed_stride == nullptr) packed.stride = slot_stride(units);
  if (at.meta_stride == nullptr) meta.stride = length_stride(units);
  call.issue(DmaCompressCmd{expand,
                            true,
                            in_own_form,
                            call.local(local, dim, stride, type),
                            packed,
                            meta,
                            {how.bias0, how.bias1, how.zero_guard}});
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

// The sizes do not depend on the zero guard.
int tpu_gdma_compress_normal_max_bytes(const dim4* shape, data_type_t dtype, bool) {
  const Call call(Op::tpu_gdma_compress_normal_max_bytes);
  Dim4 dim = checked_shape(call, shape);
  Dtype type = checked_type(call, dtype);
  to_sized(call.chip(), dim, type);
  const bool own = grouped(call.chip(), type);
  return call.to_int(own ? group_bytes(call.chip(), dim.elements(), type) : stream_bytes(dim, type));
}
// In the chip's own form as if every unit had all the channels that it can have.
int tpu_gdma_compress_RACU_max_racu_bytes(const dim4* shape, data_type_t dtype, bool) {
  const Call call(Op::tpu_gdma_compress_RACU_max_racu_bytes);
  Dim4 dim = checked_shape(call, shape);
  Dtype type = checked_type(call, dtype);
  to_sized(call.chip(), dim, type);
  if (grouped(call.chip(), type)) dim.c = static_cast<int>(align_up(dim.c, call.chip().npu_num));
  const Dim4 units = units_of(call.chip(), dim, type);
  return call.to_int(units.n * slot_stride(units).n);
}
int tpu_gdma_compress_RACU_max_meta_bytes(const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_gdma_compress_RACU_max_meta_bytes);
  const Dim4 units = sized_units(call, shape, dtype);
  return call.to_int(units.n * length_stride(units).n * static_cast<std::int64_t>(sizeof(std::uint32_t)));
}
dim4 tpu_gdma_compress_RACU_racu_stride(const dim4* shape, data_type_t dtype, bool) {
  const Call call(Op::tpu_gdma_compress_RACU_racu_stride);
  return to_dim4(call, slot_stride(sized_units(call, shape, dtype)));
}
dim4 tpu_gdma_compress_RACU_meta_stride(const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_gdma_compress_RACU_meta_stride);
  return to_dim4(call, length_stride(sized_units(call, shape, dtype)));
}
}
