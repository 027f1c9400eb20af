// Input planes of windows: with their padding around them, or as products read them (conv_planes.hpp).
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/engines/bdc/bm1684_layers/command.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/window/command.hpp"
#include "device/engines/bdc/window/pool_taps.hpp"
#include "device/memory/scratch.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {

inline Window window_of(const OkkWindow& window) {
  Window same;
  same.kernel = window.kernel;
  same.stride = window.stride;
  same.dilation = window.dilation;
  same.padding = window.padding;
  return same;
}

// One channel of an input: its first element, and how far apart its rows and columns are.
template <class T>
struct OkkChannel {
  const T* first;
  Dim2 shape;
  std::int64_t row_step, step;
};

// The `pitch` elements that the tap at `phase` sees in that row of windows, zero where there is none.
template <class T>
void fill_plane_row(const OkkWindow& window, const OkkChannel<T>& channel, Dim2 phase, int row, int pitch, T* out) {
  const int spread_y = row * window.stride.h + phase.h - window.padding.top, every = window.insert.h + 1;
  const int step = window.stride.w, width = channel.shape.w;
  int x = phase.w - window.padding.left;
  if (spread_y < 0 || spread_y >= window.spread_height(channel.shape.h) || spread_y % every != 0) {
    std::fill_n(out, pitch, T());
    return;
  }
  const T* from = channel.first + spread_y / every * channel.row_step;
  if (const int apart = window.insert.w + 1; apart > 1) {
    // Zeros stand between neighbours; the first window sees the place x of the row.
    for (int i = 0; i < pitch; ++i, x += step) {
      const bool inside = x >= 0 && x % apart == 0 && x / apart < width;
      out[i] = inside ? from[x / apart * channel.step] : T();
    }
    return;
  }
  const auto steps_to = [&](int distance) { return std::clamp((distance + step - 1) / step, 0, pitch); };
  const int first = steps_to(std::max(0, -x)), last = std::max(first, steps_to(std::max(0, width - x)));
  std::fill_n(out, first, T());
  std::fill_n(out + last, pitch - last, T());
  from += (x + std::int64_t{first} * step) * channel.step;
  if (step * channel.step == 1) {
    std::copy_n(from, last - first, out + first);
  } else {
    for (int i = first; i < last; ++i, from += step * channel.step) out[i] = *from;
  }
}

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
