// Rules of depthwise convolutions and poolings (numerics: bm1684x-matmul-conv-pool.md sections 5 and 6; golden
// bm1684x/mm_conv_pool_limits).
#include <fmt/format.h>

#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/requant/sum_checks.hpp"
#include "device/engines/bdc/window/command.hpp"
#include "device/engines/bdc/window/window_checks.hpp"
#include "device/isa/op_names.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {
namespace {

void check_same_type(Checks& check, const Tensor& dst, const Tensor& src) {
  check.require(dst.dtype == src.dtype, [&] {
    return fmt::format("output type ({}) differs from input type ({})", to_text(dst.dtype), to_text(src.dtype));
  });
}

// The output's row in the operations table tells floats from integers.
void check_input_type(Checks& check, PoolMode mode, Dtype type) {
  const TypeSet allowed = info(check.op()).types;
  const bool floats = (allowed & kFloats) != 0;
  const bool sums_fp8 = check.op() == Op::tpu_bdc_fp8_avg_pool2d;
  check.type_in(mode == PoolMode::kDepthwise || sums_fp8 ? "input" : "dtype", type,
                sums_fp8 ? kFp8s
                : floats ? kFloats | (allowed & kFp8s)
                         : kInts8);
}

void check_integer_sums(Checks& check, const PoolCmd& cmd) {
  const Dtype weight = type_of(cmd.weight);
  check.type_in("weight", weight, kInts8);
  const bool wide = check.chip().has(Quirk::kWideByteSums);
  const bool any_sign =
      !check.chip().has(Quirk::kSignedBias) || check.op() == Op::tpu_bdc_int8_pc_pad_depthwise_for_deconv2d;
  // One that is named int16 has 32 bits all the same.
  const bool named = check.op() == Op::tpu_bdc_int8_depthwise2d;
  const TypeSet with_sign = types(Dtype::kInt32) | (named ? types(Dtype::kInt16) : kNoTypes);
  if (cmd.bias) check.type_in("bias", cmd.bias_type, any_sign ? kInts16 | kInts32 : with_sign);
  if (cmd.requant) return check_sum_end(check, {cmd.dst.dtype, cmd.requant, true, cmd.relu, false});
  check.require(!cmd.relu || cmd.dst.dtype == Dtype::kUint8 || (wide && cmd.dst.dtype == Dtype::kUint16), [&] {
    return fmt::format("result_relu needs a uint8 output (output type is {})", to_text(cmd.dst.dtype));
  });
  const bool is_signed =
      is_signed_int(cmd.src.dtype) || is_signed_int(weight) || (cmd.bias && is_signed_int(cmd.bias_type));
  check_sign(check, cmd.dst.dtype, is_signed, cmd.relu);
}

// Each region lies inside the input and is not larger than the kernel.
void check_regions(Checks& check, const RoiPoolCmd& cmd) {
  if (check.violation() || check.chip().has(Quirk::kWideRoi)) return;
  const TensorView view(check.memories(), cmd.regions);
  for (int r = 0; r < cmd.regions.shape.c; ++r) {
    const auto* corners = view.at<const std::int16_t>(0, r, 0, 0);
    const int width = corners[2] - corners[0] + 1;
    const int height = corners[3] - corners[1] + 1;
    const auto text = [&] {
      return fmt::format("region {} (w {}..{}, h {}..{})", r, corners[0], corners[2], corners[1], corners[3]);
    };
    check.require(
        corners[0] >= 0 && corners[1] >= 0 && corners[2] < cmd.src.shape.w && corners[3] < cmd.src.shape.h, [&] {
          return fmt::format("{} lies outside the input ({} x {}, h x w)", text(), cmd.src.shape.h, cmd.src.shape.w);
        });
    check.require(width >= 1 && height >= 1, [&] { return text() + " is empty"; });
    check.require(width <= cmd.kernel.w && height <= cmd.kernel.h, [&] {
      return fmt::format("{} is larger than the kernel ({} x {}, h x w)", text(), cmd.kernel.h, cmd.kernel.w);
    });
  }
}

NaturalAlignment output_alignment(const Checks& check) {
  const Chip& chip = check.chip();
  const bool anywhere = (check.op() == Op::tpu_bdc_fp_depthwise2d && chip.has(Quirk::kFreeDepthwiseOutput)) ||
                        (check.op() == Op::tpu_bdc_int8_depthwise2d && chip.has(Quirk::kFreeByteDepthwiseOutput));
  return anywhere ? NaturalAlignment::kElement : NaturalAlignment::kEuRow;
}

}  // namespace

void rules(Checks& check, const PoolCmd& cmd) {
  check_input_type(check, cmd.mode, cmd.src.dtype);
  const bool to_bf16 = check.op() == Op::tpu_bdc_fp8_avg_pool2d && check.chip().has(Quirk::kFp8WithBf16);
  check.type_in("output", cmd.dst.dtype, info(check.op()).types | (to_bf16 ? types(Dtype::kBfp16) : kNoTypes));
  if (cmd.sums_integers()) {
    check_integer_sums(check, cmd);
  } else if (!is_sum(cmd.mode) || !is_fp8(cmd.src.dtype)) {
    check_same_type(check, cmd.dst, cmd.src);
  }
  check.shape("input", cmd.src.shape);
  check_window(check, cmd.window, cmd.src.shape, cmd.dst.shape);
  check.tensor("input", cmd.src).tensor("output", cmd.dst, output_alignment(check));
  check.same_npu("input", cmd.src.addr, "output", cmd.dst.addr);
  check_stored(check, "weight", cmd.weight);
  check_stored(check, "pad", cmd.padding);
  check_beside(check, "weight", cmd.weight, "output", cmd.dst);
  check_beside(check, "pad", cmd.padding, "output", cmd.dst);
  if (cmd.bias) {
    check_stored(check, "bias", *cmd.bias);
    check_beside(check, "bias", *cmd.bias, "output", cmd.dst);
  }
  check_requant_table(check, cmd.requant, cmd.dst);
}

void rules(Checks& check, const RoiPoolCmd& cmd) {
  check_input_type(check, cmd.mode, cmd.src.dtype);
  const bool sums = is_sum(cmd.mode);
  const bool any_type = sums && !is_float(cmd.src.dtype) && check.chip().has(Quirk::kWideByteSums);
  check.type_in("output", cmd.dst.dtype, any_type ? kInts : info(check.op()).types);
  if (!sums || is_float(cmd.src.dtype)) {
    check_same_type(check, cmd.dst, cmd.src);
  } else {
    check.type_in("weight", type_of(cmd.weight), kInts8);
  }
  check.shape("input", cmd.src.shape).shape("output", cmd.dst.shape);
  check.tensor("input", cmd.src).tensor("output", cmd.dst);
  check.same_npu("input", cmd.src.addr, "output", cmd.dst.addr);
  check_stored(check, "weight", cmd.weight);
  check_beside(check, "weight", cmd.weight, "output", cmd.dst);
  check.tensor("roi", cmd.regions, NaturalAlignment::kElement);
  const int npu = check.chip().npu_of(cmd.regions.addr);
  check.require(npu == 0, [&] { return fmt::format("start NPU of roi ({}) is not 0", npu); });
  check_regions(check, cmd);
}

}  // namespace softtpu
