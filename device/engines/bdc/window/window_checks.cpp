#include "device/engines/bdc/window/window_checks.hpp"

#include <fmt/format.h>

#include "device/chip/rules.hpp"

namespace softtpu {
namespace {

constexpr int kMaxStep = 15;  // of stride, dilation, insertion and padding: four bits

void check_pair(Checks& check, std::string_view name, const Dim2& pair, int low, int high) {
  check.in_range(fmt::format("{}.h", name), pair.h, low, high).in_range(fmt::format("{}.w", name), pair.w, low, high);
}

}  // namespace

void check_window(Checks& check, const Window& window, const Dim4& input, const Dim4& output) {
  check_pair(check, "kernel", window.kernel, 1, kMaxExtent);
  check_pair(check, "stride", window.stride, 1, kMaxStep);
  check_pair(check, "dilation", window.dilation, 1, kMaxStep);
  check_pair(check, "insert", window.insert, 0, kMaxStep);
  const Padding4& pad = window.padding;
  check.in_range("padding.top", pad.top, 0, kMaxStep).in_range("padding.bottom", pad.bottom, 0, kMaxStep);
  check.in_range("padding.left", pad.left, 0, kMaxStep).in_range("padding.right", pad.right, 0, kMaxStep);
  check.require(output.h >= 1 && output.w >= 1, [&] {
    return fmt::format("kernel ({} x {}, dilation {} x {}) is larger than the padded input ({} x {})", window.kernel.h,
                       window.kernel.w, window.dilation.h, window.dilation.w,
                       spread_extent(input.h, window.insert.h) + pad.top + pad.bottom,
                       spread_extent(input.w, window.insert.w) + pad.left + pad.right);
  });
  check.shape("output", output);
}

void check_stored(Checks& check, const char* name, const Operand& operand) {
  if (const auto* tensor = std::get_if<Tensor>(&operand)) check.tensor(name, *tensor, NaturalAlignment::kElement);
}

void check_beside(Checks& check, const char* name, const Operand& operand, const char* other, const Tensor& tensor) {
  const auto* stored = std::get_if<Tensor>(&operand);
  if (stored != nullptr) check.same_npu(name, stored->addr, other, tensor.addr);
}

Checks& check_sign(Checks& check, Dtype output, bool sum_is_signed, bool relu) {
  const bool wanted = sum_is_signed && !relu;
  return check.require(is_signed_int(output) == wanted, [&] {
    return fmt::format("output type {} has to be {}: {}", to_text(output), wanted ? "signed" : "unsigned",
                       relu ? "result_relu is set" : "so is the sum of these operands");
  });
}

void check_sum_end(Checks& check, const SumEndRules& end) {
  check.require(!end.add_old || size_of(end.output) == 4, [&] {
    return fmt::format("result_add needs a 32-bit output (output type is {})", to_text(end.output));
  });
  if (!end.requant) {
    check.type_in("output", end.output, kInts);
    check_sign(check, end.output, end.sum_is_signed, end.relu);
  } else {
    const TypeSet types = check.chip().has(ChipRule::kRequantConvolutions) ? kInts : kInts8 | kInts16;
    check.type_in("requantised output", end.output, types);
  }
}

void check_requant_table(Checks& check, const std::optional<Requant>& requant, const Tensor& output) {
  if (!requant || !requant->table) return;
  check.tensor("requant", *requant->table).same_npu("requant", requant->table->addr, "output", output.addr);
}

}  // namespace softtpu
