// What the checks found: collected over launches, equal ones folded, printed for people.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/core/call_site.hpp"

namespace softtpu {

// One side of a finding: a call and what it does to the bytes in question.
struct Party {
  std::string text;  // "tpu_gdma_cpy_S2L writes dst 0x..., element [0, 3, 0, 0]"
  CallStack stack;
};

struct Finding {
  std::string rule;  // "race/raw"; docs have a page for each rule
  std::string what;  // one sentence: what is wrong and where
  std::vector<Party> parties;
  std::string why;   // why it matters on the chip
  std::string mend;  // what removes it
};

// Thread: the core's own. Findings with the same rule and the same calls count as one.
class Findings {
 public:
  explicit Findings(int limit) : limit_(limit) {}

  void add(Finding finding);
  // Prints what is new since the last call, with counts, to stderr; colours on a terminal.
  void report(const std::string& kernel);
  std::uint64_t count() const { return count_; }
  const std::vector<Finding>& all() const { return list_; }

 private:
  using Key = std::pair<std::string, std::vector<std::vector<const void*>>>;
  int limit_;
  std::uint64_t count_ = 0;
  std::vector<Finding> list_;
  std::vector<std::uint64_t> counts_;
  std::map<Key, std::size_t> known_;
  std::size_t reported_ = 0;
};

}  // namespace softtpu
