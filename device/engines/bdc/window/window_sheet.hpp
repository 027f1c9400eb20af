// One feature map of bytes prepared for sums over windows, so that each tap reads the windows of all rows of the output
// as one run: with its padding stored around it, and where windows are more than one element apart, with every
// stride-th row and column side by side. Between two rows of the output lie a few sums that do not count.
#pragma once

#include <algorithm>

#include "device/engines/bdc/window/pool_taps.hpp"
#include "device/engines/bdc/window/window_input.hpp"
#include "device/memory/scratch.hpp"

namespace softtpu {

template <class T>
class WindowSheet {
 public:
  // Others take WindowPlane: their rows are not all apart by the same distance.
  static bool holds(const Window& window) {
    const auto& padding = window.padding;
    return window.beyond == Beyond::kValue && window.insert.h == 0 && window.insert.w == 0 && padding.top >= 0 &&
           padding.left >= 0;
  }

  WindowSheet(const Memories& mem, const PoolCmd& cmd)
      : view_(mem, cmd.src), src_(cmd.src), window_(cmd.window), padding_values_(mem, cmd.padding, cmd.insertion) {
    const auto parts = [](int extent, int step) { return (extent + step - 1) / step; };
    const auto reach = [](int outputs, int step, int taps, int dilation) {
      return (outputs - 1) * step + (taps - 1) * dilation + 1;
    };
    const Dim2 step = window_.stride;
    const int width = reach(cmd.dst.shape.w, step.w, window_.kernel.w, window_.dilation.w);
    const int height = reach(cmd.dst.shape.h, step.h, window_.kernel.h, window_.dilation.h);
    pitch_ = parts(std::max(width, window_.padding.left + src_.shape.w), step.w);
    if (step.w == 2) pitch_ = std::max(pitch_, kLeastSplit);
    phase_ = std::int64_t{pitch_} * parts(std::max(height, window_.padding.top + src_.shape.h), step.h);
    size_ = phase_ * step.h * step.w + kTapSlack;
    values_ = room<T, struct SheetValues>(size_);
    line_size_ = pitch_ * step.w + kTapSlack;
    line_ = room<T, struct SheetLine>(line_size_);
  }

  // Prepares channel c of batch n.
  void load(int n, int c) {
    const T padding = padding_values_.at(c).padding;
    if (!is_padded_ || padding != padding_) {
      // What the rows of a feature map leave alone stays for the next one.
      std::fill_n(values_, size_, padding);
      std::fill_n(line_, line_size_, padding);
      is_padded_ = true;
      padding_ = padding;
    }
    const T* row = view_.template at<const T>(n, c, 0, 0);
    const int step = window_.stride.h;
    int part = window_.padding.top % step;
    std::int64_t place = std::int64_t{window_.padding.top / step} * pitch_;
    for (int h = 0; h < src_.shape.h; ++h, row += src_.stride.h) {
      store_row(row, values_ + part * window_.stride.w * phase_ + place);
      if (++part == step) {
        part = 0;
        place += pitch_;
      }
    }
  }

  // From a row of windows to the next.
  int pitch() const { return pitch_; }
  // Where tap k = kh * kernel.w + kw of the first window reads.
  void taps(const T** rows) const {
    const Dim2 step = window_.stride;
    for (int kh = 0; kh < window_.kernel.h; ++kh) {
      const int y = kh * window_.dilation.h;
      for (int kw = 0; kw < window_.kernel.w; ++kw) {
        const int x = kw * window_.dilation.w;
        *rows++ =
            values_ + (y % step.h * step.w + x % step.w) * phase_ + std::int64_t{y / step.h} * pitch_ + x / step.w;
      }
    }
  }

 private:
  static constexpr int kLeastSplit = 16;  // pairs of bytes that are split without a loop over bytes

  // A row of the feature map to its place in each phase of columns.
  void store_row(const T* row, T* out) {
    const int step = window_.stride.w;
    if (step == 1) return read_row(row, out + window_.padding.left);
    read_row(row, line_ + window_.padding.left);
    if (step == 2) return load_rows().split_bytes(line_, pitch_, out, out + phase_);
    for (int phase = 0; phase < step; ++phase, out += phase_) {
      for (int i = 0; i < pitch_; ++i) out[i] = line_[i * step + phase];
    }
  }
  void read_row(const T* row, T* values) const {
    if (src_.stride.w == 1) return copy_run(row, src_.shape.w, values);
    for (int w = 0; w < src_.shape.w; ++w) values[w] = row[w * src_.stride.w];
  }

  TensorView view_;
  Tensor src_;
  Window window_;
  ChannelPaddingValues<T> padding_values_;
  int pitch_ = 0;
  std::int64_t phase_ = 0, size_ = 0, line_size_ = 0;  // elements, `phase_` of each phase of rows and columns
  bool is_padded_ = false;
  T padding_ = {};
  T *values_ = nullptr, *line_ = nullptr;
};

}  // namespace softtpu
