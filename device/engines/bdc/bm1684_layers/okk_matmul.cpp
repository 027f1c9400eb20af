// Matrix product of BM1684 (numerics: bm1684-okkernel.md section 6): two sums by the parity of the inner index, the
// rule of fp32 products on BM1684X too.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/bdc/bm1684_layers/command.hpp"
#include "device/engines/bdc/product/load.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/product/stored_matrix.hpp"
#include "device/engines/bdc/product/stored_results.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

class Matmul {
 public:
  Matmul(const Memories& mem, const OkkMatmulCmd& cmd)
      : cmd_(cmd),
        left_(mem, cmd.left),
        right_(mem, cmd.right),
        output_(mem, cmd.output),
        left_matrix_(mem, cmd.left, true, false),
        right_matrix_(mem, cmd.right, true, false),
        output_matrix_(mem, cmd.output, true, false) {
    if (cmd.bias) bias_.emplace(mem, *cmd.bias);
  }

  float left(int row, int k) const {
    const int width = cmd_.left.shape.w;
    return *left_.at<float>(row, k / width, 0, k % width);
  }

  void load_left(int row, int count, float* values) const {
    load(left_matrix_, row, count, 0, cmd_.inner, values, cmd_.inner);
  }
  void load_right(int k, int depth, int col, int count, float* values) const {
    load(right_matrix_, k, depth, col, count, values, kTileCols);
  }

  // Stores tiles of sums in which no NaN is left to settle.
  Store<float> store() const {
    if (!bias_ && !cmd_.add) return copy_to<float>(output_matrix_);
    return by_rows<float>([this](int row, int col, int count, const float* sums) { add_row(row, col, count, sums); });
  }

  // One product is passed on as it is: it keeps a sign that adding it to +0 would lose.
  void store_single_products() const {
    const Store<float> store_rows = store();
    for (int row = 0; row < cmd_.left.shape.n; ++row) {
      const float factor = flush(left(row, 0));
      each_piece(0, columns(), [&](int channel, int first, int length, int /*done*/) {
        const float* right = right_.at<float>(0, channel, 0, first);
        float products[kTileCols];
        for (int i = 0; i < length; i += kTileCols) {
          const int count = std::min(kTileCols, length - i);
          for (int j = 0; j < count; ++j) products[j] = float_product(factor, right[i + j]);
          if (has_nan(products, count))
            for (int j = 0; j < count; ++j) products[j] = chip_mul(factor, flush(right[i + j]));
          store_rows({row, 1, channel * cmd_.right.shape.w + first + i, count}, products, count);
        }
      });
    }
  }

  // Settles NaNs, then stores.
  Store<float> settled(const Store<float>& store) const {
    return [this, store](const Tile& tile, const float* sums, std::int64_t step) {
      bool nans = false;
      for (int i = 0; i < tile.rows; ++i) nans |= has_nan(sums + i * step, tile.cols);
      if (!nans) return store(tile, sums, step);
      std::vector<float> values(static_cast<std::size_t>(tile.rows) * static_cast<std::size_t>(tile.cols));
      for (int i = 0; i < tile.rows; ++i) {
        float* row = values.data() + std::int64_t{i} * tile.cols;
        std::copy_n(sums + i * step, tile.cols, row);
        settle(tile.row + i, tile.col, tile.cols, row);
      }
      store(tile, values.data(), tile.cols);
    };
  }

  // The unused columns of the last channel are computed like the others, from whatever lies there.
  int columns() const { return cmd_.output.shape.c * cmd_.right.shape.w; }

 private:
  // Rows of the block are `step` apart in `values`.
  static void load(const StoredMatrix& matrix, int row, int rows, int col, int cols, float* values, int step) {
    matrix.blocks<const float>(row, rows, col, cols, [&](const auto& block) {
      copy_runs(block.first, block.step, block.rows, block.run, values + std::int64_t{block.i} * step + block.j, step);
    });
  }
  // Which NaN comes out depends on the order of the operands, which sums of many leave to the compiler.
  void settle(int row, int col, int count, float* sums) const {
    const int width = cmd_.right.shape.w;
    for (int i = 0; i < count; ++i)
      if (std::isnan(sums[i])) sums[i] = chip_dot(row, (col + i) / width, (col + i) % width);
  }

  // Stores a piece of a row of sums with bias and old output.
  void add_row(int row, int col, int count, const float* sums) const {
    each_piece(col, count, [&](int channel, int first, int length, int done) {
      float* out = output_.at<float>(row, channel, 0, first);
      const float* bias = bias_ ? bias_->at<float>(0, channel, 0, first) : nullptr;
      for (int i = 0; i < length; i += kTileCols)
        finish(std::min(kTileCols, length - i), sums + done + i, bias == nullptr ? nullptr : bias + i, out + i);
    });
  }

  // Columns [col, col + count) channel by channel: visit(channel, first column in it, how many, how many before).
  template <class Visit>
  void each_piece(int col, int count, Visit visit) const {
    const int width = cmd_.right.shape.w;
    for (int done = 0; done < count;) {
      const int first = (col + done) % width;
      const int length = std::min(width - first, count - done);
      visit((col + done) / width, first, length, done);
      done += length;
    }
  }

  static bool has_nan(const float* values, int count) {
    int nans = 0;
    for (int i = 0; i < count; ++i) nans |= static_cast<int>(values[i] != values[i]);
    return nans != 0;
  }

  // Up to kTileCols sums with bias and old output.
  void finish(int count, const float* sums, const float* bias, float* out) const {
    float values[kTileCols];
    std::copy_n(sums, count, values);
    if (bias != nullptr)
      for (int i = 0; i < count; ++i) values[i] += bias[i];
    if (cmd_.add)
      for (int i = 0; i < count; ++i) values[i] += out[i];
    if (has_nan(values, count)) {
      for (int i = 0; i < count; ++i) {
        values[i] = bias == nullptr ? sums[i] : chip_add(sums[i], flush(bias[i]));
        if (cmd_.add) values[i] = chip_add(values[i], flush(out[i]));
      }
    }
    std::copy_n(values, count, out);
  }

  float chip_dot(int row, int channel, int column) const {
    float sums[2] = {};
    for (int k = 0; k < cmd_.inner; ++k) {
      const float product = chip_mul(flush(left(row, k)), flush(*right_.at<float>(k, channel, 0, column)));
      if (cmd_.inner == 1) return product;
      sums[k % 2] = chip_add(sums[k % 2], product);
    }
    return chip_add(sums[0], sums[1]);
  }

  const OkkMatmulCmd& cmd_;
  TensorView left_, right_, output_;
  StoredMatrix left_matrix_, right_matrix_, output_matrix_;
  std::optional<TensorView> bias_;
};

}  // namespace

void execute(Memories& mem, const OkkMatmulCmd& cmd) {
  const Matmul matmul(mem, cmd);
  if (cmd.inner == 1) return matmul.store_single_products();
  FloatProduct product;
  product.size = {cmd.left.shape.n, cmd.inner, matmul.columns()};
  product.source = {
      [&](int row, int count, float* values) { matmul.load_left(row, count, values); },
      [&](int k, int depth, int col, int count, float* values) { matmul.load_right(k, depth, col, count, values); }};
  // Where the result lies over an operand, it is written when everything has been read.
  const Chip& chip = mem.chip();
  product.store_last = may_overlap(chip, cmd.output, cmd.left) || may_overlap(chip, cmd.output, cmd.right) ||
                       (cmd.bias && may_overlap(chip, cmd.output, *cmd.bias));
  product.store = matmul.settled(matmul.store());
  multiply(product);
}

}  // namespace softtpu
