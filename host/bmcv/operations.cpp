// Crop, resize, colours, types. What the public manual leaves open is decided in README.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "host/bmcv/image.hpp"

namespace softtpu::bmcv {
namespace {

struct Rect {
  int x = 0, y = 0, w = 0, h = 0;
};

Rect whole(const bm_image& image) { return {0, 0, image.width, image.height}; }
std::string to_text(const Rect& r) { return fmt::format("{} x {} at ({}, {})", r.w, r.h, r.x, r.y); }
std::string to_text(const bm_image& image) { return fmt::format("{} x {}", image.width, image.height); }

std::optional<Rect> find_rect(const bmcv_rect_t& rect, const bm_image& image) {
  const auto w = static_cast<unsigned>(image.width), h = static_cast<unsigned>(image.height);
  if (rect.crop_w == 0 || rect.crop_h == 0 || rect.start_x >= w || rect.start_y >= h) return std::nullopt;
  if (rect.crop_w > w - rect.start_x || rect.crop_h > h - rect.start_y) return std::nullopt;
  return Rect{static_cast<int>(rect.start_x), static_cast<int>(rect.start_y), static_cast<int>(rect.crop_w),
              static_cast<int>(rect.crop_h)};
}

// ---- Colours ----

struct Weights {
  float red, blue;  // of the luma; green has the rest
  bool full;        // 0..255 instead of 16..235 and 16..240
  bool to_rgb;
};

std::optional<Weights> find_weights(csc_type_t type) {
  constexpr float kRed601 = 0.299F, kBlue601 = 0.114F, kRed709 = 0.2126F, kBlue709 = 0.0722F;
  switch (type) {
    case CSC_YCbCr2RGB_BT601: return Weights{kRed601, kBlue601, false, true};
    case CSC_YPbPr2RGB_BT601: return Weights{kRed601, kBlue601, true, true};
    case CSC_RGB2YCbCr_BT601: return Weights{kRed601, kBlue601, false, false};
    case CSC_RGB2YPbPr_BT601: return Weights{kRed601, kBlue601, true, false};
    case CSC_YCbCr2RGB_BT709: return Weights{kRed709, kBlue709, false, true};
    case CSC_YPbPr2RGB_BT709: return Weights{kRed709, kBlue709, true, true};
    case CSC_RGB2YCbCr_BT709: return Weights{kRed709, kBlue709, false, false};
    case CSC_RGB2YPbPr_BT709: return Weights{kRed709, kBlue709, true, false};
    default: return std::nullopt;
  }
}

constexpr float kMiddle = 128, kBlack = 16, kLumaRange = 219.0F / 255, kColourRange = 224.0F / 255;

void to_rgb(Pixels& p, const Weights& k) {
  const float green = 1 - k.red - k.blue;
  for (std::size_t i = 0; i < p.channel[0].size(); ++i) {
    const float y = k.full ? p.channel[0][i] : (p.channel[0][i] - kBlack) / kLumaRange;
    const float scale = k.full ? 1 : kColourRange;
    const float u = (p.channel[1][i] - kMiddle) / scale, v = (p.channel[2][i] - kMiddle) / scale;
    const float r = y + 2 * (1 - k.red) * v, b = y + 2 * (1 - k.blue) * u;
    p.channel[0][i] = r;
    p.channel[1][i] = (y - k.red * r - k.blue * b) / green;
    p.channel[2][i] = b;
  }
  p.colours = Colours::kRgb;
}
void to_yuv(Pixels& p, const Weights& k) {
  const float green = 1 - k.red - k.blue;
  for (std::size_t i = 0; i < p.channel[0].size(); ++i) {
    const float r = p.channel[0][i], g = p.channel[1][i], b = p.channel[2][i];
    const float y = k.red * r + green * g + k.blue * b;
    const float scale = k.full ? 1 : kColourRange;
    p.channel[0][i] = k.full ? y : y * kLumaRange + kBlack;
    p.channel[1][i] = (b - y) / (2 * (1 - k.blue)) * scale + kMiddle;
    p.channel[2][i] = (r - y) / (2 * (1 - k.red)) * scale + kMiddle;
  }
  p.colours = Colours::kYuv;
}

// Gray is the luma; of gray, all three colours are the same.
bm_status_t change_colours(const char* function, Pixels& p, Colours to, csc_type_t type) {
  if (p.colours == to) return BM_SUCCESS;
  const bool decodes = p.colours == Colours::kYuv && to == Colours::kRgb;
  if (p.colours == Colours::kGray) {
    const bool yuv = to == Colours::kYuv;
    p.channel[1] = p.channel[2] = yuv ? std::vector<float>(p.channel[0].size(), kMiddle) : p.channel[0];
    p.colours = to;
    return BM_SUCCESS;
  }
  if (p.colours == Colours::kYuv && to == Colours::kGray) {
    p.colours = to;
    return BM_SUCCESS;
  }
  // Gray has the full range.
  const csc_type_t usual =
      decodes ? CSC_YCbCr2RGB_BT601 : (to == Colours::kGray ? CSC_RGB2YPbPr_BT601 : CSC_RGB2YCbCr_BT601);
  const auto weights = find_weights(type == CSC_MAX_ENUM ? usual : type);
  if (!weights || weights->to_rgb != decodes) {
    return refuse(function, fmt::format("csc_type {} does not convert from {} to {}", static_cast<int>(type),
                                        decodes ? "YUV" : "RGB", decodes ? "RGB" : "YUV or gray"));
  }
  decodes ? to_rgb(p, *weights) : to_yuv(p, *weights);
  p.colours = to;
  return BM_SUCCESS;
}

// ---- Sizes ----

// A tap of Catmull and Rom's cubic with the factor that OpenCV uses.
float cubic(float x) {
  constexpr float kA = -0.75F;
  x = std::fabs(x);
  if (x <= 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA : 0;
}

struct Taps {
  std::array<int, 4> at{};
  std::array<float, 4> weight{};
  int count = 0;
};

// Which pixels of a row of `from` make pixel i of one of `to`.
Taps find_taps(int i, int from, int to, bmcv_resize_algorithm algorithm) {
  const float step = static_cast<float>(from) / static_cast<float>(to);
  const auto inside = [&](int at) { return std::clamp(at, 0, from - 1); };
  if (algorithm == BMCV_INTER_NEAREST) {
    return {{inside(static_cast<int>(static_cast<float>(i) * step))}, {1}, 1};
  }
  const float centre = (static_cast<float>(i) + 0.5F) * step - 0.5F;
  const int first = static_cast<int>(std::floor(centre));
  const float part = centre - static_cast<float>(first);
  if (algorithm == BMCV_INTER_LINEAR) return {{inside(first), inside(first + 1)}, {1 - part, part}, 2};
  Taps taps;
  taps.count = 4;
  for (int k = 0; k < 4; ++k) {
    taps.at[static_cast<std::size_t>(k)] = inside(first - 1 + k);
    taps.weight[static_cast<std::size_t>(k)] = cubic(part + 1 - static_cast<float>(k));
  }
  return taps;
}

Pixels resize(const Pixels& input, const Rect& part, int width, int height, bmcv_resize_algorithm algorithm) {
  Pixels made = Pixels::make(width, height, input.colours);
  std::vector<Taps> columns;
  for (int x = 0; x < width; ++x) columns.push_back(find_taps(x, part.w, width, algorithm));
  for (int y = 0; y < height; ++y) {
    const Taps rows = find_taps(y, part.h, height, algorithm);
    for (int x = 0; x < width; ++x) {
      const Taps& across = columns[static_cast<std::size_t>(x)];
      for (int c = 0; c < input.channels(); ++c) {
        float sum = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(rows.count); ++i) {
          for (std::size_t j = 0; j < static_cast<std::size_t>(across.count); ++j) {
            sum += rows.weight[i] * across.weight[j] * input.at(c, part.y + rows.at[i], part.x + across.at[j]);
          }
        }
        made.at(c, y, x) = sum;
      }
    }
  }
  return made;
}

void place(Pixels& canvas, const Pixels& part, int x0, int y0) {
  for (int c = 0; c < canvas.channels(); ++c) {
    for (int y = 0; y < part.height; ++y) {
      for (int x = 0; x < part.width; ++x) canvas.at(c, y0 + y, x0 + x) = part.at(c, y, x);
    }
  }
}

struct Padding {
  Rect part;
  std::optional<std::array<unsigned char, 3>> colour;  // of the rest; none: it stays
};

// The output, or what becomes of it: a canvas of the padding's colour.
bm_status_t make_canvas(const char* function, const bm_image& output, const Padding& padding, csc_type_t csc,
                        Pixels& canvas) {
  const Format* const format = find_format(output.image_format);
  if (!padding.colour) {
    const bm_status_t status = need_memory(function, output);
    return status == BM_SUCCESS ? read_pixels(function, output, canvas) : status;
  }
  canvas = Pixels::make(output.width, output.height, Colours::kRgb);
  for (std::size_t c = 0; c < 3; ++c) {
    std::fill(canvas.channel[c].begin(), canvas.channel[c].end(), static_cast<float>((*padding.colour)[c]));
  }
  if (format == nullptr) return refuse(function, "the format of an output is not supported here");
  const auto weights = find_weights(csc);
  return change_colours(function, canvas, format->colours, weights && !weights->to_rgb ? csc : CSC_MAX_ENUM);
}

struct Step {
  bmcv_resize_algorithm algorithm = BMCV_INTER_LINEAR;
  csc_type_t csc = CSC_MAX_ENUM;
};

bm_status_t transform(const char* function, const Pixels& input, const Rect& part, const bm_image& output,
                      const Padding* padding, const Step& step) {
  if (step.algorithm < BMCV_INTER_NEAREST || step.algorithm > BMCV_INTER_BICUBIC) {
    return refuse(
        function,
        fmt::format("algorithm {} is not supported (nearest 0, linear 1, bicubic 2)", static_cast<int>(step.algorithm)),
        BM_NOT_SUPPORTED);
  }
  const Format* const format = find_image(function, output) != nullptr ? find_format(output.image_format) : nullptr;
  if (format == nullptr) return refuse(function, "the format of an output is not supported here");
  const Rect into = padding != nullptr ? padding->part : whole(output);
  Pixels made = resize(input, part, into.w, into.h, step.algorithm);
  bm_status_t status = change_colours(function, made, format->colours, step.csc);
  if (status != BM_SUCCESS) return status;
  if (padding == nullptr) return write_pixels(function, output, made);
  Pixels canvas;
  status = make_canvas(function, output, *padding, step.csc, canvas);
  if (status != BM_SUCCESS) return status;
  place(canvas, made, into.x, into.y);
  return write_pixels(function, output, canvas);
}

std::optional<Padding> find_padding(const bmcv_padding_atrr_t& given, const bm_image& output) {
  const auto part = find_rect({given.dst_crop_stx, given.dst_crop_sty, given.dst_crop_w, given.dst_crop_h}, output);
  if (!part) return std::nullopt;
  Padding padding{*part, std::nullopt};
  if (given.if_memset != 0) padding.colour = {given.padding_r, given.padding_g, given.padding_b};
  return padding;
}

// Outputs of one input.
bm_status_t convert(const char* function, int count, const bm_image& input, const bm_image* output,
                    const bmcv_rect_t* rects, const bmcv_padding_atrr_t* paddings, const Step& step) {
  if (count < 1 || output == nullptr) return refuse(function, fmt::format("{} outputs, or output is NULL", count));
  Pixels pixels;
  bm_status_t status = read_pixels(function, input, pixels);
  for (int i = 0; status == BM_SUCCESS && i < count; ++i) {
    const auto part = rects != nullptr ? find_rect(rects[i], input) : whole(input);
    if (!part) {
      return refuse(function,
                    fmt::format("rectangle {}, {} x {} at ({}, {}), does not lie inside the input of {}", i,
                                rects[i].crop_w, rects[i].crop_h, rects[i].start_x, rects[i].start_y, to_text(input)));
    }
    std::optional<Padding> padding;
    if (paddings != nullptr) {
      padding = find_padding(paddings[i], output[i]);
      if (!padding) {
        return refuse(function, fmt::format("the part of output {} does not lie inside its {}", i, to_text(output[i])));
      }
    }
    status = transform(function, pixels, *part, output[i], padding ? &*padding : nullptr, step);
  }
  return status;
}

bm_status_t check_matrix(const char* function, csc_type_t csc, const void* matrix) {
  if (matrix == nullptr && csc != CSC_USER_DEFINED_MATRIX) return BM_SUCCESS;
  return refuse(function, "a matrix of the program's own is not supported", BM_NOT_SUPPORTED);
}

bm_status_t convert_each(const char* function, int count, const bm_image* input, const bm_image* output,
                         csc_type_t csc) {
  if (count < 1 || input == nullptr || output == nullptr) {
    return refuse(function, fmt::format("image_num {}, or input or output is wrong", count));
  }
  bm_status_t status = BM_SUCCESS;
  for (int i = 0; status == BM_SUCCESS && i < count; ++i) {
    if (input[i].width != output[i].width || input[i].height != output[i].height) {
      return refuse(function, fmt::format("image {} is {}, its output {}", i, to_text(input[i]), to_text(output[i])));
    }
    status = convert(function, 1, input[i], &output[i], nullptr, nullptr, {BMCV_INTER_NEAREST, csc});
  }
  return status;
}

}  // namespace
}  // namespace softtpu::bmcv

using namespace softtpu::bmcv;

extern "C" {

bm_status_t bmcv_image_vpp_convert(bm_handle_t, int output_num, bm_image input, bm_image* output,
                                   bmcv_rect_t* crop_rect, bmcv_resize_algorithm algorithm) try {
  return convert(__func__, output_num, input, output, crop_rect, nullptr, {algorithm, CSC_MAX_ENUM});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcv_image_vpp_csc_matrix_convert(bm_handle_t, int output_num, bm_image input, bm_image* output,
                                              csc_type_t csc, void* matrix, bmcv_resize_algorithm algorithm,
                                              bmcv_rect_t* crop_rect) try {
  const bm_status_t status = check_matrix(__func__, csc, matrix);
  if (status != BM_SUCCESS) return status;
  return convert(__func__, output_num, input, output, crop_rect, nullptr, {algorithm, csc});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcv_image_vpp_convert_padding(bm_handle_t, int output_num, bm_image input, bm_image* output,
                                           bmcv_padding_atrr_t* padding_attr, bmcv_rect_t* crop_rect,
                                           bmcv_resize_algorithm algorithm) try {
  if (padding_attr == nullptr) return refuse(__func__, "padding_attr is NULL");
  return convert(__func__, output_num, input, output, crop_rect, padding_attr, {algorithm, CSC_MAX_ENUM});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcv_image_vpp_basic(bm_handle_t, int in_img_num, bm_image* input, bm_image* output, int* crop_num_vec,
                                 bmcv_rect_t* crop_rect, bmcv_padding_atrr_t* padding_attr,
                                 bmcv_resize_algorithm algorithm, csc_type_t csc_type, void* matrix) try {
  bm_status_t status = check_matrix(__func__, csc_type, matrix);
  if (in_img_num < 1 || input == nullptr || output == nullptr) {
    return refuse(__func__, fmt::format("in_img_num {}, or input or output is wrong", in_img_num));
  }
  for (int i = 0; status == BM_SUCCESS && i < in_img_num; ++i) {
    const int count = crop_num_vec != nullptr ? crop_num_vec[i] : 1;
    status = convert(__func__, count, input[i], output, crop_rect, padding_attr, {algorithm, csc_type});
    output += count;
    if (crop_rect != nullptr) crop_rect += count;
    if (padding_attr != nullptr) padding_attr += count;
  }
  return status;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bmcv_image_storage_convert(bm_handle_t, int image_num, bm_image* input_image, bm_image* output_image) try {
  return convert_each(__func__, image_num, input_image, output_image, CSC_MAX_ENUM);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcv_image_storage_convert_with_csctype(bm_handle_t, int image_num, bm_image* input_image,
                                                    bm_image* output_image, csc_type_t csc_type) try {
  return convert_each(__func__, image_num, input_image, output_image, csc_type);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bmcv_image_convert_to(bm_handle_t, int input_num, bmcv_convert_to_attr convert_to_attr, bm_image* input,
                                  bm_image* output) try {
  if (input_num < 1 || input == nullptr || output == nullptr) {
    return refuse(__func__, fmt::format("input_num {}, or input or output is wrong", input_num));
  }
  const bmcv_convert_to_attr& k = convert_to_attr;
  const float alpha[] = {k.alpha_0, k.alpha_1, k.alpha_2}, beta[] = {k.beta_0, k.beta_1, k.beta_2};
  bm_status_t status = BM_SUCCESS;
  for (int i = 0; status == BM_SUCCESS && i < input_num; ++i) {
    if (input[i].image_format != output[i].image_format || input[i].width != output[i].width ||
        input[i].height != output[i].height) {
      return refuse(__func__, fmt::format("output {} has another format or size than its input", i));
    }
    Pixels pixels;
    status = read_pixels(__func__, input[i], pixels);
    if (status != BM_SUCCESS) return status;
    if (pixels.colours == Colours::kYuv) return refuse(__func__, "YUV is not supported here", BM_NOT_SUPPORTED);
    const bool reversed = input[i].image_format == FORMAT_BGR_PLANAR || input[i].image_format == FORMAT_BGR_PACKED ||
                          input[i].image_format == FORMAT_BGRP_SEPARATE || input[i].image_format == FORMAT_ABGR_PACKED;
    for (int c = 0; c < pixels.channels(); ++c) {
      const int stored = reversed ? 2 - c : c;
      for (float& value : pixels.channel[static_cast<std::size_t>(c)]) value = value * alpha[stored] + beta[stored];
    }
    status = write_pixels(__func__, output[i], pixels);
  }
  return status;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bmcv_image_crop(bm_handle_t, int crop_num, bmcv_rect_t* rects, bm_image input, bm_image* output) try {
  if (crop_num < 1 || rects == nullptr || output == nullptr) {
    return refuse(__func__, fmt::format("crop_num {}, or rects or output is wrong", crop_num));
  }
  for (int i = 0; i < crop_num; ++i) {
    if (static_cast<int>(rects[i].crop_w) != output[i].width || static_cast<int>(rects[i].crop_h) != output[i].height) {
      return refuse(__func__, fmt::format("rectangle {} is {} x {}, its output {}", i, rects[i].crop_w, rects[i].crop_h,
                                          to_text(output[i])));
    }
  }
  return convert(__func__, crop_num, input, output, rects, nullptr, {BMCV_INTER_NEAREST, CSC_MAX_ENUM});
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bmcv_image_resize(bm_handle_t, int input_num, bmcv_resize_image resize_attr[], bm_image* input,
                              bm_image* output) try {
  if (input_num < 1 || resize_attr == nullptr || input == nullptr || output == nullptr) {
    return refuse(__func__, fmt::format("input_num {}, or another argument is wrong", input_num));
  }
  bm_status_t status = BM_SUCCESS;
  for (int i = 0; status == BM_SUCCESS && i < input_num; ++i) {
    const bmcv_resize_image& attr = resize_attr[i];
    if (attr.stretch_fit == 0) return refuse(__func__, "stretch_fit 0 is not supported", BM_NOT_SUPPORTED);
    if (attr.roi_num < 1 || attr.resize_img_attr == nullptr) return refuse(__func__, "roi_num or its parts are wrong");
    for (int k = 0; status == BM_SUCCESS && k < attr.roi_num; ++k, ++output) {
      const bmcv_resize_t& roi = attr.resize_img_attr[k];
      if (roi.out_width != output->width || roi.out_height != output->height) {
        return refuse(__func__, fmt::format("part {} becomes {} x {}, its output is {}", k, roi.out_width,
                                            roi.out_height, to_text(*output)));
      }
      bmcv_rect_t rect = {static_cast<unsigned>(roi.start_x), static_cast<unsigned>(roi.start_y),
                          static_cast<unsigned>(roi.in_width), static_cast<unsigned>(roi.in_height)};
      status = convert(__func__, 1, input[i], output, &rect, nullptr,
                       {static_cast<bmcv_resize_algorithm>(attr.interpolation), CSC_MAX_ENUM});
    }
  }
  return status;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bmcv_image_copy_to(bm_handle_t, bmcv_copy_to_atrr_t copy_to_attr, bm_image input, bm_image output) try {
  const Rect part = {copy_to_attr.start_x, copy_to_attr.start_y, input.width, input.height};
  if (input.image_format != output.image_format || input.data_type != output.data_type) {
    return refuse(__func__, "input and output have different formats or types");
  }
  if (part.x < 0 || part.y < 0 || part.x > output.width - part.w || part.y > output.height - part.h) {
    return refuse(__func__, fmt::format("{} does not lie inside the output of {}", to_text(part), to_text(output)));
  }
  Pixels pixels;
  const bm_status_t status = read_pixels(__func__, input, pixels);
  if (status != BM_SUCCESS) return status;
  Padding padding{part, std::nullopt};
  if (copy_to_attr.if_padding != 0) {
    padding.colour = {copy_to_attr.padding_r, copy_to_attr.padding_g, copy_to_attr.padding_b};
  }
  return transform(__func__, pixels, whole(input), output, &padding, {BMCV_INTER_NEAREST, CSC_MAX_ENUM});
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bmcv_width_align(bm_handle_t, bm_image input, bm_image output) try {
  if (input.image_format != output.image_format || input.data_type != output.data_type || input.width != output.width ||
      input.height != output.height) {
    return refuse(__func__, fmt::format("the output is {}, the input {}, or their formats or types differ",
                                        to_text(output), to_text(input)));
  }
  Pixels pixels;
  const bm_status_t status = read_pixels(__func__, input, pixels);
  return status == BM_SUCCESS ? write_pixels(__func__, output, pixels) : status;
} catch (...) {
  return softtpu::caught(__func__);
}

// Their arguments are not looked at.
#define BMCV_REFUSED(name)                                                                    \
  bm_status_t name(...) try {                                                                 \
    return refuse(#name, "softtpu does not have this function of libbmcv", BM_NOT_SUPPORTED); \
  } catch (...) {                                                                             \
    return softtpu::caught(#name);                                                            \
  }
BMCV_REFUSED_FUNCTIONS(BMCV_REFUSED)
bm_status_t bm_image_write_to_bmp(bm_image, const char*) try {
  return refuse(__func__, "softtpu does not have this function of libbmcv", BM_NOT_SUPPORTED);
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
