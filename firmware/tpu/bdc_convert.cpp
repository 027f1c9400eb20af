// Entry points of conversion, requantisation and dequantisation.
#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "firmware/tpu/packed.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// Parameters of (de)quantisation per channel: a record of `words` 32-bit words in the aligned layout, or, where records
// are compact, of two words without a gap between channels.
class ChannelParameters {
 public:
  ChannelParameters(const Call& call, local_addr_t addr, const Dim4& dim, int words)
      : compact_(call.chip().has(Quirk::kCompactQuantRecords)),
        first_(call.local(addr, Dim4{1, dim.c, 1, compact_ ? kCompactWords : words}, Dtype::kInt32,
                          compact_ ? Layout::kCompact : Layout::kAligned)),
        dim_(dim) {}

  bool compact() const { return compact_; }
  // What lies `bytes` behind the start of every channel's record, as `type`. The first one keeps the alignment rule.
  Operand at(int bytes, Dtype type) const {
    Tensor tensor = first_;
    tensor.addr += static_cast<std::uint64_t>(bytes);
    tensor.shape = dim_;
    const std::int64_t words = tensor.stride.c;
    tensor.stride = {0, words * static_cast<std::int64_t>(sizeof(std::uint32_t)) / size_of(type), 0, 0};
    tensor.dtype = type;
    tensor.natural = bytes == 0 && !compact_;
    return tensor;
  }
  Operand word(int index, Dtype type) const { return at(4 * index, type); }

 private:
  static constexpr int kCompactWords = 2;
  bool compact_;
  Tensor first_;
  Dim4 dim_;
};

// Offsets have 16 bits and the sign of the quantised type.
Dtype offset_type(Dtype quantised) { return is_signed_int(quantised) ? Dtype::kInt16 : Dtype::kUint16; }
// Where a compact record has its offset: the high half of its second word.
constexpr int kCompactOffset = 6;
Scalar word(int value) { return {static_cast<std::uint32_t>(value), Dtype::kInt32}; }
Scalar shift_count(int count) { return {static_cast<std::uint8_t>(count), Dtype::kInt8}; }

// The two tensors of a quantisation.
struct QuantCall {
  QuantCall(Op op, local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dst_dtype,
            data_type_t src_dtype)
      : call(op),
        dim(call.dim("shape", shape)),
        dst_type(call.dtype("dst_dtype", dst_dtype)),
        src_type(call.dtype("src_dtype", src_dtype)),
        dst(call.local(dst_addr, dim, dst_type)),
        src(call.local(src_addr, dim, src_type)) {}

  Call call;
  Dim4 dim;
  Dtype dst_type, src_type;
  Tensor dst, src;
};

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_bdc_cast(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                  const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode) {
  const Call call(Op::tpu_bdc_cast);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype to = call.dtype("dst_dtype", dst_dtype), from = call.dtype("src_dtype", src_dtype);
  const Packing packing{is_nibble(to), is_nibble(from), false};
  call.issue(CastCmd{packed_or_whole(call, "dst", dst_addr, dim, dst_stride, to),
                     packed_or_whole(call, "src", src_addr, dim, src_stride, from),
                     with_packing(call.rounding(mode), packing)});
}

void tpu_bdc_int_requant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int multiplier, char shift,
                         scalar_t offset, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t rounding_mode) {
  const QuantCall of(Op::tpu_bdc_int_requant, dst_addr, src_addr, shape, dst_dtype, src_dtype);
  of.call.issue(IntQuantCmd{Quant::kRequant, of.dst, of.src, word(multiplier), shift_count(shift),
                            scalar(offset, offset_type(of.dst_type)), of.call.rounding(rounding_mode)});
}
void tpu_bdc_int_pc_requant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
                            data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t rounding_mode) {
  const QuantCall of(Op::tpu_bdc_int_pc_requant, dst_addr, src_addr, shape, dst_dtype, src_dtype);
  const ChannelParameters quant(of.call, quant_addr, of.dim, 3);
  const Operand offset =
      quant.compact() ? quant.at(kCompactOffset, Dtype::kInt16) : quant.word(2, offset_type(of.dst_type));
  of.call.issue(IntQuantCmd{Quant::kRequant, of.dst, of.src, quant.word(0, Dtype::kInt32), quant.word(1, Dtype::kInt8),
                            offset, of.call.rounding(rounding_mode)});
}
void tpu_bdc_int_dequant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, scalar_t offset,
                         int multiplier, char shift, data_type_t dst_dtype, data_type_t src_dtype,
                         rounding_mode_t rounding_mode) {
  const QuantCall of(Op::tpu_bdc_int_dequant, dst_addr, src_addr, shape, dst_dtype, src_dtype);
  of.call.issue(IntQuantCmd{Quant::kDequant, of.dst, of.src, word(multiplier), shift_count(shift),
                            scalar(offset, offset_type(of.src_type)), of.call.rounding(rounding_mode)});
}
void tpu_bdc_int_pc_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
                            data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t rounding_mode) {
  const QuantCall of(Op::tpu_bdc_int_pc_dequant, dst_addr, src_addr, shape, dst_dtype, src_dtype);
  const ChannelParameters quant(of.call, quant_addr, of.dim, 3);
  // Compact records are those of requantisation; the others begin with the offset.
  const int first = quant.compact() ? 0 : 1;
  const Operand offset =
      quant.compact() ? quant.at(kCompactOffset, Dtype::kInt16) : quant.word(0, offset_type(of.src_type));
  of.call.issue(IntQuantCmd{Quant::kDequant, of.dst, of.src, quant.word(first, Dtype::kInt32),
                            quant.word(first + 1, Dtype::kInt8), offset, of.call.rounding(rounding_mode)});
}

void tpu_bdc_fp32_requant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, float scale, float offset,
                          data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t dst_rounding_mode,
                          rounding_mode_t src_rounding_mode) {
  const QuantCall of(Op::tpu_bdc_fp32_requant, dst_addr, src_addr, shape, dst_dtype, src_dtype);
  of.call.issue(FloatQuantCmd{Quant::kRequant, of.dst, of.src, scalar(scale, Dtype::kFp32),
                              scalar(offset, Dtype::kFp32), of.call.rounding(src_rounding_mode, "src_rounding_mode"),
                              of.call.rounding(dst_rounding_mode, "dst_rounding_mode")});
}
void tpu_bdc_fp32_pc_requant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
                             data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t dst_rounding_mode,
                             rounding_mode_t src_rounding_mode) {
  const QuantCall of(Op::tpu_bdc_fp32_pc_requant, dst_addr, src_addr, shape, dst_dtype, src_dtype);
  const ChannelParameters quant(of.call, quant_addr, of.dim, 2);
  of.call.issue(FloatQuantCmd{Quant::kRequant, of.dst, of.src, quant.word(0, Dtype::kFp32), quant.word(1, Dtype::kFp32),
                              of.call.rounding(src_rounding_mode, "src_rounding_mode"),
                              of.call.rounding(dst_rounding_mode, "dst_rounding_mode")});
}
void tpu_bdc_fp32_dequant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, scalar_t offset, float scale,
                          data_type_t src_dtype, rounding_mode_t rounding_mode) {
  const QuantCall of(Op::tpu_bdc_fp32_dequant, dst_addr, src_addr, shape, DT_FP32, src_dtype);
  of.call.issue(FloatQuantCmd{Quant::kDequant, of.dst, of.src, scalar(scale, Dtype::kFp32),
                              scalar(offset, offset_type(of.src_type)), of.call.rounding(rounding_mode)});
}
void tpu_bdc_fp32_pc_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
                             data_type_t src_dtype, rounding_mode_t rounding_mode) {
  const QuantCall of(Op::tpu_bdc_fp32_pc_dequant, dst_addr, src_addr, shape, DT_FP32, src_dtype);
  const ChannelParameters quant(of.call, quant_addr, of.dim, 2);
  const Dtype offset = quant.compact() ? Dtype::kInt16 : offset_type(of.src_type);
  of.call.issue(FloatQuantCmd{Quant::kDequant, of.dst, of.src, quant.word(1, Dtype::kFp32), quant.word(0, offset),
                              of.call.rounding(rounding_mode)});
}
}
