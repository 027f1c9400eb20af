// Element-wise functions of BM1684 on 32-bit elements (numerics: bm1684-okkernel.md sections 3 to 5).
#include "device/command/functions.hpp"
#include "device/engines/bdc/bm1684_words/command.hpp"
#include "device/memory/rows.hpp"
#include "device/memory/static_tables.hpp"
#include "device/numeric/bm1684_unit.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu {
namespace {

using Word = std::uint32_t;

template <class T, class Lane>
void binary(Memories& mem, const OkkWordCmd& cmd, Lane lane) {
  for_each_row<T, T, T>(
      mem, cmd.dst,
      [&](T* dst, const T* a, const T* b, int count) {
        for (int i = 0; i < count; ++i) dst[i] = lane(a[i], b[i]);
      },
      cmd.a, cmd.b);
}

template <class D, class S, class Lane>
void unary(Memories& mem, const OkkUnaryCmd& cmd, Lane lane) {
  for_each_row<D, S>(
      mem, cmd.dst,
      [&](D* dst, const S* src, int count) {
        for (int i = 0; i < count; ++i) dst[i] = lane(src[i]);
      },
      cmd.src);
}

const Word* table(const Memories& mem, std::uint32_t offset) {
  return reinterpret_cast<const Word*>(mem.static_mem() + offset);
}

void lookup(Memories& mem, const OkkUnaryCmd& cmd, std::uint32_t offset) {
  const Word* words = table(mem, offset);
  unary<Word, Word>(mem, cmd, [words](Word index) { return words[index & 255U]; });
}

bool holds(OkkCompare compare, float a, float b) {
  switch (compare) {
    case OkkCompare::kGreater: return flush(a) > flush(b);
    case OkkCompare::kEqual: return !(flush(a) > flush(b)) && !(flush(b) > flush(a));
    case OkkCompare::kSameBits: return bm1684::bits_of(a) == bm1684::bits_of(b);
  }
  unreachable(compare);
}

// c[terms] x^(terms - last) + ... + c[last], multiplied and added one step at a time.
float horner(const float* coefficients, float x, int terms, int last) {
  float sum = coefficients[terms];
  for (int k = terms - 1; k >= last; --k) sum = chip_add(chip_mul(sum, x), coefficients[k]);
  return sum;
}

}  // namespace

void execute(Memories& mem, const OkkWordCmd& cmd) {
  switch (cmd.mode) {
    case OkkWordMode::kDiv: return binary<float>(mem, cmd, bm1684::div);
    case OkkWordMode::kMin: return binary<float>(mem, cmd, bm1684::min);
    case OkkWordMode::kAnd: return binary<Word>(mem, cmd, [](Word a, Word b) { return a & b; });
    case OkkWordMode::kOr: return binary<Word>(mem, cmd, [](Word a, Word b) { return a | b; });
    case OkkWordMode::kXor: return binary<Word>(mem, cmd, [](Word a, Word b) { return a ^ b; });
    case OkkWordMode::kShiftArithmetic: return binary<Word>(mem, cmd, bm1684::shift_arithmetic);
    case OkkWordMode::kShiftLogical: return binary<Word>(mem, cmd, bm1684::shift_logical);
  }
  unreachable(cmd.mode);
}

void execute(Memories& mem, const OkkUnaryCmd& cmd) {
  switch (cmd.mode) {
    case OkkUnaryMode::kCopy: return unary<Word, Word>(mem, cmd, [](Word value) { return value; });
    case OkkUnaryMode::kRelu: return unary<float, float>(mem, cmd, bm1684::relu);
    case OkkUnaryMode::kRsqrt: return unary<float, float>(mem, cmd, bm1684::rsqrt);
    case OkkUnaryMode::kSqrt: return unary<float, float>(mem, cmd, bm1684::sqrt);
    case OkkUnaryMode::kToInt32: return unary<std::int32_t, float>(mem, cmd, bm1684::to_int32);
    case OkkUnaryMode::kLookupInt: return lookup(mem, cmd, okk_static_offset::kIntTable);
    case OkkUnaryMode::kLookupExp: return lookup(mem, cmd, okk_static_offset::kExpTable);
    case OkkUnaryMode::kLookupByte: return lookup(mem, cmd, okk_static_offset::kByteTable);
  }
  unreachable(cmd.mode);
}

void execute(Memories& mem, const OkkTaylorCmd& cmd) {
  const auto* coefficients = reinterpret_cast<const float*>(table(mem, okk_static_offset::kExpSeries));
  for_each_row<float, float>(
      mem, cmd.dst,
      [&](float* dst, const float* src, int count) {
        for (int i = 0; i < count; ++i) {
          const float x = flush(src[i]);
          dst[i] = cmd.without_one ? chip_mul(horner(coefficients, x, cmd.terms, 1), x)
                                   : horner(coefficients, x, cmd.terms, 0);
        }
      },
      cmd.src);
}

void execute(Memories& mem, const OkkSelectCmd& cmd) {
  for_each_row<Word, float, float, Word, Word>(
      mem, cmd.dst,
      [&](Word* dst, const float* a, const float* b, const Word* yes, const Word* no, int count) {
        for (int i = 0; i < count; ++i) dst[i] = holds(cmd.compare, a[i], b[i]) ? yes[i] : no[i];
      },
      cmd.a, cmd.b, cmd.yes, cmd.no);
}

void execute(Memories& mem, const OkkMulAddCmd& cmd) {
  for_each_row<float, float, float, float>(
      mem, cmd.dst,
      [&](float* dst, const float* a, const float* b, const float* c, int count) {
        for (int i = 0; i < count; ++i) dst[i] = chip_add(chip_mul(flush(a[i]), flush(b[i])), flush(c[i]));
      },
      cmd.a, cmd.b, cmd.c);
}

}  // namespace softtpu
