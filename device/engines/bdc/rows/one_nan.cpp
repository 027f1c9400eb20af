#include "device/engines/bdc/rows/one_nan.hpp"

#include <algorithm>

#include "device/chip/rules.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/rows.hpp"
#include "device/numeric/formats.hpp"
#include "device/numeric/only_nan.hpp"

namespace softtpu {
namespace {

void plain_unify(std::uint32_t* words, int count) {
  for (int i = 0; i < count; ++i) words[i] = is_nan_bits(words[i]) ? kOnlyNan : words[i];
}

}  // namespace

UnifyRow unify_row_of(const Memories& mem, const Tensor& dst) {
  if (dst.dtype != Dtype::kFp32 || !mem.chip().has(Quirk::kOneNan)) return nullptr;
  const UnifyRow fast = plain_kernels() ? nullptr : fast_unify_row();
  return fast != nullptr ? fast : plain_unify;
}

void unify_nans(Memories& mem, const Tensor& dst) {
  if (dst.dtype == Dtype::kFp8E4M3 && mem.chip().has(Quirk::kE4m3NanPlain)) {
    constexpr std::uint8_t kMinusNan = 0xFF, kNan = 0x7F;
    return for_each_row<std::uint8_t, std::uint8_t>(
        mem, dst,
        [](std::uint8_t* to, const std::uint8_t* from, int count) {
          for (int i = 0; i < count; ++i) to[i] = from[i] == kMinusNan ? kNan : from[i];
        },
        dst);
  }
  const UnifyRow unify = unify_row_of(mem, dst);
  if (unify == nullptr) return;
  for_each_row<std::uint32_t, std::uint32_t>(
      mem, dst,
      [unify](std::uint32_t* to, const std::uint32_t* from, int count) {
        // A row that is not adjacent in memory is read into one place and written from another.
        if (to != from) std::copy_n(from, count, to);
        unify(to, count);
      },
      dst);
}

}  // namespace softtpu
