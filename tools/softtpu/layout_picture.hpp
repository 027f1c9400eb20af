// Builds the pictures of softtpu layout from checked arguments.
#pragma once

#include <string>
#include <vector>

#include "device/chip/chip.hpp"
#include "runtime/base/result.hpp"
#include "runtime/layout/placement.hpp"
#include "tools/softtpu/picture.hpp"

namespace softtpu::cli {

struct LayoutSubject {
  std::string chip;
  std::string layout;
  std::string labels;  // names of a label's parts
  Dtype dtype = Dtype::kFp32;
  Dim4 shape;
  int columns = 0;  // of a matrix or vector: the last channel may hold fewer than W; 0: a tensor
  int unit_bytes = 0;
  Placement tensor;
};

struct Mark {
  std::string name;
  std::uint64_t addr = 0;
};

// npus: columns at most. Chips with more NPUs show those from the tensor's first NPU on.
Result<Picture> draw_elements(const LayoutSubject& subject, int npus);
Result<Picture> draw_features(const LayoutSubject& subject, int npus);
Result<Picture> draw_marks(const std::string& chip, const Lanes& lanes, const std::vector<Mark>& marks, int npus);
Picture draw_banks(const Chip& chip, int npus);

}  // namespace softtpu::cli
