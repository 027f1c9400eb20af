#include <algorithm>
#include <cstdint>

#include "firmware/dynamic/layers.hpp"

namespace softtpu::dynamic {

namespace {

// Rows are gathered and combined, then columns. Each element has its own sum, so that the order of them is free.
class Resizing {
 public:
  explicit Resizing(const LayerRun& run)
      : run_(run),
        type_(device_type(run.inputs[0].shape.type)),
        all_(to_dim4(run.inputs[0].shape.extents)),
        channels_(std::min(all_.c, tpu_npu_num())),
        rows_(run.layer.address(kBuffer) + run.context_moved) {}

  void run() const {
    write_rows();
    write_columns();
    for (int n = 0; n < all_.n; ++n) {
      for (int c = 0; c < all_.c; c += channels_) {
        const std::int64_t plane = std::int64_t{n} * all_.c + c;
        resize_planes(plane * all_.h * all_.w * tpu_data_type_size(type_), std::min(channels_, all_.c - c));
      }
    }
  }

 private:
  static constexpr std::size_t kBuffer = 14;
  static constexpr local_addr_t kGathered = 0, kResult = 0x10000, kDifferences = 0x20000, kColumns = 0x30000;

  static local_addr_t bytes(int elements, data_type_t type) {
    return static_cast<local_addr_t>(elements * tpu_data_type_size(type));
  }

  // Which of `count` elements the result takes: the first, each with the next one twice, the last.
  static void write_indices(local_addr_t to, int count, data_type_t type) {
    // As recorded; of more elements the pairs would take the sequence's place, which lies behind them then.
    constexpr local_addr_t kLine = 64;
    constexpr int kMostRecorded = 9;
    const local_addr_t before = bytes(count <= kMostRecorded ? count : 2 * count, type);
    const local_addr_t sequence = to + (before + kLine - 1) / kLine * kLine;
    tpu_bdc_generate_arithmetic_sequence(sequence, count - 1, type);
    const dim4 pairs{1, 1, count - 1, 2};
    const dim4 strides{2, 2, 2, 1};
    const dim4 twice{1, 1, 1, 0};
    const dim4 single{1, 1, 1, 1};
    tpu_bdc_cpy(to + bytes(1, type), sequence, &pairs, &strides, &twice, type);
    tpu_bdc_set_C(to, whole(0), &single, &single, type);
    tpu_bdc_set_C(to + bytes(2 * count - 1, type), whole(count - 1), &single, &single, type);
  }

  // The numbers of rows, for each plane, in device memory.
  void write_rows() const {
    write_indices(kGathered, all_.h, DT_UINT32);
    const dim4 planes{1, channels_, 2 * all_.h, 1};
    tpu_bdc_npu_bcast(kGathered, kGathered, &planes, DT_UINT32);
    tpu_gdma_cpy_L2S(rows_, kGathered, &planes, nullptr, nullptr, DT_UINT32);
  }

  // The places of the result's elements in gathered rows: those of a row are those of the row before, and a row more.
  // They are spread over the NPUs one by one.
  void write_columns() const {
    write_indices(kColumns, all_.w, DT_UINT16);
    const dim4 row{1, 1, 1, 2 * all_.w};
    const dim4 packed = packed_strides(row);
    for (int h = 1; h < 2 * all_.h; ++h) {
      const local_addr_t before = kColumns + bytes((h - 1) * row.w, DT_UINT16);
      tpu_bdc_int_add_C(before + bytes(row.w, DT_UINT16), before, whole(all_.w), &row, &packed, &packed, DT_UINT16,
                        DT_UINT16, DT_UINT16, 0, RM_HALF_AWAY_FROM_ZERO, false);
    }
    const LocalTensor places{kColumns, DT_UINT16, {1, 2 * all_.h * row.w, 1, 1}, true};
    const dim4 strides = strides_of(places);
    tpu_bdc_wc_trans(kGathered, kColumns, &places.extents, DT_UINT16);
    tpu_bdc_cpy(kColumns, kGathered, &places.extents, &strides, nullptr, DT_UINT16);
  }

  void resize_planes(std::int64_t begin, int channels) const {
    const dim4 high{1, channels, 2 * all_.h, all_.w};
    const dim4 result{1, channels, 2 * all_.h, 2 * all_.w};
    const dim4 flat{1, channels, 1, result.h * result.w};
    tpu_gdma_h_gather_S2L(kGathered, run_.inputs[0].address + static_cast<system_addr_t>(begin), rows_, false, whole(0),
                          &high, all_.h, nullptr, nullptr, nullptr, type_);
    interpolate(kGathered, high, true);
    tpu_bdc_w_gather(kResult, kGathered, kColumns, &flat, high.h * high.w, type_, DT_UINT16);
    interpolate(kResult, result, false);
    tpu_gdma_cpy_L2S(run_.outputs[0].address + 4 * static_cast<system_addr_t>(begin), kResult, &result, nullptr,
                     nullptr, type_);
  }

  // Every element but the first and the last is one of two between a pair of the input: a quarter and three quarters of
  // the way to the next pair.
  void interpolate(local_addr_t at, const dim4& extents, bool along_h) const {
    const auto some = [&](int count) {
      dim4 shape = extents;
      (along_h ? shape.h : shape.w) = count;
      return shape;
    };
    const int count = (along_h ? extents.h : extents.w) - 2;
    const dim4 between = some(count);
    const dim4 strides = strides_of({at, type_, extents, false});
    const dim4 differences = strides_of({kDifferences, type_, between, false});
    const local_addr_t step = bytes(along_h ? strides.h : strides.w, type_);
    const local_addr_t difference = bytes(along_h ? differences.h : differences.w, type_);
    // To the second next: from a pair's first element to that of the next pair, and from its second to the next second.
    const dim4 inner = some(count - 1);
    tpu_bdc_fp_sub(kDifferences, at + 3 * step, at + step, &inner, &differences, &strides, &strides, type_);
    const dim4 last = some(1);
    const local_addr_t end = kDifferences + static_cast<local_addr_t>(count - 1) * difference;
    tpu_bdc_cpy(end, end - difference, &last, &differences, &differences, type_);
    const dim4 half = some(count / 2);
    dim4 every_second = differences;
    (along_h ? every_second.h : every_second.w) *= 2;
    constexpr float kWays[] = {0.25F, 0.75F};
    local_addr_t part = kDifferences;
    for (const float way : kWays) {
      tpu_bdc_fp_mul_C(part, part, constant(way, type_), &half, &every_second, &every_second, type_);
      part += difference;
    }
    tpu_bdc_fp_add(at + step, at + step, kDifferences, &between, &strides, &strides, &differences, type_);
  }

  const LayerRun& run_;
  data_type_t type_;
  dim4 all_;
  int channels_;        // in a piece
  system_addr_t rows_;  // where their numbers are
};

}  // namespace

// Twice as high and twice as wide.
void resize(const LayerRun& run) { Resizing(run).run(); }

}  // namespace softtpu::dynamic
