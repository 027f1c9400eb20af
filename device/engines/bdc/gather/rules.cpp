// Rules of BDC gather, scatter and mask selection (numerics: bm1684x-dma-hau-gather.md section 5; golden
// bm1684x/bdc_gather_scatter).
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/chip/layout.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/gather/command.hpp"
#include "device/engines/bdc/gather/gather_index.hpp"
#include "device/memory/scratch.hpp"

namespace softtpu {
namespace {

// Banks for the function that reads four copies of its parameter: first and last bank of each operand.
struct BankRange {
  int first, last;
};
constexpr BankRange kOutputBanks{4, 7};
constexpr BankRange kIndexBanks{0, 3};
constexpr BankRange kParamBanks{8, 9};
constexpr int kParamCopies = 4;

std::int64_t bytes_on_npu(const Tensor& tensor) { return tensor.shape.n * tensor.stride.n * size_of(tensor.dtype); }

void check_banks(Checks& check, const char* name, const Tensor& tensor, const BankRange& allowed) {
  const Chip& chip = check.chip();
  const std::int64_t offset = chip.offset_of(tensor.addr);
  const std::int64_t first = offset / chip.bank_bytes();
  const std::int64_t last = (offset + bytes_on_npu(tensor) - 1) / chip.bank_bytes();
  check.require(first >= allowed.first && last <= allowed.last, [&] {
    return fmt::format("{} lies in banks {}..{}, outside {}..{}", name, first, last, allowed.first, allowed.last);
  });
}

// The copies follow each other at the distance of the banks that one may fill, and agree.
void check_copies(Checks& check, const Tensor& param) {
  if (check.violation()) return;
  const Chip& chip = check.chip();
  const std::int64_t distance = std::int64_t{kParamBanks.last - kParamBanks.first + 1} * chip.bank_bytes();
  const std::int64_t offset = chip.offset_of(param.addr);
  const auto row = static_cast<std::size_t>(param.shape.w * size_of(param.dtype));
  const TensorView view(check.memories(), param);
  check.require(offset + (kParamCopies - 1) * distance + bytes_on_npu(param) <= chip.local_bytes,
                [&] { return fmt::format("the copies of param end past local memory ({} bytes)", chip.local_bytes); });
  for (int c = 0; c < param.shape.c && !check.violation(); ++c) {
    const std::uint8_t* first = view.byte_at(0, c, 0, 0, static_cast<std::size_t>(size_of(param.dtype)));
    for (int copy = 1; copy < kParamCopies; ++copy) {
      check.require(std::memcmp(first, first + copy * distance, row) == 0, [&] {
        return fmt::format("copy {} of param (at +{} bytes) differs in channel {}", copy, copy * distance, c);
      });
    }
  }
}

void check_indices(Checks& check, const GatherCmd& cmd) {
  if (check.violation() || takes_indices_beyond(check.chip(), cmd)) return;
  const GatherIndex index(check.memories(), cmd);
  std::uint32_t* positions = room<std::uint32_t, struct CheckedPositions>(index.count());
  const Dim4& shape = cmd.dst.shape;
  for (int n = 0; n < (index.per_channel() ? shape.n : 1); ++n) {
    for (int c = 0; c < (index.per_channel() ? shape.c : 1); ++c) {
      if (index.read(n, c, positions)) continue;
      const auto bad = std::find(positions, positions + index.count(), kOutside) - positions;
      check.require(false, [&] {
        const std::string where = index.per_channel() ? fmt::format(" of n {}, c {}", n, c) : "";
        return fmt::format("index {}{} is not below the extent of the {} ({})", bad, where,
                           cmd.scatter ? "output" : "parameter", to_text(index.named()));
      });
      return;
    }
  }
}

}  // namespace

void rules(Checks& check, const GatherCmd& cmd) {
  check.type("output", cmd.dst.dtype).type_in("index", cmd.index.dtype, types(Dtype::kUint8, Dtype::kUint16));
  check.shape("shape", cmd.dst.shape);
  // After the shape, whose number of elements has a limit too.
  check.in_range("number of indices", std::int64_t{cmd.index.shape.c} * cmd.index.shape.w, 1, INT32_MAX);
  check.tensor("output", cmd.dst).tensor("param", cmd.param).tensor("index", cmd.index);
  check.same_npu("param", cmd.param.addr, "output", cmd.dst.addr);
  const bool shared = cmd.mode == GatherMode::kW || cmd.mode == GatherMode::kHw;
  shared ? check.on_first_npu("index", cmd.index.addr)
         : check.same_npu("index", cmd.index.addr, "output", cmd.dst.addr);
  if (cmd.four_banks) {
    check_banks(check, "output", cmd.dst, kOutputBanks);
    check_banks(check, "index", cmd.index, kIndexBanks);
    check_banks(check, "param", cmd.param, kParamBanks);
    check_copies(check, cmd.param);
  }
  check_indices(check, cmd);
}

void rules(Checks& check, const MaskSelectCmd& cmd) {
  check.type("output", cmd.dst.dtype).shape("shape", cmd.dst.shape);
  check.type_in("mask", cmd.mask.dtype, types(Dtype::kUint8, Dtype::kUint16, Dtype::kUint32));
  check.tensor("output", cmd.dst).tensor("param", cmd.param).tensor("mask", cmd.mask).tensor("count", cmd.count);
  check.same_npu("param", cmd.param.addr, "output", cmd.dst.addr)
      .same_npu("mask", cmd.mask.addr, "output", cmd.dst.addr);
  check.same_npu("count", cmd.count.addr, "output", cmd.dst.addr);
}

}  // namespace softtpu
