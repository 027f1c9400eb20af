// BDC gather, scatter and mask selection (numerics: bm1684x-dma-hau-gather.md section 5).
#include <algorithm>
#include <cstring>
#include <span>

#include "device/command/functions.hpp"
#include "device/engines/bdc/gather/command.hpp"
#include "device/engines/bdc/gather/gather_index.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/scratch.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

using Positions = std::span<const std::uint32_t>;

// Calls body(n, c) for all batches and channels, the channels of an NPU on one thread.
template <class Body>
void for_channels(const Chip& chip, const Dim4& shape, std::int64_t steps, Body body) {
  parallel_for(std::min(shape.c, chip.npu_num), steps, [&](int lane) {
    for (int n = 0; n < shape.n; ++n) {
      for (int c = lane; c < shape.c; c += chip.npu_num) body(n, c);
    }
  });
}

// move(i) for i in [0, count), in that order. One at a time, these short loops take twice as long where they straddle a
// border of the processor's decoded instructions.
template <class Move>
void by_fours(std::size_t count, const Move& move) {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    move(i);
    move(i + 1);
    move(i + 2);
    move(i + 3);
  }
  for (; i < count; ++i) move(i);
}

// One channel; the elements of a plane lie without gaps (h stride = w).
template <class T>
void gather_plane(T* dst, const T* param, const Positions& positions, const GatherCmd& cmd, T constant) {
  const std::size_t count = positions.size();
  if (!cmd.exception) {
    return by_fours(count, [&](std::size_t i) { dst[i] = param[positions[i]]; });
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (positions[i] != kNoPosition) {
      dst[i] = param[positions[i]];
    } else if (cmd.fill) {
      dst[i] = constant;
    }
  }
}

// The same where indices may name no element: zeros, and elements that are left out.
template <class T>
void move_plane_within(T* dst, const T* param, const Positions& positions, bool scatter) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const bool inside = positions[i] != kOutside;
    if (!scatter) {
      dst[i] = inside ? param[positions[i]] : T{};
    } else if (inside) {
      dst[positions[i]] = param[i];
    }
  }
}

template <class T>
void scatter_plane(T* dst, const T* param, const Positions& positions) {
  by_fours(positions.size(), [&](std::size_t i) { dst[positions[i]] = param[i]; });
}

// One channel by rows of `width` elements; strides are the sides' h strides.
template <class T>
void move_rows(T* dst, const T* param, const Positions& positions, const GatherCmd& cmd, T constant) {
  const int width = cmd.dst.shape.w;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto walked = static_cast<std::int64_t>(i);
    if (positions[i] == kOutside) {  // zeros, or left out: by the rules only where the chip takes it
      if (!cmd.scatter) std::fill_n(dst + walked * cmd.dst.stride.h, width, T{});
    } else if (cmd.scatter) {
      std::copy_n(param + walked * cmd.param.stride.h, width, dst + positions[i] * cmd.dst.stride.h);
    } else if (positions[i] != kNoPosition) {
      std::copy_n(param + positions[i] * cmd.param.stride.h, width, dst + walked * cmd.dst.stride.h);
    } else if (cmd.fill) {
      std::fill_n(dst + walked * cmd.dst.stride.h, width, constant);
    }
  }
}

template <class T>
void gather(const Memories& mem, const GatherCmd& cmd) {
  const GatherIndex index(mem, cmd);
  const TensorView dst(mem, cmd.dst);
  const TensorView param(mem, cmd.param);
  T constant;
  std::memcpy(&constant, &cmd.constant.bits, sizeof(T));
  const auto count = static_cast<std::size_t>(index.count());
  const bool beyond = takes_indices_beyond(mem.chip(), cmd);
  std::uint32_t* shared = room<std::uint32_t, struct Shared>(index.count());
  if (!index.per_channel()) index.read(0, 0, shared);
  const std::int64_t steps = cmd.dst.shape.elements() + std::int64_t{cmd.dst.shape.n} * cmd.param.shape.elements();
  for_channels(mem.chip(), cmd.dst.shape, steps, [&](int n, int c) {
    std::uint32_t* own = index.per_channel() ? room<std::uint32_t, struct Own>(index.count()) : shared;
    if (index.per_channel()) index.read(n, c, own);
    const Positions positions(own, count);
    T* out = dst.at<T>(n, c, 0, 0);
    const T* in = param.at<T>(index.per_channel() ? 0 : n, c, 0, 0);
    if (cmd.mode == GatherMode::kBatchH) return move_rows(out, in, positions, cmd, constant);
    if (beyond) return move_plane_within(out, in, positions, cmd.scatter);
    if (cmd.scatter) return scatter_plane(out, in, positions);
    gather_plane(out, in, positions, cmd, constant);
  });
}

template <class T, class M>
void select(const Memories& mem, const MaskSelectCmd& cmd) {
  const TensorView dst(mem, cmd.dst);
  const TensorView count(mem, cmd.count);
  const TensorView param(mem, cmd.param);
  const TensorView mask(mem, cmd.mask);
  for_channels(mem.chip(), cmd.dst.shape, cmd.dst.shape.elements(), [&](int n, int c) {
    T* out = dst.at<T>(n, c, 0, 0);
    const T* values = param.at<T>(0, c, 0, 0);
    const M* chosen = mask.at<M>(n, c, 0, 0);
    std::uint16_t total = 0;
    for (int w = 0; w < cmd.dst.shape.w; ++w) {
      if (chosen[w] != 0) out[total++] = values[w];
    }
    *count.at<std::uint16_t>(n, c, 0, 0) = total;
  });
}

}  // namespace

void execute(Memories& mem, const GatherCmd& cmd) {
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) { gather<T>(mem, cmd); });
}

void execute(Memories& mem, const MaskSelectCmd& cmd) {
  for_size(size_of(cmd.dst.dtype),
           [&]<class T>(T) { for_size(size_of(cmd.mask.dtype), [&]<class M>(M) { select<T, M>(mem, cmd); }); });
}

}  // namespace softtpu
