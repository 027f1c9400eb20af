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

// One tensor in the local memories.
struct Area {
  unsigned at;
  int batches, channels;
  unsigned bytes, step;  // of a channel, and from one to the next on its NPU
};

// A command with a shape.
struct Case {
  std::string text;
  double operations;
  std::function<void()> call;
  std::vector<Area> read;
  Area written;
};

// What every way to carry out a command has to do at least: read each cache line of the operands and write the bytes of
// the result, where they lie in the local memories.
class Floor {
 public:
  Floor(const Case& one, Memories& memories) : values_(one.written.bytes) {
    const auto add = [&](std::vector<Run>& runs, const Area& area) {
      for (int n = 0; n < area.batches; ++n) {
        for (int c = 0; c < area.channels; ++c) {
          const unsigned slot = static_cast<unsigned>(n) * slots(area.channels) + static_cast<unsigned>(c) / kNpus;
          runs.push_back({memories.local(c % static_cast<int>(kNpus)) + area.at + slot * area.step, area.bytes});
        }
      }
    };
    for (const Area& area : one.read) add(read_, area);
    add(written_, one.written);
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
  std::string text;
  double seconds, of_row, floor;

  double floors() const { return seconds / floor; }
  bool is_slow() const { return of_row < kSlow; }
  bool is_slow_at_floor() const { return of_row * floors() < kSlow; }

 private:
  static constexpr double kSlow = 0.1;
};

Measured measure(BenchDevice& device, const Case& one, double row_rate) {
  // What an earlier command has left there would be any numbers, infinities among them.
  device.fill_local_memory();
  const double taken = seconds([&] { device.run(one.call); });
  const double floor = seconds(Floor(one, device.memories()));
  return {one.text, taken, one.operations / taken / row_rate, floor};
}

Case case_of(const Kind& kind, const Shape& shape) {
  const Addresses at = addresses_of(kind, shape);
  const ChannelBytes bytes = channel_bytes(kind, shape);
  return {shape.text(),
          shape.operations(),
          [=, call = kind.call] { call(shape, at); },
          {{at.input, shape.n, shape.ic, bytes.input, rounded_up(bytes.input, kLine)},
           {at.weight, 1, shape.oc, bytes.weight, bytes.weight}},
          {at.output, shape.n, shape.oc, bytes.output, rounded_up(bytes.output, kLine)}};
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
    fmt::print("  {:<50} {:>9.1f} {:>8.3f} {:>9.1f} {:>7.2f}\n", first->text, first->seconds * 1e6, first->of_row,
               first->floor * 1e6, first->floors());
  }
}

void sweep(const char* name, BenchDevice& device, const Case& row_case, const std::vector<Case>& cases, int worst) {
  const Measured row = measure(device, row_case, 1);
  std::vector<Measured> list;
  for (const Case& one : cases) list.push_back(measure(device, one, row.of_row));
  std::sort(list.begin(), list.end(), [](const Measured& a, const Measured& b) { return a.of_row < b.of_row; });
  const auto slow = std::find_if(list.begin(), list.end(), [](const Measured& one) { return !one.is_slow(); });
  const auto count = [&](auto condition) { return std::count_if(list.begin(), slow, condition); };
  fmt::print(
      "{}: {:.1f} G/s in its row; of {} shapes {} are below a tenth of it. Of these, {} are at their floor "
      "as well; "
      "{} take at most 1.5 times their floor, {} at most twice\n",
      name, row.of_row / 1e9, list.size(), slow - list.begin(),
      count([](const Measured& one) { return one.is_slow_at_floor(); }),
      count([](const Measured& one) { return one.floors() <= 1.5; }),
      count([](const Measured& one) { return one.floors() <= 2; }));
  print(list.begin(), slow, worst, "furthest below the row");
  std::sort(list.begin(), slow, [](const Measured& a, const Measured& b) { return a.floors() > b.floors(); });
  print(list.begin(), slow, worst, "of those below a tenth, furthest from their floor");
}

// ---- Element-wise commands and moves ----

struct ElementKind {
  const char* name;
  std::vector<unsigned> read;  // bytes of an element of each operand
  unsigned written;
  dim4 row;
  int most_channels;
  // 0, or the operand's channels are the result's columns, and rows of the result begin at multiples of so many bytes.
  unsigned turned_row;
  // The operands lie at at[1], at[2] ..., the result at at[0], tables at at.back().
  std::function<void(const dim4& shape, const std::vector<unsigned>& at)> call;
};

constexpr int kAnyChannels = 1024;

ElementKind cast_kind(const char* name, data_type_t to, unsigned to_bytes, data_type_t from, unsigned from_bytes) {
  return {name, {from_bytes}, to_bytes, {1, 64, 64, 128}, kAnyChannels, 0, [=](const dim4& shape, const auto& at) {
            tpu_bdc_cast(at[0], at[1], &shape, nullptr, nullptr, to, from, RM_HALF_TO_EVEN);
          }};
}

ElementKind move_kind(const char* name, data_type_t type, unsigned bytes, const dim4& largest) {
  return {name, {bytes}, bytes, largest, kAnyChannels, 0, [=](const dim4& shape, const auto& at) {
            tpu_bdc_cpy(at[0], at[1], &shape, nullptr, nullptr, type);
          }};
}

std::vector<ElementKind> element_kinds() {
  return {
      {"int_pc_requant int32 -> int8",
       {4},
       1,
       {1, 64, 64, 128},
       64,  // of which each has its table at one place
       0,
       [](const dim4& shape, const auto& at) {
         const dim4 word = {1, shape.c, 1, 1}, stride = {4, 4, 4, 1};
         const std::uint32_t words[] = {0x60000000, 0xD8, 3};  // multiplier, a shift by 40, zero point
         for (unsigned i = 0; i < 3; ++i) {
           scalar_t value;
           value.u32 = words[i];
           tpu_bdc_set_C(at.back() + i * 4, value, &word, &stride, DT_INT32);
         }
         tpu_bdc_int_pc_requant(at[0], at[1], at.back(), &shape, DT_INT8, DT_INT32, RM_HALF_AWAY_FROM_ZERO);
       }},
      {"int_add int8, shifted",
       {1, 1},
       1,
       {1, 64, 128, 256},
       kAnyChannels,
       0,
       [](const dim4& shape, const auto& at) {
         tpu_bdc_int_add(at[0], at[1], at[2], &shape, nullptr, nullptr, nullptr, DT_INT8, DT_INT8, DT_INT8, -1,
                         RM_HALF_UP, true);
       }},
      {"int_add int16, shifted",
       {2, 2},
       2,
       {1, 64, 64, 128},
       kAnyChannels,
       0,
       [](const dim4& shape, const auto& at) {
         tpu_bdc_int_add(at[0], at[1], at[2], &shape, nullptr, nullptr, nullptr, DT_INT16, DT_INT16, DT_INT16, -1,
                         RM_HALF_UP, true);
       }},
      cast_kind("cast f32 -> f16", DT_FP16, 2, DT_FP32, 4),
      cast_kind("cast f16 -> f32", DT_FP32, 4, DT_FP16, 2),
      cast_kind("cast f32 -> int8", DT_INT8, 1, DT_FP32, 4),
      cast_kind("cast int8 -> f32", DT_FP32, 4, DT_INT8, 1),
      move_kind("move f32", DT_FP32, 4, {1, 64, 64, 128}),
      move_kind("move int8", DT_INT8, 1, {1, 64, 128, 256}),
      {"move f16, channels and columns exchanged",
       {2},
       2,
       {1, 64, 64, 128},
       kAnyChannels,
       64,
       [](const dim4& shape, const auto& at) { tpu_bdc_cw_trans(at[0], at[1], &shape, DT_FP16); }},
      {"move int8, columns and channels exchanged",
       {1},
       1,
       {1, 64, 128, 256},
       kAnyChannels,
       1,
       [](const dim4& shape, const auto& at) { tpu_bdc_wc_trans(at[0], at[1], &shape, DT_INT8); }},
  };
}

Case case_of(const ElementKind& kind, const dim4& shape) {
  constexpr unsigned kStart = 64;  // a channel begins at a multiple of so many bytes
  unsigned end = 0;
  std::vector<unsigned> at;
  const auto area = [&](int channels, unsigned row) {
    const unsigned channel = static_cast<unsigned>(shape.h) * row;
    const Area made = {end, shape.n, channels, channel, rounded_up(channel, kStart)};
    at.push_back(end);
    end += rounded_up(static_cast<unsigned>(shape.n) * slots(channels) * made.step, kLine);
    return made;
  };
  Case made;
  made.text = fmt::format("[{}, {}, {}, {}]", shape.n, shape.c, shape.h, shape.w);
  made.operations = 1.0 * shape.n * shape.c * shape.h * shape.w;
  const auto row = [](int columns, unsigned bytes) { return static_cast<unsigned>(columns) * bytes; };
  const unsigned result = row(shape.w, kind.written);
  made.written = area(shape.c, kind.turned_row == 0 ? result : rounded_up(result, kind.turned_row));
  for (const unsigned bytes : kind.read)
    made.read.push_back(kind.turned_row == 0 ? area(shape.c, row(shape.w, bytes)) : area(shape.w, row(shape.c, bytes)));
  at.push_back(end);
  end += kLine;
  made.call = [call = kind.call, shape, at] { call(shape, at); };
  if (end > static_cast<unsigned>(BenchDevice::bm1684x().chip().local_bytes)) made.call = nullptr;
  return made;
}

void sweep(const ElementKind& kind, int worst) {
  constexpr double kLeastElements = 16384;  // below that, what begins a command takes most of its time
  std::vector<Case> cases;
  for (const int n : {1, 4})
    for (const int c : {3, 16, 64, 65, 192, 960})
      for (const auto& [h, w] : {std::pair{1, 1},
                                 {1, 5},
                                 {1, 37},
                                 {1, 768},
                                 {3, 3},
                                 {7, 7},
                                 {13, 11},
                                 {14, 14},
                                 {28, 28},
                                 {55, 57},
                                 {112, 112},
                                 {37, 64},
                                 {64, 2}}) {
        Case one = case_of(kind, {n, c, h, w});
        if (c <= kind.most_channels && one.operations >= kLeastElements && one.call) cases.push_back(std::move(one));
      }
  sweep(kind.name, BenchDevice::bm1684x(), case_of(kind, kind.row), cases, worst);
}

}  // namespace

void sweep_shapes(const std::string& filter, int worst) {
  set_thread_limit(1);
  use_processor_time(true);
  const auto wanted = [&](const char* name) { return std::string(name).find(filter) != std::string::npos; };
  for (const Kind& kind :
       {bm1684_kind(), float_kind("conv2d f32", DT_FP32, 4, 1), float_kind("conv2d f16", DT_FP16, 2, 32),
        float_kind("conv2d bf16", DT_BFP16, 2, 32), byte_kind(), shifted_kind()}) {
    if (!wanted(kind.name)) continue;
    std::vector<Case> cases;
    for (const Shape& shape : shapes(kind)) cases.push_back(case_of(kind, shape));
    sweep(kind.name, BenchDevice::of(kind.chip), case_of(kind, kRow), cases, worst);
  }
  for (const ElementKind& kind : element_kinds()) {
    if (wanted(kind.name)) sweep(kind, worst);
  }
}

}  // namespace softtpu::bench
