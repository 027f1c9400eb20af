// The chips whose networks run, as files name them, and what a device of each says that it is. Of other chips
// instructions can be shown only.
#pragma once

#include <algorithm>
#include <iterator>
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

}  // namespace softtpu::bmodel
