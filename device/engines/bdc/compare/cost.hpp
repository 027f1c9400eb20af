// What comparisons and selections cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/bdc/compare/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const CompareCmd& cmd) {
  return {StartUp::kCompare, at.model().compare(cmd.dst.shape, at.lane(cmd.dst), cmd.dst.dtype)};
}
inline Work work_of(const CycleTerms& at, const SelectCmd& cmd) {
  return {StartUp::kCompare, at.model().compare(cmd.dst.shape, at.lane(cmd.dst), cmd.dst.dtype)};
}

}  // namespace softtpu
