// Instructions of BM1684: one layout for all operations of the tensor unit, absolute addresses, the arithmetic of
// OKKernel's functions. Packed integers: translate_okk_bytes.cpp.
#include <algorithm>
#include <bit>
#include <optional>

#include "device/instruction/okk_operands.hpp"
#include "device/isa/op_names.hpp"
#include "device/memory/static_tables.hpp"

namespace softtpu::stream {
namespace {

// Where the chip's firmware has its tables (golden-bmodel/bm1684: lookups, taylor_exp).
constexpr std::uint64_t kExpTable = 0x300400, kExpSeries = 0x300C00, kIntTable = 0x301300;
// The same numbers, as compiled networks look them up, and those of uint8.
constexpr std::uint64_t kNetworkExponentTable = 0x300000, kNetworkByteTable = 0x300F00;
// What DMA reads of the firmware's tables: 0, 1, 2 ... in single precision (networks with an argmax). How long the
// table is on a chip is not known.
constexpr std::uint64_t kNetworkSequence = 0x10301800;

Issued okk_arithmetic(const OkkOperands& of) {
  const auto floats = [&](Op op, ArithMode mode) {
    if (of.words()) of.in.refuse(Field::res0_prec, "is no float, which this function needs");
    return Issued{op, ArithCmd{mode, of.dst(), of.first(), of.second()}};
  };
  const auto words = [&](Op op, OkkWordMode mode) {
    const bool singles = mode == OkkWordMode::kDiv || mode == OkkWordMode::kMin;
    if (singles && of.words()) of.in.refuse(Field::res0_prec, "is no float, which this function needs");
    const Dtype type = singles ? Dtype::kFp32 : Dtype::kUint32;
    return Issued{op, OkkWordCmd{mode, of.dst(type), of.first(type), of.second(type)}};
  };
  const auto select = [&](Op op, OkkCompare compare) {
    if (!of.in.flag(Field::opd2_const)) of.in.refuse(Field::opd2_const, "is 0: a constant is selected");
    return Issued{op, OkkSelectCmd{compare, of.dst(Dtype::kUint32), of.first(), of.second(),
                                   of.in.constant(Field::opd2_addr, Dtype::kUint32), Scalar{0, Dtype::kFp32}}};
  };
  switch (of.in.function()) {
    case 0:
      if (of.in.flag(Field::res_add))
        return {Op::okk_bdc_mac, OkkMulAddCmd{of.dst(), of.first(), of.second(), of.dst()}};
      return floats(Op::okk_bdc_mul, ArithMode::kMul);
    case 1:
      if (of.words()) of.in.refuse(Field::res0_prec, "is no float, which this function needs");
      return {Op::okk_bdc_mac, OkkMulAddCmd{of.dst(), of.first(), of.second(), of.dst()}};
    case 2: return floats(Op::okk_bdc_add, ArithMode::kAdd);
    case 3: return floats(Op::okk_bdc_sub, ArithMode::kSub);
    case 4: return floats(Op::okk_bdc_max, ArithMode::kMax);
    case 5: return words(Op::okk_bdc_min, OkkWordMode::kMin);
    case 6:
      return of.shifts_arithmetically() ? words(Op::okk_bdc_32bit_arithmetic_shift, OkkWordMode::kShiftArithmetic)
                                        : words(Op::okk_bdc_32bit_logical_shift, OkkWordMode::kShiftLogical);
    case 7: return words(Op::okk_bdc_32bit_and, OkkWordMode::kAnd);
    case 8: return words(Op::okk_bdc_32bit_or, OkkWordMode::kOr);
    case 9: return words(Op::okk_bdc_32bit_xor, OkkWordMode::kXor);
    case 10: return select(Op::okk_bdc_greater_select_value, OkkCompare::kGreater);
    case 11: return select(Op::okk_bdc_equal_select_value, OkkCompare::kSameBits);
    case 12: return words(Op::okk_bdc_div, OkkWordMode::kDiv);
    case 19:
      return {Op::okk_bdc_32bit_cpy,
              OkkUnaryCmd{OkkUnaryMode::kCopy, of.dst(Dtype::kUint32), of.first(Dtype::kUint32)}};
    default: of.in.refuse_function();
  }
}

Issued okk_compare(const OkkOperands& of) {
  if (of.in.function() == 22) return {Op::okk_bdc_max, ArithCmd{ArithMode::kMax, of.dst(), of.first(), of.second()}};
  if (of.in.function() != 23) of.in.refuse_function();
  if (of.shape.n > 1 && !of.in.flag(Field::opd0_n_str))
    of.in.refuse(Field::opd0_n_str, "is no stride between several batches");
  return {Op::okk_bdc_greater_select,
          OkkSelectCmd{OkkCompare::kGreater, of.aligned(Field::res1_addr, of.shape, Dtype::kUint32), of.first(),
                       of.second(), of.selected(Field::opd2_addr, Field::opd2_const),
                       of.selected(Field::opd3_addr, Field::opd3_const)}};
}

Issued okk_special(const OkkOperands& of) {
  switch (of.in.function()) {
    case 13:
      if (of.in.value(Field::opd1_addr) != kExpSeries) of.in.refuse(Field::opd1_addr, "is no series that is known");
      return {Op::okk_bdc_taylor_exp, OkkTaylorCmd{of.dst(), of.source(), of.in.size(Field::opd1_n), true}};
    case 14:
      if (!of.words()) of.in.refuse(Field::res0_prec, "is no integer of 32 bits");
      return {Op::okk_bdc_fp32_to_int32, OkkUnaryCmd{OkkUnaryMode::kToInt32, of.dst(Dtype::kInt32), of.source()}};
    case 17: return {Op::okk_bdc_rsqrt, OkkUnaryCmd{OkkUnaryMode::kRsqrt, of.dst(), of.source()}};
    default: of.in.refuse_function();
  }
}

Issued okk_words_table(const OkkOperands& of, Space space, std::uint64_t at) {
  const Dim4 words{1, 1, 1, OkkTableCmd::kWords};
  return {Op::okk_bdc_lookup_int32_to_fp32,
          OkkTableCmd{of.dst(), of.source(Dtype::kUint32),
                      Tensor{space, at, words, continuous_stride(words), Dtype::kUint32, true}}};
}

// A table that the network has put into L2; the address counts from where L2 would begin.
Issued okk_table(const OkkOperands& of) {
  constexpr std::uint64_t kBase = 0x10000000;
  const std::uint64_t at = kBase + of.in.value(Field::opd1_addr);
  if (!of.in.chip().l2_sram.contains(at)) of.in.refuse(Field::opd1_addr, "is no table that is known");
  return okk_words_table(of, Space::kSystem, at);
}

Issued okk_lookup(const OkkOperands& of) {
  switch (of.in.value(Field::opd1_addr)) {
    case kNetworkExponentTable: return okk_words_table(of, Space::kStatic, okk_static_offset::kExponentTable);
    case kIntTable:
      return {Op::okk_bdc_lookup_int32_to_fp32,
              OkkUnaryCmd{OkkUnaryMode::kLookupInt, of.dst(), of.source(Dtype::kUint32)}};
    case kNetworkByteTable:
      return {Op::okk_bdc_lookup_int32_to_fp32,
              OkkUnaryCmd{OkkUnaryMode::kLookupByte, of.dst(), of.source(Dtype::kUint32)}};
    case kExpTable:
      return {Op::okk_bdc_lookup_exp, OkkUnaryCmd{OkkUnaryMode::kLookupExp, of.dst(), of.source(Dtype::kUint32)}};
    default: return okk_table(of);
  }
}

// dst = first * third + second, both of these one for each channel or constants.
Issued okk_linear(const OkkOperands& of) {
  if (of.in.function() != 1) of.in.refuse_function();
  const auto parameter = [&](Field addr, Field is_constant) -> Operand {
    if (of.in.flag(is_constant)) return of.in.constant(addr, Dtype::kFp32);
    Tensor tensor = of.per_channel(addr, of.shape.c);
    tensor.shape = of.shape;
    return tensor;
  };
  return {Op::okk_bdc_scale_bias, OkkMulAddCmd{of.dst(), of.first(), parameter(Field::opd2_addr, Field::opd2_const),
                                               parameter(Field::opd1_addr, Field::opd1_const)}};
}

Issued okk_pool(const OkkOperands& of) {
  const Operands& in = of.in;
  OkkWindowCmd cmd;
  cmd.window = in.function() == 4 ? okk_plain_window(in) : okk_window(in);
  cmd.output = of.dst();
  cmd.input =
      of.tensor(kOkkFirst, {of.shape.n, of.shape.c, in.size(Field::opd0_h), in.size(Field::opd0_w)}, Dtype::kFp32);
  if (in.function() == 4) {
    cmd.mode = OkkWindowMode::kMax;
    return {Op::okk_bdc_max_pool2d, cmd};
  }
  if (in.function() != 1) in.refuse_function();
  if (in.size(Field::tsk_opd_num) == kOperandsWithBias) cmd.bias = of.per_channel(Field::opd2_addr, of.shape.c);
  if (in.flag(Field::opd1_const)) {
    const float average = 1.0F / static_cast<float>(std::int64_t{cmd.window.kernel.h} * cmd.window.kernel.w);
    const auto bits = static_cast<std::uint32_t>(in.value(Field::opd1_addr));
    if (bits != std::bit_cast<std::uint32_t>(average)) cmd.factor = std::bit_cast<float>(bits);
    cmd.mode = OkkWindowMode::kAverage;
    return {Op::okk_bdc_avg_pool2d, cmd};
  }
  cmd.weight = in.tensor_at(of.local_address(Field::opd1_addr),
                            {1, of.shape.c, cmd.window.kernel.h, cmd.window.kernel.w}, Dtype::kFp32, Layout::kCompact);
  return {Op::okk_bdc_depthwise2d, cmd};
}

// Weights are pairs of input channels; strides count pairs.
Issued okk_convolution(const OkkOperands& of) {
  const Operands& in = of.in;
  const int channels = in.size(Field::opd0_c);
  OkkConvCmd cmd;
  cmd.window = okk_window(in);
  cmd.add = in.flag(Field::res_add);
  cmd.output = of.dst();
  cmd.input =
      of.tensor(kOkkFirst, {of.shape.n, channels, in.size(Field::opd0_h), in.size(Field::opd0_w)}, Dtype::kFp32);
  if (in.size(Field::tsk_opd_num) == kOperandsWithBias) cmd.bias = of.per_channel(Field::opd2_addr, of.shape.c);
  if (in.flag(Field::opd1_const)) {
    cmd.constant = std::bit_cast<float>(static_cast<std::uint32_t>(in.value(Field::opd1_addr)));
    return {Op::okk_bdc_conv2d, cmd};
  }
  const Dim4 pairs{cmd.pairs(), of.shape.c, cmd.window.kernel.h, cmd.window.kernel.w};
  Tensor weight = in.layout_of(kOkkSecond) == Layout::kAligned
                      ? in.tensor_at(of.local_address(Field::opd1_addr), pairs, Dtype::kFp32, Layout::kCompact)
                      : of.tensor(kOkkSecond, pairs, Dtype::kFp32);
  for (std::int64_t* step : {&weight.stride.n, &weight.stride.c, &weight.stride.h, &weight.stride.w}) *step *= 2;
  weight.natural = false;
  cmd.even = weight;
  if (channels > 1) {
    cmd.odd = weight;
    cmd.odd->addr += sizeof(float);
    cmd.odd->shape.n = channels / 2;
  }
  return {Op::okk_bdc_conv2d, cmd};
}

Issued okk_product(const OkkOperands& of) {
  const Operands& in = of.in;
  if (in.flag(Field::left_tran)) in.refuse(Field::left_tran, "is no part of any function");
  if (in.flag(Field::opd0_const) || in.flag(Field::opd1_const)) in.refuse(Field::opd0_const, "or the other is set");
  const int rows = in.size(Field::opd0_n);
  OkkMatmulCmd cmd;
  cmd.inner = extent(in.size(Field::opd0_w), in.size(Field::opd0_c) - 1, in.size(Field::opd1_w));
  cmd.cols = extent(of.shape.c, of.shape.w);
  cmd.add = in.flag(Field::res_add);
  cmd.output = of.aligned(Field::res0_addr, {rows, of.shape.c, 1, of.shape.w});
  cmd.left = of.aligned(Field::opd0_addr, {rows, in.size(Field::opd0_c), 1, in.size(Field::opd0_w)});
  cmd.right = of.aligned(Field::opd1_addr, {cmd.inner, of.shape.c, 1, of.shape.w});
  if (in.size(Field::tsk_opd_num) == kOperandsWithBias)
    cmd.bias = of.aligned(Field::opd2_addr, {1, of.shape.c, 1, of.shape.w});
  return {Op::okk_bdc_matmul, cmd};
}

}  // namespace

OkkWindow okk_window(const Operands& in) {
  OkkWindow window;
  window.kernel = {in.size(Field::opd1_h), in.size(Field::opd1_w)};
  window.padding = {in.size(Field::opd0_up_pad), in.size(Field::opd0_dn_pad), in.size(Field::opd0_lf_pad),
                    in.size(Field::opd0_rt_pad)};
  window.stride = {in.size(Field::res_op_y_str), in.size(Field::res_op_x_str)};
  window.dilation = {in.size(Field::opd1_y_ins0) + 1, in.size(Field::opd1_x_ins0) + 1};
  if (in.value(Field::winograd) != 0) in.refuse(Field::winograd, "is no part of any function");
  window.insert = {in.size(Field::opd0_y_ins0), in.size(Field::opd0_x_ins0)};
  window.rotated_180 = in.flag(Field::kernel_rotate);
  return window;
}

OkkWindow okk_plain_window(const Operands& in) {
  for (const Field field : {Field::opd0_x_ins0, Field::opd0_y_ins0, Field::kernel_rotate}) {
    if (in.value(field) != 0) in.refuse(field, "is no part of any function");
  }
  return okk_window(in);
}

Issued okk_tiu(const Operands& in) {
  const OkkOperands of(in);
  if (of.packed()) return okk_packed(of);
  of.require_words();
  switch (in.operation()) {
    case 0: return okk_convolution(of);
    case 1: return okk_pool(of);
    case 2: return okk_product(of);
    case 3:
    case 8: return okk_arithmetic(of);
    case 6: return okk_lookup(of);
    case 9: return okk_special(of);
    case 10: return okk_linear(of);
    case 13: return okk_compare(of);
    default: in.refuse_function();
  }
}

Issued okk_dma(const Operands& in) {
  constexpr unsigned kCopy = 0, kConstant = 4, kTransposed = 5;
  // Codes of element widths, and the functions of each.
  struct Width {
    std::uint64_t code;
    Dtype type;
    Op s2l, l2s, s2s, l2l, set_local, set_system;
  };
  constexpr Width kWidths[] = {
      {0, Dtype::kUint32, Op::okk_gdma_32bit_cpy_S2L, Op::okk_gdma_32bit_cpy_L2S, Op::okk_gdma_32bit_cpy_S2S,
       Op::okk_gdma_32bit_cpy_L2L, Op::okk_gdma_32bit_set_C_local, Op::okk_gdma_32bit_set_C_system},
      {1, Dtype::kUint16, Op::okk_gdma_16bit_cpy_S2L, Op::okk_gdma_16bit_cpy_L2S, Op::okk_gdma_16bit_cpy_S2S,
       Op::okk_gdma_16bit_cpy_L2L, Op::okk_gdma_16bit_set_C_local, Op::okk_gdma_16bit_set_C_system},
      {3, Dtype::kUint8, Op::okk_gdma_8bit_cpy_S2L, Op::okk_gdma_8bit_cpy_L2S, Op::okk_gdma_8bit_cpy_S2S,
       Op::okk_gdma_8bit_cpy_L2L, Op::okk_gdma_8bit_set_C_local, Op::okk_gdma_8bit_set_C_system}};
  const Width* width = nullptr;
  for (const Width& one : kWidths) {
    if (one.code == in.value(Field::src_data_format)) width = &one;
  }
  if (width == nullptr) in.refuse(Field::src_data_format, "is no element width");
  if (in.value(Field::dst_data_format) != in.value(Field::src_data_format))
    in.refuse(Field::dst_data_format, "is not that of the source");
  const Chip& chip = in.chip();
  struct Side {
    Field addr, n, c, h, w;
  };
  constexpr Side kFrom{Field::src_addr, Field::src_nstride, Field::src_cstride, Field::src_hstride, Field::src_wstride};
  constexpr Side kTo{Field::dst_addr, Field::dst_nstride, Field::dst_cstride, Field::dst_hstride, Field::dst_wstride};
  const auto is_local = [&](Field addr) { return chip.local_mem.contains(in.value(addr)); };
  const auto side = [&](const Side& which, const Dim4& shape) {
    const bool local = is_local(which.addr);
    const std::uint64_t at = in.value(which.addr);
    Tensor tensor{
        local ? Space::kLocal : Space::kSystem, local ? at - chip.local_mem.start : at, shape, {}, width->type, false};
    if (which.addr == Field::src_addr && at - kNetworkSequence < okk_static_offset::kSequenceWords * sizeof(float)) {
      tensor.space = Space::kStatic;
      tensor.addr = okk_static_offset::kSequence + (at - kNetworkSequence);
    }
    if (in.flag(Field::stride_enable)) {
      const auto stride = [&](Field field) { return static_cast<int>(static_cast<std::int32_t>(in.value(field))); };
      tensor.stride = {stride(which.n), stride(which.c), stride(which.h), stride(which.w)};
    } else {
      tensor.natural = true;
      tensor.stride =
          local ? aligned_stride(chip, chip.npu_of(tensor.addr), shape, width->type) : continuous_stride(shape);
    }
    return tensor;
  };
  const Dim4 from = in.shape(Field::src_nsize, Field::src_csize, Field::src_hsize, Field::src_wsize);
  const Dim4 to = in.shape(Field::dst_nsize, Field::dst_csize, Field::dst_hsize, Field::dst_wsize);
  const bool to_local = is_local(Field::dst_addr);
  if (in.function() == kConstant) {
    return {to_local ? width->set_local : width->set_system,
            DmaFillCmd{side(kTo, to), in.constant(Field::constant_value, width->type), false}};
  }
  if (in.function() != kCopy && in.function() != kTransposed) in.refuse_function();
  if (in.flag(Field::sys_mem_type)) {
    // A matrix in system memory, whose rows are cut into channels of a width.
    const bool from_local = is_local(Field::src_addr);
    if (in.function() != kCopy || from_local == to_local)
      in.refuse(Field::sys_mem_type, "belongs to copies of matrices between system and local memory");
    const Side& outside = from_local ? kTo : kFrom;
    const Side& inside = from_local ? kFrom : kTo;
    const Dim4& sizes = from_local ? to : from;
    const Dim4& channels = from_local ? from : to;
    if (sizes.n != 1 || sizes.c != 1 || channels.h != 1 || sizes.h != channels.n ||
        (std::int64_t{sizes.w} + channels.w - 1) / std::max(channels.w, 1) != channels.c)
      in.refuse(Field::sys_mem_type, "is set: the sizes of both sides are not those of one matrix");
    Tensor system = side(outside, {sizes.h, 1, 1, sizes.w});
    system.stride = {static_cast<int>(static_cast<std::int32_t>(in.value(outside.h))), 0, 0, 1};
    Tensor local = side(inside, {channels.n, channels.c, 1, std::min(channels.w, sizes.w)});
    local.stride.h = channels.w;
    local.stride.w = 1;
    if (from_local) return {Op::okk_gdma_32bit_matrix_L2S, DmaMatrixCmd{system, local, false}};
    return {Op::okk_gdma_32bit_matrix_S2L, DmaMatrixCmd{local, system, false}};
  }
  const Op op = is_local(Field::src_addr) ? (to_local ? width->l2l : width->l2s) : (to_local ? width->s2l : width->s2s);
  const CopyOrder order = in.function() == kTransposed ? CopyOrder::kNwhc
                          : from == to                 ? CopyOrder::kNchw
                                                       : CopyOrder::kReshape;
  Tensor destination = side(kTo, to);
  Tensor source = side(kFrom, from);
  if (order == CopyOrder::kNchw && (destination.stride.w != 1 || source.stride.w != 1) && to.w > 1) {
    // Bytes of packed integers: each element is a row of its own, where one dimension is free for that.
    const auto rows_follow = [&](const Tensor& tensor) {
      return to.h == 1 || tensor.stride.h == to.w * tensor.stride.w;
    };
    const bool joined = rows_follow(destination) && rows_follow(source);
    if (!joined && to.n != 1) in.refuse(Field::src_wstride, "or that of the destination is not 1, in several batches");
    for (Tensor* tensor : {&destination, &source}) {
      const Stride4 old = tensor->stride;
      tensor->shape = joined ? Dim4{to.n, to.c, to.h * to.w, 1} : Dim4{to.h, to.c, to.w, 1};
      tensor->stride = {joined ? old.n : old.h, old.c, old.w, 1};
      tensor->natural = false;
    }
  }
  return {op, DmaCopyCmd{order, destination, source}};
}

}  // namespace softtpu::stream
