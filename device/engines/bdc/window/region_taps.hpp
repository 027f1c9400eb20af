// What poolings over regions of interest read: each region is one window that ends at the region's last pixel.
#pragma once

#include <algorithm>
#include <vector>

#include "device/engines/bdc/window/command.hpp"
#include "device/engines/bdc/window/pool_best.hpp"
#include "device/engines/bdc/window/pool_taps.hpp"
#include "device/memory/scratch.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {

// T is stored, P is what the loops take.
template <class T, class P>
class RegionTaps {
 public:
  RegionTaps(const Memories& mem, const RoiPoolCmd& cmd)
      : view_(mem, cmd.src),
        shape_(cmd.src.shape),
        kernel_(cmd.kernel),
        outside_(as_read<P>(constant<T>(cmd.outside))) {
    values_ = room<P, struct Values>(std::int64_t{cmd.kernel.h} * cmd.kernel.w * kPitch);
    const TensorView corners(mem, cmd.regions);
    for (int r = 0; r < cmd.regions.shape.c; ++r) {
      // A region that begins left of the input or above it is empty.
      const auto* corner = corners.at<const std::uint16_t>(0, r, 0, 0);
      regions_.push_back({corner[0], corner[1], corner[2], corner[3]});
    }
  }

  void load(int n, int c) { n_ = n, c_ = c; }
  // Parts of the result, each of neighbouring windows.
  int parts() const { return (static_cast<int>(regions_.size()) + kPitch - 1) / kPitch; }
  int count(int part) const { return std::min(kPitch, static_cast<int>(regions_.size()) - part * kPitch); }
  int first(int part) const { return part * kPitch; }
  void taps(int part, const P** rows) {
    P* values = values_;
    for (int kh = 0; kh < kernel_.h; ++kh) {
      for (int kw = 0; kw < kernel_.w; ++kw) {
        for (int i = 0; i < count(part); ++i) {
          values[i] = value(regions_[static_cast<std::size_t>(first(part) + i)], {kh, kw});
        }
        *rows++ = values;
        values += kPitch;
      }
    }
  }

 private:
  static constexpr int kPitch = kTapSlack;
  struct Region {
    int w, h, last_w, last_h;
  };
  P value(const Region& region, Dim2 tap) const {
    const int h = region.h + tap.h;
    const int w = region.w + tap.w;
    if (h > region.last_h || w > region.last_w) return outside_;
    if (h < shape_.h && w < shape_.w) return as_read<P>(*view_.template at<const T>(n_, c_, h, w));
    return beyond(h, w);
  }
  // What a region that goes on behind the input's edges reads: elements are counted through rows, channels and batches
  // as if they lay without gaps (golden bm1684x-1.30/mm_conv_pool_limits). Behind the last one nothing is recorded.
  P beyond(int h, int w) const {
    const std::int64_t place = ((std::int64_t{n_} * shape_.c + c_) * shape_.h + h) * shape_.w + w;
    if (place >= shape_.elements()) return outside_;
    const std::int64_t row = place / shape_.w, channel = row / shape_.h;
    return as_read<P>(
        *view_.template at<const T>(static_cast<int>(channel / shape_.c), static_cast<int>(channel % shape_.c),
                                    static_cast<int>(row % shape_.h), static_cast<int>(place % shape_.w)));
  }

  TensorView view_;
  Dim4 shape_;
  Dim2 kernel_;
  P outside_;
  std::vector<Region> regions_;
  P* values_ = nullptr;
  int n_ = 0, c_ = 0;
};

}  // namespace softtpu
