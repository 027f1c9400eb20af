// Float products with factors of groups (numerics: bm1684x2.md section 5; golden bm1684x2/fp4).
#include "device/engines/bdc/product/block_product.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "device/chip/rules.hpp"
#include "device/engines/bdc/product/load.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/product/stored_matrix.hpp"
#include "device/engines/bdc/rows/one_nan.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/float_modes.hpp"
#include "device/numeric/float_unit.hpp"
#include "device/numeric/fp4.hpp"
#include "device/numeric/fp8.hpp"
#include "device/numeric/steps_in_type.hpp"

namespace softtpu {
namespace {

// Matrices as numbers: row by row of left, column by column of right, so that all of a sum lies side by side.
using ElementValues = std::vector<float>;

std::size_t place(int row, int columns, int column) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column);
}

// body(T()) for a float type as the chip computes with it: f16 subnormals are zeros.
template <class Body>
void for_flushed_type(Dtype type, Body body) {
  if (type == Dtype::kFp16) return body(FlushedF16());
  is_fp8(type) ? for_fp8_type(type, body) : for_float_type(type, body);
}

template <class T>
float number(const void* element) {
  if constexpr (std::is_same_v<T, float>) {
    return flush(*static_cast<const float*>(element));
  } else {
    return flush(Wide<T>::load(*static_cast<const T*>(element)));
  }
}

// `count` elements of a row of [1, rows, 1, columns]. FP4 lie two to a byte, the low half first, or where their rows
// have as many bytes as elements each in a byte of its own.
void load_row(const TensorView& view, int row, int count, Dtype type, bool byte_each, float* numbers) {
  if (type == Dtype::kFp4) {
    const auto* bytes = view.at<const std::uint8_t>(0, row, 0, 0);
    for (int i = 0; i < count; ++i) {
      const unsigned bits = byte_each ? bytes[i] : static_cast<unsigned>(bytes[i / 2]) >> (i % 2 * 4);
      numbers[i] = kFp4Values[bits & 0xFU];
    }
    return;
  }
  for_flushed_type(type, [&]<class T>(T) {
    using Element = std::conditional_t<std::is_same_v<T, FlushedF16>, std::uint16_t, T>;
    const auto* elements = view.at<const Element>(0, row, 0, 0);
    for (int i = 0; i < count; ++i) numbers[i] = number<T>(elements + i);
  });
}

ElementValues rows_of(const Memories& mem, const Tensor& tensor, int rows, int count, Dtype type) {
  ElementValues numbers(place(rows, count, 0));
  const TensorView view(mem, tensor);
  for (int row = 0; row < rows; ++row)
    load_row(view, row, count, type, tensor.shape.w == count, numbers.data() + place(row, count, 0));
  return numbers;
}

ElementValues left_numbers(const Memories& mem, const MatMulCmd& cmd) {
  const auto& left = std::get<Tensor>(cmd.left);
  if (!cmd.left_trans) return rows_of(mem, left, cmd.rows, cmd.inner, element_type(cmd.left));
  const ElementValues stored = rows_of(mem, left, cmd.inner, cmd.rows, element_type(cmd.left));
  ElementValues turned(stored.size());
  for (int k = 0; k < cmd.inner; ++k) {
    for (int row = 0; row < cmd.rows; ++row) turned[place(row, cmd.inner, k)] = stored[place(k, cmd.rows, row)];
  }
  return turned;
}

// An FP4 times its factor, rounded to the type of left. An FP8 is then read as another one.
float scaled(float value, float factor, Dtype left, Dtype read_as) {
  const float product = flush(chip_mul(value, factor));
  if (!is_fp8(left)) {
    float rounded = 0;
    for_flushed_type(left, [&]<class T>(T) {
      if constexpr (sizeof(T) == 2) rounded = flush(Wide<T>::load(Wide<T>::round(product)));
    });
    return rounded;
  }
  std::uint8_t bits = 0;
  for_fp8_type(left, [&]<class T>(T) { bits = Wide<T>::round(product).bits; });
  float result = 0;
  for_fp8_type(read_as, [&]<class T>(T) { result = Wide<T>::load(T{bits}); });
  return result;
}

ElementValues right_numbers(const Memories& mem, const MatMulCmd& cmd) {
  ElementValues right = rows_of(mem, std::get<Tensor>(cmd.right), cmd.cols, cmd.inner, element_type(cmd.right));
  if (cmd.blocks->left) return right;
  // Factors follow each other through the rows of their tensor, at least two for each column.
  const Tensor& stored = cmd.blocks->right;
  const int group = cmd.blocks->group, groups = cmd.inner / group;
  const ElementValues factors = rows_of(mem, stored, stored.shape.c, stored.shape.w, stored.dtype);
  for (int col = 0; col < cmd.cols; ++col) {
    for (int k = 0; k < cmd.inner; ++k) {
      float& value = right[place(col, cmd.inner, k)];
      value =
          scaled(value, factors[place(col, std::max(groups, 2), k / group)], type_of(cmd.left), cmd.blocks->read_as);
    }
  }
  return right;
}

// Sums of the products of columns [first, first + inner) of both matrices.
ElementValues sums_of(const Memories& mem, const MatMulCmd& cmd, const ElementValues& left, const ElementValues& right,
                      int first, int inner) {
  ElementValues sums(place(cmd.rows, cmd.cols, 0));
  FloatProduct product;
  product.rule = FloatSum::kGroups;
  product.size = {cmd.rows, inner, cmd.cols};
  product.source.left = [&, first, inner](int row, int count, float* values) {
    for (int i = 0; i < count; ++i)
      std::copy_n(left.data() + place(row + i, cmd.inner, first), inner, values + place(i, inner, 0));
  };
  product.source.right = [&, first](int k, int depth, int col, int count, float* values) {
    std::fill_n(values, std::int64_t{depth} * kTileCols, 0.0F);
    for (int j = 0; j < count; ++j) {
      const float* column = right.data() + place(col + j, cmd.inner, first + k);
      for (int i = 0; i < depth; ++i) values[i * kTileCols + j] = column[i];
    }
  };
  const bool bytes = size_of(element_type(cmd.left)) < 2;
  product.group = mem.chip().sum_group * (bytes ? 2 : 1);
  product.nan_wins = mem.chip().has(Quirk::kOneNan);
  product.tail_group = std::max(1, inner % product.group);
  product.tail_begin = inner - inner % product.group;
  product.store = by_rows<float>([&](int row, int col, int count, const float* values) {
    std::copy_n(values, count, sums.data() + place(row, cmd.cols, col));
  });
  multiply(product);
  return sums;
}

ElementValues block_sums(const Memories& mem, const MatMulCmd& cmd) {
  const ElementValues left = left_numbers(mem, cmd), right = right_numbers(mem, cmd);
  const std::optional<Tensor>& stored_of_left = cmd.blocks->left;
  if (!stored_of_left) return sums_of(mem, cmd, left, right, 0, cmd.inner);
  const Tensor& stored_of_right = cmd.blocks->right;
  const int size = cmd.blocks->group, groups = cmd.inner / size;
  const ElementValues of_left = rows_of(mem, *stored_of_left, cmd.rows, groups, stored_of_left->dtype);
  const ElementValues of_right = rows_of(mem, stored_of_right, cmd.cols, groups, stored_of_right.dtype);
  ElementValues total(place(cmd.rows, cmd.cols, 0));
  for (int group = 0; group < groups; ++group) {
    const ElementValues sums = sums_of(mem, cmd, left, right, group * size, size);
    for (int row = 0; row < cmd.rows; ++row) {
      for (int col = 0; col < cmd.cols; ++col) {
        const float factor = chip_mul(of_left[place(row, groups, group)], of_right[place(col, groups, group)]);
        float& sum = total[place(row, cmd.cols, col)];
        sum = flush(chip_add(sum, flush(chip_mul(sums[place(row, cmd.cols, col)], flush(factor)))));
      }
    }
  }
  return total;
}

}  // namespace

void execute_block_product(Memories& mem, const MatMulCmd& cmd) {
  ElementValues sums = block_sums(mem, cmd);
  if (const std::optional<Tensor>& of_rows = cmd.blocks->rows) {
    const TensorView factors(mem, *of_rows);
    for (int row = 0; row < cmd.rows; ++row) {
      const float factor = number<float>(factors.at<const float>(0, row, 0, 0));
      for (int col = 0; col < cmd.cols; ++col) {
        float& sum = sums[place(row, cmd.cols, col)];
        sum = flush(chip_mul(sum, factor));
      }
    }
  }
  const StoredMatrix dst(mem, cmd.dst, false, cmd.dst_trans);
  for_flushed_type(cmd.dst.dtype, [&]<class T>(T) {
    using Element = std::conditional_t<std::is_same_v<T, FlushedF16>, F16, T>;
    for (int row = 0; row < cmd.rows; ++row) {
      for (int col = 0; col < cmd.cols; ++col) {
        const float sum = sums[place(row, cmd.cols, col)];
        if constexpr (std::is_same_v<T, float>) {
          *dst.at<float>(row, col) = sum;
        } else {
          *dst.at<Element>(row, col) = Element{Wide<T>::round(sum).bits};
        }
      }
    }
  });
  unify_nans(mem, cmd.dst);
}

}  // namespace softtpu
