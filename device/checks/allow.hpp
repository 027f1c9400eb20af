// Findings that the user has declared to be intended: by rule, kernel and bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/report/finding.hpp"

namespace softtpu {

// RULE[@KERNEL][:MEMORY:BEGIN-END]; RULE and KERNEL may hold * and ?. MEMORY is global, L2 or local; of local memory
// the range counts offsets within an NPU. END belongs to the range.
struct AllowRule {
  std::string rule, kernel = "*", memory;  // empty memory: any bytes
  std::uint64_t begin = 0, end = 0;

  bool covers(std::string_view found_rule, const std::string& found_kernel,
              const std::optional<ReportedRange>& place) const;
};

// A list separated by commas.
Result<std::vector<AllowRule>> parse_allow_rules(const std::string& text);

}  // namespace softtpu
