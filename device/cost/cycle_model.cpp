#include "device/cost/cycle_model.hpp"

#include <algorithm>

#include "runtime/layout/formulas.hpp"

namespace softtpu {
namespace {

double whole(double cycles) { return static_cast<double>(static_cast<std::int64_t>(cycles)); }
double whole(std::int64_t cycles) { return static_cast<double>(cycles); }

}  // namespace

Result<CycleModel> CycleModel::make(const Chip& chip, TimingPreset preset) {
  CycleModel model(chip);
  TimingParameters timing(chip, preset);
  // GB/s over a clock of as many GHz.
  const double ghz = timing.get("gdma_mhz") / 1000;
  const auto size = [&](const char* name) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(timing.get(name)));
  };
  model.read_ = timing.get("read_gbps") / ghz;
  model.write_ = timing.get("write_gbps") / ghz;
  model.copy_ = timing.get("copy_gbps") / ghz;
  model.fill_ = timing.get("fill_gbps") / ghz;
  model.stream_ = timing.get("stream_bytes_per_cycle");
  model.tensor_copy_factor_ = timing.get("tensor_copy_factor");
  model.transposed_share_ = timing.get("matrix_transposed_share");
  model.least_piece_ = size("piece_bytes");
  model.compare_passes_ = timing.get("compare_passes");
  model.divide_passes_ = timing.get("divide_passes");
  model.newton_passes_ = timing.get("newton_passes");
  model.root_passes_ = timing.get("root_passes");
  model.bank_factor_ = timing.get("one_bank_factor");
  model.pair_passes_ = timing.get("gather_pair_passes");
  model.mask_pair_passes_ = timing.get("mask_pair_passes");
  model.line_passes_ = timing.get("gather_line_passes");
  model.one_stride_ = timing.get("window_one_stride_factor");
  model.two_strides_ = timing.get("window_two_strides_factor");
  model.matmul_row_ = timing.overhead("mm_row_cycles");
  model.quantise_elements_ = size("quantise_per_cycle");
  model.static_elements_ = size("static_per_cycle");
  model.conv_outputs_ = size("conv_outputs_per_cycle");
  model.conv_inner_bytes_ = size("conv_inner_bytes");
  if (auto complete = timing.complete(); !complete) return complete.error();
  return model;
}

std::int64_t CycleModel::tiles(const Dim4& shape, int lane, std::int64_t elements) const {
  return shape.n * ceil_div(shape.c + lane, chip_.npu_num) * ceil_div(std::int64_t{shape.h} * shape.w, elements);
}

double CycleModel::compare(const Dim4& shape, int lane, Dtype type) const {
  return whole(tiles(shape, lane, eu_elements(type))) * compare_passes_;
}

double CycleModel::divide(const Dim4& shape, int lane, Dtype type, int iterations) const {
  return whole(tiles(shape, lane, eu_elements(type))) * (divide_passes_ + newton_passes_ * iterations);
}

double CycleModel::root(const Dim4& shape, int lane, Dtype type) const {
  return whole(tiles(shape, lane, eu_elements(type))) * root_passes_;
}

double CycleModel::arithmetic(const Dim4& shape, int lane, Dtype widest, std::int64_t w_stride, bool one_bank) const {
  const std::int64_t elements = eu_elements(widest);
  const std::int64_t steps = std::clamp<std::int64_t>(w_stride, 1, elements);
  return whole(tiles(shape, lane, elements) * steps) * (one_bank ? bank_factor_ : 1);
}

double CycleModel::lane_copy(const Dim4& shape, int lane, Dtype type, bool one_bank) const {
  return whole(tiles(shape, lane, eu_elements(type))) * (one_bank ? bank_factor_ : 1);
}

double CycleModel::quantise(const Dim4& shape, int lane, bool one_bank) const {
  return whole(tiles(shape, lane, quantise_elements_)) * (one_bank ? bank_factor_ : 1);
}

double CycleModel::transpose_to_w(const Dim4& source, Dtype type) const {
  return whole(std::int64_t{source.n} * source.h * ceil_div(source.w, eu_elements(type)));
}

double CycleModel::transpose_to_c(const Dim4& source, Dtype type) const {
  return whole(std::int64_t{source.n} * source.h * ceil_div(source.c, eu_elements(type)));
}

double CycleModel::static_broadcast(std::int64_t elements) const { return whole(ceil_div(elements, static_elements_)); }

double CycleModel::taylor(const Dim4& shape, int lane, Dtype type, int terms) const {
  return whole(tiles(shape, lane, eu_elements(type)) * terms);
}

double CycleModel::gather(int n, int c, int indices, Gather kind) const {
  const double each = whole(n * ceil_div(c, chip_.npu_num) * indices);
  switch (kind) {
    case Gather::kIndex: return each;
    case Gather::kPair: return std::max(1.0, whole(each * pair_passes_));
    case Gather::kFourBanks: return std::max(1.0, whole(each / 4));
    case Gather::kMaskPair: return whole(each * mask_pair_passes_);
  }
  return each;
}

double CycleModel::gather_lines(const Dim4& shape, Dtype type) const {
  const std::int64_t line = std::max<std::int64_t>(shape.w, shape.h * ceil_div(shape.w, eu_elements(type)));
  return whole(shape.n * ceil_div(shape.c, chip_.npu_num) * line) * line_passes_;
}

double CycleModel::window(const Dim4& output, Dim2 kernel, Dim2 stride, int lane, Dtype type) const {
  const std::int64_t elements = eu_elements(type);
  const std::int64_t area =
      kernel.h == 1 ? output.h * ceil_div(output.w, elements) : ceil_div(std::int64_t{output.h} * output.w, elements);
  const std::int64_t taps = output.n * ceil_div(output.c + lane, chip_.npu_num) * area * kernel.h * kernel.w;
  const int strides = (stride.h > 1 ? 1 : 0) + (stride.w > 1 ? 1 : 0);
  const double factor = strides == 0 ? 1 : strides == 1 ? one_stride_ : two_strides_;
  // The factors are tenths: a small share over keeps products like 10 * 3.6 from being cut to 35.
  return whole(whole(taps) * factor + 1e-6);
}

double CycleModel::convolution(const Dim4& output, int input_channels, Dim2 kernel, int lane, Dtype type) const {
  const bool narrow = size_of(type) < 4;
  const std::int64_t outputs = narrow ? conv_outputs_ : eu_elements(type);
  const std::int64_t inner = narrow ? conv_inner_bytes_ / size_of(type) : 1;
  return whole(tiles(output, lane, outputs) * kernel.h * kernel.w * ceil_div(input_channels, inner));
}

double CycleModel::matmul_rows(int rows, int inner, int channels, int cols_per_channel, int lane, Dtype type) const {
  const std::int64_t steps =
      rows * ceil_div(channels + lane, chip_.npu_num) * ceil_div(cols_per_channel, eu_elements(type));
  return whole(steps) * (inner + matmul_row_);
}

double CycleModel::matmul_tiles(int rows, int inner, int cols, Dtype type) const {
  const std::int64_t depth = std::max<std::int64_t>(1, size_of(type) < 4 ? conv_inner_bytes_ / size_of(type) : 1);
  return whole(ceil_div(rows, chip_.npu_num) * ceil_div(cols, conv_outputs_) * ceil_div(inner, depth));
}

double CycleModel::least_bytes(const DmaPieces& run) const {
  return whole(run.pieces * std::max(run.piece_bytes, least_piece_));
}

double CycleModel::bytes_per_cycle(DmaPath path) const {
  switch (path) {
    case DmaPath::kLoad: return read_;
    case DmaPath::kStore: return write_;
    case DmaPath::kSystem:
    case DmaPath::kLocal: return copy_;
  }
  return copy_;
}

// In single precision, as the estimates are: from 2^24 cycles on the difference is a few cycles.
double CycleModel::tensor_copy(DmaPath path, const DmaPieces& run) const {
  const auto bytes = static_cast<float>(least_bytes(run));
  const float at_full_speed = bytes / static_cast<float>(bytes_per_cycle(path));
  return whole(static_cast<double>(at_full_speed * static_cast<float>(tensor_copy_factor_)));
}

double CycleModel::fill(const DmaPieces& run) const { return whole(least_bytes(run) / fill_); }

double CycleModel::stream(DmaPath path, std::int64_t bytes) const {
  return whole(whole(bytes) / (path == DmaPath::kLocal ? stream_ / 2 : stream_));
}

double CycleModel::vendor_matrix_copy(DmaPath path, int rows, int cols, int cols_per_channel, Dtype type,
                                      bool transposed) const {
  const double elements = whole(std::int64_t{rows} * cols);
  const double pieces = elements / whole(std::int64_t{cols_per_channel} * size_of(type)) * whole(least_piece_);
  const double bytes = std::max(elements * size_of(type), pieces);
  return whole(bytes / (bytes_per_cycle(path) * (transposed ? transposed_share_ : 1)));
}

double CycleModel::matrix_copy(DmaPath path, const DmaPieces& run, bool transposed) const {
  return whole(least_bytes(run) / (bytes_per_cycle(path) * (transposed ? transposed_share_ : 1)));
}

}  // namespace softtpu
