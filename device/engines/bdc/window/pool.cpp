// Depthwise convolutions and poolings, over windows or over regions of interest
// (numerics: bm1684x-matmul-conv-pool.md sections 1, 4 and 5).
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "device/chip/rules.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/requant/shifted_sums.hpp"
#include "device/engines/bdc/requant/sum_end.hpp"
#include "device/engines/bdc/rows/flushed_halves.hpp"
#include "device/engines/bdc/rows/one_nan.hpp"
#include "device/engines/bdc/window/command.hpp"
#include "device/engines/bdc/window/pool_best.hpp"
#include "device/engines/bdc/window/pool_taps.hpp"
#include "device/engines/bdc/window/region_taps.hpp"
#include "device/engines/bdc/window/window_plane.hpp"
#include "device/engines/bdc/window/window_sheet.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/scratch.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/float_modes.hpp"
#include "device/numeric/shift.hpp"

namespace softtpu {
namespace {

// ---- Inputs: T is stored, P is what the loops take ----

template <class T, class P>
WindowPlane<T, P> input_of(const Memories& mem, const PoolCmd& cmd) {
  return {mem, cmd};
}
template <class T, class P>
RegionTaps<T, P> input_of(const Memories& mem, const RoiPoolCmd& cmd) {
  return {mem, cmd};
}
const Dim2& kernel_of(const PoolCmd& cmd) { return cmd.window.kernel; }
const Dim2& kernel_of(const RoiPoolCmd& cmd) { return cmd.kernel; }
bool is_rotated_180(const PoolCmd& cmd) { return cmd.window.rotated_180; }
bool is_rotated_180(const RoiPoolCmd&) { return false; }
const std::optional<Tensor>& bias_of(const PoolCmd& cmd) { return cmd.bias; }
std::optional<Tensor> bias_of(const RoiPoolCmd&) { return std::nullopt; }
bool has_relu(const PoolCmd& cmd) { return cmd.relu; }
bool has_relu(const RoiPoolCmd&) { return false; }

// The weight of a tap in a channel, as T stores it.
template <class T>
class TapWeights {
 public:
  TapWeights(const Memories& mem, const Operand& weight, bool rotated_180)
      : view_(mem, std::holds_alternative<Tensor>(weight) ? std::get<Tensor>(weight) : Tensor{}),
        constant_(std::holds_alternative<Scalar>(weight)),
        rotated_180_(rotated_180) {
    if (constant_) {
      value_ = constant<T>(std::get<Scalar>(weight));
    } else {
      last_ = {std::get<Tensor>(weight).shape.h - 1, std::get<Tensor>(weight).shape.w - 1};
    }
  }
  // All weights of a channel, loaded as P, in the order of the taps; until the thread asks for the next channel.
  template <class P>
  const P* of_channel(int c, const Dim2& kernel) const {
    P* const weights = room<P, struct Weights>(kernel.h * kernel.w);
    for (int h = 0; h < kernel.h; ++h) {
      for (int w = 0; w < kernel.w; ++w) weights[h * kernel.w + w] = loaded<P>(at(c, {h, w}));
    }
    return weights;
  }

 private:
  T at(int c, Dim2 tap) const {
    if (constant_) return value_;
    if (rotated_180_) return *view_.at<const T>(0, c, last_.h - tap.h, last_.w - tap.w);
    return *view_.at<const T>(0, c, tap.h, tap.w);
  }

  TensorView view_;
  bool constant_, rotated_180_;
  T value_ = {};
  Dim2 last_;
};

// ---- The walk ----

bool must_store_last(const Memories& mem, const PoolCmd& cmd) {
  const Chip& chip = mem.chip();
  return may_overlap(chip, cmd.dst, cmd.src) || may_overlap(chip, cmd.dst, cmd.weight) ||
         may_overlap(chip, cmd.dst, cmd.padding) || (cmd.bias && may_overlap(chip, cmd.dst, *cmd.bias));
}
bool must_store_last(const Memories& mem, const RoiPoolCmd& cmd) {
  const Chip& chip = mem.chip();
  return may_overlap(chip, cmd.dst, cmd.src) || may_overlap(chip, cmd.dst, cmd.weight) ||
         may_overlap(chip, cmd.dst, cmd.regions);
}

// Where results go: to the output, or to a copy of it that is stored when everything has been read, because the output
// may overlap an operand.
template <class T>
class Results {
 public:
  Results(const Memories& mem, const Tensor& dst, bool store_last)
      : view_(mem, dst), shape_(dst.shape), waiting_(store_last ? static_cast<std::size_t>(shape_.elements()) : 0) {}
  T* place(int n, int c) {
    if (waiting_.empty()) return view_.template at<T>(n, c, 0, 0);
    return waiting_.data() + (std::int64_t{n} * shape_.c + c) * shape_.h * shape_.w;
  }
  void finish() {
    if (waiting_.empty()) return;
    for (int c = 0; c < shape_.c; ++c) {
      for (int n = 0; n < shape_.n; ++n) {
        std::copy_n(place(n, c), shape_.h * shape_.w, view_.template at<T>(n, c, 0, 0));
      }
    }
  }

 private:
  TensorView view_;
  Dim4 shape_;
  std::vector<T> waiting_;
};

// Calls reduce(taps, out) for parts of each channel's output, in parallel over channels: make_reduce(c) gives it. The
// parts of a plane follow one another; reduce.end(), where there is one, is called after them.
template <class T, class P, class D, class Cmd, class MakeReduce>
void for_each_part(const Memories& mem, const Cmd& cmd, MakeReduce make_reduce) {
  const Dim4& shape = cmd.dst.shape;
  const int tap_count = kernel_of(cmd).h * kernel_of(cmd).w;
  Results<D> results(mem, cmd.dst, must_store_last(mem, cmd));
  parallel_ranges(shape.c, shape.elements() * tap_count, [&](int first, int last) {
    auto input = input_of<T, P>(mem, cmd);
    const P** rows = room<const P*, struct Taps>(tap_count);
    for (int c = first; c < last; ++c) {
      auto reduce = make_reduce(c);
      for (int n = 0; n < shape.n; ++n) {
        input.load(n, c);
        for (int part = 0; part < input.parts(); ++part) {
          input.taps(part, rows);
          reduce(TapRows<P>{rows, tap_count, input.count(part)}, results.place(n, c) + input.first(part));
        }
        if constexpr (requires { reduce.end(); }) reduce.end();
      }
    }
  });
  results.finish();
}

// ---- Sums of floats ----

template <class T>
PoolTaps::SumFloats sum_of() {
  if constexpr (std::is_same_v<T, float>) return pool_taps().sum_f32;
  if constexpr (std::is_same_v<T, F16>) return pool_taps().sum_f16;
  if constexpr (std::is_same_v<T, Bf16>) return pool_taps().sum_bf16;
}

// Two lanes that start at `start`: the bias goes to the first, the products follow alternately.
template <class T, class Cmd>
void sum_floats(const Memories& mem, const Cmd& cmd) {
  // An average starts its sums at -0, so that a window of only -0 gives -0; on chips whose poolings start with the
  // first tap so do all others (golden bm1690/more_pool/bdc_fp_ins_depthwise/054).
  const bool first_tap = cmd.mode == PoolMode::kAverage || mem.chip().has(Quirk::kPoolKeepsFirst);
  const float start = first_tap ? -0.0F : 0.0F;
  const TapWeights<T> weights(mem, cmd.weight, is_rotated_180(cmd));
  const auto sum = sum_of<T>();
  for_each_part<T, float, T>(mem, cmd, [&](int c) {
    float lane = start;
    if (bias_of(cmd)) {
      const float value = Wide<T>::load(*TensorView(mem, *bias_of(cmd)).template at<const T>(0, c, 0, 0));
      lane = Wide<T>::load(Wide<T>::round(start + value));
    }
    // With a bias the products begin on the second lane; their order on each lane is what counts.
    const float first = bias_of(cmd) ? start : lane;
    const float second = bias_of(cmd) ? lane : start;
    return [=, relu = has_relu(cmd), factors = weights.template of_channel<float>(c, kernel_of(cmd))](
               const TapRows<float>& taps, T* out) {
      sum(taps, factors, first, second, out);
      if (!relu) return;
      // As at the end of other products, a NaN becomes 0.
      for (int i = 0; i < taps.count; ++i) out[i] = Wide<T>::load(out[i]) > 0 ? out[i] : T{};
    };
  });
}

// ---- Sums of integers ----

template <class P>
PoolTaps::SumInts<P> sum_of_ints() {
  if constexpr (std::is_same_v<P, std::int8_t>) return pool_taps().sum_s8;
  if constexpr (std::is_same_v<P, std::uint8_t>) return pool_taps().sum_u8;
  if constexpr (std::is_same_v<P, std::uint32_t>) return pool_taps().sum_ints;
}

// Sums of several parts before finish(sums, count, out) makes them results: a row of windows may be shorter than a few
// vectors.
template <class P, class D, class Finish>
class SumRun {
 public:
  SumRun(const std::uint32_t* factors, std::uint32_t start, Finish finish)
      : factors_(factors), start_(start), finish_(std::move(finish)) {}
  void operator()(const TapRows<P>& taps, D* out) {
    if (count_ + taps.count > kRun) end();
    if (count_ == 0) {
      sums_ = room<std::uint32_t, struct Sums>(std::max(kRun, taps.count) + kTapSlack);
      out_ = out;
    }
    sum_(taps, factors_, start_, sums_ + count_);
    count_ += taps.count;
  }
  void end() {
    if (count_ > 0) finish_(sums_, std::exchange(count_, 0), out_);
  }

 private:
  static constexpr int kRun = 2048;

  PoolTaps::SumInts<P> sum_ = sum_of_ints<P>();
  const std::uint32_t* factors_;
  std::uint32_t start_;
  Finish finish_;
  std::uint32_t* sums_ = nullptr;
  int count_ = 0;
  D* out_ = nullptr;
};

template <class Cmd>
std::uint32_t start_of_sums(const Memories& mem, const Cmd& cmd, int c) {
  return bias_of(cmd) ? *TensorView(mem, *bias_of(cmd)).template at<const std::uint32_t>(0, c, 0, 0) : 0U;
}

// Whether the words of sums are the results: 32 bits of the same kind, not shifted and not limited further.
bool keeps_sums(const SumShift& rule, Dtype type) {
  const IntRange all = range_of(type);
  return size_of(type) == 4 && rule.is_signed == is_signed_int(type) && rule.shift.steps().right == 0 &&
         rule.shift.steps().left == 0 && rule.low == all.low && rule.high == all.high;
}

// The rows of the output of a feature map as one run of sums: a row alone may be shorter than a vector.
template <class T, class W, class D, class MakeFinish>
void sum_sheets(const Memories& mem, const PoolCmd& cmd, bool keeps, MakeFinish make_finish) {
  constexpr int kRun = 2048;
  const TapWeights<W> weights(mem, cmd.weight, is_rotated_180(cmd));
  const Dim4& shape = cmd.dst.shape;
  const int tap_count = kernel_of(cmd).h * kernel_of(cmd).w;
  Results<D> results(mem, cmd.dst, must_store_last(mem, cmd));
  parallel_ranges(shape.c, shape.elements() * tap_count, [&](int first, int last) {
    WindowSheet<T> sheet(mem, cmd);
    const auto sum = sum_of_ints<T>();
    const int pitch = sheet.pitch(), width = shape.w;
    const int most = std::clamp(kRun / pitch, 1, shape.h);
    const T** rows = room<const T*, struct Taps>(tap_count);
    auto* sums = room<std::uint32_t, struct Sums>(std::int64_t{most} * pitch + kTapSlack);
    auto* packed = room<std::uint32_t, struct PackedSums>(std::int64_t{most} * width);
    for (int c = first; c < last; ++c) {
      const std::uint32_t* factors = weights.template of_channel<std::uint32_t>(c, kernel_of(cmd));
      const std::uint32_t start = start_of_sums(mem, cmd, c);
      const auto finish = make_finish(c);
      for (int n = 0; n < shape.n; ++n) {
        sheet.load(n, c);
        sheet.taps(rows);
        D* out = results.place(n, c);
        for (int h = 0; h < shape.h; h += most, out += std::int64_t{most} * width) {
          const int run = std::min(most, shape.h - h);
          sum({rows, tap_count, (run - 1) * pitch + width}, factors, start, sums);
          std::uint32_t* kept = packed;
          if constexpr (sizeof(D) == sizeof(std::uint32_t)) {
            if (keeps) kept = reinterpret_cast<std::uint32_t*>(out);
          }
          for (int row = 0; row < run; ++row) copy_run(sums + row * pitch, width, kept + row * width);
          if (kept == packed) finish(packed, run * width, out);
          for (int k = 0; k < tap_count; ++k) rows[k] += std::int64_t{most} * pitch;
        }
      }
    }
  });
  results.finish();
}

// The 32-bit sums of products (+ a 32-bit bias), handed to finish(sums, count, out), which make_finish(c) gives; where
// it `keeps` them, it may be left out.
template <class T, class W, class D, class Cmd, class MakeFinish>
void sum_integers(const Memories& mem, const Cmd& cmd, MakeFinish make_finish, bool keeps = false) {
  if constexpr (std::is_same_v<Cmd, PoolCmd> && sizeof(T) == 1) {
    if (!plain_kernels() && WindowSheet<T>::holds(cmd.window)) return sum_sheets<T, W, D>(mem, cmd, keeps, make_finish);
  }
  // Planes hold bytes as they are stored; what regions see is widened when it is brought together.
  using P = std::conditional_t<std::is_same_v<Cmd, PoolCmd>, T, std::uint32_t>;
  const TapWeights<W> weights(mem, cmd.weight, is_rotated_180(cmd));
  for_each_part<T, P, D>(mem, cmd, [&](int c) {
    return SumRun<P, D, decltype(make_finish(c))>(weights.template of_channel<std::uint32_t>(c, kernel_of(cmd)),
                                                  start_of_sums(mem, cmd, c), make_finish(c));
  });
}

// The sum, read as signed, requantised with the parameters of its channel.
template <class T, class W>
void requantise_integers(const Memories& mem, const PoolCmd& cmd) {
  const SumEnds ends(mem, {cmd.dst.dtype, true, cmd.relu, cmd.symmetric}, cmd.requant);
  for_size(size_of(cmd.dst.dtype), [&]<class D>(D) {
    sum_integers<T, W, D>(mem, cmd, [&ends](int c) {
      return [end = ends.of(c)](const std::uint32_t* sums, int count, D* out) { end(sums, 0, count, out); };
    });
  });
}

// sat(relu(sum >> rshift)); the sum is read as unsigned when all its operands are.
template <class T, class W>
void shift_integers(const Memories& mem, const PoolCmd& cmd) {
  if (cmd.requant) return requantise_integers<T, W>(mem, cmd);
  const bool is_signed = std::is_signed_v<T> || std::is_signed_v<W> || (cmd.bias && is_signed_int(cmd.bias_type));
  const IntRange range = saturation_range(cmd.dst.dtype, cmd.symmetric);
  const std::int64_t low = cmd.relu ? std::max<std::int64_t>(range.low, 0) : range.low;
  const SumShift rule{is_signed, {-cmd.rshift, cmd.rounding}, low, range.high};
  for_int_type(cmd.dst.dtype, [&]<class D>(D) {
    const auto finish = [rule, shift = shift_sums(sizeof(D))](const std::uint32_t* sums, int count, D* out) {
      shift(rule, sums, 0, nullptr, count, out);
    };
    sum_integers<T, W, D>(
        mem, cmd, [&](int) { return finish; }, keeps_sums(rule, cmd.dst.dtype));
  });
}
// The sum, cut to the result's low bits or saturated.
template <class T, class W>
void shift_integers(const Memories& mem, const RoiPoolCmd& cmd) {
  if (mem.chip().has(Quirk::kWideByteSums)) {
    const bool is_signed = std::is_signed_v<T> || std::is_signed_v<W>;
    const IntRange range = range_of(cmd.dst.dtype);
    const SumShift rule{is_signed, {0, Rounding::kHalfUp}, range.low, range.high};
    return for_size(size_of(cmd.dst.dtype), [&]<class D>(D) {
      const auto finish = [rule, shift = shift_sums(sizeof(D))](const std::uint32_t* sums, int count, D* out) {
        shift(rule, sums, 0, nullptr, count, out);
      };
      sum_integers<T, W, D>(mem, cmd, [&](int) { return finish; });
    });
  }
  for_size(size_of(cmd.dst.dtype), [&]<class D>(D) {
    sum_integers<T, W, D>(mem, cmd, [](int) {
      return [](const std::uint32_t* sums, int count, D* out) {
        std::transform(sums, sums + count, out, [](std::uint32_t sum) { return static_cast<D>(sum); });
      };
    });
  });
}

// ---- Maximum and minimum ----

Equals kept_of_equals(const Chip& chip) {
  if (chip.has(Quirk::kPoolKeepsFirst)) return Equals::kFirstTap;
  return chip.has(Quirk::kBestKeepsFirst) ? Equals::kFirst : Equals::kLast;
}

// Subnormal numbers of a row become zeros of their sign.
void flush_row(Bf16* values, int count) {
  constexpr unsigned kExponent = 0x7F80, kSign = 0x8000;
  for (int i = 0; i < count; ++i) {
    if ((values[i].bits & kExponent) == 0) values[i].bits = static_cast<std::uint16_t>(values[i].bits & kSign);
  }
}

// By the rule pool-in-two-lanes.
float better(bool largest, float kept, float next) {
  if (largest) return next > kept ? next : kept;
  return kept <= next ? kept : next;
}
template <class T, class Cmd>
void take_best_of_lanes(const Memories& mem, const Cmd& cmd) {
  for_each_part<T, float, T>(mem, cmd, [&](int) {
    return [largest = cmd.mode == PoolMode::kMax](const TapRows<float>& taps, T* out) {
      const int last = taps.taps - 1;
      for (int i = 0; i < taps.count; ++i) {
        float lanes[2] = {taps.rows[0][i], taps.rows[std::min(1, last)][i]};
        for (int tap = 2; tap <= last; ++tap) lanes[tap % 2] = better(largest, lanes[tap % 2], taps.rows[tap][i]);
        out[i] = restored<T>(last == 0 ? lanes[0] : better(largest, lanes[1 - last % 2], lanes[last % 2]));
      }
      if constexpr (std::is_same_v<T, Bf16>) {
        if (!largest) flush_row(out, taps.count);
      }
    };
  });
}

template <class T, class Cmd>
void take_best(const Memories& mem, const Cmd& cmd) {
  using P = Comparable<T>;
  if constexpr (!std::is_integral_v<T>) {
    if (mem.chip().has(Quirk::kPoolInLanes)) return take_best_of_lanes<T>(mem, cmd);
  }
  const Equals equals = kept_of_equals(mem.chip());
  const BestRow best = best_row(cmd.src.dtype, cmd.mode == PoolMode::kMax, equals);
  for_each_part<T, P, T>(mem, cmd, [&](int) {
    return [=](const TapRows<P>& taps, T* out) {
      best(reinterpret_cast<const void* const*>(taps.rows), taps.taps, taps.count, out);
      // The chip that keeps the first tap hands no subnormal number on (golden bm1690/roi_pool).
      if constexpr (std::is_same_v<T, Bf16>) {
        if (equals == Equals::kFirstTap) flush_row(out, taps.count);
      }
    };
  });
}

// FP8 as sums of 16-bit floats read them: a NaN of the type, and no f16 subnormal where those are zeros.
class NarrowTaps {
 public:
  NarrowTaps(const TapRows<float>& taps, bool flushes)
      : rows_(room<const float*, struct NarrowRows>(taps.taps)), taps_{rows_, taps.taps, taps.count} {
    float* values = room<float, struct NarrowValues>(std::int64_t{taps.taps} * taps.count + kTapSlack);
    for (int tap = 0; tap < taps.taps; ++tap, values += taps.count) {
      for (int i = 0; i < taps.count; ++i) values[i] = narrow(taps.rows[tap][i], flushes);
      rows_[tap] = values;
    }
  }
  const TapRows<float>& taps() const { return taps_; }

 private:
  static float narrow(float value, bool flushes) {
    constexpr float kLeastHalf = 0x1p-14F;
    if (std::isnan(value)) return std::numeric_limits<float>::quiet_NaN();
    return flushes && std::fabs(value) < kLeastHalf ? std::copysign(0.0F, value) : value;
  }
  const float** rows_;
  TapRows<float> taps_;
};

// An average of FP8 is summed in the result's type, f32 where that is FP8 too, and rescaled only there.
template <class T>
void average_fp8(const Memories& mem, const PoolCmd& cmd) {
  const float factor = cmd.rescale ? flush(constant<float>(*cmd.rescale)) : 1.0F;
  const TapWeights<T> weights(mem, cmd.weight, false);
  const bool flushes = mem.chip().has(Quirk::kHalfFlushes);
  const auto run = [&]<class D, class Sum>(D, Sum) {
    const auto sum = sum_of<Sum>();
    for_each_part<T, float, D>(mem, cmd, [&](int c) {
      return
          [=, factors = weights.template of_channel<float>(c, cmd.window.kernel)](const TapRows<float>& taps, D* out) {
            if constexpr (std::is_same_v<D, F16> || std::is_same_v<D, Bf16>) {
              sum(NarrowTaps(taps, flushes && std::is_same_v<D, F16>).taps(), factors, -0.0F, -0.0F, out);
            } else if constexpr (std::is_same_v<D, Sum>) {
              sum(taps, factors, -0.0F, -0.0F, out);
            } else {
              float* sums = room<float, struct Fp8Sums>(taps.count);
              sum(taps, factors, -0.0F, -0.0F, sums);
              for (int i = 0; i < taps.count; ++i) out[i] = Wide<D>::round(float_product(sums[i], factor));
            }
          };
    });
  };
  if (cmd.dst.dtype == Dtype::kFp32) return run(float(), float());
  if (cmd.dst.dtype == Dtype::kFp16) return run(F16(), F16());
  if (cmd.dst.dtype == Dtype::kBfp16) return run(Bf16(), Bf16());
  for_fp8_type(cmd.dst.dtype, [&]<class D>(D) { run(D(), float()); });
}

// A maximum or minimum hands NaNs through.
bool sums(PoolMode mode) { return mode == PoolMode::kAverage || mode == PoolMode::kDepthwise; }

template <class Cmd>
void pool(const Memories& mem, const Cmd& cmd) {
  if (cmd.mode == PoolMode::kMax || cmd.mode == PoolMode::kMin) {
    const auto take = [&]<class T>(T) { take_best<T>(mem, cmd); };
    return is_fp8(cmd.src.dtype) ? for_fp8_type(cmd.src.dtype, take) : for_any_type(cmd.src.dtype, take);
  }
  if constexpr (std::is_same_v<Cmd, PoolCmd>) {
    if (is_fp8(cmd.src.dtype)) return for_fp8_type(cmd.src.dtype, [&]<class T>(T) { average_fp8<T>(mem, cmd); });
  }
  if (is_float(cmd.src.dtype)) {
    return for_float_type(cmd.src.dtype, [&]<class T>(T) { sum_floats<T>(mem, cmd); });
  }
  const auto for_byte = [](Dtype type, auto body) { is_signed_int(type) ? body(std::int8_t()) : body(std::uint8_t()); };
  for_byte(cmd.src.dtype,
           [&]<class T>(T) { for_byte(dtype_of(cmd.weight), [&]<class W>(W) { shift_integers<T, W>(mem, cmd); }); });
}

}  // namespace

static void carry_out(Memories& mem, const PoolCmd& cmd) {
  pool(mem, cmd);
  if (sums(cmd.mode)) unify_nans(mem, cmd.dst);
}
static void carry_out(Memories& mem, const RoiPoolCmd& cmd) {
  pool(mem, cmd);
  if (sums(cmd.mode)) unify_nans(mem, cmd.dst);
}

void execute(Memories& mem, const PoolCmd& cmd) {
  if (!is_sum(cmd.mode)) return carry_out(mem, cmd);
  with_flushed_halves(mem, cmd, [&](const PoolCmd& flushed) { carry_out(mem, flushed); });
}

void execute(Memories& mem, const RoiPoolCmd& cmd) {
  if (!is_sum(cmd.mode)) return carry_out(mem, cmd);
  with_flushed_halves(mem, cmd, [&](const RoiPoolCmd& flushed) { carry_out(mem, flushed); });
}

}  // namespace softtpu
