// Layers of language models. Their calls are those of recorded blocks, in the same order.
#include <algorithm>

#include "firmware/dynamic/layers.hpp"
#include "runtime/bmodel/layer_words.hpp"

namespace softtpu::dynamic {

namespace {

dim4 rows_of(int rows, int width) { return {1, rows, width, 1}; }

}  // namespace

// Over the third of three dimensions, which lies along h.
void rms_norm(const LocalRun& run) {
  const LocalTensor& from = run.inputs[0];
  const LocalTensor& weight = run.inputs[1];
  const LocalTensor& to = run.output;
  const dim4& shape = to.extents;
  const dim4 single{shape.n, shape.c, 1, 1};
  const LocalTensor one{0, DT_FP32, single, false};
  const local_addr_t mean = run.work;
  const local_addr_t first = mean + bytes_of(one);
  const local_addr_t second = first + bytes_of({0, DT_FP32, shape, false});
  tpu_bdc_cast(second, from.address, &shape, nullptr, nullptr, DT_FP32, from.type, RM_HALF_TO_EVEN);
  tpu_bdc_fp_square(first, second, &shape, nullptr, nullptr, DT_FP32);
  tpu_bdc_fp_hw_reduce_mean(mean, first, second, &shape, DT_FP32);
  tpu_bdc_fp_add_C(second, mean, constant(run.layer.number(0), DT_FP32), &single, nullptr, nullptr, DT_FP32);
  tpu_bdc_fp32_tunable_rsqrt(first, second, &single, kNewtonSteps);
  tpu_bdc_cast(second, from.address, &shape, nullptr, nullptr, DT_FP32, from.type, RM_HALF_TO_EVEN);
  const dim4 strides = strides_of(one);
  const dim4 over_row{strides.n, strides.c, 0, 0};
  tpu_bdc_fp_mul(second, second, first, &shape, nullptr, nullptr, &over_row, DT_FP32);
  tpu_bdc_cast(to.address, second, &shape, nullptr, nullptr, to.type, DT_FP32, RM_HALF_TO_EVEN);
  const dim4 all{1, std::min(shape.c, tpu_npu_num()), shape.h, 1};
  tpu_bdc_npu_bcast(second, weight.address, &all, to.type);
  const dim4 along = strides_of(to);
  const dim4 weights{0, 0, 1, 1};
  tpu_bdc_fp_mul(to.address, to.address, second, &shape, &along, &along, &weights, to.type);
}

void rms_norm(const LayerRun& run) {
  constexpr local_addr_t kFrom = 0, kWeight = 0xc000, kSquares = 0x10000, kTo = 0x1c000, kWide = 0x2c000;
  const Tensor& from = run.inputs[0];
  const data_type_t type = device_type(from.shape.type);
  const auto width = static_cast<int>(from.shape.extents.back());
  const auto rows = static_cast<int>(elements_of(from.shape.extents) / width);
  const dim2 kernel{width, 1};
  const padding_t pads{0, 0, 0, 0};
  for (int row = 0; row < rows; row += tpu_npu_num()) {
    const int count = std::min(tpu_npu_num(), rows - row);
    const dim4 shape = rows_of(count, width);
    const dim4 single{1, count, 1, 1};
    const dim4 packed{count * width, width, 1, 1};
    const auto at = static_cast<system_addr_t>(std::int64_t{row} * width * tpu_data_type_size(type));
    tpu_gdma_cpy_S2L(kFrom, from.address + at, &shape, nullptr, &packed, type);
    if (row == 0) {
      const dim4 line = rows_of(1, width);
      tpu_gdma_cpy_S2L(kWeight, run.inputs[1].address, &line, nullptr, nullptr, type);
    }
    tpu_bdc_cast(kWide, kFrom, &shape, nullptr, nullptr, DT_FP32, type, RM_HALF_TO_EVEN);
    tpu_bdc_fp_square(kSquares, kWide, &shape, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_avg_pool2d(kFrom, kSquares, &shape, &kernel, &pads, &kOne, &kOne, DT_FP32,
                          constant(1.0F / static_cast<float>(width), DT_FP32));
    tpu_bdc_fp_add_C(kSquares, kFrom, constant(run.layer.number(0), DT_FP32), &single, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp32_tunable_rsqrt(kFrom, kSquares, &single, kNewtonSteps);
    const dim4 over_row{0, tpu_eu_num(DT_FP32), 0, 0};
    tpu_bdc_fp_mul(kSquares, kWide, kFrom, &shape, nullptr, nullptr, &over_row, DT_FP32);
    tpu_bdc_cast(kTo, kSquares, &shape, nullptr, nullptr, type, DT_FP32, RM_HALF_TO_EVEN);
    if (row == 0) {
      const dim4 all = rows_of(std::min(rows, tpu_npu_num()), width);
      tpu_bdc_npu_bcast(kWeight, kWeight, &all, type);
    }
    const dim4 weights{0, 0, 1, 0};
    tpu_bdc_fp_mul(kTo, kTo, kWeight, &shape, nullptr, nullptr, &weights, type);
    tpu_gdma_cpy_L2S(run.outputs[0].address + at, kTo, &shape, &packed, nullptr, type);
  }
}

// Weights of 4 bits become 16-bit numbers in local memory: (weight - zero point) * scale, each for a group of 64.
void packed_product(const LayerRun& run) {
  using Words = bmodel::PackedProductWords;
  constexpr local_addr_t kFrom = 0, kPacked = 0x4000, kTo = 0x8000, kBehind = 0x18000, kBank = 0x4000, kLine = 64;
  constexpr int kHasBias = 1;
  const Tensor& left = run.inputs[0];
  const data_type_t type = device_type(left.shape.type);
  const auto depth = static_cast<int>(left.shape.extents.back());
  const auto rows = static_cast<int>(elements_of(left.shape.extents) / depth);
  const auto columns = static_cast<int>(run.inputs[1].shape.extents[0]);
  const int group = run.layer.word(Words::kGroup);
  const int groups = depth / group;
  const int npus = tpu_npu_num();
  const int each = columns / npus;  // columns of the result in an NPU
  const bool bias = (run.layer.word(Words::kFlags) & kHasBias) != 0;
  const bool single = rows == 1;
  const auto lines = [](int bytes) { return (static_cast<local_addr_t>(bytes) + kLine - 1) / kLine * kLine; };
  const local_addr_t weights_end = kPacked + lines(each * depth / 2);
  // A single row stands as a column in front of the scales.
  const local_addr_t column = kBehind;
  const local_addr_t first = single ? kBehind + kBank : kBehind;
  const local_addr_t second = first + kBank;
  const dim4 scale_shape{1, npus, 1, each * groups};
  const LocalTensor scale{single ? column + static_cast<local_addr_t>(depth / npus) * kLine : weights_end, type,
                          scale_shape, false};
  const LocalTensor zero{scale.address + bytes_of(scale), DT_UINT8, scale_shape, false};
  const local_addr_t addend = single ? weights_end : zero.address + bytes_of(zero);

  const dim4 input{1, rows, 1, depth};
  const dim4 input_strides{rows * depth, depth, depth, 1};
  const dim4 held_input = strides_of({kFrom, type, input, false});
  tpu_gdma_cpy_S2L(kFrom, left.address, &input, &held_input, &input_strides, type);
  const dim4 packed{1, columns, 1, depth / 2};
  const dim4 packed_strides{columns * depth / 2, depth / 2, depth / 2, 1};
  const dim4 held{each * depth / 2, depth / 2, depth / 2, 1};
  tpu_gdma_cpy_S2L(kPacked, run.inputs[1].address, &packed, &held, &packed_strides, DT_UINT8);
  if (bias) {
    const dim4 line{1, npus, 1, columns};
    tpu_gdma_channel_bcast_S2L(addend, run.inputs[4].address, &line, nullptr, nullptr, type);
  }
  const dim4 scale_strides{npus * each * groups, each * groups, each * groups, 1};
  const LocalTensor* const constants[] = {&scale, &zero};
  for (std::size_t i = 0; i < std::size(constants); ++i) {
    const dim4 strides = strides_of(*constants[i]);
    tpu_gdma_cpy_S2L(constants[i]->address, run.inputs[2 + i].address, &scale_shape, &strides,
                     single ? nullptr : &scale_strides, constants[i]->type);
  }

  const dim4 halves{1, columns, depth / 2, 1};
  const dim4 every_other{each * depth, depth, 2, 1};
  const dim4 of_packed{each * depth / 2, depth / 2, 1, 1};
  constexpr char kHalfByte = 4;
  tpu_bdc_and_C(first, kPacked, whole(0xf), &halves, &every_other, &of_packed, DT_UINT8);
  tpu_bdc_arithmetic_shift_C(first + 1, kPacked, -kHalfByte, &halves, &every_other, &of_packed, DT_UINT8, DT_UINT8,
                             RM_DOWN);
  const dim4 by_groups{1, columns, groups, group};
  const dim4 over_group{each * groups, groups, 1, 0};
  tpu_bdc_int_sub(second, first, zero.address, &by_groups, nullptr, nullptr, &over_group, DT_INT8, DT_UINT8, DT_UINT8,
                  0, RM_HALF_AWAY_FROM_ZERO, true);
  const dim4 all{1, columns, depth, 1};
  tpu_bdc_cast(first, second, &all, nullptr, nullptr, type, DT_INT8, RM_HALF_TO_EVEN);
  tpu_bdc_fp_mul(second, scale.address, first, &by_groups, nullptr, &over_group, nullptr, type);
  if (single) {
    const dim4 as_column{1, depth, 1, 1};
    tpu_bdc_cw_trans(column, kFrom, &as_column, type);
    tpu_bdc_fp_mm(first, second, column, columns, depth, 1, type, type, false);
  } else {
    tpu_bdc_fp_mm_R_trans(first, second, kFrom, columns, depth, rows, type, type);
  }
  const dim4 result{1, rows, 1, columns};
  tpu_bdc_wc_trans(kTo, first, &result, type);
  if (bias) {
    const dim4 along{0, 0, columns, 1};
    tpu_bdc_fp_add(kTo, kTo, addend, &result, nullptr, nullptr, &along, type);
  }
  const dim4 result_strides{rows * columns, columns, columns, 1};
  const dim4 held_result = strides_of({kTo, type, result, false});
  tpu_gdma_cpy_L2S(run.outputs[0].address, kTo, &result, &result_strides, &held_result, type);
}

// The halves of each row change places, one negated; times the sines, and the row times the cosines.
void rotary_embedding(const LocalRun& run) {
  const LocalTensor& from = run.inputs[0];
  const LocalTensor& to = run.output;
  const dim4& shape = to.extents;
  const data_type_t type = to.type;
  const dim4 half{shape.n, shape.c, shape.h, shape.w / 2};
  const auto behind = static_cast<local_addr_t>(half.w * tpu_data_type_size(type));
  const dim4 strides = strides_of(to);
  tpu_bdc_fp_mul_C(to.address + behind, from.address, constant(1, type), &half, &strides, &strides, type);
  tpu_bdc_fp_mul_C(to.address, from.address + behind, constant(-1, type), &half, &strides, &strides, type);
  const local_addr_t other = run.work + bytes_of(to);
  const dim4 sines = spread(run.inputs[1], shape);
  const dim4 cosines = spread(run.inputs[2], shape);
  tpu_bdc_fp_mul(run.work, to.address, run.inputs[1].address, &shape, nullptr, nullptr, &sines, type);
  tpu_bdc_fp_mul(other, from.address, run.inputs[2].address, &shape, nullptr, nullptr, &cosines, type);
  tpu_bdc_fp_add(to.address, run.work, other, &shape, nullptr, nullptr, nullptr, type);
}

namespace {

// Attention with a running maximum and a running sum for each row, as if more keys could follow.
class Attention {
 public:
  explicit Attention(const LayerRun& run)
      : run_(run),
        heads_(run.layer.word(Words::kHeads)),
        key_heads_(run.layer.word(Words::kKeyHeads)),
        rows_(static_cast<int>(run.inputs[0].shape.extents[1])),
        keys_(static_cast<int>(run.inputs[1].shape.extents[1])),
        depth_(run.layer.word(Words::kDepth)),
        singles_{heads_, rows_, 1, 1},
        scores_{heads_, rows_, 1, keys_},
        result_{heads_, rows_, 1, depth_},
        score_strides_(strides_of({0, DT_FP32, scores_, false})) {}

  void run() const {
    load();
    score();
    find_largest();
    weigh();
    add_values();
    store();
  }

 private:
  using Words = bmodel::AttentionWords;
  // Places of the recorded blocks.
  static constexpr local_addr_t kPart = 0, kResult = 0x2000, kQueries = 0x3000, kScaledSum = 0x3800, kTable = 0x3c00,
                                kProduct = 0x4000, kLargest = 0x4800, kWeights = 0x8000, kScores = 0xa000,
                                kFactor = 0xc000, kMask = 0x10000, kKeys = 0x10400, kValues = 0x10600, kSum = 0x18000,
                                kLargestSoFar = 0x18400;
  static constexpr float kFar = -1e9F;  // a score that counts nothing
  static constexpr int kTerms = 10;
  static constexpr data_type_t kType = DT_BFP16;

  void load() const {
    constexpr static_addr_t kExponential = 0x400;
    tpu_bdc_npu_bcast_from_static(kTable, kExponential, tpu_npu_num(), kTerms, DT_FP32);
    load_heads(kQueries, run_.inputs[0], heads_, rows_);
    tpu_bdc_set_C(kLargestSoFar, constant(kFar, DT_FP32), &singles_, nullptr, DT_FP32);
    tpu_bdc_set_C(kSum, constant(0, DT_FP32), &singles_, nullptr, DT_FP32);
    tpu_bdc_set_C(kResult, constant(0, DT_FP32), &result_, nullptr, DT_FP32);
    load_heads(kKeys, run_.inputs[1], key_heads_, keys_);
    load_heads(kValues, run_.inputs[2], key_heads_, keys_);
    if (!masked()) return;
    // The last rows of the mask are those of the last keys.
    const int row = run_.layer.word(Words::kMaskRow);
    const dim4 shape{1, rows_, 1, keys_};
    const auto height = static_cast<int>(run_.inputs[3].shape.extents[0]);
    const dim4 strides{height * row, row, row, 1};
    const std::int64_t before = std::int64_t{keys_ - rows_} * row * tpu_data_type_size(DT_FP32);
    tpu_gdma_cpy_S2L(kMask, run_.inputs[3].address + static_cast<system_addr_t>(before), &shape, nullptr, &strides,
                     DT_FP32);
  }

  // A single row sees all keys.
  bool masked() const { return rows_ > 1; }

  void load_heads(local_addr_t to, const Tensor& from, int heads, int count) const {
    const dim4 shape{heads, count, 1, depth_};
    const dim4 strides{heads * depth_, depth_, depth_, 1};
    tpu_gdma_cpy_nc_trans_S2L(to, from.address, &shape, nullptr, &strides, kType);
  }

  // Where a head's matrix lies behind the first one's.
  static local_addr_t head_at(local_addr_t base, int head, int rows, int columns, data_type_t type) {
    return base + static_cast<local_addr_t>(head) * bytes_of({0, type, {1, rows, 1, columns}, false});
  }

  void score() const {
    for (int head = 0; head < heads_; ++head) {
      const int of_key = head / (heads_ / key_heads_);
      tpu_bdc_fp_mm_R_trans(head_at(kScores, head, rows_, keys_, DT_FP32),
                            head_at(kQueries, head, rows_, depth_, kType), head_at(kKeys, of_key, keys_, depth_, kType),
                            rows_, depth_, keys_, DT_FP32, kType);
    }
    const scalar_t scale = constant(run_.layer.number(Words::kScale), DT_FP32);
    tpu_bdc_fp_mul_C(kScores, kScores, scale, &scores_, nullptr, nullptr, DT_FP32);
    if (!masked()) return;
    const dim4 mask{0, score_strides_.c, keys_, 1};
    tpu_bdc_fp_add(kScores, kScores, kMask, &scores_, nullptr, nullptr, &mask, DT_FP32);
  }

  // What rows lack of whole vectors.
  void fill(local_addr_t at, float value) const {
    if (score_strides_.c == keys_) return;
    const dim4 tail{heads_, rows_, 1, score_strides_.c - keys_};
    const auto end = static_cast<local_addr_t>(keys_ * tpu_data_type_size(DT_FP32));
    tpu_bdc_set_C(at + end, constant(value, DT_FP32), &tail, &score_strides_, DT_FP32);
  }

  // Calls `pool` over the vectors of each row, then over the elements of what it made.
  template <class Pool>
  void by_vectors(local_addr_t to, local_addr_t from, Pool pool) const {
    const int vector = tpu_eu_num(DT_FP32);
    const int vectors = score_strides_.c / vector;
    pool(kPart, from, dim4{heads_, rows_, vectors, vector}, dim2{vectors, 1});
    pool(to, kPart, dim4{heads_, rows_, 1, vector}, dim2{1, vector});
  }

  void find_largest() const {
    constexpr padding_t kNoPads{0, 0, 0, 0};
    scalar_t lowest{};
    lowest.u32 = 0xff7fffff;
    fill(kScores, kFar);
    by_vectors(kFactor, kScores, [&](local_addr_t to, local_addr_t from, const dim4& shape, const dim2& kernel) {
      tpu_bdc_fp_max_pool2d(to, from, &shape, &kernel, &kNoPads, &kOne, &kOne, DT_FP32, lowest);
    });
    tpu_bdc_max(kLargest, kLargestSoFar, kFactor, &singles_, nullptr, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_sub(kPart, kLargestSoFar, kLargest, &singles_, nullptr, nullptr, nullptr, DT_FP32);
    tpu_bdc_cpy(kLargestSoFar, kLargest, &singles_, nullptr, nullptr, DT_FP32);
    constexpr local_addr_t kRest = 0x4400;
    exponential(kFactor, kScaledSum, kRest, singles_);
    const dim4 over_row = over_rows();
    tpu_bdc_fp_mul(kResult, kResult, kFactor, &result_, nullptr, nullptr, &over_row, DT_FP32);
    tpu_bdc_fp_mul(kScaledSum, kSum, kFactor, &singles_, nullptr, nullptr, nullptr, DT_FP32);
  }

  dim4 over_rows() const {
    const dim4 strides = strides_of({0, DT_FP32, singles_, false});
    return {strides.n, strides.c, 1, 0};
  }

  // exp of what stands at kPart: 2^k times a polynomial in the rest.
  void exponential(local_addr_t to, local_addr_t work, local_addr_t rest, const dim4& shape) const {
    constexpr local_addr_t kClipped = 0xc000, kWhole = 0x4000;
    constexpr int kBias = 127;
    constexpr char kMantissa = 23;
    const auto bits = [](std::uint32_t value) {
      scalar_t scalar{};
      scalar.u32 = value;
      return scalar;
    };
    const dim4* const all = &shape;
    tpu_bdc_max_C(kClipped, kPart, bits(0xfa831265), all, nullptr, nullptr, DT_FP32);
    tpu_bdc_cpy(kWhole, kClipped, all, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_mul_C(work, kWhole, bits(0x3fb8aa3b), all, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_floor(kWhole, work, all, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_mul_C(work, kWhole, bits(0x3f317218), all, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_sub(rest, kClipped, work, all, nullptr, nullptr, nullptr, DT_FP32);
    tpu_bdc_cast(work, kWhole, all, nullptr, nullptr, DT_INT16, DT_FP32, RM_HALF_TO_EVEN);
    tpu_bdc_min_C(kWhole, work, whole(kBias), all, nullptr, nullptr, DT_INT16);
    scalar_t least{};
    least.s16 = -kBias;
    tpu_bdc_max_C(work, kWhole, least, all, nullptr, nullptr, DT_INT16);
    tpu_bdc_int_add_C(kWhole, work, whole(kBias), all, nullptr, nullptr, DT_INT32, DT_INT16, DT_INT32, kMantissa,
                      RM_HALF_TO_EVEN, false);
    tpu_bdc_fp_taylor(kPart, rest, kTable, all, kTerms, DT_FP32);
    tpu_bdc_fp_mul(to, kPart, kWhole, all, nullptr, nullptr, nullptr, DT_FP32);
  }

  void weigh() const {
    constexpr padding_t kNoPads{0, 0, 0, 0};
    constexpr dim2 kNothingBetween{0, 0};
    constexpr local_addr_t kRest = 0x6000;
    const dim4 over_row = over_rows();
    tpu_bdc_fp_sub(kPart, kScores, kLargest, &scores_, nullptr, nullptr, &over_row, DT_FP32);
    exponential(kWeights, kPart, kRest, scores_);
    fill(kWeights, 0);
    by_vectors(kProduct, kWeights, [&](local_addr_t to, local_addr_t from, const dim4& shape, const dim2& kernel) {
      tpu_bdc_fp_ins_avg_pool2d(to, from, &shape, &kernel, &kNoPads, &kOne, &kOne, &kNothingBetween, DT_FP32,
                                constant(1, DT_FP32));
    });
    tpu_bdc_fp_add(kSum, kScaledSum, kProduct, &singles_, nullptr, nullptr, nullptr, DT_FP32);
    tpu_bdc_cast(kPart, kWeights, &scores_, nullptr, nullptr, kType, DT_FP32, RM_HALF_TO_EVEN);
  }

  void add_values() const {
    for (int head = 0; head < heads_; ++head) {
      const int of_key = head / (heads_ / key_heads_);
      tpu_bdc_fp_mm(head_at(kProduct, head, rows_, depth_, DT_FP32), head_at(kPart, head, rows_, keys_, kType),
                    head_at(kValues, of_key, keys_, depth_, kType), rows_, keys_, depth_, DT_FP32, kType, false);
    }
    tpu_bdc_fp_add(kResult, kResult, kProduct, &result_, nullptr, nullptr, nullptr, DT_FP32);
  }

  void store() const {
    const dim4 over_row = over_rows();
    tpu_bdc_fp_tunable_C_div(kSum, kSum, constant(1, DT_FP32), &singles_, nullptr, nullptr, DT_FP32, kNewtonSteps);
    tpu_bdc_fp_mul(kResult, kResult, kSum, &result_, nullptr, nullptr, &over_row, DT_FP32);
    tpu_bdc_cast(kProduct, kResult, &result_, nullptr, nullptr, kType, DT_FP32, RM_HALF_TO_EVEN);
    const dim4 shape{rows_, heads_, 1, depth_};
    const dim4 strides{heads_ * depth_, depth_, depth_, 1};
    tpu_gdma_cpy_nc_trans_L2S(run_.outputs[0].address, kProduct, &shape, &strides, nullptr, kType);
  }

  const LayerRun& run_;
  int heads_, key_heads_, rows_, keys_, depth_;
  dim4 singles_, scores_, result_, score_strides_;
};

// A head of attention with all its products: queries, keys and values of the same rows, and what they make. Places in
// its work memory are those of the recordings, a line of each NPU for a row.
class Head {
 public:
  explicit Head(const LocalRun& run)
      : run_(run),
        type_(run.inputs[0].type),
        rows_(run.output.extents.c),
        width_(run.inputs[0].extents.h),
        depth_(run.layer.word(Words::kDepth)),
        scores_{1, rows_, 1, rows_},
        singles_{1, rows_, 1, 1},
        projected_{1, rows_, 1, depth_} {}

  void run() const {
    const dim4 biases{1, tpu_npu_num(), 1, run_.inputs[2].extents.h};
    tpu_bdc_npu_bcast(run_.inputs[2].address, run_.inputs[2].address, &biases, run_.inputs[2].type);
    if (is_byte(type_)) return of_bytes();
    constexpr local_addr_t kScores = 2 * kLine, kCoefficients = 3 * kLine, kWeights = 4 * kLine, kPart = 5 * kLine,
                           kRest = 6 * kLine;
    const local_addr_t keys = at(0);
    const local_addr_t values = at(kLine);
    const local_addr_t queries = at(kPart);
    tpu_bdc_load_fp_exp_coeff(at(kCoefficients), type_);
    project(keys, kKeys);
    project(values, kValues);
    project(queries, kQueries);
    tpu_bdc_fp_mm_R_trans(at(kScores), queries, keys, rows_, depth_, rows_, type_, type_);
    tpu_bdc_fp_mul_C(at(kScores), at(kScores), constant(run_.layer.number(Words::kScale), type_), &scores_, nullptr,
                     nullptr, type_);
    fill(at(kScores), type_, lowest(type_));
    const dim4 row{1, rows_, 1, tpu_eu_num(type_)};
    const dim2 whole_row{1, row.w};
    tpu_bdc_fp_max_pool2d(at(kRest), at(kScores), &row, &whole_row, &kNoPads, &kOne, &kOne, type_, whole(0));
    const dim4 over_row = spread({0, type_, singles_, false}, scores_);
    tpu_bdc_fp_sub(at(kScores), at(kScores), at(kRest), &scores_, nullptr, nullptr, &over_row, type_);
    tpu_bdc_fp_exp(at(kWeights), at(kScores), at(kPart), at(kRest), at(kCoefficients), &scores_, type_);
    tpu_bdc_cast(at(kPart), at(kWeights), &scores_, nullptr, nullptr, DT_FP32, type_, RM_HALF_TO_EVEN);
    fill(at(kPart), DT_FP32, whole(0));
    sum(at(kScores), at(kPart), tpu_eu_num(DT_FP32));
    tpu_bdc_fp_C_div(at(kRest), at(kScores), constant(1, DT_FP32), &singles_, nullptr, nullptr, DT_FP32);
    tpu_bdc_cast(at(kScores), at(kRest), &singles_, nullptr, nullptr, type_, DT_FP32, RM_HALF_TO_EVEN);
    tpu_bdc_fp_mul(at(kWeights), at(kWeights), at(kScores), &scores_, nullptr, nullptr, &over_row, type_);
    tpu_bdc_fp_mm(at(kPart), at(kWeights), values, rows_, rows_, depth_, type_, type_, false);
    const LocalTensor& to = run_.output;
    tpu_bdc_fp_mm(to.address, at(kPart), run_.inputs[3].address, rows_, depth_, to.extents.h, type_, type_, false);
    if (has_bias_of_result()) add_bias(to.address, kResult, {1, rows_, 1, to.extents.h});
  }

 private:
  using Words = bmodel::HeadWords;
  static constexpr local_addr_t kLine = 64, kBank = 0x4000;
  static constexpr padding_t kNoPads{0, 0, 0, 0};
  // Weights and biases lie behind each other.
  static constexpr int kQueries = 0, kKeys = 1, kValues = 2, kResult = 3;
  // Numbers of what is requantised, behind these three.
  static constexpr int kOfScores = 3, kOfResult = 4;

  local_addr_t at(local_addr_t place) const { return run_.work + place; }
  bool has_bias_of_result() const { return (run_.layer.word(Words::kBiases) & Words::kBiasOfResult) != 0; }

  void add_bias(local_addr_t to, int which, const dim4& shape) const {
    const data_type_t type = run_.inputs[2].type;
    const local_addr_t bias =
        run_.inputs[2].address + static_cast<local_addr_t>(which * depth_ * tpu_data_type_size(type));
    const dim4 along{0, 0, 0, 1};
    if (type == DT_INT32) {
      tpu_bdc_int_add(to, to, bias, &shape, nullptr, nullptr, &along, DT_INT32, DT_INT32, DT_INT32, 0,
                      RM_HALF_AWAY_FROM_ZERO, true);
    } else {
      tpu_bdc_fp_add(to, to, bias, &shape, nullptr, nullptr, &along, type);
    }
  }

  local_addr_t weights(int which) const {
    const LocalTensor& all = run_.inputs[1];
    return all.address + static_cast<local_addr_t>(which * all.extents.w * tpu_data_type_size(type_));
  }

  void project(local_addr_t to, int which) const {
    tpu_bdc_fp_mm(to, run_.inputs[0].address, weights(which), rows_, width_, depth_, type_, type_, false);
    add_bias(to, which, projected_);
  }

  // What a row lacks of a whole vector.
  void fill(local_addr_t row, data_type_t type, scalar_t value) const {
    const int rest = tpu_eu_num(type) - rows_;
    if (rest == 0) return;
    const dim4 tail{1, rows_, 1, rest};
    dim4 strides = strides_of({0, type, {1, rows_, 1, tpu_eu_num(type)}, false});
    if (is_byte(type_)) strides.h = rest;
    tpu_bdc_set_C(row + static_cast<local_addr_t>(rows_ * tpu_data_type_size(type)), value, &tail, &strides, type);
  }

  void sum(local_addr_t to, local_addr_t from, int width) const {
    const dim4 row{1, rows_, 1, tpu_eu_num(DT_FP32)};
    const dim2 kernel{1, width};
    tpu_bdc_fp_avg_pool2d(to, from, &row, &kernel, &kNoPads, &kOne, &kOne, DT_FP32, constant(1, DT_FP32));
  }

  void requantise(local_addr_t to, local_addr_t from, int which, const dim4& shape) const {
    const std::size_t words = Words::kRequantisations + 3 * static_cast<std::size_t>(which);
    tpu_bdc_int_requant(to, from, &shape, run_.layer.word(words), static_cast<char>(-run_.layer.word(words + 1)),
                        whole(run_.layer.word(words + 2)), DT_INT8, DT_INT32, RM_HALF_AWAY_FROM_ZERO);
  }

  void of_bytes() const {
    constexpr local_addr_t kEnd = 4 * kLine;
    const local_addr_t scores = at(0);
    const local_addr_t keys = at(kLine);
    const local_addr_t values = at(2 * kLine);
    const local_addr_t queries = at(3 * kLine);
    const local_addr_t sums = (at(kEnd) + kBank - 1) / kBank * kBank;
    const local_addr_t total = sums + kLine;
    const local_addr_t table = run_.inputs[4].address;
    const dim4 entries{1, tpu_npu_num(), 1, kTableEntries};
    tpu_bdc_npu_bcast(table, table, &entries, DT_FP32);
    const auto project_bytes = [&](local_addr_t to, int which) {
      tpu_bdc_int8_zp_mm(sums, run_.inputs[0].address, weights(which), whole(0), rows_, width_, depth_, DT_INT8,
                         DT_INT8, false);
      add_bias(sums, which, projected_);
      requantise(to, sums, which, projected_);
    };
    project_bytes(keys, kKeys);
    project_bytes(values, kValues);
    project_bytes(queries, kQueries);
    tpu_bdc_int8_zp_mm_R_trans(sums, queries, keys, whole(0), rows_, depth_, rows_, DT_INT8, DT_INT8);
    requantise(scores, sums, kOfScores, scores_);
    // How far a score lies below the largest one that a byte holds: as an unsigned byte, the place in the table.
    tpu_bdc_int_C_sub(scores, scores, whole(127), &scores_, nullptr, nullptr, DT_INT8, DT_INT8, DT_INT8, 0,
                      RM_HALF_AWAY_FROM_ZERO, false);
    tpu_bdc_table_lookup(sums, scores, table, &scores_, kTableEntries, DT_FP32, DT_UINT8);
    fill(sums, DT_FP32, whole(0));
    sum(queries, sums, 1);
    sum(total, queries, tpu_eu_num(DT_FP32));
    tpu_bdc_fp32_C_div(total, total, 1.0F / run_.layer.number(Words::kScale), &singles_, nullptr, nullptr);
    const dim4 over_row = spread({0, DT_FP32, singles_, false}, scores_);
    tpu_bdc_fp_mul(sums, sums, total, &scores_, nullptr, nullptr, &over_row, DT_FP32);
    tpu_bdc_cast(scores, sums, &scores_, nullptr, nullptr, DT_UINT8, DT_FP32, RM_HALF_AWAY_FROM_ZERO);
    tpu_bdc_int8_zp_mm(sums, scores, values, whole(0), rows_, rows_, depth_, DT_UINT8, DT_INT8, false);
    requantise(queries, sums, kOfResult, projected_);
    const LocalTensor& to = run_.output;
    tpu_bdc_int8_zp_mm(to.address, queries, run_.inputs[3].address, whole(0), rows_, depth_, to.extents.h, DT_INT8,
                       DT_INT8, false);
    if (has_bias_of_result()) add_bias(to.address, kResult, {1, rows_, 1, to.extents.h});
  }

  const LocalRun& run_;
  data_type_t type_;
  int rows_, width_, depth_;
  dim4 scores_, singles_, projected_;
};

}  // namespace

void attention_over_heads(const LayerRun& run) { Attention(run).run(); }
void attention_of_head(const LocalRun& run) { Head(run).run(); }

}  // namespace softtpu::dynamic
