// Depthwise convolutions and poolings, over windows or over regions of interest
// (numerics: bm1684x-matmul-conv-pool.md sections 1, 4 and 5).
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "device/bdc/pool_rows.hpp"
#include "device/bdc/window_input.hpp"
#include "device/core/commands.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/parallel.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/float_unit.hpp"
#include "device/numeric/shift.hpp"

namespace softtpu {
namespace {

// Windows that are reduced together: their sums and one tap of each stay in the L1 cache.
constexpr int kBlock = 512;

// What a pooling reads: one tap of windows [first, first + count) of a channel's output, and the weights.
template <class T>
struct Taps {
  Dim2 kernel;
  std::function<void(int n, int c, Dim2 tap, int first, int count, T* values)> read;
};

// ---- Inputs ----

template <class T>
Taps<T> window_taps(const Memories& mem, const PoolCmd& cmd) {
  const WindowInput<T> input(mem, cmd.src, cmd.window);
  const ChannelSurroundings<T> surroundings(mem, cmd.padding, cmd.insertion);
  const int width = cmd.dst.shape.w;
  return {cmd.window.kernel, [=](int n, int c, Dim2 tap, int first, int count, T* values) {
            const Surroundings<T> around = surroundings.at(c);
            const T* plane = input.plane(n, c);
            for (int done = 0; done < count;) {
              const int ow = (first + done) % width;
              const int length = std::min(width - ow, count - done);
              input.tap_row(plane, tap, (first + done) / width, ow, length, around, values + done);
              done += length;
            }
          }};
}

struct Region {
  int w, h, last_w, last_h;
};
std::vector<Region> read_regions(const Memories& mem, const Tensor& regions) {
  const TensorView view(mem, regions);
  std::vector<Region> list;
  for (int r = 0; r < regions.shape.c; ++r) {
    const auto* corners = view.at<const std::int16_t>(0, r, 0, 0);
    list.push_back({corners[0], corners[1], corners[2], corners[3]});
  }
  return list;
}

template <class T>
Taps<T> region_taps(const Memories& mem, const RoiPoolCmd& cmd) {
  const TensorView input(mem, cmd.src);
  const std::vector<Region> regions = read_regions(mem, cmd.regions);
  const T outside = constant<T>(cmd.outside);
  return {cmd.kernel, [=](int n, int c, Dim2 tap, int first, int count, T* values) {
            for (int i = 0; i < count; ++i) {
              const Region& region = regions[static_cast<std::size_t>(first + i)];
              const int h = region.h + tap.h;
              const int w = region.w + tap.w;
              const bool inside = h <= region.last_h && w <= region.last_w;
              values[i] = inside ? *input.at<const T>(n, c, h, w) : outside;
            }
          }};
}

// The weight of a tap in a channel, as T stores it.
template <class T>
class TapWeights {
 public:
  TapWeights(const Memories& mem, const Operand& weight, bool turned)
      : view_(mem, std::holds_alternative<Tensor>(weight) ? std::get<Tensor>(weight) : Tensor{}),
        constant_(std::holds_alternative<Scalar>(weight)),
        turned_(turned) {
    if (constant_) {
      value_ = constant<T>(std::get<Scalar>(weight));
    } else {
      last_ = {std::get<Tensor>(weight).shape.h - 1, std::get<Tensor>(weight).shape.w - 1};
    }
  }
  T at(int c, Dim2 tap) const {
    if (constant_) return value_;
    if (turned_) return *view_.at<const T>(0, c, last_.h - tap.h, last_.w - tap.w);
    return *view_.at<const T>(0, c, tap.h, tap.w);
  }

 private:
  TensorView view_;
  bool constant_, turned_;
  T value_ = {};
  Dim2 last_;
};

// ---- The walk ----

// Calls reduce(n, c, first, count, T* out) for blocks of each channel's output, in parallel over channels. An output
// that may overlap the input is written when everything has been read.
template <class T, class Reduce>
void for_each_block(const Memories& mem, const Tensor& dst, std::int64_t taps, bool store_last, Reduce reduce) {
  const TensorView output(mem, dst);
  const Dim4& shape = dst.shape;
  const int plane = shape.h * shape.w;
  std::vector<T> waiting(store_last ? static_cast<std::size_t>(shape.elements()) : 0);
  const auto place = [&](int n, int c) {
    return store_last ? waiting.data() + (std::int64_t{n} * shape.c + c) * plane : output.at<T>(n, c, 0, 0);
  };
  parallel_for(shape.c, shape.elements() * taps, [&](int c) {
    for (int n = 0; n < shape.n; ++n) {
      for (int first = 0; first < plane; first += kBlock) {
        reduce(n, c, first, std::min(kBlock, plane - first), place(n, c) + first);
      }
    }
  });
  if (!store_last) return;
  for (int c = 0; c < shape.c; ++c) {
    for (int n = 0; n < shape.n; ++n) std::copy_n(place(n, c), plane, output.at<T>(n, c, 0, 0));
  }
}

template <class Body>
void for_each_tap(const Dim2& kernel, Body body) {
  for (int h = 0; h < kernel.h; ++h) {
    for (int w = 0; w < kernel.w; ++w) body(Dim2{h, w});
  }
}

// ---- Sums of floats ----

template <class T>
auto add_products() {
  if constexpr (std::is_same_v<T, float>) return pool_rows().add_products_f32;
  if constexpr (std::is_same_v<T, F16>) return pool_rows().add_products_f16;
  if constexpr (std::is_same_v<T, Bf16>) return pool_rows().add_products_bf16;
}

template <class T>
T finished(float value) {
  if constexpr (std::is_same_v<T, float>) {
    // The payload of a NaN depends on the order in which a processor takes its operands: one NaN stands for all.
    return std::isnan(value) ? std::bit_cast<float>(kNanInvalid) : value;
  } else {
    return Wide<T>::round(value);
  }
}

// Two lanes that start at `start`: the bias goes to the first, the products follow alternately.
template <class T>
void sum_floats(const Memories& mem, const Tensor& dst, const Taps<T>& taps, const TapWeights<T>& weights,
                const std::optional<Tensor>& bias, float start, bool store_last) {
  const std::int64_t tap_count = std::int64_t{taps.kernel.h} * taps.kernel.w;
  for_each_block<T>(mem, dst, tap_count, store_last, [&](int n, int c, int first, int count, T* out) {
    T stored[kBlock];
    float values[kBlock];
    float lanes[2][kBlock];
    std::fill_n(lanes[0], count, start);
    std::fill_n(lanes[1], count, start);
    int lane = 0;
    if (bias) {
      const float value = Wide<T>::load(*TensorView(mem, *bias).at<const T>(0, c, 0, 0));
      std::fill_n(lanes[lane], count, Wide<T>::load(Wide<T>::round(start + value)));
      lane = 1;
    }
    for_each_tap(taps.kernel, [&](Dim2 tap) {
      taps.read(n, c, tap, first, count, stored);
      load_run(stored, values, count);
      add_products<T>()(lanes[lane], values, loaded<float>(weights.at(c, tap)), count);
      lane ^= 1;
    });
    for (int i = 0; i < count; ++i) out[i] = finished<T>(lanes[0][i] + lanes[1][i]);
  });
}

// ---- Sums of integers ----

// The 32-bit sums of products (+ a 32-bit bias), handed to finish(sum, out).
template <class T, class W, class D, class Finish>
void sum_integers(const Memories& mem, const Tensor& dst, const Taps<T>& taps, const TapWeights<W>& weights,
                  const std::optional<Tensor>& bias, bool store_last, Finish finish) {
  const std::int64_t tap_count = std::int64_t{taps.kernel.h} * taps.kernel.w;
  for_each_block<D>(mem, dst, tap_count, store_last, [&](int n, int c, int first, int count, D* out) {
    T stored[kBlock];
    std::uint32_t values[kBlock];
    std::uint32_t sums[kBlock];
    std::fill_n(sums, count, bias ? *TensorView(mem, *bias).at<const std::uint32_t>(0, c, 0, 0) : 0U);
    for_each_tap(taps.kernel, [&](Dim2 tap) {
      taps.read(n, c, tap, first, count, stored);
      load_run(stored, values, count);
      pool_rows().add_products_int(sums, values, loaded<std::uint32_t>(weights.at(c, tap)), count);
    });
    for (int i = 0; i < count; ++i) out[i] = finish(sums[i]);
  });
}

// sat(relu(sum >> rshift)); the sum is read as unsigned when all its operands are.
template <class T, class W>
void shift_integers(const Memories& mem, const PoolCmd& cmd, bool store_last) {
  const bool is_signed = std::is_signed_v<T> || std::is_signed_v<W> || (cmd.bias && is_signed_int(cmd.bias_type));
  const Shifter<std::int64_t> shift(-cmd.rshift, cmd.rounding);
  const IntRange range = range_of(cmd.dst.dtype);
  const std::int64_t low = cmd.relu ? std::max<std::int64_t>(range.low, 0) : range.low;
  for_int_type(cmd.dst.dtype, [&]<class D>(D) {
    sum_integers<T, W, D>(mem, cmd.dst, window_taps<T>(mem, cmd), {mem, cmd.weight, cmd.window.turned}, cmd.bias,
                          store_last, [&](std::uint32_t sum) {
                            const std::int64_t value =
                                is_signed ? std::int64_t{static_cast<std::int32_t>(sum)} : std::int64_t{sum};
                            return static_cast<D>(std::clamp(shift(value), low, range.high));
                          });
  });
}

// ---- Maximum and minimum ----

// Elements as f32 that compare like them, and back with every bit: also those of a NaN.
template <class T>
void load_comparable(const T* stored, float* values, int count) {
  if constexpr (std::is_integral_v<T>) {
    for (int i = 0; i < count; ++i) values[i] = static_cast<float>(stored[i]);
  } else {
    load_run(stored, values, count);
  }
}
template <class T>
T restored(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if constexpr (std::is_same_v<T, F16>) {
    if (!is_nan_bits(bits)) return {round_f16(value)};
    return {static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | 0x7C00U | (bits >> 13 & 0x3FFU))};
  }
  if constexpr (std::is_same_v<T, Bf16>) return {static_cast<std::uint16_t>(bits >> 16)};
  if constexpr (std::is_same_v<T, float>) return flush(value);
  if constexpr (std::is_integral_v<T>) return static_cast<T>(value);
}

// What the first tap is compared with: the lowest finite value for a maximum, the highest for a minimum.
template <class T>
float first_best(PoolMode mode) {
  float highest = std::numeric_limits<float>::max();
  float lowest = -highest;
  if constexpr (std::is_same_v<T, F16>) lowest = -(highest = 65504.0F);
  if constexpr (std::is_same_v<T, Bf16>) lowest = -(highest = widen_bf16(0x7F7F));
  if constexpr (std::is_integral_v<T>) {
    lowest = static_cast<float>(std::numeric_limits<T>::lowest());
    highest = static_cast<float>(std::numeric_limits<T>::max());
  }
  return mode == PoolMode::kMax ? lowest : highest;
}

template <class T>
void take_best(const Memories& mem, const Tensor& dst, const Taps<T>& taps, PoolMode mode, bool store_last) {
  const std::int64_t tap_count = std::int64_t{taps.kernel.h} * taps.kernel.w;
  const auto take = mode == PoolMode::kMax ? pool_rows().take_max : pool_rows().take_min;
  for_each_block<T>(mem, dst, tap_count, store_last, [&](int n, int c, int first, int count, T* out) {
    T stored[kBlock];
    float values[kBlock];
    float best[kBlock];
    std::fill_n(best, count, first_best<T>(mode));
    for_each_tap(taps.kernel, [&](Dim2 tap) {
      taps.read(n, c, tap, first, count, stored);
      load_comparable(stored, values, count);
      take(best, values, count);
    });
    for (int i = 0; i < count; ++i) out[i] = restored<T>(best[i]);
  });
}

bool takes_best(PoolMode mode) { return mode == PoolMode::kMax || mode == PoolMode::kMin; }

bool overlaps(const Memories& mem, const Tensor& dst, const Tensor& src, const Operand& weight, const Operand& more,
              const std::optional<Tensor>& bias) {
  const Chip& chip = mem.chip();
  return may_overlap(chip, dst, src) || may_overlap(chip, dst, weight) || may_overlap(chip, dst, more) ||
         (bias && may_overlap(chip, dst, *bias));
}

// An average starts its sums at -0, so that a window of only -0 gives -0.
float first_sum(PoolMode mode) { return mode == PoolMode::kAverage ? -0.0F : 0.0F; }

}  // namespace

void execute(Memories& mem, const PoolCmd& cmd) {
  const bool store_last = overlaps(mem, cmd.dst, cmd.src, cmd.weight, cmd.padding, cmd.bias);
  if (takes_best(cmd.mode)) {
    return for_any_type(
        cmd.src.dtype, [&]<class T>(T) { take_best<T>(mem, cmd.dst, window_taps<T>(mem, cmd), cmd.mode, store_last); });
  }
  if (is_float(cmd.src.dtype)) {
    return for_float_type(cmd.src.dtype, [&]<class T>(T) {
      sum_floats<T>(mem, cmd.dst, window_taps<T>(mem, cmd), {mem, cmd.weight, cmd.window.turned}, cmd.bias,
                    first_sum(cmd.mode), store_last);
    });
  }
  const auto for_byte = [](Dtype type, auto body) { is_signed_int(type) ? body(std::int8_t()) : body(std::uint8_t()); };
  for_byte(cmd.src.dtype, [&]<class T>(T) {
    for_byte(dtype_of(cmd.weight), [&]<class W>(W) { shift_integers<T, W>(mem, cmd, store_last); });
  });
}

void execute(Memories& mem, const RoiPoolCmd& cmd) {
  const bool store_last = overlaps(mem, cmd.dst, cmd.src, cmd.weight, cmd.regions, std::nullopt);
  if (takes_best(cmd.mode)) {
    return for_any_type(
        cmd.src.dtype, [&]<class T>(T) { take_best<T>(mem, cmd.dst, region_taps<T>(mem, cmd), cmd.mode, store_last); });
  }
  if (is_float(cmd.src.dtype)) {
    return for_float_type(cmd.src.dtype, [&]<class T>(T) {
      sum_floats<T>(mem, cmd.dst, region_taps<T>(mem, cmd), {mem, cmd.weight, false}, std::nullopt, first_sum(cmd.mode),
                    store_last);
    });
  }
  const auto for_byte = [](Dtype type, auto body) { is_signed_int(type) ? body(std::int8_t()) : body(std::uint8_t()); };
  for_byte(cmd.src.dtype, [&]<class T>(T) {
    for_byte(dtype_of(cmd.weight), [&]<class W>(W) {
      // The low bits of the sum are the result, without saturation.
      for_size(size_of(cmd.dst.dtype), [&]<class D>(D) {
        sum_integers<T, W, D>(mem, cmd.dst, region_taps<T>(mem, cmd), {mem, cmd.weight, false}, std::nullopt,
                              store_last, [](std::uint32_t sum) { return static_cast<D>(sum); });
      });
    });
  });
}

}  // namespace softtpu
