#include "firmware/composite/steps.hpp"

#include <bit>

#include "device/isa/op_names.hpp"
#include "device/numeric/formats.hpp"
#include "firmware/call.hpp"

namespace softtpu {

scalar_t Steps::constant(float value) const {
  // All of its bits: {} sets those of the first member, one byte, alone.
  scalar_t scalar;
  scalar.u32 = 0;
  if (type_ == Dtype::kFp32) scalar.u32 = std::bit_cast<std::uint32_t>(value);
  if (type_ == Dtype::kFp16) scalar.u32 = round_f16(value);
  if (type_ == Dtype::kBfp16) scalar.u32 = round_bf16(value);
  return scalar;
}

void Steps::sqrt(local_addr_t dst, local_addr_t a) const {
  const Call call(Op::tpu_bdc_fp_sqrt);
  const Dim4 shape = call.dim("shape", &shape_);
  constexpr int kNewtonSteps = 3;  // those of the public function
  call.issue(RootCmd{RootMode::kSqrt, call.local(dst, shape, type_), call.local(a, shape, type_), kNewtonSteps});
}

void Steps::lookup(local_addr_t dst, local_addr_t src, local_addr_t table, int length) const {
  const Call call(Op::tpu_bdc_table_lookup);
  const Dim4 shape = call.dim("shape", &shape_);
  const Dim4 tables{1, call.chip().npu_num, 1, length};
  call.issue(LookupCmd{call.local(dst, shape, Dtype::kFp32), call.local(src, shape, Dtype::kUint16),
                       call.local(table, tables, Dtype::kFp32), true});
}

void Steps::power_of_two(local_addr_t dst, local_addr_t a) const {
  scalar_t bias{};
  bias.s32 = exponent_bias();
  const data_type_t type = integer();
  tpu_bdc_cast(dst, a, &shape_, nullptr, nullptr, type, code_, RM_HALF_TO_EVEN);
  tpu_bdc_int_add_C(dst, dst, bias, &shape_, nullptr, nullptr, type, type, type, 0, RM_HALF_TO_EVEN, false);
  tpu_bdc_arithmetic_shift_C(dst, dst, static_cast<char>(mantissa_bits()), &shape_, nullptr, nullptr, type, type,
                             RM_HALF_TO_EVEN);
}

void Steps::select_positive(local_addr_t dst, local_addr_t a, local_addr_t b, local_addr_t c) const {
  const variable_t value = tensor_variable(a);
  const variable_t zero = constant_variable(constant(0.0F));
  const variable_t yes = tensor_variable(b);
  const variable_t no = tensor_variable(c);
  tpu_bdc_greater_select(dst, &value, &zero, &yes, &no, &shape_, code_, code_);
}

void Steps::select_above(local_addr_t dst, local_addr_t a, float limit, const variable_t& b,
                         const variable_t& c) const {
  const variable_t value = tensor_variable(a);
  const variable_t bound = constant_variable(constant(limit));
  tpu_bdc_greater_select(dst, &value, &bound, &b, &c, &shape_, code_, code_);
}

void Steps::replace_above(local_addr_t dst, local_addr_t a, float limit, const variable_t& b) const {
  select_above(dst, a, limit, b, tensor_variable(dst));
}

void Steps::replace_at(local_addr_t dst, local_addr_t a, float value, float constant_value) const {
  const variable_t tested = tensor_variable(a);
  const variable_t place = constant_variable(constant(value));
  const variable_t yes = constant_variable(constant(constant_value));
  const variable_t no = tensor_variable(dst);
  tpu_bdc_equal_select(dst, &tested, &place, &yes, &no, &shape_, code_, code_);
}

void Steps::integer_C_sub(local_addr_t dst, std::uint32_t bits, local_addr_t a) const {
  scalar_t value{};
  value.u32 = bits;
  const data_type_t type = integer();
  tpu_bdc_int_C_sub(dst, a, value, &shape_, nullptr, nullptr, type, type, type, 0, RM_HALF_TO_EVEN, false);
}

}  // namespace softtpu
