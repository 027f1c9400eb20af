// Layers that make each element of elements at the same place.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "firmware/dynamic/layers.hpp"

namespace softtpu::dynamic {
void conversion(const LocalRun& run) {
  const LocalTensor& from = run.inputs[0];
  if (from.type == run.output.type)
    return tpu_bdc_cpy(run.output.address, from.address, &from.extents, nullptr, nullptr, from.type);
  tpu_bdc_cast(run.output.address, from.address, &from.extents, nullptr, nullptr, run.output.type, from.type,
               rounding_of(run.layer.word(2)));
}

// A slope of 0, one for all channels, or one for each.
void relu(const LocalRun& run) {
  constexpr std::size_t kSlope = 1, kShared = 2, kShift = 3, kRounding = 4;
  const LocalTensor& from = run.inputs[0];
  const LocalTensor& to = run.output;
  const dim4& shape = to.extents;
  const float slope = run.layer.number(kSlope);
  const bool shared = run.layer.word(kShared) != 0;
  if (shared && slope == 0) return tpu_bdc_relu(to.address, from.address, &shape, nullptr, nullptr, to.type);
  if (shared && !is_byte(to.type))
    return tpu_bdc_prelu(to.address, from.address, constant(slope, to.type), &shape, to.type);
  const auto shift = static_cast<char>(-run.layer.word(kShift));
  const rounding_mode_t rounding = rounding_of(run.layer.word(kRounding));
  if (shared) {
    tpu_bdc_int_mul_C(to.address, from.address, whole(static_cast<int>(slope)), &shape, nullptr, nullptr, to.type,
                      from.type, DT_INT8, shift, rounding, true);
  } else {
    const dim4 strides = spread(run.inputs[1], shape);
    if (is_byte(to.type)) {
      tpu_bdc_int_mul(to.address, from.address, run.inputs[1].address, &shape, nullptr, nullptr, &strides, to.type,
                      from.type, run.inputs[1].type, shift, rounding, true);
    } else {
      tpu_bdc_fp_mul(to.address, from.address, run.inputs[1].address, &shape, nullptr, nullptr, &strides, to.type);
    }
  }
  const variable_t given = as_operand(from.address);
  const variable_t zero = as_operand(whole(0));
  const variable_t scaled = as_operand(to.address);
  tpu_bdc_greater_select(to.address, &given, &zero, &given, &scaled, &shape, to.type, to.type);
}

void select(const LocalRun& run) {
  const LocalTensor& to = run.output;
  const variable_t condition = as_operand(run.inputs[0].address);
  const variable_t zero = as_operand(whole(0));
  const variable_t one = as_operand(run.inputs[1].address);
  const variable_t other = as_operand(run.inputs[2].address);
  tpu_bdc_equal_select(to.address, &condition, &zero, &other, &one, &to.extents, to.type, to.type);
}

namespace {

// Both times their scales, to 16 bits; then their sum.
void sum_of_bytes(const LocalRun& run) {
  constexpr std::size_t kScale = 3, kShift = 5;
  const LocalTensor& to = run.output;
  LocalTensor wide{run.work, run.inputs[0].type == DT_UINT8 ? DT_UINT16 : DT_INT16, to.extents, false};
  local_addr_t addresses[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const LocalTensor& from = run.inputs[i];
    wide.extents = from.extents;
    addresses[i] = wide.address;
    dim4 all = from.extents;
    if (all.c == 1) all.c = std::min(to.extents.c, tpu_npu_num());  // in each NPU, as it has been copied
    tpu_bdc_int_mul_C(wide.address, from.address, whole(run.layer.word(kScale + i)), &all, nullptr, nullptr, wide.type,
                      from.type, DT_UINT8, static_cast<char>(-run.layer.word(kShift + i)), RM_HALF_UP, true);
    wide.address += bytes_of(wide);
  }
  dim4 strides[2];
  for (std::size_t i = 0; i < 2; ++i) {
    wide.extents = run.inputs[i].extents;
    strides[i] = spread(wide, to.extents);
  }
  tpu_bdc_int_add(to.address, addresses[0], addresses[1], &to.extents, nullptr, &strides[0], &strides[1], to.type,
                  wide.type, wide.type, 0, RM_HALF_AWAY_FROM_ZERO, true);
}

}  // namespace

void binary(const LocalRun& run) {
  constexpr std::int32_t kMinimum = 10000, kGreater = 10001;
  const LocalTensor& to = run.output;
  const dim4& shape = to.extents;
  for (const LocalTensor& input : run.inputs) {
    if (input.extents.c != 1 || shape.c == 1) continue;
    // Whole lines of the first NPU, to the others.
    const int line = tpu_eu_num(input.type);
    const int lines = static_cast<int>(bytes_of(input)) / (line * tpu_data_type_size(input.type));
    const dim4 rest{1, std::min(shape.c, tpu_npu_num()) - 1, lines, line};
    const auto npu_bytes = static_cast<local_addr_t>(tpu_local_mem_size_per_npu());
    tpu_bdc_npu_bcast(input.address + npu_bytes, input.address, &rest, input.type);
  }
  if (is_byte(to.type)) return sum_of_bytes(run);
  if (to.type == DT_INT32) {
    return tpu_bdc_int_add(to.address, run.inputs[0].address, run.inputs[1].address, &shape, nullptr, nullptr, nullptr,
                           DT_INT32, DT_INT32, DT_INT32, 0, RM_HALF_AWAY_FROM_ZERO, true);
  }
  const local_addr_t one = run.inputs[0].address;
  const local_addr_t other = run.inputs[1].address;
  const auto strides_over = [&shape](const LocalTensor& from) {
    dim4 all = spread(from, shape);
    if (from.extents.n == 1) all.n = 0;
    if (shape.h == 1) all.h = strides_of(from).h;
    return all;
  };
  const dim4 strides = strides_over(run.inputs[0]);
  const dim4 others = strides_over(run.inputs[1]);
  const std::int32_t operation = run.layer.word(0);
  using Function = void (*)(local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*,
                            const dim4*, data_type_t);
  constexpr Function kFunctions[] = {tpu_bdc_fp_add, tpu_bdc_fp_sub, tpu_bdc_fp_mul, tpu_bdc_fp_div, tpu_bdc_max};
  if (operation == kGreater) {
    return tpu_bdc_greater(to.address, one, other, constant(1, to.type), &shape, nullptr, &strides, &others, to.type,
                           to.type);
  }
  const Function function = operation == kMinimum ? tpu_bdc_min : kFunctions[operation];
  function(to.address, one, other, &shape, nullptr, &strides, &others, to.type);
}

void binary_constant(const LocalRun& run) {
  constexpr std::int32_t kAdd = 0, kSubtract = 1, kMultiply = 2, kDivide = 3, kMaximum = 4;
  const LocalTensor& to = run.output;
  const local_addr_t from = run.inputs[0].address;
  const scalar_t value = constant(run.layer.number(0), to.type);
  const bool inversed = run.layer.word(2) != 0;
  using Function = void (*)(local_addr_t, local_addr_t, scalar_t, const dim4*, const dim4*, const dim4*, data_type_t);
  Function function = tpu_bdc_min_C;
  switch (run.layer.word(3)) {
    case kAdd: function = tpu_bdc_fp_add_C; break;
    case kSubtract: function = inversed ? tpu_bdc_fp_C_sub : tpu_bdc_fp_sub_C; break;
    case kMultiply: function = tpu_bdc_fp_mul_C; break;
    case kDivide: function = tpu_bdc_fp_C_div; break;
    case kMaximum: function = tpu_bdc_max_C; break;
    default: break;
  }
  function(to.address, from, value, &to.extents, nullptr, nullptr, to.type);
}

void activation(const LocalRun& run) {
  const LocalTensor& from = run.inputs[0];
  const LocalTensor& to = run.output;
  const dim4* const shape = &to.extents;
  const data_type_t type = to.type;
  // Work memory: tensors of its shape, then tables of coefficients.
  const local_addr_t size = run.work_step != 0 ? run.work_step : bytes_of(to);
  const auto work = [&](local_addr_t i) { return run.work + i * size; };
  constexpr local_addr_t kTable = 64;
  const auto exponential = [&](local_addr_t at) {
    tpu_bdc_load_fp_exp_coeff(at, type);
    return at;
  };
  switch (run.layer.word(0)) {
    case 0: return tpu_bdc_fp_tanh(to.address, from.address, work(1), work(0), exponential(work(2)), shape, type);
    case 1: return tpu_bdc_fp_sigmoid(to.address, from.address, work(1), work(0), exponential(work(2)), 0, shape, type);
    case 3: return tpu_bdc_fp_exp(to.address, from.address, work(1), work(0), exponential(work(2)), shape, type);
    case 4:
      return tpu_bdc_fp32_elu(to.address, from.address, work(1), work(0), exponential(work(2)), 0, run.layer.number(1),
                              shape);
    case 5: return tpu_bdc_fp_sqrt(to.address, from.address, shape, type);
    case 8: return tpu_bdc_abs(to.address, from.address, shape, nullptr, nullptr, type);
    case 9:
      tpu_bdc_load_fp_log_coeff(work(1), type);
      return tpu_bdc_fp_log(to.address, from.address, work(0), work(1), shape, type);
    case 18: return tpu_bdc_fp_hswish(to.address, from.address, work(0), shape, type);
    case 19: return tpu_bdc_fp_silu(to.address, from.address, work(1), work(0), exponential(work(2)), 0, shape, type);
    case 29: {
      const local_addr_t table = exponential(work(4));
      tpu_bdc_load_fp_erf_coeff(table + kTable, type);
      return tpu_bdc_fp_gelu(to.address, from.address, work(1), work(0), work(2), work(3), table, table + kTable, shape,
                             type);
    }
    case 30: {
      const local_addr_t table = exponential(work(2));
      tpu_bdc_load_fp_erf_coeff(table + kTable, type);
      return tpu_bdc_fp_erf(to.address, from.address, work(1), work(0), table + 2 * kTable, table, table + kTable,
                            shape, type);
    }
    case 33: {
      const local_addr_t table = exponential(work(2));
      tpu_bdc_load_fp_log_coeff(table + 2 * kTable, type);
      return tpu_bdc_fp_softplus(to.address, from.address, work(1), work(0), table, table + 2 * kTable, shape, 1.0F,
                                 type);
    }
    default: fail("this function");
  }
}

// The table lies in NPU 0 and is copied to all.
void table(const LocalRun& run) {
  const LocalTensor& entries = run.inputs[1];
  const dim4 all{1, tpu_npu_num(), 1, kTableEntries};
  tpu_bdc_npu_bcast(entries.address, entries.address, &all, entries.type);
  tpu_bdc_table_lookup(run.output.address, run.inputs[0].address, entries.address, &run.output.extents, kTableEntries,
                       run.output.type, DT_UINT8);
}

void table(const LayerRun& run) {
  constexpr local_addr_t kFrom = 0, kTo = 0x18000, kTable = 0x30000;
  constexpr std::int64_t kMost = 1024;
  const Tensor& from = run.inputs[0];
  const Tensor& to = run.outputs[0];
  const data_type_t type = device_type(to.shape.type);
  const dim4 all{1, tpu_npu_num(), 1, kTableEntries};
  tpu_gdma_channel_bcast_S2L(kTable, run.inputs[1].address, &all, nullptr, nullptr, type);
  const std::int64_t count = elements_of(from.shape.extents);
  const std::int64_t npus = tpu_npu_num();
  // Rows of bytes have two elements at least.
  const std::int64_t width = std::clamp<std::int64_t>((count + npus - 1) / npus, 2, kMost);
  const std::int64_t most = std::min(width * npus, kMostExtent / width * width);  // a command's columns
  for (std::int64_t done = 0; done < count; done += most) {
    const auto some = static_cast<int>(std::min(count - done, most));
    const auto columns = static_cast<int>(std::min<std::int64_t>(some, width));
    const dim4 shape{1, (some + columns - 1) / columns, 1, columns};
    const auto at = static_cast<system_addr_t>(done);
    tpu_gdma_matrix_S2L(kFrom, from.address + at, 1, some, columns, some, device_type(from.shape.type));
    tpu_bdc_table_lookup(kTo, kFrom, kTable, &shape, kTableEntries, type, DT_UINT8);
    tpu_gdma_matrix_L2S(to.address + at * static_cast<system_addr_t>(tpu_data_type_size(type)), kTo, 1, some, columns,
                        some, type);
  }
}

void quantisation(const LocalRun& run) {
  const LocalTensor& from = run.inputs[0];
  const dim4& shape = from.extents;
  const scalar_t scale = constant(run.layer.number(1), from.type);
  tpu_bdc_fp_mul_C(run.work, from.address, scale, &shape, nullptr, nullptr, from.type);
  if (from.type != DT_FP32) {
    return tpu_bdc_cast(run.output.address, run.work, &shape, nullptr, nullptr, run.output.type, from.type,
                        RM_HALF_AWAY_FROM_ZERO);
  }
  tpu_bdc_cast(run.work, run.work, &shape, nullptr, nullptr, DT_INT32, DT_FP32, RM_HALF_AWAY_FROM_ZERO);
  tpu_bdc_cast(run.output.address, run.work, &shape, nullptr, nullptr, run.output.type, DT_INT32,
               RM_HALF_AWAY_FROM_ZERO);
}

void requantisation(const LocalRun& run) {
  tpu_bdc_int_requant(run.output.address, run.inputs[0].address, &run.output.extents, run.layer.word(1),
                      static_cast<char>(run.layer.word(2)), whole(run.layer.word(3)), run.output.type, DT_INT32,
                      RM_HALF_AWAY_FROM_ZERO);
}

void dequantisation(const LocalRun& run) {
  const LocalTensor& from = run.inputs[0];
  const LocalTensor& to = run.output;
  if (to.type != DT_FP32) {
    tpu_bdc_cast(to.address, from.address, &from.extents, nullptr, nullptr, to.type, from.type, RM_HALF_TO_EVEN);
    return tpu_bdc_fp_mul_C(to.address, to.address, constant(run.layer.number(1), to.type), &from.extents, nullptr,
                            nullptr, to.type);
  }
  tpu_bdc_fp32_dequant(run.output.address, from.address, &from.extents, whole(0), run.layer.number(1), from.type,
                       RM_HALF_TO_EVEN);
}

namespace {

// Where a layer's operands lie while a piece is computed. The next piece is loaded before: both take turns in two
// places.
struct Places {
  std::uint32_t type;
  local_addr_t input, to, work;  // between inputs, of the result, of the work memory
  local_addr_t next;             // to the places of the next piece
  int most;                      // elements in an NPU
};

constexpr std::uint32_t kRelu = 11, kBinary = 31, kConversion = 74;
constexpr Places kPlaces[] = {
    {kRelu, 0x8000, 0x20000, 0x38000, 0x10000, 1024},       {kBinary, 0x10000, 0x20000, 0x30000, 0x8000, 256},
    {32, 0x4000, 0x10000, 0x20000, 0x8000, 1024},           {35, 0, 0x8000, 0x10000, 0x4000, 1024},
    {kConversion, 0x8000, 0x20000, 0x38000, 0x10000, 1024}, {132, 0, 0x4000, 0x30000, 0x8000, 1024},
    {134, 0x8000, 0x20000, 0x38000, 0x10000, 1024},
};
constexpr local_addr_t kWorkStep = 0x4000;

// Loads pieces of operands in device memory, carries out the local layer, and stores what it made.
class Pieces {
 public:
  explicit Pieces(const LayerRun& run)
      : run_(run), places_(*std::find_if(std::begin(kPlaces), std::end(kPlaces), [&](const Places& places) {
          return places.type == run.layer.type;
        })) {}

  // Operands of the same extents, over all NPUs: a matrix of one row, or (relu) rows of whole vectors.
  void flat() const {
    const std::int64_t count = elements_of(run_.outputs[0].shape.extents);
    const std::int64_t npus = tpu_npu_num();
    const bool by_rows = run_.layer.type == kRelu;
    const std::int64_t unit = by_rows ? tpu_eu_num(device_type(run_.outputs[0].shape.type)) : 1;
    // Rows of bytes have two elements at least.
    const std::int64_t least = is_byte(device_type(run_.inputs[0].shape.type)) ? 2 : 1;
    const std::int64_t width = std::clamp((count + npus * unit - 1) / (npus * unit), least, places_.most / unit) * unit;
    std::vector<Piece> pieces;
    for (std::int64_t done = 0; done < count; done += pieces.back().count) {
      const std::int64_t rest = count - done;
      std::int64_t size = std::min(rest, by_rows ? width * npus : std::min(width * npus, kMostExtent / width * width));
      if (by_rows && size > width) size -= size % width;
      const std::int64_t columns = std::min(size, width);
      pieces.push_back(
          {done, size, {1, static_cast<int>((size + columns - 1) / columns), 1, static_cast<int>(columns)}});
    }
    if (!pieces.empty()) load(pieces[0], 0, by_rows);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (i + 1 < pieces.size()) load(pieces[i + 1], turn(i + 1), by_rows);
      compute_and_store(pieces[i], turn(i), by_rows);
    }
  }

  // Operands of which some have 1 where the result has more: whole, or as much of a row of NPUs as there is room for.
  void spread_out() const {
    const dim4 all = to_dim4(run_.outputs[0].shape.extents);
    const auto has_room = [&](const Tensor& tensor) {
      return bytes_of({0, device_type(tensor.shape.type), all, false}) <= kSlot;
    };
    if (has_room(run_.outputs[0]) && std::all_of(run_.inputs.begin(), run_.inputs.end(), has_room))
      return one({0, 0, 0, 0}, all);
    constexpr int kMost = 1024;
    const int columns = std::min(all.w, kMost);
    const int rows = kMost / std::max(columns, 1);
    for (int n = 0; n < all.n; ++n) {
      for (int c = 0; c < all.c; c += tpu_npu_num()) {
        for (int h = 0; h < all.h; h += rows) {
          for (int w = 0; w < all.w; w += columns) {
            one({n, c, h, w},
                {1, std::min(tpu_npu_num(), all.c - c), std::min(rows, all.h - h), std::min(columns, all.w - w)});
          }
        }
      }
    }
  }

 private:
  static constexpr local_addr_t kSlot = 0x8000;  // of an operand with others of other extents
  struct Piece {
    std::int64_t begin, count;
    dim4 shape;
  };

  local_addr_t turn(std::size_t piece) const { return piece % 2 == 0 ? 0 : places_.next; }

  void load(const Piece& piece, local_addr_t moved, bool by_rows) const {
    for (std::size_t i = 0; i < run_.inputs.size(); ++i) {
      const Tensor& input = run_.inputs[i];
      const data_type_t type = device_type(input.shape.type);
      const local_addr_t to = static_cast<local_addr_t>(i) * places_.input + moved;
      const auto count = static_cast<int>(piece.count);
      if (by_rows)
        tpu_gdma_cpy_S2L(to, at(input, piece.begin), &piece.shape, nullptr, nullptr, type);
      else
        tpu_gdma_matrix_S2L(to, at(input, piece.begin), 1, count, piece.shape.w, count, type);
    }
  }

  void compute_and_store(const Piece& piece, local_addr_t moved, bool by_rows) const {
    std::vector<LocalTensor> inputs;
    for (std::size_t i = 0; i < run_.inputs.size(); ++i) {
      inputs.push_back({static_cast<local_addr_t>(i) * places_.input + moved, device_type(run_.inputs[i].shape.type),
                        piece.shape, false});
    }
    const Tensor& result = run_.outputs[0];
    const LocalTensor output{places_.to + moved, device_type(result.shape.type), piece.shape, false};
    carry_out(LocalRun{run_.layer, inputs, output, places_.work, kWorkStep});
    const auto count = static_cast<int>(piece.count);
    if (by_rows)
      tpu_gdma_cpy_L2S(at(result, piece.begin), output.address, &piece.shape, nullptr, nullptr, output.type);
    else
      tpu_gdma_matrix_L2S(at(result, piece.begin), output.address, 1, count, piece.shape.w, count, output.type);
  }

  static system_addr_t at(const Tensor& tensor, std::int64_t element) {
    return tensor.address + static_cast<system_addr_t>(element * tpu_data_type_size(device_type(tensor.shape.type)));
  }

  // The part of these extents from this place of the result on.
  void one(const dim4& begin, const dim4& shape) const {
    const auto place = [&](const Tensor& tensor) {
      const dim4 has = to_dim4(tensor.shape.extents);
      const dim4 strides = packed_strides(has);
      return at(tensor, (has.n == 1 ? 0 : std::int64_t{begin.n} * strides.n) +
                            (has.c == 1 ? 0 : std::int64_t{begin.c} * strides.c) +
                            (has.h == 1 ? 0 : std::int64_t{begin.h} * strides.h) + (has.w == 1 ? 0 : begin.w));
    };
    std::vector<LocalTensor> inputs;
    for (const Tensor& input : run_.inputs) {
      const dim4 has = to_dim4(input.shape.extents);
      const dim4 strides = packed_strides(has);
      const dim4 part{has.n == 1 ? 1 : shape.n, has.c == 1 ? 1 : shape.c, has.h == 1 ? 1 : shape.h,
                      has.w == 1 ? 1 : shape.w};
      inputs.push_back({static_cast<local_addr_t>(inputs.size()) * kSlot, device_type(input.shape.type), part, false});
      tpu_gdma_cpy_S2L(inputs.back().address, place(input), &part, nullptr, &strides, inputs.back().type);
    }
    const dim4 strides = packed_strides(to_dim4(run_.outputs[0].shape.extents));
    const LocalTensor output{2 * kSlot, device_type(run_.outputs[0].shape.type), shape, false};
    carry_out(LocalRun{run_.layer, inputs, output, 3 * kSlot, 0});
    tpu_gdma_cpy_L2S(place(run_.outputs[0]), output.address, &shape, &strides, nullptr, output.type);
  }

  const LayerRun& run_;
  const Places& places_;
};

// The part of a tensor at this place of its first dimension.
Tensor part_of(const Tensor& tensor, std::int64_t place) {
  Tensor part = tensor;
  Extents& extents = part.shape.extents;
  const bool every = extents[0] == 1;
  extents.erase(extents.begin());
  const std::int64_t bytes = elements_of(extents) * tpu_data_type_size(device_type(tensor.shape.type));
  part.address += every ? 0 : static_cast<system_addr_t>(place * bytes);
  return part;
}

}  // namespace

void by_pieces(const LayerRun& run) {
  const Tensor& to = run.outputs[0];
  if (elements_of(to.shape.extents) == 0) return;
  if (run.layer.type == kConversion && run.inputs[0].shape.type == to.shape.type)
    return copy_all(to.address, run.inputs[0].address, elements_of(to.shape.extents), to.shape.type);
  const bool same = std::all_of(run.inputs.begin(), run.inputs.end(),
                                [&](const Tensor& input) { return input.shape.extents == to.shape.extents; });
  if (same) return Pieces(run).flat();
  if (to.shape.extents.size() <= 4) return Pieces(run).spread_out();
  for (std::int64_t i = 0; i < to.shape.extents[0]; ++i) {
    std::vector<Tensor> inputs;
    for (const Tensor& input : run.inputs) inputs.push_back(part_of(input, i));
    by_pieces({run.layer, inputs, {part_of(to, i)}, run.context_moved});
  }
}

}  // namespace softtpu::dynamic
