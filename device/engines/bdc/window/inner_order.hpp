// The order of the products that a convolution sums.
#pragma once

#include <algorithm>

#include "device/chip/chip.hpp"
#include "device/engines/bdc/product/load.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/window/command.hpp"

namespace softtpu {

// The order of the inner dimension: groups of input channels (as weights are stored), kernel taps, channels of a group.
class InnerOrder {
 public:
  InnerOrder(int channels, int group, int taps)
      : group_(group),
        taps_(taps),
        whole_(channels / group * group * taps),
        rest_(std::max(1, channels % group)),
        size_(channels * taps) {}

  struct Place {
    int group, tap, lane;  // lane: channel within the group
  };
  Place at(int k) const {
    if (k < whole_) return {k / (group_ * taps_), k / group_ % taps_, k % group_};
    return {whole_ / (group_ * taps_), (k - whole_) / rest_, (k - whole_) % rest_};
  }
  // The place behind `place`.
  Place next(Place place) const {
    const int lanes = place.group * group_ * taps_ < whole_ ? group_ : rest_;
    if (++place.lane < lanes) return place;
    place.lane = 0;
    if (++place.tap < taps_) return place;
    return {place.group + 1, 0, 0};
  }
  int channel(const Place& place) const { return place.group * group_ + place.lane; }
  int size() const { return size_; }
  int group() const { return group_; }
  int whole() const { return whole_; }  // where the last, smaller group begins
  int rest() const { return rest_; }

 private:
  int group_, taps_, whole_, rest_, size_;
};

inline InnerOrder inner_order(const Chip& chip, const Conv2dCmd& cmd) {
  const auto* weight = std::get_if<Tensor>(&cmd.weight);
  // Constant weights of 16-bit floats are summed in the same groups as stored ones; for the rest any order is the same.
  const int group = weight != nullptr ? weight->shape.w : size_of(cmd.src.dtype) == 2 ? chip.sum_group : 1;
  return {cmd.src.shape.c, group, static_cast<int>(cmd.window.taps())};
}

}  // namespace softtpu
