// TIU operations with sums of products and windows: MM, MM2, CONV, PorD.
#include <cstdint>

#include "device/instruction/products.hpp"
#include "device/isa/op_names.hpp"

namespace softtpu::stream {

Issued convolution(const Operands& in) {
  if (ends_products(in)) return ended_convolution(in);
  const Dtype type = in.type(Field::opd0_prec, in.flag(Field::opd0_sign));
  const Dim4 result = in.result_shape();
  const Dim4 input{result.n, in.size(Field::opd0_c), in.size(Field::opd0_h), in.size(Field::opd0_w)};
  constexpr TiuOperand kInput{Field::opd0_addr,  Field::opd0_prec,  Field::opd0_str,  Field::opd0_n_str,
                              Field::opd0_c_str, Field::opd0_h_str, Field::opd0_w_str};
  const bool floats = is_float(type);
  const bool symmetric = in.function() != 0;
  const bool relu = in.function() == 2;

  Conv2dCmd cmd;
  cmd.kind = floats ? Conv2dKind::kFloat : symmetric ? Conv2dKind::kSymmetric : Conv2dKind::kAsymmetric;
  cmd.window = window_of(in);
  Dim4 seen = input;
  fit_input(result, seen, cmd.window);
  // The third operand is a bias, which may be missing, or the kernel's zero point.
  const bool third_sign = in.flag(Field::opd2_sign) && !(symmetric && in.flag(Field::opd2_const));
  const bool sign = in.flag(Field::opd0_sign) || in.flag(Field::opd1_sign) || third_sign;
  cmd.dst = in.tensor(Field::res0_addr, result, in.type(Field::res0_prec, sign && !relu));
  cmd.src = reached(in.tensor(kInput, input, type), seen);
  cmd.add_old = in.flag(Field::res_add);
  cmd.relu = relu;

  const Dtype weight_type = floats ? type : in.flag(Field::opd1_sign) ? Dtype::kInt8 : Dtype::kUint8;
  if (in.flag(Field::opd1_const)) {
    cmd.weight = in.constant(Field::opd1_addr, weight_type);
  } else {
    const int group = weight_group(in.chip(), weight_type);
    const auto units = static_cast<int>(ceil_div(input.c, group) * cmd.window.taps());
    cmd.weight = in.tensor(Field::opd1_addr, {1, result.c, units, group}, weight_type, Layout::kCompact);
  }
  const auto per_output = [&](Dtype of) {
    return Operands::local(in.value(Field::opd2_addr), Dim4{1, result.c, 1, 1}, Stride4{0, 1, 0, 0}, of, false);
  };
  if (cmd.kind == Conv2dKind::kAsymmetric) {
    const Dtype zero_type = in.flag(Field::opd2_sign) ? Dtype::kInt8 : Dtype::kUint8;
    cmd.zero_point =
        in.flag(Field::opd2_const) ? Operand(in.constant(Field::opd2_addr, zero_type)) : Operand(per_output(zero_type));
    if (in.flag(Field::opd3_const)) {
      cmd.padding = in.constant(Field::opd3_addr, type);
      cmd.insertion = in.constant(Field::res1_addr, type);
    } else {
      cmd.padding = channel_pairs(in, input.c, type);
    }
    return {Op::tpu_bdc_int8_asym_quant_conv2d_for_deconv2d, cmd};
  }
  cmd.bias_type = floats ? Dtype::kFp32 : in.flag(Field::opd2_sign) ? Dtype::kInt16 : Dtype::kUint16;
  if (!in.flag(Field::opd2_const)) cmd.bias = per_output(cmd.bias_type);
  if (floats) return {Op::tpu_bdc_fp_conv2d_for_deconv2d, cmd};
  cmd.rshift = low_byte(in.value(Field::opd3_addr));
  return {Op::tpu_bdc_int8_sym_quant_conv2d_for_deconv2d, cmd};
}

// ---- matrix products ----

Issued matrix_product(const Operands& in) {
  if (ends_products(in)) return ended_matrix_product(in);
  const bool trans = in.flag(Field::left_tran);
  const Dtype left_type = in.type(Field::opd0_prec, in.flag(Field::opd0_sign));
  const Dtype right_type = in.type(Field::opd0_prec, in.flag(Field::opd1_sign));
  const int stored_rows = in.size(Field::opd0_n);
  const int stored_cols = extent(in.size(Field::opd0_w), in.size(Field::opd0_c) - 1, in.size(Field::opd1_w));

  MatMulCmd cmd;
  cmd.left_trans = trans;
  cmd.rows = trans ? stored_cols : stored_rows;
  cmd.inner = trans ? stored_rows : stored_cols;
  cmd.cols = extent(in.size(Field::res0_c), in.size(Field::res0_w));
  const auto spread = [&](Field addr, int rows, Dtype type) {
    return in.tensor(addr, {rows, in.size(Field::res0_c), 1, in.size(Field::res0_w)}, type);
  };
  if (in.flag(Field::opd0_const)) {
    cmd.left = in.constant(Field::opd0_addr, left_type);
  } else {
    cmd.left = in.tensor(Field::opd0_addr, {stored_rows, in.size(Field::opd0_c), 1, in.size(Field::opd0_w)}, left_type);
  }
  cmd.right = spread(Field::opd1_addr, cmd.inner, right_type);
  const bool has_third = !in.flag(Field::opd2_const);

  if (in.function() == 1 && left_type == Dtype::kFp32) {
    cmd.kind = MatMulKind::kFp32;
    cmd.dst = spread(Field::res0_addr, cmd.rows, Dtype::kFp32);
    if (has_third) cmd.bias = spread(Field::opd2_addr, 1, Dtype::kFp32);
    if (in.flag(Field::res_add)) cmd.old = spread(Field::res0_addr, cmd.rows, Dtype::kFp32);
    return {trans ? Op::tpu_bdc_fp32_mm_L_trans : Op::tpu_bdc_fp32_mm, cmd};
  }
  const bool sign = is_signed_int(left_type) || is_signed_int(right_type);
  if (in.function() == 1) {
    cmd.kind = MatMulKind::kInt;
    cmd.rounding = in.rounding(in.value(Field::opd2_n_str));
    cmd.dst = spread(Field::res0_addr, cmd.rows, sign ? Dtype::kInt32 : Dtype::kUint32);
    // Products of 32 bits replace what was there (golden-bmodel mm/0141), narrower ones add to a part of it.
    if (in.flag(Field::res_add) && size_of(left_type) < 4) in.refuse(Field::res_add, "is no part of this product");
    if (has_third) {
      cmd.shift = spread(Field::opd2_addr, 1, Dtype::kInt8);
    } else {
      const auto amount = static_cast<std::int8_t>(in.value(Field::opd2_addr));
      cmd.shift = Scalar{static_cast<std::uint32_t>(amount), Dtype::kInt8};
    }
    return {trans ? Op::tpu_bdc_int_mm_L_trans : Op::tpu_bdc_int_mm, cmd};
  }
  cmd.kind = MatMulKind::kInt8;
  cmd.lshift = low_byte(in.value(Field::opd3_addr));
  cmd.rshift = low_byte(in.value(Field::opd3_addr) >> 8);
  cmd.relu = in.function() == 3;
  const bool old_sign = sign || (has_third && in.flag(Field::opd2_sign));
  cmd.dst = spread(Field::res0_addr, cmd.rows, in.type(Field::res0_prec, old_sign && !cmd.relu));
  if (has_third) cmd.bias = spread(Field::opd2_addr, 1, in.flag(Field::opd2_sign) ? Dtype::kInt16 : Dtype::kUint16);
  if (in.flag(Field::res_add)) {
    cmd.old = spread(Field::res0_addr, cmd.rows, old_sign ? Dtype::kInt16 : Dtype::kUint16);
  }
  return {trans ? Op::tpu_bdc_int8_mm_L_trans : Op::tpu_bdc_int8_mm, cmd};
}

Issued row_product(const Operands& in) {
  if (ends_products(in)) return ended_row_product(in);
  const bool all = in.function() == 6;
  const bool right_trans = in.function() != 4;
  const Dtype left_type = in.type(Field::opd0_prec, in.flag(Field::opd0_sign));
  const Dtype right_type = in.type(Field::opd0_prec, in.flag(Field::opd1_sign));
  const int stored_rows = in.size(Field::res0_c);
  const int stored_cols = in.size(Field::res0_w);

  MatMulCmd cmd;
  cmd.kind = is_float(left_type) ? MatMulKind::kFpGroup : MatMulKind::kInt8Zp;
  cmd.left_trans = cmd.dst_trans = all;
  cmd.right_trans = right_trans;
  cmd.rows = all ? stored_cols : stored_rows;
  cmd.cols = all ? stored_rows : stored_cols;
  cmd.inner = in.size(right_trans ? Field::opd1_w : Field::opd1_c);
  const auto matrix = [&](Field addr, int rows, int cols, bool transposed, Dtype type) {
    return in.tensor(addr, transposed ? Dim4{1, cols, 1, rows} : Dim4{1, rows, 1, cols}, type);
  };
  const auto side = [&](Field addr, Field is_constant, int rows, int cols, bool transposed, Dtype type) -> Operand {
    if (in.flag(is_constant)) return in.constant(addr, type);
    return matrix(addr, rows, cols, transposed, type);
  };
  cmd.left = side(Field::opd0_addr, Field::opd0_const, cmd.rows, cmd.inner, all, left_type);
  cmd.right = side(Field::opd1_addr, Field::opd1_const, cmd.inner, cmd.cols, right_trans, right_type);
  const bool floats = is_float(left_type);
  const Dtype result = floats ? in.type(Field::res0_prec, true) : Dtype::kInt32;
  cmd.dst = matrix(Field::res0_addr, cmd.rows, cmd.cols, all, result);
  if (in.flag(Field::res_add)) {
    cmd.old = matrix(Field::res0_addr, cmd.rows, cmd.cols, all, floats ? Dtype::kFp32 : Dtype::kInt32);
  }
  if (!floats) {
    const int channels = right_trans ? cmd.cols : cmd.inner;
    if (in.flag(Field::opd2_const)) {
      cmd.zero_point = in.constant(Field::opd2_addr, right_type);
    } else if (all) {
      cmd.zero_point =
          Operands::local(in.value(Field::opd2_addr), Dim4{1, channels, 1, 1}, Stride4{0, 1, 0, 0}, right_type, false);
    } else {
      cmd.zero_point = Operands::local(in.value(Field::opd2_addr), Dim4{1, channels, 1, cmd.cols}, Stride4{0, 0, 0, 1},
                                       right_type, false);
    }
  }
  constexpr Op kFloatOps[] = {Op::tpu_bdc_fp_mm, Op::tpu_bdc_fp_mm_R_trans, Op::tpu_bdc_fp_mm_all_trans};
  constexpr Op kIntOps[] = {Op::tpu_bdc_int8_zp_mm, Op::tpu_bdc_int8_zp_mm_R_trans, Op::tpu_bdc_int8_zp_mm_all_trans};
  return {(floats ? kFloatOps : kIntOps)[in.function() - 4], cmd};
}

// ---- pooling and depthwise convolution ----

PoolMode pool_mode(const Operands& in) {
  switch (in.function()) {
    case 0:
    case 2:
    case 5: return PoolMode::kDepthwise;
    case 1:
    case 6: return PoolMode::kAverage;
    case 4:
    case 7: return PoolMode::kMax;
    case 3:
    case 8: return PoolMode::kMin;
    default: in.refuse_function();
  }
}

// The weights of a depthwise convolution, or the factor of an average.
Operand pool_weight(const Operands& in, PoolMode mode, const Dim4& result, Dtype type) {
  const Dtype weight_type = is_float(type)               ? type
                            : mode == PoolMode::kAverage ? Dtype::kUint8
                            : in.flag(Field::opd1_sign)  ? Dtype::kInt8
                                                         : Dtype::kUint8;
  if (!is_sum(mode)) return Scalar{};
  if (in.flag(Field::opd1_const)) return in.constant(Field::opd1_addr, weight_type);
  return in.tensor(Field::opd1_addr, {1, result.c, in.size(Field::opd1_h), in.size(Field::opd1_w)}, weight_type,
                   Layout::kCompact);
}

Issued region_pooling(const Operands& in, PoolMode mode) {
  const Dtype type = in.type(Field::opd0_prec, in.flag(Field::opd0_sign));
  const Dim4 result = in.result_shape();
  RoiPoolCmd cmd;
  cmd.mode = mode;
  cmd.kernel = {in.size(Field::opd1_h), in.size(Field::opd1_w)};
  const bool sign = in.flag(Field::opd0_sign) || (mode == PoolMode::kDepthwise && in.flag(Field::opd1_sign));
  cmd.dst = in.tensor(Field::res0_addr, result, in.result_type(sign));
  cmd.src = in.tensor(Field::opd0_addr, {result.n, result.c, in.size(Field::opd0_h), in.size(Field::opd0_w)}, type);
  cmd.regions =
      Operands::local(in.value(Field::opd3_addr), Dim4{1, result.w, 1, 4}, Stride4{0, 4, 0, 1}, Dtype::kInt16, false);
  cmd.weight = pool_weight(in, mode, result, type);
  cmd.outside = in.constant(Field::opd2_addr, type);
  const bool floats = is_float(type);
  switch (mode) {
    case PoolMode::kAverage: return {floats ? Op::tpu_bdc_fp_roi_avg_pool2d : Op::tpu_bdc_int8_roi_avg_pool2d, cmd};
    case PoolMode::kDepthwise: return {floats ? Op::tpu_bdc_fp_roi_depthwise2d : Op::tpu_bdc_int8_roi_depthwise2d, cmd};
    case PoolMode::kMin: return {floats ? Op::tpu_bdc_fp_roi_min_pool2d : Op::tpu_bdc_int8_roi_min_pool2d, cmd};
    default: return {floats ? Op::tpu_bdc_fp_roi_max_pool2d : Op::tpu_bdc_int8_roi_max_pool2d, cmd};
  }
}

Issued pooling(const Operands& in) {
  if (ends_products(in)) return ended_pooling(in);
  const PoolMode mode = pool_mode(in);
  if (in.function() >= 5) return region_pooling(in, mode);
  const Dtype type = in.type(Field::opd0_prec, in.flag(Field::opd0_sign));
  const Dim4 result = in.result_shape();
  const Dim4 input{result.n, result.c, in.size(Field::opd0_h), in.size(Field::opd0_w)};
  const bool floats = is_float(type);

  PoolCmd cmd;
  cmd.mode = mode;
  cmd.window = window_of(in);
  require_own_width(in, result, input, cmd.window, mode == PoolMode::kDepthwise && !floats);
  // The first windows see repeated rows or columns alone, which is recorded otherwise (golden-bmodel pord/0179).
  const Window& window = cmd.window;
  const bool beside = (input.h > 1 && window.padding.top > (window.kernel.h - 1) * window.dilation.h) ||
                      (input.w > 1 && window.padding.left > (window.kernel.w - 1) * window.dilation.w);
  if (window.beyond == Beyond::kReplicated && beside)
    in.refuse(Field::pad_mode, "repeats the input in windows that lie beside it, which is not determined");
  Dim4 seen = input;
  fit_input(result, seen, cmd.window);
  cmd.relu = in.function() == 2;
  const bool depthwise = mode == PoolMode::kDepthwise;
  const bool sign =
      in.flag(Field::opd0_sign) ||
      (depthwise && (in.flag(Field::opd1_sign) || (in.flag(Field::opd2_sign) && !in.flag(Field::opd2_const))));
  cmd.dst = in.tensor(Field::res0_addr, result, in.type(Field::res0_prec, sign && !cmd.relu));
  cmd.src = reached(in.tensor(Field::opd0_addr, input, type), seen);
  cmd.weight = pool_weight(in, mode, result, type);
  if (in.flag(Field::opd3_const)) {
    cmd.padding = in.constant(Field::opd3_addr, type);
    cmd.insertion = Scalar{0, type};
  } else {
    cmd.padding = channel_pairs(in, input.c, type);
  }
  if (!floats) {
    cmd.rshift = low_byte(depthwise ? in.value(Field::res1_addr) >> 8 : in.value(Field::opd2_addr));
    // Averages round ties up, whatever code stands there (golden-bmodel pord/0047, pord/0055).
    cmd.rounding = depthwise ? in.rounding(in.value(Field::opd2_n_str)) : Rounding::kHalfUp;
  }
  if (depthwise && !in.flag(Field::opd2_const)) {
    cmd.bias_type = in.flag(Field::opd2_sign) ? Dtype::kInt32 : Dtype::kUint32;
    cmd.bias = in.per_channel(Field::opd2_addr, {1, result.c, 1, 1}, floats ? type : cmd.bias_type);
  }
  switch (mode) {
    case PoolMode::kAverage: return {floats ? Op::tpu_bdc_fp_ins_avg_pool2d : Op::tpu_bdc_int8_ins_avg_pool2d, cmd};
    case PoolMode::kDepthwise:
      return {floats ? Op::tpu_bdc_fp_depthwise_for_deconv2d : Op::tpu_bdc_int8_depthwise_for_deconv2d, cmd};
    default: return {floats ? Op::tpu_bdc_fp_max_pool2d : Op::tpu_bdc_int8_max_pool2d, cmd};
  }
}

}  // namespace softtpu::stream
