// Input planes with their padding around them, for windows that move over them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/engines/bdc/bm1684_layers/command.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/window/pool_taps.hpp"
#include "device/memory/scratch.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {

// The padded planes of one batch: plane c starts at row(c, 0), and rows follow each other without a gap. They are in
// the caller's memory, and kSlack floats behind them may be read.
class PaddedPlanes {
 public:
  PaddedPlanes(Scratch<float>& memory, const OkkWindow& window, const Dim4& shape)
      : shape_(shape),
        top_(window.padding.top),
        left_(window.padding.left),
        insert_(window.insert),
        height_(static_cast<int>(window.spread_height(shape.h)) + window.padding.top + window.padding.bottom),
        width_(static_cast<int>(window.spread_width(shape.w)) + window.padding.left + window.padding.right),
        floats_(memory.room(std::int64_t{shape.c} * height_ * width_ + kSlack)) {
    std::fill_n(floats_ + offset(shape.c, 0), kSlack, 0.0F);
  }

  // Fills a plane from channel c of batch n; `outside` stands in the padding and where something is inserted.
  void load(int plane_index, const TensorView& input, int n, int c, float outside) {
    float* plane = floats_ + offset(plane_index, 0);
    std::fill_n(plane, height_ * width_, outside);
    for (int h = 0; h < shape_.h; ++h) {
      const float* from = input.at<float>(n, c, h, 0);
      const std::int64_t step = input.at<float>(n, c, h, 1) - from;
      float* to = plane + (h * (insert_.h + 1) + top_) * width_ + left_;
      const int every = insert_.w + 1;
      if (step == 1 && every == 1) {
        std::copy_n(from, shape_.w, to);
      } else {
        for (int w = 0; w < shape_.w; ++w) to[w * every] = from[w * step];
      }
    }
  }
  const float* row(int c, int h) const { return floats_ + offset(c, h); }
  int width() const { return width_; }

 private:
  static constexpr int kSlack = std::max(kTapSlack, kTileCols);

  std::int64_t offset(int c, int h) const { return (std::int64_t{c} * height_ + h) * width_; }

  Dim4 shape_;
  int top_, left_;
  Dim2 insert_;
  int height_, width_;
  float* floats_;
};

}  // namespace softtpu
