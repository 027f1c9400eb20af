// Layers that move elements, and top-k.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "firmware/dynamic/layers.hpp"

namespace softtpu::dynamic {
namespace {

system_addr_t behind(const Tensor& tensor, std::int64_t elements) {
  return tensor.address + static_cast<system_addr_t>(elements * tpu_data_type_size(device_type(tensor.shape.type)));
}

}  // namespace

// In place: the first input's memory is that of the result, as the history of a language model. As recorded it is not
// copied, wherever the launch has it.
void concatenation(const LayerRun& run) {
  const bool in_place = run.layer.word(2) == 1;
  const auto axis = static_cast<std::size_t>(run.layer.word(1));
  const Tensor& to = run.outputs[0];
  const auto strides = packed_strides(to.shape.extents);
  std::int64_t begin = 0;
  for (const Tensor& from : run.inputs) {
    const bool is_there = in_place && &from == &run.inputs.front();
    const std::int64_t bytes = tpu_data_type_size(device_type(from.shape.type));
    if (!is_there) {
      copy_region({to.address + static_cast<system_addr_t>(begin * strides[axis] * bytes), strides},
                  {from.address, packed_strides(from.shape.extents)}, from.shape.extents, from.shape.type);
    }
    begin += from.shape.extents[axis];
  }
}

void reshape(const LayerRun& run) {
  const Tensor& from = run.inputs[0];
  copy_all(run.outputs[0].address, from.address, elements_of(from.shape.extents), from.shape.type);
}

void nothing(const LayerRun& /*run*/) {}

// Rows become columns, `batches` times: columns are spread over the NPUs, and local memory has strides. False: there is
// no room for it, or no way to spread them evenly.
static bool turn(system_addr_t to, const Tensor& from, std::int64_t all_batches, std::int64_t all_rows,
                 std::int64_t all_columns) {
  constexpr local_addr_t kFrom = 0, kTo = 0x20000;
  const data_type_t type = device_type(from.shape.type);
  const std::int64_t npus = tpu_npu_num();
  std::int64_t part = std::max<std::int64_t>(1, (all_columns + npus - 1) / npus);
  while (all_columns % part != 0) ++part;
  if (all_batches * all_rows > kMostExtent || all_rows * part > kMostExtent) return false;
  if (all_batches * all_rows * part * tpu_data_type_size(type) > kTo) return false;
  const auto batches = static_cast<int>(all_batches), rows = static_cast<int>(all_rows);
  const auto columns = static_cast<int>(all_columns), in_npu = static_cast<int>(part);
  const dim4 loaded{batches * rows, columns / in_npu, in_npu, 1};
  dim4 compact{};
  tpu_compact_stride(&compact, 0, &loaded);
  tpu_gdma_cpy_S2L(kFrom, from.address, &loaded, &compact, nullptr, type);
  const dim4 turned{batches, columns / in_npu, in_npu, rows};
  dim4 result{};
  tpu_compact_stride(&result, 0, &turned);
  const dim4 steps{rows * in_npu, in_npu, 1, in_npu};
  tpu_bdc_cpy(kTo, kFrom, &turned, &result, &steps, type);
  tpu_gdma_cpy_L2S(to, kTo, &turned, nullptr, &result, type);
  return true;
}

void transpose(system_addr_t to, const Tensor& from, const std::vector<std::size_t>& axes) {
  const Extents& extents = from.shape.extents;
  const auto product = [&](std::size_t begin, std::size_t end) {
    std::int64_t count = 1;
    for (std::size_t i = begin; i < end; ++i) count *= extents[i];
    return count;
  };
  const std::size_t rank = axes.size();
  std::size_t same = 0;
  while (same < rank && axes[same] == same) ++same;
  // Two blocks of dimensions change places.
  const std::size_t middle = same < rank ? axes[same] : rank;
  bool two = middle < rank && elements_of(extents) > 0;
  for (std::size_t i = same; two && i < rank; ++i) two = axes[i] == same + (i - same + middle - same) % (rank - same);
  if (two && turn(to, from, product(0, same), product(same, middle), product(middle, rank))) return;
  // Element after element of what is given, each to its place.
  Extents result;
  for (const std::size_t axis : axes) result.push_back(extents[axis]);
  const auto steps = packed_strides(result);
  std::vector<std::int64_t> places(rank);
  for (std::size_t i = 0; i < rank; ++i) places[axes[i]] = steps[i];
  copy_region({to, places}, {from.address, packed_strides(extents)}, extents, from.shape.type,
              rank > 0 && axes.back() != rank - 1);
}

void transpose(const LayerRun& run) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < run.inputs[0].shape.extents.size(); ++i)
    axes.push_back(static_cast<std::size_t>(run.layer.word(2 + i)));
  transpose(run.outputs[0].address, run.inputs[0], axes);
}

// A slice with steps in rows alone: the rows are loaded with all that lies between.
static bool sliced_in_rows(const LayerRun& run, std::int64_t begin, const std::vector<bmodel::SliceRange>& ranges) {
  constexpr local_addr_t kFrom = 0, kTo = 0x20000;
  const Tensor& from = run.inputs[0];
  const Extents& given = from.shape.extents;
  const bmodel::SliceRange& row = ranges.back();
  const bool others = std::all_of(ranges.begin(), ranges.end() - 1, [](const auto& range) { return range.step == 1; });
  if (row.step == 1 || !others || given.size() > 4 || row.begin + row.count * row.step > given.back()) return false;
  // Rows lie along w, whatever the rank.
  const auto rows_of = [](Extents extents) {
    extents.insert(extents.begin(), 4 - extents.size(), 1);
    return to_dim4(extents);
  };
  const dim4 result = rows_of(run.outputs[0].shape.extents);
  const data_type_t type = device_type(from.shape.type);
  const LocalTensor loaded{kFrom, type, {result.n, result.c, result.h, static_cast<int>(row.count * row.step)}, false};
  if (elements_of(run.outputs[0].shape.extents) == 0 || bytes_of(loaded) > kTo) return false;
  if (!fits_command(loaded.extents) || !fits_command(strides_of(loaded))) return false;
  const dim4 strides = packed_strides(rows_of(given));
  tpu_gdma_cpy_S2L(kFrom, behind(from, begin), &loaded.extents, nullptr, &strides, type);
  dim4 steps = strides_of(loaded);
  steps.w = static_cast<int>(row.step);
  tpu_bdc_cpy(kTo, kFrom, &result, nullptr, &steps, type);
  tpu_gdma_cpy_L2S(run.outputs[0].address, kTo, &result, nullptr, nullptr, type);
  return true;
}

void strided_slice(const LayerRun& run) {
  const Tensor& from = run.inputs[0];
  const Tensor& to = run.outputs[0];
  const auto ranges = bmodel::slices_of(run.layer, from.shape.extents);
  if (!ranges) fail(ranges.error().text);
  auto strides = packed_strides(from.shape.extents);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    begin += (*ranges)[i].begin * strides[i];
    strides[i] *= (*ranges)[i].step;
  }
  if (sliced_in_rows(run, begin, *ranges)) return;
  copy_region({to.address, packed_strides(to.shape.extents)}, {behind(from, begin), strides}, to.shape.extents,
              from.shape.type, false);
}

// Each row is sorted into the buffers that the compiler set aside, and what was found is copied to the results.
void top_k(const LayerRun& run) {
  const Tensor& from = run.inputs[0];
  const std::int64_t length = from.shape.extents.back();
  const std::int64_t k = run.layer.word(0);
  const std::int64_t rows = length == 0 ? 0 : elements_of(from.shape.extents) / length;
  const std::int64_t bytes = tpu_data_type_size(DT_FP32);
  const std::uint64_t values = run.layer.address(4) + run.context_moved;
  const std::uint64_t indices = run.layer.address(6) + run.context_moved;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t before = row * k * bytes;
    const auto at = static_cast<system_addr_t>(before);
    tpu_hau_sort_natural_index(values + at, indices + at,
                               from.address + static_cast<system_addr_t>(row * length * bytes),
                               static_cast<int>(length), static_cast<int>(k), run.layer.word(2) != 0, DT_FP32);
  }
  tpu_hau_poll();
  const auto copy = [&](const Tensor& to, system_addr_t found) {
    if (rows * k > kMostExtent) return copy_all(to.address, found, rows * k, to.shape.type);
    const dim4 shape{1, 1, 1, static_cast<int>(rows * k)};
    if (rows * k > 0) tpu_gdma_cpy_S2S(to.address, found, &shape, nullptr, nullptr, device_type(to.shape.type));
  };
  copy(run.outputs[0], values);
  copy(run.outputs[1], indices);
}

// Inputs stand one behind the other: in other NPUs along c, in the same ones along other dimensions.
void concatenation(const LocalRun& run) {
  const std::int32_t axis = run.layer.word(1);
  const LocalTensor& to = run.output;
  const dim4 strides = strides_of(to);
  const int bytes = tpu_data_type_size(to.type);
  const auto npu_bytes = static_cast<local_addr_t>(tpu_local_mem_size_per_npu());
  const int npus = tpu_npu_num();
  int begin = 0;
  for (const LocalTensor& from : run.inputs) {
    const dim4 from_strides = strides_of(from);
    if (axis != 1) {
      const int at = begin * (axis == 0 ? strides.n : axis == 2 ? strides.h : strides.w);
      tpu_bdc_cpy(to.address + static_cast<local_addr_t>(at * bytes), from.address, &from.extents, &strides,
                  &from_strides, to.type);
      begin += axis == 0 ? from.extents.n : axis == 2 ? from.extents.h : from.extents.w;
      continue;
    }
    for (int n = 0; n < from.extents.n; ++n) {
      // As many channels as lie in one row of NPUs on both sides.
      for (int c = 0; c < from.extents.c;) {
        const int last = begin + c;
        const int count = std::min({from.extents.c - c, npus - c % npus, npus - last % npus});
        const dim4 some{1, count, from.extents.h, from.extents.w};
        const auto place = [&](const LocalTensor& tensor, const dim4& all, int channel) {
          return tensor.address + static_cast<local_addr_t>((n * all.n + channel / npus * all.c) * bytes) +
                 static_cast<local_addr_t>(channel % npus) * npu_bytes;
        };
        const local_addr_t there = place(to, strides, last);
        const local_addr_t here = place(from, from_strides, c);
        constexpr local_addr_t kLine = 64;
        if (here % kLine != 0)  // a constant's channel, which has no gap before it
          tpu_gdma_cpy_L2L(there, here, &some, &strides, &from_strides, to.type);
        else if (last % npus == c % npus)
          tpu_bdc_cpy(there, here, &some, nullptr, nullptr, to.type);
        else
          tpu_bdc_cpy_cross_npu(there, here, &some, to.type);
        c += count;
      }
    }
    begin += from.extents.c;
  }
}

void padding(const LayerRun& run) {
  constexpr std::size_t kValue = 9;
  const Tensor& from = run.inputs[0];
  const Tensor& to = run.outputs[0];
  if (elements_of(to.shape.extents) == 0) return;
  const data_type_t type = device_type(to.shape.type);
  const auto strides = packed_strides(to.shape.extents);
  const float value = run.layer.number(kValue);
  const scalar_t filling = type == DT_INT8 ? whole(static_cast<int>(value)) : constant(value, type);
  const dim4 all = to_dim4(to.shape.extents);
  const dim4 given = to_dim4(from.shape.extents);
  const bool planes = all.n == given.n && all.c == given.c;
  if (!planes) tpu_gdma_set_C_system(to.address, filling, &all, nullptr, type);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) begin += run.layer.word(2 * i) * strides[i];
  copy_region({behind(to, begin), strides}, {from.address, packed_strides(from.shape.extents)}, from.shape.extents,
              from.shape.type, false);
  if (!planes) return;
  // What a plane lacks: on the left and on the right of its rows, above and below them.
  const int top = run.layer.word(4), bottom = run.layer.word(5), left = run.layer.word(6), right = run.layer.word(7);
  const dim4 steps = packed_strides(all);
  const auto fill = [&](int h, int w, int height, int width) {
    const dim4 border{all.n, all.c, height, width};
    if (height > 0 && width > 0)
      tpu_gdma_set_C_system(behind(to, std::int64_t{h} * all.w + w), filling, &border, &steps, type);
  };
  fill(top, 0, given.h, left);
  fill(top, all.w - right, given.h, right);
  fill(0, 0, top, all.w);
  fill(all.h - bottom, 0, bottom, all.w);
}

// Calls `each` with every place of a grid.
template <class Each>
static void for_all(const Extents& grid, Each each) {
  Extents at(grid.size(), 0);
  while (true) {
    each(at);
    std::size_t i = grid.size();
    while (i > 0 && ++at[i - 1] == grid[i - 1]) at[--i] = 0;
    if (i == 0) return;
  }
}

// Dimension after dimension: rows with all that lies behind it, each gathered as often as it comes. False: there is no
// memory for what lies between two dimensions, or a row is larger than a command has it.
static bool repeat_rows(const LayerRun& run) {
  constexpr std::size_t kBetween = 10;
  constexpr local_addr_t kIndices = 0;
  const Tensor& from = run.inputs[0];
  const data_type_t type = device_type(from.shape.type);
  std::vector<dim4> all;
  std::int64_t before = 1;  // rows
  std::int64_t after = elements_of(from.shape.extents);
  for (std::size_t i = 0; i < from.shape.extents.size(); ++i) {
    const std::int64_t times = run.layer.word(i);
    if (times != 1) {
      if (before > kMostExtent || times > kMostExtent || after > kMostExtent || before * times * after > INT32_MAX)
        return false;
      all.push_back({1, static_cast<int>(before), static_cast<int>(times), static_cast<int>(after)});
      if (bytes_of({kIndices, DT_UINT32, {1, all.back().c, all.back().h, 1}, false}) >
          static_cast<local_addr_t>(tpu_local_mem_size_per_npu()))
        return false;
    }
    before *= times * from.shape.extents[i];
    after /= from.shape.extents[i];
  }
  const std::uint64_t between = run.layer.address(kBetween);
  if (all.empty() || all.size() > 2 || (all.size() == 2 && between == 0)) return false;
  system_addr_t given = from.address;
  for (const dim4& shape : all) {
    const bool last = &shape == &all.back();
    const system_addr_t to = last ? run.outputs[0].address : between + run.context_moved;
    const dim4 indices{1, shape.c, shape.h, 1};
    tpu_bdc_set_C(kIndices, whole(0), &indices, nullptr, DT_UINT32);
    const dim4 strides = packed_strides(shape);
    const dim4 given_strides = packed_strides(dim4{1, shape.c, 1, shape.w});
    tpu_gdma_h_gather_S2S(to, given, kIndices, true, whole(0), &shape, 1, &strides, &given_strides, nullptr, type);
    given = to;
  }
  return true;
}

void tile(const LayerRun& run) {
  const Tensor& from = run.inputs[0];
  const Tensor& to = run.outputs[0];
  if (elements_of(to.shape.extents) == 0 || repeat_rows(run)) return;
  const auto strides = packed_strides(to.shape.extents);
  Extents times;
  for (std::size_t i = 0; i < strides.size(); ++i) times.push_back(run.layer.word(i));
  for_all(times, [&](const Extents& at) {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < at.size(); ++i) begin += at[i] * from.shape.extents[i] * strides[i];
    copy_region({behind(to, begin), strides}, {from.address, packed_strides(from.shape.extents)}, from.shape.extents,
                from.shape.type);
  });
}

// Planes are loaded, whole or in parts. Their elements are copied to each column of a row, and this row to the others.
void upsampling(const LayerRun& run) {
  constexpr local_addr_t kFrom = 0, kTo = 0x8000;
  const data_type_t type = device_type(run.inputs[0].shape.type);
  const dim4 all = to_dim4(run.inputs[0].shape.extents);
  const dim4 result = to_dim4(run.outputs[0].shape.extents);
  const int factor = run.layer.word(0);
  if (elements_of(run.outputs[0].shape.extents) == 0) return;
  LocalTensor from{kFrom, type, {1, std::min(all.c, tpu_npu_num()), all.h, all.w}, false};
  LocalTensor to{kTo, type, {1, from.extents.c, result.h, result.w}, false};
  const auto fits = [&] {
    return bytes_of(from) <= kTo && kTo + bytes_of(to) <= static_cast<local_addr_t>(tpu_local_mem_size_per_npu()) &&
           fits_command(to.extents) && fits_command(strides_of(to));
  };
  const auto set_part = [&](int channels, int rows, int columns) {
    from.extents = {1, channels, rows, columns};
    to.extents = {1, channels, rows * factor, columns * factor};
  };
  while (!fits() && from.extents.h * from.extents.w > 1) {
    if (from.extents.h > 1)
      set_part(from.extents.c, (from.extents.h + 1) / 2, from.extents.w);
    else
      set_part(from.extents.c, 1, (from.extents.w + 1) / 2);
  }
  if (!fits()) fail(fmt::format("each element {} x {} times", factor, factor));
  const dim4 most = from.extents;
  const dim4 from_strides = packed_strides(all);
  const dim4 to_strides = packed_strides(result);
  const auto parts = [](int extent, int part) { return std::int64_t{(extent + part - 1) / part}; };
  for_all({all.n, parts(all.c, most.c), parts(all.h, most.h), parts(all.w, most.w)}, [&](const Extents& at) {
    const std::int64_t c = at[1] * most.c, h = at[2] * most.h, w = at[3] * most.w;
    set_part(static_cast<int>(std::min<std::int64_t>(most.c, all.c - c)),
             static_cast<int>(std::min<std::int64_t>(most.h, all.h - h)),
             static_cast<int>(std::min<std::int64_t>(most.w, all.w - w)));
    const std::int64_t plane = at[0] * all.c + c;
    tpu_gdma_cpy_S2L(kFrom, behind(run.inputs[0], (plane * all.h + h) * all.w + w), &from.extents, nullptr,
                     &from_strides, type);
    dim4 strides = strides_of(to);
    const auto element = static_cast<local_addr_t>(tpu_data_type_size(type));
    const auto row = static_cast<local_addr_t>(strides.h) * element;
    strides.h *= factor;
    dim4 steps = strides;
    steps.w = factor;
    for (local_addr_t i = 0; i < static_cast<local_addr_t>(factor); ++i)
      tpu_bdc_cpy(kTo + i * element, kFrom, &from.extents, &steps, nullptr, type);
    const dim4 rows{1, from.extents.c, from.extents.h, to.extents.w};
    for (local_addr_t i = 1; i < static_cast<local_addr_t>(factor); ++i)
      tpu_bdc_cpy(kTo + i * row, kTo, &rows, &strides, &strides, type);
    tpu_gdma_cpy_L2S(behind(run.outputs[0], (plane * result.h + h * factor) * result.w + w * factor), kTo, &to.extents,
                     &to_strides, nullptr, type);
  });
}

// Each element of a block becomes a channel: the rows of a channel are loaded with all that lies between the elements.
// False: there is no room for them.
static bool thin_out(const LayerRun& run, int h, int w) {
  constexpr local_addr_t kRows = 0;
  const Tensor& from = run.inputs[0];
  const Tensor& to = run.outputs[0];
  const data_type_t type = device_type(from.shape.type);
  const dim4 deep = to_dim4(to.shape.extents);
  const dim4 wide = to_dim4(from.shape.extents);
  const LocalTensor rows{kRows, type, {1, deep.h, (deep.w - 1) * w + 1, 1}, false};
  const bool fits = bytes_of(rows) <= static_cast<local_addr_t>(tpu_local_mem_size_per_npu());
  if (!fits || !fits_command(rows.extents) || !fits_command(strides_of(rows))) return false;
  const dim4 some{1, deep.h, deep.w, 1};
  const dim4 compact = strides_of(rows);
  dim4 steps = compact;
  steps.h = w;
  const dim4 from_strides{0, h * wide.w, 1, 1};
  const dim4 to_strides{0, deep.w, 1, 1};
  for_all({wide.n, wide.c, h, w}, [&](const Extents& at) {
    const std::int64_t plane = at[0] * wide.c + at[1];
    const std::int64_t channel = (at[0] * h * w + at[2] * w + at[3]) * wide.c + at[1];
    tpu_gdma_cpy_S2L(kRows, behind(from, (plane * wide.h + at[2]) * wide.w + at[3]), &rows.extents, nullptr,
                     &from_strides, type);
    tpu_bdc_cpy(kRows, kRows, &some, &compact, &steps, type);
    tpu_gdma_cpy_L2S(behind(to, channel * deep.h * deep.w), kRows, &some, &to_strides, &compact, type);
  });
  return true;
}

// The channels of a block's elements: those of its first row first.
void depth_space(const LayerRun& run) {
  const bool to_depth = run.layer.word(4) == 1;
  const Tensor& deep = to_depth ? run.outputs[0] : run.inputs[0];
  const Tensor& wide = to_depth ? run.inputs[0] : run.outputs[0];
  const std::int64_t h = run.layer.word(0);
  const std::int64_t w = run.layer.word(1);
  if (elements_of(deep.shape.extents) == 0) return;
  if (to_depth && thin_out(run, static_cast<int>(h), static_cast<int>(w))) return;
  const Extents& few = deep.shape.extents;
  const std::int64_t channels = wide.shape.extents[1];
  const auto in_deep = packed_strides(few);
  const auto in_wide = packed_strides(wide.shape.extents);
  const Region one{deep.address,
                   {in_deep[0], w * channels * in_deep[1], channels * in_deep[1], in_deep[1], in_deep[2], 1}};
  const Region other{wide.address, {in_wide[0], in_wide[2], 1, in_wide[1], h * in_wide[2], w}};
  copy_region(to_depth ? one : other, to_depth ? other : one, {few[0], h, w, channels, few[2], few[3]},
              deep.shape.type);
}

// Of a table that no command takes whole, row after row by indices that the processor reads.
static void gather_row_by_row(const LayerRun& run) {
  const Tensor& rows = run.inputs[0];
  const Tensor& indices = run.inputs[1];
  const std::int64_t height = rows.shape.extents[0];
  const std::int64_t width = elements_of(rows.shape.extents) / height;
  const std::int64_t count = elements_of(indices.shape.extents);
  tpu_poll();
  tpu_invalidate_cache(indices.address, static_cast<unsigned>(count * tpu_data_type_size(DT_INT32)));
  const auto* given = static_cast<const std::int32_t*>(tpu_global_mem_addr(indices.address));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = given[i] < 0 ? given[i] + height : given[i];
    if (row < 0 || row >= height) fail(fmt::format("row {} of {}", given[i], height));
    copy_all(behind(run.outputs[0], i * width), behind(rows, row * width), width, rows.shape.type);
  }
}

// Negative indices count from the end.
void gather(const LayerRun& run) {
  constexpr local_addr_t kIndices = 0, kMoved = 0x10000, kFound = 0x20000;
  const Tensor& rows = run.inputs[0];
  const Tensor& indices = run.inputs[1];
  if (rows.shape.extents[0] > kMostExtent) return gather_row_by_row(run);
  const auto height = static_cast<int>(rows.shape.extents[0]);
  const auto width = static_cast<int>(elements_of(rows.shape.extents) / std::max(height, 1));
  const std::int64_t count = elements_of(indices.shape.extents);
  constexpr std::int64_t kMost = 8192;
  for (std::int64_t done = 0; done < count; done += kMost) {
    const auto some = static_cast<int>(std::min(kMost, count - done));
    const dim4 all{1, tpu_npu_num(), some, 1};
    tpu_gdma_channel_bcast_S2L(kIndices, behind(indices, done), &all, nullptr, nullptr, DT_INT32);
    tpu_bdc_int_add_C(kMoved, kIndices, whole(height), &all, nullptr, nullptr, DT_INT32, DT_INT32, DT_INT32, 0,
                      RM_HALF_AWAY_FROM_ZERO, false);
    const variable_t zero = as_operand(whole(0));
    const variable_t given = as_operand(kIndices);
    const variable_t moved = as_operand(kMoved);
    tpu_bdc_less_select(kFound, &given, &zero, &moved, &given, &all, DT_INT32, DT_INT32);
    const dim4 index_strides{0, 0, 1, 1};
    const dim4 strides = packed_strides(dim4{1, 1, some, width});
    const dim4 table_strides = packed_strides(dim4{1, 1, height, width});
    for (int column = 0; column < width; column += static_cast<int>(kMostExtent)) {
      const dim4 shape{1, 1, some, std::min(static_cast<int>(kMostExtent), width - column)};
      tpu_gdma_h_gather_S2S(behind(run.outputs[0], done * width + column), behind(rows, column), kFound, true, whole(0),
                            &shape, height, &strides, &table_strides, &index_strides, device_type(rows.shape.type));
    }
  }
}

}  // namespace softtpu::dynamic
