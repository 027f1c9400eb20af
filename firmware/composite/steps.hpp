// The steps of composite functions: public functions of one command each, called for tensors of one shape and type in
// the aligned layout. Constants are given as f32 and rounded to the type.
#pragma once

#include <cstdint>

#include "device/chip/rules.hpp"
#include "device/isa/types.hpp"
#include "tpu_kernel.h"

namespace softtpu {

inline variable_t tensor_variable(local_addr_t addr) {
  variable_t variable{};
  variable.type = TENSOR;
  variable.context.addr = addr;
  return variable;
}
inline variable_t constant_variable(scalar_t value) {
  variable_t variable{};
  variable.type = SCALAR;
  variable.context.scalar = value;
  return variable;
}

class Steps {
 public:
  Steps(const Chip& chip, const dim4& shape, Dtype type)
      : chip_(chip), shape_(shape), type_(type), code_(static_cast<data_type_t>(chip.type_numbers.number_of(type))) {}

  bool has(Quirk rule) const { return chip_.has(rule); }
  Dtype type() const { return type_; }
  // The type as the chip's headers number it.
  data_type_t code() const { return code_; }
  const dim4* shape() const { return &shape_; }
  scalar_t constant(float value) const;

  // ---- arithmetic ----
  void add(local_addr_t dst, local_addr_t a, local_addr_t b) const {
    tpu_bdc_fp_add(dst, a, b, &shape_, nullptr, nullptr, nullptr, code_);
  }
  void sub(local_addr_t dst, local_addr_t a, local_addr_t b) const {
    tpu_bdc_fp_sub(dst, a, b, &shape_, nullptr, nullptr, nullptr, code_);
  }
  void mul(local_addr_t dst, local_addr_t a, local_addr_t b) const {
    tpu_bdc_fp_mul(dst, a, b, &shape_, nullptr, nullptr, nullptr, code_);
  }
  void max(local_addr_t dst, local_addr_t a, local_addr_t b) const {
    tpu_bdc_max(dst, a, b, &shape_, nullptr, nullptr, nullptr, code_);
  }
  void min(local_addr_t dst, local_addr_t a, local_addr_t b) const {
    tpu_bdc_min(dst, a, b, &shape_, nullptr, nullptr, nullptr, code_);
  }
  void add_C(local_addr_t dst, local_addr_t a, float c) const {
    tpu_bdc_fp_add_C(dst, a, constant(c), &shape_, nullptr, nullptr, code_);
  }
  void sub_C(local_addr_t dst, local_addr_t a, float c) const {
    tpu_bdc_fp_sub_C(dst, a, constant(c), &shape_, nullptr, nullptr, code_);
  }
  // dst = c - a
  void C_sub(local_addr_t dst, float c, local_addr_t a) const {
    tpu_bdc_fp_C_sub(dst, a, constant(c), &shape_, nullptr, nullptr, code_);
  }
  void mul_C(local_addr_t dst, local_addr_t a, float c) const {
    tpu_bdc_fp_mul_C(dst, a, constant(c), &shape_, nullptr, nullptr, code_);
  }
  void max_C(local_addr_t dst, local_addr_t a, float c) const {
    tpu_bdc_max_C(dst, a, constant(c), &shape_, nullptr, nullptr, code_);
  }
  void min_C(local_addr_t dst, local_addr_t a, float c) const {
    tpu_bdc_min_C(dst, a, constant(c), &shape_, nullptr, nullptr, code_);
  }
  // dst = a * scale + bias
  void scale_bias_C(local_addr_t dst, local_addr_t a, float scale, float bias) const {
    tpu_bdc_fp_scale_bias_C(dst, a, constant(scale), constant(bias), &shape_, code_);
  }

  // ---- quotients, roots, series ----
  void div(local_addr_t dst, local_addr_t a, local_addr_t b) const {
    tpu_bdc_fp_div(dst, a, b, &shape_, nullptr, nullptr, nullptr, code_);
  }
  void div_C(local_addr_t dst, local_addr_t a, float c) const {
    tpu_bdc_fp_div_C(dst, a, constant(c), &shape_, nullptr, nullptr, code_);
  }
  void reciprocal(local_addr_t dst, local_addr_t a) const {
    tpu_bdc_fp_reciprocal(dst, a, &shape_, nullptr, nullptr, code_);
  }
  // Also in place, which the public function refuses.
  void sqrt(local_addr_t dst, local_addr_t a) const;
  void taylor(local_addr_t dst, local_addr_t a, local_addr_t coeff, int terms) const {
    tpu_bdc_fp_taylor(dst, a, coeff, &shape_, terms, code_);
  }
  // dst = table[src], f32, for 16-bit indices that steps before have kept inside the table: its rules do not look at
  // them, so that the steps before and behind it are carried out together.
  void lookup(local_addr_t dst, local_addr_t src, local_addr_t table, int length) const;

  // ---- one operand ----
  void abs(local_addr_t dst, local_addr_t a) const { tpu_bdc_abs(dst, a, &shape_, nullptr, nullptr, code_); }
  void sign(local_addr_t dst, local_addr_t a) const { tpu_bdc_sign(dst, a, &shape_, code_); }
  void round(local_addr_t dst, local_addr_t a, rounding_mode_t ties = RM_HALF_AWAY_FROM_ZERO) const {
    tpu_bdc_fp_round(dst, a, &shape_, nullptr, nullptr, code_, ties);
  }
  void floor(local_addr_t dst, local_addr_t a) const { tpu_bdc_fp_floor(dst, a, &shape_, nullptr, nullptr, code_); }
  // The power of two nearest to a, and its exponent with the format's bias as a float.
  void power_of_two_part(local_addr_t dst, local_addr_t a) const {
    tpu_bdc_fp_exponent_part(dst, a, &shape_, code_, code_);
  }
  void exponent(local_addr_t dst, local_addr_t a) const {
    tpu_bdc_fp_exponent_part(dst, a, &shape_, integer(), code_);
    tpu_bdc_cast(dst, dst, &shape_, nullptr, nullptr, code_, integer(), RM_HALF_TO_EVEN);
  }
  // dst = 2^a for integers a that are exponents of normal numbers, one less (which gives 0) or one more (infinity).
  void power_of_two(local_addr_t dst, local_addr_t a) const;
  // dst = a > 0 ? b : c
  void select_positive(local_addr_t dst, local_addr_t a, local_addr_t b, local_addr_t c) const;
  // dst = a > limit ? b : c
  void select_above(local_addr_t dst, local_addr_t a, float limit, const variable_t& b, const variable_t& c) const;
  // dst = a > limit ? b : dst
  void replace_above(local_addr_t dst, local_addr_t a, float limit, const variable_t& b) const;
  // dst = a has the bits of `value` ? constant : dst
  void replace_at(local_addr_t dst, local_addr_t a, float value, float constant) const;
  // The exponent field of a, as an integer of the elements' size and as a float of its value.
  void exponent_field(local_addr_t dst, local_addr_t a) const {
    tpu_bdc_fp_exponent_part(dst, a, &shape_, integer(), code_);
  }
  // dst = bits - a, as integers of the elements' size.
  void integer_C_sub(local_addr_t dst, std::uint32_t bits, local_addr_t a) const;

  // ---- bits ----
  void bits_or(local_addr_t dst, local_addr_t a, local_addr_t b) const {
    tpu_bdc_or(dst, a, b, &shape_, nullptr, nullptr, nullptr, integer());
  }
  void bits_xor(local_addr_t dst, local_addr_t a, local_addr_t b) const {
    tpu_bdc_xor(dst, a, b, &shape_, nullptr, nullptr, nullptr, integer());
  }
  void bits_and_C(local_addr_t dst, local_addr_t a, std::uint32_t bits) const {
    scalar_t value{};
    value.u32 = bits;
    tpu_bdc_and_C(dst, a, value, &shape_, nullptr, nullptr, integer());
  }

  // The integer type of the elements' size.
  data_type_t integer() const { return type_ == Dtype::kFp32 ? DT_INT32 : DT_INT16; }
  int mantissa_bits() const { return type_ == Dtype::kFp32 ? 23 : type_ == Dtype::kFp16 ? 10 : 7; }
  int exponent_bias() const { return type_ == Dtype::kFp16 ? 15 : 127; }

 private:
  const Chip& chip_;
  dim4 shape_;
  Dtype type_;
  data_type_t code_;
};

}  // namespace softtpu
