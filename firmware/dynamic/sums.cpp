// Layers that make an element of many: windows, rows. The order of sums decides bits; it is the one of the recordings.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "firmware/dynamic/layers.hpp"
#include "runtime/bmodel/layer_words.hpp"

namespace softtpu::dynamic {
namespace {

constexpr padding_t kNoPadding{0, 0, 0, 0};

void maximum(local_addr_t to, local_addr_t from, const dim4& shape, dim2 kernel, data_type_t type) {
  tpu_bdc_fp_max_pool2d(to, from, &shape, &kernel, &kNoPadding, &kOne, &kOne, type, constant(0, type));
}

void sum(local_addr_t to, local_addr_t from, const dim4& shape, dim2 kernel, data_type_t type, float scale = 1) {
  tpu_bdc_fp_avg_pool2d(to, from, &shape, &kernel, &kNoPadding, &kOne, &kOne, type, constant(scale, type));
}

// Averages at a border count fewer elements than the window has: they are made larger, rows first.
struct Border {
  const LocalTensor& to;
  dim4 strides;

  void enlarge(dim4 shape, int begin, int step, int kernel, int valid) const {
    if (valid == kernel) return;
    const local_addr_t at = to.address + static_cast<local_addr_t>(begin * step * tpu_data_type_size(to.type));
    if (!is_byte(to.type)) {
      const float factor = static_cast<float>(kernel) / static_cast<float>(valid);
      return tpu_bdc_fp_mul_C(at, at, constant(factor, to.type), &shape, &strides, &strides, to.type);
    }
    if (kernel != 3 || valid != 2) fail("an average of this window");
    tpu_bdc_int_mul_C(at, at, whole(3), &shape, &strides, &strides, to.type, to.type, DT_UINT16, -1,
                      RM_HALF_AWAY_FROM_ZERO, true);
  }
};

void average_of_all(const LocalRun& run) {
  const LocalTensor& from = run.inputs[0];
  const int elements = from.extents.h * from.extents.w;
  const int columns = tpu_eu_num(from.type);
  const int rows = (elements + columns - 1) / columns;
  const dim4 strides = strides_of(from);
  if (const int missing = rows * columns - elements; missing != 0) {
    const dim4 tail{from.extents.n, from.extents.c, 1, missing};
    const dim4 tail_strides{strides.n, strides.c, missing, 1};
    tpu_bdc_set_C(from.address + static_cast<local_addr_t>(elements * tpu_data_type_size(from.type)), whole(0), &tail,
                  &tail_strides, from.type);
  }
  sum(run.work, from.address, {from.extents.n, from.extents.c, rows, columns}, {rows, 1}, from.type);
  sum(run.output.address, run.work, {from.extents.n, from.extents.c, 1, columns}, {1, columns}, from.type,
      1.0F / static_cast<float>(elements));
}

}  // namespace

void pooling(const LocalRun& run) {
  using Words = bmodel::PoolingWords;
  const LocalTensor& from = run.inputs[0];
  const LocalTensor& to = run.output;
  const auto word = [&](std::size_t i) { return static_cast<int>(run.layer.word(i)); };
  const dim2 kernel{word(Words::kKernel), word(Words::kKernel + 1)};
  const padding_t pads{word(Words::kPads), word(Words::kPads + 1), word(Words::kPads + 2), word(Words::kPads + 3)};
  const dim2 stride{word(Words::kStride), word(Words::kStride + 1)};
  const dim2 dilation{word(Words::kDilation), word(Words::kDilation + 1)};
  const dim4* const shape = &from.extents;
  if (word(Words::kAverage) == 0) {
    const auto pool = is_byte(to.type) ? tpu_bdc_int8_max_pool2d : tpu_bdc_fp_max_pool2d;
    return pool(to.address, from.address, shape, &kernel, &pads, &stride, &dilation, to.type, lowest(to.type));
  }
  if (word(Words::kGlobal) != 0 && (kernel.h != shape->h || kernel.w != shape->w)) fail("a global average of a part");
  if (is_byte(to.type)) {
    tpu_bdc_int8_avg_pool2d(to.address, from.address, shape, &kernel, &pads, &stride, &dilation, to.type, from.type,
                            static_cast<unsigned char>(word(Words::kScale)),
                            static_cast<unsigned char>(word(Words::kShift)));
  } else if (word(Words::kGlobal) != 0) {
    return average_of_all(run);
  } else {
    tpu_bdc_fp_avg_pool2d(to.address, from.address, shape, &kernel, &pads, &stride, &dilation, to.type,
                          constant(1.0F / static_cast<float>(kernel.h * kernel.w), to.type));
  }
  const Border border{to, strides_of(to)};
  const auto valid = [](int at, int extent, int before, int size, int step) {
    const int begin = at * step - before;
    return std::min(begin + size, extent) - std::max(begin, 0);
  };
  for (int h = 0; h < to.extents.h; ++h) {
    border.enlarge({to.extents.n, to.extents.c, 1, to.extents.w}, h, border.strides.h, kernel.h,
                   valid(h, shape->h, pads.top, kernel.h, stride.h));
  }
  for (int w = 0; w < to.extents.w; ++w) {
    border.enlarge({to.extents.n, to.extents.c, to.extents.h, 1}, w, 1, kernel.w,
                   valid(w, shape->w, pads.left, kernel.w, stride.w));
  }
}

namespace {

int whole_vectors(int width, data_type_t type) {
  const int vector = tpu_eu_num(type);
  return (width + vector - 1) / vector * vector;
}

// What a row lacks of whole vectors.
void fill(local_addr_t at, const dim4& extents, int row, data_type_t type, scalar_t value) {
  if (row == extents.w) return;
  LocalTensor padded{at, type, {extents.n, extents.c, extents.h, row}, false};
  const dim4 strides = strides_of(padded);
  const dim4 tail{extents.n, extents.c, extents.h, row - extents.w};
  tpu_bdc_set_C(at + static_cast<local_addr_t>(extents.w * tpu_data_type_size(type)), value, &tail, &strides, type);
}

using Pool = void (*)(local_addr_t, local_addr_t, const dim4&, dim2, data_type_t);
void sum_of(local_addr_t to, local_addr_t from, const dim4& shape, dim2 kernel, data_type_t type) {
  sum(to, from, shape, kernel, type);
}

// Of each row of whole vectors: the vectors first, then what is left. Rows of h take the place of n; those of channels
// in the same NPU would change places with them, and have commands of their own.
void by_vectors(Pool pool, local_addr_t to, local_addr_t part, local_addr_t from, const dim4& extents, int row,
                data_type_t type) {
  const int vector = tpu_eu_num(type);
  const int most = extents.h == 1 ? extents.c : tpu_npu_num();
  for (int begin = 0; begin < extents.c; begin += most) {
    const int channels = std::min(most, extents.c - begin);
    pool(part, from, {extents.h, channels, row / vector, vector}, {row / vector, 1}, type);
    pool(to, part, {1, channels, extents.h, vector}, {1, vector}, type);
    from += bytes_of({0, type, {1, 1, extents.h, row}, false});
    to += bytes_of({0, type, {1, 1, extents.h, 1}, false});
  }
}

}  // namespace

// As recorded: rows of up to 24 elements are summed at once, longer and single ones by vectors.
void softmax(const LocalRun& run) {
  const data_type_t type = run.output.type;
  const dim4 all = run.output.extents;
  const dim4 extents{1, all.c, all.h, all.w};
  const bool split = all.h == 1 || all.w > 24;
  const int row = split ? whole_vectors(all.w, type) : all.w;
  const int wide_row = split ? whole_vectors(all.w, DT_FP32) : all.w;
  const LocalTensor one{0, type, {1, all.c, all.h, row}, false};
  const LocalTensor plain{0, type, extents, false};
  const LocalTensor maxima{0, type, {1, all.c, all.h, 1}, false};
  // The compiler's work memory is as large as the recorded steps need; these lie behind each other in it. What is
  // widened for the sums takes the place of what the exponentials need no more.
  local_addr_t next = run.work;
  const auto take = [&next](local_addr_t bytes) { return std::exchange(next, next + bytes); };
  const local_addr_t padded = split && all.h > 1 ? take(bytes_of(one)) : 0;
  const local_addr_t at_best = take(bytes_of(maxima));
  const local_addr_t coefficients = take(64);
  const local_addr_t work = take(bytes_of(one));
  const local_addr_t second = take(bytes_of(one));
  const local_addr_t wide = at_best + 2 * bytes_of(one);
  // Of several channels in an NPU the sums, which are f32, would reach into the work.
  const local_addr_t part = all.c > tpu_npu_num() ? at_best + bytes_of({0, DT_FP32, maxima.extents, false}) : work;
  const dim4 strides = strides_of(one);
  const dim4 plain_strides = strides_of(plain);
  const dim4 wide_strides = strides_of({0, DT_FP32, {1, all.c, all.h, split ? wide_row : all.w}, false});
  for (int n = 0; n < all.n; ++n) {
    const auto behind = static_cast<local_addr_t>(n) * bytes_of(plain);
    const local_addr_t given = run.inputs[0].address + behind;
    const local_addr_t to = run.output.address + behind;
    local_addr_t from = given;
    if (split) {
      if (all.h > 1) {
        from = padded;
        tpu_bdc_cpy(from, given, &extents, &strides, &plain_strides, type);
        fill(from, extents, row, type, lowest(type));
      } else {
        fill(from, extents, row, type, constant(-std::numeric_limits<float>::infinity(), type));
      }
      by_vectors(maximum, at_best, to, from, extents, row, type);
    } else {
      maximum(at_best, from, extents, {1, all.w}, type);
    }
    const dim4 over_row = spread(maxima, extents);
    tpu_bdc_fp_sub(to, from, at_best, &extents, nullptr, split ? &strides : nullptr, &over_row, type);
    tpu_bdc_load_fp_exp_coeff(coefficients, type);
    tpu_bdc_fp_exp(to, to, work, second, coefficients, &extents, type);
    tpu_bdc_cast(wide, to, &extents, &wide_strides, nullptr, DT_FP32, type, RM_HALF_TO_EVEN);
    if (split) {
      fill(wide, extents, wide_row, DT_FP32, whole(0));
      by_vectors(sum_of, at_best, part, wide, extents, wide_row, DT_FP32);
    } else {
      sum(at_best, wide, extents, {1, all.w}, DT_FP32);
    }
    const dim4 single{1, all.c, all.h, 1};
    tpu_bdc_fp_tunable_C_div(at_best, at_best, constant(1, DT_FP32), &single, nullptr, nullptr, DT_FP32, 3);
    tpu_bdc_cast(at_best, at_best, &single, nullptr, nullptr, type, DT_FP32, RM_HALF_TO_EVEN);
    tpu_bdc_fp_mul(to, to, at_best, &extents, nullptr, nullptr, &over_row, type);
  }
}

// exp(element - largest) comes from a table; the quotient is rounded half up.
static void softmax_of_bytes(const LayerRun& run) {
  constexpr local_addr_t kFrom = 0, kBest = 0x40, kExponentials = 0xc0, kTable = 0x100;
  const auto length = static_cast<int>(elements_of(run.inputs[0].shape.extents));
  const dim4 line{1, tpu_npu_num(), 1, kTableEntries};
  tpu_gdma_channel_bcast_S2L(kTable, run.inputs[1].address, &line, nullptr, nullptr, DT_FP32);
  const dim4 column{1, 1, length, 1};
  const dim4 packed{0, length, 1, 1};
  tpu_gdma_cpy_S2L(kFrom, run.inputs[0].address, &column, nullptr, &packed, DT_INT8);
  const dim4 shape{1, 1, 1, length};
  const dim4 single{1, 1, 1, 1};
  const dim2 kernel{1, length};
  tpu_bdc_int8_max_pool2d(kBest, kFrom, &shape, &kernel, &kNoPadding, &kOne, &kOne, DT_INT8, whole(0));
  const dim4 over_row{0, tpu_eu_num(DT_INT8), 0, 0};
  // A difference of up to 255: as unsigned bytes, the places in the table.
  tpu_bdc_int_sub(kFrom, kBest, kFrom, &shape, nullptr, &over_row, nullptr, DT_INT8, DT_INT8, DT_INT8, 0,
                  RM_HALF_AWAY_FROM_ZERO, false);
  tpu_bdc_table_lookup(kExponentials, kFrom, kTable, &shape, kTableEntries, DT_FP32, DT_UINT8);
  sum(kBest, kExponentials, shape, kernel, DT_FP32);
  const dim4 each{1, 1, 1, 1};
  tpu_bdc_fp_mul_C(kBest, kBest, constant(run.layer.number(0), DT_FP32), &single, &each, &each, DT_FP32);
  tpu_bdc_fp32_C_div(kBest, kBest, 1.0F, &single, &each, &each);
  const dim4 over_exponentials{0, 1, 0, 0};
  tpu_bdc_fp_mul(kExponentials, kExponentials, kBest, &shape, nullptr, nullptr, &over_exponentials, DT_FP32);
  tpu_bdc_fp_add_C(kExponentials, kExponentials, constant(0.5F, DT_FP32), &shape, nullptr, nullptr, DT_FP32);
  tpu_bdc_cast(kFrom, kExponentials, &shape, nullptr, nullptr, DT_UINT8, DT_FP32, RM_DOWN);
  const dim4 held{0, tpu_eu_num(DT_INT8), 1, 1};
  tpu_gdma_cpy_L2S(run.outputs[0].address, kFrom, &column, &packed, &held, DT_UINT8);
}

// Rows in device memory: as many as there are NPUs at a time, each by vectors.
void softmax(const LayerRun& run) {
  if (is_byte(device_type(run.inputs[0].shape.type))) return softmax_of_bytes(run);
  constexpr local_addr_t kFrom = 0, kTo = 0x8000, kBest = 0x10000, kPart = 0x14000, kShifted = 0x18000,
                         kExponent = 0x1c000, kWork = 0x20000, kSecond = 0x24000, kCoefficients = 0x28000,
                         kWide = 0x30000;
  const Tensor& from = run.inputs[0];
  const data_type_t type = device_type(from.shape.type);
  const auto width = static_cast<int>(from.shape.extents.back());
  const std::int64_t rows = elements_of(from.shape.extents) / width;
  constexpr std::int64_t kMostRows = 1024;
  const int row = whole_vectors(width, type);
  tpu_bdc_load_fp_exp_coeff(kCoefficients, type);
  for (std::int64_t done = 0; done < rows; done += kMostRows) {
    const dim4 extents{1, static_cast<int>(std::min(kMostRows, rows - done)), 1, width};
    const std::int64_t before = done * width * tpu_data_type_size(type);
    const auto at = static_cast<system_addr_t>(before);
    tpu_gdma_cpy_S2L(kFrom, from.address + at, &extents, nullptr, nullptr, type);
    fill(kFrom, extents, row, type,
         type == DT_FP32 ? lowest(type) : constant(-std::numeric_limits<float>::infinity(), type));
    by_vectors(maximum, kBest, kPart, kFrom, extents, row, type);
    const LocalTensor best{kBest, type, {1, extents.c, 1, 1}, false};
    const dim4 over_row = spread(best, extents);
    tpu_bdc_fp_sub(kShifted, kFrom, kBest, &extents, nullptr, nullptr, &over_row, type);
    tpu_bdc_fp_exp(kExponent, kShifted, kWork, kSecond, kCoefficients, &extents, type);
    const local_addr_t wide = type == DT_FP32 ? kExponent : kWide;
    const int wide_row = whole_vectors(width, DT_FP32);
    if (type != DT_FP32) tpu_bdc_cast(wide, kExponent, &extents, nullptr, nullptr, DT_FP32, type, RM_HALF_TO_EVEN);
    fill(wide, extents, wide_row, DT_FP32, whole(0));
    by_vectors(sum_of, kBest, kPart, wide, extents, wide_row, DT_FP32);
    tpu_bdc_fp_tunable_C_div(kBest, kBest, constant(1, DT_FP32), &best.extents, nullptr, nullptr, DT_FP32, 3);
    if (type != DT_FP32) tpu_bdc_cast(kBest, kBest, &best.extents, nullptr, nullptr, type, DT_FP32, RM_HALF_TO_EVEN);
    tpu_bdc_fp_mul(kTo, kExponent, kBest, &extents, nullptr, nullptr, &over_row, type);
    tpu_gdma_cpy_L2S(run.outputs[0].address + at, kTo, &extents, nullptr, nullptr, type);
  }
}

// Over the third of three dimensions, which lies along h.
void layer_norm(const LocalRun& run) {
  const LocalTensor& from = run.inputs[0];
  const LocalTensor& to = run.output;
  const dim4& shape = to.extents;
  const data_type_t type = to.type;
  const dim4 single{shape.n, shape.c, 1, 1};
  const LocalTensor wide{0, DT_FP32, shape, false};
  const LocalTensor one{0, DT_FP32, single, false};
  const local_addr_t mean = run.work;
  const local_addr_t deviation = mean + bytes_of(one);
  const local_addr_t first = deviation + bytes_of(one);
  const local_addr_t second = first + bytes_of(wide);
  const float least = run.layer.number(1);
  tpu_bdc_fp_hw_reduce_mean(mean, from.address, first, &shape, type);
  dim4 over_row = spread({mean, type, single, false}, shape);
  over_row.w = 0;
  // As recorded, bf16 centres the row twice, the first time in work memory.
  const bool twice = type == DT_BFP16;
  const local_addr_t centred = twice ? first : to.address;
  const local_addr_t widened = twice ? second : first;
  const local_addr_t squares = twice ? first : second;
  const auto centre = [&](local_addr_t at) {
    tpu_bdc_fp_sub(at, from.address, mean, &shape, nullptr, nullptr, &over_row, type);
  };
  centre(centred);
  tpu_bdc_cast(widened, centred, &shape, nullptr, nullptr, DT_FP32, type, RM_HALF_TO_EVEN);
  tpu_bdc_fp_square(squares, widened, &shape, nullptr, nullptr, DT_FP32);
  tpu_bdc_fp_hw_reduce_mean(deviation, squares, widened, &shape, DT_FP32);
  tpu_bdc_fp_add_C(widened, deviation, constant(least, DT_FP32), &single, nullptr, nullptr, DT_FP32);
  if (twice)
    tpu_bdc_fp32_tunable_rsqrt(squares, widened, &single, kNewtonSteps);
  else
    tpu_bdc_fp_rsqrt(squares, widened, &single, DT_FP32);
  tpu_bdc_cast(deviation, squares, &single, nullptr, nullptr, type, DT_FP32, RM_HALF_TO_EVEN);
  if (twice) centre(to.address);
  tpu_bdc_fp_mul(to.address, to.address, deviation, &shape, nullptr, nullptr, &over_row, type);
  const std::int32_t affine = run.layer.word(2);
  std::size_t next = 1;
  const auto apply = [&](auto function, local_addr_t result, local_addr_t given) {
    const LocalTensor& values = run.inputs[next++];
    const LocalTensor along{values.address, type, {1, 1, shape.h, 1}, true};
    const dim4 all{1, tpu_npu_num(), shape.h, 1};
    tpu_bdc_npu_bcast(along.address, along.address, &all, type);
    const dim4 strides{0, 0, 1, 1};
    function(result, given, along.address, &shape, nullptr, nullptr, &strides, type);
  };
  // What is scaled and moved is between them in work memory.
  const local_addr_t between = affine == 3 ? first : to.address;
  if ((affine & 1) != 0) apply(tpu_bdc_fp_mul, between, to.address);
  if ((affine & 2) != 0) apply(tpu_bdc_fp_add, to.address, between);
}

namespace {

// Rows of planes whose height or width is reduced.
struct PlaneReduction {
  const LayerRun& run;
  data_type_t type;
  std::int32_t method;

  static constexpr std::int32_t kMean = 0, kMaximum = 2, kRoot = 5;

  void carry_out(system_addr_t to, system_addr_t from, const dim4& shape, bool of_width, const dim4* strides = nullptr,
                 const dim4* result_strides = nullptr) const {
    constexpr local_addr_t kFrom = 0, kWide = 0x10000;
    const local_addr_t in_npu = bytes_of({0, type, shape, false});
    constexpr local_addr_t kMost = 0x20000;
    if (in_npu > kMost) fail(fmt::format("a reduction of rows of {} elements", of_width ? shape.w : shape.h));
    const local_addr_t result = in_npu <= 0x8000 ? 0x8000 : kMost;
    const dim2 kernel{of_width ? 1 : shape.h, of_width ? shape.w : 1};
    const dim4 single{1, shape.c, of_width ? shape.h : 1, of_width ? 1 : shape.w};
    tpu_gdma_cpy_S2L(kFrom, from, &shape, nullptr, strides, type);
    if (method == kMaximum) {
      maximum(result, kFrom, shape, kernel, type);
    } else if (method == kMean) {
      sum(result, kFrom, shape, kernel, type, 1.0F / static_cast<float>(kernel.h * kernel.w));
    } else {
      tpu_bdc_fp_mul(kFrom, kFrom, kFrom, &shape, nullptr, nullptr, nullptr, type);
      sum(kFrom, kFrom, shape, kernel, type);
      tpu_bdc_cast(kWide, kFrom, &single, nullptr, nullptr, DT_FP32, type, RM_HALF_TO_EVEN);
      tpu_bdc_fp32_sqrt(kFrom, kWide, &single);
      tpu_bdc_cast(result, kFrom, &single, nullptr, nullptr, type, DT_FP32, RM_HALF_TO_EVEN);
    }
    tpu_gdma_cpy_L2S(to, result, &single, result_strides, nullptr, type);
  }

  // `planes` of them one behind the other, as many at a time as there are NPUs.
  void of_planes(system_addr_t to, system_addr_t from, std::int64_t planes, int h, int w, bool of_width) const {
    const std::int64_t bytes = tpu_data_type_size(type);
    const std::int64_t result = of_width ? h : w;
    for (std::int64_t done = 0; done < planes; done += tpu_npu_num()) {
      const dim4 shape{1, static_cast<int>(std::min<std::int64_t>(tpu_npu_num(), planes - done)), h, w};
      carry_out(to + static_cast<system_addr_t>(done * result * bytes),
                from + static_cast<system_addr_t>(done * h * w * bytes), shape, of_width);
    }
  }

  // Heights of a plane that is too large for an NPU: some columns at a time.
  void of_columns(system_addr_t to, system_addr_t from, std::int64_t planes, int h, int w) const {
    constexpr int kMostColumns = 64;
    const std::int64_t bytes = tpu_data_type_size(type);
    const dim4 strides{0, h * w, w, 1};
    const dim4 result_strides{0, w, w, 1};
    for (std::int64_t plane = 0; plane < planes; plane += tpu_npu_num()) {
      for (int column = 0; column < w; column += kMostColumns) {
        const dim4 shape{1, static_cast<int>(std::min<std::int64_t>(tpu_npu_num(), planes - plane)), h,
                         std::min(kMostColumns, w - column)};
        carry_out(to + static_cast<system_addr_t>((plane * w + column) * bytes),
                  from + static_cast<system_addr_t>((plane * h * w + column) * bytes), shape, false, &strides,
                  &result_strides);
      }
    }
  }
};

}  // namespace

// Along the last axis or the one before it: planes. Along another one it is first made the last.
void reduction(const LayerRun& run) {
  constexpr std::int64_t kRoom = 0x10000;  // for a plane in an NPU
  const Tensor& from = run.inputs[0];
  const Tensor& to = run.outputs[0];
  const PlaneReduction planes{run, device_type(from.shape.type), run.layer.word(9)};
  const auto axis = static_cast<std::size_t>(run.layer.word(0));
  const Extents& extents = from.shape.extents;
  const std::size_t rank = extents.size();
  const std::int64_t bytes = tpu_data_type_size(planes.type);
  const std::int64_t count = elements_of(extents);
  if (count == 0) return;
  const std::int64_t length = extents[axis];
  const std::int64_t height = rank > 1 ? extents[rank - 2] : 1;
  const bool fits = height * extents[rank - 1] * bytes <= kRoom;
  if (axis + 2 == rank) {
    const auto h = static_cast<int>(length);
    const auto w = static_cast<int>(extents[rank - 1]);
    const std::int64_t all = count / (length * w);
    if (fits) return planes.of_planes(to.address, from.address, all, h, w, false);
    return planes.of_columns(to.address, from.address, all, h, w);
  }
  system_addr_t given = from.address;
  if (axis + 1 != rank) {
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < rank; ++i) {
      if (i != axis) axes.push_back(i);
    }
    axes.push_back(axis);
    given = run.layer.address(14) + run.context_moved;
    transpose(given, from, axes);
  }
  // Rows of a plane as they follow each other in what is read now.
  const std::int64_t rows = axis + 1 == rank ? height : extents[rank - 1];
  // A root of sums is taken as f32, which single elements have less room for.
  const std::int64_t room = length * bytes < 4 && planes.method == PlaneReduction::kRoot ? kRoom / 4 : kRoom;
  const std::int64_t together = rank > 2 && rows * length * bytes <= room ? rows : 1;
  planes.of_planes(to.address, given, count / (together * length), static_cast<int>(together), static_cast<int>(length),
                   true);
}

// The largest of what counts down from the row's length, where an element is the largest of its row.
void extreme_index(const LayerRun& run) {
  constexpr local_addr_t kFrom = 0, kNumbers = 0x10000, kBest = 0x20000, kMask = 0x30000;
  const Tensor& from = run.inputs[0];
  const auto width = static_cast<int>(from.shape.extents.back());
  const std::int64_t rows = elements_of(from.shape.extents) / width;
  for (std::int64_t row = 0; row < rows; row += tpu_npu_num()) {
    const int count = static_cast<int>(std::min<std::int64_t>(tpu_npu_num(), rows - row));
    const dim4 shape{1, count, width, 1};
    const dim4 single{1, count, 1, 1};
    const dim4 over_row{0, tpu_eu_num(DT_FP32), 0, 1};
    tpu_gdma_cpy_S2L(kFrom, from.address + static_cast<system_addr_t>(row * width * 4), &shape, nullptr, nullptr,
                     DT_FP32);
    maximum(kBest, kFrom, shape, {width, 1}, DT_FP32);
    tpu_bdc_equal(kMask, kFrom, kBest, whole(-1), &shape, nullptr, nullptr, &over_row, DT_FP32, DT_FP32);
    tpu_bdc_arithmetic_sequence_bcast(kNumbers, 1, width, -1, width);
    const dim4 line{1, 1, 1, width};
    tpu_bdc_cast(kFrom, kNumbers, &line, nullptr, nullptr, DT_FP32, DT_INT32, RM_HALF_TO_EVEN);
    const dim4 lines{1, count, 1, width};
    tpu_bdc_npu_bcast(kNumbers, kFrom, &lines, DT_FP32);
    const dim4 along{0, 0, 1, 0};
    tpu_bdc_and(kFrom, kMask, kNumbers, &shape, nullptr, nullptr, &along, DT_FP32);
    maximum(kNumbers, kFrom, shape, {width, 1}, DT_FP32);
    tpu_bdc_fp_C_sub(kMask, kNumbers, constant(static_cast<float>(width), DT_FP32), &single, nullptr, nullptr, DT_FP32);
    tpu_bdc_cast(kNumbers, kMask, &single, nullptr, nullptr, DT_INT32, DT_FP32, RM_HALF_TO_EVEN);
    tpu_gdma_cpy_L2S(run.outputs[0].address + static_cast<system_addr_t>(row * 4), kNumbers, &single, nullptr, nullptr,
                     DT_INT32);
  }
}

}  // namespace softtpu::dynamic
