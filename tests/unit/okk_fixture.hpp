// A BM1684 for unit tests: random tensors in local memory, and a mirror of what all of local memory has to hold after a
// call. Every other trial runs on one thread.
#pragma once

#include <bit>
#include <random>

#include "device/memory/parallel.hpp"
#include "okk.h"
#include "tests/unit/device_fixture.hpp"
#include "tests/unit/device_tensor.hpp"

namespace softtpu {

class OkkTest : public testing::Test {
 protected:
  using Words = std::vector<std::uint32_t>;

  ~OkkTest() override { set_thread_limit(0); }

  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool flip() { return number(0, 1) != 0; }
  Dim4 random_shape() { return {number(1, 5), number(1, 70), number(1, 4), number(1, 40)}; }
  // f32 of ordinary size, a special value, a small integer, or any bits.
  std::uint32_t random_word() {
    static const std::uint32_t kSpecial[] = {0,          0x80000000, 1,          0x80000001, 0x7FFFFF,   0x800000,
                                             0x3F800000, 0xBF800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001,
                                             0xFFABCDEF, 0x7FC00000, 0x33800000, 0xC2FE0000};
    const auto any = static_cast<std::uint32_t>(random_());
    switch (any & 7U) {
      case 0: return kSpecial[any >> 8 & 15U];
      case 1: return any;
      case 2: return static_cast<std::uint32_t>(number(-70, 70));
      default: return std::bit_cast<std::uint32_t>(std::uniform_real_distribution<float>(-30, 30)(random_));
    }
  }
  Words random_words(std::int64_t count) {
    Words words(static_cast<std::size_t>(count));
    for (std::uint32_t& word : words) word = random_word();
    return words;
  }

  DeviceTensor aligned(const Dim4& shape, int npu, std::uint32_t offset) {
    return DeviceTensor::aligned(device_.chip(), Dtype::kFp32, shape, npu, offset);
  }
  // The same place with strides of its own.
  DeviceTensor spread(DeviceTensor tensor) {
    tensor.stride.w = number(1, 2);
    tensor.stride.h = tensor.stride.w * tensor.shape.w + number(0, 3);
    tensor.stride.c = tensor.stride.h * tensor.shape.h + number(0, 3);
    tensor.stride.n = tensor.stride.c * 3 + number(0, 3);
    return tensor;
  }
  // Elements that repeat along one dimension or two.
  DeviceTensor repeated(DeviceTensor tensor) {
    std::int64_t* steps[] = {&tensor.stride.n, &tensor.stride.c, &tensor.stride.h, &tensor.stride.w};
    *steps[number(0, 3)] = 0;
    *steps[number(0, 3)] = 0;
    return tensor;
  }
  local_addr_t addr(const DeviceTensor& tensor) { return tensor.addr(device_.chip()); }
  std::uint8_t* memory() { return device_.memories().local(0); }

  void put(const DeviceTensor& tensor, const Words& words) {
    tensor.write(device_.chip(), memory(), words);
    tensor.write(device_.chip(), image_.data(), words);
  }
  // What the tensor holds after random words were put there; words of repeated elements are read back.
  Words put_random(const DeviceTensor& tensor) {
    put(tensor, random_words(tensor.shape.elements()));
    return tensor.read(device_.chip(), image_.data());
  }
  // After the next call dst has to hold `want`.
  void want(const DeviceTensor& dst, const Words& words) { dst.write(device_.chip(), image_.data(), words); }

  // Runs the kernel: afterwards all of local memory has to be what was put and is wanted. The tensors in `scratch` may
  // hold anything.
  void expect_image(const std::function<void()>& kernel, const std::string& what,
                    const std::vector<DeviceTensor>& scratch = {}) {
    set_thread_limit(++trials_ % 2 == 0 ? 0 : 1);
    const LaunchOutcome outcome = device_.run(kernel);
    ASSERT_TRUE(outcome.ok) << what << ": " << outcome.text;
    for (const DeviceTensor& tensor : scratch) {
      tensor.write(device_.chip(), image_.data(), tensor.read(device_.chip(), memory()));
    }
    if (const auto different = image_.find_difference(device_.local_image())) {
      std::size_t at = *different;
      const auto bytes = static_cast<std::size_t>(device_.chip().local_bytes);
      at -= at % 4;
      std::uint32_t word[2];
      std::memcpy(&word[0], memory() + at, 4);
      std::memcpy(&word[1], image_.data() + at, 4);
      FAIL() << what << ": NPU " << at / bytes << " offset 0x" << std::hex << at % bytes << " is 0x" << word[0]
             << ", expected 0x" << word[1];
    }
    device_.oracle().confirm();
  }
  void expect_result(const std::function<void()>& kernel, const DeviceTensor& dst, const Words& words,
                     const std::string& what) {
    want(dst, words);
    expect_image(kernel, what);
  }

  TestDevice device_{"bm1684"};
  reference::Image image_ = device_.local_image();
  std::mt19937 random_{20250704};
  int trials_ = 0;
};

}  // namespace softtpu
