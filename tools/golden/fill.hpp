// How a recorded case describes the contents of memory (golden/README.md, "Fills").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace softtpu::golden {

struct Fill {
  std::string kind{};
  std::string dtype{};
  double value = 165;
  std::optional<std::uint64_t> bits{};
  double lo = 0, hi = 0;
  double mean = 0, std = 1;
  double start = 0, step = 1;
  std::uint64_t seed = 0;
};

// The bytes of a fill. Errors: unknown kind or dtype, a number beyond f32 or 2^48 for
// integers, an empty range, a byte above 255.
Result<std::vector<std::uint8_t>> evaluate(const Fill& fill, std::uint64_t bytes);

}  // namespace softtpu::golden
