// Rules of layers that multiply and add.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/bmodel/layer_rules.hpp"

namespace softtpu::bmodel::rules {

Shapes convolution(const Asked& asked) {
  using Words = ConvolutionWords;
  if (!asked.has(34) || asked.rank() != 4 || asked.inputs.size() < 2) return refuse("these parameters");
  const ListedLayer& layer = asked.layer;
  const std::uint32_t type = asked.first().type;
  const bool bytes = is_byte(type);
  const auto word = [&](std::size_t i) -> std::int64_t { return layer.word(i); };
  const std::int64_t groups = word(Words::kGroups);
  if (asked.first().extents[1] != word(Words::kIn)) return refuse("an input with other channels than its weights have");
  if (word(Words::kIn) < 1 || word(Words::kOut) < 1 || word(Words::kOut) > kMostOfCommand)
    return refuse("these channels");
  if (groups != 1 && layer.local && !(type == kFloat32 && groups == word(Words::kIn) && groups == word(Words::kOut)))
    return refuse("groups of this kind");
  if (groups < 1 || word(Words::kIn) % groups != 0 || word(Words::kOut) % groups != 0)
    return refuse("groups of this kind");
  if (!asked.zero(20, 21) || !asked.zero(22, 23) || !asked.zero(26, 31)) return refuse("zero points or packed weights");
  if (layer.word(25) != 1) return refuse("weights that a layer makes");
  // Which sums the merging of the kernel makes of few channels.
  const std::int32_t merged = layer.word(Words::kMerged) & Words::kMergedTaps;
  if (layer.word(Words::kMerged) != 0 && merged != 1 && merged != 3) return refuse("this merging of its kernel");
  if (merged != 0 && layer.word(Words::kMerged) != (Words::kSpreadByLayer | merged))
    return refuse("a kernel that is merged by other than itself");
  const std::int64_t taps = merged == 0   ? 1
                            : merged == 1 ? word(Words::kKernel)
                                          : word(Words::kKernel) * word(Words::kKernel + 1);
  if (merged != 0 && (type == kFloat32 || groups != 1 || word(Words::kIn) * taps > 64 || taps > 64))
    return refuse("this merging of its kernel");
  if (bytes) {
    if (!layer.local || word(Words::kBias) != 1 || !asked.unlimited(Words::kLimit) || layer.word(39) != 1 ||
        layer.word(40) != 2 || !is_byte(asked.like[0].type) || asked.inputs.size() != 2 || word(Words::kOut) > 64 ||
        asked.inputs[1].type != kInt8 || !is_rounding(layer.word(Words::kRounding)))
      return refuse("whole numbers of this kind");
    if (layer.word(Words::kRelu) != 0 && asked.like[0].type != kUint8) return refuse("relu of a type with signs");
  } else {
    if (!is_float(type) || !asked.same_type() || asked.inputs.size() != (word(Words::kBias) != 0 ? 3U : 2U))
      return refuse("this type");
    if (!layer.local && type != kFloat32) return refuse("this type");
    if (layer.local && !asked.zero(33, 40)) return refuse("sums with its result");
    if (asked.inputs[1].type != type) return refuse("weights of this type");
    if (asked.inputs.size() == 3 && asked.inputs[2].type != kFloat32) return refuse("a bias of this type");
  }
  const auto side = [&](std::size_t i) -> std::int64_t {
    const std::int64_t before = word(Words::kPads + 2 * i);
    const std::int64_t behind = word(Words::kPads + 2 * i + 1);
    if (word(Words::kKernel + i) < 1 || word(Words::kStride + i) < 1 || word(Words::kStride + i) > 15 ||
        word(Words::kDilation + i) < 1 || word(Words::kDilation + i) > 15 || before < 0 || before > 15 || behind < 0 ||
        behind > 15)
      return 0;
    return windows(asked.first().extents[2 + i], before, behind, word(Words::kKernel + i), word(Words::kStride + i),
                   word(Words::kDilation + i));
  };
  const std::int64_t h = side(0);
  const std::int64_t w = side(1);
  if (h < 1 || w < 1) return refuse("this window");
  return asked.with({asked.first().extents[0], word(Words::kOut), h, w});
}

// As recorded: a kernel of 3 x 3 x 3 with one row of padding on all sides, a bias, and relu.
Shapes convolution_3d(const Asked& asked) {
  // groups, channels, kernel, then strides, dilations, pads and bias, four 0, relu, f limit
  constexpr std::int32_t kRecorded[] = {3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1};
  const ListedLayer& layer = asked.layer;
  if (!asked.has(36) || asked.rank() != 5 || asked.inputs.size() != 3 || layer.word(0) != 1 || !asked.same_type() ||
      asked.first().type != kFloat32 || asked.inputs[1].type != kFloat32 || asked.inputs[2].type != kFloat32)
    return refuse("these parameters");
  for (std::size_t i = 0; i < std::size(kRecorded); ++i) {
    if (layer.word(2 + i) != kRecorded[i]) return refuse("these parameters");
  }
  if (!asked.unlimited(23) || !asked.zero(24, 36)) return refuse("these parameters");
  constexpr std::int64_t kMostIn = 4, kMostOut = 64, kMostPlane = 2048;
  Extents to = asked.first().extents;
  if (to[1] < 1 || to[1] > kMostIn || to[3] < 1 || to[4] < 1 || to[3] * to[4] > kMostPlane)
    return refuse("an input of this size");
  if (asked.inputs[1].extents != Extents{layer.word(1), to[1], 3, 3, 3} ||
      elements_of(asked.inputs[2].extents) != layer.word(1))
    return refuse("weights of these extents");
  to[1] = layer.word(1);
  if (to[1] < 1 || to[1] > kMostOut) return refuse("these channels");
  return asked.with(std::move(to));
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
  if (!is_float(asked.first().type) || asked.first().type == kFloat32 || !asked.same_type() ||
      asked.inputs[1].type != asked.first().type || asked.inputs[2].type != kFloat32)
    return refuse("this type");
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
    if (asked.layer.word(1) == 0 || asked.layer.word(9) != 2 || !asked.unlimited(3) || !is_byte(asked.like[0].type) ||
        asked.inputs[1].type != kInt8)
      return refuse("whole numbers of this kind");
    if (asked.layer.word(2) != 0 && asked.like[0].type != kUint8) return refuse("relu of a type with signs");
  } else if (!is_float(type) || asked.layer.word(2) != 0 || asked.inputs[1].type != type || !asked.same_type()) {
    return refuse("this type");
  }
  if (asked.inputs.size() == 3 &&
      (asked.inputs[2].type != (is_byte(type) ? kInt32 : type) || elements_of(asked.inputs[2].extents) != right[1]))
    return refuse("a bias of this kind");
  // One command has all of each sum up to here.
  if (left[1] > 400 || (asked.of_launch() && left[0] > 64) || right[1] > 256) return refuse("a product of this size");
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
  const bool bias = asked.inputs.size() == 3;
  if (!asked.has(15) || (asked.inputs.size() != 2 && !bias)) return refuse("these inputs");
  if (!asked.zero(1, 3) || !asked.zero(4, 6) || asked.layer.word(6) != (bias ? 1 : 0) || !asked.zero(11, 15))
    return refuse("these parameters");
  const Extents& left = asked.first().extents;
  const Extents& right = asked.inputs[1].extents;
  const std::size_t rank = left.size();
  if (rank < 2 || right.size() != rank || right[rank - 2] != left[rank - 1] ||
      !std::equal(left.begin(), left.end() - 2, right.begin()))
    return refuse("operands of these extents");
  const std::uint32_t type = asked.first().type;
  if (asked.inputs[1].type != type || !asked.same_type()) return refuse("operands of different types");
  if (type == kInt8 ? asked.layer.word(8) != 2 : !is_float(type)) return refuse("this type");
  if (bias) {
    const ShapedTensor& added = asked.inputs[2];
    // f32 has its bias in the product's command, which is not recorded here.
    if (type == kFloat32 || added.type != (type == kInt8 ? kInt32 : type) || added.extents.empty() ||
        added.extents.back() != right.back() || elements_of(added.extents) != right.back())
      return refuse("a bias of this kind");
  }
  // One command has all of each sum up to here; how sums of whole numbers are split changes nothing.
  const std::int64_t most = type == kInt8 ? 1024 : 96;
  const bool is_larger = left[rank - 1] > most || left[rank - 2] > 64 || right[rank - 1] > 256;
  if (asked.of_launch() && is_larger) return refuse("a product of this size");
  Extents to = left;
  to.back() = right.back();
  return asked.with(std::move(to));
}

Shapes packed_product(const Asked& asked) {
  using Words = PackedProductWords;
  constexpr std::uint32_t kPlain = 0x00010100, kWithBias = 0x00010101;
  constexpr std::int64_t kGroup = 64, kNpus = 64, kRows = 64;
  constexpr std::int64_t kBank = 0x4000;
  const ListedLayer& layer = asked.layer;
  const std::uint32_t flags = asked.bits(Words::kFlags);
  if (!asked.has(5) || (flags != kPlain && flags != kWithBias) || layer.word(4) != 0) return refuse("these parameters");
  if (asked.inputs.size() != (flags == kWithBias ? 5U : 4U)) return refuse("these inputs");
  if (layer.word(Words::kBits) != 4 || layer.word(Words::kZeroPoints) != 1 || layer.word(Words::kGroup) != kGroup)
    return refuse("other than 4-bit weights with zero points in groups of 64");
  const ShapedTensor& weights = asked.inputs[1];
  if (asked.first().type != kBfloat16 || !asked.same_type() || weights.type != kUint8 ||
      asked.inputs[2].type != kBfloat16 || asked.inputs[3].type != kUint8)
    return refuse("these types");
  if (asked.rank() < 1 || weights.extents.size() != 2) return refuse("operands of this kind");
  const std::int64_t depth = asked.first().extents.back();
  const std::int64_t columns = weights.extents[0];
  if (depth < 1 || depth % (2 * kGroup) != 0 || weights.extents[1] != depth / 2 || columns < kNpus ||
      columns % kNpus != 0)
    return refuse("operands of these extents");
  const Extents scales{kNpus, columns / kNpus, depth / kGroup};
  if (asked.inputs[2].extents != scales || asked.inputs[3].extents != scales) return refuse("scales of these extents");
  if (flags == kWithBias && (asked.inputs[4].type != kBfloat16 || elements_of(asked.inputs[4].extents) != columns))
    return refuse("a bias of this kind");
  // All weights lie in local memory at once, as 16-bit numbers: how larger ones are split is not recorded.
  const std::int64_t rows = elements_of(asked.first().extents) / depth;
  if (depth > 1024 || columns / kNpus * depth * 2 > kBank || (asked.of_launch() && rows > kRows))
    return refuse(fmt::format("a product of {} x {} x {}", rows, depth, columns));
  Extents to = asked.first().extents;
  to.back() = columns;
  return asked.with(std::move(to));
}

// As recorded: one direction and one sequence, with a bias, the states of all steps wanted.
Shapes lstm(const Asked& asked) {
  using Words = LstmWords;
  constexpr std::int32_t kFlags = 0x101, kBehind[] = {2, 0, 1, 0, 0};
  constexpr std::int64_t kMostInput = 20, kMostHidden = 16;
  const ListedLayer& layer = asked.layer;
  if (!asked.has(Words::kCount) || asked.inputs.size() != 5 || asked.like.size() != 1 || asked.rank() != 3 ||
      layer.word(Words::kFlags) != kFlags || layer.word(Words::kBatch) != 1)
    return refuse("these parameters");
  for (std::size_t i = 0; i < std::size(kBehind); ++i) {
    if (layer.word(Words::kBehind + i) != kBehind[i]) return refuse("these parameters");
  }
  const std::int64_t width = layer.word(Words::kInput);
  const std::int64_t hidden = layer.word(Words::kHidden);
  if (width < 1 || width > kMostInput || hidden < 1 || hidden > kMostHidden)
    return refuse(fmt::format("{} inputs and {} states", width, hidden));
  const std::int64_t sizes[] = {asked.first().extents[0] * width, (width + hidden) * 4 * hidden, 8 * hidden, hidden,
                                hidden};
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    if (asked.inputs[i].type != kFloat32 || elements_of(asked.inputs[i].extents) != sizes[i])
      return refuse("operands of these extents or types");
  }
  if (asked.like[0].type != kFloat32) return refuse("this type");
  return asked.with({asked.first().extents[0], 1, 1, hidden});
}

}  // namespace softtpu::bmodel::rules
