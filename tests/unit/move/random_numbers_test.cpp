// BDC's random numbers against a plain writer of their generators, every argument by itself; what no recording
// determines is refused.
#include <cstring>

#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::random_numbers_test {
namespace {

constexpr std::uint32_t kRow = 0x1000, kState = 0x8000;

// Bit by bit: a xor b, and a carry of both into the next bit and the one after it, round the end.
std::uint64_t joined(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  const auto bit = [](std::uint64_t value, int at) { return value >> (at + 64) % 64 & 1U; };
  for (int i = 0; i < 64; ++i) {
    const auto carry = (bit(a, i - 1) & bit(b, i - 1)) | (bit(a, i - 2) & bit(b, i - 2));
    result |= (bit(a, i) ^ bit(b, i) ^ carry) << i;
  }
  return result;
}
std::uint64_t turned(std::uint64_t value, int by) { return by == 0 ? value : value << by | value >> (64 - by); }

struct State {
  std::uint64_t first, second;
  State next() const {
    const std::uint64_t x = first ^ second;
    return {turned(first, 55) ^ x ^ x << 14, turned(x, 36)};
  }
  State operator+(const State& other) const { return {first ^ other.first, second ^ other.second}; }
};

State start(std::uint64_t seed, int jump, std::uint64_t channel, int generator) {
  const State fresh{seed + channel, joined(seed, turned(0xE25336192856CC15U, generator))};
  if (jump == 0) return {0, 0};
  if (jump == 1) return fresh;
  if (jump == 33) {
    State sum{0, 0}, state = fresh;
    int at = 0;
    for (const int step : {0,  2,  5,  7,  10, 12, 14, 16, 18, 20, 21, 22, 23, 27, 28, 30,
                           31, 35, 36, 37, 38, 39, 40, 41, 50, 53, 54, 57, 58, 60, 63, 65}) {
      for (; at < step; ++at) state = state.next();
      sum = sum + state;
    }
    return sum;
  }
  const State two = fresh.next().next();
  return fresh + two + two.next().next().next();  // after 0, 2 and 5 steps
}

struct Case {
  std::uint64_t seed;
  int jump, offset, channels, width;
  data_type_t type;
  int size;
  bool keeps;
};

void expect(const Case& made) {
  TestDevice device("bm1690");
  std::memset(device.local<std::uint8_t>(0, 0), 0xA5, device.chip().local_mem.bytes);
  const dim4 shape{1, made.channels, 1, made.width};
  const LaunchOutcome outcome = device.run([&] {
    tpu_bd_set_random_gen_seed(made.seed);
    tpu_bdc_random_gen_init(kRow, kState, made.keeps ? 1 : 0, made.jump, made.offset, &shape, made.type);
  });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  const int bytes = made.width * made.size;
  for (int c = 0; c < made.channels; ++c) {
    for (int generator = 0; generator < 8; ++generator) {
      State state = start(made.seed, made.jump, static_cast<std::uint64_t>(made.offset + c), generator);
      for (int at = 8 * generator; at < bytes; at += 64, state = state.next()) {
        std::uint64_t number = 0;
        std::memcpy(&number, device.local<std::uint8_t>(c, kRow) + at, sizeof(number));
        ASSERT_EQ(number, joined(state.first, state.second)) << "channel " << c << ", byte " << at;
      }
      State kept{};
      std::memcpy(&kept, device.local<std::uint8_t>(c, kState) + 16 * generator, sizeof(kept));
      const State wanted = made.keeps ? state : State{0xA5A5A5A5A5A5A5A5U, 0xA5A5A5A5A5A5A5A5U};
      ASSERT_EQ(kept.first, wanted.first) << "channel " << c << ", generator " << generator;
      ASSERT_EQ(kept.second, wanted.second) << "channel " << c << ", generator " << generator;
    }
    EXPECT_EQ(device.local<std::uint8_t>(c, kRow)[bytes], 0xA5);
  }
  if (made.channels < 64) {
    EXPECT_EQ(*device.local<std::uint8_t>(made.channels, kRow), 0xA5);
  }
}

TEST(RandomNumbers, ComeFromTheSeedTheChannelAndTheJump) {
  expect({1, 1, 5, 2, 64, DT_INT8, 1, true});
  expect({0x123456789ABCDEF0U, 3, 0, 2, 64, DT_UINT16, 2, true});
  expect({0xFFFFFFFFFFFFFFFFU, 3, -7, 64, 16, DT_INT32, 4, false});
  expect({0, 1, 1000, 5, 192, DT_UINT8, 1, true});
  expect({77, 0, 3, 3, 96, DT_INT16, 2, true});
  expect({78, 1, 0, 1, 48, DT_UINT32, 4, false});
  expect({1, 33, 5, 2, 64, DT_UINT16, 2, true});
}

TEST(RandomNumbers, AreRefusedWhereNothingDeterminesThem) {
  TestDevice device("bm1690");
  const auto first = [](dim4 shape, int jump, local_addr_t at, data_type_t type = DT_INT8) {
    return [=] {
      tpu_bd_set_random_gen_seed(1);
      tpu_bdc_random_gen_init(at, kState, 0, jump, 0, &shape, type);
    };
  };
  device.expect_fault(first({1, 2, 1, 33}, 1, kRow), "shape.w (33) is not a multiple of 64");
  device.expect_fault(first({1, 2, 2, 64}, 1, kRow), "shape.h (2) is not 1");
  device.expect_fault(first({2, 2, 1, 64}, 1, kRow), "shape.n (2): only 1 is recorded or described");
  device.expect_fault(first({1, 65, 1, 64}, 1, kRow), "shape.c (65): only as many channels as NPUs are recorded");
  device.expect_fault(first({1, 2, 1, 64}, 2, kRow), "jump_cnt (2): only 0, 1, 3 and 33 are recorded");
  device.expect_fault(first({1, 2, 1, 64}, 1, 0x40000), "dst starts on NPU 1; it has to start on NPU 0");
  device.expect_fault(first({1, 2, 1, 64}, 1, kRow, DT_FP32), "dst type is fp32");
  TestDevice unseeded("bm1690");
  const dim4 shape{1, 1, 1, 64};
  unseeded.expect_fault([&] { tpu_bdc_random_gen_init(kRow, kState, 0, 1, 0, &shape, DT_INT8); }, "no seed is set");
  TestDevice other("bm1684x");
  other.expect_fault([] { tpu_bd_set_random_gen_seed(1); }, "BM1684X has no random number generator");
}

}  // namespace
}  // namespace softtpu::random_numbers_test
