// Rules of BDC moves and sequences (numerics: bm1684x-dma-hau-gather.md sections 5 and 6).
#include <fmt/format.h>

#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/move/command.hpp"
#include "device/isa/op_names.hpp"

namespace softtpu {
namespace {

// The tensor's channels lie on NPUs from its own to the last one, without going round.
void check_no_wrap(Checks& check, const Tensor& tensor) {
  const int start = check.chip().npu_of(tensor.addr);
  check.require(start + tensor.shape.c <= check.chip().npu_num, [&] {
    return fmt::format("dst starts on NPU {} and needs {} NPUs; the chip has {}", start, tensor.shape.c,
                       check.chip().npu_num);
  });
}

void check_starts_on_first(Checks& check, const char* name, const Tensor& tensor) {
  const int start = check.chip().npu_of(tensor.addr);
  check.require(start == 0, [&] { return fmt::format("{} starts on NPU {}; it has to start on NPU 0", name, start); });
}

void check_static(Checks& check, const Tensor& src) {
  check.require(src.addr % static_cast<unsigned>(check.chip().eu_bytes) == 0, [&] {
    return fmt::format("src offset in static memory (0x{:x}) is not a multiple of {}", src.addr, check.chip().eu_bytes);
  });
  // The vendor's limit: the last byte of static memory is out of reach.
  const std::uint64_t end = src.addr + static_cast<std::uint64_t>(src.shape.elements() * size_of(src.dtype));
  const bool to_the_end = check.chip().has(Quirk::kStaticByOffset) && end == check.chip().static_mem.bytes;
  check.require(end < check.chip().static_mem.bytes || to_the_end, [&] {
    return fmt::format("src [0x{:x}, 0x{:x}) does not end below the end of static memory (0x{:x})", src.addr, end,
                       check.chip().static_mem.bytes);
  });
}

NaturalAlignment alignment_of(Op op) {
  const bool compact = op == Op::tpu_bdc_npu_distribute_from_static || op == Op::tpu_bdc_arithmetic_sequence_distribute;
  return compact ? NaturalAlignment::kElement : NaturalAlignment::kEuRow;
}

}  // namespace

void rules(Checks& check, const CrossCopyCmd& cmd) {
  const Op op = check.op();
  check.type("dst", cmd.dst.dtype).shape("shape", cmd.dst.shape).lane_tensor("dst", cmd.dst, alignment_of(op));
  if (cmd.src.space == Space::kStatic) {
    check_static(check, cmd.src);
  } else {
    check.lane_tensor("src", cmd.src);
  }
  if (check.violation()) return;
  if (op == Op::tpu_bdc_npu_bcast || op == Op::tpu_bdc_npu_bcast_from_static) check_no_wrap(check, cmd.dst);
  const bool transposes = op == Op::tpu_bdc_cw_trans || op == Op::tpu_bdc_wc_trans;
  if (transposes && check.chip().has(Quirk::kTransposeApart)) {
    check.require(cmd.dst.addr != cmd.src.addr, "constraint/overlap",
                  [&] { return fmt::format("dst is at src (0x{:x}); the function needs both", cmd.src.addr); });
  }
  if (op == Op::tpu_bdc_cw_trans) check_starts_on_first(check, "src", cmd.src);
  if (op == Op::tpu_bdc_wc_trans || op == Op::tpu_bdc_npu_distribute_from_static)
    check_starts_on_first(check, "dst", cmd.dst);
}

void rules(Checks& check, const SequenceCmd& cmd) {
  const Op op = check.op();
  check.type("dst", cmd.dst.dtype).shape("shape", cmd.dst.shape).lane_tensor("dst", cmd.dst, alignment_of(op));
  if (check.violation()) return;
  const bool distributed = op == Op::tpu_bdc_arithmetic_sequence_distribute ||
                           op == Op::tpu_bdc_arithmetic_sequence_distribute_aligned ||
                           op == Op::tpu_bdc_arithmetic_sequence_distribute_with_dtype ||
                           op == Op::tpu_bdc_arithmetic_sequence_distribute_aligned_with_dtype;
  if (distributed) return check_starts_on_first(check, "dst", cmd.dst);
  if (!check.chip().has(Quirk::kWrappingSequences)) check_no_wrap(check, cmd.dst);
}

void rules(Checks& check, const RandomCmd& cmd) {
  check.target(cmd.dst);
  if (cmd.keeps) check.lane_tensor("state", cmd.state).same_npu("state", cmd.state.addr, "dst", cmd.dst.addr);
  if (check.violation()) return;
  const Dim4& shape = cmd.dst.shape;
  check.require(shape.h == 1, [&] { return fmt::format("shape.h ({}) is not 1", shape.h); });
  const int row = check.chip().eu_bytes / size_of(cmd.dst.dtype);
  check.require(shape.w % row == 0, [&] { return fmt::format("shape.w ({}) is not a multiple of {}", shape.w, row); });
  // What the recordings leave open is refused.
  check.require(shape.n == 1, [&] { return fmt::format("shape.n ({}): only 1 is recorded or described", shape.n); });
  check_starts_on_first(check, "dst", cmd.dst);
  check.require(shape.c <= check.chip().npu_num, [&] {
    return fmt::format("shape.c ({}): only as many channels as NPUs are recorded or described", shape.c);
  });
  check.require(cmd.jump == 0 || cmd.jump == 1 || cmd.jump == 3 || cmd.jump == 33,
                [&] { return fmt::format("jump_cnt ({}): only 0, 1, 3 and 33 are recorded or described", cmd.jump); });
}

}  // namespace softtpu
