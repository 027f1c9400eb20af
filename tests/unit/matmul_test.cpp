// Matrix products against oracles that are written from the description.
#include <fmt/format.h>

#include "tests/unit/compare_with_oracle.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

using reference::aligned;
using reference::Float;
using reference::Image;
using reference::LocalTensor;
using reference::RandomData;

constexpr int kCases = 25;
constexpr unsigned kLeft = 0x4000, kRight = 0x10000, kBias = 0x30000, kResult = 0x38000;

unsigned address(int npu, unsigned offset) {
  return static_cast<unsigned>(npu) * static_cast<unsigned>(reference::kLocalBytes) + offset;
}

class MatMul : public OracleComparison {};

// ---- Columns spread over channels ----

// A matrix of `rows` rows whose columns lie in channels of `width` columns.
LocalTensor spread(unsigned addr, int rows, int cols, int width, int size) {
  return aligned(addr, rows, (cols + width - 1) / width, 1, width, size);
}
std::uint32_t at(const Image& image, const LocalTensor& matrix, int row, int col) {
  return RandomData::take(image, matrix, row, col / matrix.w, 0, col % matrix.w);
}

TEST_F(MatMul, Fp32IsATwoLaneSum) {
  for (int i = 0; i < kCases; ++i) {
    const int m = random_.in(1, 12), k = random_.in(1, 70), n = random_.in(1, 150);
    const int left_width = random_.in(1, 20), width = random_.in(1, 30), npu = random_.in(0, 63);
    const bool trans = random_.flip(), has_bias = random_.flip(), add = random_.flip();
    const int left_rows = trans ? k : m, left_cols = trans ? m : k;
    const LocalTensor left = spread(address(random_.in(0, 63), kLeft), left_rows, left_cols, left_width, 4);
    const LocalTensor right = spread(address(npu, kRight), k, n, width, 4);
    const LocalTensor bias = spread(address(npu, kBias), 1, n, width, 4);
    const LocalTensor result = spread(address(npu, kResult), m, n, width, 4);
    for (const LocalTensor* tensor : {&left, &right, &bias, &result}) random_.fill(image_, *tensor, Float::kF32);
    Image wanted = image_;
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < result.c * width; ++col) {
        reference::TwoLanes sum;
        const auto value = [&](const LocalTensor& matrix, int r, int c) {
          return reference::value_of(at(image_, matrix, r, c), Float::kF32);
        };
        if (has_bias) sum.put(static_cast<float>(value(bias, 0, col)));
        if (add) sum.put(static_cast<float>(value(result, row, col)));
        for (int j = 0; j < k; ++j) {
          const double factor = trans ? value(left, j, row) : value(left, row, j);
          sum.put(reference::multiply(factor, value(right, j, col)));
        }
        RandomData::put(wanted, result, row, col / width, 0, col % width,
                        reference::bits_of(sum.result(), Float::kF32));
      }
    }
    const auto function = trans ? tpu_bdc_fp32_mm_L_trans : tpu_bdc_fp32_mm;
    expect(
        wanted,
        [&] {
          function(address(npu, kResult), static_cast<unsigned>(left.addr), address(npu, kRight), address(npu, kBias),
                   left_rows, left_cols, n, left_width, width, has_bias, add);
        },
        fmt::format("m {} k {} n {} widths {} {} npu {} trans {} bias {} add {}", m, k, n, left_width, width, npu,
                    trans, has_bias, add));
  }
}

TEST_F(MatMul, Int8IsShiftedAndSaturated) {
  for (int i = 0; i < kCases; ++i) {
    const int m = random_.in(1, 9), k = random_.in(1, 90), n = random_.in(1, 120);
    const int left_width = random_.in(1, 20), width = random_.in(1, 30), npu = random_.in(0, 63);
    const bool left_signed = random_.flip(), right_signed = random_.flip(), has_bias = random_.flip();
    const bool add = random_.flip(), relu = random_.flip(), wide = random_.flip();
    const bool result_signed = (left_signed || right_signed) && !relu;
    const int lshift = random_.in(0, 5), rshift = random_.in(0, 12);
    const LocalTensor left = spread(address(random_.in(0, 63), kLeft), m, k, left_width, 1);
    const LocalTensor right = spread(address(npu, kRight), k, n, width, 1);
    const LocalTensor bias = spread(address(npu, kBias), 1, n, width, 2);
    const LocalTensor old = spread(address(npu, kResult), m, n, width, 2);
    const LocalTensor result = spread(address(npu, kResult), m, n, width, wide ? 2 : 1);
    for (const LocalTensor* tensor : {&left, &right, &bias, &old}) random_.fill_bits(image_, *tensor);
    Image wanted = image_;
    const int bits = wide ? 16 : 8;
    const std::int64_t low = result_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
    const std::int64_t high = (std::int64_t{1} << (result_signed ? bits - 1 : bits)) - 1;
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < result.c * width; ++col) {
        std::int64_t sum = has_bias ? RandomData::integer(at(image_, bias, 0, col), 2, false) : 0;
        const bool old_signed = left_signed || right_signed;
        if (add) sum += RandomData::integer(at(image_, old, row, col), 2, old_signed) * (1LL << lshift);
        for (int j = 0; j < k; ++j) {
          sum += RandomData::integer(at(image_, left, row, j), 1, left_signed) *
                 RandomData::integer(at(image_, right, j, col), 1, right_signed);
        }
        // Ties go up: floor(sum / 2^rshift + 1/2).
        if (rshift > 0) sum = (sum + (1LL << (rshift - 1))) >> rshift;
        if (relu) sum = std::max<std::int64_t>(sum, 0);
        RandomData::put(wanted, result, row, col / width, 0, col % width,
                        static_cast<std::uint32_t>(std::clamp(sum, low, high)));
      }
    }
    const data_type_t output = wide ? (result_signed ? DT_INT16 : DT_UINT16) : (result_signed ? DT_INT8 : DT_UINT8);
    expect(
        wanted,
        [&] {
          tpu_bdc_int8_mm(address(npu, kResult), static_cast<unsigned>(left.addr), address(npu, kRight),
                          address(npu, kBias), m, k, n, left_width, width, output, left_signed ? DT_INT8 : DT_UINT8,
                          right_signed ? DT_INT8 : DT_UINT8, DT_UINT16, static_cast<unsigned char>(lshift),
                          static_cast<unsigned char>(rshift), has_bias, add, relu);
        },
        fmt::format("m {} k {} n {} width {} npu {} add {} relu {}", m, k, n, width, npu, add, relu));
  }
}

// ---- Rows are channels ----

enum class Stored : std::uint8_t { kPlain, kRightTrans, kAllTrans };

struct RowMatrices {
  Stored stored;
  int m, k, n;
  bool all() const { return stored == Stored::kAllTrans; }
  LocalTensor left(int size) const { return all() ? matrix(kLeft, k, m, size) : matrix(kLeft, m, k, size); }
  LocalTensor right(int size) const {
    return stored == Stored::kPlain ? matrix(kRight, k, n, size) : matrix(kRight, n, k, size);
  }
  LocalTensor result(int size) const { return all() ? matrix(kResult, n, m, size) : matrix(kResult, m, n, size); }
  static LocalTensor matrix(unsigned addr, int rows, int cols, int size) {
    return aligned(addr, 1, rows, 1, cols, size);
  }
};
std::uint32_t row_at(const Image& image, const LocalTensor& matrix, int row, int col, bool trans) {
  return RandomData::take(image, matrix, 0, trans ? col : row, 0, trans ? row : col);
}
void put_row(Image& image, const LocalTensor& matrix, int row, int col, bool trans, std::uint32_t bits) {
  RandomData::put(image, matrix, 0, trans ? col : row, 0, trans ? row : col, bits);
}

TEST_F(MatMul, HalvesAreSummedInAlignedGroups) {
  for (int i = 0; i < kCases; ++i) {
    const RowMatrices sizes{static_cast<Stored>(random_.in(0, 2)), random_.in(1, 70), random_.in(1, 100),
                            random_.in(1, 110)};
    const Float type = random_.flip() ? Float::kF16 : Float::kBf16;
    const Float out = random_.flip() ? Float::kF32 : type;
    const bool add = sizes.stored != Stored::kRightTrans && random_.flip();
    const LocalTensor left = sizes.left(2), right = sizes.right(2);
    const LocalTensor old = sizes.result(4), result = sizes.result(reference::size_of(out));
    random_.fill(image_, left, type);
    random_.fill(image_, right, type);
    random_.fill(image_, old, Float::kF32);
    Image wanted = image_;
    for (int row = 0; row < sizes.m; ++row) {
      for (int col = 0; col < sizes.n; ++col) {
        float sum = 0;
        if (add) {
          sum = static_cast<float>(reference::value_of(row_at(image_, old, row, col, sizes.all()), Float::kF32));
        }
        for (int first = 0; first < sizes.k; first += 32) {
          std::vector<double> a, b;
          for (int k = first; k < std::min(first + 32, sizes.k); ++k) {
            a.push_back(reference::value_of(row_at(image_, left, row, k, sizes.all()), type));
            b.push_back(reference::value_of(row_at(image_, right, k, col, sizes.stored != Stored::kPlain), type));
          }
          sum = reference::rounded_sum(sum, reference::group_sum(a, b));
        }
        put_row(wanted, result, row, col, sizes.all(), reference::bits_of(sum, out));
      }
    }
    const data_type_t in_type = type == Float::kF16 ? DT_FP16 : DT_BFP16;
    const data_type_t out_type = out == Float::kF32 ? DT_FP32 : in_type;
    expect(
        wanted,
        [&] {
          if (sizes.stored == Stored::kPlain) {
            tpu_bdc_fp_mm(kResult, kLeft, kRight, sizes.m, sizes.k, sizes.n, out_type, in_type, add);
          } else if (sizes.stored == Stored::kRightTrans) {
            tpu_bdc_fp_mm_R_trans(kResult, kLeft, kRight, sizes.m, sizes.k, sizes.n, out_type, in_type);
          } else {
            tpu_bdc_fp_mm_all_trans(kResult, kLeft, kRight, sizes.k, sizes.m, sizes.n, out_type, in_type, add);
          }
        },
        fmt::format("m {} k {} n {} stored {} type {} out {} add {}", sizes.m, sizes.k, sizes.n,
                    static_cast<int>(sizes.stored), static_cast<int>(type), static_cast<int>(out), add));
  }
}

TEST_F(MatMul, ZeroPointsAreTakenOffTheRightMatrix) {
  for (int i = 0; i < kCases; ++i) {
    const RowMatrices sizes{static_cast<Stored>(random_.in(0, 2)), random_.in(1, 70), random_.in(1, 100),
                            random_.in(1, 110)};
    const bool left_signed = random_.flip(), right_signed = random_.flip(), per_column = random_.flip();
    const bool add = sizes.stored != Stored::kRightTrans && random_.flip();
    const LocalTensor left = sizes.left(1), right = sizes.right(1), result = sizes.result(4);
    for (const LocalTensor* tensor : {&left, &right, &result}) random_.fill_bits(image_, *tensor);
    // A different vector on each NPU shows which one is read.
    const LocalTensor points = {kBias, 1, 64, 1, sizes.n, 1, 0, 0, 0, 1};
    random_.fill_bits(image_, points);
    scalar_t constant;
    constant.u32 = random_.bits() & 0xFFU;
    Image wanted = image_;
    for (int row = 0; row < sizes.m; ++row) {
      for (int col = 0; col < sizes.n; ++col) {
        std::int64_t sum = add ? row_at(image_, result, row, col, sizes.all()) : 0;
        for (int k = 0; k < sizes.k; ++k) {
          std::uint32_t point = constant.u32;
          if (per_column) {
            const int npu = sizes.stored == Stored::kPlain ? k % 64 : col % 64;
            const int byte = sizes.all() ? col / 64 : col;
            point = image_[static_cast<std::size_t>(npu * reference::kLocalBytes + kBias + byte)];
          }
          sum += RandomData::integer(row_at(image_, left, row, k, sizes.all()), 1, left_signed) *
                 (RandomData::integer(row_at(image_, right, k, col, sizes.stored != Stored::kPlain), 1, right_signed) -
                  RandomData::integer(point, 1, right_signed));
        }
        put_row(wanted, result, row, col, sizes.all(), static_cast<std::uint32_t>(sum));
      }
    }
    const data_type_t lt = left_signed ? DT_INT8 : DT_UINT8, rt = right_signed ? DT_INT8 : DT_UINT8;
    const auto [stored, m, k, n] = sizes;
    expect(
        wanted,
        [&, m = m, k = k, n = n] {
          if (sizes.stored == Stored::kPlain) {
            per_column ? tpu_bdc_int8_pc_zp_mm(kResult, kLeft, kRight, kBias, m, k, n, lt, rt, add)
                       : tpu_bdc_int8_zp_mm(kResult, kLeft, kRight, constant, m, k, n, lt, rt, add);
          } else if (sizes.stored == Stored::kRightTrans) {
            per_column ? tpu_bdc_int8_pc_zp_mm_R_trans(kResult, kLeft, kRight, kBias, m, k, n, lt, rt)
                       : tpu_bdc_int8_zp_mm_R_trans(kResult, kLeft, kRight, constant, m, k, n, lt, rt);
          } else {
            per_column ? tpu_bdc_int8_pc_zp_mm_all_trans(kResult, kLeft, kRight, kBias, k, m, n, lt, rt, add)
                       : tpu_bdc_int8_zp_mm_all_trans(kResult, kLeft, kRight, constant, k, m, n, lt, rt, add);
          }
        },
        fmt::format("m {} k {} n {} stored {} per column {} add {}", m, k, n, static_cast<int>(sizes.stored),
                    per_column, add));
  }
}

// ---- Refusals ----

TEST_F(MatMul, WrongArgumentsAreRefused) {
  const auto fp32 = [&](unsigned right, int rows, int width) {
    return [=] { tpu_bdc_fp32_mm(kResult, kLeft, right, kBias, rows, 5, 7, 2, width, true, false); };
  };
  device_.expect_fault(fp32(address(1, kRight), 3, 2), "start NPU of right (1) differs from start NPU of output (0)");
  device_.expect_fault(fp32(kRight + 4, 3, 2), "right address (0x10004) is not a multiple of 64");
  device_.expect_fault(fp32(kRight, 0, 2), "number of output rows (0) is outside 1..65535");
  device_.expect_fault(fp32(kRight, -3, 2), "is outside 1..65535");
  device_.expect_fault(fp32(kRight, 3, 0), "right_cols_per_channel (0) is less than 1");
  device_.expect_fault(fp32(kRight, 60000, 2), "ends at offset");
  const auto half = [&](unsigned left, data_type_t out, data_type_t in) {
    return [=] { tpu_bdc_fp_mm(kResult, left, kRight, 3, 4, 5, out, in, false); };
  };
  device_.expect_fault(half(kLeft, DT_FP32, DT_FP32), "left and right type is fp32");
  device_.expect_fault(half(kLeft, DT_BFP16, DT_FP16), "output type is bfp16");
  device_.expect_fault(half(address(2, kLeft), DT_FP32, DT_FP16), "start NPU of left (2)");
  device_.expect_fault(half(kLeft, DT_FP32, static_cast<data_type_t>(2)), "(2) is not a data type");
  device_.expect_fault(
      [] {
        tpu_bdc_int8_mm(kResult, kLeft, kRight, kBias, 3, 5, 7, 2, 2, DT_INT8, DT_INT8, DT_INT8, DT_INT16, 0, 200, true,
                        false, false);
      },
      "rshift (200) is outside 0..31");
}

}  // namespace
}  // namespace softtpu
