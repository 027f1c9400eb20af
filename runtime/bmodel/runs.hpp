// The chips whose networks run, as files name them, and what a device of each says that it is. Of other chips
// instructions can be shown only.
#pragma once

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>

namespace softtpu::bmodel {

struct Runs {
  std::string_view chip;
  unsigned id;
};
inline constexpr Runs kRuns[] = {
    {"bm1684x", 0x1686}, {"bm1688", 0x1686a200}, {"cv186x", 0x1686a200}, {"bm1690", 0x2260}, {"bm1684", 0x1684}};

// Of a chip in lower case; nullptr: its networks do not run.
inline const Runs* find_runs(std::string_view chip) {
  const auto* const found =
      std::find_if(std::begin(kRuns), std::end(kRuns), [chip](const Runs& one) { return one.chip == chip; });
  return found == std::end(kRuns) ? nullptr : found;
}

// Of a chip as a file names it: why its networks do not run; empty: they do.
inline std::string why_chip_cannot_run(std::string chip) {
  const std::string named = chip;
  std::transform(chip.begin(), chip.end(), chip.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (find_runs(chip) != nullptr) return {};
  return "the file is for chip " + named +
         ", whose networks cannot run; those of BM1684X, BM1688, CV186X, BM1690 and BM1684 can";
}

}  // namespace softtpu::bmodel
