// Multiply-add forms (numerics: bm1684x-elementwise.md sections 2 and 5).
#include "device/chip/rules.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/elementwise/command.hpp"
#include "device/engines/bdc/elementwise/fast.hpp"
#include "device/engines/bdc/rows/flushed_halves.hpp"
#include "device/engines/bdc/rows/from_the_end.hpp"
#include "device/engines/bdc/rows/one_nan.hpp"
#include "device/engines/bdc/rows/walk_rows.hpp"
#include "device/memory/rows.hpp"
#include "device/memory/sources_apart.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/float_unit.hpp"
#include "device/numeric/shift.hpp"

namespace softtpu {
namespace {

using Value = As<std::int64_t>;

void float_mac(Memories& mem, const MacCmd& cmd) {
  if (fast_rows(mem, cmd.dst, cmd.a, cmd.b)) {
    if (const TernaryRow row = fast_mac_row()) return walk_apart_rows(mem, row, cmd.dst, cmd.a, cmd.b, cmd.dst);
  }
  for_each_row<float, float, float, float>(
      mem, cmd.dst,
      [](float* dst, const float* a, const float* b, const float* old, int count) {
        for (int i = 0; i < count; ++i) {
          const float product = flush(chip_mul(flush(a[i]), flush(b[i])));
          dst[i] = flush(chip_add(product, flush(old[i])));
        }
      },
      cmd.a, cmd.b, cmd.dst);
}

void int_mac(Memories& mem, const MacCmd& cmd) {
  const IntRange range = range_of(cmd.dst.dtype);
  const Shifter<std::int64_t> shift(-cmd.rshift, cmd.rounding);
  const std::int64_t factor = std::int64_t{1} << cmd.lshift;
  for_each_row<Value, Value, Value, Value>(
      mem, cmd.dst,
      [&](std::int64_t* dst, const std::int64_t* a, const std::int64_t* b, const std::int64_t* old, int count) {
        for (int i = 0; i < count; ++i)
          dst[i] = std::clamp(shift(old[i] * factor + a[i] * b[i]), range.low, range.high);
      },
      cmd.a, cmd.b, cmd.dst);
}

}  // namespace

static void carry_out(Memories& mem, const MacCmd& cmd) {
  if (is_float(cmd.dst.dtype)) {
    float_mac(mem, cmd);
    return unify_nans(mem, cmd.dst);
  }
  int_mac(mem, cmd);
}

static void scale_and_add(Memories& mem, const ScaleBiasCmd& cmd) {
  // Of two NaNs the first operand's comes out.
  const bool element_first = mem.chip().has(Quirk::kElementNanFirst);
  if (fast_rows(mem, cmd.dst, cmd.src, cmd.scale, cmd.bias)) {
    if (const TernaryRow row = fast_scale_bias_row(cmd.dst.dtype, element_first))
      return walk_apart_rows(mem, row, cmd.dst, cmd.src, cmd.scale, cmd.bias);
  }
  for_float_type(cmd.dst.dtype, [&]<class T>(T) {
    for_each_row<T, T, T, T>(
        mem, cmd.dst,
        [=](T* dst, const T* src, const T* scale, const T* bias, int count) {
          for (int i = 0; i < count; ++i) {
            const auto element = Wide<T>::load(src[i]), factor = Wide<T>::load(scale[i]), term = Wide<T>::load(bias[i]);
            const T stored = Wide<T>::round(element_first ? chip_mul(element, factor) : chip_mul(factor, element));
            const auto product = Wide<T>::load(stored);
            dst[i] = Wide<T>::round(element_first ? chip_add(product, term) : chip_add(term, product));
          }
        },
        cmd.src, cmd.scale, cmd.bias);
  });
}

static void carry_out(Memories& mem, const ScaleBiasCmd& cmd) {
  scale_and_add(mem, cmd);
  if (mem.chip().has(Quirk::kOneNanOfChannels)) unify_nans(mem, cmd.dst);
}

void execute(Memories& mem, const MacCmd& cmd) {
  if (overwrites_narrower(cmd.a, cmd.dst) || overwrites_narrower(cmd.b, cmd.dst))
    return execute_from_the_end(mem, cmd, &MacCmd::a, &MacCmd::b);
  const auto compute = [&](const MacCmd& apart) {
    with_flushed_halves(mem, apart, [&](const MacCmd& flushed) { carry_out(mem, flushed); });
  };
  with_sources_apart(mem, cmd, compute, &MacCmd::a, &MacCmd::b);
}

void execute(Memories& mem, const ScaleBiasCmd& cmd) {
  const auto compute = [&](const ScaleBiasCmd& apart) {
    with_flushed_halves(mem, apart, [&](const ScaleBiasCmd& flushed) { carry_out(mem, flushed); });
  };
  with_sources_apart(mem, cmd, compute, &ScaleBiasCmd::src, &ScaleBiasCmd::scale, &ScaleBiasCmd::bias);
}

}  // namespace softtpu
