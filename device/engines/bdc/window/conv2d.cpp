// Convolutions (numerics: bm1684x-matmul-conv-pool.md sections 1, 3 and 4): products of the weights, one row for each
// output channel, and the windows, one column for each output pixel.
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "device/chip/layout.hpp"
#include "device/chip/rules.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/product/byte_product.hpp"
#include "device/engines/bdc/product/load.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/requant/shifted_sums.hpp"
#include "device/engines/bdc/requant/sum_end.hpp"
#include "device/engines/bdc/rows/flushed_halves.hpp"
#include "device/engines/bdc/rows/one_nan.hpp"
#include "device/engines/bdc/window/command.hpp"
#include "device/engines/bdc/window/conv_planes.hpp"
#include "device/engines/bdc/window/inner_order.hpp"
#include "device/engines/bdc/window/window_input.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/scratch.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/float_modes.hpp"
#include "device/numeric/fp8.hpp"
#include "device/numeric/shift.hpp"

namespace softtpu {
namespace {

// The first kLanes of each tap, of which `step` elements are stored, filled up to kFilled with zeros.
template <int kLanes, int kFilled, class T>
void copy_taps(const T* stored, int step, int taps, T* values) {
  if constexpr (sizeof(T) == 1) {
    // All in one register: to read bytes as a word that were stored one by one a moment ago takes longer than the rest.
    constexpr std::uint64_t kKept = ~std::uint64_t{0} >> (64 - 8 * kLanes);
    if (std::abs(step) >= static_cast<int>(sizeof kKept)) {
      for (int tap = 0; tap < taps; ++tap, stored += step, values += kFilled) {
        std::uint64_t lanes = 0;
        std::memcpy(&lanes, stored, sizeof lanes);
        lanes &= kKept;
        std::memcpy(values, &lanes, kFilled);
      }
      return;
    }
  }
  for (int tap = 0; tap < taps; ++tap, stored += step, values += kFilled) {
    T lanes[kFilled] = {};
    std::memcpy(lanes, stored, kLanes * sizeof(T));
    std::memcpy(values, lanes, kFilled * sizeof(T));
  }
}
// The same for numbers that are found at run time. A few lanes are copied as what they are: one by one, and a tap's are
// far from the next one's, they would take longer than all products that they are for.
template <class T, class In>
void load_taps(const T* stored, int step, int taps, int lanes, int filled, In* values) {
  if constexpr (std::is_same_v<T, In>) {
    switch (lanes * 8 + filled) {
      case 1 * 8 + 1: return copy_taps<1, 1>(stored, step, taps, values);
      case 1 * 8 + 2: return copy_taps<1, 2>(stored, step, taps, values);
      case 1 * 8 + 4: return copy_taps<1, 4>(stored, step, taps, values);
      case 2 * 8 + 2: return copy_taps<2, 2>(stored, step, taps, values);
      case 2 * 8 + 4: return copy_taps<2, 4>(stored, step, taps, values);
      case 3 * 8 + 3: return copy_taps<3, 3>(stored, step, taps, values);
      case 3 * 8 + 4: return copy_taps<3, 4>(stored, step, taps, values);
      case 4 * 8 + 4: return copy_taps<4, 4>(stored, step, taps, values);
      case 5 * 8 + 5: return copy_taps<5, 5>(stored, step, taps, values);
      case 5 * 8 + 6: return copy_taps<5, 6>(stored, step, taps, values);
      case 5 * 8 + 8: return copy_taps<5, 8>(stored, step, taps, values);
      case 6 * 8 + 6: return copy_taps<6, 6>(stored, step, taps, values);
      case 6 * 8 + 8: return copy_taps<6, 8>(stored, step, taps, values);
      case 7 * 8 + 7: return copy_taps<7, 7>(stored, step, taps, values);
      case 7 * 8 + 8: return copy_taps<7, 8>(stored, step, taps, values);
      case 8 * 8 + 8: return copy_taps<8, 8>(stored, step, taps, values);
      default: break;
    }
  }
  for (int tap = 0; tap < taps; ++tap, stored += step, values += filled) {
    load_run(stored, values, lanes);
    std::fill_n(values + lanes, filled - lanes, In());
  }
}

// The weights of an output channel in the inner order; the channels of each group are filled up to a multiple of
// `together` with zeros. Input channels that do not exist are zero on the other side, whatever a constant gives them.
template <class T, class In>
std::function<void(int, int, In*)> weight_loader(const Memories& mem, const Conv2dCmd& cmd, int size,
                                                 int together = 1) {
  if (const auto* scalar = std::get_if<Scalar>(&cmd.weight)) {
    return [value = loaded<In>(constant<T>(*scalar)), size](int, int count, In* values) {
      std::fill_n(values, std::int64_t{size} * count, value);
    };
  }
  const TensorView weight(mem, std::get<Tensor>(cmd.weight));
  const int taps = static_cast<int>(cmd.window.taps());
  const bool rotated_180 = cmd.window.rotated_180;
  const int width = std::get<Tensor>(cmd.weight).shape.w;
  const int channels = cmd.src.shape.c;
  return [=](int row, int count, In* values) {
    // Rows lie in local memories of different NPUs, whose lines throw each other out of the cache: later ones are asked
    // for, and whole groups of channels are one run.
    std::vector<const T*> rows(static_cast<std::size_t>(count));
    weight.each_channel<const T>(0, row, count,
                                 [&](int i, const T* stored) { rows[static_cast<std::size_t>(i)] = stored; });
    const int joined = width % together == 0 && !rotated_180 ? channels / width * width : 0;
    for (int i = 0; i < count; ++i) {
      constexpr int kAhead = 2, kLine = 64, kMostLines = 48;
      if (i + kAhead < count) {
        const auto* next = reinterpret_cast<const char*>(rows[static_cast<std::size_t>(i + kAhead)]);
        const int lines = std::min(kMostLines, channels * taps * static_cast<int>(sizeof(T)) / kLine + 1);
        for (int line = 0; line < lines; ++line) __builtin_prefetch(next + line * kLine);
      }
      const T* stored = rows[static_cast<std::size_t>(i)];
      if (joined > 0) {
        load_run(stored, values, taps * joined);
        values += std::int64_t{taps} * joined;
      }
      for (int first = joined; first < channels; first += width) {
        const int lanes = std::min(width, channels - first);
        const int missing = (together - lanes % together) % together;
        const T* group = stored + std::int64_t{first} * taps;
        load_taps(rotated_180 ? group + (taps - 1) * width : group, rotated_180 ? -width : width, taps, lanes,
                  lanes + missing, values);
        values += taps * (lanes + missing);
      }
    }
  };
}

// Consecutive pixels of one output row.
struct PixelRun {
  int n, oh, ow, count, at;
};
std::vector<PixelRun> runs_of(const Dim2& output, int col, int count) {
  std::vector<PixelRun> runs;
  for (int done = 0; done < count;) {
    const int pixel = (col + done) % (output.h * output.w);
    const int ow = pixel % output.w;
    const int length = std::min(output.w - ow, count - done);
    runs.push_back({(col + done) / (output.h * output.w), pixel / output.w, ow, length, done});
    done += length;
  }
  return runs;
}

// What taps look at in runs of pixels: found when it is first asked for, and the same for all channels.
template <class T>
class TapRows {
 public:
  using TapRow = typename WindowInput<T>::TapRow;
  TapRows(const WindowInput<T>& input, const std::vector<PixelRun>& runs, int taps, int kernel_w)
      : input_(input), runs_(runs), kernel_w_(kernel_w), known_(static_cast<std::size_t>(taps)) {
    rows_.resize(known_.size() * runs.size());
  }
  // One for each run.
  const TapRow* of(int tap) {
    TapRow* rows = rows_.data() + static_cast<std::size_t>(tap) * runs_.size();
    if (known_[static_cast<std::size_t>(tap)]) return rows;
    known_[static_cast<std::size_t>(tap)] = true;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      rows[i] = input_.tap_row({tap / kernel_w_, tap % kernel_w_}, runs_[i].oh, runs_[i].ow, runs_[i].count);
    return rows;
  }

 private:
  const WindowInput<T>& input_;
  const std::vector<PixelRun>& runs_;
  int kernel_w_;
  std::vector<bool> known_;
  std::vector<TapRow> rows_;
};

template <class T, class In>
std::function<void(int, int, int, int, In*)> window_loader(const Memories& mem, const Conv2dCmd& cmd) {
  const WindowInput<T> input(mem, cmd.src, cmd.window);
  const ChannelPaddingValues<T> padding_values(mem, cmd.padding, cmd.insertion);
  const InnerOrder order = inner_order(mem.chip(), cmd);
  const Dim2 output{cmd.dst.shape.h, cmd.dst.shape.w};
  const int taps = static_cast<int>(cmd.window.taps());
  const int kernel_w = cmd.window.kernel.w;
  return [=](int k, int depth, int col, int count, In* values) {
    const std::vector<PixelRun> runs = runs_of(output, col, count);
    TapRows<T> rows(input, runs, taps, kernel_w);
    auto place = order.at(k);
    for (int i = 0; i < depth; ++i, place = order.next(place)) {
      const int channel = order.channel(place);
      const PaddingValues<T> around = padding_values.at(channel);
      const auto* seen = rows.of(place.tap);
      const T* plane = nullptr;
      int batch = -1;
      for (const PixelRun& run : runs) {
        if (run.n != batch) plane = input.plane(batch = run.n, channel);
        input.read(plane, *seen++, run.count, around, values + i * kTileCols + run.at);
      }
    }
  };
}

ProductSize product_size(const Memories& mem, const Conv2dCmd& cmd) {
  const Dim4& shape = cmd.dst.shape;
  return {shape.c, inner_order(mem.chip(), cmd).size(), shape.n * shape.h * shape.w};
}

bool must_store_last(const Memories& mem, const Conv2dCmd& cmd) {
  const Chip& chip = mem.chip();
  return may_overlap(chip, cmd.dst, cmd.src) || may_overlap(chip, cmd.dst, cmd.weight) ||
         may_overlap(chip, cmd.dst, cmd.zero_point) || may_overlap(chip, cmd.dst, cmd.padding) ||
         (cmd.bias && may_overlap(chip, cmd.dst, *cmd.bias)) ||
         (cmd.rescale && may_overlap(chip, cmd.dst, *cmd.rescale));
}

// Copies a run, and as much behind it as is convenient: up to `on` elements from its first, which are written later.
template <class T>
void copy_over(const T* from, int run, int on, T* to) {
  const auto copy = [=](auto bytes) {
    constexpr int kStep = static_cast<int>(decltype(bytes)::value / sizeof(T));
    const int whole = (run + kStep - 1) / kStep * kStep;
    if (whole > on) return copy_run(from, run, to);
    for (int i = 0; i < whole; i += kStep) std::memcpy(to + i, from + i, decltype(bytes)::value);
  };
  const unsigned bytes = static_cast<unsigned>(run) * sizeof(T);
  if (bytes > 32) return copy(std::integral_constant<unsigned, 64>());
  if (bytes > 16) return copy(std::integral_constant<unsigned, 32>());
  if (bytes > 8) return copy(std::integral_constant<unsigned, 16>());
  copy(std::integral_constant<unsigned, 8>());
}

// What belongs to columns of the product in a channel of the output. Columns are pixels, counted over batches, or
// places of planes. The output has no gaps between its rows.
class OutputPixels {
 public:
  OutputPixels(const Memories& mem, const Tensor& dst, const PlaneGeometry* planes = nullptr)
      : view_(mem, dst), width_(dst.shape.w), pixels_(dst.shape.h * dst.shape.w), planes_(planes) {}
  using Run = ResultRun;
  // The runs of the columns [col, col + count), until this thread asks again: found once for all channels of a tile.
  std::span<const Run> runs(int col, int count) const {
    Run* list = room<Run, struct PixelRuns>(count);
    std::size_t found = 0;
    if (planes_ != nullptr) {
      planes_->joined_pixels(col, count, [&](int i, int n, int oh, int ow, int run) {
        list[found++] = {i, n, oh * width_ + ow, run, run};
      });
      for (std::size_t i = found; i-- > 1;) {
        Run& run = list[i - 1];
        if (run.n == list[i].n && run.pixel + run.count == list[i].pixel) run.on += list[i].on;
      }
      return {list, found};
    }
    for (int done = 0; done < count;) {
      const int pixel = (col + done) % pixels_;
      const int length = std::min(pixels_ - pixel, count - done);
      list[found++] = {done, (col + done) / pixels_, pixel, length, length};
      done += length;
    }
    return {list, found};
  }
  // visit(i, first, run) for each of them in a channel.
  template <class T, class Visit>
  void visit(int channel, std::span<const Run> runs, Visit visit) const {
    each_run<T>(channel, runs, [&](const Run& run, T* first) { visit(run.i, first, run.count); });
  }
  // Values of a whole piece of a row at once: pixels of planes are short runs, with places between them that are no
  // pixels.
  template <class T>
  void store(int channel, std::span<const Run> runs, const T* values) const {
    each_run<T>(channel, runs, [&](const Run& run, T* first) { copy_over(values + run.i, run.count, run.on, first); });
  }
  // Where a run begins in the tile's channels.
  template <class T>
  void places(const Tile& tile, const Run& run, void** rows) const {
    view_.each_channel<T>(run.n, tile.row, tile.rows, [&](int i, T* first) { rows[i] = first + run.pixel; });
  }

 private:
  template <class T, class Visit>
  void each_run(int channel, std::span<const Run> runs, Visit visit) const {
    T* first = nullptr;
    int batch = -1;
    for (const Run& run : runs) {
      if (run.n != batch) first = view_.at<T>(batch = run.n, channel, 0, 0);
      visit(run, first + run.pixel);
    }
  }

  TensorView view_;
  int width_, pixels_;
  const PlaneGeometry* planes_;
};

// Takes a result channel by channel: store(channel, runs, count, values).
template <class T, class StoreChannel>
Store<T> by_channels(const OutputPixels& output, StoreChannel store) {
  return [&output, store](const Tile& tile, const T* values, std::int64_t step) {
    const auto runs = output.runs(tile.col, tile.cols);
    for (int i = 0; i < tile.rows; ++i) store(tile.row + i, runs, tile.cols, values + i * step);
  };
}

// What is added to the sums: an f32 tensor at the output's address, whatever type the output has.
Tensor old_result(const Chip& chip, const Conv2dCmd& cmd) {
  if (cmd.dst.dtype == Dtype::kFp32) return cmd.dst;
  Tensor old = cmd.dst;
  old.dtype = Dtype::kFp32;
  old.stride = aligned_stride(chip, chip.npu_of(old.addr), old.shape, old.dtype);
  return old;
}

template <class Body>
void for_conv_type(Dtype type, Body body) {
  is_fp8(type) ? for_fp8_type(type, body) : for_float_type(type, body);
}

// One factor for each output channel; 1 without rescaling.
std::vector<float> rescales(const Memories& mem, const Conv2dCmd& cmd) {
  std::vector<float> factors(static_cast<std::size_t>(cmd.dst.shape.c), 1.0F);
  if (!cmd.rescale) return factors;
  if (const auto* scalar = std::get_if<Scalar>(&*cmd.rescale)) {
    std::fill(factors.begin(), factors.end(), flush(constant<float>(*scalar)));
    return factors;
  }
  const TensorView view(mem, std::get<Tensor>(*cmd.rescale));
  for (int c = 0; c < cmd.dst.shape.c; ++c)
    factors[static_cast<std::size_t>(c)] = flush(*view.at<const float>(0, c, 0, 0));
  return factors;
}

void convolve_floats(Memories& mem, const Conv2dCmd& cmd) {
  FloatProduct product;
  product.rule = cmd.src.dtype == Dtype::kFp32 ? FloatSum::kTwoLanes : FloatSum::kGroups;
  const FloatPlanes planes(mem, cmd);
  // An old result that is wider than the new one waits for all sums, which planes do not.
  const bool wide_old = cmd.add_old && cmd.dst.dtype != Dtype::kFp32, packs = planes.pay() && !wide_old;
  product.size = packs ? planes.size() : product_size(mem, cmd);
  for_conv_type(dtype_of(cmd.weight),
                [&]<class T>(T) { product.source.left = weight_loader<T, float>(mem, cmd, product.size.inner); });
  for_conv_type(cmd.src.dtype, [&]<class T>(T) { product.source.right = window_loader<T, float>(mem, cmd); });
  if (packs) product.packed = &planes.packed();
  const InnerOrder order = inner_order(mem.chip(), cmd);
  product.group = mem.chip().sum_group * (is_fp8(cmd.src.dtype) ? 2 : 1);
  product.nan_wins = mem.chip().has(Quirk::kOneNan);
  product.tail_begin = order.whole();
  product.tail_group = order.rest();
  const OutputPixels output(mem, cmd.dst, packs ? &planes.geometry() : nullptr);
  if (cmd.bias) {
    const TensorView bias(mem, *cmd.bias);
    for_float_type(cmd.bias->dtype, [&]<class T>(T) {
      product.addends.push_back([bias](int row, int, int count, float* values) {
        std::fill_n(values, count, loaded<float>(*bias.at<const T>(0, row, 0, 0)));
      });
    });
  }
  const OutputPixels old(mem, old_result(mem.chip(), cmd), packs ? &planes.geometry() : nullptr);
  if (cmd.add_old) {
    product.addends.push_back([&old](int row, int col, int count, float* values) {
      old.visit<const float>(row, old.runs(col, count),
                             [&](int i, const float* first, int run) { copy_run(first, run, values + i); });
    });
  }
  product.relu = cmd.relu;
  product.relu_keeps_nan = mem.chip().has(Quirk::kOneNan);
  product.signs_nan = cmd.dst.dtype != Dtype::kFp32 && mem.chip().has(Quirk::kHalfNanSign);
  product.store_last = must_store_last(mem, cmd) || wide_old;
  const std::vector<float> factors = rescales(mem, cmd);
  for_conv_type(cmd.dst.dtype, [&]<class T>(T) {
    product.store = by_channels<float>(output, [&](int row, const auto& runs, int count, const float* values) {
      if (cmd.rescale) {
        float* scaled = room<float, struct Rescaled>(count);
        for (int i = 0; i < count; ++i) scaled[i] = float_product(values[i], factors[static_cast<std::size_t>(row)]);
        values = scaled;
      }
      output.visit<T>(row, runs,
                      [&](int i, T* first, int run) { store_run(values + i, run, first, product.signs_nan); });
    });
    multiply(product);
  });
  unify_nans(mem, cmd.dst);
}

// One value for each output channel; 0 without a bias.
std::vector<std::uint32_t> biases(const Memories& mem, const Conv2dCmd& cmd) {
  std::vector<std::uint32_t> bias(static_cast<std::size_t>(cmd.dst.shape.c));
  if (!cmd.bias) return bias;
  const TensorView view(mem, *cmd.bias);
  for_int_type(cmd.bias->dtype, [&]<class T>(T) {
    for (int c = 0; c < cmd.dst.shape.c; ++c) {
      bias[static_cast<std::size_t>(c)] = loaded<std::uint32_t>(*view.at<const T>(0, c, 0, 0));
    }
  });
  return bias;
}

// Sums that end by `rule`, as the output stores them: `type` has its size.
template <class T>
ByteProduct::Ending ending_of(const OutputPixels& output, const SumShift& rule,
                              const std::vector<std::uint32_t>& starts, Dtype type) {
  return {rule,
          starts,
          type,
          [&](int col, int count) { return output.runs(col, count); },
          [&](const Tile& tile, const ResultRun& run, void** places) { output.places<T>(tile, run, places); },
          [&](const Tile& tile, std::span<const ResultRun> runs, const void* results, std::int64_t step) {
            const T* ended = static_cast<const T*>(results);
            for (int i = 0; i < tile.rows; ++i) output.store(tile.row + i, runs, ended + i * step);
          }};
}

// sat(relu((sum + bias) >> rshift)), ties up. The 32-bit sum is read as unsigned when all types are.
void convolve_symmetric(Memories& mem, const Conv2dCmd& cmd, const OutputPixels& output, ByteProduct& product) {
  const bool is_signed = product.left_signed || product.right_signed || is_signed_int(cmd.bias_type);
  // Without relu one signed type makes the range signed, whatever the output type is.
  const bool signed_range = !cmd.relu && is_signed;
  const Dtype type = !signed_range ? cmd.dst.dtype : size_of(cmd.dst.dtype) == 1 ? Dtype::kInt8 : Dtype::kInt16;
  const IntRange range = range_of(type);
  const std::int64_t low = cmd.relu ? std::max<std::int64_t>(range.low, 0) : range.low;
  const SumShift rule{is_signed, {-cmd.rshift, Rounding::kHalfUp}, low, range.high};
  const std::vector<std::uint32_t> bias = biases(mem, cmd);
  for_int_type(cmd.dst.dtype, [&]<class T>(T) {
    product.store = by_channels<std::uint32_t>(
        output, [&, shift = shift_sums(sizeof(T))](int row, const auto& runs, int count, const std::uint32_t* sums) {
          T* ended = room<T, struct Ended>(count);
          shift(rule, sums, bias[static_cast<std::size_t>(row)], nullptr, count, ended);
          output.store(row, runs, ended);
        });
    product.ending = ending_of<T>(output, rule, bias, type);
    multiply(product);
  });
}

// One zero point for each output channel.
std::vector<std::uint32_t> zero_points(const Memories& mem, const Conv2dCmd& cmd) {
  std::vector<std::uint32_t> points(static_cast<std::size_t>(cmd.dst.shape.c));
  for_int_type(dtype_of(cmd.zero_point), [&]<class T>(T) {
    if (const auto* scalar = std::get_if<Scalar>(&cmd.zero_point)) {
      std::fill(points.begin(), points.end(), loaded<std::uint32_t>(constant<T>(*scalar)));
      return;
    }
    const TensorView view(mem, std::get<Tensor>(cmd.zero_point));
    for (int c = 0; c < cmd.dst.shape.c; ++c) {
      points[static_cast<std::size_t>(c)] = loaded<std::uint32_t>(*view.at<const T>(0, c, 0, 0));
    }
  });
  return points;
}

// A 32-bit sum cut to 16 bits: to the signed range, whatever the output type is, unless everything is unsigned.
std::uint16_t cut_to_half(std::uint32_t sum, bool is_unsigned) {
  if (is_unsigned) return static_cast<std::uint16_t>(std::min<std::uint32_t>(sum, 65535));
  return static_cast<std::uint16_t>(std::clamp(static_cast<std::int32_t>(sum), -32768, 32767));
}

// Sums + old modulo 2^32, read as signed, clamped to the output type.
void convolve_and_clamp(Memories& mem, const Conv2dCmd& cmd, const OutputPixels& output, ByteProduct& product) {
  const bool add_old = cmd.add_old;
  const IntRange range = range_of(cmd.dst.dtype);
  product.zero_points = ZeroPoints::kOfRows;
  product.points = zero_points(mem, cmd);
  for_int_type(cmd.dst.dtype, [&]<class T>(T) {
    product.store = by_channels<std::uint32_t>(output, [&](int row, const auto& runs, int, const std::uint32_t* sums) {
      output.visit<T>(row, runs, [&](int i, T* first, int run) {
        for (int j = 0; j < run; ++j) {
          const std::uint32_t sum = sums[i + j] + (add_old ? static_cast<std::uint32_t>(first[j]) : 0U);
          first[j] = static_cast<T>(std::clamp<std::int64_t>(static_cast<std::int32_t>(sum), range.low, range.high));
        }
      });
    });
    multiply(product);
  });
}

void convolve_asymmetric(Memories& mem, const Conv2dCmd& cmd, const OutputPixels& output, ByteProduct& product) {
  if (mem.chip().has(Quirk::kRawZeroPoints)) return convolve_and_clamp(mem, cmd, output, product);
  const bool is_unsigned = sums_are_unsigned(cmd);
  const bool add_old = cmd.add_old;
  product.zero_points = ZeroPoints::kOfRows;
  product.points = zero_points(mem, cmd);
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) {
    product.store = by_channels<std::uint32_t>(output, [&](int row, const auto& runs, int, const std::uint32_t* sums) {
      output.visit<T>(row, runs, [&](int i, T* first, int run) {
        const std::uint32_t* values = sums + i;
        if constexpr (sizeof(T) < 4) {
          for (int j = 0; j < run; ++j) first[j] = static_cast<T>(cut_to_half(values[j], is_unsigned));
        } else if (add_old) {
          for (int j = 0; j < run; ++j) first[j] += values[j];
        } else {
          copy_run(values, run, first);
        }
      });
    });
    if (sizeof(T) == 4 && !add_old) {
      const IntRange range = range_of(cmd.dst.dtype);
      const SumShift as_they_are{is_signed_int(cmd.dst.dtype), {0, Rounding::kHalfUp}, range.low, range.high};
      product.ending =
          ending_of<T>(output, as_they_are, std::vector<std::uint32_t>(product.points.size()), cmd.dst.dtype);
    }
    multiply(product);
  });
}

// Sums less zero points, + bias + old modulo 2^32, then the end that the command wants.
void convolve_requantised(Memories& mem, const Conv2dCmd& cmd, const OutputPixels& output, ByteProduct& product) {
  const std::vector<std::uint32_t> bias = biases(mem, cmd);
  // Sums without a sign are read as such for results without one (golden-bmodel bm1688/instr_1 conv/0057).
  const bool is_signed = !sums_are_unsigned(cmd) || (cmd.requant && is_signed_int(cmd.dst.dtype));
  const SumEnds ends(mem, {cmd.dst.dtype, is_signed, cmd.relu, cmd.symmetric}, cmd.requant);
  const bool add_old = cmd.add_old;
  product.zero_points = ZeroPoints::kOfRows;
  product.points = zero_points(mem, cmd);
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) {
    product.store =
        by_channels<std::uint32_t>(output, [&](int row, const auto& runs, int count, const std::uint32_t* sums) {
          if (add_old) {
            std::uint32_t* added = room<std::uint32_t, struct Added>(count);
            output.visit<T>(row, runs, [&](int i, const T* old, int run) {
              for (int j = 0; j < run; ++j) added[i + j] = sums[i + j] + old[j];
            });
            sums = added;
          }
          T* ended = room<T, struct Ended>(count);
          ends.of(row)(sums, bias[static_cast<std::size_t>(row)], count, ended);
          output.store(row, runs, ended);
        });
    multiply(product);
  });
}

void convolve_bytes(Memories& mem, const Conv2dCmd& cmd) {
  ByteProduct product;
  product.left_signed = is_signed_int(dtype_of(cmd.weight));
  product.right_signed = is_signed_int(cmd.src.dtype);
  const BytePlanes planes(mem, cmd);
  if (planes.pay()) {
    product.size = planes.size();
    product.source.left = weight_loader<std::uint8_t, std::uint8_t>(mem, cmd, planes.size().inner, planes.per_word());
    product.packed = &planes.packed();
  } else {
    product.size = product_size(mem, cmd);
    product.source = {weight_loader<std::uint8_t, std::uint8_t>(mem, cmd, product.size.inner),
                      window_loader<std::uint8_t, std::uint8_t>(mem, cmd)};
  }
  product.store_last = must_store_last(mem, cmd);
  const OutputPixels output(mem, cmd.dst, planes.pay() ? &planes.geometry() : nullptr);
  switch (cmd.kind) {
    case Conv2dKind::kSymmetric: return convolve_symmetric(mem, cmd, output, product);
    case Conv2dKind::kAsymmetric: return convolve_asymmetric(mem, cmd, output, product);
    case Conv2dKind::kRequantised: return convolve_requantised(mem, cmd, output, product);
    case Conv2dKind::kFloat: break;
  }
  unreachable(cmd.kind);
}

}  // namespace

static void carry_out(Memories& mem, const Conv2dCmd& cmd) {
  cmd.kind == Conv2dKind::kFloat ? convolve_floats(mem, cmd) : convolve_bytes(mem, cmd);
}

void execute(Memories& mem, const Conv2dCmd& cmd) {
  with_flushed_halves(mem, cmd, [&](const Conv2dCmd& flushed) { carry_out(mem, flushed); });
}

}  // namespace softtpu
