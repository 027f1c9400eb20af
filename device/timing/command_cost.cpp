#include "device/timing/command_cost.hpp"

#include <algorithm>

#include "device/cost/time_model.hpp"
#include "device/timing/fit.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu {
namespace {

// The tensor that a command writes first.
std::optional<Tensor> find_output(const Command& command) {
  std::optional<Tensor> output;
  const auto visit = [&](Access access, const char*, const Operand& operand) {
    const auto* tensor = std::get_if<Tensor>(&operand);
    if (!output && access != Access::kRead && tensor != nullptr) output = *tensor;
  };
  for_each_operand(command, visit);
  return output;
}

double elements(const Dim4& shape) { return static_cast<double>(shape.elements()); }

// Of a table, only the rows that are moved.
double moved_elements(const Command& command, const Tensor& tensor) {
  const auto* rows = std::get_if<DmaRowsCmd>(&command);
  if (rows == nullptr) return elements(tensor.shape);
  return std::min({elements(tensor.shape), elements(rows->dst.shape), elements(rows->param.shape)});
}

BytePath system_path(const Chip& chip, const Tensor& tensor, bool writes) {
  if (tensor.space != Space::kSystem || chip.local_mem.contains(tensor.addr)) return BytePath::kLocal;
  if (chip.l2_sram.contains(tensor.addr)) return writes ? BytePath::kL2Write : BytePath::kL2Read;
  return writes ? BytePath::kDdrWrite : BytePath::kDdrRead;
}

// Local memory counts only when nothing else is involved: its side of a load or store is the same bytes again.
void add_bytes(const Chip& chip, const Command& command, CommandCost& cost) {
  double local = 0;
  double system = 0;
  const auto visit = [&](Access access, const char*, const Operand& operand) {
    const auto* tensor = std::get_if<Tensor>(&operand);
    if (tensor == nullptr) return;
    const double bytes = moved_elements(command, *tensor) * size_of(tensor->dtype);
    const bool writes = access != Access::kRead;
    const BytePath path = system_path(chip, *tensor, writes);
    if (path != BytePath::kLocal) {
      cost.bytes[static_cast<std::size_t>(path)] += bytes;
      system += bytes;
    } else if (writes) {
      local += bytes;
    }
  };
  for_each_operand(command, visit);
  if (system == 0) cost.bytes[static_cast<std::size_t>(BytePath::kLocal)] = local;
}

}  // namespace

std::string_view to_text(BytePath path) {
  switch (path) {
    case BytePath::kDdrRead: return "DDR read";
    case BytePath::kDdrWrite: return "DDR write";
    case BytePath::kL2Read: return "L2 read";
    case BytePath::kL2Write: return "L2 write";
    case BytePath::kLocal: return "within local memory";
    case BytePath::kCount: break;
  }
  unreachable(path);
}

std::string_view to_text(Basis basis) {
  switch (basis) {
    case Basis::kMeasured: return "measured";
    case Basis::kFitted: return "fitted";
    case Basis::kVendor: return "vendor";
    case Basis::kGuess: return "guess";
    case Basis::kCount: break;
  }
  unreachable(basis);
}

Basis to_basis(Founded founded) {
  switch (founded) {
    case Founded::kMeasured: return Basis::kMeasured;
    case Founded::kVendor: return Basis::kVendor;
    case Founded::kGuess: return Basis::kGuess;
  }
  unreachable(founded);
}

bool is_product(const Command& command) { return traits_of(command).is_product; }

Dtype type_of_product(const Command& command) {
  if (const auto* product = std::get_if<MatMulCmd>(&command)) return type_of(product->left);
  if (const auto* product = std::get_if<Conv2dCmd>(&command)) return product->src.dtype;
  const bool bytes =
      std::holds_alternative<OkkByteConvCmd>(command) || std::holds_alternative<OkkByteMatmulCmd>(command);
  return bytes ? Dtype::kInt8 : Dtype::kFp32;
}

double operations_of(const Command& command) {
  return std::visit(
      [&](const auto& cmd) -> double {
        if constexpr (requires { cmd.operations(); }) {
          return cmd.operations();
        } else {
          const auto output = find_output(command);
          return output ? elements(output->shape) : 0;
        }
      },
      command);
}

CostModel::CostModel(const Chip& chip, TimingParameters& timing)
    : chip_(chip),
      launch_us_(timing.overhead("launch_us")),
      section_us_(timing.overhead("section_us")),
      read_gbps_(timing.get("read_gbps")),
      all_cores_gbps_(timing.get_or("all_cores_gbps", read_gbps_)),
      bdc_mhz_(timing.get("bdc_mhz")) {
  const auto basis_of = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (const auto found = chip.timing.find(name); found != chip.timing.end()) return to_basis(found->second.founded);
    }
    return Basis::kGuess;
  };
  launch_basis_ = basis_of({"launch_us"});
  issue_basis_ = basis_of({"issue_bdc_us", "issue_matmul_us"});
  if (chip.api == Api::kTpuKernel) {
    narrow_outputs_ = timing.get("conv_outputs_per_cycle");
    narrow_inner_bytes_ = timing.get("conv_inner_bytes");
    bytes_per_lane_ = narrow_outputs_ * narrow_inner_bytes_;
    f32_per_lane_ = chip.eu_num(Dtype::kFp32);
  } else {
    f32_per_lane_ = timing.get("outputs_per_cycle");
    bytes_per_lane_ = f32_per_lane_ * kByteChannels * kByteImages;
  }
}

Result<std::unique_ptr<CostModel>> CostModel::make(const Chip& chip, TimingPreset preset) {
  return chip.api == Api::kOkKernel ? make_feature_costs(chip, preset) : make_cycle_costs(chip, preset);
}

Result<std::unique_ptr<CostModel>> CostModel::make_for_networks(const Chip& chip, TimingPreset preset) {
  const Fit* fit = preset == TimingPreset::kVendor ? nullptr : Fit::find(chip);
  if (fit != nullptr && chip.api != Api::kOkKernel) return make_fitted_costs(chip, *fit);
  Chip unissued = chip;
  for (auto& [name, parameter] : unissued.timing) {
    if (name.starts_with("issue_")) parameter.value = 0;
  }
  if (fit != nullptr) {  // of BM1684: other values of the same parameters, and some that only networks decide
    for (const auto& [name, parameter] : fit->parameters()) unissued.timing[name].value = parameter.value;
  }
  return make(unissued, preset);
}

double CostModel::peak_per_us(Dtype type) const {
  const bool halves = narrow_outputs_ > 0 && size_of(type) == 2;
  const double per_lane = halves               ? narrow_outputs_ * narrow_inner_bytes_ / 2
                          : size_of(type) == 1 ? bytes_per_lane_
                                               : f32_per_lane_;
  return 2 * per_lane * chip_.npu_num * bdc_mhz_;
}

CommandCost CostModel::cost(Op op, const Command& command) const {
  CommandCost cost = engine_cost(op, command);
  double known = 0;
  for (const double us : cost.by_basis) known += us;
  // What a model does not tell apart rests on the parameters that it was made with; less is rounding.
  const double rest = cost.engine_us() - known;
  if (rest > 1e-9 * known) cost.by_basis[static_cast<std::size_t>(Basis::kGuess)] += rest;
  if (info(op).engine != Engine::kBdc) {
    add_bytes(chip_, command, cost);
    return cost;
  }
  cost.operations = operations_of(command);
  const auto output = find_output(command);
  // Products of narrow types may have a wide result.
  const Dtype type = is_product(command) ? type_of_product(command) : output ? output->dtype : Dtype::kFp32;
  const double lanes = static_cast<double>(chip_.npu_num) * (size_of(type) > 0 ? chip_.eu_num(type) : 1) * bdc_mhz_;
  cost.ideal_us = cost.operations / (is_product(command) ? peak_per_us(type) : lanes);
  return cost;
}

}  // namespace softtpu
