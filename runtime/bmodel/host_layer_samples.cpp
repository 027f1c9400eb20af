// Layers for the host's processor that take values between the elements of planes.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "runtime/bmodel/host_layer_work.hpp"

namespace softtpu::bmodel::on_host {
namespace {

// One channel of an image.
struct Plane {
  const Values& of;
  std::uint64_t first;
  std::int64_t h, w;
  float at(std::int64_t y, std::int64_t x) const { return of.real(first + static_cast<std::uint64_t>(y * w + x)); }
  // 0 outside.
  float at_or_zero(std::int64_t y, std::int64_t x) const { return y < 0 || y >= h || x < 0 || x >= w ? 0 : at(y, x); }
};

Plane plane_of(const Values& from, std::uint64_t image, std::uint64_t channel) {
  return {from, (image * from.shape[1] + channel) * from.shape[2] * from.shape[3],
          static_cast<std::int64_t>(from.shape[2]), static_cast<std::int64_t>(from.shape[3])};
}

// Regions of a record's size over an image [n, c, h, w]; rows of five numbers, the first being the image.
struct Regions {
  std::uint64_t count = 0, h = 0, w = 0;
};
Result<Regions> regions_of(const Work& work) {
  const Values& from = work.inputs[0];
  const Values& rows = work.inputs[1];
  const std::int32_t h = work.record.whole(0);
  const std::int32_t w = work.record.whole(4);
  constexpr std::int32_t kMost = 1 << 12;
  if (from.shape.size() != 4 || from.data.empty() || rows.data.size() % 5 != 0 ||
      (!rows.data.empty() && rows.shape[0] != rows.data.size() / 5) || h < 1 || w < 1 || h > kMost || w > kMost)
    return wrong(
        fmt::format("regions [{}] of {} x {} in [{}]", fmt::join(rows.shape, ", "), h, w, fmt::join(from.shape, ", ")));
  const std::uint64_t count = rows.data.size() / 5;
  if (const auto good =
          fits(work, {count, from.shape[1], static_cast<std::uint64_t>(h), static_cast<std::uint64_t>(w)});
      !good)
    return good.error();
  return Regions{count, static_cast<std::uint64_t>(h), static_cast<std::uint64_t>(w)};
}

float between(const Plane& plane, float y, float x) {
  const auto h = static_cast<float>(plane.h);
  const auto w = static_cast<float>(plane.w);
  if (!(y >= -1 && y <= h && x >= -1 && x <= w)) return 0;
  y = std::max(y, 0.0F);
  x = std::max(x, 0.0F);
  auto y0 = static_cast<std::int64_t>(y);
  auto x0 = static_cast<std::int64_t>(x);
  std::int64_t y1 = y0 + 1;
  std::int64_t x1 = x0 + 1;
  if (y0 >= plane.h - 1) y = static_cast<float>(y0 = y1 = plane.h - 1);
  if (x0 >= plane.w - 1) x = static_cast<float>(x0 = x1 = plane.w - 1);
  const float ly = y - static_cast<float>(y0);
  const float lx = x - static_cast<float>(x0);
  const float hy = 1 - ly;
  const float hx = 1 - lx;
  return hy * hx * plane.at(y0, x0) + hy * lx * plane.at(y0, x1) + ly * hx * plane.at(y1, x0) +
         ly * lx * plane.at(y1, x1);
}

// `aligned`: half a pixel is taken off, and regions may be smaller than a pixel.
Made roi_align(const Work& work, bool aligned) {
  const auto regions = regions_of(work);
  if (!regions) return regions.error();
  const Values& from = work.inputs[0];
  const Values& rows = work.inputs[1];
  const float scale = work.record.real(8);
  const std::int32_t ratio = work.record.whole(12);
  Values made{{regions->count, from.shape[1], regions->h, regions->w}, {}, false};
  const float offset = aligned ? 0.5F : 0;
  constexpr float kMostSamples = 1 << 20;
  for (std::uint64_t r = 0; r < regions->count; ++r) {
    const auto image = index_within(rows.data[r * 5], from.shape[0]);
    if (!image) return image.error();
    const float x = rows.real(r * 5 + 1) * scale - offset;
    const float y = rows.real(r * 5 + 2) * scale - offset;
    float w = rows.real(r * 5 + 3) * scale - offset - x;
    float h = rows.real(r * 5 + 4) * scale - offset - y;
    if (!aligned) {
      w = std::max(w, 1.0F);
      h = std::max(h, 1.0F);
    }
    const float bin_h = h / static_cast<float>(regions->h);
    const float bin_w = w / static_cast<float>(regions->w);
    const float grid_h = ratio > 0 ? static_cast<float>(ratio) : std::ceil(bin_h);
    const float grid_w = ratio > 0 ? static_cast<float>(ratio) : std::ceil(bin_w);
    if (!(grid_h <= kMostSamples && grid_w <= kMostSamples && grid_h * grid_w <= kMostSamples))
      return wrong(fmt::format("region {} has {} x {} samples in a bin", r, grid_h, grid_w));
    const float samples = std::max(grid_h * grid_w, 1.0F);
    for (std::uint64_t channel = 0; channel < from.shape[1]; ++channel) {
      const Plane plane = plane_of(from, *image, channel);
      for (std::uint64_t i = 0; i < regions->h * regions->w; ++i) {
        const std::uint64_t row = i / regions->w;
        const std::uint64_t column = i % regions->w;
        float total = 0;
        for (float gy = 0; gy < grid_h; ++gy) {
          const float at_y = y + static_cast<float>(row) * bin_h + (gy + 0.5F) * bin_h / grid_h;
          for (float gx = 0; gx < grid_w; ++gx)
            total += between(plane, at_y, x + static_cast<float>(column) * bin_w + (gx + 0.5F) * bin_w / grid_w);
        }
        made.data.push_back(total / samples);
      }
    }
  }
  return std::vector{std::move(made)};
}

}  // namespace

Made roi_align_of_mxnet(const Work& work) { return roi_align(work, false); }
Made roi_align_of_pytorch(const Work& work) { return roi_align(work, work.record.flag(16)); }

Made roi_pooling(const Work& work) {
  const auto regions = regions_of(work);
  if (!regions) return regions.error();
  const Values& from = work.inputs[0];
  const Values& rows = work.inputs[1];
  const float scale = work.record.real(8);
  Values made{{regions->count, from.shape[1], regions->h, regions->w}, {}, false};
  for (std::uint64_t r = 0; r < regions->count; ++r) {
    const auto image = index_within(rows.data[r * 5], from.shape[0]);
    if (!image) return image.error();
    constexpr float kMost = 1 << 20;
    float corners[4];
    for (std::size_t k = 0; k < 4; ++k) {
      corners[k] = std::round(rows.real(r * 5 + 1 + k) * scale);
      if (!(std::abs(corners[k]) <= kMost)) return wrong(fmt::format("region {} reaches to {}", r, corners[k]));
    }
    const float bin_w = std::max(corners[2] - corners[0] + 1, 1.0F) / static_cast<float>(regions->w);
    const float bin_h = std::max(corners[3] - corners[1] + 1, 1.0F) / static_cast<float>(regions->h);
    // A bin's first element, and the one behind its last.
    const auto reach = [](float start, float bin, std::uint64_t i, std::int64_t extent) {
      const auto begin = static_cast<std::int64_t>(std::floor(static_cast<float>(i) * bin) + start);
      const auto end = static_cast<std::int64_t>(std::ceil(static_cast<float>(i + 1) * bin) + start);
      return std::pair(std::clamp(begin, std::int64_t{0}, extent), std::clamp(end, std::int64_t{0}, extent));
    };
    for (std::uint64_t channel = 0; channel < from.shape[1]; ++channel) {
      const Plane plane = plane_of(from, *image, channel);
      for (std::uint64_t i = 0; i < regions->h * regions->w; ++i) {
        const auto [top, bottom] = reach(corners[1], bin_h, i / regions->w, plane.h);
        const auto [left, right] = reach(corners[0], bin_w, i % regions->w, plane.w);
        const bool empty = top >= bottom || left >= right;
        float most = empty ? 0 : -std::numeric_limits<float>::max();
        for (std::int64_t y = top; y < bottom; ++y) {
          for (std::int64_t x = left; x < right; ++x) most = std::max(most, plane.at(y, x));
        }
        made.data.push_back(most);
      }
    }
  }
  return std::vector{std::move(made)};
}

namespace {

// `planes`: elements of the result for each place of the grid.
Made grid_of(const Work& work, const Values& theta, std::uint64_t planes) {
  const Record& record = work.record;
  const bool aligned = record.flag(0);
  constexpr std::int32_t kMost = 1 << 14;
  Shape shape;
  for (const std::size_t at : {4U, 8U, 12U}) {
    const std::int32_t extent = record.whole(at);
    if (extent < 1 || extent > kMost) return wrong(fmt::format("a grid with an extent of {}", extent));
    shape.push_back(static_cast<std::uint64_t>(extent));
  }
  if (const auto good = fits(work, {shape[0], shape[1], shape[2], planes}); !good) return good.error();
  if (theta.data.size() != shape[0] * 6)
    return wrong(fmt::format("matrices [{}] for {} images", fmt::join(theta.shape, ", "), shape[0]));
  const auto base = [aligned](std::uint64_t i, std::uint64_t extent) {
    const auto at = static_cast<float>(i);
    const auto count = static_cast<float>(extent);
    if (aligned) return extent == 1 ? 0 : -1 + 2 * at / (count - 1);
    return (2 * at + 1) / count - 1;
  };
  Values made{{shape[0], shape[1], shape[2], 2}, {}, false};
  for (std::uint64_t n = 0; n < shape[0]; ++n) {
    for (std::uint64_t i = 0; i < shape[1] * shape[2]; ++i) {
      const float x = base(i % shape[2], shape[2]);
      const float y = base(i / shape[2], shape[1]);
      for (std::uint64_t row = 0; row < 2; ++row) {
        const std::uint64_t at = n * 6 + row * 3;
        made.data.push_back(x * theta.real(at) + y * theta.real(at + 1) + theta.real(at + 2));
      }
    }
  }
  return std::vector{std::move(made)};
}

enum Padding { kZeros, kBorder, kReflection };

// Where a grid's number, from -1 to 1, lies along `extent` elements.
float place_along(float value, std::int64_t extent, std::int32_t padding, bool aligned) {
  const auto count = static_cast<float>(extent);
  float at = aligned ? (value + 1) / 2 * (count - 1) : ((value + 1) * count - 1) / 2;
  if (padding == kReflection) {
    const float low = aligned ? 0 : -0.5F;
    const float span = aligned ? count - 1 : count;
    if (span == 0) {
      at = 0;
    } else {
      const float from = std::abs(at - low);
      const float rest = std::fmod(from, span);
      const bool back = std::fmod(std::floor(from / span), 2.0F) != 0;
      at = back ? span - rest + low : rest + low;
    }
  }
  if (padding != kZeros) at = std::min(std::max(at, 0.0F), count - 1);
  return at;
}

Made sample(const Work& work, const Record& record, const Values& from, const Values& grid) {
  if (from.shape.size() != 4 || grid.shape.size() != 4 || grid.shape[3] != 2 || grid.shape[0] != from.shape[0] ||
      from.data.empty())
    return wrong(fmt::format("a grid [{}] over [{}]", fmt::join(grid.shape, ", "), fmt::join(from.shape, ", ")));
  const bool nearest = record.whole(0) != 0;
  const std::int32_t padding = record.whole(4);
  const bool aligned = record.flag(8);
  Values made{{from.shape[0], from.shape[1], grid.shape[1], grid.shape[2]}, {}, false};
  const std::uint64_t places = grid.shape[1] * grid.shape[2];
  if (const auto good = fits(work, {from.shape[0], from.shape[1], places}); !good) return good.error();
  for (std::uint64_t n = 0; n < from.shape[0]; ++n) {
    for (std::uint64_t channel = 0; channel < from.shape[1]; ++channel) {
      const Plane plane = plane_of(from, n, channel);
      for (std::uint64_t i = 0; i < places; ++i) {
        const float x = place_along(grid.real((n * places + i) * 2), plane.w, padding, aligned);
        const float y = place_along(grid.real((n * places + i) * 2 + 1), plane.h, padding, aligned);
        // Far outside, and NaN: no element is near.
        constexpr float kFar = 1 << 24;
        if (!(std::abs(x) < kFar && std::abs(y) < kFar)) {
          made.data.push_back(0);
          continue;
        }
        if (nearest) {
          made.data.push_back(plane.at_or_zero(static_cast<std::int64_t>(std::nearbyint(y)),
                                               static_cast<std::int64_t>(std::nearbyint(x))));
          continue;
        }
        const auto x0 = static_cast<std::int64_t>(std::floor(x));
        const auto y0 = static_cast<std::int64_t>(std::floor(y));
        const float right = x - static_cast<float>(x0);
        const float low = y - static_cast<float>(y0);
        made.data.push_back(
            plane.at_or_zero(y0, x0) * ((1 - right) * (1 - low)) + plane.at_or_zero(y0, x0 + 1) * (right * (1 - low)) +
            plane.at_or_zero(y0 + 1, x0) * ((1 - right) * low) + plane.at_or_zero(y0 + 1, x0 + 1) * (right * low));
      }
    }
  }
  return std::vector{std::move(made)};
}

}  // namespace

Made affine_grid(const Work& work) { return grid_of(work, work.inputs[0], 2); }
Made grid_sample(const Work& work) { return sample(work, work.record, work.inputs[0], work.inputs[1]); }
Made affine_grid_sample(const Work& work) {
  const auto grid = grid_of(work, work.inputs[1], 1);
  if (!grid) return grid.error();
  return sample(work, work.record.from(16), work.inputs[0], grid->front());
}

namespace {

// Of [n, c, h, w] in the order of a record: 0 as written, 1 with the channels last.
struct Order {
  std::uint64_t n, c, h, w;
  bool channels_last;
  std::uint64_t at(std::uint64_t image, std::uint64_t channel, std::uint64_t y, std::uint64_t x) const {
    return channels_last ? ((image * h + y) * w + x) * c + channel : ((image * c + channel) * h + y) * w + x;
  }
  Shape shape() const { return channels_last ? Shape{n, h, w, c} : Shape{n, c, h, w}; }
};

enum Method { kBilinear, kNearest, kBilinearOfPytorch, kNearestOfPytorch };

// Along one dimension: two elements, and how far the place is from the first to the second.
struct Between {
  std::uint64_t first = 0, second = 0;
  float part = 0;
};
Between place_of(std::uint64_t i, std::uint64_t from, std::uint64_t to, std::int32_t method, bool aligned, bool half) {
  const auto at = static_cast<float>(i);
  const auto last = static_cast<float>(from - 1);
  const bool corners = aligned && to > 1;
  const float scale = corners ? last / static_cast<float>(to - 1) : static_cast<float>(from) / static_cast<float>(to);
  if (method == kNearest || method == kNearestOfPytorch) {
    const bool centers = half && method == kNearest;
    const float place = (centers ? at + 0.5F : at) * scale;
    const float nearest = corners && method == kNearest ? std::round(place) : std::floor(place);
    const auto one = static_cast<std::uint64_t>(std::min(std::max(nearest, 0.0F), last));
    return {one, one, 0};
  }
  const bool centers = method == kBilinear ? half : !aligned;
  const float place = centers ? (at + 0.5F) * scale - 0.5F : at * scale;
  const float low = std::floor(place);
  return {static_cast<std::uint64_t>(std::min(std::max(low, 0.0F), last)),
          static_cast<std::uint64_t>(std::min(std::max(std::ceil(place), 0.0F), last)), place - low};
}

}  // namespace

Made resize(const Work& work) {
  const Record& record = work.record;
  const Values& from = work.inputs[0];
  const std::int32_t h = record.whole(20);
  const std::int32_t w = record.whole(24);
  constexpr std::int32_t kMost = 1 << 14;
  if (from.shape.size() != 4 || from.data.empty() || h < 1 || w < 1 || h > kMost || w > kMost)
    return wrong(fmt::format("[{}] to {} x {}", fmt::join(from.shape, ", "), h, w));
  const bool last = record.whole(12) != 0;
  const Order in{from.shape[0], from.shape[last ? 3 : 1], from.shape[last ? 1 : 2], from.shape[last ? 2 : 3], last};
  const Order out{in.n, in.c, static_cast<std::uint64_t>(h), static_cast<std::uint64_t>(w), record.whole(16) != 0};
  const std::int32_t method = record.whole(8);
  const bool aligned = record.whole(0) != 0;
  const bool half = record.whole(4) != 0;
  if (const auto good = fits(work, {out.n, out.c, out.h, out.w}); !good) return good.error();
  Values made = values_of(out.shape());
  for (std::uint64_t y = 0; y < out.h; ++y) {
    const Between row = place_of(y, in.h, out.h, method, aligned, half);
    for (std::uint64_t x = 0; x < out.w; ++x) {
      const Between column = place_of(x, in.w, out.w, method, aligned, half);
      for (std::uint64_t n = 0; n < in.n; ++n) {
        for (std::uint64_t c = 0; c < in.c; ++c) {
          const auto at = [&](std::uint64_t i, std::uint64_t k) { return from.real(in.at(n, c, i, k)); };
          double& to = made.data[out.at(n, c, y, x)];
          if (method == kNearest || method == kNearestOfPytorch) {
            to = from.data[in.at(n, c, row.first, column.first)];
            continue;
          }
          const float top =
              at(row.first, column.first) + (at(row.first, column.second) - at(row.first, column.first)) * column.part;
          const float bottom = at(row.second, column.first) +
                               (at(row.second, column.second) - at(row.second, column.first)) * column.part;
          to = top + (bottom - top) * row.part;
        }
      }
    }
  }
  return std::vector{std::move(made)};
}

}  // namespace softtpu::bmodel::on_host
