// The functions that composites are made of, as sequences of steps. dst may be src where nothing else is said.
// Constants are those that the recorded chip uses (numerics: bm1684x-elementwise.md section 7).
#pragma once

#include "firmware/composite/composite.hpp"
#include "firmware/composite/steps.hpp"

namespace softtpu {

// Terms of the series that the chip evaluates in f32.
inline constexpr int kFp32Terms = 16;
inline constexpr int kErfTerms = 10;
inline constexpr int kExpTableLength = 192;
inline constexpr float kLn2 = 0.693147182F;

// Coefficients that an exponential in f32 reads, and whether it reads the table.
inline int exp_coefficients(const Composite& run) { return run.has(Quirk::kExpByExponent) ? 10 : kFp32Terms; }
inline void exp_table(Composite& run, std::string_view name, local_addr_t addr) {
  if (!run.has(Quirk::kExpByExponent)) run.table(name, addr, kExpTableLength);
}

// What an exponential works with.
struct ExpBuffers {
  local_addr_t work0, work1, coeff, table;
};

// ---- exponentials (exponential.cpp) ----
// The checked arguments of a function that takes what an exponential takes: in f32, and in any float type, where it
// needs no table.
Composite exp_call(Op op, local_addr_t dst, local_addr_t src, SourceUse use, const ExpBuffers& b, const dim4* shape);
Composite general_exp_call(Op op, local_addr_t dst, local_addr_t src, SourceUse use, const ExpBuffers& b,
                           const dim4* shape, data_type_t dtype, std::string_view coeff = "coeff");
// An exponential that a function is given, or a function that is nothing but such steps.
using ExpSteps = void (*)(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b);
void exp_function(Op op, ExpSteps steps, SourceUse use, local_addr_t dst, local_addr_t src, const ExpBuffers& b,
                  const dim4* shape);
void general_exp_function(Op op, ExpSteps steps, SourceUse use, local_addr_t dst, local_addr_t src, const ExpBuffers& b,
                          const dim4* shape, data_type_t dtype);
// In f32, by table or by exponent as the chip does it.
void exp_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b);
// In any float type, by exponent.
void general_exp_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b);
// Terms of its series, by type.
int exp_terms(Dtype type);
void expm1_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b);
void sigmoid_steps(const Steps& s, ExpSteps exp, local_addr_t dst, local_addr_t src, const ExpBuffers& b);
void tanh_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b);
void general_tanh_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b);

// ---- logarithms in any float type (logarithm.cpp) ----
// Terms of the series, by type.
int log_terms(Dtype type);
// What becomes of the logarithm of +0, where the chip takes the exponent exactly: in f32 -Inf, or else the logarithm of
// the smallest normal number.
enum class LogOfZero : std::uint8_t { kInfinite, kFinite };
void log_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff,
               LogOfZero zero = LogOfZero::kInfinite);
// Of any type by exponent, whatever the chip does in f32.
void general_log_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff,
                       LogOfZero zero = LogOfZero::kInfinite);
void log1p_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff);

// ---- error function (error_function.cpp) ----
struct ErfBuffers {
  ExpBuffers exp;
  local_addr_t work2, coeff;
};
// dst is not src.
void erf_steps(const Steps& s, ExpSteps exp, local_addr_t dst, local_addr_t src, const ErfBuffers& b);

}  // namespace softtpu
