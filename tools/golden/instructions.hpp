// Recorded instructions (golden-bmodel): each is decoded, translated and carried out on a core in this process, and
// every byte of memory is compared with the recording.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace softtpu::golden {

struct InstructionOptions {
  std::vector<std::string> files;  // instr_*.json, api/*.json
  std::string cases;               // folder of the API calls' recorded cases; empty: golden/CHIP beside the collection
  std::string filter;              // only cases whose id contains this text
  std::string note;                // only cases with this note
  int shown_failures = 1;          // per format and function
  bool list_known = false;         // also what the list of known differences names
  std::string write_list;          // write the differences of this run as such a list
};

struct InstructionCounts {
  int passed = 0;
  int failed = 0;   // a new difference, or one that the list names and that is another one or gone
  int known = 0;    // as known_instructions.txt has it: refused, or different, with the reason
  int skipped = 0;  // deviations of the recorded API calls
  void add(const InstructionCounts& more) {
    passed += more.passed;
    failed += more.failed;
    known += more.known;
    skipped += more.skipped;
  }
};
std::string to_text(const InstructionCounts& counts);

struct InstructionResult {
  InstructionCounts total;
  std::map<std::string, InstructionCounts> formats;  // by "sAR.add"; a case of several counts for its last instruction
};

// Whether a file of recorded cases holds instructions in place of calls.
bool holds_instructions(const std::string& file);

// Prints a line for each file and for each format with its functions, then the total.
InstructionResult run_instructions(const InstructionOptions& options);

}  // namespace softtpu::golden
