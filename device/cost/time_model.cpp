#include "device/cost/time_model.hpp"

#include <algorithm>
#include <numeric>

#include "device/cost/contiguous.hpp"
#include "device/cost/timing_parameters.hpp"
#include "runtime/layout/formulas.hpp"

namespace softtpu {
namespace {

enum class Unit : std::uint8_t { kMicroseconds, kNanoseconds, kCycles, kGigabytesPerSecond, kOne };

struct Price {
  Feature feature;
  const char* parameter;  // nullptr: one cycle
  Unit unit;
  bool optional = false;  // without the parameter it costs nothing
};

// What each feature costs on its engine.
constexpr Price kEnginePrices[] = {
    {Feature::kGdmaCommands, "gdma_start_us", Unit::kMicroseconds},
    {Feature::kReadBytes, "read_gbps", Unit::kGigabytesPerSecond},
    {Feature::kWriteBytes, "write_gbps", Unit::kGigabytesPerSecond},
    {Feature::kSmallPieces, "small_piece_ns", Unit::kNanoseconds},
    {Feature::kLocalBytes, "local_gbps", Unit::kGigabytesPerSecond},
    {Feature::kRuns, "run_ns", Unit::kNanoseconds, true},
    {Feature::kBdcCommands, "bdc_start_us", Unit::kMicroseconds},
    {Feature::kConvMac, nullptr, Unit::kCycles},
    {Feature::kConvTap, "conv_per_tap", Unit::kCycles},
    {Feature::kConvTile, "conv_per_tile", Unit::kCycles},
    {Feature::kConvExtraStride, "conv_per_tap_per_extra_stride", Unit::kCycles},
    {Feature::kDepthwiseTap, "dw_per_tap", Unit::kCycles},
    {Feature::kDepthwiseTile, "dw_per_tile", Unit::kCycles},
    {Feature::kDepthwiseStrided, "dw_per_tap_strided", Unit::kCycles},
    {Feature::kMatmulMac, "mm_per_mac", Unit::kCycles},
    {Feature::kMatmulRow, "mm_per_row", Unit::kCycles},
    {Feature::kMatmulSegment, "mm_per_left_segment", Unit::kCycles},
    {Feature::kElementTile, "eltwise_per_tile", Unit::kCycles},
    {Feature::kDivideTile, "div_per_tile", Unit::kCycles},
    {Feature::kExpTerm, "exp_per_tile_term", Unit::kCycles},
};

// What each command costs the control processor.
constexpr Price kIssuePrices[] = {
    {Feature::kConvCommands, "issue_conv_us", Unit::kMicroseconds},
    {Feature::kMatmulCommands, "issue_matmul_us", Unit::kMicroseconds},
    {Feature::kOtherCommands, "issue_other_us", Unit::kMicroseconds},
    {Feature::kGdmaCommands, "issue_gdma_us", Unit::kMicroseconds},
};

double price_of(const Price& price, TimingParameters& parameters, double mhz) {
  const bool rate = price.unit == Unit::kGigabytesPerSecond;
  const double value = price.parameter == nullptr ? 1
                       : rate                     ? parameters.get(price.parameter)
                       : price.optional           ? parameters.overhead_or_nothing(price.parameter)
                                                  : parameters.overhead(price.parameter);
  if (price.unit == Unit::kCycles) return value / mhz;
  if (price.unit == Unit::kNanoseconds) return value * 1e-3;
  if (price.unit == Unit::kGigabytesPerSecond) return 1e-3 / value;
  return value;
}

// Whether the elements of a tensor fill its part of memory without gaps, in whatever order.
bool fills_memory(const Dim4& shape, const Stride4& stride) {
  std::array<std::pair<std::int64_t, std::int64_t>, 4> steps = {
      {{stride.n, shape.n}, {stride.c, shape.c}, {stride.h, shape.h}, {stride.w, shape.w}}};
  std::sort(steps.begin(), steps.end());
  std::int64_t next = 1;
  for (const auto& [step, count] : steps) {
    if (count <= 1) continue;
    if (step != next) return false;
    next *= count;
  }
  return true;
}

int output_extent(int input, int pad, int kernel, int dilation, int stride) {
  return (input + pad - ((kernel - 1) * dilation + 1)) / stride + 1;
}

Dim4 output_shape(const Dim4& input, const TimeModel::Window& window) {
  return {input.n, input.c,
          output_extent(input.h, window.pad.top + window.pad.bottom, window.kh, window.dilation.h, window.stride.h),
          output_extent(input.w, window.pad.left + window.pad.right, window.kw, window.dilation.w, window.stride.w)};
}

}  // namespace

Features& Features::operator+=(const Features& more) {
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += more.values_[i];
  return *this;
}

bool Features::empty() const {
  return std::all_of(values_.begin(), values_.end(), [](double value) { return value == 0; });
}

Result<TimeModel> TimeModel::make(const Chip& chip) {
  TimeModel model(chip);
  TimingParameters parameters(chip, TimingPreset::kFull);
  const double mhz = model.mhz_ = parameters.get("bdc_mhz");
  for (const Price& price : kEnginePrices)
    model.engine_price_[static_cast<std::size_t>(price.feature)] = price_of(price, parameters, mhz);
  for (const Price& price : kIssuePrices)
    model.issue_price_[static_cast<std::size_t>(price.feature)] = price_of(price, parameters, mhz);
  model.launch_us_ = parameters.overhead("launch_us");
  model.section_us_ = parameters.overhead("section_us");
  const auto whole = [&](const char* name) { return std::max(1, static_cast<int>(parameters.get(name))); };
  model.outputs_ = whole("outputs_per_cycle");
  model.read_line_ = whole("read_line_bytes");
  model.write_line_ = whole("write_line_bytes");
  model.joins_runs_ = parameters.overhead_or_nothing("run_ns") > 0;
  model.small_piece_ = static_cast<int>(parameters.overhead("small_piece_bytes"));
  if (auto complete = parameters.complete(); !complete) return complete.error();
  return model;
}

double TimeModel::tiles(const Dim4& shape, int channels, int lane, double per_tile) const {
  const std::int64_t groups = ceil_div(std::int64_t{channels} + lane, chip_.npu_num);
  return static_cast<double>(shape.n * groups *
                             ceil_div(std::int64_t{shape.h} * shape.w, static_cast<std::int64_t>(per_tile)));
}

Features TimeModel::convolution(const Dim4& input, int oc, const Window& window, int lane) const {
  const double tile = tiles(output_shape(input, window), oc, lane, outputs_);
  const double taps = tile * window.kh * window.kw;
  Features features;
  features[Feature::kBdcCommands] = features[Feature::kConvCommands] = 1;
  features[Feature::kConvMac] = taps * input.c;
  features[Feature::kConvTap] = taps;
  features[Feature::kConvTile] = tile;
  features[Feature::kConvExtraStride] = taps * (window.stride.w - 1);
  return features;
}

Features TimeModel::depthwise(const Dim4& input, const Window& window, int lane) const {
  const double tile = tiles(output_shape(input, window), input.c, lane, outputs_);
  Features features;
  features[Feature::kBdcCommands] = features[Feature::kOtherCommands] = 1;
  features[Feature::kDepthwiseTap] = tile * window.kh * window.kw;
  features[Feature::kDepthwiseTile] = tile;
  if (window.stride.w > 1) features[Feature::kDepthwiseStrided] = tile * window.kh * window.kw;
  return features;
}

Features TimeModel::matmul(int rows, int inner, int cols, int left_per_channel, int right_per_channel, int lane) const {
  const std::int64_t channels = ceil_div(cols, right_per_channel);
  const double tile = static_cast<double>(rows * ceil_div(channels + lane, chip_.npu_num) *
                                          ceil_div(std::min(right_per_channel, cols), outputs_));
  Features features;
  features[Feature::kBdcCommands] = features[Feature::kMatmulCommands] = 1;
  features[Feature::kMatmulMac] = tile * inner;
  features[Feature::kMatmulRow] = tile;
  features[Feature::kMatmulSegment] = tile * static_cast<double>(ceil_div(inner, left_per_channel));
  return features;
}

Features TimeModel::element_wise(const Dim4& shape, int lane) const {
  Features features;
  features[Feature::kBdcCommands] = features[Feature::kOtherCommands] = 1;
  features[Feature::kElementTile] = tiles(shape, shape.c, lane, outputs_);
  return features;
}

Features TimeModel::divide(const Dim4& shape, int lane) const {
  Features features;
  features[Feature::kBdcCommands] = features[Feature::kOtherCommands] = 1;
  features[Feature::kDivideTile] = tiles(shape, shape.c, lane, outputs_);
  return features;
}

Features TimeModel::exponential(const Dim4& shape, int lane, int terms, int commands) const {
  Features features;
  features[Feature::kBdcCommands] = features[Feature::kOtherCommands] = commands;
  features[Feature::kExpTerm] = tiles(shape, shape.c, lane, outputs_) * terms;
  return features;
}

// Mean bytes of whole lines that a piece touches whose start is any multiple of the granule.
double TimeModel::lines(std::int64_t bytes, std::uint64_t granule, bool load) const {
  const std::int64_t line = load ? read_line_ : write_line_;
  const std::int64_t step = std::max<std::int64_t>(1, std::min(static_cast<std::int64_t>(granule), line));
  std::int64_t touched = 0;
  std::int64_t starts = 0;
  for (std::int64_t start = 0; start < line; start += step, ++starts) touched += (start + bytes - 1) / line + 1;
  return static_cast<double>(touched * line) / static_cast<double>(starts);
}

Features TimeModel::transfer(bool load, const Dim4& shape, const SystemSide& system,
                             const std::optional<Stride4>& local_stride, int element_bytes) const {
  const auto element = static_cast<std::uint64_t>(element_bytes);
  constexpr std::uint64_t kLargestLine = 128;
  const Stride4 local = local_stride.value_or(continuous_stride(shape));
  const std::int64_t piece = contiguous_elements(shape, system.stride, local) * element_bytes;
  std::uint64_t granule = std::gcd(system.addr, kLargestLine);
  const auto follow = [&](bool used, std::int64_t stride) {
    if (used) granule = std::gcd(granule, static_cast<std::uint64_t>(stride) * element);
  };
  const std::int64_t plane = std::int64_t{shape.h} * shape.w * element_bytes;
  follow(shape.n > 1, system.stride.n);
  follow(shape.c > 1, system.stride.c);
  follow(piece < plane && shape.h > 1, system.stride.h);
  follow(piece == element_bytes && shape.w > 1, system.stride.w);
  const std::int64_t pieces = shape.elements() * element_bytes / piece;
  Features features;
  features[Feature::kGdmaCommands] = 1;
  const Feature moved = load ? Feature::kReadBytes : Feature::kWriteBytes;
  if (joins_runs_ && fills_memory(shape, system.stride)) {
    features[moved] = lines(shape.elements() * element_bytes, kLargestLine, load);
    features[Feature::kRuns] = static_cast<double>(pieces);
    return features;
  }
  features[moved] = static_cast<double>(pieces) * lines(piece, granule == 0 ? kLargestLine : granule, load);
  if (load && piece <= small_piece_) features[Feature::kSmallPieces] = static_cast<double>(pieces);
  return features;
}

Features TimeModel::matrix_transfer(bool load, std::uint64_t system_addr, int rows, int cols, int per_channel,
                                    int row_stride, int element_bytes) const {
  const auto size = static_cast<std::uint64_t>(element_bytes);
  constexpr std::uint64_t kLargestLine = 128;
  const Feature moved = load ? Feature::kReadBytes : Feature::kWriteBytes;
  const std::int64_t piece = std::min(per_channel, cols);
  std::uint64_t granule = std::gcd(system_addr, kLargestLine);
  if (rows > 1) granule = std::gcd(granule, static_cast<std::uint64_t>(row_stride) * size);
  Features features;
  features[Feature::kGdmaCommands] = 1;
  if (joins_runs_) {  // what channels hold of a row follows each other in system memory
    const bool whole = rows == 1 || row_stride == cols;
    const std::int64_t run = (whole ? std::int64_t{rows} * cols : cols) * element_bytes;
    features[moved] = (whole ? 1 : rows) * lines(run, granule, load);
    features[Feature::kRuns] = static_cast<double>(rows * ceil_div(std::int64_t{cols}, piece));
    return features;
  }
  granule = std::gcd(granule, static_cast<std::uint64_t>(piece) * size);
  double bytes = static_cast<double>(rows * (cols / piece)) * lines(piece * element_bytes, granule, load);
  if (cols % piece != 0) bytes += rows * lines(cols % piece * element_bytes, granule, load);
  features[moved] = bytes;
  return features;
}

Features TimeModel::local_move(std::int64_t bytes) const {
  Features features;
  features[Feature::kGdmaCommands] = 1;
  features[Feature::kLocalBytes] = static_cast<double>(bytes);
  return features;
}

Features TimeModel::system_move(std::int64_t bytes) const {
  Features features;
  features[Feature::kGdmaCommands] = 1;
  features[Feature::kReadBytes] = features[Feature::kWriteBytes] = static_cast<double>(bytes);
  return features;
}

Features TimeModel::system_copy(const Dim4& from_shape, const SystemSide& from, const Dim4& to_shape,
                                const SystemSide& to, int element_bytes) const {
  Features features = transfer(true, from_shape, from, std::nullopt, element_bytes);
  features += transfer(false, to_shape, to, std::nullopt, element_bytes);
  features[Feature::kGdmaCommands] = 1;
  return features;
}

Features TimeModel::system_fill(std::int64_t bytes) const {
  Features features;
  features[Feature::kGdmaCommands] = 1;
  features[Feature::kWriteBytes] = static_cast<double>(bytes);
  return features;
}

double TimeModel::start_us(const Features& features) const {
  const auto part = [&](Feature feature) {
    return features[feature] * engine_price_[static_cast<std::size_t>(feature)];
  };
  return part(Feature::kGdmaCommands) + part(Feature::kBdcCommands);
}

double TimeModel::bdc_us(const Features& features) const {
  double sum = 0;
  for (std::size_t i = 0; i < engine_price_.size(); ++i) {
    if (!is_gdma(static_cast<Feature>(i))) sum += features[static_cast<Feature>(i)] * engine_price_[i];
  }
  return sum;
}

double TimeModel::gdma_us(const Features& features) const {
  double sum = 0;
  for (std::size_t i = 0; i < engine_price_.size(); ++i) {
    if (is_gdma(static_cast<Feature>(i))) sum += features[static_cast<Feature>(i)] * engine_price_[i];
  }
  return sum;
}

std::vector<TimeModel::Amount> TimeModel::amounts(const Features& features) const {
  std::vector<Amount> list;
  for (const Price& price : kEnginePrices) {
    double amount = features[price.feature];
    if (amount == 0) continue;
    if (price.unit == Unit::kCycles) amount /= mhz_;
    if (price.unit == Unit::kNanoseconds || price.unit == Unit::kGigabytesPerSecond) amount *= 1e-3;
    list.push_back({price.parameter == nullptr ? "mac_cycles" : price.parameter, amount});
  }
  return list;
}

double TimeModel::issue_us(const Features& features) const {
  double sum = 0;
  for (std::size_t i = 0; i < issue_price_.size(); ++i) sum += features[static_cast<Feature>(i)] * issue_price_[i];
  return sum;
}

}  // namespace softtpu
