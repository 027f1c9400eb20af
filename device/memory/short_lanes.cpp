#include "device/memory/short_lanes.hpp"

#include <array>
#include <cstring>
#include <type_traits>

#include "device/memory/lane_slice.hpp"
#include "device/memory/overlap.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

// Where the elements of a lane lie, from its first one on.
struct Places {
  std::array<std::int64_t, ShortLanes::kMostInLane> of{};
  bool dense = true;

  Places(const Dim4& shape, const Stride4& stride) {
    std::size_t i = 0;
    for (int n = 0; n < shape.n; ++n) {
      for (int h = 0; h < shape.h; ++h) {
        for (int w = 0; w < shape.w; ++w, ++i) {
          of[i] = n * stride.n + h * stride.h + w * stride.w;
          dense = dense && of[i] == static_cast<std::int64_t>(i);
        }
      }
    }
  }
};

// body(number): the usual ones are known where it is compiled.
template <class Body>
void with_number(int number, Body body) {
  switch (number) {
    case 1: return body(std::integral_constant<int, 1>());
    case 2: return body(std::integral_constant<int, 2>());
    case 4: return body(std::integral_constant<int, 4>());
    case 8: return body(std::integral_constant<int, 8>());
    case 16: return body(std::integral_constant<int, 16>());
    default: return body(number);
  }
}

}  // namespace

ShortLanes::ShortLanes(const Memories& mem, const Tensor& dst)
    : mem_(mem), shape_(dst.shape), start_npu_(mem.chip().npu_of(dst.addr)) {
  constexpr int kFewLanes = 2;
  if (dst.space != Space::kLocal || shape_.c <= kFewLanes || shape_.c > mem.chip().npu_num) return;
  const std::int64_t in_lane = std::int64_t{shape_.n} * shape_.h * shape_.w;
  if (in_lane < 1 || in_lane > kMostInLane || in_lane * shape_.c > kMostElements) return;
  // Results that lie upon each other may be read again, as sums that go on are.
  if (!writes_each_byte_once(mem.chip(), dst)) return;
  in_lane_ = static_cast<int>(in_lane);
  last_ = shape_.c;
  if (lane_slice == nullptr) return;
  first_ = lane_slice->first;
  last_ = lane_slice->last;
}

// move(first element of a lane, elements of the lanes before it).
template <class T, class Move>
void ShortLanes::each_lane(const Tensor& tensor, Move move) const {
  const Chip& chip = mem_.chip();
  const std::int64_t lane = chip.local_bytes / static_cast<std::int64_t>(sizeof(T));
  const int slot = start_npu_ + first_;
  int npu = remainder(slot, chip.npu_num);
  T* place = reinterpret_cast<T*>(mem_.local(npu) + chip.offset_of(tensor.addr)) +
             quotient(slot, chip.npu_num) * tensor.stride.c;
  for (int i = first_; i < last_; ++i) {
    move(place, (i - first_) * in_lane_);
    if (++npu == chip.npu_num) {
      npu = 0;
      place += tensor.stride.c - (chip.npu_num - 1) * lane;
    } else {
      place += lane;
    }
  }
}

void ShortLanes::gather(const Tensor& from, void* row) const {
  const Places places(shape_, from.stride);
  for_size(size_of(from.dtype), [&]<class T>(T) {
    T* to = static_cast<T*>(row);
    with_number(in_lane_, [&](auto number) {
      each_lane<const T>(from, [&](const T* first, int done) {
        if (places.dense) {
          std::memcpy(to + done, first, static_cast<unsigned>(number) * sizeof(T));
        } else {
          for (int i = 0; i < number; ++i) to[done + i] = first[places.of[static_cast<std::size_t>(i)]];
        }
      });
    });
  });
}

void ShortLanes::scatter(const void* row, const Tensor& to) const {
  const Places places(shape_, to.stride);
  for_size(size_of(to.dtype), [&]<class T>(T) {
    const T* from = static_cast<const T*>(row);
    with_number(in_lane_, [&](auto number) {
      each_lane<T>(to, [&](T* first, int done) {
        if (places.dense) {
          std::memcpy(first, from + done, static_cast<unsigned>(number) * sizeof(T));
        } else {
          for (int i = 0; i < number; ++i) first[places.of[static_cast<std::size_t>(i)]] = from[done + i];
        }
      });
    });
  });
}

bool ShortLanes::share(std::uint64_t address, std::size_t bytes) const {
  const Chip& chip = mem_.chip();
  const std::uint8_t* first = nullptr;
  for (int i = first_; i < last_; ++i) {
    const std::uint8_t* place = mem_.local(remainder(start_npu_ + i, chip.npu_num)) + chip.offset_of(address);
    if (first == nullptr) first = place;
    if (std::memcmp(first, place, bytes) != 0) return false;
  }
  return true;
}

}  // namespace softtpu
