// Rules of layers of language models, whose parameters and sizes are those of recorded blocks.
#include <fmt/format.h>

#include "runtime/bmodel/layer_rules.hpp"

namespace softtpu::bmodel::rules {

Shapes rotary_embedding(const Asked& asked) {
  // buffer, 0, saturations, shifts, roundings, permuted, two more
  constexpr std::int32_t kRecorded[] = {0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0};
  if (!asked.has(14) || asked.inputs.size() != 3 || !asked.same_type()) return refuse("these parameters");
  for (std::size_t i = 0; i < std::size(kRecorded); ++i) {
    if (asked.layer.word(1 + i) != kRecorded[i]) return refuse("these parameters");
  }
  if (asked.first().type != kBfloat16) return refuse("this type");
  const Extents& extents = asked.first().extents;
  if (extents.size() != 4 || extents[3] % 2 != 0) return refuse("an input of this kind");
  for (const ShapedTensor& angles : asked.inputs.subspan(1)) {
    if (angles.type != kBfloat16 || angles.extents != Extents{extents[0], extents[1], 1, extents[3]})
      return refuse("sines and cosines of these extents");
  }
  return asked.like;
}

Shapes attention_over_heads(const Asked& asked) {
  using Words = AttentionWords;
  // What is recorded. Fewer rows than this fit the same places of local memory.
  constexpr std::int64_t kHeads = 8, kKeyHeads = 2, kDepth = 64, kRows = 64, kKeys = 128;
  const ListedLayer& layer = asked.layer;
  if (!asked.has(Words::kCount) || asked.inputs.size() != 4 || !asked.same_type()) return refuse("these inputs");
  const Extents& queries = asked.first().extents;
  const Extents& keys = asked.inputs[1].extents;
  const ShapedTensor& mask = asked.inputs[3];
  if (layer.word(Words::kHeads) != kHeads || layer.word(Words::kKeyHeads) != kKeyHeads ||
      layer.word(Words::kDepth) != kDepth || layer.word(Words::kHeadsAtOnce) != kHeads ||
      layer.word(Words::kKeyHeadsAtOnce) != kKeyHeads)
    return refuse("other than 8 heads of 64 elements over 2 heads of keys");
  if (layer.word(Words::kBatch) != 1 || layer.word(Words::kHasMask) != 1 || layer.word(Words::kKeysAtOnce) != kKeys)
    return refuse("these parameters");
  for (const ShapedTensor& input : asked.inputs.first(3)) {
    if (input.type != kBfloat16 || input.extents.size() != 4 || input.extents[0] != 1 || input.extents[3] != kDepth)
      return refuse("operands of this kind");
  }
  if (queries[2] != kHeads || keys[2] != kKeyHeads || asked.inputs[2].extents != keys)
    return refuse("operands of these extents");
  if (mask.type != kFloat32 || mask.extents.size() != 2 || mask.extents[1] != layer.word(Words::kMaskRow) ||
      layer.inputs[3].kind != OperandKind::kConstant)
    return refuse("this mask");
  // How larger numbers of keys are split decides bits.
  if (asked.of_launch()) {
    if (queries[1] > kRows) return refuse(fmt::format("{} rows (up to {} are recorded)", queries[1], kRows));
    if (keys[1] > kKeys) return refuse(fmt::format("{} keys (up to {} are recorded)", keys[1], kKeys));
    if (keys[1] < queries[1] || keys[1] > mask.extents[0] || keys[1] > mask.extents[1])
      return refuse(fmt::format("{} rows over {} keys with a mask of {} x {}", queries[1], keys[1], mask.extents[0],
                                mask.extents[1]));
  }
  return asked.with({queries[0], queries[1], queries[2] * queries[3]});
}

Shapes attention_of_head(const Asked& asked) {
  using Words = HeadWords;
  // A row of scores is one vector of f32, a row of each product one line of local memory.
  constexpr std::int64_t kRows = 16, kWidth = 64, kLine = 64, kProjections = 3;
  const ListedLayer& layer = asked.layer;
  const std::uint32_t type = asked.first().type;
  const bool bytes = type == kInt8;
  if (!asked.has(Words::kCount) || asked.inputs.size() != (bytes ? 5U : 4U)) return refuse("these inputs");
  if (!bytes && (!is_float(type) || type == kFloat32)) return refuse("this type");
  if (layer.word(0) != 1 || !asked.zero(3, 4) || layer.word(4) != 1 || layer.word(Words::kBehind) != 0 ||
      layer.word(Words::kBehind + 1) != 1)
    return refuse("a mask, or more than one head");
  const std::int32_t biases = layer.word(Words::kBiases);
  if ((biases & ~Words::kBiasOfResult) != Words::kBiasOfInputs) return refuse("inputs without a bias");
  for (std::size_t i = 0; i < 5; ++i) {
    const std::size_t words = Words::kRequantisations + 3 * i;
    if (bytes ? layer.word(words + 1) < 0 || layer.word(words + 1) > 31 || layer.word(words + 2) != 0
              : !asked.zero(words, words + 3))
      return refuse("this requantisation");
  }
  const std::uint32_t sums = bytes ? kInt32 : type;
  const std::int64_t size = bytes ? 1 : 2;
  const std::int64_t depth = layer.word(Words::kDepth);
  const Extents& rows = asked.first().extents;
  if (rows.size() != 3 || rows[0] != 1 || rows[1] < 1 || rows[1] > kRows || rows[2] < 1 || rows[2] > kWidth)
    return refuse("other than up to 16 rows of up to 64 elements");
  if (depth < 1 || depth * size * 2 > kLine) return refuse(fmt::format("a head of {} elements", depth));
  const ShapedTensor& weights = asked.inputs[1];
  const ShapedTensor& bias = asked.inputs[2];
  const ShapedTensor& behind = asked.inputs[3];
  if (weights.type != type || behind.type != type || bias.type != sums || asked.like[0].type != sums ||
      weights.extents != Extents{1, kWidth, kProjections, kLine / size} || behind.extents.size() != 3 ||
      behind.extents[0] != 1 || behind.extents[1] != depth)
    return refuse("weights of this kind");
  const std::int64_t columns = behind.extents[2];
  const std::int64_t with_bias = kProjections * depth + ((biases & Words::kBiasOfResult) != 0 ? columns : 0);
  if (bias.extents != Extents{1, 1, with_bias}) return refuse("a bias of these extents");
  if (bytes && (asked.inputs[4].type != kFloat32 || elements_of(asked.inputs[4].extents) != 256))
    return refuse("a table of exponentials of this kind");
  return asked.with({1, rows[1], columns});
}

}  // namespace softtpu::bmodel::rules
