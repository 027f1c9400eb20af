// TIU products that end themselves: zero points, requantisation and factors come from registers that are written
// before.
#include <bit>
#include <cstdint>
#include <optional>

#include "device/instruction/products.hpp"
#include "device/isa/op_names.hpp"

namespace softtpu::stream {
namespace {

constexpr int kPointRegister = 5, kFactorRegister = 6, kShiftRegister = 32, kOffsetRegister = 33;

// The end of a sum of 8-bit products; nullopt: it is only saturated.
std::optional<Requant> requant_of(const Operands& in, int channels) {
  if (!in.flag(Field::rq)) return std::nullopt;
  Requant requant;
  requant.rounding = in.rounding(in.value(Field::opd2_n_str));
  const std::uint32_t factor = in.register_value(kFactorRegister);
  if (in.flag(Field::opd5_const)) {
    requant.multiplier = static_cast<std::int32_t>(factor);
    requant.shift = static_cast<int>((in.register_value(kShiftRegister) & 0xFFU) ^ 0x80U) - 0x80;  // a signed byte
    requant.offset = static_cast<std::int16_t>(in.register_value(kOffsetRegister));
  } else {
    requant.table = in.tensor_at(factor, {1, channels, 1, 2}, Dtype::kInt32, Layout::kCompact);
  }
  return requant;
}

// A zero point that stands for all channels is a byte without a sign.
Scalar constant_point(const Operands& in) { return {in.register_value(kPointRegister) & 0xFFU, Dtype::kUint8}; }

// An f32 factor of results that are floats: one, or those at the register's address.
std::optional<Operand> rescale_of(const Operands& in, const Dim4& shape, const Stride4& stride) {
  if (!in.flag(Field::rq)) return std::nullopt;
  const std::uint32_t factor = in.register_value(kFactorRegister);
  if (in.flag(Field::opd5_const)) return Scalar{factor, Dtype::kFp32};
  return Operands::local(factor, shape, stride, Dtype::kFp32, false);
}

Dtype integer_bias(const Operands& in) { return in.flag(Field::opd2_sign) ? Dtype::kInt32 : Dtype::kUint32; }

Op requantising_op(bool table, bool points) {
  if (table) return points ? Op::tpu_bdc_conv2d_requant_pc_asym_pc : Op::tpu_bdc_conv2d_requant_pc_asym_C;
  return points ? Op::tpu_bdc_conv2d_requant_C_asym_pc : Op::tpu_bdc_conv2d_requant_C_asym_C;
}

}  // namespace

Issued ended_convolution(const Operands& in) {
  constexpr TiuOperand kInput{Field::opd0_addr,  Field::opd0_prec,  Field::opd0_str,  Field::opd0_n_str,
                              Field::opd0_c_str, Field::opd0_h_str, Field::opd0_w_str};
  if (in.function() != 0) in.refuse_function();
  const Dtype type = in.type(Field::opd0_prec, in.flag(Field::opd0_sign));
  const Dtype weight_type = in.type(Field::opd1_prec, in.flag(Field::opd1_sign));
  const Dim4 result = in.result_shape();
  const Dim4 input{result.n, in.size(Field::opd0_c), in.size(Field::opd0_h), in.size(Field::opd0_w)};
  const bool floats = is_float(type);

  Conv2dCmd cmd;
  cmd.kind = floats ? Conv2dKind::kFloat : Conv2dKind::kRequantised;
  cmd.window = window_of(in);
  Dim4 seen = input;
  fit_input(result, seen, cmd.window);
  cmd.dst = in.tensor(Field::res0_addr, result, in.type(Field::res0_prec, in.flag(Field::res0_sign)));
  cmd.src = reached(in.tensor(kInput, input, type), seen);
  cmd.add_old = in.flag(Field::res_add);
  cmd.relu = in.flag(Field::relu);
  if (in.flag(Field::opd1_const)) {
    cmd.weight = in.constant(Field::opd1_addr, weight_type);
  } else {
    const int group = weight_group(in.chip(), weight_type);
    const auto units = static_cast<int>(ceil_div(input.c, group) * cmd.window.taps());
    cmd.weight = in.tensor(Field::opd1_addr, {1, result.c, units, group}, weight_type, Layout::kCompact);
  }
  const auto per_output = [&](std::uint64_t at, Dtype of) {
    return Operands::local(at, Dim4{1, result.c, 1, 1}, Stride4{0, 1, 0, 0}, of, false);
  };
  if (floats) {
    // Where the third operand has a type, it is that of the bias.
    cmd.bias_type = in.has(Field::opd2_prec) ? in.type(Field::opd2_prec, true) : Dtype::kFp32;
    if (!in.flag(Field::opd2_const)) cmd.bias = per_output(in.value(Field::opd2_addr), cmd.bias_type);
    cmd.rescale = rescale_of(in, {1, result.c, 1, 1}, {0, 1, 0, 0});
    const bool plain = !is_fp8(type) && !cmd.rescale && cmd.bias_type == Dtype::kFp32;
    return {plain && cmd.relu                                             ? Op::tpu_bdc_fp_conv2d_with_relu
            : plain                                                       ? Op::tpu_bdc_fp_conv2d_for_deconv2d
            : cmd.rescale && std::holds_alternative<Tensor>(*cmd.rescale) ? Op::tpu_bdc_fp_conv2d_rescale_pc
                                                                          : Op::tpu_bdc_fp_conv2d_rescale_C,
            cmd};
  }
  // Sums that nothing ends.
  if (!in.flag(Field::rq) && in.flag(Field::opd2_const) && !cmd.relu && size_of(cmd.dst.dtype) > 1)
    cmd.kind = Conv2dKind::kAsymmetric;
  cmd.bias_type = integer_bias(in);
  if (!in.flag(Field::opd2_const)) cmd.bias = per_output(in.value(Field::opd2_addr), cmd.bias_type);
  const bool points = !in.flag(Field::opd4_const);
  cmd.zero_point =
      points ? Operand(per_output(in.register_value(kPointRegister), Dtype::kInt16)) : Operand(constant_point(in));
  if (in.flag(Field::opd3_const)) {
    cmd.padding = in.constant(Field::opd3_addr, type);
    cmd.insertion = in.constant(Field::res1_addr, type);
  } else {
    cmd.padding = channel_pairs(in, input.c, type);
  }
  cmd.requant = requant_of(in, result.c);
  cmd.symmetric = in.flag(Field::sym_range);
  if (cmd.kind == Conv2dKind::kAsymmetric) {
    return {
        points ? Op::tpu_bdc_int8_asym_pc_quant_conv2d_for_deconv2d : Op::tpu_bdc_int8_asym_quant_conv2d_for_deconv2d,
        cmd};
  }
  return {requantising_op(cmd.requant && cmd.requant->table, points), cmd};
}

Issued ended_matrix_product(const Operands& in) {
  if (in.function() != 1) in.refuse_function();
  const bool trans = in.flag(Field::left_tran);
  const Dtype left_type = in.type(Field::opd0_prec, in.flag(Field::opd0_sign));
  const Dtype right_type = in.type(Field::opd0_prec, in.flag(Field::opd1_sign));
  const int stored_rows = in.size(Field::opd0_n);
  const int stored_cols = extent(in.size(Field::opd0_w), in.size(Field::opd0_c) - 1, in.size(Field::opd1_w));
  const auto spread = [&](Field addr, int rows, Dtype type) {
    return in.tensor(addr, {rows, in.size(Field::res0_c), 1, in.size(Field::res0_w)}, type);
  };

  MatMulCmd cmd;
  cmd.left_trans = trans;
  cmd.rows = trans ? stored_cols : stored_rows;
  cmd.inner = trans ? stored_rows : stored_cols;
  cmd.cols = extent(in.size(Field::res0_c), in.size(Field::res0_w));
  if (in.flag(Field::opd0_const)) {
    cmd.left = in.constant(Field::opd0_addr, left_type);
  } else {
    cmd.left = in.tensor(Field::opd0_addr, {stored_rows, in.size(Field::opd0_c), 1, in.size(Field::opd0_w)}, left_type);
  }
  cmd.right = spread(Field::opd1_addr, cmd.inner, right_type);
  cmd.relu = in.flag(Field::relu);
  const bool has_third = !in.flag(Field::opd2_const);
  if (is_float(left_type)) {
    if (left_type != Dtype::kFp32) in.refuse(Field::opd0_prec, "is no type of this product");
    cmd.kind = MatMulKind::kFp32;
    cmd.dst = spread(Field::res0_addr, cmd.rows, Dtype::kFp32);
    if (has_third) cmd.bias = spread(Field::opd2_addr, 1, Dtype::kFp32);
    if (in.flag(Field::res_add)) cmd.old = spread(Field::res0_addr, cmd.rows, Dtype::kFp32);
    return {trans ? Op::tpu_bdc_fp32_mm_L_trans : Op::tpu_bdc_fp32_mm, cmd};
  }
  const Dtype result = in.type(Field::res0_prec, in.flag(Field::res0_sign));
  cmd.dst = spread(Field::res0_addr, cmd.rows, result);
  if (in.flag(Field::rq) || size_of(result) < 4) {
    // The functions that end a sum shift it twice: a power of two as the multiplier is the first of these shifts.
    const std::uint32_t factor = in.flag(Field::rq) ? in.register_value(kFactorRegister) : 1;
    const auto shift = in.flag(Field::rq) ? static_cast<std::int8_t>(in.register_value(kShiftRegister)) : 0;
    if (!std::has_single_bit(factor) || shift > 0) in.refuse(Field::rq, "has a factor or shift that no function has");
    cmd.kind = MatMulKind::kInt8;
    cmd.lshift = std::countr_zero(factor);
    cmd.rshift = -shift;
    if (has_third) cmd.bias = spread(Field::opd2_addr, 1, integer_bias(in));
    return {trans ? Op::tpu_bdc_int8_mm_L_trans : Op::tpu_bdc_int8_mm, cmd};
  }
  cmd.kind = MatMulKind::kInt;
  cmd.rounding = in.rounding(in.value(Field::opd2_n_str));
  if (in.flag(Field::res_add) && size_of(left_type) < 4) in.refuse(Field::res_add, "is no part of this product");
  if (has_third) {
    cmd.shift = spread(Field::opd2_addr, 1, Dtype::kInt8);
  } else {
    const auto amount = static_cast<std::int8_t>(in.value(Field::opd2_addr));
    cmd.shift = Scalar{static_cast<std::uint32_t>(amount), Dtype::kInt8};
  }
  return {trans ? Op::tpu_bdc_int_mm_L_trans : Op::tpu_bdc_int_mm, cmd};
}

Issued ended_row_product(const Operands& in) {
  if (in.function() > 6) in.refuse_function();
  const bool all = in.function() == 6;
  const bool right_trans = in.function() != 4;
  const Dtype left_type = in.type(Field::opd0_prec, in.flag(Field::opd0_sign));
  const Dtype right_type = in.type(Field::opd1_prec, in.flag(Field::opd1_sign));
  const int stored_rows = in.size(Field::res0_c);
  const int stored_cols = in.size(Field::res0_w);
  const bool floats = is_float(left_type);

  MatMulCmd cmd;
  cmd.kind = floats ? MatMulKind::kFpGroup : MatMulKind::kInt8Zp;
  cmd.left_trans = cmd.dst_trans = all;
  cmd.right_trans = right_trans;
  cmd.rows = all ? stored_cols : stored_rows;
  cmd.cols = all ? stored_rows : stored_cols;
  cmd.inner = in.size(right_trans ? Field::opd1_w : Field::opd1_c);
  cmd.relu = in.flag(Field::relu);
  const auto matrix = [&](Field addr, int rows, int cols, bool transposed, Dtype type) {
    return in.tensor(addr, transposed ? Dim4{1, cols, 1, rows} : Dim4{1, rows, 1, cols}, type);
  };
  const auto side = [&](Field addr, Field is_constant, int rows, int cols, bool transposed, Dtype type) -> Operand {
    if (in.flag(is_constant)) return in.constant(addr, type);
    return matrix(addr, rows, cols, transposed, type);
  };
  cmd.left = side(Field::opd0_addr, Field::opd0_const, cmd.rows, cmd.inner, all, left_type);
  cmd.right = side(Field::opd1_addr, Field::opd1_const, cmd.inner, cmd.cols, right_trans, right_type);
  cmd.dst = matrix(Field::res0_addr, cmd.rows, cmd.cols, all, in.type(Field::res0_prec, in.flag(Field::res0_sign)));
  if (in.flag(Field::res_add))
    cmd.old = matrix(Field::res0_addr, cmd.rows, cmd.cols, all, floats ? Dtype::kFp32 : cmd.dst.dtype);
  // A row of values on the NPU of each row of the result, or one value for each channel of a transposed one.
  const auto of_rows = [&](std::uint64_t at, int rows, Dtype type) {
    if (all) return Operands::local(at, Dim4{1, cmd.cols, 1, 1}, Stride4{0, 1, 0, 0}, type, false);
    return Operands::local(at, Dim4{1, rows, 1, cmd.cols}, Stride4{0, 0, 0, 1}, type, false);
  };
  if (floats) {
    const Dtype bias = in.has(Field::opd2_prec) ? in.type(Field::opd2_prec, true) : Dtype::kFp32;
    const bool has_bias = !in.flag(Field::opd2_const) || (in.value(Field::opd2_addr) & 0xFFFFFFFFU) != 0;
    if (has_bias && in.flag(Field::opd2_const)) cmd.bias = in.constant(Field::opd2_addr, bias);
    if (has_bias && !in.flag(Field::opd2_const)) cmd.bias = of_rows(in.value(Field::opd2_addr), cmd.rows, bias);
    if (all) {
      cmd.rescale = rescale_of(in, {1, cmd.cols, 1, 1}, {0, 1, 0, 0});
    } else {
      cmd.rescale = rescale_of(in, {1, cmd.rows, 1, cmd.cols}, {0, 0, 0, 1});
    }
    constexpr Op kOps[2][2][3] = {
        {{Op::tpu_bdc_fp_mm, Op::tpu_bdc_fp_mm_R_trans, Op::tpu_bdc_fp_mm_all_trans},
         {Op::tpu_bdc_fp_mm_with_bias, Op::tpu_bdc_fp_mm_R_trans_with_bias, Op::tpu_bdc_fp_mm_all_trans_with_bias}},
        {{Op::tpu_bdc_fp8_mm, Op::tpu_bdc_fp8_mm_R_trans, Op::tpu_bdc_fp8_mm_all_trans},
         {Op::tpu_bdc_fp8_mm_with_bias, Op::tpu_bdc_fp8_mm_R_trans_with_bias, Op::tpu_bdc_fp8_mm_all_trans_with_bias}}};
    const bool narrow = is_fp8(left_type) || cmd.rescale;
    return {kOps[narrow ? 1 : 0][has_bias || cmd.relu ? 1 : 0][in.function() - 4], cmd};
  }
  const int point_channels = all ? cmd.cols : cmd.inner;
  if (in.flag(Field::opd4_const)) {
    cmd.zero_point = constant_point(in);
  } else if (all) {
    cmd.zero_point = Operands::local(in.register_value(kPointRegister), Dim4{1, point_channels, 1, 1},
                                     Stride4{0, 1, 0, 0}, Dtype::kInt16, false);
  } else {
    cmd.zero_point = Operands::local(in.register_value(kPointRegister), Dim4{1, point_channels, 1, cmd.cols},
                                     Stride4{0, 0, 0, 1}, Dtype::kInt16, false);
  }
  if (!in.flag(Field::opd2_const)) {
    cmd.bias = of_rows(in.value(Field::opd2_addr), cmd.rows, integer_bias(in));
  }
  cmd.requant = requant_of(in, cmd.dst.shape.c);
  cmd.symmetric = in.flag(Field::sym_range);
  if (cmd.requant || cmd.bias || cmd.relu || cmd.dst.dtype != Dtype::kInt32) return {Op::tpu_bdc_quant_mm, cmd};
  constexpr Op kIntOps[] = {Op::tpu_bdc_int8_zp_mm, Op::tpu_bdc_int8_zp_mm_R_trans, Op::tpu_bdc_int8_zp_mm_all_trans};
  return {kIntOps[in.function() - 4], cmd};
}

Issued ended_pooling(const Operands& in) {
  const PoolMode mode = pool_mode(in);
  if (in.function() >= 5) return region_pooling(in, mode);
  const Dtype type = in.type(Field::opd0_prec, in.flag(Field::opd0_sign));
  const Dim4 result = in.result_shape();
  const Dim4 input{result.n, result.c, in.size(Field::opd0_h), in.size(Field::opd0_w)};
  const bool floats = is_float(type);
  const bool depthwise = mode == PoolMode::kDepthwise;

  PoolCmd cmd;
  cmd.mode = mode;
  cmd.window = window_of(in);
  require_own_width(in, result, input, cmd.window, mode == PoolMode::kDepthwise && !floats);
  Dim4 seen = input;
  fit_input(result, seen, cmd.window);
  cmd.relu = in.flag(Field::relu) && is_sum(mode);
  cmd.dst = in.tensor(Field::res0_addr, result, in.type(Field::res0_prec, in.flag(Field::res0_sign)));
  cmd.src = reached(in.tensor(Field::opd0_addr, input, type), seen);
  cmd.weight = pool_weight(in, mode, result, type);
  if (in.flag(Field::opd3_const)) {
    cmd.padding = in.constant(Field::opd3_addr, type);
    // What is inserted is what stands around (golden bm1688: new_pool).
    cmd.insertion = floats ? Scalar{0, type} : std::get<Scalar>(cmd.padding);
  } else {
    cmd.padding = channel_pairs(in, input.c, type);
  }
  cmd.symmetric = in.flag(Field::sym_range);
  if (depthwise && !in.flag(Field::opd2_const)) {
    cmd.bias_type = integer_bias(in);
    cmd.bias = in.per_channel(Field::opd2_addr, {1, result.c, 1, 1}, floats ? type : cmd.bias_type);
  }
  if (cmd.sums_integers()) {
    cmd.rounding = in.rounding(in.value(Field::opd2_n_str));
    const auto requant = requant_of(in, result.c);
    // A shift to the right alone is what most functions have.
    const bool shifts =
        requant && !requant->table && requant->multiplier == 1 && requant->shift <= 0 && requant->offset == 0;
    if (shifts) {
      cmd.rshift = -requant->shift;
    } else {
      cmd.requant = requant;
    }
  } else if (floats && in.flag(Field::rq)) {
    if (!in.flag(Field::opd5_const)) in.refuse(Field::opd5_const, "is 0: factors lie in memory");
    cmd.rescale = Scalar{in.register_value(kFactorRegister), Dtype::kFp32};
  }
  switch (mode) {
    case PoolMode::kAverage:
      if (is_fp8(type)) return {Op::tpu_bdc_fp8_avg_pool2d, cmd};
      return {floats ? Op::tpu_bdc_fp_ins_avg_pool2d : Op::tpu_bdc_int8_ins_avg_pool2d, cmd};
    case PoolMode::kDepthwise:
      if (floats) return {Op::tpu_bdc_fp_depthwise_for_deconv2d, cmd};
      return {cmd.requant ? Op::tpu_bdc_depthwise2d_requant_pc_asym_C : Op::tpu_bdc_int8_depthwise_for_deconv2d, cmd};
    case PoolMode::kMin: return {floats ? Op::tpu_bdc_fp_min_pool2d : Op::tpu_bdc_int8_min_pool2d, cmd};
    default: return {floats ? Op::tpu_bdc_fp_max_pool2d : Op::tpu_bdc_int8_max_pool2d, cmd};
  }
}

}  // namespace softtpu::stream
