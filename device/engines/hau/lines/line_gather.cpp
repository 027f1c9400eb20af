// HAU line gather (numerics: bm1684x-dma-hau-gather.md section 4).
#include <algorithm>
#include <cstring>

#include "device/command/functions.hpp"
#include "device/engines/hau/lines/command.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

template <class T>
void gather_lines(const Memories& mem, const HauLineGatherCmd& cmd) {
  const TensorView dst(mem, cmd.dst);
  const TensorView param(mem, cmd.param);
  const auto* index = TensorView(mem, cmd.index).at<std::int32_t>(0, 0, 0, 0);
  T constant;
  std::memcpy(&constant, &cmd.constant.bits, sizeof(T));
  const int length = cmd.dst.shape.w;
  const Chip& chip = mem.chip();
  const bool in_order = may_overlap(chip, cmd.dst, cmd.param) || may_overlap(chip, cmd.dst, cmd.index);
  parallel_for(cmd.dst.shape.h, in_order ? 0 : cmd.dst.shape.elements(), [&](int line) {
    T* row = dst.at<T>(0, 0, line, 0);
    if (index[line] >= cmd.start && index[line] <= cmd.end) {
      const T* source = param.at<T>(0, 0, index[line] - cmd.start, 0);
      std::memmove(row, source, static_cast<std::size_t>(length) * sizeof(T));
    } else if (cmd.fill) {
      std::fill_n(row, length, constant);
    }
  });
}

}  // namespace

void execute(Memories& mem, const HauLineGatherCmd& cmd) {
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) { gather_lines<T>(mem, cmd); });
}

}  // namespace softtpu
