#include "device/engines/bdc/product/zero_points.hpp"

#include <algorithm>
#include <cstring>

#include "device/chip/rules.hpp"
#include "device/engines/bdc/product/byte_product.hpp"
#include "device/engines/bdc/product/load.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/scratch.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {

ZeroPointRows zero_point_rows(const Memories& mem, const MatMulCmd& cmd) {
  ZeroPointRows rows;
  const auto cols = static_cast<std::size_t>(cmd.cols);
  rows.points.resize(cols);
  for_int_type(dtype_of(cmd.zero_point), [&]<class T>(T) {
    if (const auto* scalar = std::get_if<Scalar>(&cmd.zero_point)) {
      std::fill(rows.points.begin(), rows.points.end(), loaded<std::uint32_t>(constant<T>(*scalar)));
      return;
    }
    const TensorView view(mem, std::get<Tensor>(cmd.zero_point));
    if (cmd.right_trans && (cmd.dst_trans || !mem.chip().has(Quirk::kZeroPointProducts))) {
      // One value for each channel that a column of the product is stored in.
      for (int col = 0; col < cmd.cols; ++col) {
        rows.points[static_cast<std::size_t>(col)] =
            loaded<std::uint32_t>(*view.at<T>(0, col, 0, cmd.dst_trans ? 0 : col));
      }
      return;
    }
    rows.wide = sizeof(T) > 1;
    const int npus = std::min(mem.chip().npu_num, cmd.inner);
    for (int i = 1; i < npus; ++i) {
      if (std::memcmp(view.at<T>(0, 0, 0, 0), view.at<T>(0, i, 0, 0), cols * sizeof(T)) != 0) rows.count = npus;
    }
    rows.points.resize(static_cast<std::size_t>(rows.count) * cols);
    for (int i = 0; i < rows.count; ++i) {
      const T* stored = view.at<T>(0, i, 0, 0);
      for (std::size_t col = 0; col < cols; ++col)
        rows.points[static_cast<std::size_t>(i) * cols + col] = loaded<std::uint32_t>(stored[col]);
    }
  });
  return rows;
}

ZeroPointSums::ZeroPointSums(const ProductSize& size, bool left_signed, bool right_signed, const ZeroPointRows& rows,
                             const LoadLeft& load_left)
    : size_(size), left_signed_(left_signed), right_signed_(right_signed), parts_(rows.count) {
  const std::int64_t sums = std::int64_t{size.rows} * parts_, results = std::int64_t{size.rows} * size.cols;
  left_ = room<std::uint32_t, struct LeftSums>(sums);
  off_ = room<std::uint32_t, struct Off>(results);
  std::fill_n(off_, results, 0U);
  sum_left(load_left);
  if (rows.wide) {
    add_products(rows);
    return;
  }
  auto* digits = room<std::uint8_t, struct Digits>(sums);
  constexpr unsigned kBits = 32, kDigit = 8;
  for (unsigned bit = 0; bit < kBits && cut_digit(digits); bit += kDigit) add_digit(digits, bit, rows);
}

Store<std::uint32_t> ZeroPointSums::taken_off(const Store<std::uint32_t>& store) const {
  return [this, store](const Tile& tile, const std::uint32_t* sums, std::int64_t step) {
    std::uint32_t* values = room<std::uint32_t, struct Left>(std::int64_t{tile.rows} * tile.cols);
    for (int i = 0; i < tile.rows; ++i) {
      const std::uint32_t* from = sums + i * step;
      const std::uint32_t* off = off_ + std::int64_t{tile.row + i} * size_.cols + tile.col;
      // Apart from both, as the compiler has to know for its vectors.
      auto* __restrict left = values + std::int64_t{i} * tile.cols;
      for (int j = 0; j < tile.cols; ++j) left[j] = from[j] - off[j];
    }
    store(tile, values, tile.cols);
  };
}

// Rows of the left matrix, summed over the inner indices whose right rows lie on the same NPU.
void ZeroPointSums::sum_left(const LoadLeft& load_left) {
  parallel_for(size_.rows, std::int64_t{size_.rows} * size_.inner, [&](int row) {
    std::uint32_t* values = room<std::uint32_t, struct LeftRow>(size_.inner);
    load_left(row, 1, values);
    auto* __restrict sums = left_ + std::int64_t{row} * parts_;
    std::fill_n(sums, parts_, 0U);
    for (int k = 0; k < size_.inner; k += parts_) {
      const int count = std::min(parts_, size_.inner - k);
      for (int i = 0; i < count; ++i) sums[i] += values[k + i];
    }
  });
}

// Cuts the lowest digit off all sums: as signed as the left matrix, so that small sums have few digits. False when
// nothing is left of any.
bool ZeroPointSums::cut_digit(std::uint8_t* digits) {
  std::uint32_t any = 0;
  for (std::int64_t i = 0; i < std::int64_t{size_.rows} * parts_; ++i) {
    const std::uint32_t sum = left_[i];
    any |= sum;
    digits[i] = static_cast<std::uint8_t>(sum);
    if (left_signed_) {
      const auto rest = static_cast<std::int32_t>(sum - static_cast<std::uint32_t>(static_cast<std::int8_t>(sum)));
      left_[i] = static_cast<std::uint32_t>(rest >> 8);
    } else {
      left_[i] = sum >> 8U;
    }
  }
  return any != 0;
}

void ZeroPointSums::add_products(const ZeroPointRows& rows) {
  const std::int64_t steps = std::int64_t{size_.rows} * size_.cols * parts_;
  parallel_for(size_.rows, steps, [&](int row) {
    const std::uint32_t* left = left_ + std::int64_t{row} * parts_;
    auto* __restrict off = off_ + std::int64_t{row} * size_.cols;
    for (int part = 0; part < parts_; ++part) {
      const std::uint32_t factor = left[part];
      const std::uint32_t* points = rows.points.data() + std::int64_t{part} * size_.cols;
      for (int col = 0; col < size_.cols; ++col) off[col] += factor * points[col];
    }
  });
}

void ZeroPointSums::add_digit(const std::uint8_t* digits, unsigned bit, const ZeroPointRows& rows) {
  ByteProduct product;
  product.size = {size_.rows, parts_, size_.cols};
  product.left_signed = left_signed_;
  product.right_signed = right_signed_;
  product.source.left = [&](int row, int count, std::uint8_t* values) {
    std::copy_n(digits + std::int64_t{row} * parts_, std::int64_t{count} * parts_, values);
  };
  product.source.right = [&](int k, int depth, int col, int count, std::uint8_t* values) {
    for (int i = 0; i < depth; ++i, values += kTileCols) {
      const std::uint32_t* points = rows.points.data() + std::int64_t{k + i} * size_.cols + col;
      std::transform(points, points + count, values,
                     [](std::uint32_t point) { return static_cast<std::uint8_t>(point); });
      std::fill(values + count, values + kTileCols, std::uint8_t{0});
    }
  };
  product.store = by_rows<std::uint32_t>([&](int row, int col, int count, const std::uint32_t* sums) {
    auto* __restrict off = off_ + std::int64_t{row} * size_.cols + col;
    for (int j = 0; j < count; ++j) off[j] += sums[j] << bit;
  });
  multiply(product);
}

}  // namespace softtpu
