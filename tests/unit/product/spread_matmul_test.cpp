// Matrix products whose columns are spread over channels, against oracles that are written from the description.
#include <bit>

#include "tests/unit/matmul_fixture.hpp"

namespace softtpu::spread_matmul_test {
namespace {

constexpr int kCases = 60;  // of each family, a third of them for each form

enum class Left : std::uint8_t { kPlain, kTransposed, kConstant };

// The sizes of a product m x k by k x n and its left matrix as it is stored.
struct Sizes {
  Left form;
  int m, k, n, left_width, width, npu, left_npu;
  int left_rows() const { return form == Left::kTransposed ? k : m; }
  int left_cols() const { return form == Left::kTransposed ? m : k; }
  int columns() const { return (n + width - 1) / width * width; }  // the last channel takes part in full
  std::string text() const {
    return fmt::format("form {} m {} k {} n {} widths {} {} npu {} left npu {}", static_cast<int>(form), m, k, n,
                       left_width, width, npu, left_npu);
  }
};

class SpreadMatMul : public MatMulTest {
 protected:
  Sizes sizes(int i) {
    return {static_cast<Left>(i % 3), random_.in(1, 12), random_.in(1, 90), random_.in(1, 150),
            random_.in(1, 20),        random_.in(1, 30), random_.in(0, 63), random_.in(0, 63)};
  }
  // A matrix of `rows` rows whose columns lie in channels of `width` columns.
  static LocalTensor matrix(unsigned addr, int rows, int cols, int width, int size) {
    return aligned(addr, rows, (cols + width - 1) / width, 1, width, size);
  }
  static LocalTensor left_matrix(const Sizes& s, int size) {
    return matrix(address(s.left_npu, kLeft), s.left_rows(), s.left_cols(), s.left_width, size);
  }
  static LocalTensor beside(const Sizes& s, unsigned offset, int rows, int size) {
    return matrix(address(s.npu, offset), rows, s.n, s.width, size);
  }
  std::uint32_t at(const LocalTensor& matrix, int row, int col) const {
    return RandomData::take(image_, matrix, row, col / matrix.w, 0, col % matrix.w);
  }
  std::uint32_t left_at(const Sizes& s, const LocalTensor& left, std::uint32_t constant, int row, int k) const {
    if (s.form == Left::kConstant) return constant;
    return s.form == Left::kTransposed ? at(left, k, row) : at(left, row, k);
  }
  // result(row, col) = body(row, col), which gives bits.
  template <class Body>
  Image filled(const Sizes& s, const LocalTensor& result, Body body) {
    Image wanted = image_;
    for (int row = 0; row < s.m; ++row) {
      for (int col = 0; col < s.columns(); ++col)
        RandomData::put(wanted, result, row, col / s.width, 0, col % s.width, body(row, col));
    }
    return wanted;
  }
};

TEST_F(SpreadMatMul, Fp32IsATwoLaneSum) {
  for (int i = 0; i < kCases && !HasFatalFailure(); ++i) {
    const Sizes s = sizes(i);
    const bool has_bias = random_.flip(), add = random_.flip();
    const std::uint32_t constant = random_.element(Float::kF32);
    const LocalTensor left = left_matrix(s, 4), right = beside(s, kRight, s.k, 4), bias = beside(s, kBias, 1, 4),
                      result = beside(s, kResult, s.m, 4);
    fill({&left, &right, &bias, &result}, Float::kF32);
    const auto value = [](std::uint32_t bits) { return reference::value_of(bits, Float::kF32); };
    const Image wanted = filled(s, result, [&](int row, int col) {
      reference::TwoLanes sum;
      if (has_bias) sum.put(static_cast<float>(value(at(bias, 0, col))));
      if (add) sum.put(static_cast<float>(value(at(result, row, col))));
      for (int k = 0; k < s.k; ++k)
        sum.put(reference::multiply(value(left_at(s, left, constant, row, k)), value(at(right, k, col))));
      return reference::bits_of(sum.result(), Float::kF32);
    });
    expect(
        wanted,
        [&] {
          const auto l = static_cast<unsigned>(left.addr), r = static_cast<unsigned>(right.addr),
                     b = static_cast<unsigned>(bias.addr), to = static_cast<unsigned>(result.addr);
          if (s.form == Left::kConstant) {
            tpu_bdc_fp32_mm_L_const(to, r, b, std::bit_cast<float>(constant), s.m, s.k, s.n, s.width, has_bias, add);
          } else {
            (s.form == Left::kPlain ? tpu_bdc_fp32_mm : tpu_bdc_fp32_mm_L_trans)(
                to, l, r, b, s.left_rows(), s.left_cols(), s.n, s.left_width, s.width, has_bias, add);
          }
        },
        fmt::format("{} bias {} add {}", s.text(), has_bias, add));
  }
}

// 8- and 16-bit operands: the low 32 bits. 32-bit operands: 64-bit sums, shifted, rounded and saturated.
TEST_F(SpreadMatMul, IntegersAreShiftedByOneAmountOrOnePerColumn) {
  for (int i = 0; i < 2 * kCases && !HasFatalFailure(); ++i) {
    const Sizes s = sizes(i);
    const bool per_column = i % 2 == 1;
    const int size = 1 << random_.in(0, 2);
    const bool left_signed = random_.flip(), right_signed = random_.flip();
    const bool result_signed = left_signed || right_signed;
    const auto rounding = static_cast<Rounding>(random_.in(0, 6));
    const int amount = random_.in(-32, 3);
    const std::uint32_t constant = random_.bits() & (size == 4 ? ~0U : (1U << 8 * size) - 1);
    const LocalTensor left = left_matrix(s, size), right = beside(s, kRight, s.k, size),
                      result = beside(s, kResult, s.m, 4), shifts = beside(s, kShift, 1, 1);
    fill_bits({&left, &right, &result});
    for (int col = 0; col < s.columns(); ++col) {
      RandomData::put(image_, shifts, 0, col / s.width, 0, col % s.width,
                      static_cast<std::uint32_t>(random_.in(-32, 3)));
    }
    const Image wanted = filled(s, result, [&](int row, int col) {
      std::uint64_t sum = 0;
      for (int k = 0; k < s.k; ++k) {
        sum += static_cast<std::uint64_t>(RandomData::integer(left_at(s, left, constant, row, k), size, left_signed)) *
               static_cast<std::uint64_t>(RandomData::integer(at(right, k, col), size, right_signed));
      }
      if (size < 4) return static_cast<std::uint32_t>(sum);
      const std::int64_t by = per_column ? RandomData::integer(at(shifts, 0, col), 1, true) : amount;
      if (by > 0) sum <<= by;
      reference::Wide value = result_signed ? reference::Wide{static_cast<std::int64_t>(sum)} : reference::Wide{sum};
      if (by < 0) value = reference::shifted(value, static_cast<int>(by), rounding);
      return reference::finished(value, true, result_signed ? Dtype::kInt32 : Dtype::kUint32);
    });
    constexpr data_type_t kTypes[3][2] = {{DT_UINT8, DT_INT8}, {DT_UINT16, DT_INT16}, {DT_UINT32, DT_INT32}};
    const auto& types = kTypes[size / 2];
    const data_type_t lt = types[left_signed ? 1 : 0], rt = types[right_signed ? 1 : 0];
    const auto mode = static_cast<rounding_mode_t>(rounding);
    expect(
        wanted,
        [&] {
          const auto l = static_cast<unsigned>(left.addr), r = static_cast<unsigned>(right.addr),
                     to = static_cast<unsigned>(result.addr), list = static_cast<unsigned>(shifts.addr);
          const auto by = static_cast<char>(amount);
          if (s.form == Left::kConstant && per_column) {
            tpu_bdc_int_pcs_mm_L_const(to, r, list, scalar_bits(constant), s.m, s.k, s.n, s.width, lt, rt, mode);
          } else if (s.form == Left::kConstant) {
            tpu_bdc_int_mm_L_const(to, r, scalar_bits(constant), s.m, s.k, s.n, s.width, lt, rt, by, mode);
          } else if (per_column) {
            (s.form == Left::kPlain ? tpu_bdc_int_pcs_mm : tpu_bdc_int_pcs_mm_L_trans)(
                to, l, r, list, s.left_rows(), s.left_cols(), s.n, s.left_width, s.width, lt, rt, mode);
          } else {
            (s.form == Left::kPlain ? tpu_bdc_int_mm : tpu_bdc_int_mm_L_trans)(
                to, l, r, s.left_rows(), s.left_cols(), s.n, s.left_width, s.width, lt, rt, by, mode);
          }
        },
        fmt::format("{} size {} signed {} {} shift {} per column {} rounding {}", s.text(), size, left_signed,
                    right_signed, amount, per_column, static_cast<int>(rounding)));
  }
}

TEST_F(SpreadMatMul, BytesAreShiftedAndSaturated) {
  for (int i = 0; i < kCases && !HasFatalFailure(); ++i) {
    const Sizes s = sizes(i);
    const bool left_signed = random_.flip(), right_signed = random_.flip(), bias_signed = random_.flip();
    const bool has_bias = random_.flip(), add = random_.flip(), relu = random_.flip();
    const bool any_signed = left_signed || right_signed || (has_bias && bias_signed);
    const bool result_signed = any_signed && !relu;
    const int size = random_.in(1, 2), lshift = random_.in(0, 7), rshift = random_.in(0, 31) / random_.in(1, 4);
    const std::uint32_t constant = random_.bits() & 0xFFU;
    const Dtype type =
        size == 1 ? (result_signed ? Dtype::kInt8 : Dtype::kUint8) : (result_signed ? Dtype::kInt16 : Dtype::kUint16);
    const LocalTensor left = left_matrix(s, 1), right = beside(s, kRight, s.k, 1), bias = beside(s, kBias, 1, 2),
                      old = beside(s, kResult, s.m, 2), result = beside(s, kResult, s.m, size);
    fill_bits({&left, &right, &bias, &old});
    const Image wanted = filled(s, result, [&](int row, int col) {
      std::int64_t sum = has_bias ? RandomData::integer(at(bias, 0, col), 2, bias_signed) : 0;
      // The old result is a 16-bit matrix, whatever is written.
      if (add) sum += RandomData::integer(at(old, row, col), 2, any_signed) * (std::int64_t{1} << lshift);
      for (int k = 0; k < s.k; ++k) {
        sum += RandomData::integer(left_at(s, left, constant, row, k), 1, left_signed) *
               RandomData::integer(at(right, k, col), 1, right_signed);
      }
      reference::Wide value = reference::shifted(sum, -rshift, Rounding::kHalfUp);
      if (relu && value < 0) value = 0;
      return reference::finished(value, true, type);
    });
    const auto out = static_cast<data_type_t>(type);
    const data_type_t bt = bias_signed ? DT_INT16 : DT_UINT16;
    const auto l8 = static_cast<unsigned char>(lshift), r8 = static_cast<unsigned char>(rshift);
    expect(
        wanted,
        [&] {
          const auto l = static_cast<unsigned>(left.addr), r = static_cast<unsigned>(right.addr),
                     b = static_cast<unsigned>(bias.addr), to = static_cast<unsigned>(result.addr);
          if (s.form == Left::kConstant) {
            tpu_bdc_int8_mm_L_const(to, r, b, scalar_bits(constant), s.m, s.k, s.n, s.width, out, byte(left_signed),
                                    byte(right_signed), bt, l8, r8, has_bias, add, relu);
          } else {
            (s.form == Left::kPlain ? tpu_bdc_int8_mm : tpu_bdc_int8_mm_L_trans)(
                to, l, r, b, s.left_rows(), s.left_cols(), s.n, s.left_width, s.width, out, byte(left_signed),
                byte(right_signed), bt, l8, r8, has_bias, add, relu);
          }
        },
        fmt::format("{} out {} bias {} add {} relu {} shifts {} {}", s.text(), to_text(type), has_bias, add, relu,
                    lshift, rshift));
  }
}

TEST_F(SpreadMatMul, WrongArgumentsAreRefused) {
  const auto fp32 = [&](unsigned right, int rows, int width) {
    return [=] { tpu_bdc_fp32_mm(kResult, kLeft, right, kBias, rows, 5, 7, 2, width, true, false); };
  };
  device_.expect_fault(fp32(address(1, kRight), 3, 2), "start NPU of right (1) differs from start NPU of output (0)");
  device_.expect_fault(fp32(kRight + 4, 3, 2), "right address (0x10004) is not a multiple of 64");
  device_.expect_fault(fp32(kRight, 0, 2), "number of output rows (0) is outside 1..65535");
  device_.expect_fault(fp32(kRight, -3, 2), "is outside 1..65535");
  device_.expect_fault(fp32(kRight, 3, 0), "right_cols_per_channel (0) is less than 1");
  device_.expect_fault(fp32(kRight, 60000, 2), "ends at offset");
  device_.expect_fault(
      [] {
        tpu_bdc_int8_mm(kResult, kLeft, kRight, kBias, 3, 5, 7, 2, 2, DT_INT8, DT_INT8, DT_INT8, DT_INT16, 0, 200, true,
                        false, false);
      },
      "rshift (200) is outside 0..31");
}

}  // namespace
}  // namespace softtpu::spread_matmul_test
