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

unsigned rounded_up(double value, unsigned to) { return static_cast<unsigned>((value + to - 1) / to) * to; }

// Operands one behind the other, each from a bank's or line's start.
Addresses addresses_of(const Kind& kind, const Shape& shape) {
  constexpr unsigned kNpus = 64, kLine = 128;
  const auto per_npu = [&](int channels, double elements, unsigned bytes) {
    const unsigned slots = (static_cast<unsigned>(channels) + kNpus - 1) / kNpus;
    return slots * static_cast<unsigned>(shape.n) * rounded_up(elements * bytes, kLine);
  };
  const double outputs = shape.results() / shape.n / shape.oc;
  const unsigned channels = rounded_up(shape.ic, static_cast<unsigned>(kind.group));
  Addresses at = {};
  at.weight = per_npu(shape.ic, 1.0 * shape.h * shape.w, kind.input_bytes);
  at.output = at.weight + rounded_up(1.0 * rounded_up(shape.oc, kNpus) / kNpus * channels * shape.kernel *
                                         shape.kernel * kind.input_bytes,
                                     kLine);
  at.end = at.output + per_npu(shape.oc, outputs, kind.output_bytes);
  return at;
}

// The least processor time of a few runs, after one that brings the data to the caches.
double seconds(const std::function<void()>& run) {
  constexpr int kRuns = 5;
  run();
  double least = seconds_of(run);
  for (int i = 1; i < kRuns; ++i) least = std::min(least, seconds_of(run));
  return least;
}

struct Measured {
  Shape shape;
  double seconds, of_row, of_copy;
};

Measured measure(const Kind& kind, const Shape& shape, double row_rate) {
  BenchDevice& device = BenchDevice::of(kind.chip);
  // What an earlier command has left there would be any numbers, infinities among them.
  device.fill_local_memory();
  const Addresses at = addresses_of(kind, shape);
  const double taken = seconds([&] { device.run([&] { kind.call(shape, at); }); });
  const auto bytes = static_cast<std::size_t>(shape.results() * kind.output_bytes);
  const double copied = seconds(memcpy_limit(bytes));
  return {shape, taken, shape.operations() / taken / row_rate, copied / taken};
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

void sweep(const Kind& kind, int worst) {
  const Measured row = measure(kind, kRow, 1);
  std::vector<Measured> list;
  for (const Shape& shape : shapes(kind)) list.push_back(measure(kind, shape, row.of_row));
  std::sort(list.begin(), list.end(), [](const Measured& a, const Measured& b) { return a.of_row < b.of_row; });
  const auto below = std::count_if(list.begin(), list.end(), [](const Measured& one) { return one.of_row < 0.1; });
  // Also below it in the time of a copy of the result alone.
  const auto bound = std::count_if(
      list.begin(), list.end(), [](const Measured& one) { return one.of_row < 0.1 && one.of_row < 0.1 * one.of_copy; });
  fmt::print(
      "{}: {:.1f} G operations/s in its row; of {} shapes {} are below a tenth of it, {} of which would be if they "
      "only "
      "copied their result\n",
      kind.name, row.of_row / 1e9, list.size(), below, bound);
  fmt::print("  {:<44} {:>9} {:>8} {:>16}\n", "shape", "us", "of row", "memcpy of result");
  for (const Measured& one : list) {
    if (worst-- <= 0) break;
    fmt::print("  {:<44} {:>9.1f} {:>8.3f} {:>16.2f}\n", one.shape.text(), one.seconds * 1e6, one.of_row, one.of_copy);
  }
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
