// Rules of layers that move elements, and of shapes that layers compute.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/bmodel/layer_rules.hpp"

namespace softtpu::bmodel::rules {

Shapes concatenation(const Asked& asked) {  // inputs, axis, in place
  const std::int64_t axis = asked.layer.word(1);
  if (!asked.has(2) || axis < 0 || axis >= asked.rank() || !asked.same_type()) return refuse("these parameters");
  const auto at = static_cast<std::size_t>(axis);
  Extents all = asked.first().extents;
  // In place its first input is the beginning of the result.
  const std::int64_t before = elements_of(Extents(all.begin(), all.begin() + axis));
  if (asked.layer.word(2) != 0 && (asked.layer.word(2) != 1 || asked.layer.local || before != 1))
    return refuse("in place along this axis");
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

static Result<Extents> reshaped(const ListedLayer& layer, const Extents& from) {
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
  if (!asked.has(3) || asked.inputs.size() != 2 || asked.layer.word(0) != 0 || asked.rank() < 2 ||
      asked.inputs[1].type != kInt32 || !asked.same_type())
    return refuse("other than rows of a table");
  Extents to = asked.inputs[1].extents;
  to.insert(to.end(), asked.first().extents.begin() + 1, asked.first().extents.end());
  if (to.size() > kMostExtents) return refuse(fmt::format("{} dimensions", to.size()));
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

static Shapes shape_with(const Asked& asked, std::int64_t count, std::optional<Extents> values) {
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

}  // namespace softtpu::bmodel::rules

namespace softtpu::bmodel {

Result<std::vector<SliceRange>> slices_of(const ListedLayer& layer, const Extents& extents) {
  constexpr std::size_t kBegin = 2, kEnd = 10, kStep = 18, kCount = 26, kRest = 27;
  for (std::size_t i = kRest; i < kRest + 4; ++i) {
    if (layer.word(i) != 0) return rules::refuse("a slice that adds or drops dimensions, or whose borders are tensors");
  }
  if (static_cast<std::size_t>(layer.word(kCount)) != extents.size())
    return rules::refuse(fmt::format("a slice of {} dimensions of {}", layer.word(kCount), extents.size()));
  std::vector<SliceRange> ranges;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::int64_t step = layer.word(kStep + i);
    if (step < 1) return rules::refuse(fmt::format("a slice with step {}", step));
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

}  // namespace softtpu::bmodel
