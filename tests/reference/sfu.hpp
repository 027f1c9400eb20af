// What the special-function commands compute for one element, bit for bit, from the numerics pages.
#pragma once

#include <cstdint>
#include <vector>

#include "device/isa/types.hpp"

namespace softtpu::reference {

std::uint32_t taylor(std::uint32_t x, const std::vector<std::uint32_t>& coeff, Dtype type);
std::uint32_t rsqrt(std::uint32_t x, int iterations, Dtype type);
std::uint32_t sqrt(std::uint32_t x, int iterations, Dtype type);
std::uint32_t divide(std::uint32_t a, std::uint32_t b, int iterations, Dtype type);
std::uint32_t exponent_part(std::uint32_t x, Dtype type, bool as_integer);

}  // namespace softtpu::reference
