// GDMA moves of rows by index: h_gather and h_scatter (numerics: bm1684x-dma-hau-gather.md section 3).
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "device/command/functions.hpp"
#include "device/engines/dma/copy/kept_npus.hpp"
#include "device/engines/dma/select/command.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

class RowMover {
 public:
  RowMover(const Memories& mem, const DmaRowsCmd& cmd)
      : cmd_(cmd), dst_(mem, cmd.dst), param_(mem, cmd.param), index_(mem, cmd.index) {}

  void move_channel(int c) const {
    switch (cmd_.mode) {
      case RowsMode::kGather: return for_size(size_of(cmd_.dst.dtype), [&]<class T>(T) { gather<T>(c); });
      case RowsMode::kScatter: return for_size(size_of(cmd_.dst.dtype), [&]<class T>(T) { scatter<T>(c, copy<T>); });
      case RowsMode::kScatterAdd: return for_any_type(cmd_.dst.dtype, [&]<class T>(T) { scatter<T>(c, add<T>); });
    }
    unreachable(cmd_.mode);
  }

 private:
  // Position that index h of a channel names; an index below the start wraps to one that is too large.
  std::uint32_t position(int c, int h) const {
    std::uint32_t value = 0;  // the index may lie at any address
    std::memcpy(&value, index_.byte_at(0, c, h, 0, sizeof(value)), sizeof(value));
    return value - cmd_.start;
  }

  template <class T>
  static void copy(T* dst, const T* src, int count) {
    std::memmove(dst, src, static_cast<std::size_t>(count) * sizeof(T));
  }
  template <class T>
  static void add(T* dst, const T* src, int count) {
    for (int i = 0; i < count; ++i) {
      if constexpr (std::is_integral_v<T>) {
        dst[i] = static_cast<T>(static_cast<std::uint32_t>(dst[i]) + static_cast<std::uint32_t>(src[i]));
      } else {
        dst[i] = Wide<T>::round(chip_add(Wide<T>::load(dst[i]), Wide<T>::load(src[i])));
      }
    }
  }

  template <class T>
  void gather(int c) const {
    T fill;
    std::memcpy(&fill, &cmd_.fill.bits, sizeof(T));
    const auto rows = static_cast<std::uint32_t>(cmd_.param.shape.h);
    for (int h = 0; h < cmd_.dst.shape.h; ++h) {
      const std::uint32_t from = position(c, h);
      T* row = dst_.at<T>(0, c, h, 0);
      if (from < rows) {
        copy(row, param_.at<T>(0, c, from, 0), cmd_.dst.shape.w);
      } else {
        std::fill_n(row, cmd_.dst.shape.w, fill);
      }
    }
  }

  template <class T, class Store>
  void scatter(int c, Store store) const {
    const auto rows = static_cast<std::uint32_t>(cmd_.dst.shape.h);
    for (int h = 0; h < cmd_.param.shape.h; ++h) {
      const std::uint32_t to = position(c, h);
      if (to < rows) store(dst_.at<T>(0, c, to, 0), param_.at<T>(0, c, h, 0), cmd_.dst.shape.w);
    }
  }

  const DmaRowsCmd& cmd_;
  TensorView dst_, param_, index_;
};

}  // namespace

void execute(Memories& mem, const DmaRowsCmd& cmd) {
  const KeptNpus kept(mem, cmd.dst, cmd.npus);
  const RowMover mover(mem, cmd);
  const Chip& chip = mem.chip();
  const bool in_order = !writes_each_byte_once(chip, cmd.dst) || may_overlap(chip, cmd.dst, cmd.param) ||
                        may_overlap(chip, cmd.dst, cmd.index);
  const std::int64_t steps = cmd.mode == RowsMode::kGather ? cmd.dst.shape.elements() : cmd.param.shape.elements();
  parallel_for(cmd.dst.shape.c, in_order ? 0 : steps, [&](int c) { mover.move_channel(c); });
}

}  // namespace softtpu
