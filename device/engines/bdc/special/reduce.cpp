// Planes reduced to one element (numerics: bm1684x2.md section 5; golden bm1684x2/fused).
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/special/command.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/float_unit.hpp"
#include "device/numeric/only_nan.hpp"
#include "device/numeric/steps_in_type.hpp"

namespace softtpu {
namespace {

template <class T>
T store_rounded(float value) {
  return Wide<T>::round(is_nan_bits(std::bit_cast<std::uint32_t>(value)) ? std::bit_cast<float>(kOnlyNan) : value);
}
template <class T>
float added(float a, float b) {
  return Wide<T>::load(store_rounded<T>(chip_add(a, b)));
}

// Rows of `units` elements, the last one filled up with zeros: even rows are added, and odd ones, then both sums, then
// neighbours until one is left. Each sum is rounded to the type.
template <class T>
float sum_of(const std::vector<float>& elements, std::size_t units) {
  std::vector<float> even(units), odd(units);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    float& lane = (i / units % 2 == 0 ? even : odd)[i % units];
    lane = i / units < 2 ? elements[i] : added<T>(lane, elements[i]);
  }
  for (std::size_t i = 0; i < units && elements.size() > units; ++i) even[i] = added<T>(even[i], odd[i]);
  for (std::size_t left = units / 2; left >= 1; left /= 2) {
    for (std::size_t i = 0; i < left; ++i) even[i] = added<T>(even[2 * i], even[2 * i + 1]);
  }
  return even[0];
}

// Starts with the first element and takes those that are greater, as a maximum of a window does.
float largest_size(const std::vector<float>& elements) {
  float best = std::fabs(elements[0]);
  for (const float element : elements) best = std::fabs(element) > best ? std::fabs(element) : best;
  return best;
}

template <class T>
void reduce(const Memories& mem, const ReduceCmd& cmd) {
  const TensorView src(mem, cmd.src), dst(mem, cmd.dst);
  const Dim4& from = cmd.src.shape;
  const auto units = static_cast<std::size_t>(mem.chip().eu_num(cmd.src.dtype));
  parallel_ranges(from.c, from.elements(), [&](int first, int last) {
    std::vector<float> elements(static_cast<std::size_t>(from.h) * static_cast<std::size_t>(from.w));
    for (int n = 0; n < from.n; ++n) {
      for (int c = first; c < last; ++c) {
        auto next = elements.begin();
        for (int h = 0; h < from.h; ++h) {
          for (int w = 0; w < from.w; ++w) *next++ = Wide<T>::load(*src.at<T>(n, c, h, w));
        }
        const float result = cmd.kind == Reduction::kSum ? sum_of<T>(elements, units) : largest_size(elements);
        *dst.at<T>(n, c, 0, 0) = store_rounded<T>(result);
      }
    }
  });
}

}  // namespace

void execute(Memories& mem, const ReduceCmd& cmd) {
  switch (cmd.dst.dtype) {
    case Dtype::kFp32: return reduce<float>(mem, cmd);
    case Dtype::kFp16: return reduce<FlushedF16>(mem, cmd);
    default: return reduce<Bf16>(mem, cmd);
  }
}

}  // namespace softtpu
