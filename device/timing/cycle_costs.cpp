// Costs of BM1684X's commands: the cycles of CycleModel, plus start-up and issue.
#include <algorithm>
#include <optional>

#include "device/timing/command_cost.hpp"
#include "device/timing/cycle_model.hpp"
#include "runtime/layout/formulas.hpp"

namespace softtpu {
namespace {

// Kinds of BDC commands with a start-up of their own.
enum class Kind : std::uint8_t {
  kConv,
  kProductRows,
  kProductTiles,
  kCompare,
  kLinear,
  kArith,
  kSeries,
  kWindow,
  kQuantise,
  kGather,
  kGatherLine,
  kTranspose,
  kLaneCopy,
  kStatic,
  kCount,
};
constexpr std::array<const char*, static_cast<std::size_t>(Kind::kCount)> kStartNames = {
    "start_conv_cycles",      "start_mm_cycles",     "start_mm2_cycles",         "start_compare_cycles",
    "start_mac_cycles",       "start_arith_cycles",  "start_sfu_cycles",         "start_window_cycles",
    "start_quant_cycles",     "start_gather_cycles", "start_gather_line_cycles", "start_transpose_cycles",
    "start_lane_copy_cycles", "start_static_cycles",
};

struct Work {
  Kind kind = Kind::kArith;
  double cycles = 0;
};

int wider(Dtype a, Dtype b) { return std::max(size_of(a), size_of(b)); }

class BdcWork {
 public:
  BdcWork(const CycleModel& model, const Chip& chip, Op op) : model_(model), chip_(chip), op_(op) {}

  Work operator()(const MatMulCmd& cmd) const {
    const Dtype type = type_of(cmd.left);
    if (!spreads_columns(cmd.kind)) {
      return {Kind::kProductTiles, model_.matmul_tiles(cmd.rows, cmd.inner, cmd.cols, type)};
    }
    return {Kind::kProductRows,
            model_.matmul_rows(cmd.rows, cmd.inner, cmd.dst.shape.c, cmd.dst.shape.w, lane(cmd.dst), type)};
  }
  Work operator()(const Conv2dCmd& cmd) const {
    return {Kind::kConv,
            model_.convolution(cmd.dst.shape, cmd.src.shape.c, cmd.window.kernel, lane(cmd.dst), cmd.src.dtype)};
  }
  Work operator()(const PoolCmd& cmd) const {
    return {Kind::kWindow,
            model_.window(cmd.dst.shape, cmd.window.kernel, cmd.window.stride, lane(cmd.dst), cmd.src.dtype)};
  }
  Work operator()(const RoiPoolCmd& cmd) const {
    return {Kind::kWindow, model_.window(cmd.dst.shape, cmd.kernel, {1, 1}, lane(cmd.dst), cmd.src.dtype)};
  }
  Work operator()(const CompareCmd& cmd) const {
    return {Kind::kCompare, model_.compare(cmd.dst.shape, lane(cmd.dst), cmd.dst.dtype)};
  }
  Work operator()(const SelectCmd& cmd) const {
    return {Kind::kCompare, model_.compare(cmd.dst.shape, lane(cmd.dst), cmd.dst.dtype)};
  }
  Work operator()(const DivideCmd& cmd) const {
    return {Kind::kArith, model_.divide(cmd.dst.shape, lane(cmd.dst), cmd.dst.dtype, cmd.iterations)};
  }
  Work operator()(const RootCmd& cmd) const {
    return {Kind::kSeries, model_.root(cmd.dst.shape, lane(cmd.dst), cmd.dst.dtype)};
  }
  Work operator()(const TaylorCmd& cmd) const {
    return {Kind::kSeries, model_.taylor(cmd.dst.shape, lane(cmd.dst), cmd.dst.dtype, cmd.coeff.shape.w)};
  }
  Work operator()(const LookupCmd& cmd) const {
    return {Kind::kGather, indices(cmd.dst.shape.n, cmd.dst.shape.c, cmd.dst.shape.h * cmd.dst.shape.w)};
  }
  Work operator()(const ExponentCmd& cmd) const { return {Kind::kSeries, plain(cmd.dst)}; }
  Work operator()(const MacCmd& cmd) const { return {Kind::kLinear, plain(cmd.dst)}; }
  Work operator()(const ScaleBiasCmd& cmd) const { return {Kind::kLinear, plain(cmd.dst)}; }
  Work operator()(const IntQuantCmd& cmd) const { return quantise(cmd.dst, cmd.src); }
  Work operator()(const FloatQuantCmd& cmd) const { return quantise(cmd.dst, cmd.src); }
  Work operator()(const StaticLoadCmd& cmd) const { return from_static(cmd.dst); }
  Work operator()(const CrossCopyCmd& cmd) const {
    if (cmd.src.space == Space::kStatic) return from_static(cmd.dst);
    if (cmd.order == CopyOrder::kNwhc) {
      return {Kind::kTranspose, op_ == Op::tpu_bdc_wc_trans ? model_.transpose_to_c(cmd.src.shape, cmd.src.dtype)
                                                            : model_.transpose_to_w(cmd.src.shape, cmd.src.dtype)};
    }
    return {Kind::kLaneCopy,
            model_.lane_copy(cmd.dst.shape, lane(cmd.dst), cmd.dst.dtype, bank(cmd.dst) == bank(cmd.src))};
  }
  Work operator()(const GatherCmd& cmd) const {
    using Gather = CycleModel::Gather;
    const Dim4& index = cmd.index.shape;
    const Dim4& dst = cmd.dst.shape;
    switch (cmd.mode) {
      case GatherMode::kW: return {Kind::kGather, indices(dst.n, dst.c, index.c)};
      case GatherMode::kHw: return {Kind::kGather, model_.gather(dst.n, dst.c, index.c, Gather::kPair)};
      case GatherMode::kBatchW:
        return {Kind::kGather,
                model_.gather(dst.n, dst.c, index.w, cmd.four_banks ? Gather::kFourBanks : Gather::kIndex)};
      case GatherMode::kBatchH: return {Kind::kGatherLine, model_.gather_lines(dst, cmd.dst.dtype)};
    }
    return {};
  }
  Work operator()(const MaskSelectCmd& cmd) const {
    return {Kind::kGather, indices(cmd.mask.shape.n, cmd.mask.shape.c, cmd.mask.shape.w)};
  }
  // Every element-wise command: the slowest operand decides.
  template <class Cmd>
  Work operator()(const Cmd& cmd) const {
    std::optional<Tensor> output;
    for_each_operand(cmd, [&](Access access, const char*, const Operand& operand) {
      if (const auto* tensor = std::get_if<Tensor>(&operand); tensor != nullptr && access != Access::kRead && !output) {
        output = *tensor;
      }
    });
    if (!output) return {};
    Dtype widest = output->dtype;
    std::int64_t stride = 1;
    bool one_bank = false;
    for_each_operand(cmd, [&](Access access, const char*, const Operand& operand) {
      const auto* tensor = std::get_if<Tensor>(&operand);
      if (tensor == nullptr) return;
      if (wider(tensor->dtype, widest) > size_of(widest)) widest = tensor->dtype;
      stride = std::max(stride, tensor->stride.w);
      one_bank = one_bank || (access == Access::kRead && bank(*tensor) == bank(*output));
    });
    return {Kind::kArith, model_.arithmetic(output->shape, lane(*output), widest, stride, one_bank)};
  }

 private:
  int lane(const Tensor& tensor) const { return chip_.npu_of(tensor.addr) % chip_.npu_num; }
  std::uint32_t bank(const Tensor& tensor) const { return chip_.offset_of(tensor.addr) / chip_.bank_bytes(); }
  double plain(const Tensor& dst) const { return model_.arithmetic(dst.shape, lane(dst), dst.dtype, 1, false); }
  double indices(int n, int c, int count) const { return model_.gather(n, c, count, CycleModel::Gather::kIndex); }
  Work quantise(const Tensor& dst, const Tensor& src) const {
    return {Kind::kQuantise, model_.quantise(dst.shape, lane(dst), bank(dst) == bank(src))};
  }
  // Every lane gets the same row, or each its own element.
  Work from_static(const Tensor& dst) const {
    const std::int64_t row = std::int64_t{dst.shape.h} * dst.shape.w;
    return {Kind::kStatic, dst.shape.n * model_.static_broadcast(row > 1 ? row : dst.shape.c)};
  }

  const CycleModel& model_;
  const Chip& chip_;
  Op op_;
};

DmaPath path_between(const Chip& chip, const Tensor& dst, const Tensor& src) {
  const auto is_local = [&](const Tensor& tensor) {
    return tensor.space == Space::kLocal || (tensor.space == Space::kSystem && chip.local_mem.contains(tensor.addr));
  };
  if (is_local(dst)) return is_local(src) ? DmaPath::kLocal : DmaPath::kLoad;
  return is_local(src) ? DmaPath::kStore : DmaPath::kSystem;
}

std::int64_t bytes_of(const Tensor& tensor) { return tensor.shape.elements() * size_of(tensor.dtype); }

class GdmaWork {
 public:
  GdmaWork(const CycleModel& model, const Chip& chip, TimingPreset preset)
      : model_(model), chip_(chip), preset_(preset) {}

  double operator()(const DmaCopyCmd& cmd) const {
    const DmaPath path = path_between(chip_, cmd.dst, cmd.src);
    if (cmd.order == CopyOrder::kBlock || cmd.order == CopyOrder::kNwhc) return model_.stream(path, bytes_of(cmd.dst));
    const std::int64_t run = std::min(contiguous_elements(cmd.dst.shape, cmd.dst.stride, cmd.dst.stride),
                                      contiguous_elements(cmd.src.shape, cmd.src.stride, cmd.src.stride));
    return model_.tensor_copy(path, pieces(cmd.dst, run));
  }
  double operator()(const DmaFillCmd& cmd) const {
    const auto run =
        cmd.block ? cmd.dst.shape.elements() : contiguous_elements(cmd.dst.shape, cmd.dst.stride, cmd.dst.stride);
    return model_.fill(pieces(cmd.dst, run));
  }
  double operator()(const DmaMatrixCmd& cmd) const {
    const DmaPath path = path_between(chip_, cmd.dst, cmd.src);
    const Tensor& local = path == DmaPath::kLoad ? cmd.dst : cmd.src;
    const Tensor& system = path == DmaPath::kLoad ? cmd.src : cmd.dst;
    const int rows = system.shape.n;
    const int cols = system.shape.w;
    const int per_channel = std::min(local.shape.w, cols);
    if (preset_ == TimingPreset::kVendor) {
      return model_.vendor_matrix_copy(path, rows, cols, per_channel, system.dtype, cmd.transposed);
    }
    const DmaPieces run{rows * ceil_div(cols, per_channel), std::int64_t{per_channel} * size_of(system.dtype)};
    return model_.matrix_copy(path, run, cmd.transposed);
  }
  double operator()(const DmaRowsCmd& cmd) const {
    return model_.stream(path_between(chip_, cmd.dst, cmd.param), bytes_of(cmd.index) + bytes_of(cmd.dst));
  }
  double operator()(const DmaMaskSelectCmd& cmd) const {
    return model_.stream(path_between(chip_, cmd.dst, cmd.src), bytes_of(cmd.src) + bytes_of(cmd.mask));
  }
  double operator()(const DmaNonzeroCmd& cmd) const {
    return model_.stream(path_between(chip_, cmd.dst, cmd.src), bytes_of(cmd.src) + bytes_of(cmd.dst));
  }
  double operator()(const DmaCompressCmd& cmd) const {
    return model_.stream(cmd.expand ? DmaPath::kLoad : DmaPath::kStore, bytes_of(cmd.plain));
  }
  template <class Cmd>
  double operator()(const Cmd&) const {
    return 0;
  }

 private:
  static DmaPieces pieces(const Tensor& tensor, std::int64_t run) {
    const std::int64_t length = std::max<std::int64_t>(1, run);
    return {ceil_div(tensor.shape.elements(), length), length * size_of(tensor.dtype)};
  }

  const CycleModel& model_;
  const Chip& chip_;
  TimingPreset preset_;
};

class CycleCosts final : public CostModel {
 public:
  CycleCosts(const Chip& chip, TimingPreset preset, TimingParameters& timing, CycleModel model)
      : CostModel(chip, timing), preset_(preset), model_(std::move(model)) {
    for (std::size_t i = 0; i < start_cycles_.size(); ++i) start_cycles_[i] = timing.overhead(kStartNames[i]);
    bdc_mhz_ = timing.get("bdc_mhz");
    gdma_mhz_ = timing.get("gdma_mhz");
    issue_bdc_us_ = timing.overhead("issue_bdc_us");
    issue_gdma_us_ = timing.overhead("issue_gdma_us");
    issue_hau_us_ = timing.overhead("issue_hau_us");
    gdma_start_us_ = timing.overhead("gdma_start_us");
    hau_start_us_ = timing.overhead("hau_start_us");
    hau_us_per_byte_ = timing.overhead("hau_us_per_kib") / 1024;
  }

 private:
  CommandCost engine_cost(Op op, const Command& command) const override {
    CommandCost cost;
    switch (info(op).engine) {
      case Engine::kBdc: {
        const Work work = std::visit(BdcWork(model_, chip(), op), command);
        cost.start_us = start_cycles_[static_cast<std::size_t>(work.kind)] / bdc_mhz_;
        cost.work_us = work.cycles / bdc_mhz_;
        cost.issue_us = issue_bdc_us_;
        break;
      }
      case Engine::kSdma:  // priced like GDMA, which moves the same bytes over the same bus
      case Engine::kGdma:
        cost.start_us = gdma_start_us_;
        cost.work_us = std::visit(GdmaWork(model_, chip(), preset_), command) / gdma_mhz_;
        cost.issue_us = issue_gdma_us_;
        break;
      case Engine::kHau:
        cost.start_us = hau_start_us_;
        cost.work_us = static_cast<double>(touched_bytes(command)) * hau_us_per_byte_;
        cost.issue_us = issue_hau_us_;
        break;
      case Engine::kNone:
      case Engine::kControl: break;
    }
    return cost;
  }

  static std::int64_t touched_bytes(const Command& command) {
    std::int64_t bytes = 0;
    const auto visit = [&](Access, const char*, const Operand& operand) {
      if (const auto* tensor = std::get_if<Tensor>(&operand)) bytes += bytes_of(*tensor);
    };
    for_each_operand(command, visit);
    return bytes;
  }

  TimingPreset preset_;
  CycleModel model_;
  std::array<double, kStartNames.size()> start_cycles_{};
  double bdc_mhz_ = 1, gdma_mhz_ = 1;
  double issue_bdc_us_ = 0, issue_gdma_us_ = 0, issue_hau_us_ = 0;
  double gdma_start_us_ = 0, hau_start_us_ = 0, hau_us_per_byte_ = 0;
};

}  // namespace

Result<std::unique_ptr<CostModel>> make_cycle_costs(const Chip& chip, TimingPreset preset) {
  auto model = CycleModel::make(chip, preset);
  if (!model) return model.error();
  TimingParameters timing(chip, preset);
  auto costs = std::make_unique<CycleCosts>(chip, preset, timing, std::move(*model));
  if (auto complete = timing.complete(); !complete) return complete.error();
  return std::unique_ptr<CostModel>(std::move(costs));
}

}  // namespace softtpu
