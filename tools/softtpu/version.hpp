// What `softtpu --version` prints.
#pragma once

#include <string>
#include <string_view>

namespace softtpu::cli {

// The commit that the program was built from, with "-dirty" where files had been changed; empty when that is unknown.
std::string_view embedded_commit();

// "softtpu 0.2.0 (commit 46b715b0c2aa)".
inline std::string version_text(std::string_view number) {
  std::string text = "softtpu " + std::string(number);
  if (!embedded_commit().empty()) text += " (commit " + std::string(embedded_commit()) + ")";
  return text;
}

}  // namespace softtpu::cli
