// Pixels of images as floats, and back.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "host/bmcv/image.hpp"
#include "host/bmlib/network_launch.hpp"

namespace softtpu::bmcv {
namespace {

using Layout = Format::Layout;
using Bytes = std::vector<std::uint8_t>;

float half_to_float(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa != 0 ? std::nanf("") : sign * INFINITY;
  const int whole = exponent == 0 ? mantissa : mantissa | 1024;
  return sign * std::ldexp(static_cast<float>(whole), (exponent == 0 ? 1 : exponent) - 25);
}

// To nearest, ties to even.
std::uint16_t float_to_half(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return 0x7E00;
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0F) return sign | 0x7C00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int scale = std::max(exponent, -13) - 11;  // the exponent of the last bit
  const auto whole = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, -scale)));
  // A mantissa of 2048 carries into the exponent.
  const unsigned bits = whole < 1024 ? whole : whole + (static_cast<unsigned>(scale + 24) << 10);
  return static_cast<std::uint16_t>(sign | bits);
}

std::uint16_t float_to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7FC0;
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

template <class T>
T take(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}
template <class T>
void put(std::uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}
// The nearest number of the type, halves away from zero; 0 for a NaN.
template <class T>
T to_integer(float value) {
  if (std::isnan(value)) return 0;
  const double low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<T>(std::clamp(std::round(static_cast<double>(value)), low, high));
}

float load(const std::uint8_t* at, bm_image_data_format_ext type) {
  switch (type) {
    case DATA_TYPE_EXT_FLOAT32: return take<float>(at);
    case DATA_TYPE_EXT_1N_BYTE: return *at;
    case DATA_TYPE_EXT_1N_BYTE_SIGNED: return take<std::int8_t>(at);
    case DATA_TYPE_EXT_FP16: return half_to_float(take<std::uint16_t>(at));
    case DATA_TYPE_EXT_BF16: return std::bit_cast<float>(std::uint32_t{take<std::uint16_t>(at)} << 16);
    case DATA_TYPE_EXT_U16: return take<std::uint16_t>(at);
    case DATA_TYPE_EXT_S16: return take<std::int16_t>(at);
    default: return static_cast<float>(take<std::uint32_t>(at));
  }
}
void store(std::uint8_t* at, bm_image_data_format_ext type, float value) {
  switch (type) {
    case DATA_TYPE_EXT_FLOAT32: return put(at, value);
    case DATA_TYPE_EXT_1N_BYTE: return put(at, to_integer<std::uint8_t>(value));
    case DATA_TYPE_EXT_1N_BYTE_SIGNED: return put(at, to_integer<std::int8_t>(value));
    case DATA_TYPE_EXT_FP16: return put(at, float_to_half(value));
    case DATA_TYPE_EXT_BF16: return put(at, float_to_bfloat(value));
    case DATA_TYPE_EXT_U16: return put(at, to_integer<std::uint16_t>(value));
    case DATA_TYPE_EXT_S16: return put(at, to_integer<std::int16_t>(value));
    default: return put(at, to_integer<std::uint32_t>(value));
  }
}

struct Place {
  std::size_t plane = 0;
  int row = 0, element = 0;
};

// Where channel c of the pixel lies.
Place place_of(const Format& format, const bm_image& image, int c, int y, int x) {
  const int place = format.order[static_cast<std::size_t>(c)];
  switch (format.layout) {
    case Layout::kOnePlane: return {0, place * image.height + y, x};
    case Layout::kPacked: return {0, y, x * format.pixel + place};
    case Layout::kSemiPlanar:
      if (c == 0) return {0, y, x};
      return {1, y / format.down, x / format.across * 2 + place};
    case Layout::kPairs:  // two pixels: two Y, one U, one V
      if (c == 0) return {0, y, x / 2 * 4 + place + x % 2 * 2};
      return {0, y, x / 2 * 4 + place};
    default:
      if (c == 0 || format.colours == Colours::kRgb) return {static_cast<std::size_t>(place), y, x};
      return {static_cast<std::size_t>(place), y / format.down, x / format.across};
  }
}

const Format* need_format(const char* function, const bm_image& image) {
  const Format* const format = find_format(image.image_format);
  if (format == nullptr) {
    refuse(function, fmt::format("format {} is not supported here", static_cast<int>(image.image_format)));
  }
  return format;
}

}  // namespace

const Format* find_format(bm_image_format_ext format) {
  constexpr auto rgb = [](Layout layout, std::array<int, 3> order, int pixel = 3) {
    return Format{Colours::kRgb, order, 1, 1, layout, pixel};
  };
  constexpr auto yuv = [](Layout layout, std::array<int, 3> order, int across, int down) {
    return Format{Colours::kYuv, order, across, down, layout, 3};
  };
  static constexpr Format kRgbPlanar = rgb(Layout::kOnePlane, {0, 1, 2}),
                          kBgrPlanar = rgb(Layout::kOnePlane, {2, 1, 0}), kRgbPacked = rgb(Layout::kPacked, {0, 1, 2}),
                          kBgrPacked = rgb(Layout::kPacked, {2, 1, 0}), kRgbPlanes = rgb(Layout::kPlanes, {0, 1, 2}),
                          kBgrPlanes = rgb(Layout::kPlanes, {2, 1, 0}), kArgb = rgb(Layout::kPacked, {1, 2, 3}, 4),
                          kAbgr = rgb(Layout::kPacked, {3, 2, 1}, 4);
  static constexpr Format k420 = yuv(Layout::kPlanes, {0, 1, 2}, 2, 2), k422 = yuv(Layout::kPlanes, {0, 1, 2}, 2, 1),
                          k444 = yuv(Layout::kPlanes, {0, 1, 2}, 1, 1),
                          kNv12 = yuv(Layout::kSemiPlanar, {0, 0, 1}, 2, 2),
                          kNv21 = yuv(Layout::kSemiPlanar, {0, 1, 0}, 2, 2),
                          kNv16 = yuv(Layout::kSemiPlanar, {0, 0, 1}, 2, 1),
                          kNv61 = yuv(Layout::kSemiPlanar, {0, 1, 0}, 2, 1),
                          kNv24 = yuv(Layout::kSemiPlanar, {0, 0, 1}, 1, 1),
                          kYuvPacked = yuv(Layout::kPacked, {0, 1, 2}, 1, 1),
                          kYvuPacked = yuv(Layout::kPacked, {0, 2, 1}, 1, 1),
                          kYuyv = yuv(Layout::kPairs, {0, 1, 3}, 2, 1), kYvyu = yuv(Layout::kPairs, {0, 3, 1}, 2, 1),
                          kUyvy = yuv(Layout::kPairs, {1, 0, 2}, 2, 1), kVyuy = yuv(Layout::kPairs, {1, 2, 0}, 2, 1);
  static constexpr Format kGray{Colours::kGray, {0, 0, 0}, 1, 1, Layout::kPlanes, 1};
  switch (format) {
    case FORMAT_YUV420P: return &k420;
    case FORMAT_YUV422P: return &k422;
    case FORMAT_YUV444P: return &k444;
    case FORMAT_NV12: return &kNv12;
    case FORMAT_NV21: return &kNv21;
    case FORMAT_NV16: return &kNv16;
    case FORMAT_NV61: return &kNv61;
    case FORMAT_NV24: return &kNv24;
    case FORMAT_RGB_PLANAR: return &kRgbPlanar;
    case FORMAT_BGR_PLANAR: return &kBgrPlanar;
    case FORMAT_RGB_PACKED: return &kRgbPacked;
    case FORMAT_BGR_PACKED: return &kBgrPacked;
    case FORMAT_RGBP_SEPARATE: return &kRgbPlanes;
    case FORMAT_BGRP_SEPARATE: return &kBgrPlanes;
    case FORMAT_GRAY: return &kGray;
    case FORMAT_ARGB_PACKED: return &kArgb;
    case FORMAT_ABGR_PACKED: return &kAbgr;
    case FORMAT_YUV444_PACKED: return &kYuvPacked;
    case FORMAT_YVU444_PACKED: return &kYvuPacked;
    case FORMAT_YUV422_YUYV: return &kYuyv;
    case FORMAT_YUV422_YVYU: return &kYvyu;
    case FORMAT_YUV422_UYVY: return &kUyvy;
    case FORMAT_YUV422_VYUY: return &kVyuy;
    default: return nullptr;
  }
}

Pixels Pixels::make(int width, int height, Colours colours) {
  Pixels made;
  made.width = width;
  made.height = height;
  made.colours = colours;
  const auto count = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  for (int c = 0; c < made.channels(); ++c) made.channel[static_cast<std::size_t>(c)].resize(count);
  return made;
}

// Of a plane the rows alone: what lies between them may never have been written, and is not the image's. The chip does
// these operations itself, in its queue.
template <class Copy>
bm_status_t copy_rows(const char* function, const bm_image_private& image, std::size_t i, Copy copy) {
  if (const bm_status_t status = host::wait_in_queue(function, image.handle); status != BM_SUCCESS) return status;
  const Plane& plane = image.planes[i];
  if (plane.stride == plane.row_bytes) return copy(0, static_cast<unsigned>(plane.bytes()));
  bm_status_t status = BM_SUCCESS;
  for (int row = 0; status == BM_SUCCESS && row < plane.rows; ++row) {
    status =
        copy(static_cast<unsigned>(row) * static_cast<unsigned>(plane.stride), static_cast<unsigned>(plane.row_bytes));
  }
  return status;
}

bm_status_t read_rows(const char* function, const bm_image_private& image, std::size_t i, Bytes& bytes) {
  return copy_rows(function, image, i, [&](unsigned offset, unsigned size) {
    return bm_memcpy_d2s_partial_offset(image.handle, bytes.data() + offset, image.memory[i], size, offset);
  });
}

bm_status_t write_rows(const char* function, const bm_image_private& image, std::size_t i, Bytes& bytes) {
  return copy_rows(function, image, i, [&](unsigned offset, unsigned size) {
    return bm_memcpy_s2d_partial_offset(image.handle, image.memory[i], bytes.data() + offset, size, offset);
  });
}

bm_status_t read_pixels(const char* function, const bm_image& image, Pixels& pixels) {
  const bm_image_private* const own = find_image(function, image);
  const Format* const format = own != nullptr ? need_format(function, image) : nullptr;
  if (format == nullptr) return BM_ERR_PARAM;
  if (!own->attached) return refuse(function, "an input has no memory", BM_ERR_FAILURE);
  std::vector<Bytes> planes;
  for (std::size_t i = 0; i < own->planes.size(); ++i) {
    planes.emplace_back(own->planes[i].bytes());
    if (const bm_status_t status = read_rows(function, *own, i, planes.back()); status != BM_SUCCESS) return status;
  }
  pixels = Pixels::make(image.width, image.height, format->colours);
  const int size = element_bytes(image.data_type);
  for (int c = 0; c < pixels.channels(); ++c) {
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        const Place at = place_of(*format, image, c, y, x);
        pixels.at(c, y, x) =
            load(planes[at.plane].data() + at.row * own->planes[at.plane].stride + at.element * size, image.data_type);
      }
    }
  }
  return BM_SUCCESS;
}

bm_status_t write_pixels(const char* function, const bm_image& image, const Pixels& pixels) {
  bm_image_private* const own = find_image(function, image);
  const Format* const format = own != nullptr ? need_format(function, image) : nullptr;
  if (format == nullptr) return BM_ERR_PARAM;
  bm_status_t status = need_memory(function, image);
  // The fourth channel of a pixel stays, and half of a last pair.
  const bool has_more = (format->layout == Format::Layout::kPacked && format->pixel > pixels.channels()) ||
                        (format->layout == Format::Layout::kPairs && image.width % 2 != 0);
  std::vector<Bytes> planes;
  for (std::size_t i = 0; status == BM_SUCCESS && i < own->planes.size(); ++i) {
    planes.emplace_back(own->planes[i].bytes());
    if (has_more) status = read_rows(function, *own, i, planes.back());
  }
  if (status != BM_SUCCESS) return status;
  const int size = element_bytes(image.data_type);
  for (int c = 0; c < pixels.channels(); ++c) {
    const int across = c == 0 ? 1 : format->across, down = c == 0 ? 1 : format->down;
    for (int y = 0; y < image.height; y += down) {
      for (int x = 0; x < image.width; x += across) {
        // Colours that pixels share are their mean.
        float sum = 0;
        int count = 0;
        for (int i = y; i < std::min(y + down, image.height); ++i) {
          for (int j = x; j < std::min(x + across, image.width); ++j, ++count) sum += pixels.at(c, i, j);
        }
        const Place at = place_of(*format, image, c, y, x);
        store(planes[at.plane].data() + at.row * own->planes[at.plane].stride + at.element * size, image.data_type,
              sum / static_cast<float>(count));
      }
    }
  }
  for (std::size_t i = 0; status == BM_SUCCESS && i < own->planes.size(); ++i) {
    status = write_rows(function, *own, i, planes[i]);
  }
  return status;
}

}  // namespace softtpu::bmcv
