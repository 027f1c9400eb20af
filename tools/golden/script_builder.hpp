// Packs a case into the replay kernel's script, and knows where its answer lies.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/golden/case.hpp"

namespace softtpu::golden {

struct Script {
  Bytes bytes;
  std::vector<Region> reads;  // regions that come back: expect, or for a refused call the setup, before and after
  bool snapshot = false;
  std::uint64_t answer_bytes = 0;
};

Script build_script(const Case& recorded);

}  // namespace softtpu::golden
