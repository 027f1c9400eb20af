// Results that lie upon their operands in another layout: all operands are read before anything is written, as recorded
// (golden-bmodel bm1684x/instr_2 ar/0039, ar/0240, ar/0306).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/command.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/sources_apart.hpp"

namespace softtpu::overlapping_sources_test {
namespace {

constexpr std::int64_t kUsed = 0x4000;  // of each NPU's memory

Tensor tensor(std::uint64_t addr, const Dim4& shape, const Stride4& stride, Dtype type) {
  return {Space::kLocal, addr, shape, stride, type, false};
}

class OverlappingSources : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    set_plain_kernels(GetParam());
    set_parallel_threshold(0);
    memories_ = std::move(*Memories::create(*load_chip("bm1684x")));
    std::mt19937 random(7);
    for (int npu = 0; npu < memories_->chip().npu_num; ++npu) {
      for (std::int64_t i = 0; i < kUsed; ++i) memories_->local(npu)[i] = static_cast<std::uint8_t>(random());
    }
  }
  void TearDown() override { set_plain_kernels(false); }

  // Every byte afterwards, where `combine` makes the results of elements of 16 bits in the order n, c, h, w from a copy
  // of the memory.
  std::vector<std::uint8_t> expect(const Tensor& dst, const Tensor& a, const Tensor& b,
                                   std::uint16_t (*combine)(std::uint16_t, std::uint16_t)) const {
    const std::vector<std::uint8_t> before = bytes();
    std::vector<std::uint8_t> after = before;
    const Chip& chip = memories_->chip();
    const auto place = [&](const Tensor& of, int n, int c, int h, int w) {
      const int lane = chip.npu_of(of.addr) + c;
      const std::int64_t elements =
          n * of.stride.n + lane / chip.npu_num * of.stride.c + h * of.stride.h + w * of.stride.w;
      return static_cast<std::size_t>(lane % chip.npu_num * kUsed + chip.offset_of(of.addr) + 2 * elements);
    };
    const Dim4& shape = dst.shape;
    for (int n = 0; n < shape.n; ++n)
      for (int c = 0; c < shape.c; ++c)
        for (int h = 0; h < shape.h; ++h)
          for (int w = 0; w < shape.w; ++w) {
            std::uint16_t x = 0, y = 0;
            std::memcpy(&x, before.data() + place(a, n, c, h, w), sizeof(x));
            std::memcpy(&y, before.data() + place(b, n, c, h, w), sizeof(y));
            const std::uint16_t made = combine(x, y);
            std::memcpy(after.data() + place(dst, n, c, h, w), &made, sizeof(made));
          }
    return after;
  }
  std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> all;
    for (int npu = 0; npu < memories_->chip().npu_num; ++npu)
      all.insert(all.end(), memories_->local(npu), memories_->local(npu) + kUsed);
    return all;
  }

  std::unique_ptr<Memories> memories_;
};

// Aligned upon compact, shifted by 64 bytes, upon each other, repeated: what instructions of networks may ask for.
TEST_P(OverlappingSources, AreReadBeforeTheResultIsWritten) {
  const Dim4 shape{2, 70, 5, 9};
  const Stride4 aligned{128, 64, 9, 1}, compact{90, 45, 9, 1}, wide{256, 128, 18, 2}, narrow{8, 4, 1, 1},
      one{0, 0, 0, 0};
  const std::pair<Tensor, Tensor> cases[] = {
      {tensor(0x400, shape, aligned, Dtype::kInt16), tensor(0x400, shape, compact, Dtype::kInt16)},
      {tensor(0x440, shape, aligned, Dtype::kInt16), tensor(0x400, shape, aligned, Dtype::kInt16)},
      {tensor(0x3C0, shape, aligned, Dtype::kInt16), tensor(0x400, shape, wide, Dtype::kInt16)},
      {tensor(0x404, shape, wide, Dtype::kInt16), tensor(0x400, shape, aligned, Dtype::kInt16)},
      {tensor(0x420, shape, narrow, Dtype::kInt16), tensor(0x400, shape, aligned, Dtype::kInt16)},
      {tensor(0x400, shape, aligned, Dtype::kInt16), tensor(0x480, shape, one, Dtype::kInt16)},
  };
  for (const auto& [dst, source] : cases) {
    SCOPED_TRACE(&dst - &cases[0].first);
    ASSERT_TRUE(is_overwritten(memories_->chip(), dst, source));
    const Tensor other = tensor(0x2000, shape, aligned, Dtype::kInt16);
    const auto copied = expect(dst, source, other, [](std::uint16_t x, std::uint16_t) { return x; });
    execute(*memories_, CopyCmd{dst, source});
    EXPECT_TRUE(bytes() == copied);
    const auto wanted =
        expect(dst, source, other, [](std::uint16_t x, std::uint16_t y) { return static_cast<std::uint16_t>(x ^ y); });
    execute(*memories_, ArithCmd{ArithMode::kXor, dst, source, other});
    EXPECT_TRUE(bytes() == wanted);
    const auto sums =
        expect(dst, other, source, [](std::uint16_t x, std::uint16_t y) { return static_cast<std::uint16_t>(x + y); });
    execute(*memories_, IntArithCmd{IntMode::kAdd, dst, other, source, Scalar{0, Dtype::kInt8}, {}, false});
    EXPECT_TRUE(bytes() == sums);
  }
}

// A comparison that decides two results: either may lie upon what it compares or chooses from.
TEST_P(OverlappingSources, AreReadBeforeASecondResultIsWritten) {
  const Dim4 shape{2, 70, 5, 9};
  const Stride4 aligned{128, 64, 9, 1};
  const Tensor a = tensor(0x400, shape, aligned, Dtype::kUint16), b = tensor(0x1000, shape, aligned, Dtype::kUint16);
  const auto greater = [](std::uint16_t x, std::uint16_t y) { return std::max(x, y); };
  for (const std::uint64_t at : {0x440U, 0x3C0U, 0x1040U}) {
    SCOPED_TRACE(at);
    const Tensor winner = tensor(at, shape, aligned, Dtype::kUint16);
    const Tensor dst = tensor(0x2000, shape, aligned, Dtype::kUint16);
    // What is chosen is what is compared, so that both results are the same.
    std::vector<std::uint8_t> wanted = expect(winner, a, b, greater);
    const std::vector<std::uint8_t> second = expect(dst, a, b, greater), before = bytes();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (second[i] != before[i]) wanted[i] = second[i];
    }
    execute(*memories_, SelectCmd{Compare::kGreater, dst, winner, a, b, a, b});
    EXPECT_TRUE(bytes() == wanted);
  }
}

// The usual ways to work in place are no reason for a copy.
TEST_P(OverlappingSources, InPlaceOrNarrowerNothingIsCopied) {
  const Dim4 shape{2, 70, 5, 9};
  const Chip& chip = memories_->chip();
  const Stride4 aligned{128, 64, 9, 1}, of_words{96, 48, 9, 1};
  const Tensor dst = tensor(0x400, shape, aligned, Dtype::kInt16);
  EXPECT_FALSE(is_overwritten(chip, dst, dst));
  EXPECT_FALSE(is_overwritten(chip, dst, tensor(0x400, shape, of_words, Dtype::kInt32)));
  EXPECT_FALSE(is_overwritten(chip, dst, tensor(0x800, shape, aligned, Dtype::kInt16)));
  EXPECT_TRUE(is_overwritten(chip, dst, tensor(0x400, shape, aligned, Dtype::kInt8)));
}

INSTANTIATE_TEST_SUITE_P(Loops, OverlappingSources, testing::Bool(),
                         [](const auto& of) { return of.param ? "plain" : "fast"; });

}  // namespace
}  // namespace softtpu::overlapping_sources_test
