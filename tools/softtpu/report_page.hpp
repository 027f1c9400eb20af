// The page of `softtpu report`: one HTML file that needs nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace softtpu::cli {

// The text of page.html, page.css or page.js (tools/softtpu/report); made from the files when softtpu is built.
std::string_view embedded_page(std::string_view name);

struct ReportInput {
  std::string program;                // as it was called, for the title
  std::vector<std::string> launches;  // records of SOFTTPU_TIME_RECORD, one JSON text each
  std::string findings;               // the report of `softtpu run --report=json:FILE`; empty: no checks
};

// Launches of a kernel with the same estimate are shown once, with their number. An error says which input is damaged.
Result<std::string> make_page(const ReportInput& input);

}  // namespace softtpu::cli
