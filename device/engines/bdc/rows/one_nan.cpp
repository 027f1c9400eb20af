#include "device/engines/bdc/rows/one_nan.hpp"

#include "device/chip/rules.hpp"
#include "device/memory/rows.hpp"
#include "device/numeric/formats.hpp"
#include "device/numeric/only_nan.hpp"

namespace softtpu {

void unify_nans(Memories& mem, const Tensor& dst) {
  if (dst.dtype != Dtype::kFp32 || !mem.chip().has(ChipRule::kOneNan)) return;
  for_each_row<std::uint32_t, std::uint32_t>(
      mem, dst,
      [](std::uint32_t* to, const std::uint32_t* from, int count) {
        for (int i = 0; i < count; ++i) to[i] = is_nan_bits(from[i]) ? kOnlyNan : from[i];
      },
      dst);
}

}  // namespace softtpu
