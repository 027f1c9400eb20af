// softtpu api: the manual of one function, a search through all of them, and the ledger - what softtpu has, and how
// each function is known to be right.
#pragma once

#include <string>

namespace softtpu::cli {

struct ApiOptions {
  std::string chip;     // "": both interfaces
  std::string filter;   // a function's name, for its manual; else only functions whose name contains this text
  std::string search;   // words: functions whose description holds them
  bool ledger = false;  // the ledger also for a whole name
  bool json = false;
};

// Exit status: 0; 1 when no function has that name or those words; 2 for an unknown chip.
int run_api(const ApiOptions& options);

}  // namespace softtpu::cli
