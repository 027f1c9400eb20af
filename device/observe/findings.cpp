#include "device/observe/findings.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace softtpu {

void Findings::add(Finding finding) {
  ++count_;
  Key key{finding.rule, {}};
  for (const Party& party : finding.parties) {
    key.second.emplace_back(party.stack.frames.begin(), party.stack.frames.begin() + party.stack.count);
  }
  const auto [place, is_new] = known_.emplace(std::move(key), list_.size());
  if (!is_new) {
    if (place->second < counts_.size()) ++counts_[place->second];
    return;
  }
  if (static_cast<int>(list_.size()) >= limit_) return;
  list_.push_back(std::move(finding));
  counts_.push_back(1);
}

void Findings::report(const std::string& kernel) {
  const bool colour = isatty(STDERR_FILENO) == 1;
  const auto title = colour ? fmt::emphasis::bold | fmt::fg(fmt::terminal_color::red) : fmt::text_style();
  for (; reported_ < list_.size(); ++reported_) {
    const Finding& finding = list_[reported_];
    std::string text = fmt::format(title, "softtpu: {}", finding.rule);
    text += fmt::format(" in kernel \"{}\"", kernel);
    if (counts_[reported_] > 1) text += fmt::format(" ({} times)", counts_[reported_]);
    text += fmt::format(": {}\n", finding.what);
    for (const Party& party : finding.parties) {
      const std::string site = call_site(party.stack);
      text += fmt::format("   {}{}\n", party.text, site.empty() ? "" : ", at " + site);
    }
    text += fmt::format("   why: {}\n   mend: {}\n", finding.why, finding.mend);
    std::fputs(text.c_str(), stderr);
  }
  std::fflush(stderr);
}

}  // namespace softtpu
