// Depthwise convolution and pooling of BM1684 (numerics: bm1684-okkernel.md section 6): two sums by the parity of the
// tap, or a running maximum.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/bdc/bm1684_layers/command.hpp"
#include "device/engines/bdc/bm1684_layers/okk_planes.hpp"
#include "device/engines/bdc/window/pool_taps.hpp"
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

std::vector<Tap> taps_of(const Memories& mem, const OkkWindowCmd& cmd, const PaddedPlanes& planes, int c) {
  const Dim2& kernel = cmd.window.kernel;
  std::vector<Tap> taps;
  for (int i = 0; i < kernel.h; ++i) {
    for (int j = 0; j < kernel.w; ++j) {
      float weight = cmd.factor.value_or(1.0F / static_cast<float>(kernel.h * kernel.w));
      const Dim2 at = cmd.window.stored_tap(i, j);
      if (cmd.weight) weight = *TensorView(mem, *cmd.weight).at<float>(0, c, at.h, at.w);
      taps.push_back({weight, planes.row(0, i * cmd.window.dilation.h) - planes.row(0, 0) + j * cmd.window.dilation.w});
    }
  }
  return taps;
}

// One channel, some output rows at a time. Without stride the windows of neighbouring pixels lie side by side even
// across rows, so a tap is one pass over the padded rows; what is computed for their ends is not used. With a stride
// the pixels of a tap are brought together first.
class Channel {
 public:
  Channel(const Memories& mem, const OkkWindowCmd& cmd, int c)
      : cmd_(cmd),
        input_(mem, cmd.input),
        output_(mem, cmd.output),
        c_(c),
        planes_(memory_, cmd.window, one_channel(cmd)) {
    taps_ = taps_of(mem, cmd, planes_, c);
    if (cmd.bias) bias_ = flush(*TensorView(mem, *cmd.bias).at<float>(0, c, 0, 0));
    const Dim2& stride = cmd.window.stride;
    adjacent_ = stride.h == 1 && stride.w == 1;
    pitch_ = adjacent_ ? planes_.width() : cmd.output.shape.w;
    // With a stride all taps have their pixels brought together before they are summed.
    const int passes = adjacent_ || is_max() ? 1 : static_cast<int>(taps_.size());
    rows_ = std::max(1, kPassFloats / pitch_ / passes);
    results_ = memory_results_.room(std::int64_t{rows_} * pitch_ + kTapSlack);
    if (!adjacent_) gathered_ = memory_gathered_.room(std::int64_t{passes} * rows_ * pitch_ + kTapSlack);
    for (const Tap& tap : taps_) weights_.push_back(tap.weight);
  }

  void run() {
    const Dim4& out = cmd_.output.shape;
    for (int n = 0; n < out.n; ++n) {
      planes_.load(0, input_, n, c_, is_max() ? -FLT_MAX : 0.0F);
      for (int h = 0; h < out.h; h += rows_) run_rows(n, h, std::min(rows_, out.h - h));
    }
  }

 private:
  static constexpr int kPassFloats = 4096;  // the results and the padded rows stay in the first-level cache

  static Dim4 one_channel(const OkkWindowCmd& cmd) {
    Dim4 plane = cmd.input.shape;
    plane.c = 1;
    return plane;
  }
  bool is_max() const { return cmd_.mode == OkkWindowMode::kMax; }
  const float* window(int h, int w) const {
    return planes_.row(0, h * cmd_.window.stride.h) + w * cmd_.window.stride.w;
  }

  // What a tap reads for the pixels of `rows` output rows from h on, `pitch_` floats from row to row; brought together
  // at `gathered` where that is needed.
  const float* values_of(const Tap& tap, int h, int rows, float* gathered) const {
    if (adjacent_) return window(h, 0) + tap.at;
    const int stride = cmd_.window.stride.w;
    for (int row = 0; row < rows; ++row) {
      const float* from = window(h + row, 0) + tap.at;
      float* to = gathered + row * pitch_;
      for (int w = 0; w < pitch_; ++w) to[w] = from[w * stride];
    }
    return gathered;
  }

  void run_rows(int n, int h, int rows) {
    const int count = (rows - 1) * pitch_ + cmd_.output.shape.w;
    if (is_max()) {
      take_largest(h, rows, count);
    } else if (taps_.size() > 1) {
      sum_products(h, rows, count);
    }
    for (int row = 0; row < rows; ++row) store_row(n, h + row, results_ + row * pitch_);
  }

  void take_largest(int h, int rows, int count) {
    float* best = results_;
    std::fill_n(best, count, -FLT_MAX);
    for (const Tap& tap : taps_) {
      const float* values = values_of(tap, h, rows, gathered_);
      for (int i = 0; i < count; ++i) best[i] = values[i] > best[i] ? values[i] : best[i];
    }
  }

  void sum_products(int h, int rows, int count) {
    std::vector<const float*> places;
    places.reserve(taps_.size());
    float* gathered = gathered_;
    for (const Tap& tap : taps_) {
      places.push_back(values_of(tap, h, rows, gathered));
      if (!adjacent_) gathered += rows_ * pitch_;
    }
    const int taps = static_cast<int>(taps_.size());
    pool_taps().sum_f32({places.data(), taps, count}, weights_.data(), 0.0F, 0.0F, results_);
  }

  void store_row(int n, int h, float* results) const {
    const int width = cmd_.output.shape.w;
    settle(h, results, width);
    if (cmd_.bias)
      for (int w = 0; w < width; ++w) results[w] = chip_add(results[w], bias_);
    float* to = output_.at<float>(n, c_, h, 0);
    const std::int64_t step = cmd_.output.stride.w;
    for (int w = 0; w < width; ++w) to[w * step] = results[w];
  }

  // What whole rows cannot decide: a single product keeps its sign, a maximum has no subnormals, and which NaN comes
  // out depends on the order of the operands.
  void settle(int h, float* results, int width) const {
    if (is_max()) {
      for (int w = 0; w < width; ++w) results[w] = flush(results[w]);
      return;
    }
    int nans = static_cast<int>(taps_.size() == 1);
    for (int w = 0; w < width; ++w) nans |= static_cast<int>(results[w] != results[w]);
    if (nans == 0) return;
    for (int w = 0; w < width; ++w)
      if (taps_.size() == 1 || std::isnan(results[w])) results[w] = two_lane_sum(taps_, window(h, w));
  }

  static thread_local Scratch<float> memory_, memory_results_, memory_gathered_;

  const OkkWindowCmd& cmd_;
  TensorView input_, output_;
  int c_;
  PaddedPlanes planes_;
  std::vector<Tap> taps_;
  float bias_ = 0.0F;
  bool adjacent_ = true;
  int pitch_ = 0, rows_ = 0;
  std::vector<float> weights_;
  float* results_ = nullptr;
  float* gathered_ = nullptr;
};

thread_local Scratch<float> Channel::memory_, Channel::memory_results_, Channel::memory_gathered_;

}  // namespace

void execute(Memories& mem, const OkkWindowCmd& cmd) {
  const std::int64_t taps = std::int64_t{cmd.window.kernel.h} * cmd.window.kernel.w;
  parallel_for(cmd.output.shape.c, cmd.output.shape.elements() * taps, [&](int c) { Channel(mem, cmd, c).run(); });
}

}  // namespace softtpu
