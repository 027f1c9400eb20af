// Layers that move elements, and top-k.
#include <fmt/format.h>

#include <algorithm>

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
    const bool is_there = in_place && begin == 0;
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

void transpose(const LayerRun& run) {
  const Tensor& from = run.inputs[0];
  const Tensor& to = run.outputs[0];
  const auto strides = packed_strides(from.shape.extents);
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < strides.size(); ++i)
    order.push_back(strides[static_cast<std::size_t>(run.layer.word(2 + i))]);
  copy_region({to.address, packed_strides(to.shape.extents)}, {from.address, order}, to.shape.extents, from.shape.type);
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
  const std::int64_t bytes = tpu_data_type_size(device_type(from.shape.type));
  copy_region({to.address, packed_strides(to.shape.extents)},
              {from.address + static_cast<system_addr_t>(begin * bytes), strides}, to.shape.extents, from.shape.type);
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
    constexpr std::int64_t kMostExtent = 65535;
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
        tpu_bdc_cpy_cross_npu(place(to, strides, last), place(from, from_strides, c), &some, to.type);
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
  const data_type_t type = device_type(to.shape.type);
  const auto strides = packed_strides(to.shape.extents);
  const float value = run.layer.number(kValue);
  const scalar_t filling = type == DT_INT8 ? whole(static_cast<int>(value)) : constant(value, type);
  const dim4 all = to_dim4(to.shape.extents);
  tpu_gdma_set_C_system(to.address, filling, &all, nullptr, type);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) begin += run.layer.word(2 * i) * strides[i];
  copy_region({behind(to, begin), strides}, {from.address, packed_strides(from.shape.extents)}, from.shape.extents,
              from.shape.type);
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

void tile(const LayerRun& run) {
  const Tensor& from = run.inputs[0];
  const Tensor& to = run.outputs[0];
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

void upsampling(const LayerRun& run) {
  const Tensor& from = run.inputs[0];
  const Tensor& to = run.outputs[0];
  const std::int64_t factor = run.layer.word(0);
  auto strides = packed_strides(to.shape.extents);
  const std::int64_t row = strides[2];
  strides[2] *= factor;
  strides[3] *= factor;
  for_all({factor, factor}, [&](const Extents& at) {
    copy_region({behind(to, at[0] * row + at[1]), strides}, {from.address, packed_strides(from.shape.extents)},
                from.shape.extents, from.shape.type);
  });
}

// The channels of a block's elements: those of its first row first.
void depth_space(const LayerRun& run) {
  const bool to_depth = run.layer.word(4) == 1;
  const Tensor& deep = to_depth ? run.outputs[0] : run.inputs[0];
  const Tensor& wide = to_depth ? run.inputs[0] : run.outputs[0];
  const std::int64_t h = run.layer.word(0);
  const std::int64_t w = run.layer.word(1);
  Extents extents = deep.shape.extents;
  extents[1] = wide.shape.extents[1];
  const auto deep_strides = packed_strides(deep.shape.extents);
  auto wide_strides = packed_strides(wide.shape.extents);
  const std::int64_t row = wide_strides[2];
  wide_strides[2] *= h;
  wide_strides[3] *= w;
  for_all({h, w}, [&](const Extents& at) {
    const Region one{behind(deep, (at[0] * w + at[1]) * extents[1] * deep_strides[1]), deep_strides};
    const Region other{behind(wide, at[0] * row + at[1]), wide_strides};
    copy_region(to_depth ? one : other, to_depth ? other : one, extents, deep.shape.type);
  });
}

// Negative indices count from the end.
void gather(const LayerRun& run) {
  constexpr local_addr_t kIndices = 0, kMoved = 0x10000, kFound = 0x20000;
  const Tensor& rows = run.inputs[0];
  const Tensor& indices = run.inputs[1];
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
    const dim4 shape{1, 1, some, width};
    const dim4 index_strides{0, 0, 1, 1};
    const dim4 strides = packed_strides(shape);
    const dim4 table_strides = packed_strides(dim4{1, 1, height, width});
    tpu_gdma_h_gather_S2S(behind(run.outputs[0], done * width), rows.address, kFound, true, whole(0), &shape, height,
                          &strides, &table_strides, &index_strides, device_type(rows.shape.type));
  }
}

}  // namespace softtpu::dynamic
