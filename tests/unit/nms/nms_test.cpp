// Suppression of boxes against the plain reference on random inputs; refusals.
#include <gtest/gtest.h>

#include "tests/unit/hau_fixture.hpp"

namespace softtpu::nms_test {
namespace {

class Nms : public HauTest {};

TEST_F(Nms, SuppressesBoxes) {
  for (int i = 0; i < 60; ++i) {
    const int boxes = between(1, 60);
    const int keep = coin() ? 0 : between(1, 20);
    scramble();
    const auto count = static_cast<std::size_t>(boxes);
    std::vector<std::uint8_t> mask(device.global<std::uint8_t>(src), device.global<std::uint8_t>(src) + count * count);
    for (std::uint8_t& flag : mask) flag |= static_cast<std::uint8_t>(between(0, 6) != 0);
    std::memcpy(device.global<std::uint8_t>(src), mask.data(), mask.size());
    take_copy();
    expect_accepted([&] { tpu_hau_hard_nms(dst, src, boxes, keep); }, "hard_nms");
    const auto bitmap = reference::hard_nms(mask, boxes, keep);
    std::memcpy(model.global.data(), bitmap.data(), bitmap.size());
    expect_equal("hard_nms");

    std::vector<float> coeff(count * count), score(count);
    for (float& value : coeff) value = static_cast<float>(between(0, 100)) / 100;
    for (float& value : score) value = static_cast<float>(between(0, 50)) / 50;
    std::memcpy(device.global<float>(src), coeff.data(), coeff.size() * 4);
    std::memcpy(device.global<float>(src_index + 8192), score.data(), score.size() * 4);
    take_copy();
    const float threshold = static_cast<float>(between(0, 40)) / 100;
    expect_accepted([&] { tpu_hau_soft_nms(dst, src, src_index + 8192, threshold, boxes, keep); }, "soft_nms");
    const auto soft = reference::soft_nms(coeff, score, threshold, keep);
    std::memcpy(model.global.data(), soft.data(), soft.size());
    expect_equal("soft_nms");
    if (HasFatalFailure()) return;
  }
}

// Several blocks of boxes, and numbers of them that fill no block.
TEST_F(Nms, SuppressesManyBoxes) {
  constexpr std::uint64_t kMega = 1 << 20;
  const std::uint64_t to = device.scratch() + kMega, from = to + kMega, scores = to + 512 * 1024;
  for (int i = 0; i < 24 && !HasFailure(); ++i) {
    const int boxes = i < 4 ? 255 + i : between(60, 900), rarely = std::array{3, 40, 400, 4000}[std::size_t(i % 4)];
    const int keep = coin() ? 0 : between(1, boxes);
    const auto count = static_cast<std::size_t>(boxes);
    std::vector<std::uint8_t> mask(count * count);
    for (std::uint8_t& flag : mask)
      flag = static_cast<std::uint8_t>(random() & 0xFEU) | static_cast<std::uint8_t>(between(0, rarely) != 0);
    std::memcpy(device.global<std::uint8_t>(from), mask.data(), mask.size());
    const auto want = reference::hard_nms(mask, boxes, keep);
    std::vector<float> coeff(count * count), score(count);
    for (float& value : coeff) value = static_cast<float>(between(0, 100)) / 100;
    for (float& value : score) value = static_cast<float>(between(0, 50)) / 50;
    const float threshold = static_cast<float>(between(1, 40)) / 100;  // above what has become subnormal
    const auto want_soft = reference::soft_nms(coeff, score, threshold, keep);
    for (const int threads : {1, 0, 3}) {
      set_thread_limit(threads == 3 ? 0 : threads);
      set_parallel_threshold(threads == 3 ? 0 : kParallelSteps);
      const auto expect = [&](const char* what, const std::vector<std::uint8_t>& bitmap, auto kernel) {
        std::memset(device.global<std::uint8_t>(to), 0xA5, bitmap.size() + 1);
        const LaunchOutcome outcome = device.run(kernel);
        ASSERT_TRUE(outcome.ok) << outcome.text;
        EXPECT_EQ(std::memcmp(device.global<std::uint8_t>(to), bitmap.data(), bitmap.size()), 0)
            << what << ", " << boxes << " boxes, keep " << keep << ", threads " << threads;
        EXPECT_EQ(device.global<std::uint8_t>(to)[bitmap.size()], 0xA5) << what;
      };
      std::memcpy(device.global<std::uint8_t>(from), mask.data(), mask.size());
      expect("hard", want, [&] { tpu_hau_hard_nms(to, from, boxes, keep); });
      std::memcpy(device.global<float>(from), coeff.data(), coeff.size() * 4);
      std::memcpy(device.global<float>(scores), score.data(), score.size() * 4);
      expect("soft", want_soft, [&] { tpu_hau_soft_nms(to, from, scores, threshold, boxes, keep); });
    }
  }
  set_parallel_threshold(kParallelSteps);
  set_thread_limit(0);
}

TEST_F(Nms, RefusesAndChangesNothing) {
  expect_refused([&] { tpu_hau_hard_nms(dst, src, 0, 0); }, "box_num (0) is outside 1..16777215");
  expect_refused([&] { tpu_hau_hard_nms(dst, src, 4, -1); }, "keep_num (-1) is outside");
  expect_refused([&] { tpu_hau_hard_nms(dst, src, 16777215, 0); }, "does not lie inside one memory");
}

}  // namespace
}  // namespace softtpu::nms_test
