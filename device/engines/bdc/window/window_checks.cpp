#include "device/engines/bdc/window/window_checks.hpp"

#include <fmt/format.h>

namespace softtpu {
void check_window(Checks& check, const Window& window, const Dim4& input, const Dim4& output) {
  const Padding4& pad = window.padding;
  check.require(output.h >= 1 && output.w >= 1, [&] {
    return fmt::format("kernel ({} x {}, dilation {} x {}) is larger than the padded input ({} x {})", window.kernel.h,
                       window.kernel.w, window.dilation.h, window.dilation.w,
                       spread_extent(input.h, window.insert.h) + pad.top + pad.bottom,
                       spread_extent(input.w, window.insert.w) + pad.left + pad.right);
  });
  check.shape("output", output);
}

}  // namespace softtpu
