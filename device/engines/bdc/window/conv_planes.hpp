// The input of a convolution laid out so that products can read it as it is: padded, with what is inserted, and with a
// stride of s every s-th row and column side by side. Columns of the product are the places of a plane, row by row, so
// that each kernel tap of neighbouring columns is a run of neighbours; the places behind an output row are computed and
// not used.
#pragma once

#include <algorithm>
#include <vector>

#include "device/engines/bdc/product/byte_kernels.hpp"
#include "device/engines/bdc/product/byte_product.hpp"
#include "device/engines/bdc/window/inner_order.hpp"
#include "device/engines/bdc/window/window_input.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/scratch.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/fp8.hpp"

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

  // The planes of a channel from their lines, which are what its planes in a row see, place by place: of each phase
  // down, rows() lines of line() elements. Only where more than one phase across is read; else planes are filled
  // themselves.
  bool has_lines() const { return across_.size() > 1; }
  int lines() const { return static_cast<int>(down_.size()) * rows_; }
  int line() const { return (pitch_ - 1) * window_.stride.w + across_.back() + 1; }
  int line_phase(int index) const { return down_[static_cast<std::size_t>(index / rows_)]; }
  template <class T>
  void split(const T* lines, T* out) const {
    static_assert(sizeof(T) == 4);
    const int step = window_.stride.w, pitch = pitch_;
    for (int index = 0; index < this->lines(); ++index, lines += line()) {
      const auto to = [&](std::size_t phase) {
        const std::size_t plane = static_cast<std::size_t>(index / rows_) * across_.size() + phase;
        return out + static_cast<std::int64_t>(plane) * plane_size() + std::int64_t{index % rows_} * pitch;
      };
      if (step == 2) {
        load_rows().split_words(lines, pitch, to(0), to(1));
        continue;
      }
      for (std::size_t phase = 0; phase < across_.size(); ++phase) {
        const T* from = lines + across_[phase];
        T* row = to(phase);
        for (int i = 0; i < pitch; ++i) row[i] = from[i * step];
      }
    }
  }

  // Columns of the product for one batch.
  int cols() const { return (output_.h - 1) * pitch_ + output_.w; }
  // Output pixels among the columns [col, col + count): visit(i, n, oh, ow, run). Each batch fills whole tiles, so that
  // columns may lie behind its last pixel; a result that is stored at the end has all batches.
  template <class Visit>
  void pixels(int col, int count, Visit visit) const {
    for_each_batch(col, count, [&](int i, int n, int first, int end) {
      for (int row = first / pitch_, x = first % pitch_; first < end; ++row, x = 0) {
        const int run = std::min(end - first, pitch_ - x);
        if (x < output_.w) visit(i, n, row, x, std::min(run, output_.w - x));
        first += run;
        i += run;
      }
    });
  }
  // As pixels() for a result without gaps between its rows: where every place is a pixel, a run goes on in the next
  // row.
  template <class Visit>
  void joined_pixels(int col, int count, Visit visit) const {
    if (pitch_ != output_.w) return pixels(col, count, visit);
    for_each_batch(col, count,
                   [&](int i, int n, int first, int end) { visit(i, n, first / pitch_, first % pitch_, end - first); });
  }

 private:
  // The columns of each batch that are not behind its last pixel: body(i, n, first, end), counted in the batch.
  template <class Body>
  void for_each_batch(int col, int count, Body body) const {
    const int step = tiled(cols());
    for (int i = 0; i < count;) {
      const int n = (col + i) / step, first = (col + i) % step;
      const int end = std::min(first + count - i, cols());
      if (first < end) body(i, n, first, end);
      i += step - first;
    }
  }
  static int tiled(int cols) { return (cols + kTileCols - 1) / kTileCols * kTileCols; }
  static std::vector<int> phases(int kernel, int dilation, int stride) {
    std::vector<int> found;
    for (int k = 0; k < std::min(kernel, stride); ++k) {
      if (index_of(found, k * dilation % stride) == static_cast<std::ptrdiff_t>(found.size()))
        found.push_back(k * dilation % stride);
    }
    std::sort(found.begin(), found.end());
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

// Fills planes of elements T, or their lines, channel by channel.
template <class T>
class PlaneFiller {
 public:
  PlaneFiller(const Memories& mem, const Conv2dCmd& cmd, const PlaneGeometry& geometry, bool lines = false)
      : count_(lines ? geometry.line() : geometry.pitch()),
        input_(mem, cmd.src, every_step(cmd.window, lines)),
        padding_values_(mem, cmd.padding, cmd.insertion) {
    if (lines) {
      for (int i = 0; i < geometry.lines(); ++i)
        seen_.push_back(input_.tap_row({geometry.line_phase(i), 0}, i % geometry.rows(), 0, count_));
      return;
    }
    for (int plane = 0; plane < geometry.planes(); ++plane) {
      for (int row = 0; row < geometry.rows(); ++row)
        seen_.push_back(input_.tap_row(geometry.phase(plane), row, 0, count_));
    }
    as_stored_ = cmd.window.stride.w == 1 && cmd.window.insert.w == 0 && cmd.src.stride.w == 1;
    for (std::size_t i = 0; as_stored_ && i < seen_.size(); ++i) {
      const auto& seen = seen_[i];
      as_stored_ = !seen.is_inserted && seen.x == 0 && seen.first == 0 && seen.last == count_ &&
                   seen.row == static_cast<std::int64_t>(i) * count_;
    }
  }
  // A channel's planes where they are its stored elements, as those of a 1x1 kernel mostly are; else nullptr.
  const T* stored(int n, int c) const { return as_stored_ ? input_.plane(n, c) : nullptr; }
  // All of channel c of batch n, as the type that is multiplied.
  template <class In>
  void fill(int n, int c, In* out) const {
    const T* from = input_.plane(n, c);
    const PaddingValues<T> around = padding_values_.at(c);
    for (const auto& seen : seen_) {
      input_.read(from, seen, count_, around, out);
      out += count_;
    }
  }

 private:
  // A phase is read like a tap that far from the first one.
  static Window every_step(Window window, bool lines) {
    window.dilation = {1, 1};
    if (lines) window.stride.w = 1;
    return window;
  }

  int count_;  // elements of a row or line
  WindowInput<T> input_;
  ChannelPaddingValues<T> padding_values_;
  std::vector<typename WindowInput<T>::TapRow> seen_;
  bool as_stored_ = false;
};

// The planes of a command: elements are In, floats or words of neighbouring channels (byte_kernels.hpp).
template <class In>
class ConvPlanes {
 public:
  ConvPlanes(const Memories& mem, const Conv2dCmd& cmd)
      : geometry_(cmd.window, {cmd.dst.shape.h, cmd.dst.shape.w}),
        per_word_(kBytes ? byte_kernels().per_word : 1),
        channels_((cmd.src.shape.c + per_word_ - 1) / per_word_),
        rows_(cmd.dst.shape.c) {
    packed_.parts = cmd.src.shape.n;
    packed_.part_cols = geometry_.cols();
    packed_.part_step = channels_ * geometry_.channel_size();
    pays_ = !plain_kernels() && packed_.parts * packed_.part_step <= kMostElements &&
            (kBytes ? takes_less_time(cmd) : wastes_little(cmd));
    if (!pays_) return;
    const int group = std::max(1, inner_order(mem.chip(), cmd).group() / per_word_);
    const InnerOrder order(channels_, group, static_cast<int>(cmd.window.taps()));
    auto place = order.at(0);
    for (int k = 0; k < order.size(); ++k, place = order.next(place))
      packed_.offsets.push_back(order.channel(place) * geometry_.channel_size() + geometry_.offset(place.tap));
    thread_local Scratch<In> memory;
    In* values = memory.room(packed_.parts * packed_.part_step + kTileCols);
    std::fill_n(values + packed_.parts * packed_.part_step, kTileCols, In());
    packed_.values = values;
    load(mem, cmd, values);
  }

  bool pay() const { return pays_; }
  const PlaneGeometry& geometry() const { return geometry_; }
  const PackedRight<In>& packed() const { return packed_; }
  int per_word() const { return per_word_; }
  ProductSize size() const {
    return {rows_, static_cast<int>(packed_.offsets.size()) * per_word_, packed_.tiles() * kTileCols};
  }

 private:
  static constexpr bool kBytes = std::is_same_v<In, std::uint32_t>;
  static constexpr std::int64_t kMostElements = 16 << 20;

  // Places that are computed: the last tile of a part is as narrow as whole vectors allow.
  double places() const {
    constexpr int kVector = 16;
    const int last = (packed_.part_cols % kTileCols + kVector - 1) / kVector * kVector;
    const int whole = packed_.part_cols / kTileCols * kTileCols;
    return static_cast<double>(packed_.parts) * (whole + last);
  }

  // Few places are computed in vain. How many may be depends on what gathering windows costs beside the products.
  bool wastes_little(const Conv2dCmd& cmd) const {
    const double most = cmd.src.dtype == Dtype::kFp32 ? 1.25 : 1.08;
    return places() <= most * std::max(pixels(cmd), 1.0 * kTileCols);
  }

  // Products of bytes are so quick that everything around them counts: windows are read run by run of each tap and
  // channel, planes row by row; results of planes are stored run by run. A word of windows holds taps or channels, as
  // they come, one of planes channels of one tap. Nanoseconds as measured with AVX-512 on one thread.
  bool takes_less_time(const Conv2dCmd& cmd) const {
    constexpr double kRun = 9, kElement = 0.25, kStepped = 0.4, kStoredRun = 3, kSum = 0.25, kWord = 1.0 / 80;
    constexpr double kWindows = 4000;  // what gathering begins with
    constexpr double kClearly = 1.15;  // no less is sure
    const double batches = packed_.parts, output_rows = batches * cmd.dst.shape.h;
    const double taps = static_cast<double>(cmd.window.taps()), inner = taps * cmd.src.shape.c;
    const double plane_rows = batches * cmd.src.shape.c * geometry_.planes() * geometry_.rows();
    const double stored_runs = geometry_.pitch() == cmd.dst.shape.w ? batches : output_rows;
    const double element = cmd.window.stride.w == 1 ? kElement : kStepped;
    const auto sums = [this](double columns, double words) { return rows_ * columns * (kSum + words * kWord); };
    const double windows = kWindows + inner * (output_rows * kRun + pixels(cmd) * element) +
                           rows_ * batches * kStoredRun + sums(pixels(cmd), inner / per_word_);
    const double planes = plane_rows * (kRun + geometry_.pitch() * kElement) + rows_ * stored_runs * kStoredRun +
                          sums(places(), taps * channels_);
    return planes <= kClearly * windows;
  }

  static double pixels(const Conv2dCmd& cmd) {
    const Dim4& shape = cmd.dst.shape;
    return static_cast<double>(shape.n) * shape.h * shape.w;
  }

  void load(const Memories& mem, const Conv2dCmd& cmd, In* values) const {
    const int planes = packed_.parts * channels_;
    const std::int64_t size = geometry_.channel_size();
    if constexpr (kBytes) {
      const bool lines = geometry_.has_lines();
      const PlaneFiller<std::uint8_t> filler(mem, cmd, geometry_, lines);
      const std::int64_t filled = lines ? std::int64_t{geometry_.lines()} * geometry_.line() : size;
      const bool is_signed = is_signed_int(cmd.src.dtype);
      const std::uint8_t turn = byte_turn(is_signed_int(dtype_of(cmd.weight)), is_signed);
      parallel_for(planes, cmd.src.shape.elements(), [&](int index) {
        thread_local Scratch<std::uint8_t> bytes;
        const int first = index % channels_ * per_word_;
        const int rows = std::min(per_word_, cmd.src.shape.c - first);
        const std::uint8_t* from[4];
        for (int c = 0; c < rows; ++c) {
          from[c] = filler.stored(index / channels_, first + c);
          if (from[c] != nullptr) continue;
          std::uint8_t* planes_of_channel = bytes.room(filled * per_word_) + c * filled;
          filler.fill(index / channels_, first + c, planes_of_channel);
          from[c] = planes_of_channel;
        }
        In* planes_of_word = values + index * size;
        In* words = lines ? room<In, struct Lines>(filled) : planes_of_word;
        byte_kernels().pack_right(rows, from, static_cast<int>(filled), is_signed, turn, words);
        if (lines) geometry_.split(words, planes_of_word);
      });
    } else {
      const auto for_type = [&](auto body) {
        is_fp8(cmd.src.dtype) ? for_fp8_type(cmd.src.dtype, body) : for_float_type(cmd.src.dtype, body);
      };
      for_type([&]<class T>(T) {
        const PlaneFiller<T> filler(mem, cmd, geometry_);
        parallel_for(planes, cmd.src.shape.elements(),
                     [&](int index) { filler.fill(index / channels_, index % channels_, values + index * size); });
      });
    }
  }

  PlaneGeometry geometry_;
  int per_word_, channels_, rows_;
  bool pays_ = false;
  PackedRight<In> packed_;
};
using FloatPlanes = ConvPlanes<float>;
using BytePlanes = ConvPlanes<std::uint32_t>;

}  // namespace softtpu
