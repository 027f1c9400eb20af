// Convolution of BM1684 in 2IC mode (numerics: bm1684-okkernel.md section 6). Four sums, [parity of the input channel]
// [parity of the step]; a step is a kernel tap and, inside it, a pair of input channels. The channels of one parity are
// a product of weights and windows with two alternating sums, as fp32 products on BM1684X are; both products are added.
#include <algorithm>
#include <cmath>

#include "device/bdc/load.hpp"
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
        pairs_(cmd.even.shape.n),
        pitch_(flat() ? planes.width() : cmd.output.shape.w) {
    if (cmd.bias) bias_.emplace(mem, *cmd.bias);
  }

  int steps() const { return cmd_.window.kernel.h * cmd_.window.kernel.w * pairs_; }
  // With steps of 1, columns are places of the planes, which products read as they are: what lies behind an output row
  // is computed and not used. Else columns are output pixels.
  bool flat() const { return cmd_.window.stride.h == 1 && cmd_.window.stride.w == 1; }
  int columns() const { return (cmd_.output.shape.h - 1) * pitch_ + cmd_.output.shape.w; }

  // The planes as the right matrix of one parity.
  PackedRight<float> packed(int parity) const {
    PackedRight<float> right;
    right.values = planes_.row(0, 0);
    right.parts = 1;
    right.part_cols = columns();
    for (int k = 0; k < steps(); ++k) {
      // A channel that does not exist reads zeros.
      right.offsets.push_back((exists(parity, k) ? pixel(parity, k, 0, 0) : planes_.row(cmd_.input.shape.c, 0)) -
                              right.values);
    }
    return right;
  }

  // The weights of one output channel; the partner that an odd last channel lacks counts as 0.
  void load_weights(int parity, int oc, float* values) const {
    for (int k = 0; k < steps(); ++k) values[k] = weight(parity, oc, k);
  }

  // What steps [k, k + depth) read for columns [col, col + count).
  void load_windows(int parity, int k, int depth, int col, int count, float* values) const {
    const int stride = cmd_.window.stride.w;
    for (int i = 0; i < depth; ++i) {
      float* to = values + i * kTileCols;
      if (!exists(parity, k + i)) {
        std::fill_n(to, count, 0.0F);
        continue;
      }
      each_row(col, count, [&](int h, int w, int done, int length) {
        const float* from = pixel(parity, k + i, h, w);
        if (stride == 1) return copy_run(from, length, to + done);
        for (int j = 0; j < length; ++j) to[done + j] = from[j * stride];
      });
    }
  }

  // The two sums of up to kTileCols columns added, with bias and old output.
  void store(int oc, int col, int count, const float* even, const float* odd) const {
    const float bias = bias_ ? flush(*bias_->at<float>(0, oc, 0, 0)) : 0.0F;
    const std::int64_t step = cmd_.output.stride.w;
    each_row(col, count, [&](int h, int w, int done, int length) {
      float sums[kTileCols];
      int nans = 0;
      for (int i = 0; i < length; ++i) {
        sums[i] = even[done + i] + odd[done + i];
        nans |= static_cast<int>(sums[i] != sums[i]);
      }
      // Which NaN comes out depends on the order of the operands, which sums of many leave to the compiler.
      for (int i = 0; nans != 0 && i < length; ++i)
        if (std::isnan(sums[i])) sums[i] = chip_sum(oc, h, w + i);
      float* to = output_.at<float>(n_, oc, h, w);
      if (bias_)
        for (int i = 0; i < length; ++i) sums[i] = chip_add(sums[i], bias);
      if (cmd_.add)
        for (int i = 0; i < length; ++i) sums[i] = chip_add(sums[i], flush(to[i * step]));
      if (step == 1) return copy_run(sums, length, to);
      for (int i = 0; i < length; ++i) to[i * step] = sums[i];
    });
  }

 private:
  // The output pixels among columns [col, col + count), row by row: visit(h, w, how many columns before, how many).
  template <class Visit>
  void each_row(int col, int count, Visit visit) const {
    const int width = cmd_.output.shape.w;
    int h = col / pitch_, w = col % pitch_;
    for (int done = 0; done < count; ++h, w = 0) {
      const int length = std::min(pitch_ - w, count - done);
      if (w < width) visit(h, w, done, std::min(length, width - w));
      done += length;
    }
  }

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
  int pitch_;  // columns from output row to output row
};

FloatProduct product_of(const Convolution& convolution, int parity, int channels, const PackedRight<float>& packed) {
  FloatProduct product;
  product.size = {channels, convolution.steps(), convolution.columns()};
  if (convolution.flat()) product.packed = &packed;
  product.source = {[&, parity](int oc, int count, float* values) {
                      for (int i = 0; i < count; ++i, values += convolution.steps())
                        convolution.load_weights(parity, oc + i, values);
                    },
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
  thread_local Scratch<float> padded, first_sums;
  PaddedPlanes planes(padded, cmd.window, in, 1);
  for (int n = 0; n < out.n; ++n) {
    parallel_for(in.c, in.elements() / in.n, [&](int c) { planes.load(c, input, n, c, 0.0F); });
    const Convolution convolution(mem, cmd, planes, n);
    const std::int64_t columns = convolution.columns();
    float* sums = first_sums.room(out.c * columns);
    const PackedRight<float> even_planes = convolution.packed(0), odd_planes = convolution.packed(1);
    FloatProduct even = product_of(convolution, 0, out.c, even_planes);
    even.store = by_rows<float>([&](int oc, int col, int count, const float* values) {
      std::copy_n(values, count, sums + oc * columns + col);
    });
    multiply(even);
    FloatProduct odd = product_of(convolution, 1, out.c, odd_planes);
    odd.store = by_rows<float>([&](int oc, int col, int count, const float* values) {
      convolution.store(oc, col, count, sums + oc * columns + col, values);
    });
    multiply(odd);
  }
}

}  // namespace softtpu
