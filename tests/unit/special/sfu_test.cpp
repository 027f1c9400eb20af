// Special-function commands against the bit-exact reference: random shapes, start NPUs, types, strides and operands in
// place; refusals that change nothing.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "device/memory/parallel.hpp"
#include "device/numeric/narrow.hpp"
#include "tests/reference/chip_float.hpp"
#include "tests/reference/sfu.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tests/unit/device_tensor.hpp"

namespace softtpu::sfu_test {
namespace {

constexpr std::uint32_t kDstOffset = 0x0000;
constexpr std::uint32_t kSrcOffset = 0x8000;
constexpr std::uint32_t kSrc1Offset = 0x10000;
constexpr std::uint32_t kCoeffOffset = 0x30000;
constexpr Dtype kTypes[] = {Dtype::kFp32, Dtype::kFp16, Dtype::kBfp16};
constexpr int kNewtonSteps = 3;  // of the functions that do not let the caller choose

// Which of the functions of one meaning: for f32 only, with the number of Newton steps as an argument.
struct Form {
  bool fp32 = false, tunable = false;
};

// The arguments of a quotient, and each function that computes one: form 0 a / b, 1 C / a, 2 a / C, 3 1 / a.
struct Quotient {
  local_addr_t dst, a, b;
  scalar_t C;
  float C_fp32;
  const dim4* shape;
  const dim4* stride[3];
  data_type_t type;
  int iterations;

  void issue(int form, Form variant) const {
    if (variant.fp32 && variant.tunable) return fp32_tunable(form);
    if (variant.fp32) return fp32(form);
    if (variant.tunable) return tunable(form);
    if (form == 0) tpu_bdc_fp_div(dst, a, b, shape, stride[0], stride[1], stride[2], type);
    if (form == 1) tpu_bdc_fp_C_div(dst, a, C, shape, stride[0], stride[1], type);
    if (form == 2) tpu_bdc_fp_div_C(dst, a, C, shape, stride[0], stride[1], type);
    if (form == 3) tpu_bdc_fp_reciprocal(dst, a, shape, stride[0], stride[1], type);
  }
  void tunable(int form) const {
    if (form == 0) tpu_bdc_fp_tunable_div(dst, a, b, shape, stride[0], stride[1], stride[2], type, iterations);
    if (form == 1) tpu_bdc_fp_tunable_C_div(dst, a, C, shape, stride[0], stride[1], type, iterations);
    if (form == 2) tpu_bdc_fp_tunable_div_C(dst, a, C, shape, stride[0], stride[1], type, iterations);
    if (form == 3) tpu_bdc_fp_tunable_reciprocal(dst, a, shape, stride[0], stride[1], type, iterations);
  }
  void fp32(int form) const {
    if (form == 0) tpu_bdc_fp32_div(dst, a, b, shape, stride[0], stride[1], stride[2]);
    if (form == 1) tpu_bdc_fp32_C_div(dst, a, C_fp32, shape, stride[0], stride[1]);
    if (form == 2) tpu_bdc_fp32_div_C(dst, a, C_fp32, shape, stride[0], stride[1]);
    if (form == 3) tpu_bdc_fp32_reciprocal(dst, a, shape, stride[0], stride[1]);
  }
  void fp32_tunable(int form) const {
    if (form == 0) tpu_bdc_fp32_tunable_div(dst, a, b, shape, stride[0], stride[1], stride[2], iterations);
    if (form == 1) tpu_bdc_fp32_tunable_C_div(dst, a, C_fp32, shape, stride[0], stride[1], iterations);
    if (form == 2) tpu_bdc_fp32_tunable_div_C(dst, a, C_fp32, shape, stride[0], stride[1], iterations);
    if (form == 3) tpu_bdc_fp32_tunable_reciprocal(dst, a, shape, stride[0], stride[1], iterations);
  }
};

class SfuTest : public testing::Test {
 protected:
  const unsigned seed_ = 20240607U + static_cast<unsigned>(GTEST_FLAG_GET(random_seed));

  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  Dim4 random_shape() { return {number(1, 3), number(1, 70), number(1, 5), number(1, 40)}; }
  Form any_form(Dtype type) { return {type == Dtype::kFp32 && number(0, 1) == 1, number(0, 1) == 1}; }

  DeviceTensor aligned(Dtype type, const Dim4& shape, int npu, std::uint32_t offset) {
    return DeviceTensor::aligned(device_.chip(), type, shape, npu, offset);
  }
  // The same place with strides of its own, larger than needed.
  DeviceTensor spread(DeviceTensor tensor) {
    tensor.stride.w = number(1, 2);
    tensor.stride.h = tensor.stride.w * tensor.shape.w + number(0, 3);
    tensor.stride.c = tensor.stride.h * tensor.shape.h + number(0, 3);
    tensor.stride.n = tensor.stride.c * 3 + number(0, 3);
    return tensor;
  }

  // Every fourth value is special, the others are of ordinary size, or any bits.
  std::vector<std::uint32_t> random_bits(Dtype type, std::int64_t count) {
    static const std::uint32_t kSpecial32[] = {0,          0x80000000, 1,          0x80000001, 0x7FFFFF,   0x800000,
                                               0x3F800000, 0xBF800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001,
                                               0xFFABCDEF, 0x7FC00000, 0x3FAAAAAB, 0x3FAAAAAC};
    static const std::uint32_t kSpecial16[] = {0,      0x8000, 1,      0x8001, 0x3FF,  0x400,  0x7F,   0x80,
                                               0x3C00, 0x3F80, 0x7BFF, 0x7C00, 0xFC00, 0x7F80, 0xFF80, 0x7FFF};
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(count));
    for (std::uint32_t& value : bits) {
      const auto any = static_cast<std::uint32_t>(random_());
      const float ordinary = std::uniform_real_distribution<float>(-4, 4)(random_);
      const std::uint32_t single = std::bit_cast<std::uint32_t>(ordinary);
      switch (any & 3U) {
        case 0: value = type == Dtype::kFp32 ? kSpecial32[any >> 8 & 15U] : kSpecial16[any >> 8 & 15U]; break;
        case 1: value = type == Dtype::kFp32 ? static_cast<std::uint32_t>(random_()) : any >> 16; break;
        default: value = type == Dtype::kFp32 ? single : single >> 16; break;
      }
    }
    return bits;
  }

  void fill_memory() {
    const std::size_t bytes = device_.chip().local_mem.bytes;
    static const auto background = reference::Background::made(bytes, [&](std::uint8_t* memory) {
      for (std::uint64_t at = 0; at < bytes; at += 4) {
        const auto value = static_cast<std::uint32_t>(at * 2654435761U);
        std::memcpy(memory + at, &value, sizeof(value));
      }
    });
    device_.begin_with(background);
  }

  // Runs the kernel and compares all of local memory with what it was, but for dst, which holds `want`.
  void expect_result(const std::function<void()>& kernel, const DeviceTensor& dst,
                     const std::vector<std::uint32_t>& want, const std::string& what) {
    image_ = device_.local_image();
    dst.write(device_.chip(), image_.data(), want);
    const LaunchOutcome outcome = device_.run(kernel);
    ASSERT_TRUE(outcome.ok) << what << ": " << outcome.text;
    const std::vector<std::uint32_t> got = dst.read(device_.chip(), device_.memories().local(0));
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(got[i], want[i]) << what << ", element " << i << " of " << to_text(dst.shape);
    }
    ASSERT_TRUE(image_ == device_.local_image()) << what << ": bytes outside of dst changed";
    device_.oracle().confirm();
  }

  std::uint8_t* memory() { return device_.memories().local(0); }
  void put(const DeviceTensor& tensor, const std::vector<std::uint32_t>& bits) {
    tensor.write(device_.chip(), memory(), bits);
  }
  local_addr_t addr(const DeviceTensor& tensor) { return tensor.addr(device_.chip()); }

  TestDevice device_;
  reference::Image image_;  // what local memory has to be after a command
  // --gtest_random_seed=N tries other values; without it every run is the same.
  std::mt19937 random_{seed_};
};

TEST_F(SfuTest, TaylorMatchesTheReference) {
  fill_memory();
  for (int trial = 0; trial < 60; ++trial) {
    const Dtype type = kTypes[trial % 3];
    const Dim4 shape = random_shape();
    const int npu = number(0, 63);
    const int terms = number(2, 20);
    const DeviceTensor src = aligned(type, shape, npu, kSrcOffset);
    const DeviceTensor dst = aligned(type, shape, npu, trial % 4 == 0 ? kSrcOffset : kDstOffset);
    const DeviceTensor coeff = aligned(type, {1, device_.chip().npu_num, 1, terms}, 0, kCoeffOffset);
    const std::vector<std::uint32_t> x = random_bits(type, shape.elements());
    const std::vector<std::uint32_t> c = random_bits(type, coeff.shape.elements());
    put(src, x);
    put(coeff, c);
    std::vector<std::uint32_t> want(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto channel = i / static_cast<std::size_t>(shape.h * shape.w) % static_cast<std::size_t>(shape.c);
      const std::size_t lane = (static_cast<std::size_t>(npu) + channel) % 64 * static_cast<std::size_t>(terms);
      const auto first = c.begin() + static_cast<std::ptrdiff_t>(lane);
      want[i] = reference::taylor(x[i], {first, first + terms}, type);
    }
    const dim4 c_shape = src.c_shape();
    const auto code = static_cast<data_type_t>(type);
    expect_result([&] { tpu_bdc_fp_taylor(addr(dst), addr(src), addr(coeff), &c_shape, terms, code); }, dst, want,
                  "taylor " + std::string(to_text(type)));
  }
}

TEST_F(SfuTest, RootsMatchTheReference) {
  fill_memory();
  for (int trial = 0; trial < 120; ++trial) {
    const Dtype type = kTypes[trial % 3];
    const bool rsqrt = number(0, 1) == 0;
    const Form form = any_form(type);
    const int iterations = form.tunable ? number(1, 4) : kNewtonSteps;
    const Dim4 shape = random_shape();
    const int npu = number(0, 63);
    const DeviceTensor src = aligned(type, shape, npu, kSrcOffset);
    const DeviceTensor dst = aligned(type, shape, npu, rsqrt && trial % 4 == 0 ? kSrcOffset : kDstOffset);
    const std::vector<std::uint32_t> x = random_bits(type, shape.elements());
    put(src, x);
    std::vector<std::uint32_t> want(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      want[i] = rsqrt ? reference::rsqrt(x[i], iterations, type) : reference::sqrt(x[i], iterations, type);
    }
    const dim4 c_shape = src.c_shape();
    const auto code = static_cast<data_type_t>(type);
    const auto kernel = [&, to = addr(dst), from = addr(src)] {
      if (form.fp32 && form.tunable) {
        (rsqrt ? tpu_bdc_fp32_tunable_rsqrt : tpu_bdc_fp32_tunable_sqrt)(to, from, &c_shape, iterations);
      } else if (form.fp32) {
        (rsqrt ? tpu_bdc_fp32_rsqrt : tpu_bdc_fp32_sqrt)(to, from, &c_shape);
      } else if (form.tunable) {
        (rsqrt ? tpu_bdc_fp_tunable_rsqrt : tpu_bdc_fp_tunable_sqrt)(to, from, &c_shape, code, iterations);
      } else {
        (rsqrt ? tpu_bdc_fp_rsqrt : tpu_bdc_fp_sqrt)(to, from, &c_shape, code);
      }
    };
    expect_result(kernel, dst, want, rsqrt ? "rsqrt" : "sqrt");
  }
}

TEST_F(SfuTest, QuotientsMatchTheReference) {
  fill_memory();
  for (int trial = 0; trial < 240; ++trial) {
    const Dtype type = kTypes[trial % 3];
    const Form variant = any_form(type);
    const int iterations = variant.tunable ? number(1, 4) : kNewtonSteps;
    const int npu = number(0, 63);
    const Dim4 shape{number(1, 2), number(1, 70), number(1, 4), number(1, 20)};
    const int form = trial / 3 % 4;
    DeviceTensor src0 = aligned(type, shape, npu, kSrcOffset);
    DeviceTensor src1 = aligned(type, shape, npu, kSrc1Offset);
    DeviceTensor dst = aligned(type, shape, npu, kDstOffset);
    const bool free = number(0, 1) == 1;
    if (free) {
      src0 = spread(src0);
      src1 = spread(src1);
      dst = spread(dst);
      if (number(0, 1) == 1) src1.stride.w = 0;
      if (number(0, 1) == 1) src0.stride.n = 0;
    } else if (number(0, 2) == 0) {
      dst = src0;
    }
    put(src0, random_bits(type, shape.elements()));
    put(src1, random_bits(type, shape.elements()));
    const std::vector<std::uint32_t> a = src0.read(device_.chip(), memory());
    const std::vector<std::uint32_t> b = src1.read(device_.chip(), memory());
    const std::uint32_t constant = random_bits(type, 1)[0];
    scalar_t c{};
    c.u32 = constant;
    const std::uint32_t one = reference::stored(1.0F, type);
    std::vector<std::uint32_t> want(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::uint32_t above = form == 1 ? constant : form == 3 ? one : a[i];
      const std::uint32_t below = form == 0 ? b[i] : form == 2 ? constant : a[i];
      want[i] = reference::divide(above, below, iterations, type);
    }
    const dim4 c_shape = dst.c_shape();
    const dim4 strides[] = {dst.c_stride(), src0.c_stride(), src1.c_stride()};
    const auto stride = [&](int i) { return free ? &strides[i] : nullptr; };
    const auto code = static_cast<data_type_t>(type);
    const Quotient call{addr(dst),
                        addr(src0),
                        addr(src1),
                        c,
                        std::bit_cast<float>(constant),
                        &c_shape,
                        {stride(0), stride(1), stride(2)},
                        code,
                        iterations};
    const auto kernel = [&] { call.issue(form, variant); };
    expect_result(kernel, dst, want, "quotient form " + std::to_string(form) + " " + std::string(to_text(type)));
  }
}

TEST_F(SfuTest, ExponentPartMatchesTheReference) {
  fill_memory();
  for (int trial = 0; trial < 24; ++trial) {
    const Dtype type = kTypes[trial % 3];
    const bool as_integer = number(0, 1) == 0;
    const Dtype dst_type = !as_integer ? type : type == Dtype::kFp32 ? Dtype::kInt32 : Dtype::kInt16;
    const Dim4 shape = random_shape();
    const int npu = number(0, 63);
    const DeviceTensor src = aligned(type, shape, npu, kSrcOffset);
    const DeviceTensor dst = aligned(dst_type, shape, npu, number(0, 1) == 0 ? kSrcOffset : kDstOffset);
    const std::vector<std::uint32_t> x = random_bits(type, shape.elements());
    put(src, x);
    std::vector<std::uint32_t> want(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) want[i] = reference::exponent_part(x[i], type, as_integer);
    const dim4 c_shape = src.c_shape();
    const auto kernel = [&] {
      tpu_bdc_fp_exponent_part(addr(dst), addr(src), &c_shape, static_cast<data_type_t>(dst_type),
                               static_cast<data_type_t>(type));
    };
    expect_result(kernel, dst, want, "exponent");
  }
}

TEST_F(SfuTest, LookupTakesTheElementOfItsOwnNpu) {
  constexpr Dtype kElements[] = {Dtype::kFp32, Dtype::kInt16, Dtype::kUint8, Dtype::kInt32, Dtype::kFp16};
  fill_memory();
  for (int trial = 0; trial < 40; ++trial) {
    const Dtype type = kElements[trial % 5];
    const Dtype index_type = number(0, 1) == 0 ? Dtype::kUint8 : Dtype::kUint16;
    const int length = number(1, index_type == Dtype::kUint8 ? 256 : 700);
    const Dim4 shape = random_shape();
    const int npu = number(0, 63);
    const DeviceTensor src = aligned(index_type, shape, npu, kSrcOffset);
    const DeviceTensor dst = aligned(type, shape, npu, kDstOffset);
    const DeviceTensor table = aligned(type, {1, device_.chip().npu_num, 1, length}, 0, kCoeffOffset);
    std::vector<std::uint32_t> index(static_cast<std::size_t>(shape.elements()));
    for (std::uint32_t& value : index) value = static_cast<std::uint32_t>(number(0, length - 1));
    put(src, index);
    const std::vector<std::uint32_t> elements = table.read(device_.chip(), memory());
    std::vector<std::uint32_t> want(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) {
      const auto channel = i / static_cast<std::size_t>(shape.h * shape.w) % static_cast<std::size_t>(shape.c);
      want[i] = elements[(static_cast<std::size_t>(npu) + channel) % 64 * static_cast<std::size_t>(length) + index[i]];
    }
    const dim4 c_shape = src.c_shape();
    const auto kernel = [&] {
      tpu_bdc_table_lookup(addr(dst), addr(src), addr(table), &c_shape, length, static_cast<data_type_t>(type),
                           static_cast<data_type_t>(index_type));
    };
    expect_result(kernel, dst, want, "lookup");
    index[index.size() / 2] = static_cast<std::uint32_t>(length);
    if (length == 256 && index_type == Dtype::kUint8) continue;
    put(src, index);
    device_.expect_fault(kernel, "an index in src (" + std::to_string(length) + ") is outside");
  }
}

TEST(NarrowTest, RoundsAsStoringAndLoadingDoes) {
  const FpuScope modes;
  const auto same = [](float got, float want) { return got == want || (std::isnan(got) && std::isnan(want)); };
  for (std::uint64_t bits = 0; bits < 0x100000000U; bits += 1021) {
    const float value = flush(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    const float half = Wide<F16>::load(Wide<F16>::round(value));
    const float brain = Wide<Bf16>::load(Wide<Bf16>::round(value));
    ASSERT_TRUE(same(narrow<F16>(value), half)) << std::hex << bits;
    ASSERT_TRUE(same(narrow<Bf16>(value), brain)) << std::hex << bits;
  }
}

TEST_F(SfuTest, WrongArgumentsAreRefused) {
  const dim4 shape{1, 3, 4, 5};
  const dim4 empty{1, 3, 0, 5};
  const local_addr_t other_npu = device_.chip().local_bytes;
  const auto taylor = [&](local_addr_t dst, local_addr_t src, local_addr_t coeff, const dim4* dim, int num, int type) {
    device_.expect_fault([=] { tpu_bdc_fp_taylor(dst, src, coeff, dim, num, static_cast<data_type_t>(type)); },
                         "tpu_bdc_fp_taylor: ");
  };
  taylor(0, 64 * 16, 4096, &shape, 1, DT_FP32);
  taylor(0, 64 * 16, 4096, &shape, -3, DT_FP32);
  taylor(0, 64 * 16, 4096, &shape, 70000, DT_FP32);
  taylor(0, 64 * 16, 4096, &shape, 2000000000, DT_FP32);
  taylor(0, 64 * 16, 4096, &empty, 4, DT_FP32);
  taylor(0, 64 * 16, 4096, nullptr, 4, DT_FP32);
  taylor(0, 64 * 16, 4096, &shape, 4, DT_INT32);
  taylor(0, 64 * 16, 4096, &shape, 4, 77);
  taylor(0, 64 * 16, 4100, &shape, 4, DT_FP32);
  taylor(8, 64 * 16, 4096, &shape, 4, DT_FP32);
  taylor(other_npu, 64 * 16, 4096, &shape, 4, DT_FP32);
  taylor(0, 64 * 16, 4096 + other_npu, &shape, 4, DT_FP32);
  taylor(0, other_npu - 64, 4096, &shape, 4, DT_FP32);
  const auto divide = [&](const dim4* stride, int type, int iterations, const char* text) {
    device_.expect_fault(
        [=, &shape] {
          tpu_bdc_fp_tunable_div(0, 4096, 8192, &shape, nullptr, nullptr, stride, static_cast<data_type_t>(type),
                                 iterations);
        },
        text);
  };
  const dim4 negative{60, 20, 5, -1};
  divide(nullptr, DT_FP32, 0, "num_iter (0) is outside 1..4");
  divide(nullptr, DT_FP32, 5, "num_iter (5) is outside 1..4");
  divide(nullptr, DT_UINT8, 3, "dst type is");
  divide(&negative, DT_FP32, 3, "src1 has a negative stride");
  device_.expect_fault([&] { tpu_bdc_fp32_sqrt(4096, 4096, &shape); }, "overlaps dst");
  device_.expect_fault([&] { tpu_bdc_fp32_tunable_sqrt(4096, 4160, &shape, 2); }, "overlaps dst");
  device_.expect_fault([&] { tpu_bdc_fp_sqrt(4096, 4096, &shape, DT_FP16); }, "overlaps dst");
  device_.expect_fault([&] { tpu_bdc_fp_tunable_sqrt(4096, 4096, &shape, DT_BFP16, 2); }, "overlaps dst");
  device_.expect_fault([&] { tpu_bdc_fp_exponent_part(0, 4096, &shape, DT_INT16, DT_FP32); }, "dst type is");
  device_.expect_fault([&] { tpu_bdc_fp_exponent_part(0, 4096, &shape, DT_INT32, DT_INT32); }, "src type is");
  device_.expect_fault([&] { tpu_bdc_table_lookup(0, 4096, 8192, &shape, 16, DT_FP32, DT_INT16); }, "src type is");
  device_.expect_fault([&] { tpu_bdc_table_lookup(0, 4096, 8192, &shape, 0, DT_FP32, DT_UINT8); }, "len (0)");
  device_.expect_fault([] { tpu_bdc_load_fp32_exp_table(32); }, "tpu_bdc_load_fp32_exp_table: ");
  device_.expect_fault([&] { tpu_bdc_load_fp32_exp_table(other_npu - 64); }, "ends at offset");
  device_.expect_fault([&] { tpu_bdc_load_fp32_exp_table(other_npu); }, "starts on NPU 1, it has to start on NPU 0");
  device_.expect_fault([&] { tpu_bdc_load_fp32_erf_coeff(other_npu); }, "starts on NPU 1, it has to start on NPU 0");
}

TEST_F(SfuTest, OneThreadGivesTheSameBitsAsMany) {
  const Dim4 shape{2, 64, 16, 60};
  const DeviceTensor src = aligned(Dtype::kFp32, shape, 5, 0x10000);
  const DeviceTensor dst = aligned(Dtype::kFp32, shape, 5, 0);
  const dim4 c_shape = src.c_shape();
  put(src, random_bits(Dtype::kFp32, shape.elements()));
  const auto kernel = [&] { tpu_bdc_fp32_sqrt(addr(dst), addr(src), &c_shape); };
  ASSERT_TRUE(device_.run(kernel).ok);
  const std::vector<std::uint8_t> many = device_.local_bytes();
  std::memset(memory(), 0, device_.chip().local_mem.bytes);
  random_.seed(seed_);
  put(src, random_bits(Dtype::kFp32, shape.elements()));
  set_thread_limit(1);
  ASSERT_TRUE(device_.run(kernel).ok);
  set_thread_limit(0);
  EXPECT_TRUE(many == device_.local_bytes());
}

}  // namespace
}  // namespace softtpu::sfu_test
