// Random windows over random inputs, for the tests of convolutions, depthwise convolutions and poolings.
#pragma once

#include <array>

#include "tests/reference/window.hpp"
#include "tests/unit/compare_with_oracle.hpp"
#include "tests/unit/kernel_codes.hpp"

namespace softtpu {

using reference::aligned;
using reference::compact;
using reference::Float;
using reference::Geometry;
using reference::Image;
using reference::LocalTensor;
using reference::RandomData;

inline unsigned address(int npu, unsigned offset) {
  return static_cast<unsigned>(npu) * static_cast<unsigned>(reference::kLocalBytes) + offset;
}
inline unsigned addr(const LocalTensor& tensor) { return static_cast<unsigned>(tensor.addr); }
inline data_type_t code(Float type) { return std::array{DT_FP32, DT_FP16, DT_BFP16}[static_cast<std::size_t>(type)]; }
// An integer type of 8, 16 or 32 bits.
inline Dtype integer_type(int bytes, bool is_signed) {
  if (bytes == 1) return is_signed ? Dtype::kInt8 : Dtype::kUint8;
  if (bytes == 2) return is_signed ? Dtype::kInt16 : Dtype::kUint16;
  return is_signed ? Dtype::kInt32 : Dtype::kUint32;
}

class WindowTest : public OracleComparison {
 protected:
  static constexpr unsigned kInput = 0x4000, kWeight = 0x14000, kBias = 0x2C000, kPoint = 0x2D000, kPairs = 0x2E000,
                            kResult = 0x30000;

  enum class Steps : std::uint8_t {
    kStrided,   // stride, no insertion
    kInserted,  // stride and insertion
    kDeconv,    // insertion, stride 1, the kernel turned
  };
  Geometry geometry(int channels, Steps steps) {
    Geometry g;
    do {
      g.in = {random_.in(1, 2), channels, random_.in(1, 9), random_.in(1, 20)};
      g.kernel = {random_.in(1, 3), random_.in(1, 4)};
      g.stride = {random_.in(1, 3), random_.in(1, 3)};
      g.dilation = {random_.in(1, 2), random_.in(1, 3)};
      g.pad = {random_.in(0, 2), random_.in(0, 2), random_.in(0, 3), random_.in(0, 3)};
      g.insert = {0, 0};
      if (steps != Steps::kStrided) g.insert = {random_.in(0, 2), random_.in(0, 2)};
      if (steps == Steps::kDeconv) g.stride = {1, 1};
      g.rotated_180 = steps == Steps::kDeconv;
    } while (!g.fits());
    return g;
  }
  // An input with gaps and now and then repeated elements, or the natural layout.
  LocalTensor input(const Geometry& g, unsigned addr, int size, bool free) {
    LocalTensor tensor = aligned(addr, g.in.n, g.in.c, g.in.h, g.in.w, size);
    if (!free) return tensor;
    tensor.w_stride = 2;
    tensor.h_stride = g.in.w * 2 + 1;
    tensor.c_stride = g.in.h * tensor.h_stride + 3;
    tensor.n_stride = tensor.c_stride * ((addr / reference::kLocalBytes + g.in.c + 63) / 64);
    const int repeated = random_.in(0, 7);
    if (repeated == 0) tensor.w_stride = 0;
    if (repeated == 1) tensor.h_stride = 0;
    if (repeated == 2) tensor.n_stride = 0;
    return tensor;
  }
  static dim4 strides(const LocalTensor& t) {
    return {static_cast<int>(t.n_stride), static_cast<int>(t.c_stride), static_cast<int>(t.h_stride),
            static_cast<int>(t.w_stride)};
  }
  LocalTensor output(const Geometry& g, unsigned addr, int channels, int size) {
    return aligned(addr, g.in.n, channels, g.oh(), g.ow(), size);
  }
  template <class Body>
  static void each_element(const LocalTensor& tensor, Body body) {
    for (int n = 0; n < tensor.n; ++n) {
      for (int c = 0; c < tensor.c; ++c) {
        for (int h = 0; h < tensor.h; ++h) {
          for (int w = 0; w < tensor.w; ++w) body(n, c, h, w);
        }
      }
    }
  }
  void fill(std::initializer_list<const LocalTensor*> tensors, Float type) {
    for (const LocalTensor* tensor : tensors) random_.fill(image_, *tensor, type);
  }
  void fill_bits(std::initializer_list<const LocalTensor*> tensors) {
    for (const LocalTensor* tensor : tensors) random_.fill_bits(image_, *tensor);
  }
  std::uint32_t take(const LocalTensor& tensor, int n, int c, int h, int w) const {
    return RandomData::take(image_, tensor, n, c, h, w);
  }
  double value(const LocalTensor& tensor, Float type, int n, int c, int h, int w) const {
    return reference::value_of(take(tensor, n, c, h, w), type);
  }
  std::int64_t integer(const LocalTensor& tensor, bool is_signed, int n, int c, int h, int w) const {
    return RandomData::integer(take(tensor, n, c, h, w), tensor.size, is_signed);
  }
  Float any_float() { return static_cast<Float>(random_.in(0, 2)); }
  // The bits of a scalar of the type.
  scalar_t scalar_bits(std::uint32_t bits) {
    scalar_t value;
    value.u32 = bits;
    return value;
  }
};

}  // namespace softtpu
