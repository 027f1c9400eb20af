// The special functions that are sequences of steps, for one f32 element, bit for bit: the compositions that the
// numerics page lists, in the reference's own arithmetic. Values are given by their bits.
#pragma once

#include <cstdint>
#include <vector>

namespace softtpu::reference {

// Coefficients of the series, in order of the powers, and e^-103, e^-102 ... of the exponential.
struct SeriesTables {
  std::vector<std::uint32_t> exp, exp_table, erf, sin, cos;
};

class Composites {
 public:
  explicit Composites(SeriesTables tables) : tables_(std::move(tables)) {}

  std::uint32_t exp(std::uint32_t x) const;
  std::uint32_t expm1(std::uint32_t x) const;
  std::uint32_t power_of(float base, std::uint32_t x) const;
  std::uint32_t sin(std::uint32_t x) const;
  std::uint32_t cos(std::uint32_t x) const;
  std::uint32_t sigmoid(std::uint32_t x) const;
  std::uint32_t silu(std::uint32_t x) const;
  std::uint32_t tanh(std::uint32_t x) const;
  std::uint32_t elu(float alpha, std::uint32_t x) const;
  std::uint32_t selu(std::uint32_t x) const;
  std::uint32_t erf(std::uint32_t x) const;
  std::uint32_t erfc(std::uint32_t x) const;
  std::uint32_t gelu(std::uint32_t x) const;
  std::uint32_t gelu_fast(std::uint32_t x) const;

 private:
  std::uint32_t turn(std::uint32_t x) const;

  SeriesTables tables_;
};

// 1 / x by `iterations` Newton steps, then `corrections` corrections.
std::uint32_t compensated_reciprocal(std::uint32_t x, int iterations, int corrections);

}  // namespace softtpu::reference
