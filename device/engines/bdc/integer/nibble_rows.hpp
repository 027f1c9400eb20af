// Rows of operands whose elements may have 4 bits (device/command/packing.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "device/chip/chip.hpp"
#include "device/memory/lane_slice.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/wide.hpp"

namespace softtpu {

inline constexpr int kNibblePiece = 512;  // elements of a row at once
template <class W>
using NibblesAs = std::array<W, kNibblePiece>;
using NibblePiece = NibblesAs<std::int64_t>;

// Values of one operand of elements of `shape`; those of a float are its bits.
class NibbleRows {
 public:
  NibbleRows(const Memories& mem, const Tensor& tensor, bool packed, const Dim4& shape)
      : view_(mem, tensor), tensor_(tensor), packed_(packed), shape_(shape), stored_(tensor.dtype) {
    if (is_float(stored_)) stored_ = size_of(stored_) == 2 ? Dtype::kUint16 : Dtype::kUint32;
  }

  // Values have to be ones of the signed type W; only bits of 32-bit operands take 64.
  template <class W>
  void read(NibblesAs<W>& to, int n, int c, int h, int w, int count) const {
    if (!packed_) return row_reader<W>(stored_)(to.data(), element(n, c, h, w), tensor_.stride.w, count);
    const std::int64_t at = place(h, w);
    const std::uint8_t* byte = view_.byte_at(n, c, 0, 0, 1) + at / 2;
    const W sign = tensor_.dtype == Dtype::kInt8 ? 8 : 0;
    const auto value = [=](int bits) { return static_cast<W>((bits ^ sign) - sign); };
    W* next = to.data();
    W* const end = next + count;
    if (at % 2 != 0) *next++ = value(*byte++ >> 4);
    for (; end - next >= 2; next += 2, ++byte) {
      next[0] = value(*byte & 0xF);
      next[1] = value(*byte >> 4);
    }
    if (next != end) *next = value(*byte & 0xF);
  }

  template <class W>
  void write(const NibblesAs<W>& from, int n, int c, int h, int w, int count) const {
    if (!packed_) return row_writer<W>(stored_)(element(n, c, h, w), tensor_.stride.w, from.data(), count);
    std::uint8_t* bytes = view_.byte_at(n, c, 0, 0, 1);
    for (int i = 0; i < count; ++i) {
      const std::int64_t at = place(h, w) + i;
      const auto value = static_cast<unsigned>(from[static_cast<std::size_t>(i)]) & 0xFU;
      std::uint8_t& byte = bytes[at / 2];
      byte = static_cast<std::uint8_t>(at % 2 != 0 ? (byte & 0x0FU) | value << 4 : (byte & 0xF0U) | value);
    }
  }

 private:
  // In halves of bytes, from the beginning of the channel. Rows that follow each other without a gap are one row of the
  // bytes: one of an odd width ends in the middle of a byte.
  std::int64_t place(int h, int w) const {
    return tensor_.shape.h == shape_.h ? 2 * tensor_.stride.h * h + w : std::int64_t{h} * shape_.w + w;
  }
  std::uint8_t* element(int n, int c, int h, int w) const {
    return view_.byte_at(n, c, h, w, static_cast<std::size_t>(size_of(tensor_.dtype)));
  }

  TensorView view_;
  const Tensor& tensor_;
  bool packed_;
  Dim4 shape_;
  Dtype stored_;
};

// Calls body(n, c, h, w, count) for the pieces of all rows, in every lane that is asked for.
template <class Body>
void for_each_nibble_piece(const Chip& chip, const Dim4& shape, const Body& body) {
  const auto channel = [&](int c) {
    for (int n = 0; n < shape.n; ++n) {
      for (int h = 0; h < shape.h; ++h) {
        for (int w = 0; w < shape.w; w += kNibblePiece) body(n, c, h, w, std::min(kNibblePiece, shape.w - w));
      }
    }
  };
  if (lane_slice == nullptr) return parallel_for(shape.c, shape.elements(), channel);
  for (int c = 0; c < shape.c; ++c) {
    const int lane = remainder(c, chip.npu_num);
    if (lane >= lane_slice->first && lane < lane_slice->last) channel(c);
  }
}

}  // namespace softtpu
