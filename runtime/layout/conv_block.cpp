#include "runtime/layout/conv_block.hpp"

#include <cstring>

namespace softtpu {
namespace {

Stride4 units_of(const ConvBlock& shape) {
  return weight_stride({shape.ic, shape.oc, shape.kh, shape.kw}, shape.ic_pack);
}

// Calls move(offset in the block, offset in the plain weights) for each weight.
template <class Move>
void for_each_weight(const ConvBlock& shape, Move move) {
  const Stride4 stride = units_of(shape);
  const std::int64_t window = std::int64_t{shape.kh} * shape.kw;
  std::int64_t plain = 0;
  for (int oc = 0; oc < shape.oc; ++oc) {
    const std::int64_t lane = npu_of_channel(shape.npu_num, 0, oc) * shape.lane_bytes() + shape.weight_offset();
    const std::int64_t row = row_of_channel(shape.npu_num, 0, oc) * stride.c;
    for (int ic = 0; ic < shape.ic; ++ic) {
      for (std::int64_t tap = 0; tap < window; ++tap, ++plain) {
        const std::int64_t unit = row + ic / shape.ic_pack * stride.n + tap;
        move(lane + (unit * shape.ic_pack + ic % shape.ic_pack) * shape.element_bytes, plain * shape.element_bytes);
      }
    }
  }
}

template <class Move>
void for_each_bias(const ConvBlock& shape, Move move) {
  for (int oc = 0; oc < shape.oc; ++oc) {
    const std::int64_t lane = npu_of_channel(shape.npu_num, 0, oc) * shape.lane_bytes();
    move(lane + row_of_channel(shape.npu_num, 0, oc) * shape.bias_bytes, std::int64_t{oc} * shape.bias_bytes);
  }
}

}  // namespace

std::int64_t ConvBlock::lane_bytes() const {
  return align_up(weight_offset() + rows() * units_of(*this).c * ic_pack * element_bytes, 4);
}

void merge(const ConvBlock& shape, const std::byte* weights, const std::byte* bias, std::byte* block) {
  std::memset(block, 0, static_cast<std::size_t>(shape.bytes()));
  const auto element = static_cast<std::size_t>(shape.element_bytes);
  for_each_weight(shape,
                  [&](std::int64_t there, std::int64_t here) { std::memcpy(block + there, weights + here, element); });
  if (shape.bias_bytes == 0) return;
  for_each_bias(shape, [&](std::int64_t there, std::int64_t here) {
    std::memcpy(block + there, bias + here, static_cast<std::size_t>(shape.bias_bytes));
  });
}

void split(const ConvBlock& shape, const std::byte* block, std::byte* weights, std::byte* bias) {
  const auto element = static_cast<std::size_t>(shape.element_bytes);
  for_each_weight(shape,
                  [&](std::int64_t there, std::int64_t here) { std::memcpy(weights + here, block + there, element); });
  if (shape.bias_bytes == 0) return;
  for_each_bias(shape, [&](std::int64_t there, std::int64_t here) {
    std::memcpy(bias + here, block + there, static_cast<std::size_t>(shape.bias_bytes));
  });
}

}  // namespace softtpu
