// Rules of BM1684's layers of bytes: every element lies inside its memory, lanes meet, and sums stay inside 32 bits.
#include <fmt/format.h>

#include <limits>

#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/bm1684_bytes/command.hpp"

namespace softtpu {
namespace {

void check_bias(Checks& check, const std::optional<Tensor>& bias, const Tensor& output) {
  if (bias) check.tensor("bias", *bias).same_npu("bias", bias->addr, "output", output.addr);
}

// Every output has its window inside the padded input, of which one batch is held at once.
void check_window(Checks& check, const OkkWindow& window, const Dim4& input, const Dim4& output) {
  const auto reached = [](int size, int stride, int kernel, int dilation) {
    return std::int64_t{size - 1} * stride + std::int64_t{kernel - 1} * dilation + 1;
  };
  const std::int64_t height = window.spread_height(input.h) + window.padding.top + window.padding.bottom;
  const std::int64_t width = window.spread_width(input.w) + window.padding.left + window.padding.right;
  const std::int64_t lowest = reached(output.h, window.stride.h, window.kernel.h, window.dilation.h);
  const std::int64_t rightmost = reached(output.w, window.stride.w, window.kernel.w, window.dilation.w);
  check.require(lowest <= height && rightmost <= width, [&] {
    return fmt::format("windows of an output of [{}, {}] reach over [{}, {}] of a padded input of [{}, {}]", output.h,
                       output.w, lowest, rightmost, height, width);
  });
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 26;
  check.require(height * width <= kMaxElements / input.c, [&] {
    return fmt::format("a padded input of {} channels of [{}, {}] is larger than {} elements", input.c, height, width,
                       kMaxElements);
  });
}

// What a sum does beyond 32 bits is not recorded.
void check_sum(Checks& check, std::int64_t products, Dtype a, Dtype b) {
  const auto largest = [](Dtype type) { return type == Dtype::kInt8 ? 128 : 255; };
  const std::int64_t limit = std::numeric_limits<std::int32_t>::max() / (largest(a) * largest(b));
  check.require(products <= limit, [&] {
    return fmt::format("a sum of {} products can leave 32 bits (at most {} of these types)", products, limit);
  });
}

}  // namespace

void rules(Checks& check, const OkkByteConvCmd& cmd) {
  check.shape("input shape in words", cmd.input.shape).shape("output shape in words", cmd.output.shape);
  check_window(check, cmd.window, cmd.input.shape, cmd.output.shape);
  check_sum(check, std::int64_t{cmd.input_channels} * cmd.window.kernel.h * cmd.window.kernel.w, cmd.input_type,
            cmd.weight_type);
  check.tensor("input", cmd.input).tensor("output", cmd.output).operand("weight", cmd.weight);
  if (const auto* weight = std::get_if<Tensor>(&cmd.weight))
    check.same_npu("weight", weight->addr, "output", cmd.output.addr);
  check_bias(check, cmd.bias, cmd.output);
}

void rules(Checks& check, const OkkByteWindowCmd& cmd) {
  check.shape("input shape in words", cmd.input.shape).shape("output shape in words", cmd.output.shape);
  check_window(check, cmd.window, cmd.input.shape, cmd.output.shape);
  check_sum(check, std::int64_t{cmd.window.kernel.h} * cmd.window.kernel.w, cmd.input_type, cmd.weight_type);
  check.tensor("input", cmd.input).tensor("output", cmd.output).operand("weight", cmd.weight);
  check.same_npu("input", cmd.input.addr, "output", cmd.output.addr);
  if (const auto* weight = std::get_if<Tensor>(&cmd.weight))
    check.same_npu("weight", weight->addr, "output", cmd.output.addr);
  check_bias(check, cmd.bias, cmd.output);
}

void rules(Checks& check, const OkkByteMatmulCmd& cmd) {
  check.shape("left", cmd.left.shape).shape("right", cmd.right.shape);
  check_sum(check, cmd.inner, cmd.left.dtype, cmd.right.dtype);
  check.tensor("output", cmd.output).tensor("left", cmd.left).tensor("right", cmd.right);
  check.require(cmd.inner <= cmd.left.shape.c * cmd.left.shape.w, [&] {
    return fmt::format("left has {} channels of {} columns for {} inner columns", cmd.left.shape.c, cmd.left.shape.w,
                       cmd.inner);
  });
  check.same_npu("right", cmd.right.addr, "output", cmd.output.addr);
  check_bias(check, cmd.bias, cmd.output);
}

void rules(Checks& check, const OkkTableCmd& cmd) {
  check.target(cmd.dst).source("src", cmd.src, cmd.dst).tensor("table", cmd.table);
}

}  // namespace softtpu
