// The combinations of data types that a call accepts, as a few products of sets.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace softtpu::manual {

// One value for each type parameter.
using Combination = std::vector<int>;
// One set of values for each type parameter; every combination of them is accepted.
using Box = std::vector<std::set<int>>;

// Boxes that together hold exactly `accepted`, the largest first.
std::vector<Box> to_boxes(std::set<Combination> accepted);

}  // namespace softtpu::manual
