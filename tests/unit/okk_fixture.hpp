// A BM1684 for unit tests: random tensors in local memory and comparison of all of local memory after a call.
#pragma once

#include <random>

#include "okk.h"
#include "tests/unit/device_fixture.hpp"
#include "tests/unit/local_tensor.hpp"

namespace softtpu {

class OkkTest : public testing::Test {
 protected:
  using Words = std::vector<std::uint32_t>;

  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  Dim4 random_shape() { return {number(1, 5), number(1, 70), number(1, 4), number(1, 40)}; }
  // Words: f32 of ordinary size, special values, or any bits.
  Words random_words(std::int64_t count) {
    static const std::uint32_t kSpecial[] = {0,          0x80000000, 1,          0x80000001, 0x7FFFFF,   0x800000,
                                             0x3F800000, 0xBF800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001,
                                             0xFFABCDEF, 0x7FC00000, 0x33800000, 0xC2FE0000};
    Words words(static_cast<std::size_t>(count));
    for (std::uint32_t& word : words) {
      const auto any = static_cast<std::uint32_t>(random_());
      const float ordinary = std::uniform_real_distribution<float>(-30, 30)(random_);
      word = (any & 7U) == 0   ? kSpecial[any >> 8 & 15U]
             : (any & 7U) == 1 ? any
                               : std::bit_cast<std::uint32_t>(ordinary);
    }
    return words;
  }

  LocalTensor aligned(const Dim4& shape, int npu, std::uint32_t offset) {
    return LocalTensor::aligned(device_.chip(), Dtype::kFp32, shape, npu, offset);
  }
  // The same place with strides of its own.
  LocalTensor spread(LocalTensor tensor) {
    tensor.stride.w = number(1, 2);
    tensor.stride.h = tensor.stride.w * tensor.shape.w + number(0, 3);
    tensor.stride.c = tensor.stride.h * tensor.shape.h + number(0, 3);
    tensor.stride.n = tensor.stride.c * 3 + number(0, 3);
    return tensor;
  }
  local_addr_t addr(const LocalTensor& tensor) { return tensor.addr(device_.chip()); }
  std::uint8_t* memory() { return device_.memories().local(0); }
  Words put_random(const LocalTensor& tensor) {
    Words words = random_words(tensor.shape.elements());
    tensor.write(device_.chip(), memory(), words);
    return words;
  }

  // Runs the kernel; all of local memory has to stay as it was but for dst, which holds `want`.
  void expect_result(const std::function<void()>& kernel, const LocalTensor& dst, const Words& want,
                     const std::string& what) {
    image_.assign(memory(), memory() + device_.chip().local_mem.bytes);
    dst.write(device_.chip(), image_.data(), want);
    const LaunchOutcome outcome = device_.run(kernel);
    ASSERT_TRUE(outcome.ok) << what << ": " << outcome.text;
    const Words got = dst.read(device_.chip(), memory());
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(got[i], want[i]) << what << ", element " << i << " of " << to_text(dst.shape);
    }
    ASSERT_EQ(std::memcmp(image_.data(), memory(), image_.size()), 0) << what << ": bytes outside of dst changed";
  }

  TestDevice device_{"bm1684"};
  std::vector<std::uint8_t> image_;
  std::mt19937 random_{20250704};
};

}  // namespace softtpu
