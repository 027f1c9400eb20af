#include "device/engines/bdc/window/window_checks.hpp"

#include <fmt/format.h>

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

}  // namespace softtpu
