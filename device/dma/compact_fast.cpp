// Compaction with SIMD instructions, compiled for several instruction sets and chosen at run time.
#include "device/dma/compact.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/dma/compact_fast.cpp"
#include "device/memory/simd_targets.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

CompactRow compact_row(int, int) { return nullptr; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T, class M>
HWY_INLINE auto load_mask(const M* mask) {
  const hn::ScalableTag<T> d;
  if constexpr (sizeof(M) == sizeof(T)) {
    return hn::LoadU(d, mask);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<M, decltype(d)>(), mask));
  }
}

template <class T, class M>
unsigned compact(const void* source, std::uint32_t offset, const void* chosen, int count, void* out) {
  const hn::ScalableTag<T> d;
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d));
  const auto* values = static_cast<const T*>(source);
  const auto* mask = static_cast<const M*>(chosen);
  auto* to = static_cast<T*>(out);
  const auto added = hn::Set(d, static_cast<T>(offset));
  int i = 0;
  for (; i + kStep <= count; i += kStep) {
    const auto keep = hn::Ne(load_mask<T>(mask + i), hn::Zero(d));
    to += hn::CompressStore(hn::Add(hn::LoadU(d, values + i), added), keep, d, to);
  }
  for (; i < count; ++i) {
    *to = static_cast<T>(values[i] + static_cast<T>(offset));
    to += mask[i] != 0 ? 1 : 0;
  }
  return static_cast<unsigned>(to - static_cast<T*>(out));
}

template <class T>
CompactRow by_mask(int mask_bytes) {
  if (mask_bytes == 1) return &compact<T, std::uint8_t>;
  if (mask_bytes == 2) return &compact<T, std::uint16_t>;
  if constexpr (sizeof(T) == 4) {
    if (mask_bytes == 4) return &compact<T, std::uint32_t>;
  }
  return nullptr;
}

}  // namespace

CompactRow compact_row(int value_bytes, int mask_bytes) {
  if (value_bytes == 4) return by_mask<std::uint32_t>(mask_bytes);
  if (value_bytes == 2) return by_mask<std::uint16_t>(mask_bytes);
  return nullptr;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {
SOFTTPU_DISPATCH(CompactRow, fast_compact_row, (int value_bytes, int mask_bytes), compact_row,
                 (value_bytes, mask_bytes))
}  // namespace softtpu
#endif
