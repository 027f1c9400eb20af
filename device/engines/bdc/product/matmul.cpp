// Matrix products (numerics: bm1684x-matmul-conv-pool.md sections 1, 2 and 4).
#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <vector>

#include "device/chip/rules.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/product/block_product.hpp"
#include "device/engines/bdc/product/byte_product.hpp"
#include "device/engines/bdc/product/command.hpp"
#include "device/engines/bdc/product/load.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/product/stored_matrix.hpp"
#include "device/engines/bdc/product/stored_results.hpp"
#include "device/engines/bdc/product/unrounded.hpp"
#include "device/engines/bdc/product/zero_points.hpp"
#include "device/engines/bdc/requant/shifted_sums.hpp"
#include "device/engines/bdc/requant/sum_end.hpp"
#include "device/engines/bdc/rows/flushed_halves.hpp"
#include "device/engines/bdc/rows/one_nan.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/scratch.hpp"
#include "device/memory/transpose.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/convert.hpp"
#include "device/numeric/float_modes.hpp"
#include "device/numeric/fp8.hpp"
#include "device/numeric/shift.hpp"

namespace softtpu {
namespace {

// Elements of a row of 16-bit floats or bytes that are widened where they are stored.
constexpr int kWidenedRun = 16;

template <class T, class In>
std::function<void(int, int, In*)> left_loader(const Memories& mem, const MatMulCmd& cmd) {
  const int inner = cmd.inner;
  if (const auto* scalar = std::get_if<Scalar>(&cmd.left)) {
    return [value = loaded<In>(constant<T>(*scalar)), inner](int, int count, In* values) {
      std::fill_n(values, std::int64_t{inner} * count, value);
    };
  }
  const StoredMatrix matrix(mem, std::get<Tensor>(cmd.left), spreads_columns(cmd.kind), cmd.left_trans);
  return [matrix, inner](int row, int count, In* values) {
    thread_local Scratch<T> scratch;
    for (int done = 0; done < count; done += kRowsAtOnce, values += std::int64_t{inner} * kRowsAtOnce) {
      const int rows = std::min(kRowsAtOnce, count - done);
      // Elements that need no widening go where they are wanted at once, as rows do that are long enough for vectors.
      T* stored = nullptr;
      if constexpr (std::is_same_v<T, In>) {
        stored = values;
      } else {
        if (matrix.rows_are_runs() && inner >= kWidenedRun) {
          for (int i = 0; i < rows; ++i)
            load_run(matrix.at<const T>(row + done + i, 0), values + std::int64_t{i} * inner, inner);
          continue;
        }
        stored = scratch.room(std::int64_t{inner} * rows);
      }
      if (!matrix.column_major()) {
        matrix.blocks<const T>(row + done, rows, 0, inner, [&](const auto& block) {
          copy_runs(block.first, block.step, block.rows, block.run, stored + std::int64_t{block.i} * inner + block.j,
                    inner);
        });
      } else {
        if (matrix.columns_are_runs()) {
          turn<T>(
              rows, inner, [&](int i) { return stored + std::int64_t{i} * inner; },
              [&](int k) { return matrix.at<const T>(row + done, k); });
        }
        for (int k = 0; k < inner && !matrix.columns_are_runs(); ++k) {
          matrix.column_runs<const T>(row + done, k, rows, [&](int i, const T* first, int run) {
            for (int j = 0; j < run; ++j) stored[std::int64_t{i + j} * inner + k] = first[j];
          });
        }
      }
      if constexpr (!std::is_same_v<T, In>) load_run(stored, values, rows * inner);
    }
  };
}

// Stores what convert(row, col, count, sums, out) makes of each row of sums.
template <class T, class Convert>
Store<std::uint32_t> converted(const Store<T>& store, const Convert& convert) {
  return [store, convert](const Tile& tile, const std::uint32_t* sums, std::int64_t step) {
    thread_local Scratch<T> scratch;
    T* values = scratch.room(std::int64_t{tile.rows} * tile.cols);
    for (int i = 0; i < tile.rows; ++i)
      convert(tile.row + i, tile.col, tile.cols, sums + i * step, values + std::int64_t{i} * tile.cols);
    store(tile, values, tile.cols);
  };
}

// Stores the rounded sums.
template <class T>
Store<float> rounded(const Store<T>& store, bool nan_sign) {
  return [store, nan_sign](const Tile& tile, const float* sums, std::int64_t step) {
    T* values = room<T, struct Rounded>(std::int64_t{tile.rows} * tile.cols);
    for (int i = 0; i < tile.rows; ++i)
      store_run(sums + i * step, tile.cols, values + std::int64_t{i} * tile.cols, nan_sign);
    store(tile, values, tile.cols);
  };
}

template <class T, class In>
std::function<void(int, int, int, int, In*)> right_loader(const Memories& mem, const MatMulCmd& cmd) {
  if (const auto* scalar = std::get_if<Scalar>(&cmd.right)) {
    return [value = loaded<In>(constant<T>(*scalar))](int, int depth, int, int, In* values) {
      std::fill_n(values, std::int64_t{depth} * kTileCols, value);
    };
  }
  const StoredMatrix matrix(mem, std::get<Tensor>(cmd.right), spreads_columns(cmd.kind), cmd.right_trans);
  return [matrix](int k, int depth, int col, int count, In* values) {
    // Elements that need no widening go where they are wanted at once, as rows do that are long enough for vectors.
    thread_local Scratch<T> scratch;
    T* stored = nullptr;
    if constexpr (std::is_same_v<T, In>) {
      stored = values;
    } else {
      if (matrix.rows_are_runs() && count >= kWidenedRun) {
        for (int i = 0; i < depth; ++i, values += kTileCols) {
          load_run(matrix.at<const T>(k + i, col), values, count);
          std::fill(values + count, values + kTileCols, In());
        }
        return;
      }
      stored = scratch.room(std::int64_t{kMaxDepth} * kTileCols);
    }
    // Whole vectors are multiplied: columns behind the last one must not look like special values.
    for (int i = 0; i < depth; ++i) std::fill(stored + i * kTileCols + count, stored + (i + 1) * kTileCols, T());
    if (!matrix.column_major()) {
      matrix.blocks<const T>(k, depth, col, count, [&](const auto& block) {
        copy_runs(block.first, block.step, block.rows, block.run, stored + block.i * kTileCols + block.j, kTileCols);
      });
    } else if (matrix.columns_are_runs()) {
      turn<T>(
          depth, count, [&](int i) { return stored + i * kTileCols; },
          [&](int j) { return matrix.at<const T>(k, col + j); });
    } else {
      T column[kMaxDepth];
      for (int j = 0; j < count; ++j) {
        matrix.column_runs<const T>(k, col + j, depth,
                                    [&](int i, const T* first, int run) { copy_run(first, run, column + i); });
        for (int i = 0; i < depth; ++i) stored[i * kTileCols + j] = column[i];
      }
    }
    if constexpr (!std::is_same_v<T, In>) load_run(stored, values, depth * kTileCols);
  };
}

template <class T, class In>
ProductSource<In> source_of(const Memories& mem, const MatMulCmd& cmd) {
  return {left_loader<T, In>(mem, cmd), right_loader<T, In>(mem, cmd)};
}

// A result that is stored while operands are still to be read must not lie on them. The old result may lie on the
// result itself when both have the same layout and elements of the same size: each tile reads its own part first.
bool must_store_last(const Memories& mem, const MatMulCmd& cmd) {
  const Chip& chip = mem.chip();
  bool overlap = may_overlap(chip, cmd.dst, cmd.left) || may_overlap(chip, cmd.dst, cmd.right) ||
                 may_overlap(chip, cmd.dst, cmd.zero_point) || may_overlap(chip, cmd.dst, cmd.shift);
  if (cmd.bias) overlap = overlap || may_overlap(chip, cmd.dst, *cmd.bias);
  if (cmd.rescale) overlap = overlap || may_overlap(chip, cmd.dst, *cmd.rescale);
  if (cmd.old) {
    overlap = overlap || cmd.old->stride != cmd.dst.stride || size_of(cmd.old->dtype) != size_of(cmd.dst.dtype);
  }
  return overlap;
}

// ---- Floats ----

FloatProduct::Piece addend_of(const Memories& mem, const MatMulCmd& cmd, const Operand& addend) {
  FloatProduct::Piece piece;
  for_float_type(dtype_of(addend), [&]<class T>(T) {
    if (const auto* scalar = std::get_if<Scalar>(&addend)) {
      piece = [value = loaded<float>(constant<T>(*scalar))](int, int, int count, float* values) {
        std::fill_n(values, count, value);
      };
      return;
    }
    const auto& stored = std::get<Tensor>(addend);
    // One row is for all rows.
    const bool one_row =
        spreads_columns(cmd.kind) ? stored.shape.n == 1 : (cmd.dst_trans ? stored.shape.w : stored.shape.c) == 1;
    const StoredMatrix matrix(mem, stored, spreads_columns(cmd.kind), cmd.dst_trans);
    piece = [matrix, one_row](int row, int col, int count, float* values) {
      matrix.row_runs<const T>(one_row ? 0 : row, col, count,
                               [&](int i, const T* first, int run) { load_run(first, values + i, run); });
    };
  });
  return piece;
}

// body(T()) for a type of operands or results.
template <class Body>
void for_product_type(Dtype type, Body body) {
  is_fp8(type) ? for_fp8_type(type, body) : for_float_type(type, body);
}

void multiply_floats(Memories& mem, const MatMulCmd& cmd) {
  FloatProduct product;
  product.rule = cmd.kind == MatMulKind::kFp32 ? FloatSum::kTwoLanes : FloatSum::kGroups;
  product.size = {cmd.rows, cmd.inner, cmd.cols};
  for_product_type(dtype_of(cmd.left), [&]<class T>(T) { product.source.left = left_loader<T, float>(mem, cmd); });
  for_product_type(dtype_of(cmd.right), [&]<class T>(T) { product.source.right = right_loader<T, float>(mem, cmd); });
  product.group = mem.chip().sum_group * (is_fp8(dtype_of(cmd.left)) ? 2 : 1);
  product.nan_wins = mem.chip().has(Quirk::kOneNan);
  product.tail_group = std::max(1, cmd.inner % product.group);
  product.tail_begin = cmd.inner - cmd.inner % product.group;
  if (cmd.bias) product.addends.push_back(addend_of(mem, cmd, *cmd.bias));
  if (cmd.old) product.addends.push_back(addend_of(mem, cmd, *cmd.old));
  product.relu = cmd.relu;
  product.relu_keeps_nan = mem.chip().has(Quirk::kOneNan);
  product.store_last = must_store_last(mem, cmd);
  product.signs_nan = cmd.dst.dtype != Dtype::kFp32 && mem.chip().has(Quirk::kHalfNanSign);
  const StoredMatrix dst(mem, cmd.dst, spreads_columns(cmd.kind), cmd.dst_trans);
  FloatProduct::Piece factors_of;
  if (cmd.rescale) factors_of = addend_of(mem, cmd, *cmd.rescale);
  for_product_type(cmd.dst.dtype, [&]<class T>(T) {
    if (cmd.rescale) {
      product.store = by_rows<float>([&dst, &factors_of](int row, int col, int count, const float* values) {
        float* scaled = room<float, struct Rescaled>(count);
        factors_of(row, col, count, scaled);
        for (int i = 0; i < count; ++i) scaled[i] = float_product(values[i], flush(scaled[i]));
        dst.row_runs<T>(row, col, count, [&](int i, T* first, int run) { store_run(scaled + i, run, first); });
      });
    } else if constexpr (std::is_same_v<T, float>) {
      product.store = copy_to<float>(dst);
    } else {
      product.store = rounded<T>(copy_to<T>(dst), product.signs_nan);
    }
    multiply(product);
  });
  unify_nans(mem, cmd.dst);
}

// The f32 matrix that lies where the result does until it is rounded in place (fp8-products-rounded-twice).
template <class T>
void round_in_place(const StoredMatrix& wide, const StoredMatrix& narrow, const MatMulCmd& cmd) {
  for (int row = 0; row < cmd.rows; ++row) {
    wide.row_runs<const float>(row, 0, cmd.cols, [&](int, const float* sums, int run) {
      thread_local Scratch<float> scratch;
      float* values = scratch.room(run);
      std::copy_n(sums, run, values);
      T* out = narrow.at<T>(row, 0);
      for (int i = 0; i < run; ++i) {
        if constexpr (std::is_same_v<T, E4m3> || std::is_same_v<T, E5m2>) {
          const auto bits = std::bit_cast<std::uint32_t>(values[i]);
          out[i] = {is_nan_bits(bits) ? kNanFp8 : round_fp8<T>(values[i], Rounding::kHalfAwayFromZero, true)};
        } else {
          constexpr Dtype kType = std::is_same_v<T, F16> ? Dtype::kFp16 : Dtype::kBfp16;
          constexpr unsigned kInfinity = kType == Dtype::kFp16 ? 0x7C00U : 0x7F80U;
          const unsigned half = convert_to_half(values[i], kType, Rounding::kHalfAwayFromZero, Specials::kFlushed);
          out[i] = {static_cast<std::uint16_t>((half & 0x7FFFU) == kInfinity ? half - 1 : half)};
        }
      }
    });
  }
}

void multiply_fp8(Memories& mem, const MatMulCmd& cmd) {
  const std::optional<Tensor> sums = unrounded_result(mem.chip(), cmd);
  if (!sums) return multiply_floats(mem, cmd);
  MatMulCmd wide = cmd;
  wide.dst = *sums;
  multiply_floats(mem, wide);
  const StoredMatrix from(mem, wide.dst, false, false), to(mem, cmd.dst, false, false);
  for_product_type(cmd.dst.dtype, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, float>) round_in_place<T>(from, to, cmd);
  });
}

// ---- Integers ----

// Instructions keep a bias on the NPU of each row of the result, and these may differ.
bool has_bias_rows(const MatMulCmd& cmd) {
  const auto* stored = cmd.bias ? std::get_if<Tensor>(&*cmd.bias) : nullptr;
  return stored != nullptr && !cmd.dst_trans && stored->shape.c > 1;
}

// The bias of each column of the product, where it is the same for all rows.
std::vector<std::uint32_t> bias_row(const Memories& mem, const MatMulCmd& cmd) {
  std::vector<std::uint32_t> values(static_cast<std::size_t>(cmd.cols));
  if (!cmd.bias || has_bias_rows(cmd)) return values;
  for_int_type(dtype_of(*cmd.bias), [&]<class T>(T) {
    if (const auto* scalar = std::get_if<Scalar>(&*cmd.bias)) {
      std::fill(values.begin(), values.end(), loaded<std::uint32_t>(constant<T>(*scalar)));
      return;
    }
    StoredMatrix(mem, std::get<Tensor>(*cmd.bias), false, cmd.dst_trans)
        .along_row<const T>(0, 0, cmd.cols, [&](int i, const T* element) {
          values[static_cast<std::size_t>(i)] = loaded<std::uint32_t>(*element);
        });
  });
  return values;
}

// Arrays that lie apart, as the compiler has to know for its vectors.
template <class T>
void add(const T* __restrict addends, int count, std::uint32_t* __restrict sums) {
  for (int i = 0; i < count; ++i) sums[i] += addends[i];
}

// Stores the ends of a product whose columns are the channels of the result: sums are turned, so that those of a
// channel lie side by side.
template <class T>
Store<std::uint32_t> ended_columns(const StoredMatrix& channels, const SumEnds& ends,
                                   const std::vector<std::uint32_t>& bias, bool add_old) {
  return [=, &ends, &bias](const Tile& tile, const std::uint32_t* sums, std::int64_t step) {
    std::uint32_t* values = room<std::uint32_t, struct Turned>(std::int64_t{tile.rows} * tile.cols);
    turn<std::uint32_t>(
        tile.cols, tile.rows, [&](int col) { return values + std::int64_t{col} * tile.rows; },
        [&](int row) { return sums + row * step; });
    for (int col = tile.col; col < tile.col + tile.cols; ++col, values += tile.rows) {
      T* out = channels.at<T>(col, tile.row);
      if (add_old) add<T>(out, tile.rows, values);
      ends.of(col)(values, bias[static_cast<std::size_t>(col)], tile.rows, out);
    }
  };
}

// Sums + bias + old modulo 2^32, then relu, requantisation, saturation.
void requantise(const Memories& mem, const MatMulCmd& cmd, ByteProduct& product,
                const std::function<void()>& multiply_all) {
  const std::vector<std::uint32_t> bias = bias_row(mem, cmd);
  const bool one_bias = std::all_of(bias.begin(), bias.end(), [&](std::uint32_t value) { return value == bias[0]; });
  const SumEnds ends(mem, {cmd.dst.dtype, true, cmd.relu, cmd.symmetric}, cmd.requant);
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) {
    const StoredMatrix dst(mem, cmd.dst, false, cmd.dst_trans), channels(mem, cmd.dst, false, false);
    std::optional<StoredMatrix> bias_rows;
    if (has_bias_rows(cmd)) bias_rows.emplace(mem, std::get<Tensor>(*cmd.bias), false, false);
    const auto end_row = [&](int row, int col, int count, const std::uint32_t* sums, T* out) {
      if (one_bias && !bias_rows && !cmd.old) return ends.of(row)(sums, bias[0], count, out);
      std::uint32_t* values = room<std::uint32_t, struct Added>(count);
      std::copy_n(sums, count, values);
      add<std::uint32_t>(bias.data() + col, count, values);
      if (bias_rows) add<std::uint32_t>(bias_rows->at<std::uint32_t>(row, col), count, values);
      if (cmd.old) add<T>(dst.at<T>(row, col), count, values);
      ends.of(row)(values, 0, count, out);
    };
    if (cmd.dst_trans && (ends.differ() || cmd.old)) {
      product.store = ended_columns<T>(channels, ends, bias, cmd.old.has_value());
    } else {
      product.store = converted<T>(copy_to<T>(dst), end_row);
    }
    multiply_all();
  });
}

void multiply_zero_point(Memories& mem, const MatMulCmd& cmd, ByteProduct& product) {
  ZeroPointRows zero_points = zero_point_rows(mem, cmd);
  std::optional<ZeroPointSums> differing;
  if (zero_points.count == 1) {
    product.zero_points = ZeroPoints::kOfColumns;
    product.points = std::move(zero_points.points);
  } else {
    ZeroPointSums::LoadLeft load_left;
    for_int_type(dtype_of(cmd.left), [&]<class T>(T) { load_left = left_loader<T, std::uint32_t>(mem, cmd); });
    differing.emplace(product.size, product.left_signed, product.right_signed, zero_points, load_left);
  }
  const auto multiply_all = [&] {
    if (differing) product.store = differing->taken_off(product.store);
    multiply(product);
  };
  if (!product.left_signed && !product.right_signed && !cmd.requant && mem.chip().has(Quirk::kSumsStopAtInt)) {
    const StoredMatrix dst(mem, cmd.dst, false, cmd.dst_trans);
    product.store = by_rows<std::uint32_t>([&](int row, int col, int count, const std::uint32_t* sums) {
      dst.row_runs<std::uint32_t>(row, col, count, [&](int i, std::uint32_t* first, int run) {
        for (int j = 0; j < run; ++j) {
          const std::uint64_t all = std::uint64_t{sums[i + j]} + (cmd.old ? first[j] : 0U);
          first[j] = static_cast<std::uint32_t>(std::min<std::uint64_t>(all, INT32_MAX));
        }
      });
    });
    return multiply_all();
  }
  if (cmd.dst.dtype != Dtype::kInt32 || cmd.bias || cmd.symmetric || cmd.requant || cmd.relu)
    return requantise(mem, cmd, product, multiply_all);
  const StoredMatrix dst(mem, cmd.dst, false, cmd.dst_trans);
  product.store = copy_to<std::uint32_t>(dst);
  if (cmd.old) {
    product.store = by_rows<std::uint32_t>([&](int row, int col, int count, const std::uint32_t* sums) {
      dst.row_runs<std::uint32_t>(row, col, count, [&](int i, std::uint32_t* first, int run) {
        for (int j = 0; j < run; ++j) first[j] += sums[i + j];
      });
    });
  }
  multiply_all();
}

// A 16-bit matrix of the result's size, or its first row, as the values that are added to the sums.
std::vector<std::int32_t> read_halves(const Memories& mem, const Tensor& tensor, int rows, int cols) {
  const StoredMatrix matrix(mem, tensor, true, false);
  std::vector<std::int32_t> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  for_int_type(is_signed_int(tensor.dtype) ? Dtype::kInt16 : Dtype::kUint16, [&]<class T>(T) {
    for (int row = 0; row < rows; ++row) {
      std::int32_t* out = values.data() + std::int64_t{row} * cols;
      matrix.along_row<const T>(row, 0, cols,
                                [&](int i, const T* element) { out[i] = static_cast<std::int32_t>(*element); });
    }
  });
  return values;
}

// sat(relu(((sum + bias) << lshift) >> rshift)) with a bias of 32 bits, ties up: one shift by the difference.
void shift_and_multiply(Memories& mem, const MatMulCmd& cmd, ByteProduct& product) {
  const StoredMatrix dst(mem, cmd.dst, true, false);
  std::vector<std::uint32_t> bias(static_cast<std::size_t>(cmd.cols));
  bool is_signed = product.left_signed || product.right_signed;
  if (cmd.bias) {
    const auto& stored = std::get<Tensor>(*cmd.bias);
    is_signed = is_signed || is_signed_int(stored.dtype);
    const StoredMatrix row(mem, stored, true, false);
    row.along_row<const std::uint32_t>(
        0, 0, cmd.cols, [&](int i, const std::uint32_t* element) { bias[static_cast<std::size_t>(i)] = *element; });
  }
  const IntRange range = range_of(cmd.dst.dtype);
  const std::int64_t low = cmd.relu ? std::max<std::int64_t>(range.low, 0) : range.low;
  const Shifter<Int128> shift(cmd.lshift - cmd.rshift, Rounding::kHalfUp);
  for_int_type(cmd.dst.dtype, [&]<class T>(T) {
    product.store = converted<T>(copy_to<T>(dst), [&](int, int col, int count, const std::uint32_t* sums, T* out) {
      for (int i = 0; i < count; ++i) {
        const std::uint32_t sum = sums[i] + bias[static_cast<std::size_t>(col + i)];
        const Int128 value = is_signed ? Int128{static_cast<std::int32_t>(sum)} : Int128{sum};
        out[i] = static_cast<T>(std::clamp<Int128>(shift(value), low, range.high));
      }
    });
    multiply(product);
  });
}

// sat(relu((sum + bias + (old << lshift)) >> rshift)), right shifts round ties up. What is shifted saturates to the 32
// bits of a sum, in which the additions wrap (golden bm1684x-1.30-varied/m_a/bdc_int8_mm_L_const/000).
void multiply_and_shift(Memories& mem, const MatMulCmd& cmd, ByteProduct& product) {
  const StoredMatrix dst(mem, cmd.dst, true, false);
  std::vector<std::int32_t> bias, old;
  if (cmd.bias) bias = read_halves(mem, std::get<Tensor>(*cmd.bias), 1, cmd.cols);
  if (cmd.old) old = read_halves(mem, *cmd.old, cmd.rows, cmd.cols);
  if (mem.chip().has(Quirk::kShiftedProductSums)) return shift_and_multiply(mem, cmd, product);
  const bool is_signed = product.left_signed || product.right_signed;
  const IntRange range = range_of(cmd.dst.dtype);
  const std::int64_t low = cmd.relu ? std::max<std::int64_t>(range.low, 0) : range.low;
  const SumShift rule{is_signed, {-cmd.rshift, Rounding::kHalfUp}, low, range.high};
  // With addends of a sign the sum has one.
  const auto has_sign = [](const Operand& row) { return is_signed_int(type_of(row)); };
  const bool total_signed = is_signed || (cmd.bias && has_sign(*cmd.bias)) || (cmd.old && has_sign(*cmd.old));
  const SumShift total_rule{total_signed, rule.shift, low, range.high};
  const IntRange accumulator = range_of(total_signed ? Dtype::kInt32 : Dtype::kUint32);
  for_int_type(cmd.dst.dtype, [&]<class T>(T) {
    product.store = converted<T>(copy_to<T>(dst), [&, shift = shift_sums(sizeof(T))](
                                                      int row, int col, int count, const std::uint32_t* sums, T* out) {
      if (bias.empty() && old.empty()) return shift(rule, sums, 0, nullptr, count, out);
      thread_local Scratch<std::uint32_t> scratch;
      std::uint32_t* totals = scratch.zeroed(count);
      std::copy_n(sums, count, totals);
      for (int i = 0; i < count && !bias.empty(); ++i)
        totals[i] += static_cast<std::uint32_t>(bias[static_cast<std::size_t>(col + i)]);
      const std::size_t first = old.empty() ? 0 : static_cast<std::size_t>(std::int64_t{row} * cmd.cols + col);
      for (int i = 0; i < count && !old.empty(); ++i) {
        const std::int64_t shifted = old[first + static_cast<std::size_t>(i)] * (std::int64_t{1} << cmd.lshift);
        totals[i] += static_cast<std::uint32_t>(std::clamp(shifted, accumulator.low, accumulator.high));
      }
      shift(total_rule, totals, 0, nullptr, count, out);
    });
    multiply(product);
  });
}

// 8-bit operands of a kInt product: the 32-bit sum is the result.
void multiply_and_keep(Memories& mem, const MatMulCmd& cmd, ByteProduct& product) {
  const StoredMatrix dst(mem, cmd.dst, true, false);
  product.store = copy_to<std::uint32_t>(dst);
  multiply(product);
}

// A 64-bit sum shifted and saturated to 32 bits. To the left the shift counts modulo 64, to the right 63 is the most
// (golden-bmodel mm/0010, mm/0074); `uncut` keeps the sign beside the 63 bits below it (bm1688/instr_1 mm/0016).
std::uint32_t shifted(std::uint64_t sum, int shift, Rounding mode, Dtype type, bool uncut) {
  constexpr int kMost = 63;
  if (uncut) {
    const IntRange limits = range_of(type);
    const Int128 all =
        within_64(Shifter<Int128>(shift > 0 ? shift & kMost : shift, mode)(Int128{static_cast<std::int64_t>(sum)}));
    return static_cast<std::uint32_t>(std::clamp(all, Int128{limits.low}, Int128{limits.high}));
  }
  if (shift > 0) sum <<= shift & kMost;
  const Int128 value = is_signed_int(type) ? Int128{static_cast<std::int64_t>(sum)} : Int128{sum};
  const IntRange range = range_of(type);
  const Int128 result = Shifter<Int128>(std::clamp(shift, -kMost, 0), mode)(value);
  return static_cast<std::uint32_t>(std::clamp(result, Int128{range.low}, Int128{range.high}));
}

void multiply_words(Memories& mem, const MatMulCmd& cmd) {
  WordProduct product;
  product.size = {cmd.rows, cmd.inner, cmd.cols};
  for_int_type(dtype_of(cmd.left), [&]<class T>(T) { product.source.left = left_loader<T, std::uint64_t>(mem, cmd); });
  for_int_type(dtype_of(cmd.right),
               [&]<class T>(T) { product.source.right = right_loader<T, std::uint64_t>(mem, cmd); });
  product.store_last = must_store_last(mem, cmd);
  const bool halves = size_of(dtype_of(cmd.left)) == 2;
  std::vector<int> shifts(static_cast<std::size_t>(cmd.cols));
  if (const auto* scalar = std::get_if<Scalar>(&cmd.shift)) {
    std::fill(shifts.begin(), shifts.end(), constant<std::int8_t>(*scalar));
  } else {
    StoredMatrix(mem, std::get<Tensor>(cmd.shift), true, false)
        .along_row<const std::int8_t>(
            0, 0, cmd.cols, [&](int i, const std::int8_t* element) { shifts[static_cast<std::size_t>(i)] = *element; });
  }
  const StoredMatrix dst(mem, cmd.dst, true, false);
  const bool uncut = mem.chip().has(Quirk::kUncutShifts);
  product.store = by_rows<std::uint64_t>([&](int row, int col, int count, const std::uint64_t* sums) {
    dst.along_row<std::uint32_t>(row, col, count, [&](int i, std::uint32_t* element) {
      *element = halves
                     ? static_cast<std::uint32_t>(sums[i])
                     : shifted(sums[i], shifts[static_cast<std::size_t>(col + i)], cmd.rounding, cmd.dst.dtype, uncut);
    });
  });
  multiply(product);
}

void multiply_bytes(Memories& mem, const MatMulCmd& cmd) {
  ByteProduct product;
  product.size = {cmd.rows, cmd.inner, cmd.cols};
  product.left_signed = is_signed_int(dtype_of(cmd.left));
  product.right_signed = is_signed_int(dtype_of(cmd.right));
  product.source = source_of<std::uint8_t, std::uint8_t>(mem, cmd);
  if (!cmd.right_trans) product.right_depth = 16;
  product.store_last = must_store_last(mem, cmd);
  if (cmd.kind == MatMulKind::kInt8Zp) return multiply_zero_point(mem, cmd, product);
  if (cmd.kind == MatMulKind::kInt8) return multiply_and_shift(mem, cmd, product);
  multiply_and_keep(mem, cmd, product);
}

}  // namespace

static void carry_out(Memories& mem, const MatMulCmd& cmd) {
  if (is_float(dtype_of(cmd.left))) return multiply_fp8(mem, cmd);
  size_of(dtype_of(cmd.left)) == 1 ? multiply_bytes(mem, cmd) : multiply_words(mem, cmd);
}

void execute(Memories& mem, const MatMulCmd& cmd) {
  if (cmd.blocks) return execute_block_product(mem, cmd);
  with_flushed_halves(mem, cmd, [&](const MatMulCmd& flushed) { carry_out(mem, flushed); });
}

}  // namespace softtpu
