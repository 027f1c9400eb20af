// Tables, exponents and constants from static memory (numerics: bm1684x-elementwise.md sections 6 and 7).
#include <algorithm>
#include <cstring>

#include "device/chip/rules.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/rows/fast_rows.hpp"
#include "device/engines/bdc/special/command.hpp"
#include "device/engines/bdc/special/fast.hpp"
#include "device/memory/rows.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

// Where the exponent of a float type lies in its bits, and the mantissa above which the next power of two is nearer:
// a significand over 4/3.
template <class Bits>
struct ExponentField {
  int shift;
  Bits mask;
  Bits threshold;
};
constexpr ExponentField<std::uint32_t> kFp32Field{23, 0xFF, 0x2AAAAB};
constexpr ExponentField<std::uint16_t> kFp16Field{10, 0x1F, 341};
constexpr ExponentField<std::uint16_t> kBfp16Field{7, 0xFF, 43};

template <class Bits>
Bits exponent_of(Bits value, const ExponentField<Bits>& field) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const auto mantissa = static_cast<Bits>(value & ((Bits{1} << field.shift) - 1));
  const auto exponent = static_cast<Bits>(value >> field.shift & field.mask);
  // Negative numbers are not rounded up, as recorded.
  const bool up = mantissa > field.threshold && (value & kSign) == 0;
  return static_cast<Bits>(exponent + (up ? 1 : 0));
}

template <class Bits>
void exponent_part(const Memories& mem, const ExponentCmd& cmd, const ExponentField<Bits>& field, bool flushes) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const bool as_integer = is_integer(cmd.dst.dtype);
  const auto row = [&](Bits* dst, const Bits* src, int count) {
    for (int i = 0; i < count; ++i) {
      const bool flushed = flushes && (src[i] >> field.shift & field.mask) == 0;
      const Bits exponent = flushed ? Bits{0} : exponent_of(src[i], field);
      const auto power = static_cast<Bits>(exponent << field.shift | (src[i] & kSign));
      const auto as_float = static_cast<Bits>(exponent > field.mask ? 0 : power);
      dst[i] = as_integer ? exponent : as_float;
    }
  };
  for_each_row<Bits, Bits>(mem, cmd.dst, row, cmd.src);
}

// Elements at the front of a row that SIMD instructions have looked up.
template <class Element, class Index>
int looked_up(const LookupRows& rows, Element* dst, const Index* src, int count, const Element* table, int last) {
  if constexpr (std::is_same_v<Element, std::uint32_t>) {
    if constexpr (std::is_same_v<Index, std::uint8_t>) {
      if (rows.by_byte != nullptr) return rows.by_byte(dst, src, count, table, last);
    } else {
      if (rows.by_half != nullptr) return rows.by_half(dst, src, count, table, last);
    }
  }
  return 0;
}

template <class Element, class Index>
void lookup(const Memories& mem, const LookupCmd& cmd) {
  const LookupRows rows = fast_rows(mem, cmd.dst, cmd.src, cmd.table) ? fast_lookup_rows() : LookupRows();
  // Indices have been checked, but the kernel's own threads may write to memory at any time.
  const int last = cmd.table.shape.w - 1;
  const auto lane = [&](int npu) {
    const auto* table = reinterpret_cast<const Element*>(mem.local(npu) + mem.chip().offset_of(cmd.table.addr));
    return [table, rows, last](Element* dst, const Index* src, int count) {
      for (int i = looked_up(rows, dst, src, count, table, last); i < count; ++i)
        dst[i] = table[std::min<int>(src[i], last)];
    };
  };
  for_each_row_by_lane<Element, Index>(mem, cmd.dst, lane, cmd.src);
}

}  // namespace

void execute(Memories& mem, const ExponentCmd& cmd) {
  const bool fp32_flushes = mem.chip().has(Quirk::kFp32ExponentFlushes);
  if (cmd.src.dtype == Dtype::kFp32) return exponent_part(mem, cmd, kFp32Field, fp32_flushes);
  if (cmd.src.dtype == Dtype::kFp16) return exponent_part(mem, cmd, kFp16Field, false);
  exponent_part(mem, cmd, kBfp16Field, mem.chip().has(Quirk::kBf16ExponentFlushes));
}

void execute(Memories& mem, const LookupCmd& cmd) {
  for_size(size_of(cmd.dst.dtype), [&]<class Element>(Element) {
    if (cmd.src.dtype == Dtype::kUint8) return lookup<Element, std::uint8_t>(mem, cmd);
    lookup<Element, std::uint16_t>(mem, cmd);
  });
}

void execute(Memories& mem, const StaticLoadCmd& cmd) {
  const TensorView src(mem, cmd.src);
  const TensorView dst(mem, cmd.dst);
  const Dim4& shape = cmd.dst.shape;
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) {
    for (int n = 0; n < shape.n; ++n) {
      for (int c = 0; c < shape.c; ++c) {
        for (int h = 0; h < shape.h; ++h) {
          for (int w = 0; w < shape.w; ++w) *dst.at<T>(n, c, h, w) = *src.at<T>(n, c, h, w);
        }
      }
    }
  });
}

}  // namespace softtpu
