// Tiles turned in registers are the tiles that the plain loop turns, for every instruction set of this machine, every
// size of tile and element, and nothing outside of them is written.
#include "device/memory/transpose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "device/memory/kernel_choice.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu::transpose_test {
namespace {

constexpr int kSide = Tiles::kSide;

class Transpose : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!set_simd_limit(GetParam())) GTEST_SKIP() << "this machine has no " << GetParam();
  }
  void TearDown() override { set_simd_limit(""); }

  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  // Full tiles, those of one register and their neighbours as often as all others.
  int side() {
    constexpr int kUsual[] = {1, 4, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64};
    return number(0, 1) == 0 ? kUsual[number(0, static_cast<int>(std::size(kUsual)) - 1)] : number(1, kSide);
  }

  // Rows of `length` bytes for each of `count` tiles, in any order with gaps of any size.
  struct Side {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> rows;
    std::int64_t step = 0;
  };
  Side make_side(int rows, int count, int length, int size) {
    const auto gap = [&] { return std::int64_t{number(0, 3)} * size; };
    Side made;
    made.step = length + gap();
    const std::int64_t apart = count * made.step + gap();
    for (int i = 0; i < rows; ++i) made.rows.push_back(i * apart);
    std::shuffle(made.rows.begin(), made.rows.end(), random_);
    made.bytes.resize(static_cast<std::size_t>(rows * apart));
    for (auto& byte : made.bytes) byte = static_cast<std::uint8_t>(random_());
    return made;
  }

  std::mt19937 random_{20261122};
};

TEST_P(Transpose, TilesEqualThoseOfThePlainLoop) {
  // The fuzzers' build has one instruction set.
  if (fast_turn_tiles(1) == nullptr) GTEST_SKIP() << "this build has no loops for " << GetParam();
  for (int trial = 0; trial < 2000; ++trial) {
    const int size = 1 << number(0, 2);
    Tiles tiles;
    tiles.rows = side();
    tiles.cols = side();
    tiles.count = number(1, 9);
    const auto count = static_cast<int>(tiles.count);
    const Side src = make_side(tiles.cols, count, tiles.rows * size, size);
    Side fast = make_side(tiles.rows, count, tiles.cols * size, size);
    Side plain = fast;
    tiles.src_step = src.step;
    tiles.dst_step = fast.step;
    for (std::size_t j = 0; j < src.rows.size(); ++j) tiles.src[j] = src.bytes.data() + src.rows[j];
    for (Side* side : {&fast, &plain}) {
      for (std::size_t i = 0; i < side->rows.size(); ++i) tiles.dst[i] = side->bytes.data() + side->rows[i];
      (side == &fast ? fast_turn_tiles(size) : plain_turn_tiles(size))(tiles);
    }
    ASSERT_EQ(fast.bytes, plain.bytes) << tiles.rows << " x " << tiles.cols << " of " << size << " bytes, " << count;
    for (int trials = 0; trials < 20; ++trials) {
      const auto t = number(0, count - 1), i = number(0, tiles.rows - 1), j = number(0, tiles.cols - 1);
      const auto* to = plain.bytes.data() + plain.rows[static_cast<std::size_t>(i)] + t * plain.step + j * size;
      const auto* from = src.bytes.data() + src.rows[static_cast<std::size_t>(j)] + t * src.step + i * size;
      ASSERT_TRUE(std::equal(to, to + size, from));
    }
  }
}

// Tensors of several tiles, many channels in each NPU, with gaps between rows.
TEST_P(Transpose, ChannelsBecomeColumns) {
  const auto memories = std::move(*Memories::create(*load_chip("bm1684x")));
  const int npu_num = memories->chip().npu_num;
  constexpr Dtype kTypes[] = {Dtype::kInt8, Dtype::kFp16, Dtype::kFp32};
  constexpr std::uint32_t kHalf = 128 * 1024;  // of an NPU's memory: src, then dst
  const auto make = [&](const Dim4& shape, Dtype type, std::uint32_t offset) {
    const int npu = number(0, npu_num - 1);
    const auto addr = static_cast<unsigned>(npu) * memories->chip().local_bytes + offset;
    Tensor made{Space::kLocal, addr, shape, {}, type, false};
    made.stride.w = 1;
    made.stride.h = shape.w + (number(0, 1) == 0 ? 0 : number(1, 3));
    made.stride.c = shape.h * made.stride.h + number(0, 3);
    made.stride.n = ((npu + shape.c - 1) / npu_num + 1) * made.stride.c;
    return made;
  };
  const auto image = [&] {
    return std::vector<std::uint8_t>(memories->local(0), memories->local(0) + memories->chip().local_mem.bytes);
  };
  for (auto* byte = memories->local(0); byte != memories->local(0) + memories->chip().local_mem.bytes; ++byte)
    *byte = static_cast<std::uint8_t>(random_());
  for (int trial = 0; trial < 48; ++trial) {
    const Dtype type = kTypes[trial % 3];
    Dim4 shape = {number(1, 2), number(1, 150), number(1, 12), number(1, 150)};
    if (trial >= 12) {  // few channels, or columns, whose rows may follow each other
      shape.h = number(1, 40);
      (trial % 2 == 0 ? shape.c : shape.w) = number(1, 40);
    }
    const Tensor src = make({shape.n, shape.w, shape.h, shape.c}, type, 0);
    const Tensor dst = make(shape, type, kHalf);
    std::vector<std::uint8_t> want = image();
    const TensorView to(*memories, dst), from(*memories, src);
    const auto size = static_cast<std::size_t>(size_of(type));
    for (int n = 0; n < shape.n; ++n)
      for (int c = 0; c < shape.c; ++c)
        for (int h = 0; h < shape.h; ++h)
          for (int w = 0; w < shape.w; ++w)
            std::copy_n(from.byte_at(n, w, h, c, size), size,
                        want.begin() + (to.byte_at(n, c, h, w, size) - memories->local(0)));
    exchange_channels_and_columns(shape, size_of(type), to, from);
    ASSERT_TRUE(image() == want) << to_text(dst) << " from " << to_text(src);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Transpose, testing::Values("sse4", "avx2", "avx512", "neon"));

}  // namespace
}  // namespace softtpu::transpose_test
