// Rules of layers that make an element of many.
#include <fmt/format.h>

#include "runtime/bmodel/layer_rules.hpp"

namespace softtpu::bmodel::rules {

Shapes pooling(const Asked& asked) {
  // buffer, kernel, pads top bottom left right, stride, dilation, global, average, adaptive, mode of average, relu,
  // limit, ceil, rounding, quantised, mask, multiplier, shift, requantise
  using Words = PoolingWords;
  if (!asked.has(27) || !asked.same_type()) return refuse("these parameters");
  if (asked.layer.word(Words::kAdaptive) != 0 || asked.layer.word(Words::kRelu) != 0 || !asked.zero(18, 21) ||
      !asked.zero(23, 27))
    return refuse("an adaptive or requantised one");
  const bool average = asked.layer.word(Words::kAverage) != 0;
  const bool padded = !asked.zero(Words::kPads, Words::kPads + 4);
  const std::uint32_t type = asked.first().type;
  if (!is_byte(type) && !is_float(type)) return refuse("this type");
  const auto extents = local_extents(asked.first().extents);
  constexpr std::int64_t kMostPad = 15;
  const auto side = [&](std::size_t i) -> std::int64_t {
    const std::size_t pads = Words::kPads + 2 * i;
    const std::int64_t kernel = asked.layer.word(Words::kKernel + i);
    const std::int64_t step = asked.layer.word(Words::kStride + i);
    const std::int64_t dilation = asked.layer.word(Words::kDilation + i);
    const std::int64_t before = asked.layer.word(pads);
    const std::int64_t behind = asked.layer.word(pads + 1);
    if (kernel < 1 || kernel > 255 || step < 1 || step > 15 || dilation < 1 || dilation > 15 || before < 0 ||
        before >= kernel || before > kMostPad || behind < 0 || behind >= kernel || behind > kMostPad ||
        (average && dilation != 1))
      return 0;
    return windows(extents[2 + i], before, behind, kernel, step, dilation);
  };
  Extents to = asked.first().extents;
  if (to.size() != 4) return refuse("an input that has not four dimensions");
  to[2] = side(0);
  to[3] = side(1);
  if (to[2] < 1 || to[3] < 1) return refuse("this window");
  if (average && padded) {
    if (asked.layer.word(Words::kMode) == 0) return refuse("an average that counts padding");
    for (std::size_t i = 0; i < 2; ++i) {
      // Whole numbers are made larger by a factor that is recorded for 3 of which padding takes 1.
      const bool one = asked.layer.word(Words::kPads + 2 * i) <= 1 && asked.layer.word(Words::kPads + 2 * i + 1) <= 1;
      if (is_byte(type) && (type == kInt8 || !one || asked.layer.word(Words::kKernel + i) != 3))
        return refuse("an average of this window");
    }
  }
  // Of floats all elements are summed in rows of a vector, whatever the window.
  if (average && asked.layer.word(Words::kGlobal) != 0 && !is_byte(type)) {
    const std::int64_t rows = (extents[2] * std::int64_t{extents[3]} * (type == kFloat32 ? 4 : 2) + 63) / 64;
    if (padded || to[2] != 1 || to[3] != 1 || rows > 255) return refuse("a global average of this window");
  }
  if (average && asked.layer.word(Words::kGlobal) == 0 &&
      asked.layer.word(Words::kKernel) * asked.layer.word(Words::kKernel + 1) > 64)
    return refuse("an average of so many elements");
  return asked.with(std::move(to));
}

// Of bytes, whose exponentials are a table: along one axis with nothing in front of it or behind it.
static Shapes softmax_of_bytes(const Asked& asked) {
  constexpr std::int64_t kMost = 10;  // elements of a sum as recorded
  if (!asked.has(5) || asked.layer.local || !asked.zero(3, 5) || asked.layer.word(1) != asked.layer.word(2))
    return refuse("these parameters");
  const ShapedTensor& exponentials = asked.inputs[1];
  if (asked.first().type != kInt8 || asked.like[0].type != kUint8 || exponentials.type != kFloat32 ||
      elements_of(exponentials.extents) != 256)
    return refuse("bytes of this kind");
  const std::int64_t axis = asked.layer.word(1);
  if (axis < 0 || axis >= asked.rank()) return refuse("this axis");
  const std::int64_t length = asked.first().extents[static_cast<std::size_t>(axis)];
  if (length < 1 || length > kMost || elements_of(asked.first().extents) != length)
    return refuse("other than one row of up to 10 elements");
  return asked.like;
}

Shapes softmax(const Asked& asked) {  // f scale, first axis, last axis, log, zero point
  if (is_byte(asked.first().type) && asked.inputs.size() == 2) return softmax_of_bytes(asked);
  if (!asked.has(5) || !asked.same_type() || asked.inputs.size() != 1 || asked.layer.word(3) != 0)
    return refuse("these parameters");
  if (asked.rank() < 1 || asked.layer.word(1) != asked.rank() - 1 || asked.layer.word(2) != asked.rank() - 1)
    return refuse("an axis that is not the last one");
  if (!is_float(asked.first().type)) return refuse("this type");
  if (asked.bits(0) != kOne) return refuse("a scale");
  const std::int64_t width = asked.first().extents.back();
  // How the sums are split is recorded up to here.
  if (asked.layer.local) {
    if (asked.rank() != 4 || asked.first().type == kFloat32) return refuse("an input of this kind");
    if (width > 64 || (asked.first().extents[2] > 1 && width > 24 && width < 50))
      return refuse(fmt::format("rows of {} elements", width));
  } else if (width > 64 || width < 17) {
    return refuse(fmt::format("rows of {} elements", width));
  }
  return asked.like;
}

Shapes reduction(const Asked& asked) {
  // 8 axes, their number, method, f scales, keep dimensions
  if (!asked.has(13) || asked.layer.word(8) != 1 || !asked.same_type()) return refuse("more than one axis");
  const std::int64_t axis = asked.layer.word(0);
  const std::int32_t method = asked.layer.word(9);
  if (axis < 0 || axis >= asked.rank() || asked.bits(10) != kOne || asked.bits(11) != kOne)
    return refuse("these parameters");
  const bool last = axis == asked.rank() - 1;
  const std::uint32_t type = asked.first().type;
  const std::int64_t length = asked.first().extents[static_cast<std::size_t>(axis)];
  constexpr std::int32_t kMean = 0, kMaximum = 2, kRoot = 5;
  if (!is_float(type)) return refuse("this type");
  if (method == kMaximum) {
    if (length < 1 || length > 255) return refuse(fmt::format("{} elements", length));
  } else if (method == kMean || (method == kRoot && type == 1)) {
    if (!last || length < 1 || length > 16) return refuse("sums of this many elements, or along this axis");
  } else {
    return refuse(fmt::format("method {} of this type", method));
  }
  Extents to = asked.first().extents;
  if (asked.layer.word(12) != 0)
    to[static_cast<std::size_t>(axis)] = 1;
  else
    to.erase(to.begin() + axis);
  return asked.with(std::move(to));
}

Shapes extreme_index(const Asked& asked) {  // axis, minimum, index is int32, last index, values
  if (!asked.has(5) || asked.rank() < 1 || asked.layer.word(0) != asked.rank() - 1 || asked.layer.word(1) != 0 ||
      asked.layer.word(2) != 1 || !asked.zero(3, 5))
    return refuse("other than the first largest of the last axis");
  if (asked.first().type != kFloat32 || asked.like.size() != 1 || asked.like[0].type != kInt32)
    return refuse("types other than f32 and i32");
  if (asked.first().extents.back() < 1 || asked.first().extents.back() > 255) return refuse("rows of this length");
  Extents to = asked.first().extents;
  to.pop_back();
  return asked.with(std::move(to));
}

Shapes layer_norm(const Asked& asked) {  // axis, f eps, which of weight and bias, mean wanted, deviation wanted
  if (!asked.has(5) || !asked.same_type() || asked.layer.word(0) != 2 || asked.rank() != 3 || !asked.zero(3, 5))
    return refuse("an axis that is not the third of three");
  const std::uint32_t affine = asked.bits(2);
  if (affine > 3 || asked.inputs.size() != 1 + (affine & 1) + (affine >> 1)) return refuse("these inputs");
  if (!is_float(asked.first().type) || asked.first().type == kFloat32) return refuse("this type");
  for (const ShapedTensor& input : asked.inputs.subspan(1)) {
    if (input.type != asked.first().type || elements_of(input.extents) != asked.first().extents[2])
      return refuse("a weight or bias of these extents");
  }
  if (asked.first().extents[2] < 1 || asked.first().extents[2] > 255) return refuse("rows of this length");
  return asked.like;
}

Shapes rms_norm(const Asked& asked) {  // f eps, which of weight and bias, one more
  constexpr std::int64_t kMost = 512;  // elements of a sum as recorded
  if (!asked.has(3) || !asked.same_type() || asked.layer.word(1) != 1 || asked.layer.word(2) != 0 ||
      asked.inputs.size() != 2)
    return refuse("other than with a weight");
  if (asked.rank() != 3 || asked.first().type != kBfloat16 || asked.inputs[1].type != kBfloat16)
    return refuse("an input of this kind");
  const std::int64_t width = asked.first().extents[2];
  if (width < 1 || width > kMost) return refuse(fmt::format("rows of {} elements", width));
  if (elements_of(asked.inputs[1].extents) != width) return refuse("a weight of these extents");
  if (asked.layer.local && asked.first().extents[1] > 64) return refuse("so many rows");
  return asked.like;
}

}  // namespace softtpu::bmodel::rules
