// GDMA selection: the elements under a mask, the positions of non-zero elements
// (numerics: bm1684x-dma-hau-gather.md section 3).
#include <algorithm>
#include <array>
#include <cstring>

#include "device/core/commands.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

constexpr int kPiece = 1024;  // elements that pass through the staging buffer at a time

// Densely written output. Pieces are staged so that nothing behind the last result is touched.
template <class T>
class DenseOutput {
 public:
  explicit DenseOutput(T* dst) : dst_(dst) {}
  // Stages the values whose keep(i) is true, i in [0, count), count <= kPiece.
  template <class Value, class Keep>
  void put(int count, Value value, Keep keep) {
    unsigned kept = 0;
    for (int i = 0; i < count; ++i) {
      staged_[kept] = value(i);
      kept += keep(i) ? 1 : 0;
    }
    std::memmove(dst_ + total_, staged_.data(), kept * sizeof(T));
    total_ += kept;
  }
  std::uint32_t total() const { return total_; }

 private:
  T* dst_;
  std::uint32_t total_ = 0;
  std::array<T, kPiece + 1> staged_;
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
  DenseOutput<T> output(TensorView(mem, cmd.dst).at<T>(0, 0, 0, 0));
  for_pieces(cmd.src.shape, [&](int n, int c, int h, int w, int count) {
    const T* values = src.at<T>(n, c, h, w);
    const M* chosen = mask.at<M>(n, c, h, w);
    output.put(
        count, [&](int i) { return values[i]; }, [&](int i) { return chosen[i] != 0; });
  });
  return output.total();
}

template <class T>
std::uint32_t nonzero(const Memories& mem, const DmaNonzeroCmd& cmd) {
  const TensorView src(mem, cmd.src);
  DenseOutput<std::uint32_t> output(TensorView(mem, cmd.dst).at<std::uint32_t>(0, 0, 0, 0));
  std::uint32_t next = cmd.base;
  for_pieces(cmd.src.shape, [&](int n, int c, int h, int w, int count) {
    const T* values = src.at<T>(n, c, h, w);
    output.put(
        count, [&](int i) { return next + static_cast<std::uint32_t>(i); }, [&](int i) { return values[i] != 0; });
    next += static_cast<std::uint32_t>(count);
  });
  return output.total();
}

}  // namespace

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
