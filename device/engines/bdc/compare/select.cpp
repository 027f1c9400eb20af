// Comparison and selection (numerics: bm1684x-elementwise.md section 3).
#include <bit>

#include "device/chip/rules.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/compare/command.hpp"
#include "device/engines/bdc/compare/fast.hpp"
#include "device/memory/apart_rows.hpp"
#include "device/memory/rows.hpp"
#include "device/memory/sources_apart.hpp"
#include "device/numeric/formats.hpp"

namespace softtpu {
namespace {

using Bits = As<std::uint32_t>;

bool equal(std::int64_t a, std::int64_t b) { return a == b; }
// A NaN equals itself bit for bit.
bool equal(float a, float b) { return a == b || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

// Whether the outcome of comparing a with b belongs to the set; what is neither greater nor equal is less.
template <class W>
bool holds(W a, W b, unsigned set) {
  const unsigned outcome = a > b         ? static_cast<unsigned>(Compare::kGreater)
                           : equal(a, b) ? static_cast<unsigned>(Compare::kEqual)
                                         : static_cast<unsigned>(Compare::kLess);
  return (outcome & set) != 0;
}

// The compared operand as it is handed through: f32 and bf16 subnormals flushed.
std::uint32_t passed(std::uint32_t bits, Dtype type) {
  if (type == Dtype::kFp32) return flush_bits(bits);
  if (type == Dtype::kBfp16) return flush_bits(bits << 16) >> 16;
  return bits;
}

// The type that decides the outcome: where equality means equal bits, that of integers of the same size.
Dtype compared_type(const Chip& chip, Compare compare, Dtype type) {
  const bool equality = compare == Compare::kEqual || compare == Compare::kNotEqual;
  if (!equality || !is_float(type) || !chip.has(Quirk::kEqualBits)) return type;
  return size_of(type) == 4 ? Dtype::kUint32 : is_fp8(type) ? Dtype::kUint8 : Dtype::kUint16;
}

template <class W>
void select(Memories& mem, const SelectCmd& cmd) {
  const auto set = static_cast<unsigned>(cmd.compare);
  if (!cmd.winner) {
    for_each_row<Bits, As<W>, As<W>, Bits, Bits>(
        mem, cmd.dst,
        [=](std::uint32_t* dst, const W* a, const W* b, const std::uint32_t* yes, const std::uint32_t* no, int count) {
          for (int i = 0; i < count; ++i) dst[i] = holds(a[i], b[i], set) ? yes[i] : no[i];
        },
        cmd.a, cmd.b, cmd.yes, cmd.no);
    return;
  }
  const Dtype type = cmd.winner->dtype;
  for_each_row<Bits, Also<Bits>, As<W>, As<W>, Bits, Bits, Bits, Bits>(
      mem, cmd.dst,
      [=](std::uint32_t* dst, std::uint32_t* winner, const W* a, const W* b, const std::uint32_t* a_bits,
          const std::uint32_t* b_bits, const std::uint32_t* yes, const std::uint32_t* no, int count) {
        for (int i = 0; i < count; ++i) {
          const bool first = holds(a[i], b[i], set);
          winner[i] = passed(first ? a_bits[i] : b_bits[i], type);
          dst[i] = first ? yes[i] : no[i];
        }
      },
      *cmd.winner, cmd.a, cmd.b, cmd.a, cmd.b, cmd.yes, cmd.no);
}

void walk(Memories& mem, SelectRow row, const SelectCmd& cmd) {
  for_size(size_of(cmd.dst.dtype), [&]<class D>(D) {
    for_size(size_of(type_of(cmd.a)), [&]<class T>(T) {
      for_each_apart_row<D, T, T, OrOne<D>, OrOne<D>>(mem, cmd.dst, row, cmd.a, cmd.b, cmd.yes, cmd.no);
    });
  });
}

}  // namespace

void execute(Memories& mem, const CompareCmd& cmd) {
  const Scalar no{0, cmd.dst.dtype};
  execute(mem, SelectCmd{cmd.compare, cmd.dst, std::nullopt, cmd.a, cmd.b, cmd.true_val, no});
}

static void carry_out(Memories& mem, const SelectCmd& cmd) {
  const Dtype compared = compared_type(mem.chip(), cmd.compare, type_of(cmd.a));
  if (!cmd.winner && !is_fp8(compared) && fast_rows(mem, cmd.dst, cmd.a, cmd.b, cmd.yes, cmd.no)) {
    if (const SelectRow row = fast_select_row(cmd.compare, compared, size_of(cmd.dst.dtype)))
      return walk(mem, row, cmd);
  }
  if (is_float(compared)) return select<float>(mem, cmd);
  select<std::int64_t>(mem, cmd);
}

void execute(Memories& mem, const SelectCmd& cmd) {
  with_sources_apart(
      mem, cmd, [&](const SelectCmd& apart) { carry_out(mem, apart); }, &SelectCmd::a, &SelectCmd::b, &SelectCmd::yes,
      &SelectCmd::no);
}

}  // namespace softtpu
