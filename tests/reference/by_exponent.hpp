// The special functions as chips compute them that put an exponential together from its exponent, for one element of
// any float type, bit for bit. Values are given by their bits.
#pragma once

#include <cstdint>
#include <vector>

#include "device/isa/types.hpp"

namespace softtpu::reference {

class ByExponent {
 public:
  using Bits = std::uint32_t;
  // Coefficients in order of the powers, rounded to the type.
  struct Tables {
    std::vector<Bits> exp, log, erf, sin, cos, tan;
  };
  ByExponent(Dtype type, Tables tables) : type_(type), tables_(std::move(tables)) {}

  Bits exp(Bits x) const;
  Bits expm1(Bits x) const { return minus(exp(x), of(1)); }
  Bits log(Bits x) const { return log_of(x, type_ == Dtype::kFp32); }
  Bits sin(Bits x) const;
  Bits cos(Bits x) const;
  Bits sigmoid(Bits x) const { return inverse(plus(exp(minus(0, x)), of(1))); }
  Bits silu(Bits x) const { return times(sigmoid(x), x); }
  Bits erf(Bits x) const;
  Bits erfc(Bits x) const { return minus(of(1), erf(x)); }
  Bits gelu(Bits x) const;
  Bits hswish(Bits x) const;
  Bits sinh(Bits x) const { return times(minus(exp(x), inverse(exp(x))), of(0.5F)); }
  Bits cosh(Bits x) const { return times(plus(exp(x), inverse(exp(x))), of(0.5F)); }
  Bits tanh(Bits x) const;
  Bits arctanh(Bits x) const;
  Bits softplus(Bits x) const { return log_of(plus(exp(x), of(1)), true); }
  Bits log_sigmoid(Bits x) const { return minus(x, softplus(x)); }
  Bits gelu_fast(Bits x) const;
  Bits gelu_fast2(Bits x) const { return times(sigmoid(times(x, of(1.702F))), x); }
  // In f32 only.
  Bits tan(Bits x) const { return tan_of_turns(times(x, of(0.318309873F))); }
  Bits cot(Bits x) const { return tan_of_turns(minus(of(0.5F), times(x, of(0.318309873F)))); }
  Bits arcsinh(Bits x) const { return log_of(plus(x, root(plus(times(x, x), of(1)))), false); }
  Bits arccosh(Bits x) const { return log_of(plus(x, root(minus(times(x, x), of(1)))), false); }
  Bits mish(Bits x) const;

 private:
  Bits of(float value) const;
  // The bound of the exponential's argument.
  Bits largest() const;
  Bits plus(Bits a, Bits b) const;
  Bits minus(Bits a, Bits b) const;
  Bits times(Bits a, Bits b) const;
  Bits inverse(Bits x) const;
  Bits root(Bits x) const;
  Bits log_of(Bits x, bool infinite_at_zero) const;
  Bits tan_of_turns(Bits y) const;
  Bits turn(Bits x) const;
  int mantissa() const { return type_ == Dtype::kFp32 ? 23 : type_ == Dtype::kFp16 ? 10 : 7; }
  int bias() const { return type_ == Dtype::kFp16 ? 15 : 127; }
  Bits sign() const { return type_ == Dtype::kFp32 ? 0x80000000U : 0x8000U; }

  Dtype type_;
  Tables tables_;
};

}  // namespace softtpu::reference
