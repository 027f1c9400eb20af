#include "device/footprint/operand_use.hpp"

#include <string_view>
#include <type_traits>

namespace softtpu {
namespace {

// Elements of the last channel when `columns` lie `per_channel` to a channel.
int rest(std::int64_t columns, std::int64_t per_channel) {
  return static_cast<int>(columns - (columns - 1) / per_channel * per_channel);
}

void refine(const DmaMatrixCmd& cmd, OperandUse& use) {
  const Tensor& system = cmd.dst.space == Space::kLocal ? cmd.src : cmd.dst;
  if (use.tensor.space != Space::kLocal) return;
  use.last_channel = rest(cmd.transposed ? system.shape.n : system.shape.w, use.tensor.shape.w);
}

// Right, bias and old output take part in the full width of their last channel, but what stands behind their last
// column only reaches what stands behind the result's.
void refine(const MatMulCmd& cmd, OperandUse& use) {
  if (!spreads_columns(cmd.kind) || !use.reads) return;
  const bool left = std::string_view(use.name) == "left";
  use.last_channel = left ? rest(cmd.left_trans ? cmd.rows : cmd.inner, use.tensor.shape.w) : 1;
}

void refine(const OkkMatmulCmd& cmd, OperandUse& use) {
  use.last_channel = rest(std::string_view(use.name) == "left" ? cmd.inner : cmd.cols, use.tensor.shape.w);
}

void refine(const OuterCmd&, OperandUse& use) { use.all = !use.reads; }

// Every NPU has its own copy of the coefficients; those of the lanes in use are read.
void refine(const TaylorCmd& cmd, OperandUse& use) {
  if (std::string_view(use.name) == "coeff") use.lanes = cmd.dst.shape.c;
}
void refine(const LookupCmd& cmd, OperandUse& use) {
  if (std::string_view(use.name) != "table") return;
  use.lanes = cmd.dst.shape.c;
  use.all = false;
}

void refine(const DmaRowsCmd& cmd, OperandUse& use) {
  const std::string_view name = use.name;
  use.all = name == "index" || (name == "output" && cmd.mode == RowsMode::kGather) ||
            (name == "param" && cmd.mode != RowsMode::kGather);
}
void refine(const GatherCmd& cmd, OperandUse& use) {
  const std::string_view name = use.name;
  use.all = name == "index" || (name == "output" && !cmd.scatter && !cmd.exception) || (name == "param" && cmd.scatter);
}
void refine(const MaskSelectCmd&, OperandUse& use) { use.all = std::string_view(use.name) != "output"; }
void refine(const DmaMaskSelectCmd&, OperandUse& use) { use.all = std::string_view(use.name) != "dst"; }
void refine(const DmaNonzeroCmd&, OperandUse& use) { use.all = std::string_view(use.name) != "dst"; }
void refine(const DmaCompressCmd& cmd, OperandUse& use) { use.all = use.tensor == cmd.plain; }
void refine(const HauLineGatherCmd& cmd, OperandUse& use) {
  use.all = std::string_view(use.name) == "index" || (std::string_view(use.name) == "output" && cmd.fill);
}
void refine(const RoiPoolCmd&, OperandUse& use) { use.all = std::string_view(use.name) != "input"; }
// Strided windows may leave out rows and columns.
void refine(const Conv2dCmd& cmd, OperandUse& use) {
  if (std::string_view(use.name) == "input") use.all = cmd.window.stride.h <= 1 && cmd.window.stride.w <= 1;
}
void refine(const PoolCmd& cmd, OperandUse& use) {
  if (std::string_view(use.name) == "input") use.all = cmd.window.stride.h <= 1 && cmd.window.stride.w <= 1;
}
void refine(const OkkConvCmd& cmd, OperandUse& use) {
  if (std::string_view(use.name) == "input") use.all = cmd.window.stride.h <= 1 && cmd.window.stride.w <= 1;
}
void refine(const OkkWindowCmd& cmd, OperandUse& use) {
  if (std::string_view(use.name) == "input") use.all = cmd.window.stride.h <= 1 && cmd.window.stride.w <= 1;
}

template <class Cmd>
constexpr bool kIsRefined = requires(const Cmd& cmd, OperandUse& use) {
  refine(cmd, use);
};

}  // namespace

void for_each_use(const Command& command, const std::function<void(const OperandUse&)>& f) {
  std::visit(
      [&](const auto& cmd) {
        std::uint32_t index = 0;
        cmd.operands([&](Access access, const char* name, const Operand& value) {
          const auto* tensor = std::get_if<Tensor>(&value);
          if (tensor == nullptr) {
            ++index;
            return;
          }
          OperandUse use{index++, name, *tensor, access != Access::kWrite, access != Access::kRead};
          if constexpr (kIsRefined<std::decay_t<decltype(cmd)>>) refine(cmd, use);
          f(use);
        });
      },
      command);
}

}  // namespace softtpu
