// Cycles of BM1684X's commands from their shapes: the closed formulas that reproduce the estimates of the vendor's
// emulator (tests/timing prints how many). They hold neither start-up nor issue nor launch: those are added by
// CostModel.
#pragma once

#include <cstdint>

#include "device/chip/chip.hpp"
#include "device/cost/timing_parameters.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

// Between which memories the copy engine moves bytes.
enum class DmaPath : std::uint8_t { kLoad, kStore, kSystem, kLocal };

// A copy as the engine sees it: `pieces` runs of `piece_bytes` contiguous bytes.
struct DmaPieces {
  std::int64_t pieces = 0;
  std::int64_t piece_bytes = 0;
  std::int64_t bytes() const { return pieces * piece_bytes; }
};

class CycleModel {
 public:
  static Result<CycleModel> make(const Chip& chip, TimingPreset preset);

  // ---- BDC; `elements` is how many elements a lane takes at once ----
  std::int64_t tiles(const Dim4& shape, int lane, std::int64_t elements) const;
  std::int64_t eu_elements(Dtype type) const { return chip_.eu_num(type); }
  double compare(const Dim4& shape, int lane, Dtype type) const;
  double divide(const Dim4& shape, int lane, Dtype type, int iterations) const;
  double root(const Dim4& shape, int lane, Dtype type) const;
  // Element-wise commands slow down for an operand with a distance between neighbours, and when operand and result
  // share a bank.
  double arithmetic(const Dim4& shape, int lane, Dtype widest, std::int64_t w_stride, bool one_bank) const;
  double lane_copy(const Dim4& shape, int lane, Dtype type, bool one_bank) const;
  double quantise(const Dim4& shape, int lane, bool one_bank) const;
  double transpose_to_w(const Dim4& source, Dtype type) const;  // channels become a row
  double transpose_to_c(const Dim4& source, Dtype type) const;
  double static_broadcast(std::int64_t elements) const;
  double taylor(const Dim4& shape, int lane, Dtype type, int terms) const;
  enum class Gather : std::uint8_t { kIndex, kPair, kFourBanks, kMaskPair };
  double gather(int n, int c, int indices, Gather kind) const;
  double gather_lines(const Dim4& shape, Dtype type) const;
  double window(const Dim4& output, Dim2 kernel, Dim2 stride, int lane, Dtype type) const;
  double convolution(const Dim4& output, int input_channels, Dim2 kernel, int lane, Dtype type) const;
  // A product whose columns are spread over channels, and one whose rows are channels.
  double matmul_rows(int rows, int inner, int channels, int cols_per_channel, int lane, Dtype type) const;
  double matmul_tiles(int rows, int inner, int cols, Dtype type) const;

  // ---- GDMA ----
  double tensor_copy(DmaPath path, const DmaPieces& run) const;
  double fill(const DmaPieces& run) const;
  double stream(DmaPath path, std::int64_t bytes) const;  // linear copies, gathers, C-W transposes
  // As the vendor counts it, where short pieces are divided by the size of an element. CostModel uses the rule of
  // tensor copies instead.
  double vendor_matrix_copy(DmaPath path, int rows, int cols, int cols_per_channel, Dtype type, bool transposed) const;
  double matrix_copy(DmaPath path, const DmaPieces& run, bool transposed) const;

 private:
  explicit CycleModel(const Chip& chip) : chip_(chip) {}
  double least_bytes(const DmaPieces& run) const;
  double bytes_per_cycle(DmaPath path) const;

  Chip chip_;
  double read_ = 1, write_ = 1, copy_ = 1, fill_ = 1, stream_ = 1;  // bytes per cycle
  double tensor_copy_factor_ = 1, transposed_share_ = 1;
  std::int64_t least_piece_ = 1;
  double compare_passes_ = 1, divide_passes_ = 1, newton_passes_ = 1, root_passes_ = 1, bank_factor_ = 1;
  double pair_passes_ = 1, mask_pair_passes_ = 1, one_stride_ = 1, two_strides_ = 1, line_passes_ = 1;
  double matmul_row_ = 0;
  std::int64_t quantise_elements_ = 1, static_elements_ = 1, conv_outputs_ = 1, conv_inner_bytes_ = 1;
};

}  // namespace softtpu
