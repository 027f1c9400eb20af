#include "device/engines/bdc/rows/flushed_halves.hpp"

#include <algorithm>

#include "device/memory/tensor_view.hpp"

namespace softtpu {
namespace {

template <class Visit>
void each_element(const Memories& mem, const Tensor& tensor, Visit visit) {
  const TensorView view(mem, tensor);
  const Dim4& shape = tensor.shape;
  for (int n = 0; n < shape.n; ++n)
    for (int c = 0; c < shape.c; ++c)
      for (int h = 0; h < shape.h; ++h)
        for (int w = 0; w < shape.w; ++w) visit(view.at<std::uint16_t>(n, c, h, w));
}

bool is_subnormal(std::uint16_t bits) { return (bits & 0x7C00U) == 0 && (bits & 0x3FFU) != 0; }
std::uint16_t zero_of(std::uint16_t bits) { return bits & 0x8000U; }

}  // namespace

void FlushedHalves::operand(const Tensor& tensor) {
  // What lies in static memory cannot be written; its tables have no subnormals that count.
  if (tensor.space == Space::kStatic) return;
  each_element(mem_, tensor, [&](std::uint16_t* element) {
    if (!is_subnormal(*element)) return;
    kept_.emplace_back(element, *element);
    *element = zero_of(*element);
  });
}

void FlushedHalves::result(const Tensor& tensor) {
  std::sort(kept_.begin(), kept_.end());
  each_element(mem_, tensor, [&](std::uint16_t* element) {
    if (is_subnormal(*element)) *element = zero_of(*element);
    const auto found =
        std::lower_bound(kept_.begin(), kept_.end(), element, [](const auto& one, auto* at) { return one.first < at; });
    if (found != kept_.end() && found->first == element) found->second = *element;
  });
}

void FlushedHalves::restore() {
  for (const auto& [element, bits] : kept_) *element = bits;
}

}  // namespace softtpu
