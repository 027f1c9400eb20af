// Convolution of BM1684 in 2IC mode (numerics: bm1684-okkernel.md section 6). Four sums, [parity of the input channel]
// [parity of the step]; a step is a kernel tap and, inside it, a pair of input channels. The channels of one parity are
// a product of weights and windows with two alternating sums, as fp32 products on BM1684X are; both products are added.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/bdc/bm1684_layers/command.hpp"
#include "device/engines/bdc/bm1684_layers/okk_planes.hpp"
#include "device/engines/bdc/product/load.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/window/conv_planes.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/scratch.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

// Neighbouring batches of the input as planes (conv_planes.hpp): padded, and with a step of s every s-th row and column
// side by side. A last channel without a partner gets one of zeros.
class Planes {
 public:
  Planes(const Memories& mem, const OkkConvCmd& cmd)
      : geometry_(window_of(cmd.window), {cmd.output.shape.h, cmd.output.shape.w}),
        cmd_(cmd),
        input_(mem, cmd.input),
        channels_(cmd.input.shape.c + (cmd.has_odd() ? cmd.input.shape.c % 2 : 0)) {}

  const PlaneGeometry& geometry() const { return geometry_; }
  // Elements from batch to batch and from channel to channel.
  std::int64_t batch_size() const { return channels_ * geometry_.channel_size(); }
  std::int64_t channel_size() const { return geometry_.channel_size(); }
  const float* values() const { return values_; }

  void load(int first, int batches) {
    thread_local Scratch<float> memory;
    values_ = memory.room(batches * batch_size() + kTileCols);
    std::fill_n(values_ + batches * batch_size(), kTileCols, 0.0F);
    parallel_for(batches * channels_, batches * cmd_.input.shape.elements() / cmd_.input.shape.n, [&](int index) {
      float* out = values_ + index * channel_size();
      const int c = index % channels_;
      if (c >= cmd_.input.shape.c) {
        std::fill_n(out, channel_size(), 0.0F);
        return;
      }
      const Tensor& stored = cmd_.input;
      const OkkChannel<float> channel{input_.at<float>(first + index / channels_, c, 0, 0),
                                      {stored.shape.h, stored.shape.w},
                                      stored.stride.h,
                                      stored.stride.w};
      for (int plane = 0; plane < geometry_.planes(); ++plane)
        for (int row = 0; row < geometry_.rows(); ++row, out += geometry_.pitch())
          fill_plane_row(cmd_.window, channel, geometry_.phase(plane), row, geometry_.pitch(), out);
    });
  }

 private:
  const PlaneGeometry geometry_;
  const OkkConvCmd& cmd_;
  TensorView input_;
  int channels_;
  float* values_ = nullptr;
};

// What is read while results are stored, as it was before the first of them: the output may lie over it.
struct Kept {
  std::vector<float> biases;                  // of each output channel; none without a bias
  std::array<std::vector<float>, 2> weights;  // of both parities, where the output lies over weights
};

std::vector<float> biases_of(const Memories& mem, const OkkConvCmd& cmd) {
  std::vector<float> biases;
  if (!cmd.bias) return biases;
  const TensorView view(mem, *cmd.bias);
  for (int oc = 0; oc < cmd.output.shape.c; ++oc) biases.push_back(flush(*view.at<float>(0, oc, 0, 0)));
  return biases;
}

bool over_weights(const Chip& chip, const OkkConvCmd& cmd) {
  if (cmd.constant) return false;
  return may_overlap(chip, cmd.output, cmd.even) || (cmd.odd && may_overlap(chip, cmd.output, *cmd.odd));
}

// Some batches of a convolution: weights as rows, output pixels as columns, steps as the inner dimension.
class Convolution {
 public:
  Convolution(const Memories& mem, const OkkConvCmd& cmd, const Planes& planes, const Kept& kept, int first,
              int batches)
      : cmd_(cmd),
        planes_(planes),
        kept_(kept),
        geometry_(planes.geometry()),
        output_(mem, cmd.output),
        first_(first),
        batches_(batches),
        pairs_(cmd.pairs()) {
    if (!cmd.constant) weights_ = {TensorView(mem, cmd.even), TensorView(mem, cmd.odd.value_or(cmd.even))};
    for (const int parity : {0, 1}) packed_[parity] = packed(parity);
  }

  FloatProduct product_of(int parity) const {
    FloatProduct product;
    product.size = {cmd_.output.shape.c, steps(), flat() ? packed_[parity].tiles() * kTileCols : batches_ * pixels()};
    if (flat()) product.packed = &packed_[parity];
    product.source = {[this, parity](int oc, int count, float* values) {
                        for (int i = 0; i < count; ++i, values += steps()) load_weights(parity, oc + i, values);
                      },
                      [this, parity](int k, int depth, int col, int count, float* values) {
                        load_windows(parity, k, depth, col, count, values);
                      }};
    return product;
  }

  // The weights of all output channels, in the order of the steps.
  std::vector<float> weights(int parity) const {
    std::vector<float> values(static_cast<std::size_t>(cmd_.output.shape.c * steps()));
    for (int oc = 0; oc < cmd_.output.shape.c; ++oc) load_weights(parity, oc, values.data() + oc * steps());
    return values;
  }

  // Up to kTileCols sums of an output channel, with bias and old output.
  void store(int oc, int col, int count, const float* sums) const {
    const bool has_bias = !kept_.biases.empty();
    const float bias = has_bias ? kept_.biases[static_cast<std::size_t>(oc)] : 0.0F;
    const std::int64_t step = cmd_.output.stride.w;
    const bool nans = any_nan(sums, count);
    each_run(col, count, [&](int i, int n, int h, int w, int length) {
      float* to = output_.at<float>(n, oc, h, w);
      if (!nans && !has_bias && !cmd_.add && step == 1) return copy_run(sums + i, length, to);
      float ended[kTileCols];
      copy_run(sums + i, length, ended);
      // Which NaN comes out depends on the order of the operands, which sums of many leave open.
      for (int j = 0; nans && j < length; ++j)
        if (std::isnan(ended[j])) ended[j] = chip_sum(oc, n - first_, h, w + j);
      if (has_bias)
        for (int j = 0; j < length; ++j) ended[j] = chip_add(ended[j], bias);
      if (cmd_.add)
        for (int j = 0; j < length; ++j) ended[j] = chip_add(ended[j], flush(to[j * step]));
      for (int j = 0; j < length; ++j) to[j * step] = ended[j];
    });
  }

 private:
  static bool any_nan(const float* values, int count) {
    int found = 0;
    for (int i = 0; i < count; ++i) found |= static_cast<int>(values[i] != values[i]);
    return found != 0;
  }

  int steps() const { return cmd_.window.kernel.h * cmd_.window.kernel.w * pairs_; }
  int pixels() const { return cmd_.output.shape.h * cmd_.output.shape.w; }
  // Columns are places of the planes, which products read as they are: what lies behind an output row is computed and
  // not used. Where that would be more than a half, columns are output pixels, and windows are gathered.
  bool flat() const { return geometry_.cols() <= 2 * std::max(pixels(), kTileCols); }

  // The planes as the right matrix of one parity.
  PackedRight<float> packed(int parity) const {
    PackedRight<float> right;
    right.values = planes_.values();
    right.parts = batches_;
    right.part_cols = geometry_.cols();
    right.part_step = planes_.batch_size();
    for (int k = 0; k < steps(); ++k) right.offsets.push_back(offset(parity, k));
    return right;
  }

  // The weights of one output channel; the partner that an odd last channel lacks counts as 0.
  void load_weights(int parity, int oc, float* values) const {
    const Dim2 kernel = cmd_.window.kernel;
    const Tensor& stored = parity == 0 ? cmd_.even : cmd_.odd.value_or(cmd_.even);
    const int channels = (cmd_.input.shape.c + 1 - parity) / 2;
    const float* first = cmd_.constant ? nullptr : weights_[static_cast<std::size_t>(parity)].at<float>(0, oc, 0, 0);
    for (int h = 0; h < kernel.h; ++h)
      for (int w = 0; w < kernel.w; ++w, values += pairs_) {
        if (cmd_.constant) {
          std::fill_n(values, channels, *cmd_.constant);
        } else {
          const Dim2 at = cmd_.window.stored_tap(h, w);
          const float* from = first + at.h * stored.stride.h + at.w * stored.stride.w;
          for (int pair = 0; pair < channels; ++pair) values[pair] = from[pair * stored.stride.n];
        }
        std::fill(values + channels, values + pairs_, 0.0F);
      }
  }

  // What steps [k, k + depth) read for columns [col, col + count).
  void load_windows(int parity, int k, int depth, int col, int count, float* values) const {
    for (int i = 0; i < depth; ++i, values += kTileCols) {
      each_run(col, count, [&](int at, int n, int h, int w, int length) {
        copy_run(pixel(parity, k + i, n - first_, h, w), length, values + at);
      });
    }
  }

  // The output pixels among columns [col, col + count), row by row: visit(i, n, h, w, run).
  template <class Visit>
  void each_run(int col, int count, Visit visit) const {
    if (flat()) {
      const auto visit_batch = [&](int i, int n, int h, int w, int run) { visit(i, first_ + n, h, w, run); };
      return cmd_.output.stride.h == cmd_.output.shape.w ? geometry_.joined_pixels(col, count, visit_batch)
                                                         : geometry_.pixels(col, count, visit_batch);
    }
    const Dim4& out = cmd_.output.shape;
    for (int i = 0; i < count;) {
      const int row = (col + i) / out.w, w = (col + i) % out.w;
      const int run = std::min(count - i, out.w - w);
      visit(i, first_ + row / out.h, row % out.h, w, run);
      i += run;
    }
  }

  int channel(int parity, int k) const { return 2 * (k % pairs_) + parity; }
  bool exists(int parity, int k) const { return channel(parity, k) < cmd_.input.shape.c; }
  // Where step k reads for the first output pixel.
  std::int64_t offset(int parity, int k) const {
    return channel(parity, k) * planes_.channel_size() + geometry_.offset(k / pairs_);
  }
  const float* pixel(int parity, int k, int n, int h, int w) const {
    return planes_.values() + n * planes_.batch_size() + offset(parity, k) + h * geometry_.pitch() + w;
  }

  float weight(int parity, int oc, int k) const {
    if (cmd_.constant) return *cmd_.constant;
    const std::vector<float>& kept = kept_.weights[static_cast<std::size_t>(parity)];
    if (!kept.empty()) return kept[static_cast<std::size_t>(oc * steps() + k)];
    const int tap = k / pairs_, kernel_w = cmd_.window.kernel.w;
    const Dim2 at = cmd_.window.stored_tap(tap / kernel_w, tap % kernel_w);
    return *weights_[static_cast<std::size_t>(parity)].at<float>(k % pairs_, oc, at.h, at.w);
  }
  float chip_sum(int oc, int n, int h, int w) const {
    float sums[2][2] = {};
    for (int k = 0; k < steps(); ++k) {
      for (const int parity : {0, 1}) {
        if (!exists(parity, k)) continue;
        const float product = chip_mul(*pixel(parity, k, n, h, w), weight(parity, oc, k));
        sums[parity][k % 2] = chip_add(sums[parity][k % 2], product);
      }
    }
    return chip_add(chip_add(sums[0][1], sums[0][0]), chip_add(sums[1][1], sums[1][0]));
  }

  const OkkConvCmd& cmd_;
  const Planes& planes_;
  const Kept& kept_;
  const PlaneGeometry& geometry_;
  std::vector<TensorView> weights_;  // of both parities; none where all weights are one constant
  TensorView output_;
  PackedRight<float> packed_[2];
  int first_, batches_, pairs_;
};

}  // namespace

void execute(Memories& mem, const OkkConvCmd& cmd) {
  // Elements of the batches that are laid out at once.
  constexpr std::int64_t kMostElements = 16 << 20;
  Planes planes(mem, cmd);
  Kept kept{biases_of(mem, cmd), {}};
  const int batches = cmd.output.shape.n;
  const int at_once = static_cast<int>(std::clamp<std::int64_t>(kMostElements / planes.batch_size(), 1, batches));
  for (int n = 0; n < batches; n += at_once) {
    const int count = std::min(at_once, batches - n);
    planes.load(n, count);
    const Convolution convolution(mem, cmd, planes, kept, n, count);
    if (n == 0 && over_weights(mem.chip(), cmd)) kept.weights = {convolution.weights(0), convolution.weights(1)};
    FloatProduct even = convolution.product_of(0);
    even.store = by_rows<float>(
        [&](int oc, int col, int cols, const float* values) { convolution.store(oc, col, cols, values); });
    // One input channel has no partner, and the sums of its products with nothing are zero.
    FloatProduct odd;
    if (cmd.has_odd()) {
      odd = convolution.product_of(1);
      even.second = &odd;
    }
    multiply(even);
  }
}

}  // namespace softtpu
