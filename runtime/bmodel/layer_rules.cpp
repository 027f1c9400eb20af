// What the layers of a list make of their inputs, and which are carried out: each layer that firmware/dynamic has
// stands here with one rule. Cases that no recorded network shows and whose tiling would decide bits are refused.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "runtime/bmodel/layer_list.hpp"

namespace softtpu::bmodel {
namespace {

constexpr std::uint32_t kFloat32 = 0, kInt8 = 2, kInt32 = 6;
constexpr std::uint32_t kOne = 0x3f800000;

Error refuse(const std::string& why) { return {ErrorKind::kUnsupported, why}; }

using Shaped = std::vector<ShapedTensor>;
using Shapes = Result<Shaped>;

// A layer with its inputs, and its outputs as far as the first input says what they are.
struct Asked {
  const ListedLayer& layer;
  std::span<const ShapedTensor> inputs;
  Shaped like;

  const ShapedTensor& first() const { return inputs[0]; }
  std::int64_t rank() const { return static_cast<std::int64_t>(first().extents.size()); }
  bool has(std::size_t words) const { return layer.parameters.size() >= words * sizeof(std::int32_t); }
  bool same_type() const { return like[0].type == first().type; }
  bool zero(std::size_t from, std::size_t to) const {
    for (std::size_t i = from; i < to; ++i) {
      if (layer.word(i) != 0) return false;
    }
    return true;
  }
  std::uint32_t bits(std::size_t i) const { return static_cast<std::uint32_t>(layer.word(i)); }
  // A limit of relu that is none: 0 or below.
  bool unlimited(std::size_t i) const { return layer.word(i) <= 0; }
  Shapes with(Extents extents) const {
    Shaped results = like;
    results[0].extents = std::move(extents);
    return results;
  }
};

std::int64_t elements_of(const Extents& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(count, extent, &count)) return -1;
  }
  return count;
}

Result<Extents> reshaped(const ListedLayer& layer, const Extents& from) {
  constexpr std::uint32_t kMarked = 0x08000000;
  const auto head = static_cast<std::uint32_t>(layer.word(0));
  const bool marks = (head & kMarked) != 0;
  const std::uint32_t count = head & ~kMarked;
  if (count > kMostExtents) return refuse(fmt::format("it has {} dimensions", count));
  Extents to;
  std::optional<std::size_t> open;  // the one that takes the rest
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::int32_t word = layer.word(1 + i);
    if (word == -1) {
      if (open) return refuse("two of its extents are the rest");
      open = i;
      to.push_back(1);
    } else if (marks ? (static_cast<std::uint32_t>(word) & kMarked) == 0 : word == 0) {
      const std::size_t copied = marks ? static_cast<std::size_t>(word) : i;
      if (copied >= from.size()) return refuse(fmt::format("it copies extent {} of {}", copied, from.size()));
      to.push_back(from[copied]);
    } else {
      to.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(word) & ~kMarked));
    }
  }
  const std::int64_t all = elements_of(from);
  const std::int64_t known = elements_of(to);
  if (open && known > 0) to[*open] = all / known;
  if (elements_of(to) != all)
    return refuse(fmt::format("[{}] cannot become [{}]", fmt::join(from, ", "), fmt::join(to, ", ")));
  return to;
}

bool is_whole(std::uint32_t type) { return type >= 2 && type <= 7; }

// The extents of an operation over two operands of the same rank, where 1 stands for any.
Result<Extents> joined(const Extents& one, const Extents& other) {
  if (one.size() != other.size())
    return refuse(fmt::format("operands of {} and {} dimensions", one.size(), other.size()));
  Extents all = one;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] == 1) all[i] = other[i];
    if (one[i] != other[i] && one[i] != 1 && other[i] != 1) return refuse("operands of different extents");
  }
  return all;
}

// ---- Moves ----

Shapes concatenation(const Asked& asked) {  // inputs, axis
  const std::int64_t axis = asked.layer.word(1);
  if (!asked.has(2) || axis < 0 || axis >= asked.rank() || !asked.same_type()) return refuse("these parameters");
  const auto at = static_cast<std::size_t>(axis);
  Extents all = asked.first().extents;
  for (std::size_t i = 1; i < asked.inputs.size(); ++i) {
    Extents other = asked.inputs[i].extents;
    if (other.size() != all.size() || asked.inputs[i].type != asked.first().type)
      return refuse("inputs of different kinds");
    all[at] += other[at];
    other[at] = asked.first().extents[at];
    if (other != asked.first().extents) return refuse("inputs of different extents");
  }
  return asked.with(std::move(all));
}

Shapes reshape(const Asked& asked) {
  const bool bytes = is_byte(asked.first().type) && is_byte(asked.like[0].type);
  if (!asked.has(9) || (!asked.same_type() && !bytes)) return refuse("these parameters");
  auto to = reshaped(asked.layer, asked.first().extents);
  if (!to) return to.error();
  return asked.with(*std::move(to));
}

Shapes transpose(const Asked& asked) {  // u64 buffer, order
  const auto rank = static_cast<std::size_t>(asked.rank());
  if (!asked.has(2 + rank) || !asked.same_type()) return refuse("these parameters");
  std::vector<bool> seen(rank);
  Extents to(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int32_t from = asked.layer.word(2 + i);
    if (from < 0 || from >= asked.rank() || seen[static_cast<std::size_t>(from)]) return refuse("this order");
    seen[static_cast<std::size_t>(from)] = true;
    to[i] = asked.first().extents[static_cast<std::size_t>(from)];
  }
  return asked.with(std::move(to));
}

Shapes strided_slice(const Asked& asked) {
  if (!asked.has(31) || !asked.same_type()) return refuse("these parameters");
  const auto ranges = slices_of(asked.layer, asked.first().extents);
  if (!ranges) return ranges.error();
  Extents to;
  for (const SliceRange& range : *ranges) to.push_back(range.count);
  return asked.with(std::move(to));
}

Shapes padding(const Asked& asked) {  // before and behind for each dimension, kind, f value, dynamic
  if (!asked.has(13) || asked.rank() != 4 || !asked.same_type()) return refuse("these parameters");
  if (!asked.zero(8, 9) || !asked.zero(10, 11)) return refuse("padding other than with a constant");
  if (!is_float(asked.first().type) && asked.first().type != kInt8) return refuse("this type");
  Extents to = asked.first().extents;
  for (std::size_t i = 0; i < to.size(); ++i) {
    for (const std::size_t word : {2 * i, 2 * i + 1}) {
      if (asked.layer.word(word) < 0) return refuse("padding that takes away");
      to[i] += asked.layer.word(word);
    }
  }
  return asked.with(std::move(to));
}

Shapes tile(const Asked& asked) {  // how often each dimension comes
  if (!asked.has(24) || asked.rank() > 8 || !asked.same_type()) return refuse("these parameters");
  Extents to = asked.first().extents;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (asked.layer.word(i) < 1) return refuse(fmt::format("{} times", asked.layer.word(i)));
    to[i] *= asked.layer.word(i);
  }
  return asked.with(std::move(to));
}

Shapes upsampling(const Asked& asked) {  // factor, relu
  if (!asked.has(2) || asked.rank() != 4 || !asked.same_type() || asked.layer.word(0) < 1 || asked.layer.word(1) != 0)
    return refuse("these parameters");
  Extents to = asked.first().extents;
  to[2] *= asked.layer.word(0);
  to[3] *= asked.layer.word(0);
  return asked.with(std::move(to));
}

Shapes depth_space(const Asked& asked) {  // blocks of h and w, layouts, to depth, CRD, swap
  if (!asked.has(7) || asked.rank() != 4 || !asked.same_type()) return refuse("these parameters");
  const std::int64_t h = asked.layer.word(0);
  const std::int64_t w = asked.layer.word(1);
  const bool to_depth = asked.layer.word(4) == 1;
  if (h < 1 || w < 1 || asked.layer.word(2) != 1 || asked.layer.word(3) != 1 || asked.bits(4) > 1 || !asked.zero(5, 7))
    return refuse("this order of channels");
  const Extents& from = asked.first().extents;
  if (to_depth ? from[2] % h != 0 || from[3] % w != 0 : from[1] % (h * w) != 0)
    return refuse("extents that are no multiples of its blocks");
  return asked.with(to_depth ? Extents{from[0], from[1] * h * w, from[2] / h, from[3] / w}
                             : Extents{from[0], from[1] / (h * w), from[2] * h, from[3] * w});
}

Shapes gather(const Asked& asked) {  // axis, index is constant, negative indices
  if (!asked.has(3) || asked.inputs.size() != 2 || asked.layer.word(0) != 0 || asked.rank() != 2 ||
      asked.inputs[1].type != kInt32 || !asked.same_type())
    return refuse("other than rows of a table");
  Extents to = asked.inputs[1].extents;
  to.push_back(asked.first().extents[1]);
  return asked.with(std::move(to));
}

Shapes top_k(const Asked& asked) {  // k, axis, descending, unset, values, indices
  const std::int64_t k = asked.layer.word(0);
  if (!asked.has(8) || asked.rank() == 0 || asked.layer.word(1) != asked.rank() - 1)
    return refuse("an axis that is not the last one");
  Shaped results = asked.like;
  if (asked.first().type != kFloat32 || results.size() != 2 || results[0].type != kFloat32 || results[1].type != kInt32)
    return refuse("types other than f32 and i32");
  if (k < 1 || k > asked.first().extents.back())
    return refuse(fmt::format("the largest {} of {} elements", k, asked.first().extents.back()));
  for (ShapedTensor& result : results) result.extents.back() = k;
  return results;
}

// ---- Shapes that layers compute ----

Shapes shape_with(const Asked& asked, std::int64_t count, std::optional<Extents> values) {
  if (asked.layer.outputs[0].kind != OperandKind::kShape) return refuse("a result in device memory");
  if (count < 1 || count > static_cast<std::int64_t>(kMostExtents)) return refuse(fmt::format("{} numbers", count));
  Shaped results = asked.like;
  results[0].extents = {count};
  results[0].values = std::move(values);
  return results;
}

Shapes shape_of_tensor(const Asked& asked) { return shape_with(asked, asked.rank(), asked.first().extents); }

// The numbers are read when the layer is carried out.
Shapes tensor_to_shape(const Asked& asked) {
  if (asked.first().type != kFloat32 && asked.first().type != kInt32) return refuse("this type");
  return shape_with(asked, elements_of(asked.first().extents), std::nullopt);
}

Shapes convert_shape(const Asked& asked) {
  return shape_with(asked, elements_of(asked.first().extents), asked.first().values);
}

Shapes slice_shape(const Asked& asked) {  // 8 begins, 8 ends, 8 steps, dimensions, masks
  const std::int64_t count = elements_of(asked.first().extents);
  const std::int64_t begin = asked.layer.word(0);
  const std::int64_t end = asked.layer.word(8);
  if (!asked.has(31) || asked.rank() != 1 || asked.layer.word(16) != 1 || asked.layer.word(24) != 1 ||
      !asked.zero(25, 31) || begin < 0 || end <= begin || end > count)
    return refuse("these borders");
  std::optional<Extents> values;
  if (const auto& from = asked.first().values)
    values =
        Extents(from->begin() + static_cast<std::ptrdiff_t>(begin), from->begin() + static_cast<std::ptrdiff_t>(end));
  return shape_with(asked, end - begin, std::move(values));
}

Shapes join_shapes(const Asked& asked) {
  if (!asked.has(2) || asked.layer.word(1) != 0) return refuse("this axis");
  std::int64_t count = 0;
  std::optional<Extents> values = Extents{};
  for (const ShapedTensor& input : asked.inputs) {
    count += elements_of(input.extents);
    if (!input.values) values.reset();
    if (values) values->insert(values->end(), input.values->begin(), input.values->end());
  }
  return shape_with(asked, count, std::move(values));
}

Shapes reshape_to_shape(const Asked& asked) {
  if (asked.inputs.size() != 2 || !asked.same_type()) return refuse("these inputs");
  Shaped results = asked.like;
  if (!asked.inputs[1].values) {
    results[0].open = true;
    return results;
  }
  Extents to = *asked.inputs[1].values;
  if (std::any_of(to.begin(), to.end(), [](std::int64_t extent) { return extent < 1; }) ||
      elements_of(to) != elements_of(asked.first().extents))
    return refuse(fmt::format("[{}] cannot become [{}]", fmt::join(asked.first().extents, ", "), fmt::join(to, ", ")));
  results[0].extents = std::move(to);
  return results;
}

// ---- Element by element ----

// Half away from zero, half up; no recorded network has others.
bool is_rounding(std::int32_t rounding) { return rounding == 0 || rounding == 1; }

Shapes conversion(const Asked& asked) {  // from, to, rounding
  if (!asked.has(3) || !is_rounding(asked.layer.word(2))) return refuse("this rounding");
  const std::uint32_t from = asked.first().type;
  const std::uint32_t to = asked.like[0].type;
  if ((!is_float(from) && !is_whole(from)) || (!is_float(to) && !is_whole(to))) return refuse("this type");
  return asked.like;
}

Shapes binary(const Asked& asked) {
  // operation, relu, f limit, scales, shifts, f scales, zero points
  if (!asked.has(12) || asked.inputs.size() != 2) return refuse("these parameters");
  const std::int32_t operation = asked.layer.word(0);
  if (asked.layer.word(1) != 0) return refuse("a relu behind it");
  if (!asked.zero(9, 12)) return refuse("zero points");
  if (asked.inputs[1].type != asked.first().type || !asked.same_type()) return refuse("operands of different types");
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
  if (asked.first().type != kFloat32 || asked.like[0].type != kInt8) return refuse("types other than f32 and int8");
  return asked.like;
}

Shapes dequantisation(const Asked& asked) {  // per channel, f scale, offset, type, rounding
  if (!asked.has(5) || (asked.layer.word(0) & 0xff) != 0 || !asked.zero(2, 5)) return refuse("these parameters");
  if (!is_byte(asked.first().type) || asked.like[0].type != kFloat32) return refuse("types other than 8 bits and f32");
  return asked.like;
}

Shapes table(const Asked& asked) {
  if (asked.inputs.size() != 2 || !is_byte(asked.first().type) || !is_byte(asked.like[0].type) ||
      elements_of(asked.inputs[1].extents) != 256)
    return refuse("a table other than of 256 bytes");
  return asked.like;
}

// ---- Sums ----

Shapes pooling(const Asked& asked) {
  // buffer, kernel, pads top bottom left right, stride, dilation, global, average, adaptive, mode of average, relu,
  // limit, ceil, rounding, quantised, mask, multiplier, shift, requantise
  enum : std::size_t {
    kKernel = 1,
    kPads = 3,
    kStride = 7,
    kDilation = 9,
    kGlobal = 11,
    kAverage,
    kAdaptive,
    kMode,
    kRelu
  };
  if (!asked.has(27) || !asked.same_type()) return refuse("these parameters");
  if (asked.layer.word(kAdaptive) != 0 || asked.layer.word(kRelu) != 0 || !asked.zero(18, 21) || !asked.zero(23, 27))
    return refuse("an adaptive or requantised one");
  const bool average = asked.layer.word(kAverage) != 0;
  const bool padded = !asked.zero(kPads, kPads + 4);
  const std::uint32_t type = asked.first().type;
  if (!is_byte(type) && !is_float(type)) return refuse("this type");
  const auto extents = local_extents(asked.first().extents);
  const auto side = [&](std::size_t i) -> std::int64_t {
    const std::size_t pads = kPads + 2 * i;
    const std::int64_t kernel = asked.layer.word(kKernel + i);
    const std::int64_t step = asked.layer.word(kStride + i);
    const std::int64_t dilation = asked.layer.word(kDilation + i);
    const std::int64_t before = asked.layer.word(pads);
    const std::int64_t behind = asked.layer.word(pads + 1);
    if (kernel < 1 || kernel > 255 || step < 1 || step > 15 || dilation < 1 || dilation > 15 || before < 0 ||
        before >= kernel || behind < 0 || behind >= kernel || (average && dilation != 1))
      return 0;
    return windows(extents[2 + i], before, behind, kernel, step, dilation);
  };
  Extents to = asked.first().extents;
  if (to.size() != 4) return refuse("an input that has not four dimensions");
  to[2] = side(0);
  to[3] = side(1);
  if (to[2] < 1 || to[3] < 1) return refuse("this window");
  if (average && padded) {
    if (asked.layer.word(kMode) == 0) return refuse("an average that counts padding");
    for (std::size_t i = 0; i < 2; ++i) {
      // Whole numbers are made larger by a factor that is recorded for 3 of which padding takes 1.
      const bool one = asked.layer.word(kPads + 2 * i) <= 1 && asked.layer.word(kPads + 2 * i + 1) <= 1;
      if (is_byte(type) && (type == kInt8 || !one || asked.layer.word(kKernel + i) != 3))
        return refuse("an average of this window");
    }
  }
  if (average && asked.layer.word(kGlobal) == 0 && asked.layer.word(kKernel) * asked.layer.word(kKernel + 1) > 64)
    return refuse("an average of so many elements");
  return asked.with(std::move(to));
}

Shapes softmax(const Asked& asked) {  // f scale, first axis, last axis, log, zero point
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

// ---- Products ----

Shapes convolution(const Asked& asked) {
  enum : std::size_t { kGroups, kIn, kOut, kKernel, kStride = 5, kDilation = 7, kPads = 9, kBias = 13, kRelu, kLimit };
  if (!asked.has(34) || asked.rank() != 4 || asked.inputs.size() < 2) return refuse("these parameters");
  const ListedLayer& layer = asked.layer;
  const std::uint32_t type = asked.first().type;
  const bool bytes = is_byte(type);
  const auto word = [&](std::size_t i) -> std::int64_t { return layer.word(i); };
  const std::int64_t groups = word(kGroups);
  if (asked.first().extents[1] != word(kIn)) return refuse("an input with other channels than its weights have");
  if (word(kIn) < 1 || word(kOut) < 1 || word(kOut) > 65535) return refuse("these channels");
  if (groups != 1 && layer.local && !(type == kFloat32 && groups == word(kIn) && groups == word(kOut)))
    return refuse("groups of this kind");
  if (groups < 1 || word(kIn) % groups != 0 || word(kOut) % groups != 0) return refuse("groups of this kind");
  if (!asked.zero(20, 21) || !asked.zero(22, 23) || !asked.zero(26, 31)) return refuse("zero points or packed weights");
  if (layer.word(25) != 1) return refuse("weights that a layer makes");
  // Which sums the merging of the kernel makes of few channels.
  const std::int32_t merged = layer.word(24) & 0xf;
  if (merged != 0 && merged != 1 && merged != 3) return refuse("this merging of its kernel");
  const std::int64_t taps = merged == 0 ? 1 : merged == 1 ? word(kKernel) : word(kKernel) * word(kKernel + 1);
  if (merged != 0 && (type == kFloat32 || groups != 1 || word(kIn) * taps > 64 || taps > 64))
    return refuse("this merging of its kernel");
  if (bytes) {
    if (!layer.local || word(kBias) != 1 || !asked.unlimited(kLimit) || layer.word(39) != 1 || layer.word(40) != 2 ||
        !is_byte(asked.like[0].type) || asked.inputs.size() != 2 || word(kOut) > 64 || !is_rounding(layer.word(17)))
      return refuse("whole numbers of this kind");
  } else {
    if (!is_float(type) || !asked.same_type() || asked.inputs.size() != (word(kBias) != 0 ? 3U : 2U))
      return refuse("this type");
    if (!layer.local && type != kFloat32) return refuse("this type");
    if (layer.local && !asked.zero(33, 40)) return refuse("sums with its result");
    if (asked.inputs[1].type != type) return refuse("weights of this type");
  }
  const auto side = [&](std::size_t i) -> std::int64_t {
    const std::int64_t before = word(kPads + 2 * i);
    const std::int64_t behind = word(kPads + 2 * i + 1);
    if (word(kKernel + i) < 1 || word(kStride + i) < 1 || word(kStride + i) > 15 || word(kDilation + i) < 1 ||
        word(kDilation + i) > 15 || before < 0 || before > 15 || behind < 0 || behind > 15)
      return 0;
    return windows(asked.first().extents[2 + i], before, behind, word(kKernel + i), word(kStride + i),
                   word(kDilation + i));
  };
  const std::int64_t h = side(0);
  const std::int64_t w = side(1);
  if (h < 1 || w < 1) return refuse("this window");
  return asked.with({asked.first().extents[0], word(kOut), h, w});
}

// As recorded: with a bias, without relu.
Shapes deconvolution(const Asked& asked) {
  // groups, channels, kernel, stride, dilation, pads, pads of the result, then what no recording varies
  constexpr std::int32_t kRecorded[] = {0, 0, 1, 1, 1, 0, 1, 0};
  const ListedLayer& layer = asked.layer;
  if (!asked.has(29) || asked.rank() != 4 || asked.inputs.size() != 3 || layer.word(0) != 1) return refuse("groups");
  for (std::size_t i = 0; i < std::size(kRecorded); ++i) {
    if (layer.word(12 + i) != kRecorded[i]) return refuse("these parameters");
  }
  if (!asked.unlimited(20) || !asked.zero(21, 29)) return refuse("these parameters");
  if (!is_float(asked.first().type) || asked.first().type == kFloat32 || !asked.same_type()) return refuse("this type");
  Extents to = asked.first().extents;
  to[1] = layer.word(1);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t kernel = layer.word(2 + i);
    const std::int64_t step = layer.word(4 + i);
    const std::int64_t before = layer.word(8 + 2 * i);
    const std::int64_t behind = layer.word(9 + 2 * i);
    if (kernel < 1 || kernel > 16 || step < 1 || step > 8 || layer.word(6 + i) != 1 || before < 0 || behind < 0 ||
        before >= kernel || behind >= kernel)
      return refuse("this window");
    to[2 + i] = (to[2 + i] - 1) * step - before - behind + kernel;
  }
  if (to[1] < 1 || to[2] < 1 || to[3] < 1) return refuse("this window");
  return asked.with(std::move(to));
}

Shapes fully_connected(const Asked& asked) {
  // right transposed, bias, relu, f limit, shift, asymmetric, zero point of right, constant, of the input,
  // requantisation
  if (!asked.has(15) || asked.rank() != 2 || asked.inputs.size() != (asked.layer.word(1) != 0 ? 3U : 2U))
    return refuse("inputs of this kind");
  const Extents& left = asked.first().extents;
  const Extents& right = asked.inputs[1].extents;
  if (asked.layer.word(0) != 0 || right.size() != 2 || right[0] != left[1]) return refuse("a transposed right side");
  if (!asked.zero(6, 7) || !asked.zero(8, 9) || !asked.zero(12, 15)) return refuse("zero points");
  const std::uint32_t type = asked.first().type;
  if (is_byte(type)) {
    if (asked.layer.word(1) == 0 || asked.layer.word(9) != 2 || !asked.unlimited(3) || !is_byte(asked.like[0].type))
      return refuse("whole numbers of this kind");
  } else if (!is_float(type) || asked.layer.word(2) != 0 || asked.inputs[1].type != type || !asked.same_type()) {
    return refuse("this type");
  }
  // One command has all of each sum up to here.
  if (left[1] > 400 || left[0] > 64 || right[1] > 256) return refuse("a product of this size");
  // A single row of many elements is summed in two halves.
  if (type == kFloat32 && left[0] == 1 && left[1] > 96 && (left[1] != 384 || right[1] > 16))
    return refuse("a row of this length");
  Shapes results = asked.with({left[0], right[1]});
  // As recorded: what reads bytes behind it takes them as the left side's, whatever they were rounded to.
  if (is_byte(type)) (*results)[0].type = type;
  return results;
}

Shapes batched_product(const Asked& asked) {
  // type of the result, left and right transposed, zero points, (bias, batch in h, relu), f limit, requantisation
  if (!asked.has(15) || asked.inputs.size() != 2) return refuse("a bias");
  if (!asked.zero(1, 3) || !asked.zero(4, 7) || !asked.zero(11, 15)) return refuse("these parameters");
  const Extents& left = asked.first().extents;
  const Extents& right = asked.inputs[1].extents;
  const std::size_t rank = left.size();
  if (rank < 2 || right.size() != rank || right[rank - 2] != left[rank - 1] ||
      !std::equal(left.begin(), left.end() - 2, right.begin()))
    return refuse("operands of these extents");
  const std::uint32_t type = asked.first().type;
  if (asked.inputs[1].type != type || !asked.same_type()) return refuse("operands of different types");
  if (type == kInt8 ? asked.layer.word(8) != 2 : !is_float(type)) return refuse("this type");
  // One command has all of each sum up to here.
  if (left[rank - 1] > 96 || left[rank - 2] > 64 || right[rank - 1] > 256) return refuse("a product of this size");
  Extents to = left;
  to.back() = right.back();
  return asked.with(std::move(to));
}

using Rule = Shapes (*)(const Asked&);

struct RuleOf {
  std::uint32_t type;
  Rule global, local;  // none: this layer is not carried out there
};

constexpr RuleOf kRules[] = {{0, convolution, convolution},
                             {1, nullptr, pooling},
                             {3, fully_connected, nullptr},
                             {7, concatenation, concatenation},
                             {11, relu, relu},
                             {18, reshape, nullptr},
                             {19, softmax, softmax},
                             {22, nullptr, deconvolution},
                             {26, padding, nullptr},
                             {27, extreme_index, nullptr},
                             {28, tile, nullptr},
                             {29, nullptr, select},
                             {31, binary, binary},
                             {32, binary_constant, binary_constant},
                             {35, activation, activation},
                             {38, shape_of_tensor, nullptr},
                             {41, slice_shape, nullptr},
                             {42, join_shapes, nullptr},
                             {43, reshape_to_shape, nullptr},
                             {49, transpose, nullptr},
                             {50, reduction, nullptr},
                             {51, strided_slice, nullptr},
                             {57, top_k, nullptr},
                             {65, batched_product, nullptr},
                             {66, upsampling, nullptr},
                             {71, convert_shape, nullptr},
                             {74, conversion, conversion},
                             {kTensorToShape, tensor_to_shape, nullptr},
                             {96, gather, nullptr},
                             {102, depth_space, nullptr},
                             {106, table, table},
                             {131, nullptr, layer_norm},
                             {132, quantisation, quantisation},
                             {134, dequantisation, dequantisation}};

constexpr const char* kNotCarriedOut = "this layer";

// What device memory holds, so that no product of extents overflows.
bool has_usual_size(const ShapedTensor& tensor) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 36;
  const std::int64_t elements = elements_of(tensor.extents);
  return elements >= 0 && elements <= kMostElements &&
         std::all_of(tensor.extents.begin(), tensor.extents.end(),
                     [](std::int64_t extent) { return extent >= 0 && extent <= INT32_MAX; });
}

// Bytes of a tensor in the local memory of one NPU.
std::int64_t local_bytes(const ShapedTensor& tensor) {
  constexpr std::int64_t kLine = 64, kNpus = 64;
  const auto extents = local_extents(tensor.extents);
  const std::int64_t size = is_byte(tensor.type) ? 1 : tensor.type == 1 || tensor.type == 8 ? 2 : 4;
  const std::int64_t plane = (std::int64_t{extents[2]} * extents[3] * size + kLine - 1) / kLine * kLine;
  return plane * extents[0] * ((extents[1] + kNpus - 1) / kNpus);
}

}  // namespace

bool is_float(std::uint32_t type) { return type <= 1 || type == 8; }
bool is_byte(std::uint32_t type) { return type == 2 || type == 3; }

std::array<int, 4> local_extents(const Extents& extents) {
  std::array<int, 4> all{1, 1, 1, 1};
  for (std::size_t i = 0; i < extents.size() && i < all.size(); ++i) all[i] = static_cast<int>(extents[i]);
  return all;
}

std::int64_t windows(std::int64_t extent, std::int64_t before, std::int64_t behind, std::int64_t kernel,
                     std::int64_t step, std::int64_t dilation) {
  const std::int64_t span = dilation * (kernel - 1) + 1;
  const std::int64_t free = extent + before + behind - span;
  return free < 0 ? 0 : free / step + 1;
}

Result<std::vector<SliceRange>> slices_of(const ListedLayer& layer, const Extents& extents) {
  constexpr std::size_t kBegin = 2, kEnd = 10, kStep = 18, kCount = 26, kRest = 27;
  for (std::size_t i = kRest; i < kRest + 4; ++i) {
    if (layer.word(i) != 0) return refuse("a slice that adds or drops dimensions, or whose borders are tensors");
  }
  if (static_cast<std::size_t>(layer.word(kCount)) != extents.size())
    return refuse(fmt::format("a slice of {} dimensions of {}", layer.word(kCount), extents.size()));
  std::vector<SliceRange> ranges;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::int64_t step = layer.word(kStep + i);
    if (step < 1) return refuse(fmt::format("a slice with step {}", step));
    const auto place = [&](std::size_t word) {
      const std::int64_t at = layer.word(word + i);
      return std::clamp<std::int64_t>(at < 0 ? at + extents[i] : at, 0, extents[i]);
    };
    const std::int64_t begin = ((layer.word(0) >> i) & 1) != 0 ? 0 : place(kBegin);
    const std::int64_t end = ((layer.word(1) >> i) & 1) != 0 ? extents[i] : place(kEnd);
    ranges.push_back({begin, step, std::max<std::int64_t>(0, (end - begin + step - 1) / step)});
  }
  return ranges;
}

Result<std::vector<ShapedTensor>> results_of(const ListedLayer& layer, std::span<const ShapedTensor> inputs) {
  if (layer.inputs.size() != inputs.size() || layer.outputs.empty() || inputs.empty())
    return refuse(fmt::format("{} inputs and {} outputs", layer.inputs.size(), layer.outputs.size()));
  const auto* const found =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const RuleOf& one) { return one.type == layer.type; });
  const Rule rule = found == std::end(kRules) ? nullptr : layer.local ? found->local : found->global;
  if (rule == nullptr) return refuse(layer.local ? "this layer with operands in local memory" : kNotCarriedOut);
  Asked asked{layer, inputs, {}};
  for (const Operand& output : layer.outputs)
    asked.like.push_back({output.type.value_or(inputs[0].type), inputs[0].extents});
  if (!std::all_of(inputs.begin(), inputs.end(), has_usual_size)) return refuse("tensors of this size");
  auto results = rule(asked);
  if (!results) return results;
  if (!std::all_of(results->begin(), results->end(), has_usual_size)) return refuse("tensors of this size");
  if (!layer.local) return results;
  constexpr std::size_t kMostLocalExtents = 4;
  constexpr std::int64_t kMostLocalBytes = 0x10000;  // four banks
  for (const auto& all : {std::vector<ShapedTensor>(inputs.begin(), inputs.end()), *results}) {
    for (const ShapedTensor& one : all) {
      if (one.extents.size() > kMostLocalExtents) return refuse(fmt::format("{} dimensions", one.extents.size()));
      if (local_bytes(one) > kMostLocalBytes) return refuse("tensors of this size");
    }
  }
  return results;
}

// Tensors while a list is judged; empty: made by a layer that is refused.
using Known = std::map<std::uint32_t, std::optional<ShapedTensor>>;

// Why the moves of a group cannot run; empty: they do. What they load gets its shape.
static std::string fault_of(const ListedGroup& group, Known& known) {
  if (group.steps == 1) return {};
  if (group.split) return "slices along h";
  if (group.stages < 1 || group.stages > 3) return fmt::format("a pipeline of {} stages", group.stages);
  for (const ListedLayer& layer : group.layers) {
    if (layer.stage >= group.stages) return fmt::format("stage {} of {}", layer.stage, group.stages);
  }
  std::int64_t rows = 0;
  for (const ListedTransfer& transfer : group.transfers) {
    if (transfer.stage >= group.stages) return fmt::format("stage {} of {}", transfer.stage, group.stages);
    const auto moved = moved_tensor(transfer);
    if (!moved) return moved.error().text;
    const auto type = static_cast<TransferType>(transfer.type);
    if (type != TransferType::kLoad && type != TransferType::kLoadInput) continue;
    const auto found = known.find(moved->reference);
    if (found == known.end()) return fmt::format("it loads tensor {}, which nothing has made", moved->reference);
    if (found->second && !found->second->extents.empty()) rows = std::max(rows, found->second->extents[0]);
    if (found->second && found->second->extents.size() > 4) return "it loads more than four dimensions";
    // A copy: the entry that it makes may be the same one.
    const std::optional<ShapedTensor> shape = found->second;
    known[moved->id] = shape;
  }
  return rows > group.rows ? fmt::format("{} rows in slices of {}", rows, group.rows) : std::string();
}

std::vector<std::string> faults_of(const LayerList& list, std::span<const ShapedTensor> inputs) {
  std::vector<std::string> faults;
  Known known;
  for (std::size_t i = 0; i < list.inputs.size() && i < inputs.size(); ++i) known[list.inputs[i]] = inputs[i];
  std::size_t number = 0;
  for (const ListedGroup& group : list.groups) {
    if (std::string why = fault_of(group, known); !why.empty())
      faults.push_back(fmt::format("the group of layer {} of its list: {}", number + 1, why));
    for (const ListedLayer& layer : group.layers) {
      ++number;
      std::vector<ShapedTensor> given;
      bool all = true;
      for (const Operand& input : layer.inputs) {
        if (input.kind == OperandKind::kConstant) {
          given.push_back({input.type.value_or(0), input.extents});
          continue;
        }
        const auto found = known.find(input.id);
        all = all && found != known.end();
        // Behind a layer that is refused, the greatest shape of the list stands for what it would have made.
        const bool is_known = found != known.end() && found->second;
        given.push_back(is_known ? *found->second : ShapedTensor{input.type.value_or(0), input.extents});
      }
      const auto results = all ? results_of(layer, given) : Error{ErrorKind::kUsage, "an input that nothing makes"};
      if (!results) {
        const std::string& why = results.error().text;
        faults.push_back(fmt::format("layer {} of its list, {}{}", number, name_of_layer(layer.type),
                                     why == kNotCarriedOut ? "" : ": " + why));
      }
      for (std::size_t i = 0; i < layer.outputs.size(); ++i)
        known[layer.outputs[i].id] = results && !(*results)[i].open ? std::optional((*results)[i]) : std::nullopt;
    }
  }
  for (const std::uint32_t output : list.outputs) {
    if (known.find(output) == known.end()) faults.emplace_back("nothing makes one of its outputs");
  }
  return faults;
}

}  // namespace softtpu::bmodel
