#include "tests/manual/type_boxes.hpp"

#include <cstddef>
#include <utility>

namespace softtpu::manual {
namespace {

// Where the search for the largest box begins: more find no larger ones among the functions that exist.
constexpr std::size_t kSeeds = 16;

std::size_t volume(const Box& box) {
  std::size_t product = 1;
  for (const auto& side : box) product *= side.size();
  return product;
}

// Calls f with each combination of a box until f returns false.
template <class F>
bool for_each(const Box& box, const F& f, Combination prefix = {}) {
  if (prefix.size() == box.size()) return f(prefix);
  for (const int value : box[prefix.size()]) {
    Combination next = prefix;
    next.push_back(value);
    if (!for_each(box, f, std::move(next))) return false;
  }
  return true;
}

bool holds(const std::set<Combination>& accepted, const Box& box) {
  return for_each(box, [&](const Combination& one) { return accepted.contains(one); });
}

// The largest box round a combination, grown one parameter after the other from `first`.
Box grow(const std::set<Combination>& accepted, const Combination& seed, std::size_t first) {
  Box box;
  for (const int value : seed) box.push_back({value});
  for (std::size_t i = 0; i < seed.size(); ++i) {
    const std::size_t at = (first + i) % seed.size();
    std::set<int> values;
    for (const Combination& one : accepted) values.insert(one[at]);
    for (const int value : values) {
      Box wider = box;
      wider[at].insert(value);
      if (holds(accepted, wider)) box = std::move(wider);
    }
  }
  return box;
}

}  // namespace

std::vector<Box> to_boxes(std::set<Combination> accepted) {
  std::vector<Box> boxes;
  std::set<Combination> rest = accepted;
  while (!rest.empty()) {
    Box best;
    std::size_t tried = 0;
    for (const Combination& seed : rest) {
      if (tried++ == kSeeds) break;
      for (std::size_t first = 0; first < seed.size(); ++first) {
        Box box = grow(rest, seed, first);
        if (best.empty() || volume(box) > volume(best)) best = std::move(box);
      }
    }
    for_each(best, [&](const Combination& one) {
      rest.erase(one);
      return true;
    });
    boxes.push_back(std::move(best));
  }
  return boxes;
}

}  // namespace softtpu::manual
