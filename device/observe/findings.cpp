#include "device/observe/findings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "runtime/report/rules.hpp"

namespace softtpu {
namespace {

// Several objects of one process may share a journal.
std::atomic<std::uint64_t> last_id{0};

void print(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

FoundParty resolve(const Party& party) {
  return {party.function, party.text, find_caller(party.stack), party.host_stack};
}

}  // namespace

void Findings::begin(const std::string& kernel, int core) {
  kernel_ = kernel;
  core_ = core;
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
  ++count_;
  Key key{finding.rule, {kernel_}};
  for (const Party& party : finding.parties) {
    std::string frames = party.function;
    for (int i = 0; i < party.stack.count; ++i) {
      frames += fmt::format(" {}", party.stack.frames[static_cast<std::size_t>(i)]);
    }
    for (const std::string& frame : party.host_stack) frames += " " + frame;
    key.second.push_back(std::move(frames));
  }
  if (finding.parties.empty()) key.second.push_back(finding.what);
  const auto [place, is_new] = known_.emplace(std::move(key), list_.size());
  if (!is_new) {
    if (place->second < list_.size()) ++list_[place->second].count;
    return;
  }
  if (static_cast<int>(list_.size()) < options_.limit) return add_new(finding);
  place->second = SIZE_MAX;
  if (!told_limit_ && !options_.journal) {
    print(fmt::format("softtpu: more than {} findings (SOFTTPU_MAX_FINDINGS); further ones are not shown\n",
                      options_.limit));
  }
  told_limit_ = true;
}

void Findings::add_new(const Finding& finding) {
  Found found{finding.rule, kernel_, core_, finding.what, finding.place, {}, finding.nearest, finding.cost, 1};
  for (const Party& party : finding.parties) found.parties.push_back(resolve(party));
  ids_.push_back(++last_id);
  if (options_.journal) {
    options_.journal->add(found, ids_.back());
  } else {
    print(to_text(found, isatty(STDERR_FILENO) == 1));
  }
  list_.push_back(std::move(found));
  reported_.push_back(1);
}

void Findings::report() {
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const std::uint64_t more = list_[i].count - reported_[i];
    if (more == 0) continue;
    reported_[i] = list_[i].count;
    if (options_.journal) {
      options_.journal->add_count(ids_[i], more);
    } else {
      print(to_again_text(list_[i], more));
    }
  }
  for (const auto& [rule, count] : allowed_) {
    if (options_.journal) options_.journal->add(AllowedRecord{rule, kernel_, count});
  }
  allowed_.clear();
}

}  // namespace softtpu
