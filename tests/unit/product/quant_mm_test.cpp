// tpu_bdc_quant_mm against an oracle that is written from the description, by hand, and against the recorded functions
// whose steps it joins.
#include "device/isa/op_names.hpp"
#include "tests/unit/matmul_fixture.hpp"
#include "tests/unit/requant_fixture.hpp"

namespace softtpu::quant_mm_test {
namespace {

using reference::compact;
using reference::Requantisation;
constexpr int kCases = 120;

class QuantMatMul : public MatMulTest {
 protected:
  static constexpr unsigned kPoints = 0x2E000;
  static optional_info_t at(data_type_t type, unsigned addr) { return OPTIONAL_ADDR(type, addr); }
  static optional_info_t value(data_type_t type, std::uint32_t bits) { return OPTIONAL_VALUE(type, scalar_bits(bits)); }
  static data_type_t integer_code(int bytes, bool is_signed) {
    if (bytes == 1) return byte(is_signed);
    if (bytes == 2) return is_signed ? DT_INT16 : DT_UINT16;
    return is_signed ? DT_INT32 : DT_UINT32;
  }
};

// A matrix as it is stored: its rows are channels.
LocalTensor stored(unsigned addr, int rows, int cols, bool trans, int size) {
  return trans ? aligned(addr, 1, cols, 1, rows, size) : aligned(addr, 1, rows, 1, cols, size);
}
std::uint32_t take(const Image& image, const LocalTensor& matrix, int row, int col, bool trans) {
  return RandomData::take(image, matrix, 0, trans ? col : row, 0, trans ? row : col);
}

TEST_F(QuantMatMul, SumThenReluThenRequantise) {
  record_assumed({Op::tpu_bdc_quant_mm});
  for (int i = 0; i < kCases && !HasFatalFailure(); ++i) {
    const int m = random_.in(1, 70), k = random_.in(1, 100), n = random_.in(1, 110);
    const bool right_trans = random_.flip(), left_trans = right_trans && random_.flip();
    const int constant = random_.in(0, 4);  // 0: left, 1: right
    const bool left_signed = random_.flip(), right_signed = random_.flip(), bias_signed = random_.flip();
    const int points = random_.in(0, 2), biases = random_.in(0, 2);  // none, constant, stored
    const int bias_bytes = random_.flip() ? 4 : 2;
    const bool relu = random_.in(0, 2) == 0, has_requant = random_.in(0, 3) != 0, per_channel = random_.flip();
    const bool symmetric = has_requant && random_.flip();
    const auto rounding = static_cast<Rounding>(random_.in(0, 6));
    const auto type = static_cast<Dtype>(has_requant ? integer_code(random_.in(1, 2), random_.flip())
                                                     : integer_code(1 << random_.in(0, 2), !relu));
    const bool add = size_of(type) == 4 && random_.flip();
    const LocalTensor left = stored(kLeft, m, k, left_trans, 1), right = stored(kRight, k, n, right_trans, 1),
                      to = stored(kResult, m, n, left_trans, size_of(type));
    const LocalTensor bias =
        left_trans ? compact(kBias, 1, n, 1, 1, bias_bytes) : aligned(kBias, 1, 1, 1, n, bias_bytes);
    const LocalTensor table = aligned(kShift, 1, to.c, 1, 3, 4);
    const LocalTensor point_rows = {kPoints, 1, 64, 1, n, 1, 0, 0, 0, 1};
    fill_bits({&left, &right, &to, &bias, &point_rows});
    fill_table(random_, image_, table, type);
    const Requantisation constants = any_requantisation(random_, type);
    const std::uint32_t factor = random_.bits() & 0xFFU, one_point = random_.bits() & 0xFFU, one_bias = random_.bits();
    Image wanted = image_;
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < n; ++col) {
        std::int64_t sum = add ? take(image_, to, row, col, left_trans) : 0;
        if (biases == 1)
          sum += RandomData::integer(bias_bytes == 2 ? one_bias & 0xFFFFU : one_bias, bias_bytes, bias_signed);
        if (biases == 2) {
          const std::uint32_t bits = RandomData::take(image_, bias, 0, left_trans ? col : 0, 0, left_trans ? 0 : col);
          sum += RandomData::integer(bits, bias_bytes, bias_signed);
        }
        for (int j = 0; j < k; ++j) {
          std::uint32_t point = points == 0 ? 0 : one_point;
          if (points == 2) {
            const int npu = right_trans ? col % 64 : j % 64, offset = left_trans ? col / 64 : col;
            point = image_[static_cast<std::size_t>(npu * reference::kLocalBytes + kPoints + offset)];
          }
          const std::uint32_t a = constant == 0 ? factor : take(image_, left, row, j, left_trans);
          const std::uint32_t b = constant == 1 ? factor : take(image_, right, j, col, right_trans);
          sum += RandomData::integer(a, 1, left_signed) *
                 (RandomData::integer(b, 1, right_signed) - RandomData::integer(point, 1, right_signed));
        }
        std::optional<Requantisation> requant;
        if (has_requant) requant = per_channel ? table_entry(image_, table, left_trans ? col : row, type) : constants;
        RandomData::put(wanted, to, 0, left_trans ? col : row, 0, left_trans ? row : col,
                        reference::ended(sum, {type, false, relu, symmetric, rounding}, requant));
      }
    }
    optional_info_t l = constant == 0 ? value(byte(left_signed), factor) : at(byte(left_signed), kLeft);
    optional_info_t r = constant == 1 ? value(byte(right_signed), factor) : at(byte(right_signed), kRight);
    optional_info_t z = points == 1 ? value(byte(right_signed), one_point) : at(byte(right_signed), kPoints);
    const data_type_t bias_type = integer_code(bias_bytes, bias_signed);
    optional_info_t b = biases == 1 ? value(bias_type, one_bias) : at(bias_type, kBias);
    requant_int_info_t q = {per_channel,
                            symmetric,
                            static_cast<rounding_mode_t>(rounding),
                            kShift,
                            static_cast<int>(constants.multiplier),
                            constants.shift,
                            static_cast<int>(constants.offset)};
    expect(
        wanted,
        [&] {
          tpu_bdc_quant_mm(kResult, static_cast<data_type_t>(type), &l, &r, m, k, n, left_trans, right_trans, add, relu,
                           points == 0 ? nullptr : &z, biases == 0 ? nullptr : &b, has_requant ? &q : nullptr);
        },
        fmt::format("m {} k {} n {} trans {} {} constant {} out {} points {} bias {} relu {} requant {} table {}", m, k,
                    n, left_trans, right_trans, constant, to_text(type), points, biases, relu, has_requant,
                    per_channel));
  }
}

// [1 2; 3 4] x ([5 6; 7 8] - 1) = [16 19; 36 43].
TEST_F(QuantMatMul, TwoByTwoByHand) {
  const auto run = [&](bool relu, int per_channel) {
    for (int row = 0; row < 2; ++row) {
      for (int col = 0; col < 2; ++col) {
        *device_.local<std::int8_t>(row, kLeft + static_cast<unsigned>(col)) =
            static_cast<std::int8_t>(1 + 2 * row + col);
        *device_.local<std::int8_t>(row, kRight + static_cast<unsigned>(col)) =
            static_cast<std::int8_t>(5 + 2 * row + col);
      }
      const std::int32_t words[3] = {row == 0 ? 2 : 1, row == 0 ? 0 : -1, row};
      std::memcpy(device_.local<std::int32_t>(row, kShift), words, sizeof(words));
    }
    const std::int32_t bias[2] = {-40, 1};
    std::memcpy(device_.local<std::int32_t>(0, kBias), bias, sizeof(bias));
    optional_info_t l = at(DT_INT8, kLeft), r = at(DT_INT8, kRight), z = value(DT_INT8, 1), b = at(DT_INT32, kBias);
    requant_int_info_t q = {per_channel != 0, true, RM_HALF_UP, kShift, 10, -1, 3};
    const LaunchOutcome outcome = device_.run(
        [&] { tpu_bdc_quant_mm(kResult, DT_INT8, &l, &r, 2, 2, 2, false, false, false, relu, &z, &b, &q); });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    const auto got = [&](int row, unsigned col) { return int(*device_.local<std::int8_t>(row, kResult + col)); };
    return std::array{got(0, 0), got(0, 1), got(1, 0), got(1, 1)};
  };
  // The sums with the bias are [-24 20; -4 44]: times 5, + 3; then with a table, by 2 and by a half + 1.
  EXPECT_EQ(run(false, 0), (std::array{-117, 103, -17, 127}));
  EXPECT_EQ(run(true, 0), (std::array{3, 103, 3, 127}));
  EXPECT_EQ(run(false, 1), (std::array{-48, 40, -1, 23}));
}

TEST_F(QuantMatMul, EqualsAProductAndARequantisation) {
  constexpr unsigned kSums = 0x20000, kWanted = 0x3C000;
  for (int i = 0; i < 30 && !HasFatalFailure(); ++i) {
    const int m = random_.in(1, 70), k = random_.in(1, 60), n = random_.in(1, 60);
    const LocalTensor left = stored(kLeft, m, k, false, 1), right = stored(kRight, k, n, false, 1);
    const LocalTensor to = stored(kResult, m, n, false, 1), table = aligned(kShift, 1, m, 1, 3, 4);
    const LocalTensor point_rows = {kPoints, 1, 64, 1, n, 1, 0, 0, 0, 1};
    fill_bits({&left, &right, &point_rows});
    fill_table(random_, image_, table, Dtype::kInt8);
    device_.local_image() = image_;
    const auto mode = static_cast<rounding_mode_t>(random_.in(0, 6));
    optional_info_t l = at(DT_INT8, kLeft), r = at(DT_UINT8, kRight), z = at(DT_UINT8, kPoints);
    requant_int_info_t q = {true, false, mode, kShift, 0, 0, 0};
    const LaunchOutcome outcome = device_.run([&] {
      tpu_bdc_quant_mm(kResult, DT_INT8, &l, &r, m, k, n, false, false, false, false, &z, nullptr, &q);
      tpu_bdc_int8_pc_zp_mm(kSums, kLeft, kRight, kPoints, m, k, n, DT_INT8, DT_UINT8, false);
      const dim4 shape = {1, m, 1, n};
      tpu_bdc_int_pc_requant(kWanted, kSums, kShift, &shape, DT_INT8, DT_INT32, mode);
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    LocalTensor wanted = to;
    wanted.addr = kWanted;
    const Image& got = device_.local_image();
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < n; ++col) ASSERT_EQ(take(got, to, row, col, false), take(got, wanted, row, col, false));
    }
  }
  device_.oracle().forget();
}

// Points that differ from NPU to NPU, with so many terms that what they take off needs more than two bytes.
TEST_F(QuantMatMul, PointsOfEachNpuWithManyTerms) {
  constexpr unsigned kLong = 0, kMany = 0x10000, kSums = 0x20000;
  constexpr int kRows = 3, kInner = 65535, kCols = 5;
  for (const bool is_signed : {false, true}) {
    const LocalTensor left = stored(kLong, kRows, kInner, false, 1), right = stored(kMany, kInner, kCols, false, 1);
    const LocalTensor point_rows = {kPoints, 1, 64, 1, kCols, 1, 0, 0, 0, 1};
    fill_bits({&left, &right, &point_rows});
    // The first row has nothing but the least or the greatest byte.
    for (int k = 0; k < kInner; ++k) RandomData::put(image_, left, 0, 0, 0, k, is_signed ? 0x80 : 0xFF);
    device_.local_image() = image_;
    const LaunchOutcome outcome = device_.run([&] {
      tpu_bdc_int8_pc_zp_mm(kSums, kLong, kMany, kPoints, kRows, kInner, kCols, is_signed ? DT_INT8 : DT_UINT8,
                            is_signed ? DT_INT8 : DT_UINT8, false);
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    const LocalTensor to = stored(kSums, kRows, kCols, false, 4);
    const Image& got = device_.local_image();
    for (int row = 0; row < kRows; ++row) {
      for (int col = 0; col < kCols; ++col) {
        std::int64_t sum = 0;
        for (int k = 0; k < kInner; ++k) {
          const std::uint8_t point = image_[static_cast<std::size_t>(k % 64 * reference::kLocalBytes + kPoints + col)];
          sum += RandomData::integer(take(image_, left, row, k, false), 1, is_signed) *
                 (RandomData::integer(take(image_, right, k, col, false), 1, is_signed) -
                  RandomData::integer(point, 1, is_signed));
        }
        ASSERT_EQ(take(got, to, row, col, false), static_cast<std::uint32_t>(sum)) << row << ", " << col;
      }
    }
  }
  device_.oracle().forget();
}

TEST_F(QuantMatMul, WrongArgumentsAreRefused) {
  struct Arguments {
    optional_info_t left, right, zero, bias;
    requant_int_info_t requant;
    data_type_t out = DT_INT8;
    bool left_trans = false, right_trans = false, add = false;
  };
  Arguments good{at(DT_INT8, kLeft),
                 at(DT_INT8, kRight),
                 value(DT_INT8, 1),
                 at(DT_INT32, kBias),
                 {false, false, RM_HALF_UP, kShift, 1, 0, 0}};
  const auto refused = [&](Arguments a, const char* text) {
    device_.expect_fault(
        [&] {
          tpu_bdc_quant_mm(kResult, a.out, &a.left, &a.right, 3, 4, 5, a.left_trans, a.right_trans, a.add, false,
                           &a.zero, &a.bias, &a.requant);
        },
        text);
  };
  Arguments a = good;
  a.left_trans = true;
  refused(a, "tpu_bdc_quant_mm: left_trans needs right_trans");
  a = good;
  a.left = value(DT_INT8, 1);
  a.right = value(DT_INT8, 1);
  refused(a, "left and right are both constants");
  a = good;
  a.zero = value(DT_UINT8, 1);
  refused(a, "rzp type (uint8) differs from right type (int8)");
  a = good;
  a.left = at(DT_INT16, kLeft);
  refused(a, "left type is int16");
  a = good;
  a.bias = at(DT_FP32, kBias);
  refused(a, "bias type is fp32");
  a = good;
  a.bias = at(DT_INT32, address(1, kBias));
  refused(a, "start NPU of bias (1) differs from start NPU of output (0)");
  a = good;
  a.add = true;
  refused(a, "result_add needs a 32-bit output (output type is int8)");
  a = good;
  a.out = DT_INT32;
  refused(a, "requantised output type is int32");
  a = good;
  a.requant.shift = 32;
  refused(a, "requant shift (32) is outside -64..31");
  a = good;
  a.requant.yzp = 40000;
  refused(a, "requant yzp (40000) is outside -32768..32767");
  a = good;
  a.requant.is_perchannel = true;
  a.requant.addr = kShift + 4;
  refused(a, "requant address (0x34004) is not a multiple of 64");
  device_.expect_fault(
      [&] {
        tpu_bdc_quant_mm(kResult, DT_UINT8, &good.left, &good.right, 3, 4, 5, false, false, false, false, nullptr,
                         nullptr, nullptr);
      },
      "output type uint8 has to be signed");
}

}  // namespace
}  // namespace softtpu::quant_mm_test
