// What the layers of a list make of their inputs, and which are carried out: each layer that firmware/dynamic has
// (layers.def) has one rule. Cases that no recorded network shows and whose tiling would decide bits are refused.
#pragma once

#include "runtime/bmodel/layer_list.hpp"
#include "runtime/bmodel/layer_words.hpp"

namespace softtpu::bmodel::rules {

inline constexpr std::uint32_t kFloat32 = 0, kFloat16 = 1, kInt8 = 2, kUint8 = 3, kInt32 = 6, kBfloat16 = 8;
inline constexpr std::uint32_t kOne = 0x3f800000;
inline constexpr std::int64_t kMostOfCommand = 65535;  // an extent

inline Error refuse(const std::string& why) { return {ErrorKind::kUnsupported, why}; }

using Shaped = std::vector<ShapedTensor>;
using Shapes = Result<Shaped>;

// A layer with its inputs, and its outputs as far as the first input says what they are.
struct Asked {
  const ListedLayer& layer;
  std::span<const ShapedTensor> inputs;
  WhoseSizes sizes;
  Shaped like;

  const ShapedTensor& first() const { return inputs[0]; }
  std::int64_t rank() const { return static_cast<std::int64_t>(first().extents.size()); }
  bool has(std::size_t words) const { return layer.parameters.size() >= words * sizeof(std::int32_t); }
  // Sizes that only a launch may not have: a list's greatest ones may be larger.
  bool of_launch() const { return sizes == WhoseSizes::kOfLaunch; }
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

std::int64_t elements_of(const Extents& extents);  // -1: too many to count

// Half away from zero, half up; no recorded network has others.
inline bool is_rounding(std::int32_t rounding) { return rounding == 0 || rounding == 1; }

inline constexpr const char* kNotCarriedOut = "this layer";

#define SOFTTPU_LAYER(number, name, rule, global, local, work) Shapes rule(const Asked& asked);
#include "runtime/bmodel/layers.def"

}  // namespace softtpu::bmodel::rules
