// Input planes with their padding around them, for windows that move over them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/isa/commands/okk_nn.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {

// The padded planes of one batch: plane c starts at row(c, 0), and rows follow each other without a gap.
class PaddedPlanes {
 public:
  PaddedPlanes(const OkkWindow& window, const Dim4& shape)
      : shape_(shape),
        top_(window.padding.top),
        left_(window.padding.left),
        height_(shape.h + window.padding.top + window.padding.bottom),
        width_(shape.w + window.padding.left + window.padding.right),
        floats_(static_cast<std::size_t>(shape.c) * static_cast<std::size_t>(height_) *
                static_cast<std::size_t>(width_)) {}

  // Fills a plane from channel c of batch n; `outside` stands in the padding.
  void load(int plane_index, const TensorView& input, int n, int c, float outside) {
    float* plane = floats_.data() + offset(plane_index, 0);
    std::fill_n(plane, height_ * width_, outside);
    for (int h = 0; h < shape_.h; ++h) {
      const float* from = input.at<float>(n, c, h, 0);
      const std::int64_t step = input.at<float>(n, c, h, 1) - from;
      float* to = plane + (h + top_) * width_ + left_;
      if (step == 1) {
        std::copy_n(from, shape_.w, to);
      } else {
        for (int w = 0; w < shape_.w; ++w) to[w] = from[w * step];
      }
    }
  }
  const float* row(int c, int h) const { return floats_.data() + offset(c, h); }
  int width() const { return width_; }

 private:
  std::int64_t offset(int c, int h) const { return (std::int64_t{c} * height_ + h) * width_; }

  Dim4 shape_;
  int top_, left_, height_, width_;
  std::vector<float> floats_;
};

}  // namespace softtpu
