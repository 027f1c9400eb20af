// Layers for the host's processor that move, choose and order elements.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "runtime/bmodel/host_layer_work.hpp"

namespace softtpu::bmodel::on_host {

Values values_of(Shape shape, double value) {
  const std::uint64_t count = count_of(shape);
  return {std::move(shape), std::vector<double>(count, value), false};
}

Result<void> fits(const Work& work, std::initializer_list<std::uint64_t> factors) {
  std::uint64_t count = 1;
  bool fit = true;
  for (const std::uint64_t factor : factors) fit = fit && !__builtin_mul_overflow(count, factor, &count);
  if (fit && count <= work.room) return {};
  return wrong(
      fmt::format("its result has {} elements, the file has room for {}", fmt::join(factors, " x "), work.room));
}

Result<std::uint64_t> index_within(double value, std::uint64_t extent) {
  const auto index = whole_number(value);
  if (!index) return wrong(fmt::format("an index is {}, which is no whole number", value));
  const auto most = static_cast<std::int64_t>(extent);
  if (*index < -most || *index >= most)
    return wrong(fmt::format("index {} is outside {}..{}", *index, -most, most - 1));
  return static_cast<std::uint64_t>(*index < 0 ? *index + most : *index);
}

Result<std::size_t> axis_within(std::int32_t axis, std::size_t rank) {
  const auto most = static_cast<std::int32_t>(rank);
  if (axis < -most || axis >= most) return wrong(fmt::format("axis {} of {} dimensions", axis, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + most : axis);
}

Lines::Lines(const Shape& shape, std::size_t axis) : extent(shape[axis]) {
  for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
}

Made gather(const Work& work) {
  const Values& from = work.inputs[0];
  const Values& indices = work.inputs[1];
  const auto axis = axis_within(work.record.whole(0), from.shape.size());
  if (!axis) return axis.error();
  const Lines lines(from.shape, *axis);
  Shape shape(from.shape.begin(), from.shape.begin() + static_cast<std::ptrdiff_t>(*axis));
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), from.shape.begin() + static_cast<std::ptrdiff_t>(*axis) + 1, from.shape.end());
  Values made{std::move(shape), {}, false};
  if (const auto good = fits(work, {lines.outer, indices.data.size(), lines.inner}); !good) return good.error();
  std::vector<std::uint64_t> rows;
  for (const double value : indices.data) {
    const auto row = index_within(value, lines.extent);
    if (!row) return row.error();
    rows.push_back(*row);
  }
  for (std::uint64_t outer = 0; outer < lines.outer; ++outer) {
    for (const std::uint64_t row : rows) {
      const auto first = from.data.begin() + static_cast<std::ptrdiff_t>((outer * lines.extent + row) * lines.inner);
      made.data.insert(made.data.end(), first, first + static_cast<std::ptrdiff_t>(lines.inner));
    }
  }
  return std::vector{std::move(made)};
}

namespace {

// Rows of `shape` that tuples of indices name, the last dimension of `indices` being a tuple; `batches` leading
// dimensions are common to both.
struct NamedRows {
  std::vector<std::uint64_t> first;  // elements
  std::uint64_t length = 1;
};
Result<NamedRows> named_rows(const Shape& shape, const Values& indices, std::size_t batches) {
  if (indices.shape.empty()) return wrong("the indices have no dimension");
  const std::uint64_t parts = indices.shape.back();
  if (parts == 0 || batches >= indices.shape.size() || parts > shape.size() || batches + parts > shape.size())
    return wrong(fmt::format("indices [{}] do not name elements of [{}]", fmt::join(indices.shape, ", "),
                             fmt::join(shape, ", ")));
  std::uint64_t batch = 1;
  for (std::size_t i = 0; i < batches; ++i) {
    if (indices.shape[i] != shape[i]) return wrong("the first dimensions differ");
    batch *= shape[i];
  }
  NamedRows rows;
  for (std::size_t i = batches + parts; i < shape.size(); ++i) rows.length *= shape[i];
  const std::uint64_t tuples = indices.data.size() / parts;
  for (std::uint64_t tuple = 0; tuple < tuples; ++tuple) {
    std::uint64_t at = tuple / (tuples / batch);
    for (std::size_t k = 0; k < parts; ++k) {
      const std::uint64_t extent = shape[batches + k];
      const auto index = index_within(indices.data[tuple * parts + k], extent);
      if (!index) return index.error();
      at = at * extent + *index;
    }
    rows.first.push_back(at * rows.length);
  }
  return rows;
}

bool comes_before(double a, double b, bool descending) {
  // A NaN is the greatest.
  if (std::isnan(a) || std::isnan(b)) return descending ? std::isnan(a) && !std::isnan(b) : !std::isnan(a);
  return descending ? a > b : a < b;
}

// For each line along an axis the places of its elements in order; equal ones as they stand.
std::vector<std::vector<std::uint64_t>> orders(const Values& from, const Lines& lines, bool descending) {
  std::vector<std::vector<std::uint64_t>> all(lines.count(), std::vector<std::uint64_t>(lines.extent));
  for (std::uint64_t line = 0; line < all.size(); ++line) {
    const std::uint64_t start = lines.start(line, lines.extent);
    std::iota(all[line].begin(), all[line].end(), 0);
    std::stable_sort(all[line].begin(), all[line].end(), [&](std::uint64_t a, std::uint64_t b) {
      return comes_before(from.data[start + a * lines.inner], from.data[start + b * lines.inner], descending);
    });
  }
  return all;
}

struct Ordered {
  Values values, indices;
};
// The first `count` of each line.
Ordered first_of(const Values& from, std::size_t axis, std::uint64_t count, bool descending) {
  const Lines lines(from.shape, axis);
  Shape shape = from.shape;
  shape[axis] = count;
  Ordered made{values_of(shape), values_of(shape)};
  const auto places = orders(from, lines, descending);
  for (std::uint64_t line = 0; line < places.size(); ++line) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t to = lines.start(line, count) + i * lines.inner;
      made.values.data[to] = from.data[lines.start(line, lines.extent) + places[line][i] * lines.inner];
      made.indices.data[to] = static_cast<double>(places[line][i]);
    }
  }
  return made;
}

Result<std::uint64_t> count_within(double wanted, std::uint64_t extent) {
  const auto count = whole_number(wanted);
  if (!count || *count < 1 || static_cast<std::uint64_t>(*count) > extent)
    return wrong(fmt::format("the first {} of {} elements", wanted, extent));
  return static_cast<std::uint64_t>(*count);
}

}  // namespace

Made gather_nd(const Work& work) {
  const Values& from = work.inputs[0];
  const Values& indices = work.inputs[1];
  const std::int32_t batches = work.record.whole(4);
  if (batches < 0) return wrong(fmt::format("{} common dimensions", batches));
  const auto rows = named_rows(from.shape, indices, static_cast<std::size_t>(batches));
  if (!rows) return rows.error();
  if (const auto good = fits(work, {rows->first.size(), rows->length}); !good) return good.error();
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  const std::size_t named = static_cast<std::size_t>(batches) + indices.shape.back();
  shape.insert(shape.end(), from.shape.begin() + static_cast<std::ptrdiff_t>(named), from.shape.end());
  Values made{std::move(shape), {}, false};
  for (const std::uint64_t first : rows->first) {
    const auto begin = from.data.begin() + static_cast<std::ptrdiff_t>(first);
    made.data.insert(made.data.end(), begin, begin + static_cast<std::ptrdiff_t>(rows->length));
  }
  return std::vector{std::move(made)};
}

namespace {

template <class Combine>
Made scatter(Values to, const Values& indices, const Values& updates, Combine combine) {
  const auto rows = named_rows(to.shape, indices, 0);
  if (!rows) return rows.error();
  if (updates.data.size() != rows->first.size() * rows->length)
    return wrong(fmt::format("updates [{}] for {} rows of {} elements", fmt::join(updates.shape, ", "),
                             rows->first.size(), rows->length));
  std::uint64_t at = 0;
  for (const std::uint64_t first : rows->first) {
    for (std::uint64_t i = 0; i < rows->length; ++i, ++at)
      to.data[first + i] = combine(to.data[first + i], updates.data[at]);
  }
  return std::vector{std::move(to)};
}

// Floats are added and multiplied as float32.
template <class Operation>
double computed(bool whole, double a, double b, Operation operation) {
  return whole ? operation(a, b) : static_cast<double>(operation(static_cast<float>(a), static_cast<float>(b)));
}

}  // namespace

Made scatter_nd(const Work& work) {
  const std::int32_t rank = work.record.whole(0);
  if (rank < 1 || rank > 8) return wrong(fmt::format("a shape of {} dimensions", rank));
  Shape shape;
  for (std::int32_t i = 0; i < rank; ++i) {
    const std::int32_t extent = work.record.whole(4 + 4 * static_cast<std::size_t>(i));
    if (extent < 1) return wrong(fmt::format("an extent of {}", extent));
    shape.push_back(static_cast<std::uint64_t>(extent));
    if (const auto good = fits(work, {count_of(shape)}); !good) return good.error();
  }
  const bool whole = work.inputs[1].whole;
  return scatter(values_of(std::move(shape)), work.inputs[0], work.inputs[1],
                 [whole](double old, double given) { return computed(whole, old, given, std::plus<>()); });
}

Made tensor_scatter(const Work& work) {
  const std::int32_t operation = work.record.whole(4);
  const bool whole = work.inputs[0].whole;
  return scatter(work.inputs[0], work.inputs[1], work.inputs[2], [operation, whole](double old, double given) {
    switch (operation) {
      case 1: return computed(whole, old, given, std::plus<>());
      case 3: return std::max(old, given);
      case 4: return std::min(old, given);
      case 5: return computed(whole, old, given, std::multiplies<>());
      default: return given;
    }
  });
}

Made masked_select(const Work& work) {
  const std::size_t rank = std::max(work.inputs[0].shape.size(), work.inputs[1].shape.size());
  Shape shapes[2];
  Shape shape(rank, 1);
  for (std::size_t k = 0; k < 2; ++k) {
    shapes[k] = work.inputs[k].shape;
    // The published flag aligns the first dimensions, PyTorch the last ones.
    shapes[k].insert(work.record.flag(0) ? shapes[k].end() : shapes[k].begin(), rank - shapes[k].size(), 1);
    for (std::size_t i = 0; i < rank; ++i) {
      if (shapes[k][i] != 1 && shape[i] != 1 && shapes[k][i] != shape[i])
        return wrong(fmt::format("a mask [{}] for [{}]", fmt::join(work.inputs[1].shape, ", "),
                                 fmt::join(work.inputs[0].shape, ", ")));
      if (shapes[k][i] != 1) shape[i] = shapes[k][i];
    }
  }
  Values made;
  const std::uint64_t count = count_of(shape);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t at[2] = {0, 0};
    std::uint64_t rest = i;
    std::uint64_t steps[2] = {1, 1};
    for (std::size_t axis = rank; axis-- > 0; rest /= shape[axis]) {
      for (std::size_t k = 0; k < 2; ++k) {
        if (shapes[k][axis] != 1) at[k] += rest % shape[axis] * steps[k];
        steps[k] *= shapes[k][axis];
      }
    }
    if (work.inputs[1].data[at[1]] == 0) continue;
    if (const auto good = fits(work, {made.data.size() + 1}); !good) return good.error();
    made.data.push_back(work.inputs[0].data[at[0]]);
  }
  made.shape = {made.data.size()};
  return std::vector{std::move(made)};
}

Made where(const Work& work) {
  const Values& from = work.inputs[0];
  Values made;
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < from.data.size(); ++i) {
    if (from.data[i] == 0) continue;
    ++found;
    std::uint64_t inner = from.data.size();
    std::uint64_t rest = i;
    for (const std::uint64_t extent : from.shape) {
      inner /= extent;
      const std::uint64_t along = rest / inner;
      made.data.push_back(static_cast<double>(along));
      rest %= inner;
    }
  }
  made.shape = {found, from.shape.size()};
  return std::vector{std::move(made)};
}

Made reverse_sequence(const Work& work) {
  const Values& from = work.inputs[0];
  const auto along = axis_within(work.record.whole(0), from.shape.size());
  const auto batch = axis_within(work.record.whole(4), from.shape.size());
  if (!along || !batch) return along ? batch.error() : along.error();
  const Lines lines(from.shape, *along);
  const Lines batches(from.shape, *batch);
  if (*along == *batch || work.inputs[1].data.size() != batches.extent)
    return wrong(fmt::format("{} lengths for {} sequences", work.inputs[1].data.size(), batches.extent));
  Values made = from;
  for (std::uint64_t line = 0; line < lines.count(); ++line) {
    const std::uint64_t start = lines.start(line, lines.extent);
    const double given = work.inputs[1].data[start / batches.inner % batches.extent];
    const auto length = whole_number(given);
    if (!length || *length < 0 || static_cast<std::uint64_t>(*length) > lines.extent)
      return wrong(fmt::format("a length of {} of {} elements", given, lines.extent));
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(*length); ++i)
      made.data[start + i * lines.inner] =
          from.data[start + (static_cast<std::uint64_t>(*length) - 1 - i) * lines.inner];
  }
  return std::vector{std::move(made)};
}

Made repeat_interleave(const Work& work) {
  const Values& from = work.inputs[0];
  const Values& repeats = work.inputs[1];
  const auto axis = axis_within(work.record.whole(0), from.shape.size());
  if (!axis) return axis.error();
  const Lines lines(from.shape, *axis);
  if (repeats.data.size() != 1 && repeats.data.size() != lines.extent)
    return wrong(fmt::format("{} counts for {} elements", repeats.data.size(), lines.extent));
  std::vector<std::uint64_t> rows;
  for (std::uint64_t i = 0; i < lines.extent; ++i) {
    const double given = repeats.data[repeats.data.size() == 1 ? 0 : i];
    const auto count = whole_number(given);
    if (!count || *count < 0) return wrong(fmt::format("a count of {}", given));
    const std::uint64_t behind = rows.size() + static_cast<std::uint64_t>(*count);
    if (const auto good = fits(work, {lines.outer, behind, lines.inner}); !good) return good.error();
    rows.insert(rows.end(), static_cast<std::size_t>(*count), i);
  }
  Shape shape = from.shape;
  shape[*axis] = rows.size();
  Values made{std::move(shape), {}, false};
  for (std::uint64_t outer = 0; outer < lines.outer; ++outer) {
    for (const std::uint64_t row : rows) {
      const auto first = from.data.begin() + static_cast<std::ptrdiff_t>((outer * lines.extent + row) * lines.inner);
      made.data.insert(made.data.end(), first, first + static_cast<std::ptrdiff_t>(lines.inner));
    }
  }
  return std::vector{std::move(made)};
}

Made unary(const Work& work) {
  Values made = work.inputs[0];
  for (double& value : made.data) {
    const auto given = static_cast<float>(value);
    switch (work.record.whole(0)) {
      case 0: value = std::sin(given); break;
      case 1: value = std::cos(given); break;
      case 2: value = std::isfinite(given) ? 1 : 0; break;
      case 3: value = std::ceil(given); break;
      case 4: value = std::floor(given); break;
      default: value = std::nearbyint(given); break;
    }
  }
  return std::vector{std::move(made)};
}

Made argsort(const Work& work) {
  const Values& from = work.inputs[0];
  const auto axis = axis_within(work.record.whole(0), from.shape.size());
  if (!axis) return axis.error();
  return std::vector{first_of(from, *axis, from.shape[*axis], !work.record.flag(4)).indices};
}

Made top_k(const Work& work) {
  const Values& from = work.inputs[0];
  const auto axis = axis_within(work.record.whole(4), from.shape.size());
  if (!axis) return axis.error();
  double wanted = work.record.whole(0);
  // A record without a number leaves it to the second input.
  if (work.inputs.size() == 2) {
    if (work.inputs[1].data.size() != 1) return wrong("the second input is not one number");
    if (wanted > 0 && wanted != work.inputs[1].data[0])
      return wrong(fmt::format("the record says {}, the second input {}", wanted, work.inputs[1].data[0]));
    wanted = work.inputs[1].data[0];
  }
  const auto count = count_within(wanted, from.shape[*axis]);
  if (!count) return count.error();
  Ordered made = first_of(from, *axis, *count, work.record.flag(9));
  return std::vector{std::move(made.values), std::move(made.indices)};
}

Made top_k_of_mxnet(const Work& work) {
  enum { kIndices, kValues, kBoth, kMask };
  const Values& from = work.inputs[0];
  const auto axis = axis_within(work.record.whole(4), from.shape.size());
  if (!axis) return axis.error();
  const std::int32_t wanted = work.record.whole(0);
  const auto count = count_within(wanted < 1 ? static_cast<double>(from.shape[*axis]) : wanted, from.shape[*axis]);
  if (!count) return count.error();
  Ordered made = first_of(from, *axis, *count, work.record.whole(12) == 0);
  const std::int32_t kind = work.record.whole(8);
  if (kind == kIndices) return std::vector{std::move(made.indices)};
  if (kind == kValues) return std::vector{std::move(made.values)};
  if (kind == kBoth) return std::vector{std::move(made.values), std::move(made.indices)};
  Values mask = values_of(from.shape);
  const Lines lines(from.shape, *axis);
  for (std::uint64_t line = 0; line < lines.count(); ++line) {
    for (std::uint64_t i = 0; i < *count; ++i) {
      const double place = made.indices.data[lines.start(line, *count) + i * lines.inner];
      mask.data[lines.start(line, lines.extent) + static_cast<std::uint64_t>(place) * lines.inner] = 1;
    }
  }
  return std::vector{std::move(mask)};
}

Made sort_per_dim(const Work& work) {
  const Values& from = work.inputs[0];
  const auto axis = axis_within(work.record.whole(0), from.shape.size());
  if (!axis) return axis.error();
  Ordered made = first_of(from, *axis, from.shape[*axis], work.record.flag(6));
  if (work.outputs == 1) return std::vector{work.record.flag(4) ? std::move(made.indices) : std::move(made.values)};
  return std::vector{std::move(made.values), std::move(made.indices)};
}

}  // namespace softtpu::bmodel::on_host
