// Entry points of conversion, requantisation and dequantisation.
#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
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

// (src - offset) * scale, rounded to the type after each step (numerics: bm1684x2.md section 2). Offset and scale of a
// group follow each other, on the NPU of the channel.
void tpu_bdc_f16_group_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
                               data_type_t src_dtype, data_type_t dst_dtype, int group) {
  const Call call(Op::tpu_bdc_f16_group_dequant);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype from = call.published_dtype("src_dtype", src_dtype), to = call.dtype("dst_dtype", dst_dtype);
  if (!call.require(contains(types(Dtype::kUint8, Dtype::kUint4), from),
                    "{argument} ({value}) is not determined; {limit}.", "src_dtype", to_text(from),
                    "uint8 and uint4 are"))
    return;
  if (!call.require(contains(kHalves, to), "{argument} ({value}) is no {limit}.", "dst_dtype", to_text(to),
                    "float of 16 bits"))
    return;
  const int npus = call.chip().npu_num;
  if (!call.require(dim.n == 1 && dim.h == 1 && dim.c <= npus,
                    "{argument} {value} has more than a row on an NPU, which is not determined.", "shape",
                    to_text(dim)))
    return;
  if (!call.require(group == 32 || group == 64, "{argument} ({value}) is not determined; {limit}.", "group", group,
                    "32 and 64 are"))
    return;
  if (!call.require(dim.w >= 1 && dim.w % group == 0, "{argument} ({value}) is no multiple of {limit}.", "shape.w",
                    dim.w, group))
    return;
  const int groups = dim.w / group;
  const Tensor dst = call.local(dst_addr, dim, to), quant = call.local(quant_addr, Dim4{1, dim.c, 1, 2 * groups}, to);
  const Packing packing{.first = is_nibble(from)};
  const Tensor src = packed_or_whole(call, "src", src_addr, dim, nullptr, from);
  // By their own names: each is operands of several commands.
  Checks check(call.core().memories(), call.op());
  check.shape("shape", dim).tensor("dst", dst).tensor("src", src).tensor("quant", quant);
  check.same_npu("src", src_addr, "dst", dst_addr).same_npu("quant", quant_addr, "dst", dst_addr);
  check.apart("src", src, dst).apart("quant", quant, dst);
  if (check.violation()) return call.core().fault(ErrorKind::kUsage, *check.violation());
  const Dim4 in_groups{1, dim.c, groups, group};
  const Tensor values = call.local(dst_addr, in_groups, Stride4{0, dst.stride.c, group, 1}, to);
  const auto parameter = [&](int place) {
    const auto addr = static_cast<local_addr_t>(quant_addr + static_cast<unsigned>(place * size_of(to)));
    return call.local(addr, in_groups, Stride4{0, quant.stride.c, 2, 0}, to);
  };
  call.issue(CastCmd{dst, src, with_packing(Rounding::kHalfToEven, packing)});
  call.issue(ArithCmd{ArithMode::kSub, values, values, parameter(0)});
  call.issue(ArithCmd{ArithMode::kMul, values, values, parameter(1)});
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
