// Compaction with SIMD instructions, compiled for several instruction sets and chosen at run time.
#include "device/engines/dma/select/compact.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/dma/select/compact_fast.cpp"
#define SOFTTPU_WITH_AVX3_DL
#include "device/memory/simd_targets.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

CompactLoops compact_loops(int, int) { return {}; }

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

// The bits of a vector's lanes are whole bytes; the last elements are a vector of their own, the rest of which is 0.
template <class T, class M>
unsigned mark(const void* chosen, int count, std::uint8_t* bits) {
  const hn::ScalableTag<T> d;
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d));
  const auto* mask = static_cast<const M*>(chosen);
  std::size_t found = 0;
  const auto take = [&](const M* from) {
    const auto keep = hn::Ne(load_mask<T>(from), hn::Zero(d));
    bits += hn::StoreMaskBits(d, keep, bits);
    found += hn::CountTrue(d, keep);
  };
  int i = 0;
  for (; i + kStep <= count; i += kStep) take(mask + i);
  if (i < count) {
    M last[kStep] = {};
    std::copy(mask + i, mask + count, last);
    take(last);
  }
  return static_cast<unsigned>(found);
}

template <class T>
void choose(const void* source, std::uint32_t offset, const std::uint8_t* bits, int count, void* out) {
  const hn::ScalableTag<T> d;
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d));
  constexpr int kBytes = (kStep + 7) / 8;
  const auto* values = static_cast<const T*>(source);
  auto* to = static_cast<T*>(out);
  const auto added = hn::Set(d, static_cast<T>(offset));
  const auto take = [&](const T* from) {
    // A whole vector, chosen elements first. Storing only these takes some processors many times as long.
    hn::StoreU(hn::CompressBits(hn::Add(hn::LoadU(d, from), added), bits), d, to);
    std::uint64_t word = 0;
    std::memcpy(&word, bits, kBytes);
    to += hwy::PopCount(word);
    bits += kBytes;
  };
  int i = 0;
  for (; i + kStep <= count; i += kStep) take(values + i);
  if (i < count) {
    T last[kStep] = {};
    std::copy(values + i, values + count, last);
    take(last);
  }
}

template <class T>
CompactLoops by_mask(int mask_bytes) {
  if (mask_bytes == 1) return {&mark<T, std::uint8_t>, &choose<T>};
  if (mask_bytes == 2) return {&mark<T, std::uint16_t>, &choose<T>};
  if constexpr (sizeof(T) == 4) {
    if (mask_bytes == 4) return {&mark<T, std::uint32_t>, &choose<T>};
  }
  return {};
}

}  // namespace

CompactLoops compact_loops(int value_bytes, int mask_bytes) {
  if (value_bytes == 4) return by_mask<std::uint32_t>(mask_bytes);
  if (value_bytes == 2) return by_mask<std::uint16_t>(mask_bytes);
  return {};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {
SOFTTPU_DISPATCH(CompactLoops, fast_compact_loops, (int value_bytes, int mask_bytes), compact_loops,
                 (value_bytes, mask_bytes))
}  // namespace softtpu
#endif
