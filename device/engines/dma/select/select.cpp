// GDMA selection: the elements under a mask, the positions of non-zero elements
// (numerics: bm1684x-dma-hau-gather.md section 3).
//
// Threads share pieces of the input: first each piece's mask becomes bits and a number, then what a piece chooses goes
// behind what the pieces before it choose. Where results may lie over the input, elements go one by one, in order.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "device/command/functions.hpp"
#include "device/engines/dma/select/command.hpp"
#include "device/engines/dma/select/compact.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/scratch.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

constexpr int kPiece = 4096;                 // elements of a row that are handled together
constexpr std::int64_t kTogether = 1 << 20;  // elements whose bits are kept at a time

template <class M>
unsigned mark(const void* chosen, int count, std::uint8_t* bits) {
  const auto* mask = static_cast<const M*>(chosen);
  std::fill_n(bits, (count + 7) / 8, std::uint8_t{0});
  unsigned found = 0;
  for (int i = 0; i < count; ++i) {
    const bool keep = mask[i] != 0;
    bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (keep ? 1U : 0U) << (i % 8));
    found += keep ? 1 : 0;
  }
  return found;
}

template <class T>
void choose(const void* source, std::uint32_t offset, const std::uint8_t* bits, int count, void* out) {
  const auto* values = static_cast<const T*>(source);
  auto* to = static_cast<T*>(out);
  for (int i = 0; i < count; ++i) {
    *to = static_cast<T>(values[i] + static_cast<T>(offset));
    to += bits[i / 8] >> (i % 8) & 1;
  }
}

CompactLoops find_loops(int value_bytes, int mask_bytes) {
  const CompactLoops fast = plain_kernels() ? CompactLoops{} : fast_compact_loops(value_bytes, mask_bytes);
  return fast.mark != nullptr ? fast : plain_compact_loops(value_bytes, mask_bytes);
}

// Positions 0, 1, 2 ... of a piece's elements.
const std::uint32_t* positions() {
  static const std::array<std::uint32_t, kPiece> list = [] {
    std::array<std::uint32_t, kPiece> all{};
    std::iota(all.begin(), all.end(), 0U);
    return all;
  }();
  return list.data();
}

// The input's rows, cut into pieces, in n, c, h, w order. Rows that follow each other without a gap are one.
class Pieces {
 public:
  Pieces(const Tensor& mask, const Tensor& values) : shape_(mask.shape) {
    join(mask, values, &Dim4::h, &Stride4::h);
    if (shape_.h == 1 && mask.space == Space::kSystem && values.space == Space::kSystem) {
      join(mask, values, &Dim4::c, &Stride4::c);
      if (shape_.c == 1) join(mask, values, &Dim4::n, &Stride4::n);
    }
    in_row_ = (shape_.w + kPiece - 1) / kPiece;
  }
  std::int64_t count() const { return shape_.elements() / shape_.w * in_row_; }
  int most() const { return std::min(shape_.w, kPiece); }  // elements of one

  struct Piece {
    int n, c, h, w, count;
    std::int64_t first;  // its first element's position among all
  };
  Piece operator[](std::int64_t index) const {
    const std::int64_t row = index / in_row_;
    const int w = static_cast<int>(index % in_row_) * kPiece;
    const std::int64_t batch_rows = std::int64_t{shape_.c} * shape_.h;
    return {static_cast<int>(row / batch_rows), static_cast<int>(row % batch_rows / shape_.h),
            static_cast<int>(row % shape_.h),   w,
            std::min(kPiece, shape_.w - w),     row * shape_.w + w};
  }

 private:
  void join(const Tensor& mask, const Tensor& values, int Dim4::*extent, std::int64_t Stride4::*stride) {
    if (shape_.*extent == 1) return;
    const std::int64_t joined = std::int64_t{shape_.w} * shape_.*extent;
    if (mask.stride.*stride != shape_.w || values.stride.*stride != shape_.w || joined > INT32_MAX) return;
    shape_.w = static_cast<int>(joined);
    shape_.*extent = 1;
  }

  Dim4 shape_;
  std::int64_t in_row_;
};

// What is selected from: a mask's and the values' elements of each piece, and what is added to a piece's values.
template <class T, class M>
struct Masked {
  TensorView mask, values;
  const M* mask_of(const Pieces::Piece& at) const { return mask.at<M>(at.n, at.c, at.h, at.w); }
  const T* values_of(const Pieces::Piece& at) const { return values.at<T>(at.n, at.c, at.h, at.w); }
  std::uint32_t offset_of(const Pieces::Piece&) const { return 0; }
};
// Its own positions, counted from `base`.
template <class M>
struct Positions {
  TensorView mask;
  std::uint32_t base;
  const M* mask_of(const Pieces::Piece& at) const { return mask.at<M>(at.n, at.c, at.h, at.w); }
  const std::uint32_t* values_of(const Pieces::Piece&) const { return positions(); }
  std::uint32_t offset_of(const Pieces::Piece& at) const { return base + static_cast<std::uint32_t>(at.first); }
};

// One element after the other, each read when its turn comes.
template <class T, class Source>
std::uint32_t select_in_order(const Pieces& pieces, const Source& source, T* dst) {
  T* next = dst;
  for (std::int64_t index = 0; index < pieces.count(); ++index) {
    const auto at = pieces[index];
    const auto* mask = source.mask_of(at);
    const T* values = source.values_of(at);
    for (int i = 0; i < at.count; ++i) {
      if (mask[i] != 0) *next++ = static_cast<T>(values[i] + static_cast<T>(source.offset_of(at)));
    }
  }
  return static_cast<std::uint32_t>(next - dst);
}

// Selections of pieces at a time, each of which two loops over them share among threads.
template <class T, class Source>
class Selection {
 public:
  Selection(const Pieces& pieces, const Source& source, CompactLoops loops, T* dst)
      : pieces_(pieces), source_(source), loops_(loops), next_(dst) {}

  // The end of the results.
  T* run() {
    const std::int64_t together = std::max<std::int64_t>(1, kTogether / pieces_.most());
    for (std::int64_t first = 0; first < pieces_.count(); first += together)
      select(first, static_cast<int>(std::min(together, pieces_.count() - first)));
    return next_;
  }

 private:
  static constexpr int kTask = 1 << 14;  // elements, about

  void select(std::int64_t first, int count) {
    const int group = std::max(1, kTask / pieces_.most());
    const int tasks = (count + group - 1) / group;
    const std::int64_t steps = std::int64_t{count} * pieces_.most() / kElementsPerStep;
    const int apart = mark_bytes(pieces_.most()) + kMarkSlack;
    std::uint8_t* bits = room<std::uint8_t, struct Bits>(std::int64_t{count} * apart);
    std::uint32_t* places = room<std::uint32_t, struct Places>(count + 1);
    parallel_for(tasks, steps, [&](int task) {
      for (int i = task * group; i < std::min(count, (task + 1) * group); ++i) {
        const auto at = pieces_[first + i];
        places[i] = loops_.mark(source_.mask_of(at), at.count, bits + std::int64_t{i} * apart);
      }
    });
    places[count] = 0;
    std::exclusive_scan(places, places + count + 1, places, 0U);
    parallel_for(tasks, steps, [&](int task) {
      const int end = std::min(count, (task + 1) * group);
      for (int i = task * group; i < end; ++i)
        choose(pieces_[first + i], bits + std::int64_t{i} * apart, places[i], places[i + 1] - places[i], places[end]);
    });
    next_ += places[count];
  }
  // Chooses `found` of a piece's elements. What loops write behind them must stay within the same task's results.
  void choose(const Pieces::Piece& at, const std::uint8_t* bits, std::uint32_t place, std::uint32_t found,
              std::uint32_t task_end) {
    const T* values = source_.values_of(at);
    const std::uint32_t offset = source_.offset_of(at);
    if (place + found + kCompactSlack <= task_end) return loops_.choose(values, offset, bits, at.count, next_ + place);
    std::array<T, kPiece + kCompactSlack> staged;
    loops_.choose(values, offset, bits, at.count, staged.data());
    std::memcpy(next_ + place, staged.data(), found * sizeof(T));
  }

  static constexpr int kElementsPerStep = 4;
  const Pieces& pieces_;
  const Source& source_;
  const CompactLoops loops_;
  T* next_;
};

template <class T, class M, class Source>
std::uint32_t compact(const Memories& mem, const Tensor& dst, const Pieces& pieces, const Source& source,
                      bool in_order) {
  T* results = TensorView(mem, dst).at<T>(0, 0, 0, 0);
  if (in_order) return select_in_order(pieces, source, results);
  Selection<T, Source> selection(pieces, source, find_loops(sizeof(T), sizeof(M)), results);
  return static_cast<std::uint32_t>(selection.run() - results);
}

}  // namespace

CompactLoops plain_compact_loops(int value_bytes, int mask_bytes) {
  CompactLoops found{};
  for_size(value_bytes, [&]<class T>(T) { found.choose = &choose<T>; });
  for_size(mask_bytes, [&]<class M>(M) { found.mark = &mark<M>; });
  return found;
}

std::uint32_t execute(Memories& mem, const DmaMaskSelectCmd& cmd) {
  const bool in_order = may_overlap(mem.chip(), cmd.dst, cmd.src) || may_overlap(mem.chip(), cmd.dst, cmd.mask);
  std::uint32_t count = 0;
  for_size(size_of(cmd.src.dtype), [&]<class T>(T) {
    for_size(size_of(cmd.mask.dtype), [&]<class M>(M) {
      const Masked<T, M> source{TensorView(mem, cmd.mask), TensorView(mem, cmd.src)};
      count = compact<T, M>(mem, cmd.dst, Pieces(cmd.mask, cmd.src), source, in_order);
    });
  });
  return count;
}

std::uint32_t execute(Memories& mem, const DmaNonzeroCmd& cmd) {
  const bool in_order = may_overlap(mem.chip(), cmd.dst, cmd.src);
  std::uint32_t count = 0;
  for_size(size_of(cmd.src.dtype), [&]<class M>(M) {
    const Positions<M> source{TensorView(mem, cmd.src), cmd.base};
    count = compact<std::uint32_t, M>(mem, cmd.dst, Pieces(cmd.src, cmd.src), source, in_order);
  });
  return count;
}

}  // namespace softtpu
