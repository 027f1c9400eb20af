// TIU operations element by element: AR, CMP, LIN, VC, RQ&DQ.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include "device/chip/rules.hpp"
#include "device/instruction/operands.hpp"
#include "device/isa/op_names.hpp"

namespace softtpu::stream {
namespace {

constexpr TiuOperand kResult{Field::res0_addr,  Field::res0_prec,  Field::res0_str,  Field::res0_n_str,
                             Field::res0_c_str, Field::res0_h_str, Field::res0_w_str};
constexpr TiuOperand kFirst{Field::opd0_addr,  Field::opd0_prec,  Field::opd0_str,  Field::opd0_n_str,
                            Field::opd0_c_str, Field::opd0_h_str, Field::opd0_w_str};
constexpr TiuOperand kSecond{Field::opd1_addr,  Field::opd1_prec,  Field::opd1_str,  Field::opd1_n_str,
                             Field::opd1_c_str, Field::opd1_h_str, Field::opd1_w_str};

Operand operand(const Operands& in, const TiuOperand& which, Field is_constant, const Dim4& shape, Dtype type) {
  if (in.flag(is_constant)) return in.constant(which.addr, type);
  return in.tensor(which, shape, type);
}

// What the functions of AR have in common.
struct Arithmetic {
  explicit Arithmetic(const Operands& operands)
      : in(operands),
        shape(in.result_shape()),
        first_type(in.type_or_nibble(Field::opd0_prec, in.flag(Field::opd0_sign))),
        second_type(in.type_or_nibble(Field::opd1_prec, in.flag(Field::opd1_sign))),
        result_type(in.type_or_nibble(Field::res0_prec, in.flag(Field::opd0_sign) || in.flag(Field::opd1_sign))) {}

  // Functions that take no 4-bit integers have no other name for code 6.
  void refuse_nibbles() const {
    for (const auto& [field, type] : {std::pair(Field::opd0_prec, first_type), std::pair(Field::opd1_prec, second_type),
                                      std::pair(Field::res0_prec, result_type)})
      if (is_nibble(type)) in.refuse(field, "is no data type of this instruction");
  }

  Tensor dst(Dtype type) const { return in.tensor(kResult, shape, type); }
  Tensor dst() const { return dst(result_type); }
  Operand first() const { return operand(in, kFirst, Field::opd0_const, shape, first_type); }
  Operand second() const { return operand(in, kSecond, Field::opd1_const, shape, second_type); }
  Tensor first_tensor() const {
    if (in.flag(Field::opd0_const)) in.refuse(Field::opd0_const, "is set: the operand of this function is a tensor");
    return in.tensor(kFirst, shape, first_type);
  }
  // Of one data type: floats as they are, integers of the result's type.
  Issued binary(Op op, ArithMode mode) const {
    require_one_type({Field::opd0_prec, Field::opd1_prec}, in.value(Field::res0_prec));
    if (is_fp8(first_type) && (first_type != second_type || first_type != in.result_type(false)))
      in.refuse(Field::opd1_sign, "makes the operands' or the result's FP8 another one");
    const Tensor result = dst();
    // Of results upon each other the last one stays, but of bits of floats something else does (golden-bmodel ar/0715).
    const bool of_bits = mode == ArithMode::kAnd || mode == ArithMode::kOr || mode == ArithMode::kXor;
    if (of_bits && is_float(result_type) && shape.w > 1 && result.stride.w == 0)
      in.refuse_results(Field::res0_w_str, "lays bits of floats upon each other");
    return {op, ArithCmd{mode, result, first(), second()}};
  }
  // FP8 beside a constant, with results of any float type.
  bool mixes_fp8() const {
    const bool fp8 = is_fp8(first_type) || is_fp8(second_type) || is_fp8(in.result_type(false));
    return fp8 && in.flag(Field::opd0_const) != in.flag(Field::opd1_const);
  }
  Issued mixed(Op op, ArithMode mode) const {
    const bool constant_first = in.flag(Field::opd0_const);
    MixedArithCmd cmd;
    cmd.mode = mode;
    cmd.dst = dst(in.result_type(false));
    cmd.src = std::get<Tensor>(constant_first ? second() : first());
    cmd.constant = std::get<Scalar>(constant_first ? first() : second());
    cmd.constant_first = constant_first;
    cmd.saturate = in.flag(Field::sym_range);
    return {op, cmd};
  }
  // What floats beside integers, or beside other floats, give is no function's.
  void require_one_type(std::initializer_list<Field> fields, std::uint64_t code) const {
    if (!is_float(first_type) && !is_float(second_type) && !is_float(result_type)) return;
    for (const Field field : fields) {
      if (in.value(field) != code) in.refuse(field, "is another type than the result's");
    }
  }
  Issued compare(Op op, Compare compare) const {
    if (is_integer(first_type) && is_integer(second_type) && is_signed_int(first_type) != is_signed_int(second_type))
      in.refuse(Field::opd1_sign, "is another sign than the first operand's");
    const Dtype type = in.type(Field::res0_prec, false);
    return {op, CompareCmd{compare, dst(type), first(), second(), in.constant(Field::opd2_addr, type)}};
  }
  // A difference has a sign whatever the operands have.
  Issued integer(Op op, IntMode mode, bool saturate) const {
    if (in.size(Field::tsk_opd_num) < 2) in.refuse(Field::tsk_opd_num, "is too few operands for this function");
    if (saturate && in.has(Field::sym_range) && in.flag(Field::sym_range))
      in.refuse(Field::sym_range, "is set: no function of this kind leaves the lowest value out");
    const Dtype type = in.type_or_nibble(Field::res0_prec, mode == IntMode::kSub || is_signed_int(result_type));
    const Packing packing{is_nibble(type), is_nibble(first_type), is_nibble(second_type)};
    const Tensor result = dst(type);
    const Rounding rounding = in.rounding(in.value(Field::opd2_n_str));
    const Operand amount = shift();
    if (packing.any()) {
      for (const Field field : {Field::opd0_const, Field::opd1_const})
        if (in.flag(field)) in.refuse(field, "makes a constant beside 4-bit integers, which is not determined");
      if (std::holds_alternative<Tensor>(amount))
        in.refuse(Field::opd2_const, "shifts 4-bit integers by an amount for each channel, which is not determined");
    }
    return {op, IntArithCmd{mode, result, first(), second(), amount, with_packing(rounding, packing), saturate}};
  }
  // Floats, or integers with a shift behind the operation.
  Issued float_or_integer(Op float_op, ArithMode float_mode, Op int_op, IntMode int_mode) const {
    return is_float(result_type) ? binary(float_op, float_mode) : integer(int_op, int_mode, false);
  }
  Operand shift() const {
    if (in.size(Field::tsk_opd_num) < 3) return Scalar{0, Dtype::kInt8};
    if (in.flag(Field::opd2_const)) return in.constant(Field::opd2_addr, Dtype::kInt8);
    // One for each channel, of any type, as far apart as those are; the low byte counts.
    const Dtype stored = in.type(Field::opd2_prec, true);
    Tensor amounts = in.per_channel(Field::opd2_addr, shape, stored);
    amounts.dtype = Dtype::kInt8;
    amounts.stride.c *= size_of(stored);
    return amounts;
  }
  Issued shifted(Op op) const {
    const Rounding rounding = in.rounding(in.value(Field::opd2_n_str));
    const Tensor result = dst(in.type(Field::res0_prec, in.flag(Field::opd0_sign)));
    // An amount has a sign, whatever the instruction says.
    const Operand amount = operand(in, kSecond, Field::opd1_const, shape, in.type(Field::opd1_prec, true));
    return {op, ShiftCmd{result, first_tensor(), amount, rounding}};
  }
  Issued cast() const {
    const Dtype type = in.type_or_nibble(Field::res0_prec, in.flag(Field::opd2_sign));
    const Packing packing{is_nibble(type), is_nibble(first_type), false};
    const Rounding rounding = in.rounding(in.value(Field::opd2_n_str));
    if (type == first_type && is_float(type)) {
      return {Op::tpu_bdc_fp_round, UnaryCmd{UnaryMode::kRound, rounding, dst(type), first_tensor()}};
    }
    return {Op::tpu_bdc_cast, CastCmd{dst(type), first_tensor(), with_packing(rounding, packing)}};
  }
  // The shifts of integers stand in the third operand's place: left in bits 0..7, right in bits 8..15.
  Issued multiply_accumulate() const {
    if (result_type == Dtype::kFp32) return {Op::tpu_bdc_fp32_mac, MacCmd{dst(), first(), second()}};
    const auto shifts = in.value(Field::opd2_addr);
    return {Op::tpu_bdc_int8_mac,
            MacCmd{dst(), first(), second(), static_cast<int>(shifts & 0xFF), static_cast<int>(shifts >> 8 & 0xFF),
                   in.rounding(in.value(Field::opd2_n_str))}};
  }
  Issued divide() const {
    const bool single = result_type == Dtype::kFp32;
    return {single ? Op::tpu_bdc_fp32_tunable_div : Op::tpu_bdc_fp_tunable_div,
            DivideCmd{dst(), first(), second(), in.size(Field::opd2_n_str) + 1}};
  }

  const Operands& in;
  Dim4 shape;
  Dtype first_type, second_type, result_type;
};

}  // namespace

// Products, sums, differences and conversions.
static bool takes_nibbles(unsigned function) {
  constexpr std::array kFunctions{0U, 2U, 3U, 14U, 15U, 16U, 20U};
  return std::find(kFunctions.begin(), kFunctions.end(), function) != kFunctions.end();
}

Issued element_by_element(const Operands& in) {
  const Arithmetic ar(in);
  if (!takes_nibbles(in.function())) ar.refuse_nibbles();
  switch (in.function()) {
    case 0:
      if (ar.mixes_fp8()) return ar.mixed(Op::tpu_bdc_fp8_mul_C, ArithMode::kMul);
      return ar.float_or_integer(Op::tpu_bdc_fp_mul, ArithMode::kMul, Op::tpu_bdc_int_mul, IntMode::kMul);
    case 1: return {Op::tpu_bdc_not, UnaryCmd{UnaryMode::kNot, Rounding::kHalfToEven, ar.dst(), ar.first_tensor()}};
    case 2:
      if (ar.mixes_fp8()) return ar.mixed(Op::tpu_bdc_fp8_add_C, ArithMode::kAdd);
      return ar.float_or_integer(Op::tpu_bdc_fp_add, ArithMode::kAdd, Op::tpu_bdc_int_add, IntMode::kAdd);
    case 3:
      if (ar.mixes_fp8() && in.flag(Field::opd0_const)) return ar.mixed(Op::tpu_bdc_fp8_C_sub, ArithMode::kSub);
      return ar.float_or_integer(Op::tpu_bdc_fp_sub, ArithMode::kSub, Op::tpu_bdc_int_sub, IntMode::kSub);
    case 4: return ar.binary(Op::tpu_bdc_max, ArithMode::kMax);
    case 5: return ar.binary(Op::tpu_bdc_min, ArithMode::kMin);
    case 6: return ar.shifted(Op::tpu_bdc_logical_shift);
    case 7: return ar.binary(Op::tpu_bdc_and, ArithMode::kAnd);
    case 8: return ar.binary(Op::tpu_bdc_or, ArithMode::kOr);
    case 9: return ar.binary(Op::tpu_bdc_xor, ArithMode::kXor);
    case 10: return ar.compare(Op::tpu_bdc_greater, Compare::kGreater);
    case 11: return ar.compare(Op::tpu_bdc_equal, Compare::kEqual);
    case 12: return ar.divide();
    case 13: return ar.compare(Op::tpu_bdc_less, Compare::kLess);
    case 14: return ar.cast();
    case 15: return ar.integer(Op::tpu_bdc_int_add, IntMode::kAdd, true);
    case 16: return ar.integer(Op::tpu_bdc_int_sub, IntMode::kSub, true);
    case 18: return ar.multiply_accumulate();
    case 19: return {Op::tpu_bdc_cpy, CopyCmd{ar.dst(), ar.first()}};
    case 20: return ar.integer(Op::tpu_bdc_int_mul, IntMode::kMul, true);
    case 21: return ar.shifted(Op::tpu_bdc_arithmetic_shift);
    case 26:
      // What has no sign is copied.
      if (is_integer(ar.first_type) && !is_signed_int(ar.first_type) && ar.first_type == ar.result_type)
        return {Op::tpu_bdc_cpy, CopyCmd{ar.dst(), ar.first_tensor()}};
      ar.require_one_type({Field::opd0_prec}, in.value(Field::res0_prec));
      return {Op::tpu_bdc_abs, UnaryCmd{UnaryMode::kAbs, Rounding::kHalfToEven, ar.dst(), ar.first_tensor()}};
    case 27: return ar.binary(Op::tpu_bdc_fp_diff_abs, ArithMode::kDiffAbs);
    default: in.refuse_function();
  }
}

Issued compare_and_select(const Operands& in) {
  const Dim4 shape = in.result_shape();
  const Dtype type = in.type(Field::opd0_prec, in.flag(Field::opd0_sign));
  const Dtype result = in.type(Field::opd2_prec, false);
  // In the first two operands layout 2 is one value for each channel; the selected ones are aligned.
  const auto compared = [&](Field addr, Field layout, Field is_constant) -> Operand {
    if (in.flag(is_constant)) return in.constant(addr, type);
    return in.tensor(TiuOperand{addr, Field::opd0_prec, layout}, shape, type);
  };
  const auto selected = [&](Field addr, Field is_constant) -> Operand {
    if (in.flag(is_constant)) return in.constant(addr, result);
    return in.tensor(addr, shape, result);
  };
  SelectCmd cmd;
  cmd.a = compared(Field::opd0_addr, Field::opd0_str, Field::opd0_const);
  cmd.b = compared(Field::opd1_addr, Field::opd1_str, Field::opd1_const);
  cmd.yes = selected(Field::opd2_addr, Field::opd2_const);
  cmd.no = selected(Field::opd3_addr, Field::opd3_const);
  const bool both = in.function() == 22 || in.function() == 25;
  cmd.dst = in.tensor(both ? Field::res1_addr : Field::res0_addr, shape, result);
  if (both) cmd.winner = in.tensor(Field::res0_addr, shape, type);
  switch (in.function()) {
    case 22: cmd.compare = Compare::kGreater; return {Op::tpu_bdc_maximum_greater_select, cmd};
    case 23: cmd.compare = Compare::kGreater; return {Op::tpu_bdc_greater_select, cmd};
    case 24: cmd.compare = Compare::kEqual; return {Op::tpu_bdc_equal_select, cmd};
    case 25: cmd.compare = Compare::kLess; return {Op::tpu_bdc_minimum_less_select, cmd};
    case 26: cmd.compare = Compare::kLess; return {Op::tpu_bdc_less_select, cmd};
    default: in.refuse_function();
  }
}

Issued multiply_and_add(const Operands& in) {
  const Dim4 shape = in.result_shape();
  const Dtype type = in.type(Field::res0_prec, true);
  const auto parameter = [&](Field addr, Field is_constant) -> Operand {
    if (in.flag(is_constant)) return in.constant(addr, type);
    return in.per_channel(addr, shape, type);
  };
  const Tensor dst = in.tensor(Field::res0_addr, shape, type);
  const Tensor src = in.tensor(Field::opd0_addr, shape, type);
  const Operand one = parameter(Field::opd1_addr, Field::opd1_const);
  switch (in.function()) {
    case 1: {
      const Operand two = parameter(Field::opd2_addr, Field::opd2_const);
      return {Op::tpu_bdc_fp_scale_bias, ScaleBiasCmd{dst, src, one, two}};
    }
    case 20: return {Op::tpu_bdc_fp_add_bias_sqr, ArithCmd{ArithMode::kAddSquare, dst, src, one}};
    case 21: return {Op::tpu_bdc_fp_sub_bias_sqr, ArithCmd{ArithMode::kSubSquare, dst, src, one}};
    default: in.refuse_function();
  }
}

Issued vector_by_vector(const Operands& in) {
  const bool is_signed = in.flag(Field::opd0_sign) || in.flag(Field::opd1_sign);
  const Dtype first = in.type(Field::opd0_prec, in.flag(Field::opd0_sign));
  const Dtype second = in.type(Field::opd1_prec, in.flag(Field::opd1_sign));
  const Dtype result = in.type(Field::res0_prec, is_signed);
  // Of the first vector all channels but the last are full.
  const std::int64_t length =
      std::int64_t{in.size(Field::opd0_w)} * (in.size(Field::opd0_c) - 1) + in.size(Field::opd1_w);
  if (length > std::numeric_limits<int>::max()) in.refuse(Field::opd0_c, "makes a vector of 2^31 elements or more");
  const Dim4 shape{static_cast<int>(length), in.size(Field::res0_c), 1, in.size(Field::res0_w)};
  const Tensor src0 = in.tensor(Field::opd0_addr, {1, in.size(Field::opd0_c), 1, in.size(Field::opd0_w)}, first);
  Tensor src1 = in.tensor(Field::opd1_addr, {1, shape.c, 1, shape.w}, second);
  src1.shape = shape;
  src1.stride.n = 0;
  const auto dst = [&](Dtype type) { return in.tensor(Field::res0_addr, shape, type); };
  const auto arith = [&](Op op, ArithMode mode) {
    return Issued{op, OuterCmd{src0, ArithCmd{mode, dst(result), {}, src1}}};
  };
  const auto integer = [&](Op op, IntMode mode, bool saturate) {
    IntArithCmd rule;
    rule.mode = mode;
    rule.dst = dst(in.type(Field::res0_prec, mode == IntMode::kSub || is_signed));
    rule.b = src1;
    rule.shift = Scalar{0, Dtype::kInt8};
    rule.saturate = saturate;
    return Issued{op, OuterCmd{src0, rule}};
  };
  const auto compare = [&](Op op, Compare which) {
    const Dtype type = in.type(Field::res0_prec, false);
    return Issued{op, OuterCmd{src0, CompareCmd{which, dst(type), {}, src1, in.constant(Field::opd2_addr, type)}}};
  };
  const bool floats = is_float(result);
  switch (in.function()) {
    case 0:
      return floats ? arith(Op::tpu_bdc_fp_vc_mul, ArithMode::kMul)
                    : integer(Op::tpu_bdc_int_vc_mul, IntMode::kMul, false);
    case 2:
      return floats ? arith(Op::tpu_bdc_fp_vc_add, ArithMode::kAdd)
                    : integer(Op::tpu_bdc_int_vc_add, IntMode::kAdd, false);
    case 3:
      return floats ? arith(Op::tpu_bdc_fp_vc_sub, ArithMode::kSub)
                    : integer(Op::tpu_bdc_int_vc_sub, IntMode::kSub, false);
    case 4: return arith(Op::tpu_bdc_vc_max, ArithMode::kMax);
    case 5: return arith(Op::tpu_bdc_vc_min, ArithMode::kMin);
    case 7: return arith(Op::tpu_bdc_vc_and, ArithMode::kAnd);
    case 8: return arith(Op::tpu_bdc_vc_or, ArithMode::kOr);
    case 9: return arith(Op::tpu_bdc_vc_xor, ArithMode::kXor);
    case 10: return compare(Op::tpu_bdc_vc_greater, Compare::kGreater);
    case 11: return compare(Op::tpu_bdc_vc_equal, Compare::kEqual);
    case 12:
      return {Op::tpu_bdc_fp32_vc_div,
              OuterCmd{src0, DivideCmd{dst(result), {}, src1, in.size(Field::opd2_n_str) + 1}}};
    case 13: return compare(Op::tpu_bdc_vc_less, Compare::kLess);
    case 15: return integer(Op::tpu_bdc_int_vc_add, IntMode::kAdd, true);
    case 16: return integer(Op::tpu_bdc_int_vc_sub, IntMode::kSub, true);
    case 20: return integer(Op::tpu_bdc_int_vc_mul, IntMode::kMul, true);
    default: in.refuse_function();
  }
}

namespace {

// Parameters of quantisation for each channel: records of 32-bit words, compact.
class Records {
 public:
  Records(const Operands& in, const Dim4& shape, int words)
      : compact_(in.chip().has(Quirk::kCompactQuantRecords)),
        shape_(shape),
        first_(in.tensor(Field::opd1_addr, {1, shape.c, 1, compact_ ? 2 : words}, Dtype::kInt32,
                         compact_ ? Layout::kCompact : Layout::kAligned)) {}

  bool compact() const { return compact_; }
  // The high half of a compact record's second word.
  Operand offset() const { return at(6, Dtype::kInt16); }
  Operand word(int index, Dtype type) const { return at(index * static_cast<int>(sizeof(std::uint32_t)), type); }

 private:
  Operand at(int bytes, Dtype type) const {
    Tensor tensor = first_;
    tensor.addr += static_cast<std::uint64_t>(bytes);
    tensor.shape = shape_;
    tensor.stride = {0, first_.stride.c * std::int64_t{sizeof(std::uint32_t)} / size_of(type), 0, 0};
    tensor.dtype = type;
    tensor.natural = bytes == 0 && !compact_;
    return tensor;
  }

  bool compact_;
  Dim4 shape_;
  Tensor first_;
};

Dtype offset_type(Dtype quantised) { return is_signed_int(quantised) ? Dtype::kInt16 : Dtype::kUint16; }

}  // namespace

Issued quantisation(const Operands& in) {
  const Dim4 shape = in.result_shape();
  const Dtype src_type = in.type(Field::opd0_prec, in.flag(Field::opd0_sign));
  const Dtype dst_type = in.type(Field::res0_prec, in.flag(Field::opd2_sign));
  const Tensor dst = in.tensor(Field::res0_addr, shape, dst_type);
  const Tensor src = in.tensor(Field::opd0_addr, shape, src_type);
  const bool constants = in.flag(Field::opd1_const);
  const bool compact = in.chip().has(Quirk::kCompactQuantRecords);
  const std::uint64_t modes = in.value(Field::opd2_n_str);
  const auto first = static_cast<std::uint32_t>(in.value(Field::opd1_addr));
  const auto second = static_cast<std::uint32_t>(in.value(Field::opd2_addr));
  const auto low_half = [](std::uint32_t word, Dtype type) { return Scalar{word & 0xFFFFU, type}; };
  switch (in.function()) {
    case 0: {
      const Rounding to_float = in.rounding(modes & 7);
      const Rounding to_int = in.rounding(modes >> 3 & 7);
      if (constants) {
        return {Op::tpu_bdc_fp32_requant, FloatQuantCmd{Quant::kRequant, dst, src, Scalar{first, Dtype::kFp32},
                                                        Scalar{second, Dtype::kFp32}, to_float, to_int}};
      }
      const Records record(in, shape, 2);
      return {Op::tpu_bdc_fp32_pc_requant, FloatQuantCmd{Quant::kRequant, dst, src, record.word(0, Dtype::kFp32),
                                                         record.word(1, Dtype::kFp32), to_float, to_int}};
    }
    case 1: {
      const Rounding rounding = in.rounding(modes & 7);
      const Dtype offset = offset_type(dst_type);
      if (constants) {
        return {Op::tpu_bdc_int_requant,
                IntQuantCmd{Quant::kRequant, dst, src, Scalar{first, Dtype::kInt32},
                            Scalar{second & 0xFFU, Dtype::kInt8}, low_half(second >> 16, offset), rounding}};
      }
      const Records record(in, shape, 3);
      return {Op::tpu_bdc_int_pc_requant,
              IntQuantCmd{Quant::kRequant, dst, src, record.word(0, Dtype::kInt32), record.word(1, Dtype::kInt8),
                          record.compact() ? record.offset() : record.word(2, offset), rounding}};
    }
    case 3: {
      const Rounding rounding = in.rounding(modes & 7);
      if (constants) {
        const auto [offset, scale] = compact ? std::pair(second, first) : std::pair(first, second);
        return {Op::tpu_bdc_fp32_dequant, FloatQuantCmd{Quant::kDequant, dst, src, Scalar{scale, Dtype::kFp32},
                                                        low_half(offset, offset_type(src_type)), rounding}};
      }
      const Records record(in, shape, 2);
      const Dtype offset = compact ? Dtype::kInt16 : offset_type(src_type);
      return {Op::tpu_bdc_fp32_pc_dequant,
              FloatQuantCmd{Quant::kDequant, dst, src, record.word(1, Dtype::kFp32), record.word(0, offset), rounding}};
    }
    case 4: {
      const Rounding rounding = in.rounding(modes & 7);
      const Dtype offset = offset_type(src_type);
      if (constants) {
        // (multiplier; shift, offset), or (offset, shift; multiplier)
        const std::uint32_t multiplier = compact ? first : second;
        const std::uint32_t shift = compact ? second : first >> 16;
        const std::uint32_t point = compact ? second >> 16 : first;
        return {Op::tpu_bdc_int_dequant,
                IntQuantCmd{Quant::kDequant, dst, src, Scalar{multiplier, Dtype::kInt32},
                            Scalar{shift & 0xFFU, Dtype::kInt8}, low_half(point, offset), rounding}};
      }
      const Records record(in, shape, 3);
      if (compact) {
        return {Op::tpu_bdc_int_pc_dequant, IntQuantCmd{Quant::kDequant, dst, src, record.word(0, Dtype::kInt32),
                                                        record.word(1, Dtype::kInt8), record.offset(), rounding}};
      }
      return {Op::tpu_bdc_int_pc_dequant, IntQuantCmd{Quant::kDequant, dst, src, record.word(1, Dtype::kInt32),
                                                      record.word(2, Dtype::kInt8), record.word(0, offset), rounding}};
    }
    default: in.refuse_function();
  }
}

}  // namespace softtpu::stream
