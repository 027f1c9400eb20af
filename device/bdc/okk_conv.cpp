// Convolution of BM1684 in 2IC mode (numerics: bm1684-okkernel.md section 6). Four sums, [parity of the input channel]
// [parity of the step]; a step is a kernel tap and, inside it, a pair of input channels. The channels of one parity are
// a product of weights and windows with two alternating sums, as fp32 products on BM1684X are; both products are added.
#include <algorithm>
#include <cmath>
#include <vector>

#include "device/bdc/okk_planes.hpp"
#include "device/bdc/product.hpp"
#include "device/core/commands.hpp"
#include "device/memory/parallel.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

// One batch of a convolution: weights as rows, output pixels as columns, steps as the inner dimension.
class Convolution {
 public:
  Convolution(const Memories& mem, const OkkConvCmd& cmd, const PaddedPlanes& planes, int n)
      : cmd_(cmd),
        planes_(planes),
        weights_{TensorView(mem, cmd.even), TensorView(mem, cmd.odd.value_or(cmd.even))},
        output_(mem, cmd.output),
        n_(n),
        pairs_(cmd.even.shape.n) {
    if (cmd.bias) bias_.emplace(mem, *cmd.bias);
  }

  int steps() const { return cmd_.window.kernel.h * cmd_.window.kernel.w * pairs_; }
  int pixels() const { return cmd_.output.shape.h * cmd_.output.shape.w; }

  // The weights of one output channel; the partner that an odd last channel lacks counts as 0.
  void load_weights(int parity, int oc, float* values) const {
    for (int k = 0; k < steps(); ++k) values[k] = weight(parity, oc, k);
  }

  // What steps [k, k + depth) read for the output pixels [col, col + count).
  void load_windows(int parity, int k, int depth, int col, int count, float* values) const {
    const int width = cmd_.output.shape.w, stride = cmd_.window.stride.w;
    for (int i = 0; i < depth; ++i) {
      float* to = values + i * kTileCols;
      if (!exists(parity, k + i)) {
        std::fill_n(to, count, 0.0F);
        continue;
      }
      for (int done = 0; done < count;) {
        const int w = (col + done) % width;
        const int length = std::min(width - w, count - done);
        const float* from = pixel(parity, k + i, (col + done) / width, w);
        for (int j = 0; j < length; ++j) to[done + j] = from[j * stride];
        done += length;
      }
    }
  }

  // The two sums of a pixel added, with bias and old output.
  void store(int oc, int col, int count, const float* even, const float* odd) const {
    const float bias = bias_ ? flush(*bias_->at<float>(0, oc, 0, 0)) : 0.0F;
    const int width = cmd_.output.shape.w;
    for (int i = 0; i < count; ++i) {
      const int h = (col + i) / width, w = (col + i) % width;
      float sum = even[i] + odd[i];
      // Which NaN comes out depends on the order of the operands, which sums of many leave to the compiler.
      if (std::isnan(sum)) sum = chip_sum(oc, h, w);
      float* to = output_.at<float>(n_, oc, h, w);
      if (bias_) sum = chip_add(sum, bias);
      if (cmd_.add) sum = chip_add(sum, flush(*to));
      *to = sum;
    }
  }

 private:
  int channel(int parity, int k) const { return 2 * (k % pairs_) + parity; }
  bool exists(int parity, int k) const { return channel(parity, k) < cmd_.input.shape.c; }
  float weight(int parity, int oc, int k) const {
    if (!exists(parity, k)) return 0.0F;
    const int tap = k / pairs_, kernel_w = cmd_.window.kernel.w;
    return *weights_[parity].at<float>(k % pairs_, oc, tap / kernel_w, tap % kernel_w);
  }
  // What step k reads for output pixel (h, w).
  const float* pixel(int parity, int k, int h, int w) const {
    const int tap = k / pairs_;
    const OkkWindow& window = cmd_.window;
    const int row = h * window.stride.h + tap / window.kernel.w * window.dilation.h;
    return planes_.row(channel(parity, k), row) + w * window.stride.w + tap % window.kernel.w * window.dilation.w;
  }

  float chip_sum(int oc, int h, int w) const {
    float sums[2][2] = {};
    for (int k = 0; k < steps(); ++k) {
      for (const int parity : {0, 1}) {
        if (!exists(parity, k)) continue;
        const float product = chip_mul(*pixel(parity, k, h, w), weight(parity, oc, k));
        sums[parity][k % 2] = chip_add(sums[parity][k % 2], product);
      }
    }
    return chip_add(chip_add(sums[0][1], sums[0][0]), chip_add(sums[1][1], sums[1][0]));
  }

  const OkkConvCmd& cmd_;
  const PaddedPlanes& planes_;
  TensorView weights_[2];
  TensorView output_;
  std::optional<TensorView> bias_;
  int n_, pairs_;
};

FloatProduct product_of(const Convolution& convolution, int parity, int channels) {
  FloatProduct product;
  product.size = {channels, convolution.steps(), convolution.pixels()};
  product.source = {[&, parity](int oc, float* values) { convolution.load_weights(parity, oc, values); },
                    [&, parity](int k, int depth, int col, int count, float* values) {
                      convolution.load_windows(parity, k, depth, col, count, values);
                    }};
  return product;
}

}  // namespace

void execute(Memories& mem, const OkkConvCmd& cmd) {
  const Dim4& in = cmd.input.shape;
  const Dim4& out = cmd.output.shape;
  const TensorView input(mem, cmd.input);
  PaddedPlanes planes(cmd.window, in);
  const auto pixels = static_cast<std::size_t>(out.h) * static_cast<std::size_t>(out.w);
  std::vector<float> sums(static_cast<std::size_t>(out.c) * pixels);
  for (int n = 0; n < out.n; ++n) {
    parallel_for(in.c, in.elements() / in.n, [&](int c) { planes.load(c, input, n, c, 0.0F); });
    const Convolution convolution(mem, cmd, planes, n);
    FloatProduct even = product_of(convolution, 0, out.c);
    even.store = [&](int oc, int col, int count, const float* values) {
      std::copy_n(values, count, sums.data() + static_cast<std::size_t>(oc) * pixels + col);
    };
    multiply(even);
    FloatProduct odd = product_of(convolution, 1, out.c);
    odd.store = [&](int oc, int col, int count, const float* values) {
      convolution.store(oc, col, count, sums.data() + static_cast<std::size_t>(oc) * pixels + col, values);
    };
    multiply(odd);
  }
}

}  // namespace softtpu
