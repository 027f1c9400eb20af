// Convolution of BM1684 in 2IC mode (numerics: bm1684-okkernel.md section 6). Four sums, [parity of the input channel]
// [parity of the step]; a step is a kernel tap and, inside it, a pair of input channels.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "device/bdc/okk_planes.hpp"
#include "device/core/commands.hpp"
#include "device/memory/parallel.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

// The weights of one output channel in the order of the steps, and where each step reads the padded planes.
struct Step {
  float even, odd;
  std::int64_t even_at, odd_at;  // floats from the window's first pixel
};

struct PlainSum {
  static float add(float a, float b) { return a + b; }
  static float mul(float a, float b) { return a * b; }
};
struct ChipSum {
  static float add(float a, float b) { return chip_add(a, b); }
  static float mul(float a, float b) { return chip_mul(a, b); }
};

// kPixels neighbouring output pixels, without the odd input channel of the last pair when the count is odd. Adjacent:
// the horizontal stride is 1, which lets the compiler load several pixels at once.
template <class Sum, bool kAdjacent>
std::array<float, kPixels> window_sums(const std::vector<Step>& steps, const float* first, int any_stride,
                                       bool last_pair_is_single, int pairs) {
  const int stride = kAdjacent ? 1 : any_stride;
  float even[2][kPixels] = {};
  float odd[2][kPixels] = {};
  const auto accumulate = [&](float* sums, const float* from, float weight) {
    for (int i = 0; i < kPixels; ++i) sums[i] = Sum::add(sums[i], Sum::mul(from[i * stride], weight));
  };
  int parity = 0;
  int pair = 0;
  for (const Step& step : steps) {
    accumulate(even[parity], first + step.even_at, step.even);
    if (++pair == pairs) pair = 0;
    if (pair != 0 || !last_pair_is_single) accumulate(odd[parity], first + step.odd_at, step.odd);
    parity ^= 1;
  }
  std::array<float, kPixels> sums{};
  for (std::size_t i = 0; i < kPixels; ++i) {
    sums[i] = Sum::add(Sum::add(even[1][i], even[0][i]), Sum::add(odd[1][i], odd[0][i]));
  }
  return sums;
}

class ConvChannel {
 public:
  ConvChannel(const Memories& mem, const OkkConvCmd& cmd, const PaddedPlanes& planes, int oc)
      : cmd_(cmd), planes_(planes), oc_(oc), output_(mem, cmd.output) {
    const TensorView even(mem, cmd.even);
    const TensorView odd(mem, cmd.odd.value_or(cmd.even));
    const int pairs = cmd.even.shape.n;
    const Dim2& kernel = cmd.window.kernel;
    steps_.reserve(static_cast<std::size_t>(kernel.h * kernel.w * pairs));
    for (int i = 0; i < kernel.h; ++i) {
      for (int j = 0; j < kernel.w; ++j) {
        for (int pair = 0; pair < pairs; ++pair) {
          const bool both = 2 * pair + 1 < cmd.input.shape.c;
          steps_.push_back({*even.at<float>(pair, oc, i, j), both ? *odd.at<float>(pair, oc, i, j) : 0.0F,
                            tap_offset(2 * pair, i, j), both ? tap_offset(2 * pair + 1, i, j) : 0});
        }
      }
    }
    if (cmd.bias) bias_ = flush(*TensorView(mem, *cmd.bias).at<float>(0, oc, 0, 0));
  }

  void run(int n) const {
    const Dim4& out = cmd_.output.shape;
    const Dim2& stride = cmd_.window.stride;
    for (int h = 0; h < out.h; ++h) {
      const float* row = planes_.row(0, h * stride.h);
      for (int w = 0; w < out.w; w += kPixels) {
        const auto plain = sums<PlainSum>(row + w * stride.w);
        for (int i = 0; i < std::min(kPixels, out.w - w); ++i) {
          float sum = plain[static_cast<std::size_t>(i)];
          // Which NaN comes out depends on the order of the operands, which plain sums leave to the compiler.
          if (std::isnan(sum)) sum = sums<ChipSum>(row + w * stride.w)[static_cast<std::size_t>(i)];
          store(output_.at<float>(n, oc_, h, w + i), sum);
        }
      }
    }
  }

 private:
  std::int64_t tap_offset(int channel, int i, int j) const {
    return planes_.row(channel, i * cmd_.window.dilation.h) - planes_.row(0, 0) + j * cmd_.window.dilation.w;
  }
  template <class Sum>
  std::array<float, kPixels> sums(const float* first) const {
    const int stride = cmd_.window.stride.w;
    const bool single = cmd_.input.shape.c % 2 != 0;
    const int pairs = cmd_.even.shape.n;
    return stride == 1 ? window_sums<Sum, true>(steps_, first, stride, single, pairs)
                       : window_sums<Sum, false>(steps_, first, stride, single, pairs);
  }
  void store(float* to, float sum) const {
    if (cmd_.bias) sum = chip_add(sum, bias_);
    if (cmd_.add) sum = chip_add(sum, flush(*to));
    *to = sum;
  }

  const OkkConvCmd& cmd_;
  const PaddedPlanes& planes_;
  int oc_;
  TensorView output_;
  std::vector<Step> steps_;
  float bias_ = 0.0F;
};

}  // namespace

void execute(Memories& mem, const OkkConvCmd& cmd) {
  const Dim4& in = cmd.input.shape;
  const Dim4& out = cmd.output.shape;
  const TensorView input(mem, cmd.input);
  PaddedPlanes planes(cmd.window, in);
  const std::int64_t steps = out.elements() / out.n * cmd.window.kernel.h * cmd.window.kernel.w * in.c;
  for (int n = 0; n < out.n; ++n) {
    parallel_for(in.c, in.elements() / in.n, [&](int c) { planes.load(c, input, n, c, 0.0F); });
    parallel_for(out.c, steps, [&](int oc) { ConvChannel(mem, cmd, planes, oc).run(n); });
  }
}

}  // namespace softtpu
