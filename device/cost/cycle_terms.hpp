// In what terms a command says how many cycles of its engine it takes: the formulas of the chip, where its operands
// lie, and which start-up it has. Each family says it in cost.hpp of its folder.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "device/command/traits.hpp"
#include "device/cost/cycle_model.hpp"
#include "device/isa/op.hpp"

namespace softtpu {

// Kinds of BDC commands with a start-up of their own.
enum class StartUp : std::uint8_t {
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

struct Work {
  StartUp start_up = StartUp::kArith;  // of BDC; the other engines have one each
  double cycles = 0;                   // of HAU: the bytes that it touches
};

class CycleTerms {
 public:
  CycleTerms(const CycleModel& model, const Chip& chip, TimingPreset preset, Op op)
      : model_(model), chip_(chip), preset_(preset), op_(op) {}

  const CycleModel& model() const { return model_; }
  TimingPreset preset() const { return preset_; }
  Op op() const { return op_; }

  int lane(const Tensor& tensor) const { return chip_.npu_of(tensor.addr) % chip_.npu_num; }
  std::uint32_t bank(const Tensor& tensor) const { return chip_.offset_of(tensor.addr) / chip_.bank_bytes(); }

  // ---- BDC ----
  // Every element of the result once.
  double plain(const Tensor& dst) const { return model_.arithmetic(dst.shape, lane(dst), dst.dtype, 1, false); }
  double indices(int n, int c, int count) const { return model_.gather(n, c, count, CycleModel::Gather::kIndex); }
  Work quantise(const Tensor& dst, const Tensor& src) const {
    return {StartUp::kQuantise, model_.quantise(dst.shape, lane(dst), bank(dst) == bank(src))};
  }
  // Every lane gets the same row, or each its own element.
  Work from_static(const Tensor& dst) const;
  // Every element of every operand once: the slowest operand decides.
  template <class Cmd>
  Work by_operands(const Cmd& cmd) const {
    Slowest slowest;
    for_each_operand(
        cmd, [&](Access access, const char*, const Operand& operand) { find_output(slowest, access, operand); });
    for_each_operand(cmd, [&](Access access, const char*, const Operand& operand) { add(slowest, access, operand); });
    return work_of(slowest);
  }

  // ---- GDMA ----
  DmaPath path(const Tensor& dst, const Tensor& src) const;
  static std::int64_t bytes_of(const Tensor& tensor) { return tensor.shape.elements() * size_of(tensor.dtype); }
  static DmaPieces pieces(const Tensor& tensor, std::int64_t run);

  // ---- HAU ----
  template <class Cmd>
  static Work touched_bytes(const Cmd& cmd) {
    Work work;
    for_each_operand(cmd, [&](Access, const char*, const Operand& operand) {
      if (const auto* tensor = std::get_if<Tensor>(&operand)) work.cycles += static_cast<double>(bytes_of(*tensor));
    });
    return work;
  }

 private:
  struct Slowest {
    std::optional<Tensor> output;
    Dtype widest{};
    std::int64_t stride = 1;
    bool one_bank = false;
  };
  static void find_output(Slowest& slowest, Access access, const Operand& operand);
  void add(Slowest& slowest, Access access, const Operand& operand) const;
  Work work_of(const Slowest& slowest) const;

  const CycleModel& model_;
  const Chip& chip_;
  TimingPreset preset_;
  Op op_;
};

}  // namespace softtpu
