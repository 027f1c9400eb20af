// The input of windows: feature maps as they are seen with padding around them and values inserted between neighbours.
#pragma once

#include <algorithm>

#include "device/engines/bdc/product/load.hpp"
#include "device/engines/bdc/window/command.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {

// Values at positions that the input has no element for.
template <class T>
struct PaddingValues {
  T padding = {}, insertion = {};
};

// Constants for all channels, or each channel's own pair in local memory.
template <class T>
class ChannelPaddingValues {
 public:
  ChannelPaddingValues(const Memories& mem, const Operand& padding, const Scalar& insertion)
      : view_(mem, std::holds_alternative<Tensor>(padding) ? std::get<Tensor>(padding) : Tensor{}),
        constant_(std::holds_alternative<Scalar>(padding)) {
    if (constant_) values_ = {constant<T>(std::get<Scalar>(padding)), constant<T>(insertion)};
  }
  PaddingValues<T> at(int channel) const {
    if (constant_) return values_;
    return {*view_.at<T>(0, channel, 0, 0), *view_.at<T>(0, channel, 0, 1)};
  }

 private:
  TensorView view_;
  bool constant_;
  PaddingValues<T> values_;
};

template <class T>
class WindowInput {
 public:
  WindowInput(const Memories& mem, const Tensor& src, const Window& window)
      : view_(mem, src), shape_(src.shape), h_stride_(src.stride.h), w_stride_(src.stride.w), window_(window) {}

  // The feature map of channel c of batch n.
  const T* plane(int n, int c) const { return view_.at<const T>(n, c, 0, 0); }

  // What one tap of neighbouring output pixels of a row looks at, the same in every feature map.
  struct TapRow {
    std::int64_t row = 0;      // the input's row, in elements from the feature map's first one
    int x = 0;                 // what the first pixel sees, counted with what is inserted
    int first = 0, last = 0;   // the pixels between look at the input's width, the others at padding
    bool is_inserted = false;  // a row that stands between two of the input's
  };
  TapRow tap_row(Dim2 tap, int oh, int ow, int count) const {
    TapRow seen;
    int y = oh * window_.stride.h - window_.padding.top + tap.h * window_.dilation.h;
    const std::int64_t height = spread_extent(shape_.h, window_.insert.h);
    if (window_.beyond != Beyond::kValue) y = source_index(window_.beyond, y, height);
    const int step = window_.stride.w;
    seen.x = ow * step - window_.padding.left + tap.w * window_.dilation.w;
    if (y < 0 || y >= height) return seen;
    const int width = static_cast<int>(spread_extent(shape_.w, window_.insert.w));
    const auto steps_to = [&](int distance) { return step == 1 ? distance : (distance + step - 1) / step; };
    seen.first = std::clamp(steps_to(std::max(0, -seen.x)), 0, count);
    seen.last = std::clamp(steps_to(width - seen.x), seen.first, count);
    const int rows = window_.insert.h + 1;
    seen.is_inserted = rows != 1 && y % rows != 0;
    seen.row = (rows == 1 ? y : y / rows) * h_stride_;
    return seen;
  }

  // out[i] = what pixel i sees in a feature map.
  template <class Out>
  void read(const T* plane, const TapRow& seen, int count, const PaddingValues<T>& around, Out* out) const {
    const int first = seen.first, last = seen.last;
    if (window_.beyond != Beyond::kValue) {
      read_beyond(plane, seen, 0, first, around, out);
      read_beyond(plane, seen, last, count, around, out);
    } else {
      if (first > 0) std::fill(out, out + first, loaded<Out>(around.padding));
      if (last < count) std::fill(out + last, out + count, loaded<Out>(around.padding));
    }
    if (seen.is_inserted) return std::fill(out + first, out + last, loaded<Out>(around.insertion));
    const int step = window_.stride.w;
    const int every = window_.insert.w + 1;
    const T* row = plane + seen.row;
    if (every == 1) return copy(row + seen.x * w_stride_, step * w_stride_, first, last, out);
    for (int i = first; i < last; ++i) {
      const int place = seen.x + i * step;
      out[i] = loaded<Out>(place % every == 0 ? row[place / every * w_stride_] : around.insertion);
    }
  }

 private:
  template <class Out>
  static void copy(const T* row, std::int64_t step, int first, int last, Out* out) {
    if (step == 1) {
      load_run(row + first, out + first, last - first);
    } else {
      for (int i = first; i < last; ++i) out[i] = loaded<Out>(row[i * step]);
    }
  }

  // The pixels [first, last), which see the input again.
  template <class Out>
  void read_beyond(const T* plane, const TapRow& seen, int first, int last, const PaddingValues<T>& around,
                   Out* out) const {
    const std::int64_t width = spread_extent(shape_.w, window_.insert.w);
    const int every = window_.insert.w + 1;
    for (int i = first; i < last; ++i) {
      const int place = source_index(window_.beyond, std::int64_t{seen.x} + std::int64_t{i} * window_.stride.w, width);
      const bool stored = !seen.is_inserted && place % every == 0;
      out[i] = loaded<Out>(stored ? plane[seen.row + place / every * w_stride_] : around.insertion);
    }
  }

  TensorView view_;
  Dim4 shape_;
  std::int64_t h_stride_, w_stride_;
  Window window_;
};

}  // namespace softtpu
