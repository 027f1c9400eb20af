// Rules of convolutions (numerics: bm1684x-matmul-conv-pool.md section 6; golden bm1684x/mm_conv_pool_limits).
#include <fmt/format.h>

#include <utility>

#include "device/chip/layout.hpp"
#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/command/instruction_scope.hpp"
#include "device/engines/bdc/requant/sum_checks.hpp"
#include "device/engines/bdc/window/command.hpp"
#include "device/engines/bdc/window/window_checks.hpp"
#include "device/isa/op_names.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {
namespace {

// What a row of execution units takes at once of an 8- or 16-bit result.
constexpr std::uint64_t kSmallOutputAlignment = 8, kByteSumAlignment = 4;

// Convolutions that may rescale: FP8, or 16-bit floats without a factor.
void check_rescaled_types(Checks& check, const Conv2dCmd& cmd) {
  const Dtype input = cmd.src.dtype, weight = type_of(cmd.weight), output = cmd.dst.dtype;
  check.type_in("input", input, kHalves | kFp8s);
  check.type_in("weight", weight, is_fp8(input) ? kFp8s : types(input));
  check.type_in("output", output, is_fp8(input) ? types(Dtype::kFp32, Dtype::kFp16) | kFp8s : kFp32Only | types(input));
  check.require(!cmd.rescale || is_fp8(input),
                [&] { return fmt::format("results of {} inputs are not rescaled", to_text(input)); });
  if (cmd.bias) check.type_in("bias", cmd.bias_type, types(Dtype::kFp32, Dtype::kFp16));
  check.require(!cmd.add_old || output == Dtype::kFp32,
                [&] { return fmt::format("result_add needs an fp32 output (output type is {})", to_text(output)); });
}

void check_float_types(Checks& check, const Conv2dCmd& cmd) {
  const Dtype type = cmd.src.dtype;
  const TypeSet allowed = info(check.op()).types;
  if (contains(allowed, Dtype::kFp8E4M3)) return check_rescaled_types(check, cmd);
  const bool no_halves = check.chip().has(Quirk::kByteAndBf16Products);
  const bool bytes = check.op() == Op::tpu_bdc_fp_conv2d && check.chip().has(Quirk::kPlainFp8Conv);
  check.type_in("input", type, no_halves ? types(Dtype::kBfp16) : kFloats | (bytes ? kFp8s : kNoTypes))
      .type_in("output", cmd.dst.dtype, kFp32Only | (is_fp8(type) ? kNoTypes : types(type)));
  const bool any = check.chip().has(Quirk::kHalfResultAdd);
  check.require(!cmd.add_old || cmd.dst.dtype == Dtype::kFp32 || any, [&] {
    return fmt::format("result_add needs an fp32 output (output type is {})", to_text(cmd.dst.dtype));
  });
}

TypeSet biases(const Checks& check, TypeSet others) {
  return check.chip().has(Quirk::kSignedBias) ? types(Dtype::kInt32) : others;
}

void check_start(Checks& check, const Conv2dCmd& cmd) {
  if (check.chip().has(Quirk::kFewConvStarts)) check.on_first_npu("output", cmd.dst.addr);
}

void check_symmetric_types(Checks& check, const Conv2dCmd& cmd) {
  const Dtype weight = type_of(cmd.weight);
  check.type_in("input", cmd.src.dtype, kInts8).type_in("weight", weight, kInts8);
  const bool wide = check.chip().has(Quirk::kShiftedProductSums);
  if (cmd.bias || !wide) check.type_in("bias", cmd.bias_type, !wide ? kInts16 : biases(check, kInts32));
  check_start(check, cmd);
  check.type_in("output", cmd.dst.dtype, kInts8 | kInts16);
  const bool is_signed =
      is_signed_int(cmd.src.dtype) || is_signed_int(weight) || (cmd.bias.has_value() && is_signed_int(cmd.bias_type));
  check_sign(check, cmd.dst.dtype, is_signed, cmd.relu);
}

// The forms with a zero point of each channel have outputs of one sign on some chips.
TypeSet asymmetric_outputs(const Checks& check) {
  constexpr TypeSet kAll = kInts16 | kInts32;
  if (submits_instructions() || !check.chip().has(Quirk::kFixedOutputSign)) return kAll;
  if (check.op() == Op::tpu_bdc_int8_asym_pc_quant_conv2d) return kAll & kSignedInts;
  if (check.op() == Op::tpu_bdc_int8_asym_pc_quant_conv2d_for_deconv2d) return kAll & kUnsignedInts;
  return kAll;
}

void check_asymmetric_types(Checks& check, const Conv2dCmd& cmd) {
  check.type_in("input", cmd.src.dtype, kInts8).type_in("weight", type_of(cmd.weight), kInts8);
  check.type_in("output", cmd.dst.dtype, asymmetric_outputs(check));
  check_start(check, cmd);
  const bool none = check.chip().has(Quirk::kNoKernelPoints);
  const bool raw = check.chip().has(Quirk::kRawZeroPoints) && !none;
  const TypeSet point_types = raw ? types(Dtype::kUint8, Dtype::kInt16) : kInts8;
  if (none) {
    const auto* const point = std::get_if<Scalar>(&cmd.zero_point);
    check.require(point != nullptr && (point->bits & 0xFFU) == 0,
                  [] { return std::string("kzp is not the constant 0, the only one that this chip has"); });
  }
  check.type_in("kzp", type_of(cmd.zero_point), point_types);
  check.require(!cmd.add_old || size_of(cmd.dst.dtype) == 4, [&] {
    return fmt::format("result_add needs a 32-bit output (output type is {})", to_text(cmd.dst.dtype));
  });
  check.require(!sums_are_unsigned(cmd) || !is_signed_int(cmd.dst.dtype), [&] {
    return fmt::format("output type {} has to be unsigned: input, weight and kzp (0) are", to_text(cmd.dst.dtype));
  });
}

void check_requantised_types(Checks& check, const Conv2dCmd& cmd) {
  check.type_in("input", cmd.src.dtype, kInts8).type_in("weight", type_of(cmd.weight), kInts8);
  if (cmd.bias) check.type_in("bias", cmd.bias_type, biases(check, kInts16 | kInts32));
  check_start(check, cmd);
  check_sum_end(check, {cmd.dst.dtype, cmd.requant, !sums_are_unsigned(cmd), cmd.relu, cmd.add_old});
}

void check_types(Checks& check, const Conv2dCmd& cmd) {
  switch (cmd.kind) {
    case Conv2dKind::kFloat: return check_float_types(check, cmd);
    case Conv2dKind::kSymmetric: return check_symmetric_types(check, cmd);
    case Conv2dKind::kAsymmetric: return check_asymmetric_types(check, cmd);
    case Conv2dKind::kRequantised: return check_requantised_types(check, cmd);
  }
}

// Weights, bias and zero points lie with the output channels; everything but an f32 input starts at NPU 0.
void check_places(Checks& check, const Conv2dCmd& cmd) {
  check_beside(check, "weight", cmd.weight, "output", cmd.dst);
  if (cmd.bias) check_beside(check, "bias", *cmd.bias, "output", cmd.dst);
  if (cmd.rescale) check_beside(check, "rescale", *cmd.rescale, "output", cmd.dst);
  check_beside(check, "kzp", cmd.zero_point, "output", cmd.dst);
  check_beside(check, "pad", cmd.padding, "input", cmd.src);
  check_requant_table(check, cmd.requant, cmd.dst);
  const int npu = check.chip().npu_of(cmd.src.addr);
  check.require(npu == 0 || cmd.src.dtype == Dtype::kFp32, [&] {
    return fmt::format("start NPU of input ({}) is not 0, which {} needs", npu, to_text(cmd.src.dtype));
  });
  const std::uint64_t row = static_cast<unsigned>(check.chip().eu_bytes);
  const bool free_sum = cmd.kind == Conv2dKind::kSymmetric && check.chip().has(Quirk::kFreeByteDepthwiseOutput);
  const std::uint64_t step = free_sum ? kByteSumAlignment : kSmallOutputAlignment;
  check.multiple_of("output", cmd.dst.addr, cmd.src.dtype == Dtype::kFp32 ? row : step);
  const auto* weight = std::get_if<Tensor>(&cmd.weight);
  // Weights of less than 32 bits lie in rows of several input channels.
  if (weight != nullptr && size_of(weight->dtype) < 4) check.multiple_of("weight", weight->addr, row);
}

// Zero points of 16 bits that no byte of either sign has are refused when the command runs.
void check_raw_zero_points(Checks& check, const Conv2dCmd& cmd) {
  const auto* points = std::get_if<Tensor>(&cmd.zero_point);
  if (points == nullptr || points->dtype != Dtype::kInt16 || check.violation()) return;
  const TensorView view(check.memories(), *points);
  for (int c = 0; c < cmd.dst.shape.c; ++c) check.in_range("kzp", *view.at<const std::int16_t>(0, c, 0, 0), -128, 255);
}

}  // namespace

void rules(Checks& check, const Conv2dCmd& cmd) {
  check_types(check, cmd);
  check.shape("input", cmd.src.shape);
  check_window(check, cmd.window, cmd.src.shape, cmd.dst.shape);
  check.tensor("input", cmd.src).tensor("output", cmd.dst, NaturalAlignment::kElement);
  if (cmd.add_old && is_float(cmd.dst.dtype) && cmd.dst.dtype != Dtype::kFp32) {
    Tensor old = cmd.dst;
    old.dtype = Dtype::kFp32;
    old.stride = aligned_stride(check.chip(), check.chip().npu_of(old.addr), old.shape, old.dtype);
    check.tensor("old output", old, NaturalAlignment::kElement);
  }
  check_stored(check, "weight", cmd.weight);
  if (cmd.bias) check_stored(check, "bias", *cmd.bias);
  if (cmd.rescale) check_stored(check, "rescale", *cmd.rescale);
  check_stored(check, "kzp", cmd.zero_point);
  check_stored(check, "pad", cmd.padding);
  check_places(check, cmd);
  check_raw_zero_points(check, cmd);
}

// Recorded from the first NPU on (golden bm1684x2/new_other).
void rules(Checks& check, const WeightGradientCmd& cmd) {
  const bool wide = check.op() == Op::tpu_bdc_fp_conv_bw;
  check.type("output", cmd.dst.dtype).type_in("input", cmd.src.dtype, wide ? kFloats : kHalves);
  check.shape("input_shape", cmd.src.shape).shape("output_shape", cmd.grad.shape).shape("kernel", cmd.dst.shape);
  const Dim2 windows{cmd.src.shape.h - cmd.kernel.h + 1, cmd.src.shape.w - cmd.kernel.w + 1};
  check.require(windows == Dim2{cmd.grad.shape.h, cmd.grad.shape.w}, [&] {
    return fmt::format("the input has {} x {} windows, the gradient of the output {} x {} elements", windows.h,
                       windows.w, cmd.grad.shape.h, cmd.grad.shape.w);
  });
  for (const auto& [name, tensor] :
       {std::pair{"input", &cmd.src}, std::pair{"gradient", &cmd.grad}, std::pair{"output", &cmd.dst}})
    check.tensor(name, *tensor).on_first_npu(name, tensor->addr);
  check.apart("input", cmd.src, cmd.dst).apart("gradient", cmd.grad, cmd.dst);
}

}  // namespace softtpu
