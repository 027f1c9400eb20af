// Tiles turned in registers, compiled for several instruction sets and chosen at run time.
#include "device/memory/transpose.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/memory/transpose_fast.cpp"
#include "device/memory/simd_targets.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

TurnTiles turn(int) { return nullptr; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A block is as many rows of the source as a register of D holds elements, and of each what fits into 16 bytes.
// Register k holds row k of every group of kGroup rows, one group in each of its 16-byte parts, so that turning the
// parts where they are leaves kLanes elements of one row of the destination in each register.
template <class D>
struct Block {
  using T = hn::TFromD<D>;
  static constexpr std::size_t kLanes = hn::MaxLanes(D());
  static constexpr std::size_t kGroup = 16 / sizeof(T);
  using Registers = std::array<hn::Vec<D>, kGroup>;
};

template <std::size_t kPitch, class D, class T>
HWY_INLINE hn::Vec<D> load_parts(D d, const T* row) {
  if constexpr (hn::MaxLanes(d) * sizeof(T) == 16) {
    return hn::Load(d, row);
  } else {
    const hn::Half<D> half;
    const auto low = load_parts<kPitch>(half, row);
    return hn::Combine(d, load_parts<kPitch>(half, row + hn::MaxLanes(half) * kPitch), low);
  }
}

template <std::size_t kPitch, class D, class T, std::size_t... K>
HWY_INLINE typename Block<D>::Registers load(D d, const T* from, std::index_sequence<K...>) {
  return {load_parts<kPitch>(d, from + K * kPitch)...};
}

// Register i of the first half is interleaved with register i of the second, log2(kGroup) times.
template <class D, class Registers, std::size_t... I>
HWY_INLINE void interleave(D d, Registers& rows, std::index_sequence<I...>) {
  Registers mixed;
  ((mixed[2 * I] = hn::InterleaveLower(d, rows[I], rows[I + sizeof...(I)]),
    mixed[2 * I + 1] = hn::InterleaveUpper(d, rows[I], rows[I + sizeof...(I)])),
   ...);
  rows = mixed;
}

template <std::size_t kRounds, class D, class Registers>
HWY_INLINE void turn_registers(D d, Registers& rows) {
  if constexpr (kRounds > 1) {
    interleave(d, rows, std::make_index_sequence<Block<D>::kGroup / 2>());
    turn_registers<kRounds / 2>(d, rows);
  }
}

template <class D, class Registers, class T, std::size_t... K>
HWY_INLINE void store(D d, const Registers& rows, T* const* dst, std::size_t j, std::index_sequence<K...>) {
  (hn::StoreU(rows[K], d, dst[K] + j), ...);
}

template <class D>
class Turner {
  using T = hn::TFromD<D>;
  using Registers = typename Block<D>::Registers;
  static constexpr std::size_t kSide = Tiles::kSide;
  static constexpr std::size_t kLanes = Block<D>::kLanes;
  static constexpr std::size_t kGroup = Block<D>::kGroup;

 public:
  explicit Turner(const Tiles& tiles)
      : tiles_(tiles), rows_(static_cast<std::size_t>(tiles.rows)), cols_(static_cast<std::size_t>(tiles.cols)) {
    // What blocks at the edge read beyond the tile.
    for (std::int64_t k = 0; k < std::min(kTogether, tiles.count); ++k) {
      Gathered& from = tile(k);
      for (std::size_t j = cols_; j < kSide && j % kLanes != 0; ++j) from[j] = {};
      for (std::size_t i = rows_; i % kGroup != 0; ++i) {
        for (std::size_t j = 0; j < cols_; ++j) from[j][i] = 0;
      }
    }
  }

  void turn() {
    for (std::int64_t t = 0; t < tiles_.count; t += kTogether) {
      const std::int64_t count = std::min(kTogether, tiles_.count - t);
      for (std::int64_t k = 0; k < count; ++k) gather(tile(k), (t + k) * tiles_.src_step);
      for (std::size_t i = 0; i < rows_; i += kGroup) {
        // Lines that are to be written have to be fetched, too. Of bytes they come one by one, without a gap.
        for (std::int64_t k = 0; sizeof(T) > 1 && k < std::min(kTogether, tiles_.count - t - kTogether); ++k)
          fetch_rows((t + kTogether + k) * tiles_.dst_step, i);
        for (std::int64_t k = 0; k < count; ++k) turn_rows(tile(k), (t + k) * tiles_.dst_step, i);
      }
    }
  }

 private:
  using Gathered = std::array<std::array<T, kSide>, kSide>;
  // Tiles whose rows of the destination are neighbours, and fill four cache lines.
  static constexpr std::int64_t kTogether = 4 / static_cast<std::int64_t>(sizeof(T));

  Gathered& tile(std::int64_t k) { return from_[static_cast<std::size_t>(k)]; }

  // Tiles of the source are first brought together, whole cache lines at a time: rows that are a power of two apart
  // would throw each other out of the cache while their lines are only half read.
  HWY_INLINE void gather(Gathered& from, std::int64_t offset) {
    for (std::size_t j = 0; j < cols_; ++j) {
      T* const row = from[j].data();
      const std::uint8_t* const src = tiles_.src[j] + offset;
      if (rows_ == kSide) {
        std::memcpy(row, src, sizeof(T) * kSide);
      } else {
        std::memcpy(row, src, sizeof(T) * rows_);
      }
    }
  }

  // Asks for rows [i, i + kGroup) of the destination.
  HWY_INLINE void fetch_rows(std::int64_t offset, std::size_t i) const {
    constexpr std::size_t kLine = 64;
    for (std::size_t k = i; k < std::min(i + kGroup, rows_); ++k) {
      // To the second-level cache: tiles of two sides take most of the first.
      for (std::size_t at = 0; at < cols_ * sizeof(T); at += kLine)
        __builtin_prefetch(tiles_.dst[k] + offset + at, 1, 2);
    }
  }
  // Turns them.
  HWY_INLINE void turn_rows(const Gathered& from, std::int64_t offset, std::size_t i) {
    std::array<T*, kGroup> dst;
    const std::size_t rows = std::min(kGroup, rows_ - i);
    for (std::size_t k = 0; k < rows; ++k) dst[k] = reinterpret_cast<T*>(tiles_.dst[i + k] + offset);
    std::size_t j = 0;
    for (; rows == kGroup && j + kLanes <= cols_; j += kLanes) store(D(), turned(from, i, j), dst.data(), j, Parts());
    for (; j < cols_; j += kLanes) store_part(turned(from, i, j), dst.data(), rows, j);
  }

  HWY_INLINE Registers turned(const Gathered& from, std::size_t i, std::size_t j) const {
    auto block = load<kSide>(D(), &from[j][i], Parts());
    turn_registers<kGroup>(D(), block);
    return block;
  }

  // A block at the edge: what lies behind is turned too, and left out here.
  void store_part(const Registers& block, T* const* dst, std::size_t rows, std::size_t j) {
    alignas(64) std::array<std::array<T, kLanes>, kGroup> whole;
    std::array<T*, kGroup> places;
    for (std::size_t k = 0; k < kGroup; ++k) places[k] = whole[k].data();
    store(D(), block, places.data(), 0, Parts());
    const std::size_t bytes = std::min(kLanes, cols_ - j) * sizeof(T);
    for (std::size_t k = 0; k < rows; ++k) std::memcpy(dst[k] + j, places[k], bytes);
  }

  using Parts = std::make_index_sequence<kGroup>;

  const Tiles& tiles_;
  std::size_t rows_, cols_;
  alignas(64) std::array<Gathered, kTogether> from_;
};

template <class T>
void turn_tiles(const Tiles& tiles) {
  // Few columns would leave most of a large register empty.
  const auto cols = static_cast<std::size_t>(tiles.cols) * sizeof(T);
  if (cols < 32) return Turner<hn::CappedTag<T, 16 / sizeof(T)> >(tiles).turn();
  if (cols < 64) return Turner<hn::CappedTag<T, 32 / sizeof(T)> >(tiles).turn();
  Turner<hn::ScalableTag<T> >(tiles).turn();
}

}  // namespace

TurnTiles turn(int element_bytes) {
  if (element_bytes == 1) return &turn_tiles<std::uint8_t>;
  if (element_bytes == 2) return &turn_tiles<std::uint16_t>;
  if (element_bytes == 4) return &turn_tiles<std::uint32_t>;
  return nullptr;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {
SOFTTPU_DISPATCH(TurnTiles, fast_turn_tiles, (int element_bytes), turn, (element_bytes))
}  // namespace softtpu
#endif
