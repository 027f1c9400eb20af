// The chip's float sums, written from the description in exact arithmetic: no flush modes, no SIMD, no shared code with
// the device.
#pragma once

#include <cstdint>
#include <vector>

namespace softtpu::reference {

enum class Float : std::uint8_t { kF32, kF16, kBf16 };
inline int size_of(Float type) { return type == Float::kF32 ? 4 : 2; }

// Stored bits <-> value; operands of arithmetic lose f32 and bf16 subnormals.
double value_of(std::uint32_t bits, Float type);
std::uint32_t bits_of(float value, Float type);

// A product or a sum rounded once to f32; a subnormal becomes zero.
float multiply(double a, double b);
float rounded_sum(float a, float b);
// The value rounded to the storage type.
float rounded(float value, Float type);
// A product rounded once to the storage type, as poolings do.
float rounded_product(double a, double b, Float type);

// One step of the 16-bit units: up to 32 products.
float group_sum(const std::vector<double>& a, const std::vector<double>& b);

// The stream of addends goes alternately to two sums, each rounded to `type` after every step.
class TwoLanes {
 public:
  explicit TwoLanes(Float type = Float::kF32, float start = 0) : type_(type), lanes_{start, start} {}
  void put(float addend);
  float result() const;

 private:
  Float type_;
  float lanes_[2];
  int next_ = 0;
};

}  // namespace softtpu::reference
