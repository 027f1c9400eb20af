// softtpu api: the ledger of functions - what softtpu has, and how each function is known to be right.
#pragma once

#include <string>

namespace softtpu::cli {

struct ApiOptions {
  std::string chip;    // "": both interfaces
  std::string filter;  // only functions whose name contains this text
  bool json = false;
};

// Exit status: 0; 2 for an unknown chip.
int run_api(const ApiOptions& options);

}  // namespace softtpu::cli
