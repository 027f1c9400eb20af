// Rules of BM1684's layers (numerics: bm1684-okkernel.md section 8; golden bm1684/aborts).
#include <fmt/format.h>

#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/bm1684_layers/command.hpp"

namespace softtpu {
namespace {

constexpr unsigned kPairBytes = 8;

void check_row(Checks& check, const char* name, const Tensor& tensor) {
  check.multiple_of(name, tensor.addr, static_cast<unsigned>(check.chip().eu_bytes));
}

// The window fits into the padded input at least once.
void check_window(Checks& check, const OkkWindow& window, const Dim4& output) {
  check.require(output.h >= 1 && output.w >= 1, [&] {
    return fmt::format("kernel [{}, {}] with dilation [{}, {}] is larger than the padded input", window.kernel.h,
                       window.kernel.w, window.dilation.h, window.dilation.w);
  });
}

void check_per_channel(Checks& check, const std::optional<Tensor>& bias, const Tensor& output) {
  if (bias) check.tensor("bias", *bias).same_npu("bias", bias->addr, "output", output.addr);
}

}  // namespace

void rules(Checks& check, const OkkConvCmd& cmd) {
  check.shape("input_shape", cmd.input.shape);
  check_window(check, cmd.window, cmd.output.shape);
  check.shape("output shape", cmd.output.shape);
  check_row(check, "output", cmd.output);
  // With strides given, the input may begin at any element (golden bm1684-varied/v_conv2d).
  if (cmd.input.natural) check_row(check, "input", cmd.input);
  if (!cmd.constant) check.multiple_of("weight", cmd.even.addr, kPairBytes);
  check.tensor("input", cmd.input).tensor("output", cmd.output);
  if (!cmd.constant) {
    check.tensor("weight", cmd.even);
    if (cmd.odd) check.tensor("weight", *cmd.odd);
    check.same_npu("weight", cmd.even.addr, "output", cmd.output.addr);
  }
  check_per_channel(check, cmd.bias, cmd.output);
}

void rules(Checks& check, const OkkWindowCmd& cmd) {
  check.shape("input_shape", cmd.input.shape);
  check_window(check, cmd.window, cmd.output.shape);
  check_row(check, "output", cmd.output);
  check_row(check, "input", cmd.input);
  check.tensor("input", cmd.input).tensor("output", cmd.output);
  check.same_npu("input", cmd.input.addr, "output", cmd.output.addr);
  if (cmd.weight) check.source("weight", *cmd.weight, cmd.output);
  check_per_channel(check, cmd.bias, cmd.output);
}

void rules(Checks& check, const OkkMatmulCmd& cmd) {
  check.shape("left", cmd.left.shape).shape("right", cmd.right.shape);
  check_row(check, "output", cmd.output);
  check_row(check, "left", cmd.left);
  check_row(check, "right", cmd.right);
  check.tensor("output", cmd.output).tensor("left", cmd.left).tensor("right", cmd.right);
  check.same_npu("right", cmd.right.addr, "output", cmd.output.addr);
  if (cmd.bias) {
    check_row(check, "bias", *cmd.bias);
    check_per_channel(check, cmd.bias, cmd.output);
  }
}

}  // namespace softtpu
