// Matrix product of BM1684 (numerics: bm1684-okkernel.md section 6): two sums by the parity of the inner index.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "device/core/commands.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

constexpr int kColumns = 8;  // of a row that are computed together
using Block = std::array<float, kColumns>;

// One channel of the output: its columns of every row.
class MatmulChannel {
 public:
  MatmulChannel(const Memories& mem, const OkkMatmulCmd& cmd, int channel)
      : cmd_(cmd), left_(mem, cmd.left), output_(mem, cmd.output), channel_(channel) {
    // The unused columns of the last channel are computed like the others, from whatever lies there.
    columns_ = cmd.right.shape.w;
    padded_ = (columns_ + kColumns - 1) / kColumns * kColumns;
    right_.assign(static_cast<std::size_t>(cmd.inner) * static_cast<std::size_t>(padded_), 0.0F);
    const TensorView right(mem, cmd.right);
    for (int k = 0; k < cmd.inner; ++k) {
      std::copy_n(right.at<float>(k, channel, 0, 0), columns_, right_.begin() + std::int64_t{k} * padded_);
    }
    if (cmd.bias) bias_ = TensorView(mem, *cmd.bias).at<float>(0, channel, 0, 0);
  }

  void run() {
    std::vector<float> row(static_cast<std::size_t>(cmd_.inner));
    const int per_channel = cmd_.left.shape.w;
    for (int r = 0; r < cmd_.left.shape.n; ++r) {
      for (int k = 0; k < cmd_.inner; ++k) {
        row[static_cast<std::size_t>(k)] = *left_.at<float>(r, k / per_channel, 0, k % per_channel);
      }
      for (int first = 0; first < columns_; first += kColumns) store(r, first, row);
    }
  }

 private:
  void store(int r, int first, const std::vector<float>& row) {
    const Block plain = dot_plain(row, first);
    float* out = output_.at<float>(r, channel_, 0, first);
    for (int i = 0; i < std::min(kColumns, columns_ - first); ++i) {
      float sum = plain[static_cast<std::size_t>(i)];
      // Which NaN comes out depends on the order of the operands, which plain sums leave to the compiler.
      if (std::isnan(sum)) sum = dot_chip(row, first + i);
      if (cmd_.bias) sum = chip_add(sum, flush(bias_[first + i]));
      if (cmd_.add) sum = chip_add(sum, flush(out[i]));
      out[i] = sum;
    }
  }
  const float* right_row(int k) const { return right_.data() + std::int64_t{k} * padded_; }

  // A single product is passed on as it is; it keeps a sign that adding it to +0 would lose.
  Block dot_plain(const std::vector<float>& row, int first) const {
    Block even{};
    Block odd{};
    const auto accumulate = [&](Block& sums, int k) {
      const float* right = right_row(k) + first;
      const float left = row[static_cast<std::size_t>(k)];
      for (std::size_t i = 0; i < kColumns; ++i) sums[i] = sums[i] + left * right[i];
    };
    if (cmd_.inner == 1) {
      for (std::size_t i = 0; i < kColumns; ++i) even[i] = row[0] * right_row(0)[first + static_cast<int>(i)];
      return even;
    }
    int k = 0;
    for (; k + 1 < cmd_.inner; k += 2) {
      accumulate(even, k);
      accumulate(odd, k + 1);
    }
    if (k < cmd_.inner) accumulate(even, k);
    for (std::size_t i = 0; i < kColumns; ++i) even[i] = even[i] + odd[i];
    return even;
  }

  float dot_chip(const std::vector<float>& row, int column) const {
    float sums[2] = {};
    for (int k = 0; k < cmd_.inner; ++k) {
      const float product = chip_mul(flush(row[static_cast<std::size_t>(k)]), flush(right_row(k)[column]));
      if (cmd_.inner == 1) return product;
      sums[k % 2] = chip_add(sums[k % 2], product);
    }
    return chip_add(sums[0], sums[1]);
  }

  const OkkMatmulCmd& cmd_;
  TensorView left_, output_;
  int channel_;
  int columns_ = 0, padded_ = 0;
  std::vector<float> right_;  // [inner][padded_]
  const float* bias_ = nullptr;
};

}  // namespace

void execute(Memories& mem, const OkkMatmulCmd& cmd) {
  const std::int64_t steps = std::int64_t{cmd.left.shape.n} * cmd.cols * cmd.inner;
  parallel_for(cmd.output.shape.c, steps, [&](int channel) { MatmulChannel(mem, cmd, channel).run(); });
}

}  // namespace softtpu
