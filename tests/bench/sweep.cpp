#include "tests/bench/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "device/memory/parallel.hpp"
#include "okk.h"
#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"
#include "tpu_kernel.h"

namespace softtpu::bench {
namespace {

struct Shape {
  int n, ic, h, w, oc, kernel, stride;

  padding_t padding() const { return {kernel / 2, kernel / 2, kernel / 2, kernel / 2}; }
  dim4 input() const { return {n, ic, h, w}; }
  static int extent(int size, int kernel, int stride) { return (size + kernel / 2 * 2 - kernel) / stride + 1; }
  double results() const { return 1.0 * n * oc * extent(h, kernel, stride) * extent(w, kernel, stride); }
  double operations() const { return 2.0 * results() * ic * kernel * kernel; }
  std::string text() const {
    return fmt::format("[{}, {}, {}, {}] -> {}, {}x{} / {}", n, ic, h, w, oc, kernel, kernel, stride);
  }
};

// What a kind's row of the table computes.
constexpr Shape kRow = {1, 64, 56, 56, 64, 3, 1};

struct Addresses {
  unsigned input, weight, output, end;
};

struct Kind {
  const char* name;
  const char* chip;
  unsigned input_bytes, output_bytes;  // of an element
  int group;                           // input channels of a group of weights
  std::function<void(const Shape&, const Addresses&)> call;
};

Kind bm1684_kind() {
  return {"conv2d f32, BM1684", "bm1684", 4, 4, 2, [](const Shape& shape, const Addresses& at) {
            const dim4 input = shape.input();
            const int k = shape.kernel;
            const Padding pad = {k / 2, k / 2, k / 2, k / 2};
            const dim2 stride = {shape.stride, shape.stride}, one = {1, 1};
            okk_bdc_conv2d(at.output, at.input, at.weight, 0, &input, shape.oc, k, k, nullptr, nullptr, false, false,
                           &pad, &stride, &one);
          }};
}

Kind float_kind(const char* name, data_type_t type, unsigned bytes, int group) {
  return {name, "bm1684x", bytes, 4, group, [type](const Shape& shape, const Addresses& at) {
            const dim4 input = shape.input();
            const padding_t pad = shape.padding();
            const dim2 kernel = {shape.kernel, shape.kernel}, stride = {shape.stride, shape.stride}, one = {1, 1};
            tpu_bdc_fp_conv2d(at.output, at.input, at.weight, 0, &input, nullptr, shape.oc, &kernel, &pad, &stride,
                              &one, DT_FP32, type, false, false);
          }};
}

Kind byte_kind() {
  return {"conv2d int8", "bm1684x", 1, 4, 64, [](const Shape& shape, const Addresses& at) {
            const dim4 input = shape.input();
            const padding_t pad = shape.padding();
            const dim2 kernel = {shape.kernel, shape.kernel}, stride = {shape.stride, shape.stride}, one = {1, 1};
            scalar_t point, outside;
            point.u32 = outside.u32 = 3;
            tpu_bdc_int8_asym_quant_conv2d(at.output, at.input, at.weight, point, outside, &input, nullptr, shape.oc,
                                           &kernel, &pad, &stride, &one, DT_INT32, DT_UINT8, DT_INT8, DT_INT8, false);
          }};
}

Kind shifted_kind() {
  return {"conv2d int8, shifted to int8", "bm1684x", 1, 1, 64, [](const Shape& shape, const Addresses& at) {
            const dim4 input = shape.input();
            const padding_t pad = shape.padding();
            const dim2 kernel = {shape.kernel, shape.kernel}, stride = {shape.stride, shape.stride}, one = {1, 1};
            tpu_bdc_int8_sym_quant_conv2d(at.output, at.input, at.weight, 0, &input, nullptr, shape.oc, &kernel, &pad,
                                          &stride, &one, DT_INT8, DT_INT8, DT_INT8, DT_INT16, 7, false, false);
          }};
}

constexpr unsigned kNpus = 64, kLine = 128;

unsigned rounded_up(double value, unsigned to) { return static_cast<unsigned>((value + to - 1) / to) * to; }

// Bytes of one channel: a feature map, the weights, a result.
struct ChannelBytes {
  unsigned input, weight, output;
};
ChannelBytes channel_bytes(const Kind& kind, const Shape& shape) {
  const auto taps = static_cast<unsigned>(shape.kernel * shape.kernel);
  return {static_cast<unsigned>(shape.h * shape.w) * kind.input_bytes,
          rounded_up(shape.ic, static_cast<unsigned>(kind.group)) * taps * kind.input_bytes,
          static_cast<unsigned>(shape.results() / shape.n / shape.oc) * kind.output_bytes};
}
unsigned slots(int channels) { return (static_cast<unsigned>(channels) + kNpus - 1) / kNpus; }

// Operands one behind the other, each from a bank's or line's start.
Addresses addresses_of(const Kind& kind, const Shape& shape) {
  const ChannelBytes bytes = channel_bytes(kind, shape);
  const auto batches = static_cast<unsigned>(shape.n);
  Addresses at = {};
  at.weight = batches * slots(shape.ic) * rounded_up(bytes.input, kLine);
  at.output = at.weight + rounded_up(slots(shape.oc) * bytes.weight, kLine);
  at.end = at.output + batches * slots(shape.oc) * rounded_up(bytes.output, kLine);
  return at;
}

// What every way to carry out a command has to do at least: read each cache line of the operands and write the bytes of
// the result, where they lie in the local memories.
class Floor {
 public:
  Floor(const Kind& kind, const Shape& shape, Memories& memories) {
    const Addresses at = addresses_of(kind, shape);
    const ChannelBytes bytes = channel_bytes(kind, shape);
    const auto add = [&](std::vector<Run>& runs, unsigned from, int batches, int channels, unsigned size, unsigned to) {
      for (int n = 0; n < batches; ++n) {
        for (int c = 0; c < channels; ++c) {
          const unsigned slot = static_cast<unsigned>(n) * slots(channels) + static_cast<unsigned>(c) / kNpus;
          runs.push_back({memories.local(c % static_cast<int>(kNpus)) + from + slot * to, size});
        }
      }
    };
    add(read_, at.input, shape.n, shape.ic, bytes.input, rounded_up(bytes.input, kLine));
    add(read_, at.weight, 1, shape.oc, bytes.weight, bytes.weight);
    add(written_, at.output, shape.n, shape.oc, bytes.output, rounded_up(bytes.output, kLine));
    values_.resize(bytes.output);
  }
  void operator()() const {
    constexpr unsigned kCacheLine = 64;
    unsigned sum = 0;
    for (const Run& run : read_) {
      for (unsigned i = 0; i < run.bytes; i += kCacheLine) sum += run.first[i];
    }
    keep(&sum);
    for (const Run& run : written_) std::memcpy(run.first, values_.data(), run.bytes);
    keep(values_.data());
  }

 private:
  struct Run {
    std::uint8_t* first;
    unsigned bytes;
  };
  std::vector<Run> read_, written_;
  std::vector<std::uint8_t> values_;
};

// The least processor time of a few runs, after one that brings the data to the caches.
double seconds(const std::function<void()>& run) {
  constexpr int kRuns = 15;
  run();
  double least = seconds_of(run);
  for (int i = 1; i < kRuns; ++i) least = std::min(least, seconds_of(run));
  return least;
}

struct Measured {
  Shape shape;
  double seconds, of_row, floor;

  double floors() const { return seconds / floor; }
  bool is_slow() const { return of_row < kSlow; }
  bool is_slow_at_floor() const { return of_row * floors() < kSlow; }

 private:
  static constexpr double kSlow = 0.1;
};

Measured measure(const Kind& kind, const Shape& shape, double row_rate) {
  BenchDevice& device = BenchDevice::of(kind.chip);
  // What an earlier command has left there would be any numbers, infinities among them.
  device.fill_local_memory();
  const Addresses at = addresses_of(kind, shape);
  const double taken = seconds([&] { device.run([&] { kind.call(shape, at); }); });
  const double floor = seconds(Floor(kind, shape, device.memories()));
  return {shape, taken, shape.operations() / taken / row_rate, floor};
}

std::vector<Shape> shapes(const Kind& kind) {
  // Below that, what begins a command takes most of its time; above, nothing is found that smaller ones do not show.
  constexpr double kLeastOperations = 1e6, kMostOperations = 3e7;
  std::vector<Shape> list;
  const auto local_bytes = static_cast<unsigned>(BenchDevice::of(kind.chip).chip().local_bytes);
  for (const auto& [h, w] : {std::pair{7, 7}, {13, 11}, {28, 28}, {55, 57}})
    for (int ic = 1; ic <= 8; ++ic)
      for (int kernel = 1; kernel <= 7; ++kernel)
        for (int stride = 1; stride <= 3; ++stride)
          for (const int oc : {13, 64, 512})
            for (const int n : {1, 4}) {
              const Shape shape = {n, ic, h, w, oc, kernel, stride};
              const double operations = shape.operations();
              if (operations >= kLeastOperations && operations <= kMostOperations &&
                  addresses_of(kind, shape).end <= local_bytes)
                list.push_back(shape);
            }
  return list;
}

using Place = std::vector<Measured>::const_iterator;
void print(Place first, Place last, int most, const char* which) {
  fmt::print("  {:<50} {:>9} {:>8} {:>9} {:>7}\n", which, "us", "of row", "floor, us", "floors");
  for (; first != last && most > 0; ++first, --most) {
    fmt::print("  {:<50} {:>9.1f} {:>8.3f} {:>9.1f} {:>7.2f}\n", first->shape.text(), first->seconds * 1e6,
               first->of_row, first->floor * 1e6, first->floors());
  }
}

void sweep(const Kind& kind, int worst) {
  const Measured row = measure(kind, kRow, 1);
  std::vector<Measured> list;
  for (const Shape& shape : shapes(kind)) list.push_back(measure(kind, shape, row.of_row));
  std::sort(list.begin(), list.end(), [](const Measured& a, const Measured& b) { return a.of_row < b.of_row; });
  const auto slow = std::find_if(list.begin(), list.end(), [](const Measured& one) { return !one.is_slow(); });
  const auto count = [&](auto condition) { return std::count_if(list.begin(), slow, condition); };
  fmt::print(
      "{}: {:.1f} G operations/s in its row; of {} shapes {} are below a tenth of it. Of these, {} are at their floor "
      "as well; "
      "{} take at most 1.5 times their floor, {} at most twice\n",
      kind.name, row.of_row / 1e9, list.size(), slow - list.begin(),
      count([](const Measured& one) { return one.is_slow_at_floor(); }),
      count([](const Measured& one) { return one.floors() <= 1.5; }),
      count([](const Measured& one) { return one.floors() <= 2; }));
  print(list.begin(), slow, worst, "furthest below the row");
  std::sort(list.begin(), slow, [](const Measured& a, const Measured& b) { return a.floors() > b.floors(); });
  print(list.begin(), slow, worst, "of those below a tenth, furthest from their floor");
}

}  // namespace

void sweep_convolutions(const std::string& filter, int worst) {
  set_thread_limit(1);
  use_processor_time(true);
  for (const Kind& kind :
       {bm1684_kind(), float_kind("conv2d f32", DT_FP32, 4, 1), float_kind("conv2d f16", DT_FP16, 2, 32),
        float_kind("conv2d bf16", DT_BFP16, 2, 32), byte_kind(), shifted_kind()}) {
    if (std::string(kind.name).find(filter) != std::string::npos) sweep(kind, worst);
  }
}

}  // namespace softtpu::bench
