// Convolutions, depthwise convolutions and poolings of BM1684X on one output element, written from the description:
// which input a tap sees, and in which order what it gives is summed. No code is shared with the device.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/reference/elementwise.hpp"
#include "tests/reference/random_data.hpp"
#include "tests/reference/sums.hpp"
#include "tpu_kernel.h"

namespace softtpu::reference {

// Input and window of one case.
struct Geometry {
  dim4 in;
  dim2 kernel, stride, dilation, insert;
  padding_t pad;
  bool rotated_180 = false;  // the stored kernel is turned by 180 degrees

  static int extent(int in, int inserted, int before, int after, int taps, int step, int spread) {
    return ((in - 1) * (inserted + 1) + 1 + before + after - ((taps - 1) * spread + 1)) / step + 1;
  }
  int oh() const { return extent(in.h, insert.h, pad.top, pad.bottom, kernel.h, stride.h, dilation.h); }
  int ow() const { return extent(in.w, insert.w, pad.left, pad.right, kernel.w, stride.w, dilation.w); }
  bool fits() const {
    return (in.h - 1) * (insert.h + 1) + 1 + pad.top + pad.bottom >= (kernel.h - 1) * dilation.h + 1 &&
           (in.w - 1) * (insert.w + 1) + 1 + pad.left + pad.right >= (kernel.w - 1) * dilation.w + 1;
  }
  // What a tap sees: an element, an inserted value, or padding.
  enum class Sees : std::uint8_t { kElement, kInserted, kPadding };
  struct Spot {
    Sees sees;
    int h, w;
  };
  Spot spot(int o_h, int o_w, int k_h, int k_w) const {
    const int y = o_h * stride.h + k_h * dilation.h - pad.top;
    const int x = o_w * stride.w + k_w * dilation.w - pad.left;
    if (y < 0 || x < 0 || y > (in.h - 1) * (insert.h + 1) || x > (in.w - 1) * (insert.w + 1)) {
      return {Sees::kPadding, 0, 0};
    }
    if (y % (insert.h + 1) != 0 || x % (insert.w + 1) != 0) return {Sees::kInserted, 0, 0};
    return {Sees::kElement, y / (insert.h + 1), x / (insert.w + 1)};
  }
  // The stored tap that window position (k_h, k_w) is multiplied with.
  dim2 stored_tap(int k_h, int k_w) const {
    return rotated_180 ? dim2{kernel.h - 1 - k_h, kernel.w - 1 - k_w} : dim2{k_h, k_w};
  }
  std::string text() const {
    return fmt::format("in [{}, {}, {}, {}] kernel {}x{} stride {}x{} dilation {}x{} insert {}x{} pad {} {} {} {} {}",
                       in.n, in.c, in.h, in.w, kernel.h, kernel.w, stride.h, stride.w, dilation.h, dilation.w, insert.h,
                       insert.w, pad.top, pad.bottom, pad.left, pad.right, rotated_180 ? "turned" : "");
  }
};

// ---- Convolutions ----

// Weights: groups of input channels, in each the kernel, in each tap the channels of the group.
inline LocalTensor weights(const Geometry& g, unsigned addr, int oc, int group, int size) {
  return compact(addr, 1, oc, (g.in.c + group - 1) / group * g.kernel.h * g.kernel.w, group, size);
}
inline std::uint32_t weight_at(const Image& image, const LocalTensor& weight, const Geometry& g, int oc, int ic, int kh,
                               int kw) {
  const dim2 tap = g.stored_tap(kh, kw);
  const int unit = (ic / weight.w * g.kernel.h + tap.h) * g.kernel.w + tap.w;
  return RandomData::take(image, weight, 0, oc, unit, ic % weight.w);
}

// `first` (bias, old result) and the products of all input channels and taps. factors(ic, kh, kw) gives the two
// factors.
template <class Factors>
float float_convolution(Float type, const std::vector<float>& first, const Geometry& g, Factors factors) {
  if (type == Float::kF32) {
    TwoLanes sum;
    for (const float addend : first) sum.put(addend);
    for (int ic = 0; ic < g.in.c; ++ic) {
      for (int kh = 0; kh < g.kernel.h; ++kh) {
        for (int kw = 0; kw < g.kernel.w; ++kw) {
          const auto [a, b] = factors(ic, kh, kw);
          sum.put(multiply(a, b));
        }
      }
    }
    return sum.result();
  }
  float total = 0;
  for (const float addend : first) total = rounded_sum(total, addend);
  for (int block = 0; block < g.in.c; block += 32) {
    for (int kh = 0; kh < g.kernel.h; ++kh) {
      for (int kw = 0; kw < g.kernel.w; ++kw) {
        std::vector<double> left, right;
        for (int ic = block; ic < block + 32 && ic < g.in.c; ++ic) {
          const auto [a, b] = factors(ic, kh, kw);
          left.push_back(a);
          right.push_back(b);
        }
        total = rounded_sum(total, group_sum(left, right));
      }
    }
  }
  return total;
}

// ---- Depthwise convolutions and poolings ----

// The sum of bias and products, every step rounded to `type`; an average starts at -0.
template <class Factors>
std::uint32_t float_window_sum(Float type, bool average, std::optional<double> bias, const dim2& kernel,
                               Factors factors) {
  TwoLanes sum(type, average ? -0.0F : 0.0F);
  if (bias) sum.put(static_cast<float>(*bias));
  for (int kh = 0; kh < kernel.h; ++kh) {
    for (int kw = 0; kw < kernel.w; ++kw) {
      const auto [a, b] = factors(kh, kw);
      sum.put(rounded_product(a, b, type));
    }
  }
  return bits_of(sum.result(), type);
}

// The largest or smallest tap: the later of equals, and of a NaN and what follows. seen(kh, kw) gives bits.
template <class Seen>
std::uint32_t float_window_best(Float type, bool maximum, const dim2& kernel, Seen seen) {
  std::uint32_t best = type == Float::kF32 ? 0x7F7FFFFFU : type == Float::kF16 ? 0x7BFFU : 0x7F7FU;
  if (maximum) best |= type == Float::kF32 ? 0x80000000U : 0x8000U;
  for (int kh = 0; kh < kernel.h; ++kh) {
    for (int kw = 0; kw < kernel.w; ++kw) {
      const std::uint32_t bits = seen(kh, kw);
      const double old = value_of(best, type), offered = value_of(bits, type);
      const bool keep = maximum ? old > offered : old < offered;
      if (!keep) best = bits;
    }
  }
  const bool subnormal = type == Float::kF32 && (best & 0x7F800000U) == 0;
  return subnormal ? best & 0x80000000U : best;
}

// sat(relu(sum >> rshift)) of a sum modulo 2^32, read as signed or not.
inline std::uint32_t shifted_sum(std::int64_t sum, bool is_signed, int rshift, Rounding rounding, bool relu,
                                 Dtype result) {
  const auto low = static_cast<std::uint32_t>(sum);
  const Wide value = is_signed ? Wide{static_cast<std::int32_t>(low)} : Wide{low};
  Wide shifted_value = shifted(value, -rshift, rounding);
  if (relu && shifted_value < 0) shifted_value = 0;
  return finished(shifted_value, true, result);
}

}  // namespace softtpu::reference
