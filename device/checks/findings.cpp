#include "device/checks/findings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <numeric>
#include <utility>

#include "runtime/report/rules.hpp"

namespace softtpu {
namespace {

// Several objects of one process may share a journal.
std::atomic<std::uint64_t> last_id{0};

void print(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

// Bounds what a kernel with very many findings costs; far more than the lines of a kernel make.
constexpr std::size_t kMostRemembered = 65536;
constexpr std::size_t kLeftOut = SIZE_MAX;

// What bytes of a wrong type lead to: reads behind what was written, numbers that are none, results of another size.
bool is_consequence(const std::string& rule) {
  return rule.starts_with("init/") || rule.starts_with("nan/") || rule == "memory/overwritten";
}

// Whether a reader sees the same: the sentence, the bytes, and what each call does to which tensor.
bool reads_the_same(const ReportedFinding& known, const Finding& finding) {
  const auto same_party = [](const ReportedParty& one, const Party& other) {
    return one.function == other.function && one.text == other.text;
  };
  return known.what == finding.what && known.place == finding.place && known.nearest == finding.nearest &&
         std::equal(known.parties.begin(), known.parties.end(), finding.calls.begin(), finding.calls.end(), same_party);
}

std::string address_key(const Finding& finding, const std::string& kernel) {
  std::string key = finding.rule + '\n' + kernel;
  for (const Party& party : finding.calls) {
    key += '\n' + party.function;
    for (int i = 0; i < party.called_from.count; ++i) {
      key += fmt::format(" {}", party.called_from.frames[static_cast<std::size_t>(i)]);
    }
    for (const std::string& frame : party.stack) key += " " + frame;
  }
  return finding.calls.empty() ? key + '\n' + finding.what : key;
}

}  // namespace

void Findings::begin(const std::string& kernel, int core) {
  kernel_ = kernel;
  core_ = core;
  cause_.reset();
  follows_ = false;
  consequences_.clear();
  reported_consequences_.clear();
}

bool Findings::is_allowed(const Finding& finding) {
  for (const AllowRule& rule : options_.allow) {
    if (!rule.covers(finding.rule, kernel_, finding.place)) continue;
    ++allowed_[finding.rule];
    return true;
  }
  return false;
}

void Findings::add(const Finding& finding) {
  if (is_allowed(finding)) return;
  if (cause_ && follows_ && is_consequence(finding.rule)) {
    ++consequences_[finding.rule];
    return;
  }
  ++count_;
  std::string calls = address_key(finding, kernel_);
  auto known = known_.find(calls);
  if (known == known_.end()) {
    if (known_.size() >= kMostRemembered) known_.clear();
    known = known_.emplace(std::move(calls), find_or_add(finding)).first;
  }
  if (known->second == kLeftOut) return;
  note_again(known->second, finding);
  ++list_[known->second].count;
}

void Findings::add_cause(const Finding& finding) {
  const std::uint64_t before = count_;
  add(finding);
  if (cause_ || count_ == before) return;
  const auto known = known_.find(address_key(finding, kernel_));
  if (known != known_.end() && known->second != kLeftOut) cause_ = known->second;
}

// In a later launch the same calls may have other tensors: that launch is reported with its own text.
void Findings::note_again(std::size_t place, const Finding& finding) {
  const ReportedFinding& first = list_[place];
  if (!seen_.insert(place).second || (reads_the_same(first, finding) && first.kernel == kernel_)) return;
  now_.insert_or_assign(place, resolve(finding));
}

ReportedFinding Findings::resolve(const Finding& finding) const {
  ReportedFinding found = finding;
  found.kernel = kernel_;
  found.core = core_;
  found.count = 0;
  for (const Party& party : finding.calls) {
    found.parties.push_back(party);
    found.parties.back().at = find_caller(party.called_from);
  }
  return found;
}

std::size_t Findings::find_or_add(const Finding& finding) {
  ReportedFinding found = resolve(finding);
  std::string key = fold_key(found);
  if (const auto same = folded_.find(key); same != folded_.end()) return same->second;
  if (!has_room(rule(found.rule).severity)) {
    leave_out(found, key);
    return kLeftOut;
  }
  folded_.emplace(std::move(key), list_.size());
  add_new(std::move(found));
  return list_.size() - 1;
}

bool Findings::has_room(Severity severity) const {
  const auto end = kept_.begin() + static_cast<std::ptrdiff_t>(severity) + 1;
  return std::accumulate(kept_.begin(), end, 0) < options_.limit;
}

void Findings::leave_out(const ReportedFinding& found, const std::string& key) {
  if (left_out_.size() >= kMostRemembered || !left_out_.insert(std::hash<std::string>()(key)).second) return;
  ++left_counts_.counts[static_cast<std::size_t>(rule(found.rule).severity)];
  if (options_.journal) options_.journal->add_left_out(found);
}

void Findings::add_new(ReportedFinding found) {
  ++kept_[static_cast<std::size_t>(rule(found.rule).severity)];
  ids_.push_back(++last_id);
  reported_.push_back(1);
  list_.push_back(std::move(found));
  // Counted by add().
  ReportedFinding first = list_.back();
  first.count = 1;
  if (options_.journal) return options_.journal->add(first, ids_.back());
  print(to_text(first, isatty(STDERR_FILENO) == 1));
  for (const ReportedParty& party : first.parties) {
    if (!lines_hint(party.at).empty()) print(fmt::format("softtpu: {}\n", kNoLines));
  }
}

void Findings::report_left_out() {
  if (options_.journal || left_counts_.total() == reported_left_out_) return;
  reported_left_out_ = left_counts_.total();
  print(fmt::format("softtpu: {} further finding{} left out (SOFTTPU_MAX_FINDINGS={}): {}\n", reported_left_out_,
                    reported_left_out_ == 1 ? " is" : "s are", options_.limit, to_text(left_counts_)));
}

void Findings::report_folded() {
  if (!cause_ || consequences_ == reported_consequences_) return;
  reported_consequences_ = consequences_;
  std::string folded;
  for (const auto& [rule, count] : consequences_) {
    folded += fmt::format("{}{} {}", folded.empty() ? "" : ", ", rule, count);
  }
  const auto now = now_.find(*cause_);
  ReportedFinding cause = now != now_.end() ? now->second : list_[*cause_];
  cause.count = 0;
  cause.what += fmt::format("; with it, and perhaps because of it: {}", folded);
  if (options_.journal) {
    options_.journal->add_count(ids_[*cause_], 0, &cause);
  } else {
    print(to_again_text(cause, 0));
  }
}

void Findings::report() {
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const std::uint64_t more = list_[i].count - reported_[i];
    if (more == 0) continue;
    reported_[i] = list_[i].count;
    const auto now = now_.find(i);
    const ReportedFinding* const latest = now != now_.end() ? &now->second : nullptr;
    if (options_.journal) {
      options_.journal->add_count(ids_[i], more, latest);
    } else {
      print(to_again_text(latest != nullptr ? *latest : list_[i], more));
    }
  }
  report_folded();
  now_.clear();
  seen_.clear();
  report_left_out();
  for (const auto& [rule, count] : allowed_) {
    if (options_.journal) options_.journal->add(AllowedRecord{rule, kernel_, count});
  }
  allowed_.clear();
}

}  // namespace softtpu
