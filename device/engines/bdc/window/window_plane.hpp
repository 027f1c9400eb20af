// One feature map prepared for windows: with its padding and what is inserted, as the type that the loops take, and in
// such an order that what a tap reads for neighbouring windows lies side by side.
#pragma once

#include <algorithm>

#include "device/engines/bdc/window/pool_best.hpp"
#include "device/engines/bdc/window/pool_taps.hpp"
#include "device/engines/bdc/window/window_input.hpp"
#include "device/memory/scratch.hpp"

namespace softtpu {

// T is stored, P is what the loops take.
template <class T, class P>
class WindowPlane {
 public:
  WindowPlane(const Memories& mem, const PoolCmd& cmd)
      : view_(mem, cmd.src),
        src_(cmd.src),
        window_(cmd.window),
        padding_values_(mem, cmd.padding, cmd.insertion),
        output_{cmd.dst.shape.h, cmd.dst.shape.w},
        spread_(static_cast<int>(spread_extent(cmd.src.shape.w, cmd.window.insert.w))) {
    const int reach = (cmd.dst.shape.w - 1) * window_.stride.w + (window_.kernel.w - 1) * window_.dilation.w + 1;
    pitch_ = (std::max(reach, window_.padding.left + spread_) + window_.stride.w - 1) / window_.stride.w;
    const std::int64_t row = std::int64_t{pitch_} * window_.stride.w;
    const int below = (cmd.dst.shape.h - 1) * window_.stride.h + (window_.kernel.h - 1) * window_.dilation.h + 1 -
                      window_.padding.top;
    padded_ = window_.padding.top > 0 || below > spread_extent(src_.shape.h, window_.insert.h);
    as_stored_ = window_.padding.left == 0 && window_.insert.w == 0 && src_.stride.w == 1 &&
                 pitch_ * window_.stride.w <= src_.shape.w;
    line_ = room<P, struct Line>(row + kTapSlack);
    rows_ = room<P, struct Rows>(row * (src_.shape.h + kExtraRows) + kTapSlack);
    places_ = room<std::int64_t, struct Places>(window_.kernel.w);
    for (int kw = 0; kw < window_.kernel.w; ++kw) {
      const int x = kw * window_.dilation.w;
      places_[kw] = std::int64_t{x % window_.stride.w} * pitch_ + x / window_.stride.w;
    }
  }

  // Prepares channel c of batch n.
  void load(int n, int c) {
    const PaddingValues<T> around = padding_values_.at(c);
    padding_ = as_read<P>(around.padding);
    insertion_ = as_read<P>(around.insertion);
    const T* plane = view_.template at<const T>(n, c, 0, 0);
    if (padded_) fill_row(kPaddingRow, [&](P* values) { std::fill_n(values, spread_, padding_); });
    if (window_.insert.h > 0) fill_row(kInsertionRow, [&](P* values) { std::fill_n(values, spread_, insertion_); });
    for (int h = 0; h < src_.shape.h; ++h) {
      const T* row = plane + h * src_.stride.h;
      if constexpr (std::is_same_v<T, P>) {
        if (as_stored_) {
          keep_line(row, kExtraRows + h);
          continue;
        }
      }
      fill_row(kExtraRows + h, [&](P* values) { read_row(row, values); });
    }
  }

  // Parts of the result, each of neighbouring windows: the rows of the output.
  int parts() const { return output_.h; }
  int count(int) const { return output_.w; }
  int first(int part) const { return part * output_.w; }
  // Where tap k = kh * kernel.w + kw of the windows of output row oh reads.
  void taps(int oh, const P** rows) const {
    for (int kh = 0; kh < window_.kernel.h; ++kh) {
      const P* row = row_at(row_of(oh * window_.stride.h - window_.padding.top + kh * window_.dilation.h));
      for (int kw = 0; kw < window_.kernel.w; ++kw) *rows++ = row + places_[kw];
    }
  }

 private:
  static constexpr int kPaddingRow = 0, kInsertionRow = 1, kExtraRows = 2;

  int row_of(int y) const {
    const int every = window_.insert.h + 1;
    const std::int64_t height = spread_extent(src_.shape.h, window_.insert.h);
    if (window_.beyond != Beyond::kValue) y = source_index(window_.beyond, y, height);
    if (y < 0 || y >= height) return kPaddingRow;
    if (every == 1) return kExtraRows + y;  // without dividing
    return y % every != 0 ? kInsertionRow : kExtraRows + y / every;
  }
  P* row_at(int row) const { return rows_ + std::int64_t{row} * pitch_ * window_.stride.w; }

  // Elements of a stored row with what is inserted between them.
  void read_row(const T* row, P* values) const {
    const int every = window_.insert.w + 1;
    if (every == 1 && src_.stride.w == 1) {
      if constexpr (std::is_same_v<T, P>) return copy_run(row, src_.shape.w, values);
      return load_run(row, values, src_.shape.w);
    }
    if (every != 1) std::fill_n(values, spread_, insertion_);
    for (int w = 0; w < src_.shape.w; ++w) values[w * every] = as_read<P>(row[w * src_.stride.w]);
  }
  // Fills a row with what it is in the middle, and what is beyond.
  template <class Fill>
  void fill_row(int row, Fill fill) {
    const bool in_place = window_.stride.w == 1;
    P* const line = in_place ? row_at(row) : line_;
    const int length = pitch_ * window_.stride.w;
    const int first = window_.padding.left, end = first + spread_;
    fill(line + first);
    if (window_.beyond == Beyond::kValue) {
      std::fill_n(line, first, padding_);
      std::fill_n(line + end, length - end, padding_);
    } else {
      for (int i = 0; i < first; ++i) line[i] = line[first + source_index(window_.beyond, i - first, spread_)];
      for (int i = end; i < length; ++i) line[i] = line[first + source_index(window_.beyond, i - first, spread_)];
    }
    if (!in_place) keep_line(line, row);
  }
  // Every stride.w-th element of the line lies side by side.
  void keep_line(const P* line, int row) {
    P* out = row_at(row);
    // Local values: a compiler that has to expect the members to change would read them for each element.
    const int pitch = pitch_;
    const int step = window_.stride.w;
    if (step == 1) {
      copy_run(line, pitch, out);
    } else if (step == 2 && sizeof(P) == 4) {
      load_rows().split_words(line, pitch, out, out + pitch);
    } else if (step == 2 && sizeof(P) == 1) {
      load_rows().split_bytes(line, pitch, out, out + pitch);
    } else {
      for (int phase = 0; phase < step; ++phase, out += pitch) {
        for (int i = 0; i < pitch; ++i) out[i] = line[i * step + phase];
      }
    }
  }

  TensorView view_;
  Tensor src_;
  Window window_;
  ChannelPaddingValues<T> padding_values_;
  Dim2 output_;
  int spread_;              // width of a row with what is inserted
  int pitch_ = 0;           // elements of each of the stride.w parts of a row
  bool padded_ = false;     // windows look above the first row or below the last one
  bool as_stored_ = false;  // a stored row is all that windows look at
  P padding_ = {}, insertion_ = {};
  P *line_ = nullptr, *rows_ = nullptr;
  std::int64_t* places_ = nullptr;  // of the taps of a row, from where the row begins
};

}  // namespace softtpu
