// Rules of layers that make each element of elements at the same place.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/bmodel/layer_rules.hpp"

namespace softtpu::bmodel::rules {

static bool is_whole(std::uint32_t type) { return type >= 2 && type <= 7; }

Shapes conversion(const Asked& asked) {  // from, to, rounding
  if (!asked.has(3) || !is_rounding(asked.layer.word(2))) return refuse("this rounding");
  const std::uint32_t from = asked.first().type;
  const std::uint32_t to = asked.like[0].type;
  if ((!is_float(from) && !is_whole(from)) || (!is_float(to) && !is_whole(to))) return refuse("this type");
  const auto between = [&](std::uint32_t one, std::uint32_t other) { return from == one && to == other; };
  if (between(kFloat16, kBfloat16) || between(kBfloat16, kFloat16)) return refuse("f16 and bf16, which no command has");
  return asked.like;
}

// The extents of an operation over two operands of the same rank, where 1 stands for any.
static Result<Extents> joined(const Extents& one, const Extents& other) {
  if (one.size() != other.size())
    return refuse(fmt::format("operands of {} and {} dimensions", one.size(), other.size()));
  Extents all = one;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] == 1) all[i] = other[i];
    if (one[i] != other[i] && one[i] != 1 && other[i] != 1) return refuse("operands of different extents");
  }
  return all;
}

Shapes binary(const Asked& asked) {
  // operation, relu, f limit, scales, shifts, f scales, zero points
  if (!asked.has(12) || asked.inputs.size() != 2) return refuse("these parameters");
  const std::int32_t operation = asked.layer.word(0);
  if (asked.layer.word(1) != 0) return refuse("a relu behind it");
  if (!asked.zero(9, 12)) return refuse("zero points");
  if (asked.inputs[1].type != asked.first().type || !asked.same_type()) return refuse("operands of different types");
  if (asked.first().type == kInt32) {
    const bool sum = operation == 0 && asked.layer.local && asked.zero(5, 7);
    if (!sum || asked.layer.word(3) != 1 || asked.layer.word(4) != 1 ||
        asked.inputs[1].extents != asked.first().extents)
      return refuse("whole numbers other than sums");
    return asked.like;
  }
  auto all = joined(asked.first().extents, asked.inputs[1].extents);
  if (!all) return all.error();
  constexpr std::int32_t kAdd = 0, kDivide = 3, kMinimum = 10000, kGreater = 10001;
  if (is_byte(asked.first().type)) {
    if (operation != kAdd || !asked.layer.local) return refuse("whole numbers other than sums");
    for (const std::size_t scale : {3U, 4U}) {
      if (asked.layer.word(scale) < 0 || asked.layer.word(scale) > 255) return refuse("this scale");
    }
    for (const std::size_t shift : {5U, 6U}) {
      if (asked.layer.word(shift) < 0 || asked.layer.word(shift) > 31) return refuse("this shift");
    }
    return asked.with(*std::move(all));
  }
  if (!is_float(asked.first().type)) return refuse("this type");
  if (!((operation >= 0 && operation <= 4) || operation == kMinimum || operation == kGreater))
    return refuse(fmt::format("operation {}", operation));
  if (operation != kDivide && (asked.bits(7) != kOne || asked.bits(8) != kOne)) return refuse("scales other than 1");
  if (operation == kDivide && asked.first().type != kFloat32) return refuse("a quotient of this type");
  return asked.with(*std::move(all));
}

Shapes binary_constant(const Asked& asked) {
  // f constant, its type, inversed, operation, relu, f limit, scale, shift, f scale, zero point
  if (!asked.has(10)) return refuse("these parameters");
  const std::int32_t operation = asked.layer.word(3);
  const bool inversed = asked.layer.word(2) != 0;
  if (asked.layer.word(4) != 0) return refuse("a relu behind it");
  if (!is_float(asked.first().type) || !asked.same_type()) return refuse("this type");
  const bool divides = operation == 3;
  if (divides && (!inversed || asked.first().type != kFloat32)) return refuse("a quotient with a constant divisor");
  if ((operation < 0 || operation > 4) && operation != 10000) return refuse(fmt::format("operation {}", operation));
  return asked.like;
}

Shapes activation(const Asked& asked) {  // kind, 8 coefficients
  if (!asked.has(9) || !asked.same_type()) return refuse("these parameters");
  const std::int32_t kind = asked.layer.word(0);
  const std::uint32_t type = asked.first().type;
  // exp, abs, log, hard swish; and tanh, sigmoid, elu, square root, silu, gelu, erf, soft plus
  constexpr std::int32_t kOfAnyType[] = {3, 8, 9, 18}, kOfFloat32[] = {0, 1, 4, 5, 19, 29, 30, 33};
  const auto in = [kind](const auto& all) { return std::find(std::begin(all), std::end(all), kind) != std::end(all); };
  if (!in(kOfAnyType) && !in(kOfFloat32)) return refuse(fmt::format("function {}", kind));
  if (type != kFloat32 && !(in(kOfAnyType) && is_float(type)))
    return refuse(fmt::format("function {} of this type", kind));
  if (kind == 33 && !asked.zero(1, 9)) return refuse("a coefficient");
  return asked.like;
}

Shapes relu(const Asked& asked) {  // f limit, f slope, shared, shift, rounding
  if (!asked.has(5) || !asked.same_type() || !asked.unlimited(0) || !is_rounding(asked.layer.word(4)))
    return refuse("these parameters");
  const bool shared = asked.layer.word(2) != 0;
  if (!is_float(asked.first().type) && asked.first().type != kInt8) return refuse("this type");
  if (shared && asked.inputs.size() == 1) return asked.like;
  if (shared) return refuse("these inputs");
  if (!asked.layer.local || asked.inputs.size() != 2 || asked.inputs[1].type != asked.first().type)
    return refuse("slopes of this kind");
  const auto slope = local_extents(asked.inputs[1].extents);
  if (slope[0] != 1 || slope[2] != 1 || slope[3] != 1 || slope[1] != local_extents(asked.first().extents)[1])
    return refuse("slopes of these extents");
  return asked.like;
}

Shapes select(const Asked& asked) {
  if (!asked.has(4) || asked.inputs.size() != 3 || !asked.zero(0, 2)) return refuse("a constant");
  for (const ShapedTensor& input : asked.inputs) {
    if (!is_float(input.type) || input.type != asked.like[0].type || input.extents != asked.first().extents)
      return refuse("operands of different kinds");
  }
  return asked.like;
}

Shapes quantisation(
    const Asked& asked) {  // per channel, f scale, f offset, type, mode, rounding, rounding of the source
  if (!asked.has(7) || (asked.layer.word(0) & 0xff) != 0 || !asked.zero(2, 3) || !asked.zero(4, 7))
    return refuse("these parameters");
  const bool half = asked.first().type == kFloat16 && asked.layer.local;
  if ((asked.first().type != kFloat32 && !half) || asked.like[0].type != kInt8) return refuse("these types");
  return asked.like;
}

Shapes requantisation(const Asked& asked) {  // per channel, multiplier, shift, offset, type, mode, roundings
  constexpr std::int32_t kMode = 2;
  if (!asked.has(10) || (asked.layer.word(0) & 0xff) != 0 || asked.layer.word(2) > 0 || asked.layer.word(2) < -31 ||
      !asked.zero(3, 4) || asked.layer.word(5) != kMode || !asked.zero(6, 10) || asked.inputs.size() != 1)
    return refuse("these parameters");
  if (asked.first().type != kInt32 || asked.like[0].type != kInt8) return refuse("types other than i32 and int8");
  return asked.like;
}

Shapes dequantisation(const Asked& asked) {  // per channel, f scale, offset, type, rounding
  if (!asked.has(5) || (asked.layer.word(0) & 0xff) != 0 || !asked.zero(2, 3) || !asked.zero(4, 5))
    return refuse("these parameters");
  const bool half = asked.like[0].type == kFloat16 && asked.layer.local;
  if (!is_byte(asked.first().type) || (asked.like[0].type != kFloat32 && !half)) return refuse("these types");
  return asked.like;
}

Shapes table(const Asked& asked) {
  if (asked.inputs.size() != 2 || !is_byte(asked.first().type) || !is_byte(asked.like[0].type) ||
      elements_of(asked.inputs[1].extents) != 256)
    return refuse("a table other than of 256 bytes");
  return asked.like;
}

// As recorded: linear, to twice the height and width.
Shapes resize(const Asked& asked) {
  // kind of interpolation and of places, 8 extents of the result, their number, u64 buffer
  constexpr std::int32_t kRecorded[] = {0, 0, 256, 4, 1};
  constexpr std::size_t kTo = 5, kCount = 13;
  constexpr std::int64_t kMostPlane = 2048;
  if (!asked.has(20) || asked.rank() != 4 || asked.inputs.size() != 1 || !asked.same_type() ||
      asked.layer.word(kCount) != 4 || !asked.zero(kTo + 4, kCount) || !asked.zero(16, 20))
    return refuse("these parameters");
  for (std::size_t i = 0; i < std::size(kRecorded); ++i) {
    if (asked.layer.word(i) != kRecorded[i]) return refuse("this kind of interpolation");
  }
  if (asked.first().type != kFloat32 && asked.first().type != kFloat16) return refuse("this type");
  Extents to = asked.first().extents;
  if (to[2] < 2 || to[3] < 2 || to[2] * to[3] > kMostPlane) return refuse("planes of this size");
  to[2] *= 2;
  to[3] *= 2;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (asked.layer.word(kTo + i) != to[i]) return refuse("to other than twice the height and width");
  }
  return asked.with(std::move(to));
}

}  // namespace softtpu::bmodel::rules
