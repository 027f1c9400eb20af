// What BM1684's commands on words that are not one plain pass cost.
#pragma once

#include "device/cost/feature_terms.hpp"
#include "device/engines/bdc/bm1684_words/command.hpp"

namespace softtpu {

inline Features features_of(const FeatureTerms& at, const OkkWordCmd& cmd) {
  if (cmd.mode == OkkWordMode::kDiv) return at.model().divide(cmd.dst.shape, at.lane(cmd.dst));
  return at.by_result(cmd);
}
inline Features features_of(const FeatureTerms& at, const OkkTaylorCmd& cmd) {
  return at.model().exponential(cmd.dst.shape, at.lane(cmd.dst), cmd.terms, 1);
}

}  // namespace softtpu
