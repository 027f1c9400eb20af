// The input of a convolution laid out so that products can read it as it is: padded, with what is inserted, and with a
// stride of s every s-th row and column side by side. Columns of the product are the places of a plane, row by row, so
// that each kernel tap of neighbouring columns is a run of neighbours; the places behind an output row are computed and
// not used.
#pragma once

#include <algorithm>
#include <vector>

#include "device/bdc/product.hpp"
#include "device/bdc/window_input.hpp"

namespace softtpu {

// Where things lie in the planes of one channel.
class PlaneGeometry {
 public:
  PlaneGeometry(const Window& window, Dim2 output)
      : window_(window),
        output_(output),
        rows_(output.h + (window.kernel.h - 1) * window.dilation.h / window.stride.h),
        pitch_(output.w + (window.kernel.w - 1) * window.dilation.w / window.stride.w),
        down_(phases(window.kernel.h, window.dilation.h, window.stride.h)),
        across_(phases(window.kernel.w, window.dilation.w, window.stride.w)) {}

  // Planes of a channel, one for each phase that a tap reads: its first row and column in steps of the padded input.
  int planes() const { return static_cast<int>(down_.size() * across_.size()); }
  Dim2 phase(int plane) const {
    const auto index = static_cast<std::size_t>(plane);
    return {down_[index / across_.size()], across_[index % across_.size()]};
  }
  int rows() const { return rows_; }
  int pitch() const { return pitch_; }
  std::int64_t plane_size() const { return std::int64_t{rows_} * pitch_; }
  std::int64_t channel_size() const { return planes() * plane_size(); }
  // What the tap reads for column 0, from the channel's first element.
  std::int64_t offset(int tap) const {
    const int y = tap / window_.kernel.w * window_.dilation.h, x = tap % window_.kernel.w * window_.dilation.w;
    const auto plane = index_of(down_, y % window_.stride.h) * static_cast<std::ptrdiff_t>(across_.size()) +
                       index_of(across_, x % window_.stride.w);
    return plane * plane_size() + std::int64_t{y / window_.stride.h} * pitch_ + x / window_.stride.w;
  }

  // Columns of the product for one batch.
  int cols() const { return (output_.h - 1) * pitch_ + output_.w; }
  // The columns of all batches, each filled up to whole tiles.
  int tiled_cols(int batches) const { return batches * tiled(cols()); }
  // Output pixels among the columns [col, col + count) of tiled_cols(): visit(i, n, oh, ow, run).
  template <class Visit>
  void pixels(int col, int count, Visit visit) const {
    const int n = col / tiled(cols()), first = col % tiled(cols());
    for (int i = 0; i < count;) {
      const int row = (first + i) / pitch_, x = (first + i) % pitch_;
      const int run = std::min(count - i, pitch_ - x);
      if (x < output_.w) visit(i, n, row, x, std::min(run, output_.w - x));
      i += run;
    }
  }

 private:
  static int tiled(int cols) { return (cols + kTileCols - 1) / kTileCols * kTileCols; }
  static std::vector<int> phases(int kernel, int dilation, int stride) {
    std::vector<int> found;
    for (int k = 0; k < std::min(kernel, stride); ++k) {
      if (index_of(found, k * dilation % stride) == static_cast<std::ptrdiff_t>(found.size()))
        found.push_back(k * dilation % stride);
    }
    return found;
  }
  static std::ptrdiff_t index_of(const std::vector<int>& list, int value) {
    return std::find(list.begin(), list.end(), value) - list.begin();
  }

  Window window_;
  Dim2 output_;
  int rows_, pitch_;
  std::vector<int> down_, across_;
};

// Fills planes of elements T, channel by channel.
template <class T>
class PlaneFiller {
 public:
  PlaneFiller(const Memories& mem, const Conv2dCmd& cmd, const PlaneGeometry& geometry)
      : geometry_(geometry),
        input_(mem, cmd.src, every_step(cmd.window)),
        surroundings_(mem, cmd.padding, cmd.insertion) {
    for (int plane = 0; plane < geometry.planes(); ++plane) {
      for (int row = 0; row < geometry.rows(); ++row)
        seen_.push_back(input_.tap_row(geometry.phase(plane), row, 0, geometry.pitch()));
    }
  }
  // All planes of channel c of batch n, as the type that is multiplied.
  template <class In>
  void fill(int n, int c, In* out) const {
    const T* from = input_.plane(n, c);
    const Surroundings<T> around = surroundings_.at(c);
    for (const auto& seen : seen_) {
      input_.read(from, seen, geometry_.pitch(), around, out);
      out += geometry_.pitch();
    }
  }

 private:
  // A phase is read like a tap that far from the first one.
  static Window every_step(Window window) {
    window.dilation = {1, 1};
    return window;
  }

  const PlaneGeometry& geometry_;
  WindowInput<T> input_;
  ChannelSurroundings<T> surroundings_;
  std::vector<typename WindowInput<T>::TapRow> seen_;
};

}  // namespace softtpu
