// BM1684's instructions on integers of 8 and 16 bits, which compiled INT8 networks use. What no recording shows is
// refused.
#include "device/instruction/okk_operands.hpp"
#include "device/isa/op_names.hpp"

namespace softtpu::stream {
namespace {

constexpr int kBytesPerWord = 4;

Dtype packed_type(const Operands& in, Field prec, bool is_signed) {
  if (in.value(prec) != kOkkByte && in.value(prec) != kOkkHalf) in.refuse(prec, "is no type of 8 or 16 bits");
  return in.type(prec, is_signed);
}

// Neighbours along N share a word.
Dim4 words_of(const Dim4& shape, Dtype type) {
  const int per_word = kBytesPerWord / size_of(type);
  return {(shape.n + per_word - 1) / per_word, shape.c, shape.h, shape.w};
}
Tensor packed_tensor(const OkkOperands& of, const TiuOperand& which, const Dim4& shape, Dtype type) {
  return of.tensor(which, words_of(shape, type), Dtype::kUint32);
}

Operand packed_operand(const OkkOperands& of, const TiuOperand& which, Field is_constant, Dtype type) {
  if (!of.in.flag(is_constant)) return packed_tensor(of, which, of.shape, type);
  const auto bits = static_cast<std::uint32_t>(of.in.value(which.addr));
  const auto extended = [&]() -> std::int32_t {
    switch (type) {
      case Dtype::kInt8: return static_cast<std::int8_t>(bits);
      case Dtype::kUint8: return static_cast<std::uint8_t>(bits);
      case Dtype::kInt16: return static_cast<std::int16_t>(bits);
      default: return static_cast<std::uint16_t>(bits);
    }
  };
  return Scalar{static_cast<std::uint32_t>(extended()), Dtype::kInt32};
}

struct PackedArithmetic {
  Op op;
  OkkFixedMode mode;
};

PackedArithmetic arithmetic_of(const Operands& in) {
  switch (in.function()) {
    case 0: return {Op::okk_bdc_fixed_point_packed_mul, OkkFixedMode::kMul};
    case 1: return {Op::okk_bdc_fixed_point_packed_mac, OkkFixedMode::kMac};
    case 2: return {Op::okk_bdc_fixed_point_packed_add, OkkFixedMode::kAdd};
    case 3: return {Op::okk_bdc_fixed_point_packed_sub, OkkFixedMode::kSub};
    case 4: return {Op::okk_bdc_fixed_point_packed_max, OkkFixedMode::kMax};
    case 5: return {Op::okk_bdc_fixed_point_packed_min, OkkFixedMode::kMin};
    case 6:
      return in.flag(Field::shift_typ)
                 ? PackedArithmetic{Op::okk_bdc_fixed_point_packed_16bit_arithmetic_shift,
                                    OkkFixedMode::kShiftArithmetic}
                 : PackedArithmetic{Op::okk_bdc_fixed_point_packed_16bit_logical_shift, OkkFixedMode::kShiftLogical};
    default:
      // Every function goes once through the words of its operands.
      if (in.timed_only()) return {Op::okk_bdc_fixed_point_packed_add, OkkFixedMode::kAdd};
      in.refuse_function();
  }
}

Issued packed_arithmetic(const OkkOperands& of) {
  const Operands& in = of.in;
  const PackedArithmetic which = arithmetic_of(in);
  const bool shifts = which.mode == OkkFixedMode::kShiftArithmetic || which.mode == OkkFixedMode::kShiftLogical;
  const bool largest = which.mode == OkkFixedMode::kMax || which.mode == OkkFixedMode::kMin;
  OkkFixedCmd cmd;
  cmd.mode = which.mode;
  cmd.batches = of.shape.n;
  cmd.lshift = in.size(Field::left_shift);
  cmd.rshift = shifts ? 0 : in.size(Field::right_shift);
  // A type code of the second operand that is none of an integer: it has that of the first.
  const bool own = in.value(Field::opd1_prec) == kOkkByte || in.value(Field::opd1_prec) == kOkkHalf;
  const Field second = own ? Field::opd1_prec : Field::opd0_prec;
  const bool is_signed = in.flag(Field::opd0_sign) || in.flag(Field::opd1_sign);
  cmd.a_type = packed_type(in, Field::opd0_prec, in.flag(Field::opd0_sign));
  cmd.b_type = packed_type(in, second, shifts || in.flag(Field::opd1_sign));
  cmd.dst_type = packed_type(in, Field::res0_prec,
                             shifts ? in.flag(Field::opd0_sign) : is_signed || which.mode == OkkFixedMode::kSub);
  cmd.old_signed = is_signed;
  const bool multiplies = which.mode == OkkFixedMode::kMul || which.mode == OkkFixedMode::kMac;
  if (multiplies && size_of(cmd.a_type) != 1) in.refuse(Field::opd0_prec, "is no type of 8 bits, which products need");
  if (largest && cmd.rshift != 0) in.refuse(Field::right_shift, "is no part of any function");
  if (shifts && size_of(cmd.a_type) != 2) in.refuse(Field::opd0_prec, "is no type of 16 bits, which shifts need");
  cmd.dst = packed_tensor(of, kOkkResult, of.shape, cmd.dst_type);
  cmd.a = packed_operand(of, kOkkFirst, Field::opd0_const, cmd.a_type);
  cmd.b = packed_operand(of, kOkkSecond, Field::opd1_const, cmd.b_type);
  return {which.op, cmd};
}

// Layers add bytes to nothing old and give bytes.
OkkByteEnd byte_end(const Operands& in, bool is_signed) {
  if (in.value(Field::res0_prec) != kOkkByte || in.value(Field::opd0_prec) != kOkkByte)
    in.refuse_results(Field::res0_prec, "or that of the first operand is no type of 8 bits");
  if (in.flag(Field::res_add))
    in.refuse_results(Field::res_add, "is set: layers of bytes do not add to their old result");
  const bool relu = in.flag(Field::relu);
  return {in.size(Field::right_shift), relu, is_signed && !relu ? Dtype::kInt8 : Dtype::kUint8};
}
Dtype byte_type(bool is_signed) { return is_signed ? Dtype::kInt8 : Dtype::kUint8; }
bool has_bias(const Operands& in) { return in.size(Field::tsk_opd_num) == kOperandsWithBias; }
Dtype bias_type(const Operands& in) { return in.flag(Field::opd2_sign) ? Dtype::kInt16 : Dtype::kUint16; }
std::optional<Tensor> bias_of(const OkkOperands& of) {
  if (!has_bias(of.in)) return std::nullopt;
  return of.in.tensor_at(of.local_address(Field::opd2_addr), {1, of.shape.c, 1, 1}, bias_type(of.in),
                         Layout::kPerChannel);
}
bool signed_sum(const Operands& in) {
  return in.flag(Field::opd0_sign) || in.flag(Field::opd1_sign) || (has_bias(in) && in.flag(Field::opd2_sign));
}
Tensor layer_input(const OkkOperands& of, int channels) {
  const Dim4 shape{of.shape.n, channels, of.in.size(Field::opd0_h), of.in.size(Field::opd0_w)};
  return packed_tensor(of, kOkkFirst, shape, Dtype::kUint8);
}

Issued packed_convolution(const OkkOperands& of) {
  const Operands& in = of.in;
  OkkByteConvCmd cmd;
  cmd.window = okk_window(in);
  cmd.batches = of.shape.n;
  cmd.input_channels = in.size(Field::opd0_c);
  cmd.end = byte_end(in, signed_sum(in));
  cmd.input_type = byte_type(in.flag(Field::opd0_sign));
  cmd.weight_type = byte_type(in.flag(Field::opd1_sign));
  cmd.output = packed_tensor(of, kOkkResult, of.shape, Dtype::kUint8);
  cmd.input = layer_input(of, cmd.input_channels);
  cmd.bias = bias_of(of);
  if (in.flag(Field::opd1_const)) {
    cmd.weight = in.constant(Field::opd1_addr, Dtype::kUint8);
    return {Op::okk_bdc_conv2d, cmd};
  }
  if (in.layout_of(kOkkSecond) != Layout::kGiven) in.refuse(Field::opd1_str, "gives the weights no strides");
  // The strides of the instruction count words: from one word of input channels to the next (that of N), an output
  // channel, a row and a tap of the kernel.
  const auto stride = [&](Field field) { return static_cast<int>(in.value(field)); };
  const Dim4 words{(cmd.input_channels + kBytesPerWord - 1) / kBytesPerWord, of.shape.c, cmd.window.kernel.h,
                   cmd.window.kernel.w};
  cmd.weight = Operands::local(
      of.local_address(Field::opd1_addr), words,
      {stride(Field::opd1_n_str), stride(Field::opd1_c_str), stride(Field::opd1_h_str), stride(Field::opd1_w_str)},
      Dtype::kUint32, false);
  return {Op::okk_bdc_conv2d, cmd};
}

Issued packed_window(const OkkOperands& of) {
  constexpr unsigned kMax = 4, kSum = 1;
  const Operands& in = of.in;
  OkkByteWindowCmd cmd;
  cmd.is_max = in.function() == kMax;
  if (!cmd.is_max && in.function() != kSum) in.refuse_function();
  cmd.window = okk_plain_window(in);
  cmd.batches = of.shape.n;
  const bool is_signed = cmd.is_max ? in.flag(Field::opd0_sign) : signed_sum(in);
  cmd.end = byte_end(in, is_signed);
  cmd.input_type = byte_type(in.flag(Field::opd0_sign));
  cmd.output = packed_tensor(of, kOkkResult, of.shape, Dtype::kUint8);
  cmd.input = layer_input(of, of.shape.c);
  if (cmd.is_max) {
    if (cmd.end.relu) in.refuse(Field::relu, "is set: what it does to a maximum is not known");
    cmd.end.rshift = 0;
    return {Op::okk_bdc_max_pool2d, cmd};
  }
  cmd.weight_type = byte_type(in.flag(Field::opd1_sign));
  cmd.bias = bias_of(of);
  if (in.flag(Field::opd1_const)) {
    cmd.weight = in.constant(Field::opd1_addr, Dtype::kUint8);
    return {Op::okk_bdc_avg_pool2d, cmd};
  }
  cmd.weight = in.tensor_at(of.local_address(Field::opd1_addr),
                            {1, of.shape.c, cmd.window.kernel.h, cmd.window.kernel.w}, Dtype::kUint8, Layout::kCompact);
  return {Op::okk_bdc_depthwise2d, cmd};
}

Issued packed_product(const OkkOperands& of) {
  const Operands& in = of.in;
  if (in.function() != 0) in.refuse_function();
  if (in.flag(Field::left_tran)) in.refuse(Field::left_tran, "is no part of any function");
  if (in.flag(Field::opd0_const) || in.flag(Field::opd1_const)) in.refuse(Field::opd0_const, "or the other is set");
  const int rows = in.size(Field::opd0_n);
  OkkByteMatmulCmd cmd;
  cmd.inner = extent(in.size(Field::opd0_w), in.size(Field::opd0_c) - 1, in.size(Field::opd1_w));
  cmd.cols = extent(of.shape.c, of.shape.w);
  cmd.end = byte_end(in, signed_sum(in));
  cmd.output = of.aligned(Field::res0_addr, {rows, of.shape.c, 1, of.shape.w}, cmd.end.type);
  cmd.left = of.aligned(Field::opd0_addr, {rows, in.size(Field::opd0_c), 1, in.size(Field::opd0_w)},
                        byte_type(in.flag(Field::opd0_sign)));
  cmd.right =
      of.aligned(Field::opd1_addr, {cmd.inner, of.shape.c, 1, of.shape.w}, byte_type(in.flag(Field::opd1_sign)));
  if (has_bias(in)) cmd.bias = of.aligned(Field::opd2_addr, {1, of.shape.c, 1, of.shape.w}, bias_type(in));
  return {Op::okk_bdc_matmul, cmd};
}

}  // namespace

Issued okk_packed(const OkkOperands& of) {
  switch (of.in.operation()) {
    case 0: return packed_convolution(of);
    case 1: return packed_window(of);
    case 2: return packed_product(of);
    case 3:
    case 8: return packed_arithmetic(of);
    default: of.in.refuse_function();
  }
}

}  // namespace softtpu::stream
