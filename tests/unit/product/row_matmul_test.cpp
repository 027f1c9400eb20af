// Matrix products whose rows are channels, against oracles that are written from the description.
#include "device/isa/op_names.hpp"
#include "tests/unit/assumed.hpp"
#include "tests/unit/matmul_fixture.hpp"

namespace softtpu::row_matmul_test {
namespace {

constexpr int kCases = 30;  // of each function

enum class Stored : std::uint8_t { kPlain, kRightTrans, kAllTrans };
enum class Constant : std::uint8_t { kNone, kLeft, kRight };

// How a function stores its operands. A constant right matrix has no kRightTrans of its own.
struct Form {
  Stored stored;
  Constant constant;
};
constexpr Form kForms[] = {{Stored::kPlain, Constant::kNone},      {Stored::kPlain, Constant::kLeft},
                           {Stored::kPlain, Constant::kRight},     {Stored::kRightTrans, Constant::kNone},
                           {Stored::kRightTrans, Constant::kLeft}, {Stored::kAllTrans, Constant::kNone},
                           {Stored::kAllTrans, Constant::kLeft},   {Stored::kAllTrans, Constant::kRight}};

std::string name_of(const testing::TestParamInfo<Form>& form) {
  constexpr std::array kStored = {"Plain", "RightTrans", "AllTrans"};
  constexpr std::array kConstants = {"", "LeftConst", "RightConst"};
  return std::string(kStored[static_cast<std::size_t>(form.param.stored)]) +
         kConstants[static_cast<std::size_t>(form.param.constant)];
}

// A product of m x k and k x n: the tensors as they are stored.
struct RowMatrices {
  Form form;
  int m, k, n;
  bool all() const { return form.stored == Stored::kAllTrans; }
  bool right_trans() const { return form.stored != Stored::kPlain; }
  bool adds() const { return form.stored != Stored::kRightTrans; }
  int first_size() const { return all() ? k : m; }
  int second_size() const { return all() ? m : k; }
  LocalTensor stored(unsigned addr, int rows, int cols, bool trans, int size) const {
    return trans ? aligned(addr, 1, cols, 1, rows, size) : aligned(addr, 1, rows, 1, cols, size);
  }
  std::string text() const {
    return fmt::format("m {} k {} n {} stored {} constant {}", m, k, n, static_cast<int>(form.stored),
                       static_cast<int>(form.constant));
  }
};
std::uint32_t at(const Image& image, const LocalTensor& matrix, int row, int col, bool trans) {
  return RandomData::take(image, matrix, 0, trans ? col : row, 0, trans ? row : col);
}

class RowMatMul : public MatMulTest, public testing::WithParamInterface<Form> {
 protected:
  RowMatrices sizes() { return {GetParam(), random_.in(1, 70), random_.in(1, 100), random_.in(1, 110)}; }
  LocalTensor left(const RowMatrices& s, int size) const { return s.stored(kLeft, s.m, s.k, s.all(), size); }
  LocalTensor right(const RowMatrices& s, int size) const { return s.stored(kRight, s.k, s.n, s.right_trans(), size); }
  LocalTensor result(const RowMatrices& s, int size) const { return s.stored(kResult, s.m, s.n, s.all(), size); }

  // result(row, col) = body(row, col), which gives bits.
  template <class Body>
  Image filled(const RowMatrices& s, const LocalTensor& result, Body body) {
    Image wanted = image_;
    for (int row = 0; row < s.m; ++row) {
      for (int col = 0; col < s.n; ++col)
        RandomData::put(wanted, result, 0, s.all() ? col : row, 0, s.all() ? row : col, body(row, col));
    }
    return wanted;
  }
};

void call_fp(const RowMatrices& s, unsigned to, unsigned l, unsigned r, const scalar_t& c, data_type_t out,
             data_type_t in, bool add) {
  const int first = s.first_size(), second = s.second_size();
  const bool left = s.form.constant == Constant::kLeft, right = s.form.constant == Constant::kRight;
  switch (s.form.stored) {
    case Stored::kPlain:
      if (left) return tpu_bdc_fp_mm_L_const(to, r, c, first, second, s.n, out, in, add);
      if (right) return tpu_bdc_fp_mm_R_const(to, l, c, first, second, s.n, out, in, add);
      return tpu_bdc_fp_mm(to, l, r, first, second, s.n, out, in, add);
    case Stored::kRightTrans:
      if (left) return tpu_bdc_fp_mm_L_const_R_trans(to, r, c, first, second, s.n, out, in);
      return tpu_bdc_fp_mm_R_trans(to, l, r, first, second, s.n, out, in);
    case Stored::kAllTrans:
      if (left) return tpu_bdc_fp_mm_L_const_all_trans(to, r, c, first, second, s.n, out, in, add);
      if (right) return tpu_bdc_fp_mm_R_const_all_trans(to, l, c, first, second, s.n, out, in, add);
      return tpu_bdc_fp_mm_all_trans(to, l, r, first, second, s.n, out, in, add);
  }
}

struct Bias {
  data_type_t type;
  bool is_const;
  var_context_t data;
  bool relu;
};

void call_fp_bias(const RowMatrices& s, unsigned to, unsigned l, unsigned r, const scalar_t& c, data_type_t out,
                  data_type_t in, bool add, const Bias& b) {
  const int first = s.first_size(), second = s.second_size(), n = s.n;
  const bool left = s.form.constant == Constant::kLeft, right = s.form.constant == Constant::kRight;
  const auto of_tensors = s.form.stored == Stored::kPlain        ? tpu_bdc_fp_mm_with_bias
                          : s.form.stored == Stored::kRightTrans ? tpu_bdc_fp_mm_R_trans_with_bias
                                                                 : tpu_bdc_fp_mm_all_trans_with_bias;
  const auto of_left = s.form.stored == Stored::kPlain        ? tpu_bdc_fp_mm_L_const_with_bias
                       : s.form.stored == Stored::kRightTrans ? tpu_bdc_fp_mm_L_const_R_trans_with_bias
                                                              : tpu_bdc_fp_mm_L_const_all_trans_with_bias;
  const auto of_right =
      s.form.stored == Stored::kPlain ? tpu_bdc_fp_mm_R_const_with_bias : tpu_bdc_fp_mm_R_const_all_trans_with_bias;
  if (left) return of_left(to, r, c, first, second, n, out, in, b.type, add, b.is_const, b.data, b.relu);
  if (right) return of_right(to, l, c, first, second, n, out, in, b.type, add, b.is_const, b.data, b.relu);
  of_tensors(to, l, r, first, second, n, out, in, b.type, add, b.is_const, b.data, b.relu);
}

// Without a bias, and with one: it lies in a row, or with the channels of a transposed result, or is a constant.
TEST_P(RowMatMul, HalvesAreSummedInAlignedGroups) {
  record_assumed({Op::tpu_bdc_fp_mm_with_bias, Op::tpu_bdc_fp_mm_R_trans_with_bias,
                  Op::tpu_bdc_fp_mm_all_trans_with_bias, Op::tpu_bdc_fp_mm_L_const_with_bias,
                  Op::tpu_bdc_fp_mm_R_const_with_bias, Op::tpu_bdc_fp_mm_L_const_R_trans_with_bias,
                  Op::tpu_bdc_fp_mm_L_const_all_trans_with_bias, Op::tpu_bdc_fp_mm_R_const_all_trans_with_bias});
  for (int i = 0; i < 2 * kCases && !HasFatalFailure(); ++i) {
    const RowMatrices s = sizes();
    const Float type = random_.flip() ? Float::kF16 : Float::kBf16;
    const Float out = random_.flip() ? Float::kF32 : type;
    const bool has_bias = i % 2 == 1;
    const bool add = (has_bias || s.adds()) && random_.flip();
    const Float bias_type = random_.flip() ? Float::kF32 : type;
    const int bias_size = reference::size_of(bias_type);
    const LocalTensor bias =
        s.all() ? reference::compact(kBias, 1, s.n, 1, 1, bias_size) : aligned(kBias, 1, 1, 1, s.n, bias_size);
    fill({&bias}, bias_type);
    Bias end = {};
    end.is_const = random_.flip();
    end.relu = random_.flip();
    if (end.is_const) {
      end.data.scalar = scalar_bits(random_.element(bias_type));
    } else {
      end.data.addr = kBias;
    }
    const LocalTensor left = this->left(s, 2), right = this->right(s, 2), old = result(s, 4),
                      to = result(s, reference::size_of(out));
    const std::uint32_t constant = random_.element(type);
    fill({&left, &right}, type);
    fill({&old}, Float::kF32);
    const auto value = [&](Constant side, const LocalTensor& matrix, int row, int col, bool trans) {
      return reference::value_of(s.form.constant == side ? constant : at(image_, matrix, row, col, trans), type);
    };
    const Image wanted = filled(s, to, [&](int row, int col) {
      float sum = 0;
      if (has_bias) {
        const std::uint32_t bits = end.is_const ? end.data.scalar.u32 : at(image_, bias, 0, col, s.all());
        sum = static_cast<float>(reference::value_of(bits, bias_type));
      }
      // The old result is an f32 matrix, whatever is written.
      if (add) {
        const double before = reference::value_of(at(image_, old, row, col, s.all()), Float::kF32);
        sum = has_bias ? reference::rounded_sum(sum, static_cast<float>(before)) : static_cast<float>(before);
      }
      for (int first = 0; first < s.k; first += 32) {
        std::vector<double> a, b;
        for (int k = first; k < std::min(first + 32, s.k); ++k) {
          a.push_back(value(Constant::kLeft, left, row, k, s.all()));
          b.push_back(value(Constant::kRight, right, k, col, s.right_trans()));
        }
        sum = reference::rounded_sum(sum, reference::group_sum(a, b));
      }
      const std::uint32_t bits = reference::bits_of(sum, out);
      return has_bias && end.relu && !(reference::value_of(bits, out) > 0) ? 0 : bits;
    });
    const data_type_t in_type = type == Float::kF16 ? DT_FP16 : DT_BFP16;
    const data_type_t out_type = out == Float::kF32 ? DT_FP32 : in_type;
    end.type = bias_type == Float::kF32 ? DT_FP32 : in_type;
    expect(
        wanted,
        [&] {
          const scalar_t c = scalar_bits(constant);
          has_bias ? call_fp_bias(s, kResult, kLeft, kRight, c, out_type, in_type, add, end)
                   : call_fp(s, kResult, kLeft, kRight, c, out_type, in_type, add);
        },
        fmt::format("{} type {} out {} add {} bias {} {} const {} relu {}", s.text(), static_cast<int>(type),
                    static_cast<int>(out), add, has_bias, static_cast<int>(bias_type), end.is_const, end.relu));
  }
}

// ---- Zero points ----

struct ZeroPointCall {
  unsigned to, left, right, points;
  scalar_t constant, point;
  data_type_t left_type, right_type;
  bool add;
};

void call_zp(const RowMatrices& s, const ZeroPointCall& a) {
  const int first = s.first_size(), second = s.second_size();
  const bool left = s.form.constant == Constant::kLeft, right = s.form.constant == Constant::kRight;
  const data_type_t lt = a.left_type, rt = a.right_type;
  switch (s.form.stored) {
    case Stored::kPlain:
      if (left)
        return tpu_bdc_int8_zp_mm_L_const(a.to, a.right, a.constant, a.point, first, second, s.n, lt, rt, a.add);
      if (right)
        return tpu_bdc_int8_zp_mm_R_const(a.to, a.left, a.constant, a.point, first, second, s.n, lt, rt, a.add);
      return tpu_bdc_int8_zp_mm(a.to, a.left, a.right, a.point, first, second, s.n, lt, rt, a.add);
    case Stored::kRightTrans:
      if (left)
        return tpu_bdc_int8_zp_mm_L_const_R_trans(a.to, a.right, a.constant, a.point, first, second, s.n, lt, rt);
      return tpu_bdc_int8_zp_mm_R_trans(a.to, a.left, a.right, a.point, first, second, s.n, lt, rt);
    case Stored::kAllTrans:
      if (left)
        return tpu_bdc_int8_zp_mm_L_const_all_trans(a.to, a.right, a.constant, a.point, first, second, s.n, lt, rt,
                                                    a.add);
      if (right)
        return tpu_bdc_int8_zp_mm_R_const_all_trans(a.to, a.left, a.constant, a.point, first, second, s.n, lt, rt,
                                                    a.add);
      return tpu_bdc_int8_zp_mm_all_trans(a.to, a.left, a.right, a.point, first, second, s.n, lt, rt, a.add);
  }
}

void call_pc_zp(const RowMatrices& s, const ZeroPointCall& a) {
  const int first = s.first_size(), second = s.second_size();
  const bool left = s.form.constant == Constant::kLeft, right = s.form.constant == Constant::kRight;
  const data_type_t lt = a.left_type, rt = a.right_type;
  switch (s.form.stored) {
    case Stored::kPlain:
      if (left)
        return tpu_bdc_int8_pc_zp_mm_L_const(a.to, a.right, a.points, a.constant, first, second, s.n, lt, rt, a.add);
      if (right)
        return tpu_bdc_int8_pc_zp_mm_R_const(a.to, a.left, a.points, a.constant, first, second, s.n, lt, rt, a.add);
      return tpu_bdc_int8_pc_zp_mm(a.to, a.left, a.right, a.points, first, second, s.n, lt, rt, a.add);
    case Stored::kRightTrans:
      if (left)
        return tpu_bdc_int8_pc_zp_mm_L_const_R_trans(a.to, a.right, a.points, a.constant, first, second, s.n, lt, rt);
      return tpu_bdc_int8_pc_zp_mm_R_trans(a.to, a.left, a.right, a.points, first, second, s.n, lt, rt);
    case Stored::kAllTrans:
      if (left)
        return tpu_bdc_int8_pc_zp_mm_L_const_all_trans(a.to, a.right, a.points, a.constant, first, second, s.n, lt, rt,
                                                       a.add);
      if (right)
        return tpu_bdc_int8_pc_zp_mm_R_const_all_trans(a.to, a.left, a.points, a.constant, first, second, s.n, lt, rt,
                                                       a.add);
      return tpu_bdc_int8_pc_zp_mm_all_trans(a.to, a.left, a.right, a.points, first, second, s.n, lt, rt, a.add);
  }
}

TEST_P(RowMatMul, ZeroPointsAreTakenOffTheRightMatrix) {
  for (int i = 0; i < 2 * kCases && !HasFatalFailure(); ++i) {
    const RowMatrices s = sizes();
    const bool left_signed = random_.flip(), right_signed = random_.flip(), per_column = i % 2 == 1;
    const bool add = s.adds() && random_.flip();
    const LocalTensor left = this->left(s, 1), right = this->right(s, 1), to = result(s, 4);
    // A different vector on each NPU shows which one is read.
    const LocalTensor points = {kBias, 1, 64, 1, s.n, 1, 0, 0, 0, 1};
    fill_bits({&left, &right, &to, &points});
    const std::uint32_t constant = random_.bits() & 0xFFU, one_point = random_.bits() & 0xFFU;
    const auto element = [&](Constant side, const LocalTensor& matrix, int row, int col, bool trans, bool is_signed) {
      return RandomData::integer(s.form.constant == side ? constant : at(image_, matrix, row, col, trans), 1,
                                 is_signed);
    };
    const Image wanted = filled(s, to, [&](int row, int col) {
      std::int64_t sum = add ? at(image_, to, row, col, s.all()) : 0;
      for (int k = 0; k < s.k; ++k) {
        std::uint32_t point = one_point;
        if (per_column) {
          const int npu = s.right_trans() ? col % 64 : k % 64;
          const int byte = s.all() ? col / 64 : col;
          point = image_[static_cast<std::size_t>(npu * reference::kLocalBytes + kBias + byte)];
        }
        sum += element(Constant::kLeft, left, row, k, s.all(), left_signed) *
               (element(Constant::kRight, right, k, col, s.right_trans(), right_signed) -
                RandomData::integer(point, 1, right_signed));
      }
      return static_cast<std::uint32_t>(sum);
    });
    const ZeroPointCall call = {kResult,
                                kLeft,
                                kRight,
                                kBias,
                                scalar_bits(constant),
                                scalar_bits(one_point),
                                byte(left_signed),
                                byte(right_signed),
                                add};
    expect(
        wanted, [&] { per_column ? call_pc_zp(s, call) : call_zp(s, call); },
        fmt::format("{} per column {} add {} signed {} {}", s.text(), per_column, add, left_signed, right_signed));
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, RowMatMul, testing::ValuesIn(kForms), name_of);

// ---- Refusals ----

TEST_P(RowMatMul, WrongArgumentsAreRefused) {
  const RowMatrices s = {GetParam(), 3, 4, 5};
  const auto half = [&](unsigned to, data_type_t out, data_type_t in) {
    return [=] { call_fp(s, to, kLeft, kRight, scalar_bits(0), out, in, false); };
  };
  device_.expect_fault(half(kResult, DT_FP32, DT_FP32), "left and right type is fp32");
  device_.expect_fault(half(kResult, DT_BFP16, DT_FP16), "output type is bfp16");
  device_.expect_fault(half(kResult + 4, DT_FP32, DT_FP16), "is not a multiple of 64");
  device_.expect_fault(half(address(2, kResult), DT_FP32, DT_FP16), "start NPU of");
  device_.expect_fault(half(kResult, DT_FP32, static_cast<data_type_t>(2)), "(2) is not a data type");
  const auto with_bias = [&](data_type_t type, unsigned addr) {
    Bias bias = {};
    bias.type = type;
    bias.data.addr = addr;
    return [=] { call_fp_bias(s, kResult, kLeft, kRight, scalar_bits(0), DT_FP32, DT_FP16, false, bias); };
  };
  device_.expect_fault(with_bias(DT_BFP16, kBias), "bias type is bfp16 (allowed: fp16, fp32)");
  device_.expect_fault(with_bias(DT_FP32, address(3, kBias)),
                       "start NPU of bias (3) differs from start NPU of output (0)");
  device_.expect_fault(with_bias(DT_FP32, kBias + 2), "bias address (0x30002) is not a multiple of");
}

// [1 2; 3 4] x [1 0; 0 1] + [-2 0.5], then relu.
TEST_F(MatMulTest, ABiasIsOneRowByHand) {
  for (int row = 0; row < 2; ++row) {
    for (int col = 0; col < 2; ++col) {
      constexpr std::uint16_t kOneToFour[] = {0x3C00, 0x4000, 0x4200, 0x4400};
      const unsigned offset = 2 * static_cast<unsigned>(col);
      *device_.local<std::uint16_t>(row, kLeft + offset) = kOneToFour[2 * row + col];
      *device_.local<std::uint16_t>(row, kRight + offset) = row == col ? 0x3C00 : 0;
    }
  }
  const float row_bias[2] = {-2.0F, 0.5F};
  std::memcpy(device_.local<float>(0, kBias), row_bias, sizeof(row_bias));
  var_context_t bias;
  bias.addr = kBias;
  const LaunchOutcome outcome = device_.run([&] {
    tpu_bdc_fp_mm_with_bias(kResult, kLeft, kRight, 2, 2, 2, DT_FP32, DT_FP16, DT_FP32, false, false, bias, true);
  });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  for (int row = 0; row < 2; ++row) {
    const float* got = device_.local<float>(row, kResult);
    EXPECT_EQ(got[0], row == 0 ? 0.0F : 1.0F);
    EXPECT_EQ(got[1], row == 0 ? 2.5F : 4.5F);
  }
}

}  // namespace
}  // namespace softtpu::row_matmul_test
