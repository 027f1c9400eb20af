// GDMA selection: the elements under a mask, the positions of non-zero elements
// (numerics: bm1684x-dma-hau-gather.md section 3).
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "device/core/commands.hpp"
#include "device/dma/compact.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

constexpr int kPiece = 1024;  // elements that pass through the staging buffer at a time

template <class T, class M>
unsigned compact(const void* source, std::uint32_t offset, const void* chosen, int count, void* out) {
  const auto* values = static_cast<const T*>(source);
  const auto* mask = static_cast<const M*>(chosen);
  auto* to = static_cast<T*>(out);
  unsigned kept = 0;
  for (int i = 0; i < count; ++i) {
    to[kept] = static_cast<T>(values[i] + static_cast<T>(offset));
    kept += mask[i] != 0 ? 1 : 0;
  }
  return kept;
}

CompactRow find_compact_row(int value_bytes, int mask_bytes) {
  const CompactRow fast = plain_kernels() ? nullptr : fast_compact_row(value_bytes, mask_bytes);
  return fast != nullptr ? fast : plain_compact_row(value_bytes, mask_bytes);
}

// Densely written output. Pieces are staged so that nothing behind the last result is touched.
template <class T>
class DenseOutput {
 public:
  DenseOutput(T* dst, int mask_bytes) : dst_(dst), compact_(find_compact_row(sizeof(T), mask_bytes)) {}
  // values[i] + offset of the i that the mask chooses; count <= kPiece.
  void put(const T* values, std::uint32_t offset, const void* mask, int count) {
    const unsigned kept = compact_(values, offset, mask, count, staged_.data());
    std::memmove(dst_ + total_, staged_.data(), kept * sizeof(T));
    total_ += kept;
  }
  std::uint32_t total() const { return total_; }

 private:
  T* dst_;
  const CompactRow compact_;
  std::uint32_t total_ = 0;
  std::array<T, kPiece + kCompactSlack> staged_;
};

// Calls body(n, c, h, w, count) for pieces of rows, in n, c, h, w order.
template <class Body>
void for_pieces(const Dim4& shape, Body body) {
  for (int n = 0; n < shape.n; ++n) {
    for (int c = 0; c < shape.c; ++c) {
      for (int h = 0; h < shape.h; ++h) {
        for (int w = 0; w < shape.w; w += kPiece) body(n, c, h, w, std::min(kPiece, shape.w - w));
      }
    }
  }
}

template <class T, class M>
std::uint32_t select(const Memories& mem, const DmaMaskSelectCmd& cmd) {
  const TensorView src(mem, cmd.src);
  const TensorView mask(mem, cmd.mask);
  DenseOutput<T> output(TensorView(mem, cmd.dst).at<T>(0, 0, 0, 0), sizeof(M));
  for_pieces(cmd.src.shape, [&](int n, int c, int h, int w, int count) {
    output.put(src.at<T>(n, c, h, w), 0, mask.at<M>(n, c, h, w), count);
  });
  return output.total();
}

template <class T>
std::uint32_t nonzero(const Memories& mem, const DmaNonzeroCmd& cmd) {
  const TensorView src(mem, cmd.src);
  DenseOutput<std::uint32_t> output(TensorView(mem, cmd.dst).at<std::uint32_t>(0, 0, 0, 0), sizeof(T));
  static const std::array<std::uint32_t, kPiece> places = [] {
    std::array<std::uint32_t, kPiece> all{};
    std::iota(all.begin(), all.end(), 0U);
    return all;
  }();
  std::uint32_t next = cmd.base;
  for_pieces(cmd.src.shape, [&](int n, int c, int h, int w, int count) {
    output.put(places.data(), next, src.at<T>(n, c, h, w), count);
    next += static_cast<std::uint32_t>(count);
  });
  return output.total();
}

}  // namespace

CompactRow plain_compact_row(int value_bytes, int mask_bytes) {
  CompactRow found = nullptr;
  for_size(value_bytes, [&]<class T>(T) { for_size(mask_bytes, [&]<class M>(M) { found = &compact<T, M>; }); });
  return found;
}

std::uint32_t execute(Memories& mem, const DmaMaskSelectCmd& cmd) {
  std::uint32_t count = 0;
  for_size(size_of(cmd.src.dtype),
           [&]<class T>(T) { for_size(size_of(cmd.mask.dtype), [&]<class M>(M) { count = select<T, M>(mem, cmd); }); });
  return count;
}

std::uint32_t execute(Memories& mem, const DmaNonzeroCmd& cmd) {
  std::uint32_t count = 0;
  for_size(size_of(cmd.src.dtype), [&]<class T>(T) { count = nonzero<T>(mem, cmd); });
  return count;
}

}  // namespace softtpu
