// What special functions cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/bdc/special/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const DivideCmd& cmd) {
  return {StartUp::kArith, at.model().divide(cmd.dst.shape, at.lane(cmd.dst), cmd.dst.dtype, cmd.iterations)};
}
inline Work work_of(const CycleTerms& at, const RootCmd& cmd) {
  return {StartUp::kSeries, at.model().root(cmd.dst.shape, at.lane(cmd.dst), cmd.dst.dtype)};
}
inline Work work_of(const CycleTerms& at, const TaylorCmd& cmd) {
  return {StartUp::kSeries, at.model().taylor(cmd.dst.shape, at.lane(cmd.dst), cmd.dst.dtype, cmd.coeff.shape.w)};
}
inline Work work_of(const CycleTerms& at, const LookupCmd& cmd) {
  const Dim4& dst = cmd.dst.shape;
  return {StartUp::kGather, at.indices(dst.n, dst.c, dst.h * dst.w)};
}
inline Work work_of(const CycleTerms& at, const ExponentCmd& cmd) { return {StartUp::kSeries, at.plain(cmd.dst)}; }
// Nothing is known of its time: that of a step for each element.
inline Work work_of(const CycleTerms& at, const ReduceCmd& cmd) { return {StartUp::kSeries, at.plain(cmd.src)}; }
inline Work work_of(const CycleTerms& at, const StaticLoadCmd& cmd) { return at.from_static(cmd.dst); }

}  // namespace softtpu
