// What the checks of one process have found: equal ones folded, allowed ones counted, each new one printed for people
// or noted in the journal at once, so that a crash of the kernel loses none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/core/call_site.hpp"
#include "device/observe/allow.hpp"
#include "runtime/report/finding.hpp"
#include "runtime/report/journal.hpp"

namespace softtpu {

// One side of a finding: a call and what it does to the bytes in question.
struct Party {
  std::string function;  // "tpu_gdma_cpy_S2L"
  std::string text;      // "tpu_gdma_cpy_S2L writes dst 0x..., element [0, 3, 0, 0]"
  CallStack stack;
  std::vector<std::string> host_stack;  // of a call of the host program, already resolved
};

struct Finding {
  std::string rule;  // of runtime/report/rules.def
  std::string what;  // one sentence: what is wrong and where
  std::vector<Party> parties;
  std::optional<FoundPlace> place;
  std::string nearest;
  std::optional<double> cost;  // cycles
};

// Threads: one at a time (the core's own, or the server's).
class Findings {
 public:
  struct Options {
    int limit = 100;
    std::vector<AllowRule> allow;
    std::shared_ptr<FindingSink> journal;  // none: findings are printed to stderr
  };
  explicit Findings(int limit) : options_{limit, {}, nullptr} {}
  explicit Findings(Options options) : options_(std::move(options)) {}

  // Findings that follow belong to this launch; "" and -1: to none.
  void begin(const std::string& kernel, int core);
  void add(const Finding& finding);
  // Reports how often the findings since the last call have come again.
  void report();

  std::uint64_t count() const { return count_; }
  const std::vector<Found>& all() const { return list_; }

 private:
  using Key = std::pair<std::string, std::vector<std::string>>;
  bool is_allowed(const Finding& finding);
  void add_new(const Finding& finding);

  Options options_;
  std::string kernel_;
  int core_ = -1;
  std::uint64_t count_ = 0;
  std::vector<Found> list_;
  std::vector<std::uint64_t> reported_;  // of each in the list: how many times
  std::vector<std::uint64_t> ids_;       // of each in the list: its name in the journal
  std::map<Key, std::size_t> known_;     // a place behind the list's end: over the limit
  std::map<std::string, std::uint64_t> allowed_;
  bool told_limit_ = false;
};

}  // namespace softtpu
