// Images: planes, their memory, and their pixels as floats on the host.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bmcv_api_ext.h"
#include "host/client/caught.hpp"

namespace softtpu::bmcv {

inline constexpr int kMostPlanes = 4;

struct Plane {
  int row_bytes = 0, rows = 0, stride = 0;
  std::uint64_t bytes() const { return std::uint64_t{static_cast<unsigned>(stride)} * static_cast<unsigned>(rows); }
};

// How the channels of a format lie: which of them a byte of a plane holds.
enum class Colours : std::uint8_t { kRgb, kYuv, kGray };
struct Format {
  Colours colours = Colours::kRgb;
  std::array<int, 3> order{};  // plane or place of red, green, blue, or of Y, U, V
  int across = 1, down = 1;    // pixels that share U and V
  enum class Layout : std::uint8_t { kPlanes, kOnePlane, kPacked, kSemiPlanar, kPairs } layout = Layout::kPlanes;
  int pixel = 3;  // elements of a packed pixel
};
// nullptr: softtpu does not compute with it.
const Format* find_format(bm_image_format_ext format);
// 0: softtpu does not compute with it.
int element_bytes(bm_image_data_format_ext type);

// Channels in the order red, green, blue, or Y, U, V, at full resolution.
struct Pixels {
  int width = 0, height = 0;
  Colours colours = Colours::kRgb;
  std::array<std::vector<float>, 3> channel;
  int channels() const { return colours == Colours::kGray ? 1 : 3; }
  float& at(int c, int y, int x) {
    return channel[static_cast<std::size_t>(c)]
                  [static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  }
  float at(int c, int y, int x) const { return const_cast<Pixels*>(this)->at(c, y, x); }
  static Pixels make(int width, int height, Colours colours);
};

// What a call has to say before it fails: one line.
bm_status_t refuse(const char* function, const std::string& text, bm_status_t status = BM_ERR_PARAM);

// The image's own data; nullptr after a message.
bm_image_private* find_image(const char* function, const bm_image& image);
bm_status_t need_memory(const char* function, const bm_image& image);
bm_status_t read_pixels(const char* function, const bm_image& image, Pixels& pixels);
// An image without memory gets some.
bm_status_t write_pixels(const char* function, const bm_image& image, const Pixels& pixels);

}  // namespace softtpu::bmcv

struct bm_image_private {
  bm_handle_t handle = nullptr;
  std::vector<softtpu::bmcv::Plane> planes;
  std::array<bm_device_mem_t, softtpu::bmcv::kMostPlanes> memory{};
  bool attached = false, owns = false, default_stride = true;
};
