// Random operands for comparisons with oracles.
#pragma once

#include <cstdint>
#include <random>

#include "tests/reference/local_tensor.hpp"
#include "tests/reference/sums.hpp"

namespace softtpu::reference {

class RandomData {
 public:
  explicit RandomData(unsigned seed) : random_(seed) {}

  int in(int low, int high) { return low + static_cast<int>(bits() % static_cast<unsigned>(high - low + 1)); }
  bool flip() { return (bits() & 1U) != 0; }
  std::uint32_t bits() { return static_cast<std::uint32_t>(random_()); }
  // Mostly ordinary values; now and then any pattern: infinities, NaN, subnormals.
  std::uint32_t element(Float type) {
    const std::uint32_t any = bits();
    const bool wild = in(0, 200) == 0;
    if (type == Float::kF32) return wild ? any : (any & 0x80FFFFFFU) | static_cast<std::uint32_t>(in(124, 131)) << 23;
    if (type == Float::kF16)
      return wild ? any & 0xFFFFU : (any & 0x83FFU) | static_cast<std::uint32_t>(in(10, 19)) << 10;
    return wild ? any & 0xFFFFU : (any & 0x807FU) | static_cast<std::uint32_t>(in(120, 134)) << 7;
  }
  void fill(Image& image, const LocalTensor& tensor, Float type) {
    each(tensor, [&](int n, int c, int h, int w) { put(image, tensor, n, c, h, w, element(type)); });
  }
  void fill_bits(Image& image, const LocalTensor& tensor) {
    each(tensor, [&](int n, int c, int h, int w) { put(image, tensor, n, c, h, w, bits()); });
  }

  static void put(Image& image, const LocalTensor& tensor, int n, int c, int h, int w, std::uint32_t bits) {
    std::memcpy(image.data() + tensor.place(n, c, h, w), &bits, static_cast<std::size_t>(tensor.size));
  }
  static std::uint32_t take(const Image& image, const LocalTensor& tensor, int n, int c, int h, int w) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, image.data() + tensor.place(n, c, h, w), static_cast<std::size_t>(tensor.size));
    return bits;
  }
  // As an integer of that size and sign.
  static std::int64_t integer(std::uint32_t bits, int size, bool is_signed) {
    if (!is_signed) return bits;
    const int unused = 32 - 8 * size;
    return static_cast<std::int32_t>(bits << unused) >> unused;
  }

 private:
  template <class Body>
  static void each(const LocalTensor& tensor, Body body) {
    for (int n = 0; n < tensor.n; ++n) {
      for (int c = 0; c < tensor.c; ++c) {
        for (int h = 0; h < tensor.h; ++h) {
          for (int w = 0; w < tensor.w; ++w) body(n, c, h, w);
        }
      }
    }
  }

  std::mt19937 random_;
};

}  // namespace softtpu::reference
