// GDMA tensor copies: bits move, only the element size matters (numerics: bm1684x-dma-hau-gather.md section 3).
//
// Where the destination overlaps the source, or itself, elements move one by one in the destination's n, c, h, w order,
// as on the chip; of one that exchanges channels and columns, in the source's order (golden-bmodel:
// dma_cw_transpose/0003, 0016, 0039). Otherwise whole rows move, neighbouring rows joined, several threads sharing
// them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "device/command/functions.hpp"
#include "device/engines/dma/copy/command.hpp"
#include "device/engines/dma/copy/kept_npus.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/memory/transpose.hpp"
#include "device/numeric/by_type.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu {
namespace {

constexpr std::int64_t kTaskBytes = 1 << 16;  // what one task moves, about

// Calls body(first, last) for pieces of [0, count) of at most `group`, on several threads when `bytes` are worth it.
template <class Body>
void for_groups(std::int64_t count, std::int64_t group, std::int64_t bytes, Body body) {
  group = std::max(group, count / (1 << 20) + 1);
  const std::int64_t tasks = (count + group - 1) / group;
  parallel_for(static_cast<int>(tasks), bytes / 4, [&](int task) {
    const std::int64_t first = task * group;
    body(first, std::min(count, first + group));
  });
}

struct Index4 {
  std::int64_t n, c, h, w;
};

// The source element that belongs to a destination element.
Index4 source_of(CopyOrder order, const Index4& at, const Dim4& shape) {
  switch (order) {
    case CopyOrder::kNchw:
    case CopyOrder::kReshape:
    case CopyOrder::kBlock: return at;
    case CopyOrder::kCnhw: return {at.c, at.n, at.h, at.w};
    case CopyOrder::kNwhc: return {at.n, at.w, at.h, at.c};
    case CopyOrder::kOneChannel: return {at.n, 0, at.h, at.w};
    case CopyOrder::kReverseN: return {shape.n - 1 - at.n, at.c, at.h, at.w};
    case CopyOrder::kReverseC: return {at.n, shape.c - 1 - at.c, at.h, at.w};
    case CopyOrder::kReverseH: return {at.n, at.c, shape.h - 1 - at.h, at.w};
    case CopyOrder::kReverseW: return {at.n, at.c, at.h, shape.w - 1 - at.w};
  }
  unreachable(order);
}

// Position `element` of the n, c, h, w order.
Index4 index_of(std::int64_t element, const Dim4& shape) {
  if (element == 0) return {0, 0, 0, 0};
  return {element / shape.w / shape.h / shape.c, element / shape.w / shape.h % shape.c, element / shape.w % shape.h,
          element % shape.w};
}

// The obvious version: one element after the other.
template <class T>
void copy_elements(const Memories& mem, const DmaCopyCmd& cmd) {
  const TensorView dst(mem, cmd.dst);
  const TensorView src(mem, cmd.src);
  const std::int64_t count = cmd.dst.shape.elements();
  const bool by_source = cmd.order == CopyOrder::kNwhc;
  const Dim4& shape = cmd.dst.shape;
  const Dim4 walked = by_source ? Dim4{shape.n, shape.w, shape.h, shape.c} : shape;
  for (std::int64_t i = 0; i < count; ++i) {
    Index4 to = index_of(i, walked);
    if (by_source) std::swap(to.c, to.w);
    const Index4 from =
        cmd.order == CopyOrder::kReshape ? index_of(i, cmd.src.shape) : source_of(cmd.order, to, cmd.dst.shape);
    *dst.at<T>(to.n, to.c, to.h, to.w) = *src.at<T>(from.n, from.c, from.h, from.w);
  }
}

template <class T>
void copy_row(T* dst, std::int64_t dst_step, const T* src, std::int64_t src_step, std::int64_t count) {
  if (dst_step == 1 && src_step == 1) {
    std::memcpy(dst, src, static_cast<std::size_t>(count) * sizeof(T));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) dst[i * dst_step] = src[i * src_step];
}

// `rows` rows of `length` elements, so many elements apart. Short rows are fetched ahead: processors do so only for
// what follows without a gap.
template <class T>
void copy_neighbours(T* dst, std::int64_t dst_apart, const T* src, std::int64_t src_apart, std::int64_t rows,
                     std::int64_t length) {
  constexpr std::int64_t kShort = 512 / static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kAhead = 12;
  for (std::int64_t r = 0; r < rows; ++r) {
    if (length <= kShort) {
      const std::int64_t ahead = std::min(r + kAhead, rows - 1);
      for (std::int64_t w = 0; w < length; w += kLine) {
        __builtin_prefetch(src + ahead * src_apart + w);
        __builtin_prefetch(dst + ahead * dst_apart + w, 1);
      }
    }
    std::memcpy(dst + r * dst_apart, src + r * src_apart, static_cast<std::size_t>(length) * sizeof(T));
  }
}

// The shape after joining what both sides step through without a gap: rows into one, channels and batches too when both
// sides are in system memory.
Dim4 joined_shape(const DmaCopyCmd& cmd) {
  Dim4 shape = cmd.dst.shape;
  const auto joins = [&](std::int64_t dst_stride, std::int64_t src_stride) {
    const bool fits = std::int64_t{shape.w} * std::max({shape.h, shape.c, shape.n}) <= INT32_MAX;
    return fits && dst_stride == shape.w * cmd.dst.stride.w && src_stride == shape.w * cmd.src.stride.w;
  };
  const bool rows_turned = cmd.order == CopyOrder::kReverseH || cmd.order == CopyOrder::kReverseW;
  if (rows_turned || !joins(cmd.dst.stride.h, cmd.src.stride.h)) return shape;
  shape = {shape.n, shape.c, 1, shape.h * shape.w};
  const bool plain =
      cmd.order == CopyOrder::kNchw && cmd.dst.space == Space::kSystem && cmd.src.space == Space::kSystem;
  if (!plain || !joins(cmd.dst.stride.c, cmd.src.stride.c)) return shape;
  shape = {shape.n, 1, 1, shape.c * shape.w};
  if (joins(cmd.dst.stride.n, cmd.src.stride.n)) shape = {1, 1, 1, shape.n * shape.w};
  return shape;
}

// Batches within channels: what moves to or from an NPU is then one thread's, as its lane is in the commands that
// compute. In system memory alone, channels within batches, as they lie.
bool goes_by_channel(const DmaCopyCmd& cmd) {
  return cmd.dst.space == Space::kLocal || (cmd.src.space == Space::kLocal && cmd.order != CopyOrder::kCnhw);
}

// Rows along w; long rows are cut into pieces, short ones grouped.
template <class T>
void copy_rows(const Memories& mem, const DmaCopyCmd& cmd) {
  const TensorView dst(mem, cmd.dst);
  const TensorView src(mem, cmd.src);
  const Dim4 shape = joined_shape(cmd);
  const std::int64_t src_step = cmd.order == CopyOrder::kReverseW ? -cmd.src.stride.w : cmd.src.stride.w;
  constexpr std::int64_t kTask = kTaskBytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t pieces = std::max<std::int64_t>(1, shape.w / kTask);
  const std::int64_t piece = (shape.w + pieces - 1) / pieces;
  const std::int64_t count = std::int64_t{shape.n} * shape.c * shape.h * pieces;
  const std::int64_t src_row_step = cmd.order == CopyOrder::kReverseH ? -cmd.src.stride.h : cmd.src.stride.h;
  const bool by_channel = goes_by_channel(cmd);
  const bool same_place = cmd.order == CopyOrder::kNchw;
  const Dim4 walked = by_channel ? Dim4{shape.c, shape.n, shape.h, shape.w} : shape;
  for_groups(count, kTask / piece, shape.elements() * std::int64_t{sizeof(T)}, [&](std::int64_t i, std::int64_t last) {
    Index4 at = index_of(i / pieces * shape.w, walked);
    if (by_channel) std::swap(at.n, at.c);
    std::int64_t& outer = by_channel ? at.c : at.n;
    std::int64_t& inner = by_channel ? at.n : at.c;
    std::int64_t number = i % pieces;  // of the piece in its row
    while (i < last) {
      at.w = number * piece;
      const Index4 from = same_place ? at : source_of(cmd.order, at, shape);
      T* to = dst.at<T>(at.n, at.c, at.h, at.w);
      const T* row = src.at<T>(from.n, from.c, from.h, from.w);
      const std::int64_t length = std::min(piece, shape.w - at.w);
      // Whole rows of a channel follow each other, which spares short ones most of their way here.
      const std::int64_t rows = pieces == 1 ? std::min(last - i, shape.h - at.h) : 1;
      if (src_step == 1 && cmd.dst.stride.w == 1) {
        copy_neighbours(to, cmd.dst.stride.h, row, src_row_step, rows, length);
      } else {
        for (std::int64_t r = 0; r < rows; ++r)
          copy_row(to + r * cmd.dst.stride.h, cmd.dst.stride.w, row + r * src_row_step, src_step, length);
      }
      i += rows;
      if (++number < pieces) continue;
      number = 0;
      at.h += rows;
      if (at.h < shape.h) continue;
      at.h = 0;
      if (++inner < walked.c) continue;
      inner = 0;
      ++outer;
    }
  });
}

// Both sides in their own n, c, h, w order: copies the longest runs that stay in one row of each.
template <class T>
void copy_reshaped(const Memories& mem, const DmaCopyCmd& cmd) {
  const TensorView dst(mem, cmd.dst);
  const TensorView src(mem, cmd.src);
  const std::int64_t count = cmd.dst.shape.elements();
  for (std::int64_t i = 0; i < count;) {
    const Index4 to = index_of(i, cmd.dst.shape);
    const Index4 from = index_of(i, cmd.src.shape);
    const std::int64_t run = std::min(cmd.dst.shape.w - to.w, cmd.src.shape.w - from.w);
    copy_row(dst.at<T>(to.n, to.c, to.h, to.w), cmd.dst.stride.w, src.at<T>(from.n, from.c, from.h, from.w),
             cmd.src.stride.w, run);
    i += run;
  }
}

void copy_block(const Memories& mem, const DmaCopyCmd& cmd) {
  const auto bytes = static_cast<std::size_t>(cmd.dst.shape.elements() * size_of(cmd.dst.dtype));
  std::memmove(TensorView(mem, cmd.dst).byte_at(0, 0, 0, 0, 1), TensorView(mem, cmd.src).byte_at(0, 0, 0, 0, 1), bytes);
}

template <class T>
void copy(const Memories& mem, const DmaCopyCmd& cmd) {
  // One element has no order to keep: the shortest way is the plain one.
  const bool in_order = cmd.dst.shape.elements() == 1 || may_overlap(mem.chip(), cmd.dst, cmd.src) ||
                        !writes_each_byte_once(mem.chip(), cmd.dst);
  if (in_order) return copy_elements<T>(mem, cmd);
  if (cmd.order == CopyOrder::kNwhc) {
    const Dim4& shape = cmd.dst.shape;
    return exchange_channels_and_columns(shape, sizeof(T), TensorView(mem, cmd.dst), TensorView(mem, cmd.src));
  }
  if (cmd.order == CopyOrder::kReshape) return copy_reshaped<T>(mem, cmd);
  copy_rows<T>(mem, cmd);
}

}  // namespace

void execute(Memories& mem, const DmaCopyCmd& cmd) {
  const KeptNpus kept(mem, cmd.dst, cmd.npus);
  if (cmd.order == CopyOrder::kBlock && may_overlap(mem.chip(), cmd.dst, cmd.src)) return copy_block(mem, cmd);
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) { copy<T>(mem, cmd); });
}

}  // namespace softtpu
