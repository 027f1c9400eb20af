// How long BM1684's commands would take on the chip: linear costs of counted features.
//
// A command is reduced to features (tiles, taps, lines moved ...); each feature has a price, a parameter of the chip's
// description.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/chip/chip.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

enum class Feature : std::uint8_t {
  kGdmaCommands,
  kReadBytes,    // from system memory, whole lines
  kWriteBytes,   // to system memory, whole lines
  kSmallPieces,  // runs of a load that are shorter than half a bus beat
  kLocalBytes,   // inside local memory
  kRuns,         // that follow each other in system memory, though not in local memory
  kBdcCommands,
  kConvCommands,
  kMatmulCommands,
  kOtherCommands,
  kConvMac,
  kConvTap,
  kConvTile,
  kConvExtraStride,
  kDepthwiseTap,
  kDepthwiseTile,
  kDepthwiseStrided,
  kMatmulMac,
  kMatmulRow,
  kMatmulSegment,
  kElementTile,
  kDivideTile,
  kExpTerm,
  kCount,
};

class Features {
 public:
  double& operator[](Feature feature) { return values_[static_cast<std::size_t>(feature)]; }
  double operator[](Feature feature) const { return values_[static_cast<std::size_t>(feature)]; }
  Features& operator+=(const Features& more);
  bool empty() const;
  bool operator<(const Features& other) const { return values_ < other.values_; }
  bool operator==(const Features&) const = default;

 private:
  std::array<double, static_cast<std::size_t>(Feature::kCount)> values_{};
};

// What a convolution of bytes takes in a cycle, where one of fp32 takes a channel of an image. Peaks that the vendor
// states say so: 17.6 TOPS of bytes, 2.2 TFLOPS of fp32.
inline constexpr int kByteChannels = 2, kByteImages = 4;

// Where a system tensor's bytes lie, for counting the lines that a copy touches.
struct SystemSide {
  std::uint64_t addr = 0;
  Stride4 stride;
};

class TimeModel {
 public:
  // The error names the first parameter that the chip's description lacks.
  static Result<TimeModel> make(const Chip& chip);

  // ---- features of commands; `lane` is the start NPU of the result ----
  struct Window {
    int kh = 1, kw = 1;
    Padding4 pad;
    Dim2 stride, dilation;
  };
  Features convolution(const Dim4& input, int oc, const Window& window, int lane) const;
  Features depthwise(const Dim4& input, const Window& window, int lane) const;
  Features matmul(int rows, int inner, int cols, int left_per_channel, int right_per_channel, int lane) const;
  Features element_wise(const Dim4& shape, int lane) const;
  Features divide(const Dim4& shape, int lane) const;
  Features exponential(const Dim4& shape, int lane, int terms, int commands) const;
  // A copy between local and system memory; local_stride is nullopt for a layout whose rows follow each other.
  Features transfer(bool load, const Dim4& shape, const SystemSide& system, const std::optional<Stride4>& local_stride,
                    int element_bytes = 4) const;
  Features matrix_transfer(bool load, std::uint64_t system_addr, int rows, int cols, int per_channel, int row_stride,
                           int element_bytes = 4) const;
  Features local_move(std::int64_t bytes) const;
  // System to system: bytes that follow each other, and a tensor.
  Features system_move(std::int64_t bytes) const;
  Features system_copy(const Dim4& from_shape, const SystemSide& from, const Dim4& to_shape, const SystemSide& to,
                       int element_bytes) const;
  Features system_fill(std::int64_t bytes) const;

  double start_us(const Features& features) const;  // the part of bdc_us() or gdma_us() that every command has
  double bdc_us(const Features& features) const;
  double gdma_us(const Features& features) const;
  double issue_us(const Features& features) const;
  // The time on an engine as amounts of the parameters that it is made of, in what makes microseconds of them (of
  // "..._gbps" in KB); what costs one cycle in any case stands under "mac_cycles".
  struct Amount {
    const char* parameter;
    double amount = 0;
  };
  std::vector<Amount> amounts(const Features& features) const;
  // What one of a feature costs on its engine, and the control processor.
  double engine_price(Feature feature) const { return engine_price_[static_cast<std::size_t>(feature)]; }
  double issue_price(Feature feature) const { return issue_price_[static_cast<std::size_t>(feature)]; }
  static bool is_gdma(Feature feature) { return feature <= Feature::kRuns; }
  double section_us() const { return section_us_; }
  double launch_us() const { return launch_us_; }

 private:
  explicit TimeModel(const Chip& chip) : chip_(chip) {}
  double tiles(const Dim4& shape, int channels, int lane, double per_tile) const;
  double lines(std::int64_t bytes, std::uint64_t granule, bool load) const;

  Chip chip_;
  std::array<double, static_cast<std::size_t>(Feature::kCount)> engine_price_{}, issue_price_{};
  double launch_us_ = 0, section_us_ = 0, mhz_ = 1;
  int outputs_ = 1, read_line_ = 1, write_line_ = 1, small_piece_ = 0;
  bool joins_runs_ = false;
};

}  // namespace softtpu
