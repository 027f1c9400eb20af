// What the checks of one process have found: equal ones folded, allowed ones counted, each new one printed for people
// or noted in the journal at once, so that a crash of the kernel loses none.
//
// At most `limit` findings of a severity, and of graver ones together, are kept: one that is graver than others finds
// room however late it comes. Only the number of the others is known.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/checks/allow.hpp"
#include "device/core/call_site.hpp"
#include "runtime/report/finding.hpp"
#include "runtime/report/journal.hpp"

namespace softtpu {

// A party whose source line is looked up only when its finding is reported: that takes milliseconds.
struct Party : ReportedParty {
  Party() = default;
  // `host_stack`: of a call of the host program.
  Party(std::string name, std::string does, const CallStack& from, std::vector<std::string> host_stack)
      : ReportedParty{std::move(name), std::move(does), {}, std::move(host_stack)}, called_from(from) {}
  CallStack called_from;  // of a call of the kernel
};

// What a check says of a finding. Findings adds the launch, and the parties with their source lines.
struct Finding : ReportedFinding {
  Finding() = default;
  Finding(std::string id, std::string sentence, std::vector<Party> by, std::optional<ReportedRange> range,
          std::string legal, std::optional<double> cycles)
      : calls(std::move(by)) {
    rule = std::move(id);
    what = std::move(sentence);
    place = std::move(range);
    nearest = std::move(legal);
    cost = cycles;
  }
  std::vector<Party> calls;  // its parties
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
  // A finding from which others of its launch follow: those of commands that set_follows() marks, by the rules that
  // is_consequence() names, are counted with the first one and not listed.
  void add_cause(const Finding& finding);
  // Whether the command that is carried out computes with bytes that a cause of this launch made wrong.
  void set_follows(bool follows) { follows_ = follows; }
  // Reports how often the findings since the last call have come again.
  void report();

  std::uint64_t count() const { return count_; }
  const std::vector<ReportedFinding>& all() const { return list_; }

 private:
  bool is_allowed(const Finding& finding);
  // The place of an equal one in the list; kLeftOut when there is none and no room.
  std::size_t find_or_add(const Finding& finding);
  ReportedFinding resolve(const Finding& finding) const;
  void note_again(std::size_t place, const Finding& finding);
  bool has_room(Severity severity) const;
  void leave_out(const ReportedFinding& found, const std::string& key);
  void add_new(ReportedFinding found);
  void report_left_out();
  void report_folded();

  Options options_;
  std::string kernel_;
  int core_ = -1;
  std::uint64_t count_ = 0;
  std::vector<ReportedFinding> list_;
  std::vector<std::uint64_t> reported_;  // of each in the list: how many times
  std::set<std::size_t> seen_;           // those that came since the last report
  std::map<std::size_t, ReportedFinding>
      now_;                                   // of those that came again since: as it is now, where the text is another
  std::vector<std::uint64_t> ids_;            // of each in the list: its name in the journal
  std::array<int, kSeverities> kept_{};       // how many of the list have each severity
  std::map<std::string, std::size_t> known_;  // by the addresses of the calls, which are cheap to compare
  std::map<std::string, std::size_t> folded_;  // by their lines: a call that was unrolled has several addresses
  std::set<std::size_t> left_out_;             // hashes of those that found no room
  LeftOut left_counts_;
  std::uint64_t reported_left_out_ = 0;
  std::map<std::string, std::uint64_t> allowed_;
  std::optional<std::size_t> cause_;  // in the list: of what follows in this launch
  bool follows_ = false;
  std::map<std::string, std::uint64_t> consequences_, reported_consequences_;  // of it, by rule
};

}  // namespace softtpu
