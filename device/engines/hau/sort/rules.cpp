// Rules of HAU commands (numerics: bm1684x-dma-hau-gather.md section 4; golden bm1684x/hau/refused, gdma_limits/hau).
#include <fmt/format.h>

#include <cstdint>

#include "device/command/checks.hpp"
#include "device/engines/commands.hpp"

namespace softtpu {
namespace {

constexpr int kMaxBoxes = (1 << 24) - 1;
constexpr std::uint64_t kWordBytes = 4;
constexpr std::uint64_t kLineAlignment = 64;

// HAU reaches global memory and L2 SRAM only.
void check_place(Checks& check, const char* name, const Tensor& tensor, std::uint64_t alignment) {
  check.require(tensor.addr % alignment == 0, [&] {
    return fmt::format("{} address (0x{:x}) is not a multiple of {}", name, tensor.addr, alignment);
  });
  const Chip& chip = check.chip();
  check.require(chip.global_mem.contains(tensor.addr) || chip.l2_sram.contains(tensor.addr), [&] {
    return fmt::format("{} address (0x{:x}) is neither in global memory nor in L2 SRAM", name, tensor.addr);
  });
  check.tensor(name, tensor, NaturalAlignment::kElement);
}

// The bits above an element of the type are all 0 or all 1.
void check_constant(Checks& check, const Scalar& constant, Dtype type) {
  const int bits = size_of(type) * 8;
  if (bits >= 32) return;
  const std::uint32_t upper = constant.bits >> bits;
  check.require(upper == 0 || upper == ~0U >> bits,
                [&] { return fmt::format("C (0x{:x}) does not fit into {}", constant.bits, to_text(type)); });
}

}  // namespace

Violation violation(const Memories& mem, Op op, const HauSortCmd& cmd) {
  Checks check(mem, op);
  const int length = cmd.src.shape.w;
  check.type("input", cmd.src.dtype).in_range("len", length, 1, INT32_MAX).in_range("K", cmd.dst.shape.w, 1, length);
  check_place(check, "output", cmd.dst, kWordBytes);
  check_place(check, "input", cmd.src, kWordBytes);
  if (cmd.index != SortIndex::kNone) check_place(check, "output_idx", cmd.dst_index, kWordBytes);
  if (cmd.index == SortIndex::kGiven) check_place(check, "input_idx", cmd.src_index, kWordBytes);
  return check.violation();
}

Violation violation(const Memories& mem, Op op, const HauHardNmsCmd& cmd) {
  Checks check(mem, op);
  check.in_range("box_num", cmd.mask.shape.w, 1, kMaxBoxes).in_range("keep_num", cmd.keep_num, 0, kMaxBoxes);
  check_place(check, "output", cmd.dst, kWordBytes);
  check_place(check, "input", cmd.mask, 1);
  return check.violation();
}

Violation violation(const Memories& mem, Op op, const HauSoftNmsCmd& cmd) {
  Checks check(mem, op);
  check.in_range("box_num", cmd.score.shape.w, 1, kMaxBoxes).in_range("keep_num", cmd.keep_num, 0, kMaxBoxes);
  check_place(check, "output", cmd.dst, kWordBytes);
  check_place(check, "iou", cmd.coeff, kWordBytes);
  check_place(check, "score", cmd.score, kWordBytes);
  return check.violation();
}

Violation violation(const Memories& mem, Op op, const HauLineGatherCmd& cmd) {
  Checks check(mem, op);
  check.type("output", cmd.dst.dtype).in_range("line_len", cmd.dst.shape.w, 1, INT32_MAX);
  check.in_range("index_len", cmd.dst.shape.h, 1, INT32_MAX).in_range("start", cmd.start, 0, INT32_MAX);
  check.in_range("end", cmd.end, cmd.start, cmd.line_num - std::int64_t{1});
  check_constant(check, cmd.constant, cmd.dst.dtype);
  check_place(check, "output", cmd.dst, kLineAlignment);
  check_place(check, "param", cmd.param, kLineAlignment);
  check_place(check, "index", cmd.index, kLineAlignment);
  return check.violation();
}

}  // namespace softtpu
