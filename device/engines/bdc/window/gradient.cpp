// Gradients of the weights of convolutions (numerics: bm1684x2.md section 3; golden bm1684x2/new_other).
#include <algorithm>

#include "device/chip/rules.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/product/load.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/rows/flushed_halves.hpp"
#include "device/engines/bdc/rows/one_nan.hpp"
#include "device/engines/bdc/window/command.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {

// The product of grad, a row for each output channel, and the windows, a column for each tap and input channel.
static void sum_windows(Memories& mem, const WeightGradientCmd& cmd) {
  const TensorView src(mem, cmd.src), grad(mem, cmd.grad), dst(mem, cmd.dst);
  const int width = cmd.grad.shape.w, inner = cmd.grad.shape.h * width, channels = cmd.src.shape.c;
  FloatProduct product;
  product.rule = cmd.src.dtype == Dtype::kFp32 ? FloatSum::kTwoLanes : FloatSum::kGroups;
  product.size = {cmd.grad.shape.c, inner, cmd.dst.shape.h * channels};
  for_float_type(cmd.src.dtype, [&]<class T>(T) {
    product.source.left = [&grad, width, inner](int row, int count, float* values) {
      for (int i = 0; i < count; ++i) {
        for (int k = 0; k < inner; ++k) *values++ = loaded<float>(*grad.at<const T>(0, row + i, k / width, k % width));
      }
    };
    product.source.right = [&, width, channels](int k, int depth, int col, int count, float* values) {
      std::fill_n(values, std::int64_t{depth} * kTileCols, 0.0F);
      for (int i = 0; i < depth; ++i) {
        const int y = (k + i) / width, x = (k + i) % width;
        for (int j = 0; j < count; ++j) {
          const int tap = (col + j) / channels, channel = (col + j) % channels;
          values[i * kTileCols + j] =
              loaded<float>(*src.at<const T>(0, channel, y + tap / cmd.kernel.w, x + tap % cmd.kernel.w));
        }
      }
    };
  });
  product.group = mem.chip().sum_group;
  product.nan_wins = mem.chip().has(Quirk::kOneNan);
  product.tail_group = std::max(1, inner % product.group);
  product.tail_begin = inner - inner % product.group;
  product.store = by_rows<float>([&dst, channels](int row, int col, int count, const float* values) {
    for (int j = 0; j < count; ++j) *dst.at<float>(0, row, (col + j) / channels, (col + j) % channels) = values[j];
  });
  multiply(product);
  unify_nans(mem, cmd.dst);
}

void execute(Memories& mem, const WeightGradientCmd& cmd) {
  with_flushed_halves(mem, cmd, [&](const WeightGradientCmd& flushed) { sum_windows(mem, flushed); });
}

}  // namespace softtpu
