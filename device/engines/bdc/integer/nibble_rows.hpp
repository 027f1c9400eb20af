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

inline constexpr int kNibblePiece = 512;  // elements at once
template <class W>
using NibblesAs = std::array<W, kNibblePiece>;
using NibblePiece = NibblesAs<std::int64_t>;

// Elements that are computed together: from one row, or several whole rows.
struct PieceAt {
  int n, c, h, w;  // of the first element
  int rows, cols;
  int count() const { return rows * cols; }
};

// Values of one operand of elements of `shape`; those of a float are its bits.
class NibbleRows {
 public:
  NibbleRows(const Memories& mem, const Tensor& tensor, bool packed, const Dim4& shape)
      : view_(mem, tensor), tensor_(tensor), packed_(packed), shape_(shape), stored_(tensor.dtype) {
    if (is_float(stored_)) stored_ = size_of(stored_) == 2 ? Dtype::kUint16 : Dtype::kUint32;
  }

  // Values have to be ones of the signed type W: bits of 32-bit operands take 64, those of 16 bits are bytes.
  template <class W>
  void read(NibblesAs<W>& to, const PieceAt& at) const {
    for_each_row_of(at, [&](int first, int h, int count) {
      W* out = to.data() + first;
      if (packed_) return unpack(out, view_.byte_at(at.n, at.c, 0, 0, 1), place(h, at.w), count);
      const std::uint8_t* row = element(at.n, at.c, h, at.w);
      if constexpr (sizeof(W) == 2) {
        stored_ == Dtype::kInt8 ? widen_bytes(out, reinterpret_cast<const std::int8_t*>(row), count)
                                : widen_bytes(out, row, count);
      } else {
        row_reader<W>(stored_)(out, row, tensor_.stride.w, count);
      }
    });
  }

  template <class W>
  void write(const NibblesAs<W>& from, const PieceAt& at) const {
    for_each_row_of(at, [&](int first, int h, int count) {
      const W* in = from.data() + first;
      if (!packed_) return row_writer<W>(stored_)(element(at.n, at.c, h, at.w), tensor_.stride.w, in, count);
      std::uint8_t* bytes = view_.byte_at(at.n, at.c, 0, 0, 1);
      for (int i = 0; i < count; ++i) {
        const std::int64_t half = place(h, at.w) + i;
        const auto value = static_cast<unsigned>(in[i]) & 0xFU;
        std::uint8_t& byte = bytes[half / 2];
        byte = static_cast<std::uint8_t>(half % 2 != 0 ? (byte & 0x0FU) | value << 4 : (byte & 0xF0U) | value);
      }
    });
  }

 private:
  // Calls body(index of its first element, h, count) for each row, or once where they follow each other in memory.
  template <class Body>
  void for_each_row_of(const PieceAt& at, const Body& body) const {
    if (at.rows == 1 || follow_each_other(at.cols)) return body(0, at.h, at.count());
    for (int r = 0; r < at.rows; ++r) body(r * at.cols, at.h + r, at.cols);
  }
  bool follow_each_other(int cols) const {
    if (!packed_) return tensor_.stride.h == cols * tensor_.stride.w;
    return place(1, 0) == cols;
  }
  // From a half of a byte on.
  template <class W>
  void unpack(W* out, const std::uint8_t* bytes, std::int64_t half, int count) const {
    const W sign = tensor_.dtype == Dtype::kInt8 ? 8 : 0;
    const auto value = [=](int bits) { return static_cast<W>((bits ^ sign) - sign); };
    const std::uint8_t* byte = bytes + half / 2;
    if (half % 2 != 0) {
      *out++ = value(*byte++ >> 4);
      --count;
    }
    for (int i = 0; i < count / 2; ++i) {
      out[2 * i] = value(byte[i] & 0xF);
      out[2 * i + 1] = value(byte[i] >> 4);
    }
    if (count % 2 != 0) out[count - 1] = value(byte[count / 2] & 0xF);
  }
  template <class W, class T>
  void widen_bytes(W* out, const T* row, int count) const {
    const std::int64_t step = tensor_.stride.w;
    if (step == 0) {
      std::fill_n(out, count, row[0]);
    } else if (step == 1) {
      for (int i = 0; i < count; ++i) out[i] = row[i];
    } else {
      for (int i = 0; i < count; ++i) out[i] = row[i * step];
    }
  }
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

// Calls body(PieceAt) for all pieces, in every lane that is asked for.
template <class Body>
void for_each_nibble_piece(const Chip& chip, const Dim4& shape, const Body& body) {
  const int rows = std::max(1, kNibblePiece / shape.w);
  const auto channel = [&](int c) {
    for (int n = 0; n < shape.n; ++n) {
      for (int h = 0; h < shape.h; h += rows) {
        for (int w = 0; w < shape.w; w += kNibblePiece)
          body(PieceAt{n, c, h, w, std::min(rows, shape.h - h), std::min(kNibblePiece, shape.w - w)});
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
