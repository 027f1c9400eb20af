// Where the elements of tensors lie in the local memories of BM1684X, for oracles: own formulas, over an image of
// all local memories.
#pragma once

#include <cstdint>
#include <cstring>

#include "tests/reference/image.hpp"

namespace softtpu::reference {

inline constexpr int kNpus = 64;
inline constexpr std::int64_t kLocalBytes = 256 << 10;

struct LocalTensor {
  std::int64_t addr;  // unified local address
  int n, c, h, w;
  int size;  // bytes of an element
  std::int64_t n_stride, c_stride, h_stride, w_stride;

  std::int64_t place(int in, int ic, int ih, int iw) const {
    const std::int64_t lane = addr / kLocalBytes + ic;
    const std::int64_t element = in * n_stride + lane / kNpus * c_stride + ih * h_stride + iw * w_stride;
    return lane % kNpus * kLocalBytes + addr % kLocalBytes + element * size;
  }
  template <class T>
  T get(const Image& image, int in, int ic, int ih, int iw) const {
    T value;
    std::memcpy(&value, image.data() + place(in, ic, ih, iw), sizeof(T));
    return value;
  }
  template <class T>
  void set(Image& image, int in, int ic, int ih, int iw, T value) const {
    std::memcpy(image.data() + place(in, ic, ih, iw), &value, sizeof(T));
  }
};

// 64 bytes per row of execution units.
inline LocalTensor aligned(std::int64_t addr, int n, int c, int h, int w, int size) {
  const std::int64_t units = 64 / size;
  const std::int64_t c_stride = (std::int64_t{h} * w + units - 1) / units * units;
  const std::int64_t lanes = addr / kLocalBytes + c;
  return {addr, n, c, h, w, size, c_stride * ((lanes + kNpus - 1) / kNpus), c_stride, w, 1};
}
inline LocalTensor compact(std::int64_t addr, int n, int c, int h, int w, int size) {
  const std::int64_t lanes = addr / kLocalBytes + c;
  return {addr, n, c, h, w, size, std::int64_t{h} * w * ((lanes + kNpus - 1) / kNpus), std::int64_t{h} * w, w, 1};
}

}  // namespace softtpu::reference
