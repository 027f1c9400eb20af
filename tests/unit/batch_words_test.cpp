// softtpu/layout.h: 8- and 16-bit tensors packed on the host lie in local memory as the 4N and 2N modes say, and come
// back.
#include <gtest/gtest.h>
#include <okk.h>

#include <algorithm>
#include <random>

#include "runtime/layout/placement.hpp"
#include "softtpu/layout.h"
#include "tests/unit/device_fixture.hpp"

namespace softtpu::batch_words_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::size_t plain_bytes(const softtpu_batch_words_t& t) {
  return static_cast<std::size_t>(t.n) * static_cast<std::size_t>(t.c * t.h * t.w * 4 / t.n_pack);
}

Bytes packed(const softtpu_batch_words_t& tensor, const Bytes& plain) {
  Bytes words(softtpu_batch_words_bytes(&tensor), 0xCD);
  EXPECT_EQ(softtpu_batch_pack(&tensor, plain.data(), plain.size(), words.data(), words.size()), 0)
      << softtpu_layout_error();
  return words;
}

class BatchWordsTest : public testing::Test {
 protected:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  softtpu_batch_words_t random_tensor(int pack) { return {pick(1, 9), pick(1, 70), pick(1, 4), pick(1, 9), pack}; }
  // No byte is zero, so that fill shows.
  Bytes random_bytes(std::size_t count) {
    Bytes bytes(count);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::uint8_t>(pick(1, 255)); });
    return bytes;
  }

  std::mt19937 random_{1};
};

TEST_F(BatchWordsTest, WordsHoldNeighbouringBatches) {
  const softtpu_batch_words_t bytes = {6, 1, 1, 2, SOFTTPU_4N};
  EXPECT_EQ(packed(bytes, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
            (Bytes{1, 3, 5, 7, 2, 4, 6, 8, 9, 11, 0, 0, 10, 12, 0, 0}));
  const softtpu_batch_words_t halves = {3, 1, 1, 2, SOFTTPU_2N};
  EXPECT_EQ(packed(halves, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
            (Bytes{1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 0, 0, 11, 12, 0, 0}));
}

TEST_F(BatchWordsTest, BothWaysOnRandomSizes) {
  for (int trial = 0; trial < 200; ++trial) {
    const softtpu_batch_words_t tensor = random_tensor(trial % 2 == 0 ? SOFTTPU_4N : SOFTTPU_2N);
    const Bytes plain = random_bytes(plain_bytes(tensor));
    const Bytes words = packed(tensor, plain);
    EXPECT_EQ(words.size() - static_cast<std::size_t>(std::count(words.begin(), words.end(), 0)), plain.size());
    Bytes again(plain.size());
    ASSERT_EQ(softtpu_batch_unpack(&tensor, words.data(), words.size(), again.data(), again.size()), 0);
    EXPECT_EQ(again, plain);
  }
}

// One 32-bit copy of the words puts every element where the formulas of the storage mode say.
TEST_F(BatchWordsTest, OneCopyPlacesEveryElement) {
  TestDevice device("bm1684");
  const Chip& chip = device.chip();
  for (int trial = 0; trial < 40; ++trial) {
    const softtpu_batch_words_t t = random_tensor(trial % 2 == 0 ? SOFTTPU_4N : SOFTTPU_2N);
    const int element = 4 / t.n_pack;
    const Bytes plain = random_bytes(plain_bytes(t));
    const Bytes words = packed(t, plain);
    std::memcpy(device.global<std::uint8_t>(device.scratch()), words.data(), words.size());
    const auto start = static_cast<local_addr_t>(pick(0, 63)) * chip.local_bytes;
    const dim4 shape = {(t.n + t.n_pack - 1) / t.n_pack, t.c, t.h, t.w};
    const LaunchOutcome outcome = device.run([&] {
      okk_initialize();
      okk_gdma_32bit_cpy_S2L(start, device.scratch(), &shape, nullptr, nullptr);
      okk_poll();
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    const Lanes lanes{64, 128, chip.local_bytes};
    const auto place = make_placement(lanes, LayoutKind::kAligned, start, {t.n, t.c, t.h, t.w}, t.n_pack, element);
    ASSERT_TRUE(place);
    std::size_t at = 0;
    for (int n = 0; n < t.n; ++n)
      for (int c = 0; c < t.c; ++c)
        for (int h = 0; h < t.h; ++h)
          for (int w = 0; w < t.w; ++w, at += static_cast<std::size_t>(element)) {
            const LocalSpot spot = place->spot(n, c, h, w);
            const auto* there = device.local<std::uint8_t>(spot.npu, static_cast<std::uint32_t>(spot.offset));
            ASSERT_EQ(std::memcmp(there, &plain[at], static_cast<std::size_t>(element)), 0)
                << t.n_pack << "N (" << n << ", " << c << ", " << h << ", " << w << ")";
          }
  }
}

TEST_F(BatchWordsTest, RefusesWrongArguments) {
  Bytes plain(12), words(16, 0xCD);
  const auto pack_with = [&](const softtpu_batch_words_t* tensor, const void* from, std::size_t from_bytes) {
    EXPECT_EQ(softtpu_batch_pack(tensor, from, from_bytes, words.data(), words.size()), -1);
    EXPECT_EQ(words, Bytes(16, 0xCD));
    return std::string(softtpu_layout_error());
  };
  softtpu_batch_words_t tensor = {6, 1, 1, 2, SOFTTPU_4N};
  EXPECT_EQ(pack_with(nullptr, plain.data(), 12), "softtpu_batch_pack: tensor is NULL.");
  EXPECT_EQ(pack_with(&tensor, nullptr, 12), "softtpu_batch_pack: plain is NULL.");
  EXPECT_EQ(pack_with(&tensor, plain.data(), 11), "softtpu_batch_pack: plain has 11 bytes, but the sizes say 12.");
  tensor.c = 0;
  EXPECT_EQ(pack_with(&tensor, plain.data(), 12), "softtpu_batch_pack: tensor->c is 0, outside 1..65535.");
  tensor = {6, 1, 1, 2, 3};
  EXPECT_EQ(pack_with(&tensor, plain.data(), 12), "softtpu_batch_pack: tensor->n_pack is 3; it can be 2 or 4.");
  tensor = {65535, 65535, 65535, 65535, SOFTTPU_2N};
  EXPECT_EQ(softtpu_batch_words_bytes(&tensor), 0U);
  EXPECT_EQ(std::string(softtpu_layout_error()),
            "softtpu_batch_words_bytes: 65535 x 65535 x 65535 x 65535 elements are more than 4294967296.");
  tensor = {6, 1, 1, 2, SOFTTPU_4N};
  EXPECT_EQ(softtpu_batch_unpack(&tensor, words.data(), 15, plain.data(), 12), -1);
  EXPECT_EQ(std::string(softtpu_layout_error()), "softtpu_batch_unpack: words has 15 bytes, but the sizes say 16.");
}

}  // namespace
}  // namespace softtpu::batch_words_test
