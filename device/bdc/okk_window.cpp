// Depthwise convolution and pooling of BM1684 (numerics: bm1684-okkernel.md section 6): two sums by the parity of the
// tap, or a running maximum.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include "device/bdc/okk_planes.hpp"
#include "device/core/commands.hpp"
#include "device/memory/parallel.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

struct Tap {
  float weight;
  std::int64_t at;  // floats from the window's first pixel
};

float two_lane_sum(const std::vector<Tap>& taps, const float* first) {
  if (taps.size() == 1) return chip_mul(flush(first[taps[0].at]), flush(taps[0].weight));
  float sums[2] = {};
  std::size_t parity = 0;
  for (const Tap& tap : taps) {
    sums[parity] = chip_add(sums[parity], chip_mul(flush(first[tap.at]), flush(tap.weight)));
    parity ^= 1U;
  }
  return chip_add(sums[0], sums[1]);
}

float maximum(const std::vector<Tap>& taps, const float* first) {
  float largest = -FLT_MAX;
  for (const Tap& tap : taps) {
    const float value = flush(first[tap.at]);
    largest = value > largest ? value : largest;
  }
  return largest;
}

std::vector<Tap> taps_of(const Memories& mem, const OkkWindowCmd& cmd, const PaddedPlanes& planes, int c) {
  const Dim2& kernel = cmd.window.kernel;
  std::vector<Tap> taps;
  for (int i = 0; i < kernel.h; ++i) {
    for (int j = 0; j < kernel.w; ++j) {
      float weight = 1.0F / static_cast<float>(kernel.h * kernel.w);
      if (cmd.weight) weight = *TensorView(mem, *cmd.weight).at<float>(0, c, i, j);
      taps.push_back({weight, planes.row(0, i * cmd.window.dilation.h) - planes.row(0, 0) + j * cmd.window.dilation.w});
    }
  }
  return taps;
}

void run_channel(const Memories& mem, const OkkWindowCmd& cmd, int c) {
  Dim4 plane = cmd.input.shape;
  plane.c = 1;
  PaddedPlanes planes(cmd.window, plane);
  const TensorView input(mem, cmd.input);
  const TensorView output(mem, cmd.output);
  const std::vector<Tap> taps = taps_of(mem, cmd, planes, c);
  const bool max = cmd.mode == OkkWindowMode::kMax;
  const float bias = cmd.bias ? flush(*TensorView(mem, *cmd.bias).at<float>(0, c, 0, 0)) : 0.0F;
  for (int n = 0; n < cmd.output.shape.n; ++n) {
    planes.load(0, input, n, c, max ? -FLT_MAX : 0.0F);
    for (int h = 0; h < cmd.output.shape.h; ++h) {
      const float* row = planes.row(0, h * cmd.window.stride.h);
      for (int w = 0; w < cmd.output.shape.w; ++w) {
        const float* first = row + w * cmd.window.stride.w;
        const float value = max ? maximum(taps, first) : two_lane_sum(taps, first);
        *output.at<float>(n, c, h, w) = cmd.bias ? chip_add(value, bias) : value;
      }
    }
  }
}

}  // namespace

void execute(Memories& mem, const OkkWindowCmd& cmd) {
  const std::int64_t taps = std::int64_t{cmd.window.kernel.h} * cmd.window.kernel.w;
  parallel_for(cmd.output.shape.c, cmd.output.shape.elements() * taps, [&](int c) { run_channel(mem, cmd, c); });
}

}  // namespace softtpu
