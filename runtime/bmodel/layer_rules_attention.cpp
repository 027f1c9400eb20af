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
  if (queries[1] > kRows) return refuse(fmt::format("{} rows (up to {} are recorded)", queries[1], kRows));
  // How larger numbers of keys are split decides bits. A list's greatest number may be larger than a launch's.
  if (asked.sizes == WhoseSizes::kOfLaunch) {
    if (keys[1] > kKeys) return refuse(fmt::format("{} keys (up to {} are recorded)", keys[1], kKeys));
    if (keys[1] < queries[1] || keys[1] > mask.extents[0] || keys[1] > mask.extents[1])
      return refuse(fmt::format("{} rows over {} keys with a mask of {} x {}", queries[1], keys[1], mask.extents[0],
                                mask.extents[1]));
  }
  return asked.with({queries[0], queries[1], queries[2] * queries[3]});
}

}  // namespace softtpu::bmodel::rules
