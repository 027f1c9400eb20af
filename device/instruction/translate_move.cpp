// TIU operations that move elements: SFU, SG, SGL, TRANS&BC.
#include "device/chip/rules.hpp"
#include "device/instruction/address.hpp"
#include "device/instruction/operands.hpp"
#include "device/isa/op_names.hpp"

namespace softtpu::stream {

Issued special_function(const Operands& in) {
  const Dim4 shape = in.result_shape();
  const Dtype src_type = in.type(Field::opd0_prec, true);
  const Dtype dst_type = in.type(Field::res0_prec, true);
  const Tensor dst = in.tensor(Field::res0_addr, shape, dst_type);
  const Tensor src = in.tensor(Field::opd0_addr, shape, src_type);
  switch (in.function()) {
    case 12:
    case 13: {
      const Dim4 table{1, in.chip().npu_num, 1, in.size(Field::opd1_n)};
      // Every NPU has the coefficients; the NPU of the address does not count.
      Tensor coefficients = in.tensor(Field::opd1_addr, table, src_type);
      coefficients.addr = in.chip().offset_of(coefficients.addr);
      coefficients.stride = aligned_stride(in.chip(), 0, table, src_type);
      return {Op::tpu_bdc_fp_taylor, TaylorCmd{dst, src, coefficients}};
    }
    case 15: return {Op::tpu_bdc_fp_exponent_part, ExponentCmd{dst, src}};
    case 17: {
      // On some chips the unit itself knows the special cases.
      const bool steps_only = !in.chip().has(Quirk::kRsqrtSpecial) && !in.chip().has(Quirk::kRsqrtFlushes);
      return {src_type == Dtype::kFp32 ? Op::tpu_bdc_fp32_tunable_rsqrt : Op::tpu_bdc_fp_rsqrt,
              RootCmd{RootMode::kRsqrt, dst, src, in.size(Field::opd2_n_str) + 1, steps_only}};
    }
    default: in.refuse_function();
  }
}

namespace {

struct GatherKind {
  Op op;
  GatherMode mode;
  bool scatter = false;
  bool four_banks = false;
};

GatherKind gather_kind(const Operands& in) {
  switch (in.function()) {
    case 0: return {Op::tpu_bdc_w_gather_exception, GatherMode::kW};
    case 1: return {Op::tpu_bdc_hw_gather_exception, GatherMode::kHw};
    case 3: return {Op::tpu_bdc_w_scatter, GatherMode::kW, true};
    case 4: return {Op::tpu_bdc_hw_scatter, GatherMode::kHw, true};
    case 5:
    case 13: return {Op::tpu_bdc_batch_bcast_w_gather_exception, GatherMode::kBatchW};
    case 6:
    case 14: return {Op::tpu_bdc_batch_bcast_w_scatter, GatherMode::kBatchW, true};
    case 7: return {Op::tpu_bdc_4bank_w_gather_exception, GatherMode::kBatchW, false, true};
    case 17: return {Op::tpu_bdc_batch_bcast_h_gather_exception, GatherMode::kBatchH};
    case 18: return {Op::tpu_bdc_batch_bcast_h_scatter, GatherMode::kBatchH, true};
    default: in.refuse_function();
  }
}

// The parameter's columns whose mask is set, in each row; the number of them goes to the second result.
Issued mask_select(const Operands& in) {
  const Dim4 shape = in.result_shape();
  const Dtype type = in.type(Field::res0_prec, false);
  MaskSelectCmd cmd;
  const Dim4 walked{shape.n, shape.c, 1, in.size(Field::opd0_w)};
  cmd.dst = in.tensor(Field::res0_addr, walked, type);
  cmd.count = in.tensor(Field::res1_addr, {shape.n, shape.c, 1, 1}, Dtype::kUint16, Layout::kCompact);
  cmd.param = in.tensor(Field::opd0_addr, {1, shape.c, 1, walked.w}, type);
  if (in.value(Field::opd0_str) == static_cast<unsigned>(Layout::kRows)) cmd.param.stride.c = 0;
  cmd.mask = in.tensor(Field::opd1_addr, walked, in.type(Field::opd1_prec, false));
  return {Op::tpu_bdc_batch_bcast_w_mask_select, cmd};
}

}  // namespace

Issued gather_and_scatter(const Operands& in) {
  if (in.function() == 8 || in.function() == 15) return mask_select(in);
  const GatherKind kind = gather_kind(in);
  const Dim4 result = in.result_shape();
  const Dtype type = in.type(Field::res0_prec, false);
  const Dtype index_type = in.type(Field::opd1_prec, false);
  const bool shared = kind.mode == GatherMode::kW || kind.mode == GatherMode::kHw;
  const bool rows = kind.mode == GatherMode::kBatchH;
  const Layout data = rows ? Layout::kRows : Layout::kAligned;
  const Dim4 param{shared ? result.n : 1, result.c, in.size(Field::opd0_h), rows ? result.w : in.size(Field::opd0_w)};
  const Dim4 walked = kind.scatter ? Dim4{result.n, result.c, param.h, param.w} : result;

  GatherCmd cmd;
  cmd.mode = kind.mode;
  cmd.scatter = kind.scatter;
  cmd.four_banks = kind.four_banks;
  cmd.exception = in.flag(Field::opd3_const);
  cmd.fill = cmd.exception && in.flag(Field::opd2_const);
  cmd.constant = in.constant(Field::opd2_addr, type);
  cmd.dst = in.tensor(Field::res0_addr, result, type, data);
  cmd.param = in.tensor(Field::opd0_addr, param, type, data);
  if (!shared && in.value(Field::opd0_str) == static_cast<unsigned>(Layout::kRows)) cmd.param.stride.c = 0;
  Dim4 index;
  switch (kind.mode) {
    case GatherMode::kW: index = {1, walked.w, 1, 1}; break;
    case GatherMode::kHw: index = {1, extent(walked.h, walked.w), 1, 2}; break;
    case GatherMode::kBatchW: index = {walked.n, walked.c, 1, walked.w}; break;
    case GatherMode::kBatchH: index = {walked.n, walked.c, 1, walked.h}; break;
  }
  cmd.index = in.tensor(Field::opd1_addr, index, index_type, shared ? Layout::kCompact : Layout::kAligned);
  return {kind.op, cmd};
}

namespace {

// A source in static memory.
Tensor in_static(const Operands& in, const Dim4& shape, const Stride4& stride, Dtype type) {
  const MemoryRange& memory = in.chip().static_mem;
  std::uint64_t addr = in.value(Field::opd0_addr);
  // Where instructions have no addresses of the system map, it is an offset.
  if (codes_of(in.chip()).offset_bits != 0) addr += memory.start;
  if (!memory.contains(addr)) in.refuse(Field::opd0_addr, "is no address of static memory");
  return {Space::kStatic, addr - memory.start, shape, stride, type, true};
}

}  // namespace

Issued between_npus(const Operands& in) {
  const Dim4 shape = in.result_shape();
  const Dtype type = in.type(Field::res0_prec, false);
  const Dim4 turned{shape.n, shape.w, shape.h, shape.c};
  const auto dst = [&](Layout layout) { return in.tensor(Field::res0_addr, shape, type, layout); };
  const auto src = [&](const Dim4& of) { return in.tensor(Field::opd0_addr, of, type); };
  switch (in.function()) {
    case 0: return {Op::tpu_bdc_cw_trans, CrossCopyCmd{CopyOrder::kNwhc, dst(Layout::kRows), src(turned)}};
    case 1: return {Op::tpu_bdc_wc_trans, CrossCopyCmd{CopyOrder::kNwhc, dst(Layout::kAligned), src(turned)}};
    case 2: return {Op::tpu_bdc_cpy_cross_npu, CrossCopyCmd{CopyOrder::kNchw, dst(Layout::kAligned), src(shape)}};
    case 3:
      return {Op::tpu_bdc_npu_bcast,
              CrossCopyCmd{CopyOrder::kNchw, dst(Layout::kAligned), src({shape.n, 1, shape.h, shape.w})}};
    case 4:
      return {Op::tpu_bdc_npu_bcast_from_static,
              CrossCopyCmd{CopyOrder::kNchw, in.tensor(Field::res0_addr, Dim4{1, shape.c, 1, shape.w}, type),
                           in_static(in, {1, 1, 1, shape.w}, Stride4{0, 0, 0, 1}, type)}};
    case 5:
      return {
          Op::tpu_bdc_npu_distribute_from_static,
          CrossCopyCmd{CopyOrder::kNchw, in.tensor(Field::res0_addr, Dim4{1, shape.c, 1, 1}, type, Layout::kCompact),
                       in_static(in, Dim4{1, shape.c, 1, 1}, Stride4{0, 1, 0, 0}, type)}};
    default: in.refuse_function();
  }
}

}  // namespace softtpu::stream
