// Random calls of element-wise functions against a reference for one element: shapes, start NPUs, free and zero
// strides, operands in place. All of local memory is compared, so that a stray write is seen.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "device/memory/parallel.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tests/unit/device_tensor.hpp"
#include "tests/unit/kernel_codes.hpp"

namespace softtpu {

inline constexpr std::uint32_t kOperandStep = 0x8000;  // operands lie this far apart in every NPU

// One operand of a call, as a kernel passes it.
struct CallOperand {
  DeviceTensor tensor;
  local_addr_t addr = 0;
  dim4 stride = {};
  bool natural = false;
  const dim4* strides() const { return natural ? nullptr : &stride; }
  data_type_t type() const { return static_cast<data_type_t>(tensor.type); }
};

class ElementwiseTest : public testing::Test {
 protected:
  enum class Layouts { kAny, kAligned, kAlignedApart };  // kAlignedApart: never in place
  using Kernel = std::function<void(const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape)>;
  // The bits of one result element; `src` tells how the operands were passed.
  using Element =
      std::function<std::uint32_t(const std::vector<std::uint32_t>& values, const std::vector<CallOperand>& src)>;

  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int of) { return number(1, of) == 1; }
  template <class List>
  auto pick(const List& list) {
    return list[static_cast<std::size_t>(number(0, static_cast<int>(std::size(list)) - 1))];
  }
  Rounding any_rounding() { return static_cast<Rounding>(number(0, 6)); }
  Rounding integral_rounding() { return static_cast<Rounding>(number(0, 4)); }
  Dim4 random_shape() { return {number(1, 3), number(1, 130), number(1, 4), number(1, 36)}; }

  // Half of the values are special ones of the type.
  std::uint32_t random_bits(Dtype type) {
    static const std::uint32_t kSpecial32[] = {0,          0x80000000, 1,          0x807FFFFF, 0x00800000, 0x3F800000,
                                               0xBF800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFABCDEF,
                                               0x40200000, 0xBFC00000, 0x477FF000, 0x33000001, 0x38FFFFFF, 0x4F000000,
                                               0x7FFFFFFF, 0xFFFFFFFF, 0x0000FFFF, 0x00010000, 0x477FE001, 0xC77FF000};
    static const std::uint32_t kSpecial16[] = {0,      0x8000, 1,      0x8001, 0x3FF,  0x400,  0x7F,   0x80,
                                               0x3C00, 0x3F80, 0x7BFF, 0x7C00, 0xFC00, 0x7F80, 0xFF80, 0x7FFF,
                                               0x4020, 0x4100, 0xFFFF, 0x00FF, 0x0100, 0x7C01, 0xFF81, 0xBE00};
    const auto any = static_cast<std::uint32_t>(random_());
    const std::uint32_t mask = size_of(type) == 4 ? ~0U : (1U << 8 * size_of(type)) - 1;
    if ((any & 1U) == 0) return (size_of(type) == 4 ? pick(kSpecial32) : pick(kSpecial16)) & mask;
    if (is_integer(type) || (any & 2U) == 0) return static_cast<std::uint32_t>(random_()) & mask;
    const std::uint32_t single = std::bit_cast<std::uint32_t>(std::uniform_real_distribution<float>(-99, 99)(random_));
    return type == Dtype::kFp32 ? single : single >> 16;
  }
  std::vector<std::uint32_t> random_values(Dtype type, std::int64_t count) {
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(count));
    for (std::uint32_t& value : bits) value = random_bits(type);
    return bits;
  }

  CallOperand operand(Dtype type, const Dim4& shape, int npu, int slot, Layouts layouts, bool may_repeat) {
    CallOperand made;
    made.tensor =
        DeviceTensor::aligned(device_.chip(), type, shape, npu, static_cast<std::uint32_t>(slot) * kOperandStep);
    made.natural = layouts != Layouts::kAny || chance(2);
    if (!made.natural) spread(made.tensor, may_repeat);
    made.stride = made.tensor.c_stride();
    made.addr = made.tensor.addr(device_.chip());
    return made;
  }

  // Calls the kernel on random operands and compares with `element`.
  void check(const std::string& what, Dtype dst_type, const std::vector<Dtype>& types, Layouts layouts,
             const Kernel& kernel, const Element& element) {
    const Dim4 shape = random_shape();
    const int npu = number(0, device_.chip().npu_num - 1);
    std::vector<CallOperand> src;
    for (std::size_t i = 0; i < types.size(); ++i)
      src.push_back(operand(types[i], shape, npu, static_cast<int>(i) + 1, layouts, true));
    CallOperand dst = operand(dst_type, shape, npu, 0, layouts, false);
    for (const CallOperand& source : src)
      source.tensor.write(device_.chip(), memory(), random_values(source.tensor.type, shape.elements()));
    // In place: dst is exactly a source that does not repeat elements.
    if (!src.empty() && src[0].tensor.type == dst_type && !repeats(src[0].tensor) &&
        layouts != Layouts::kAlignedApart && chance(4))
      dst = src[0];
    std::vector<std::vector<std::uint32_t>> values;
    for (const CallOperand& source : src) values.push_back(source.tensor.read(device_.chip(), memory()));
    std::vector<std::uint32_t> want(static_cast<std::size_t>(shape.elements()));
    std::vector<std::uint32_t> tuple(src.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      for (std::size_t k = 0; k < src.size(); ++k) tuple[k] = values[k][i];
      want[i] = element(tuple, src);
    }
    const dim4 c_shape = dst.tensor.c_shape();
    expect_memory(what, [&] { kernel(dst, src, &c_shape); }, {{dst.tensor, want}});
  }

  struct Written {
    DeviceTensor tensor;
    std::vector<std::uint32_t> bits;
  };
  // Runs the kernel; afterwards all of local memory is what it was, but for the written tensors.
  void expect_memory(const std::string& what, const std::function<void()>& kernel,
                     const std::vector<Written>& written) {
    image_ = device_.local_image();
    const bool again = chance(4);
    if (again) start_ = image_;
    for (const Written& part : written) part.tensor.write(device_.chip(), image_.data(), part.bits);
    const LaunchOutcome outcome = device_.run(kernel);
    ASSERT_TRUE(outcome.ok) << what << ": " << outcome.text;
    for (const Written& part : written) {
      const std::vector<std::uint32_t> got = part.tensor.read(device_.chip(), memory());
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], part.bits[i]) << what << ", element " << i << " of " << to_text(part.tensor.shape);
      }
    }
    ASSERT_TRUE(image_ == device_.local_image()) << what << ": bytes outside of dst changed";
    device_.oracle().confirm();
    if (again) expect_same_with_one_thread(what, kernel);
  }

  std::uint8_t* memory() { return device_.memories().local(0); }

  TestDevice device_;
  std::mt19937 random_{20240611};

 private:
  // From the same start, on one thread: the same bytes.
  void expect_same_with_one_thread(const std::string& what, const std::function<void()>& kernel) {
    device_.local_image() = start_;
    set_thread_limit(1);
    const LaunchOutcome outcome = device_.run(kernel);
    set_thread_limit(0);
    ASSERT_TRUE(outcome.ok) << what << ": " << outcome.text;
    ASSERT_TRUE(image_ == device_.local_image()) << what << ": one thread differs from many";
    device_.oracle().forget();
  }
  static bool repeats(const DeviceTensor& tensor) {
    const Stride4& stride = tensor.stride;
    return stride.n == 0 || stride.c == 0 || stride.h == 0 || stride.w == 0;
  }
  void spread(DeviceTensor& tensor, bool may_repeat) {
    Stride4& stride = tensor.stride;
    stride.w = number(1, 2);
    stride.h = stride.w * tensor.shape.w + number(0, 3);
    stride.c = stride.h * tensor.shape.h + number(0, 3);
    stride.n = stride.c * 4 + number(0, 3);
    if (!may_repeat) return;
    if (chance(4)) stride.w = 0;
    if (chance(4)) stride.h = 0;
    if (chance(4)) stride.c = 0;
    if (chance(4)) stride.n = 0;
  }

  reference::Image start_, image_;  // of local memory, before and after
};

// Operands in the aligned layout, each with its values.
class TensorTest : public ElementwiseTest {
 protected:
  DeviceTensor made(Dtype type, const Dim4& shape, int npu, int slot) {
    const DeviceTensor tensor = operand(type, shape, npu, slot, Layouts::kAligned, false).tensor;
    tensor.write(device_.chip(), memory(), random_values(type, shape.elements()));
    return tensor;
  }
  std::vector<std::uint32_t> read(const DeviceTensor& tensor) { return tensor.read(device_.chip(), memory()); }
  local_addr_t at(const DeviceTensor& tensor) { return tensor.addr(device_.chip()); }
};

}  // namespace softtpu
