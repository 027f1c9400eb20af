// Layers that multiply and add. Each sum is made by one command, as recorded.
#include <fmt/format.h>

#include <algorithm>

#include "firmware/dynamic/layers.hpp"
#include "runtime/bmodel/layer_words.hpp"

namespace softtpu::dynamic {
namespace {

// ---- Convolution ----

using bmodel::ConvolutionWords;

struct Window {
  dim2 kernel, stride, dilation;
  padding_t pads;

  explicit Window(const ListedLayer& layer) {
    const auto word = [&](std::size_t i) { return static_cast<int>(layer.word(i)); };
    kernel = {word(ConvolutionWords::kKernel), word(ConvolutionWords::kKernel + 1)};
    stride = {word(ConvolutionWords::kStride), word(ConvolutionWords::kStride + 1)};
    dilation = {word(ConvolutionWords::kDilation), word(ConvolutionWords::kDilation + 1)};
    pads = {word(ConvolutionWords::kPads), word(ConvolutionWords::kPads + 1), word(ConvolutionWords::kPads + 2),
            word(ConvolutionWords::kPads + 3)};
  }
};

void clip(local_addr_t at, const dim4& shape, const ListedLayer& layer, data_type_t type) {
  if (const float limit = layer.number(ConvolutionWords::kLimit); limit > 0)
    tpu_bdc_min_C(at, at, constant(limit, type), &shape, nullptr, nullptr, type);
}

// An input of few channels: a channel for each tap of the kernel (or of its columns), which a depthwise convolution
// with one 1 in each kernel moves to its place. What is left of the window is smaller.
LocalTensor merge_taps(const LocalTensor& from, Window& window, bool whole_kernel, local_addr_t work) {
  const Window given = window;
  const int taps = whole_kernel ? given.kernel.h * given.kernel.w : given.kernel.h;
  const auto npu_bytes = static_cast<local_addr_t>(tpu_local_mem_size_per_npu());
  const data_type_t type = from.type;
  const int channels = from.extents.c;
  for (int c = channels; c-- > 0;) {
    const dim4 shape{from.extents.n, taps, from.extents.h, from.extents.w};
    tpu_bdc_npu_bcast(from.address + static_cast<local_addr_t>(c * taps) * npu_bytes,
                      from.address + static_cast<local_addr_t>(c) * npu_bytes, &shape, type);
  }
  Window taken = given;
  window.kernel = {1, whole_kernel ? 1 : given.kernel.w};
  window.stride = {1, whole_kernel ? 1 : given.stride.w};
  window.dilation = {1, whole_kernel ? 1 : given.dilation.w};
  window.pads = {0, 0, whole_kernel ? 0 : given.pads.left, whole_kernel ? 0 : given.pads.right};
  if (!whole_kernel) {
    taken.kernel.w = taken.stride.w = taken.dilation.w = 1;
    taken.pads.left = taken.pads.right = 0;
  }
  const auto side = [](int extent, int before, int behind, int kernel, int step, int dilation) {
    return static_cast<int>(bmodel::windows(extent, before, behind, kernel, step, dilation));
  };
  LocalTensor merged{work, type, {from.extents.n, channels * taps, 0, 0}, false};
  merged.extents.h =
      side(from.extents.h, taken.pads.top, taken.pads.bottom, taken.kernel.h, taken.stride.h, taken.dilation.h);
  merged.extents.w =
      side(from.extents.w, taken.pads.left, taken.pads.right, taken.kernel.w, taken.stride.w, taken.dilation.w);
  constexpr local_addr_t kLine = 64;
  const local_addr_t places = work + bytes_of(merged);
  const local_addr_t ones = places + kLine;
  const local_addr_t kernels = ones + kLine;
  const bool bytes = is_byte(type);
  const dim4 column{1, taps, 1, 1};
  const dim4 square{1, taps, 1, taps};
  tpu_bdc_arithmetic_sequence_distribute_aligned(places, 0, 1, taps);
  tpu_bdc_cast(places, places, &column, nullptr, nullptr, DT_INT8, DT_INT32, RM_HALF_TO_EVEN);
  const scalar_t one = bytes ? whole(1) : constant(1, type);
  tpu_bdc_set_C(ones, one, &column, nullptr, bytes ? DT_INT8 : type);
  const data_type_t element = bytes ? DT_UINT8 : type;
  tpu_bdc_set_C(kernels, whole(0), &square, nullptr, bytes ? DT_INT8 : type);
  tpu_bdc_batch_bcast_w_scatter(kernels, ones, places, &square, 1, element, DT_UINT8, false);
  for (int c = 1; c < channels; ++c) {
    tpu_bdc_cpy_cross_npu(kernels + static_cast<local_addr_t>(c * taps) * npu_bytes, kernels, &square, element);
  }
  const dim4 spread_out{from.extents.n, channels * taps, from.extents.h, from.extents.w};
  if (bytes) {
    tpu_bdc_int8_depthwise2d(work, from.address, kernels, 0, whole(0), &spread_out, &taken.kernel, &taken.pads,
                             &taken.stride, &taken.dilation, type, type, DT_UINT8, DT_INT32, 0, false, false,
                             RM_HALF_AWAY_FROM_ZERO);
  } else {
    tpu_bdc_fp_depthwise2d(work, from.address, kernels, 0, &spread_out, &taken.kernel, &taken.pads, &taken.stride,
                           &taken.dilation, type, false);
  }
  return merged;
}

}  // namespace

void convolution(const LocalRun& run) {
  const ListedLayer& layer = run.layer;
  const LocalTensor& to = run.output;
  const bool bytes = is_byte(run.inputs[0].type);
  const int merging = layer.word(ConvolutionWords::kMerged) & ConvolutionWords::kMergedTaps;
  Window window(layer);
  LocalTensor from = run.inputs[0];
  const LocalTensor sums{run.work, DT_INT32, to.extents, false};
  if (merging != 0) from = merge_taps(from, window, merging == 3, run.work + (bytes ? bytes_of(sums) : 0));
  const local_addr_t weights = run.inputs[1].address;
  if (bytes) {
    // In front of the weights of a channel: multiplier, shift, offset, bias.
    constexpr local_addr_t kBiasAt = 12, kWeightsAt = 64;
    tpu_bdc_int8_asym_quant_conv2d(sums.address, from.address, weights + kWeightsAt, whole(0), whole(0), &from.extents,
                                   nullptr, to.extents.c, &window.kernel, &window.pads, &window.stride,
                                   &window.dilation, DT_INT32, from.type, DT_INT8, DT_UINT8, false);
    const dim4 each{0, 1, 0, 0};
    tpu_bdc_int_add(sums.address, sums.address, weights + kBiasAt, &to.extents, nullptr, nullptr, &each, DT_INT32,
                    DT_INT32, DT_INT32, 0, RM_HALF_AWAY_FROM_ZERO, true);
    return tpu_bdc_int_pc_requant(to.address, sums.address, weights, &to.extents, to.type, DT_INT32,
                                  rounding_of(layer.word(ConvolutionWords::kRounding)));
  }
  const bool bias = layer.word(ConvolutionWords::kBias) != 0;
  const local_addr_t bias_at = bias ? run.inputs[2].address : 0;
  const bool relu = layer.word(ConvolutionWords::kRelu) != 0;
  if (layer.word(ConvolutionWords::kGroups) != 1) {
    tpu_bdc_fp_depthwise2d(to.address, from.address, weights, bias_at, &from.extents, &window.kernel, &window.pads,
                           &window.stride, &window.dilation, to.type, bias);
    if (relu) tpu_bdc_relu(to.address, to.address, &to.extents, nullptr, nullptr, to.type);
  } else {
    tpu_bdc_fp_conv2d(to.address, from.address, weights, bias_at, &from.extents, nullptr, to.extents.c, &window.kernel,
                      &window.pads, &window.stride, &window.dilation, to.type, from.type, bias, false);
    if (relu) tpu_bdc_max_C(to.address, to.address, whole(0), &to.extents, nullptr, nullptr, to.type);
  }
  if (relu) clip(to.address, to.extents, layer, to.type);
}

namespace {

// Rows of h of a result, and what they are made of.
struct Strip {
  int first, rows, from, from_rows;
  padding_t pads;
};

Strip strip_of(int first, int rows, const Window& window, int h) {
  const int begin = first * window.stride.h - window.pads.top;
  const int end = begin + (rows - 1) * window.stride.h + window.dilation.h * (window.kernel.h - 1) + 1;
  Strip strip{first, rows, std::max(begin, 0), 0, window.pads};
  strip.from_rows = std::min(end, h) - strip.from;
  strip.pads.top = strip.from - begin;
  strip.pads.bottom = std::max(end - h, 0);
  return strip;
}

}  // namespace

// f32 in device memory: a group and a row of n at a time. Two places take turns: a result is stored while the next one
// is computed. What has no room is computed in strips, one after the other; no sum is split.
void convolution(const LayerRun& run) {
  constexpr local_addr_t kWeights = 0, kBank = 0x4000;
  const ListedLayer& layer = run.layer;
  const Window window(layer);
  const int groups = layer.word(ConvolutionWords::kGroups);
  const int in = layer.word(ConvolutionWords::kIn) / groups;
  const int out = layer.word(ConvolutionWords::kOut) / groups;
  const bool bias = layer.word(ConvolutionWords::kBias) != 0;
  const dim4 from = to_dim4(run.inputs[0].shape.extents);
  const dim4 to = to_dim4(run.outputs[0].shape.extents);
  const int taps = window.kernel.h * window.kernel.w;
  const dim4 weights{1, out, in * taps, 1};
  const dim4 biases{1, out, 1, 1};
  const dim4 input{1, in, from.h, from.w};
  const dim4 output{1, out, to.h, to.w};
  const LocalTensor held{0, DT_FP32, weights, true};
  const dim4 compact = strides_of(held);
  const auto banks = [](local_addr_t bytes) { return (bytes + kBank - 1) / kBank * kBank; };
  const local_addr_t bias_at = bytes_of(held);
  const local_addr_t from_at = banks(bias_at + bytes_of({0, DT_FP32, biases, true}));
  const local_addr_t from_size = banks(bytes_of({0, DT_FP32, input, false}));
  const local_addr_t to_size = banks(bytes_of({0, DT_FP32, output, false}));
  const auto room = static_cast<local_addr_t>(tpu_local_mem_size_per_npu());
  const bool is_whole = from_at + from_size + to_size <= room;
  const local_addr_t places = from_at + 2 * (from_size + to_size) <= room ? 2 : 1;
  const local_addr_t to_at = from_at + places * from_size;
  const auto has_room = [&](int first, int rows) {
    const Strip strip = strip_of(first, std::min(rows, to.h - first), window, from.h);
    const local_addr_t end = from_at + banks(bytes_of({0, DT_FP32, {1, in, strip.from_rows, from.w}, false})) +
                             banks(bytes_of({0, DT_FP32, {1, out, strip.rows, to.w}, false}));
    // Padding alone is no input of a command.
    return end <= room && strip.from_rows > 0 && strip.from_rows <= kMostExtent && strip.rows <= kMostExtent;
  };
  const auto is_carried_out = [&](int rows) {
    for (int first = 0; first < to.h; first += rows) {
      if (!has_room(first, rows)) return false;
    }
    return true;
  };
  int strip_rows = to.h;
  while (!is_whole && strip_rows > 0 && !is_carried_out(strip_rows)) strip_rows /= 2;
  if (strip_rows == 0) fail("an input of this size");
  constexpr std::int64_t kBytes = 4;
  const auto at = [](const Tensor& tensor, std::int64_t element) {
    return tensor.address + static_cast<system_addr_t>(element * kBytes);
  };
  local_addr_t turn = 0;
  for (int group = 0; group < groups; ++group) {
    tpu_gdma_cpy_S2L(kWeights, at(run.inputs[1], std::int64_t{group} * out * in * taps), &weights, &compact, nullptr,
                     DT_FP32);
    if (bias) tpu_gdma_compact_S2L(bias_at, at(run.inputs[2], std::int64_t{group} * out), &biases, DT_FP32);
    const auto store = [&](int n, local_addr_t result) {
      tpu_gdma_cpy_L2S(at(run.outputs[0], (std::int64_t{n} * groups + group) * out * to.h * to.w), result, &output,
                       nullptr, nullptr, DT_FP32);
    };
    const auto limit = [&](local_addr_t result, const dim4& shape) {
      if (layer.word(ConvolutionWords::kRelu) == 0) return;
      tpu_bdc_max_C(result, result, whole(0), &shape, nullptr, nullptr, DT_FP32);
      clip(result, shape, layer, DT_FP32);
    };
    const auto in_strips = [&](int n, int rows) {
      const dim4 from_strides{in * from.h * from.w, from.h * from.w, from.w, 1};
      const dim4 to_strides{out * to.h * to.w, to.h * to.w, to.w, 1};
      for (int first = 0; first < to.h; first += rows) {
        const Strip strip = strip_of(first, std::min(rows, to.h - first), window, from.h);
        const dim4 part{1, in, strip.from_rows, from.w};
        const dim4 made{1, out, strip.rows, to.w};
        const std::int64_t plane = std::int64_t{n} * groups + group;
        tpu_gdma_cpy_S2L(from_at, at(run.inputs[0], plane * in * from.h * from.w + std::int64_t{strip.from} * from.w),
                         &part, nullptr, &from_strides, DT_FP32);
        const local_addr_t result = from_at + banks(bytes_of({0, DT_FP32, part, false}));
        tpu_bdc_fp_conv2d(result, from_at, kWeights, bias_at, &part, nullptr, out, &window.kernel, &strip.pads,
                          &window.stride, &window.dilation, DT_FP32, DT_FP32, bias, false);
        limit(result, made);
        tpu_gdma_cpy_L2S(at(run.outputs[0], plane * out * to.h * to.w + std::int64_t{first} * to.w), result, &made,
                         &to_strides, nullptr, DT_FP32);
      }
    };
    if (!is_whole) {
      for (int n = 0; n < from.n; ++n) in_strips(n, strip_rows);
      continue;
    }
    for (int n = 0; n < from.n; ++n, turn = (turn + 1) % places) {
      const local_addr_t place = from_at + turn * from_size;
      const local_addr_t result = to_at + turn * to_size;
      tpu_gdma_cpy_S2L(place, at(run.inputs[0], (std::int64_t{n} * groups + group) * in * from.h * from.w), &input,
                       nullptr, nullptr, DT_FP32);
      tpu_bdc_fp_conv2d(result, place, kWeights, bias_at, &input, nullptr, out, &window.kernel, &window.pads,
                        &window.stride, &window.dilation, DT_FP32, DT_FP32, bias, false);
      if (places == 2 && n > 0) store(n - 1, to_at + (1 - turn) * to_size);
      limit(result, output);
      if (places == 1 || n + 1 == from.n) store(n, result);
    }
  }
}

// A plane of the result at a time: the planes under the kernel stand as channels one behind the other, and those
// outside the input are 0. While a plane is computed the one before it is stored.
void convolution_3d(const LayerRun& run) {
  constexpr local_addr_t kWeights = 0, kFrom[] = {0x4000, 0x8000}, kTo[] = {0xc000, 0x10000};
  constexpr std::int64_t kTaps = 3, kBytes = 4;
  const Extents& from = run.inputs[0].shape.extents;
  const Extents& to = run.outputs[0].shape.extents;
  const auto in = static_cast<int>(from[1]);
  const auto depth = static_cast<int>(from[2]);
  const auto h = static_cast<int>(from[3]);
  const auto w = static_cast<int>(from[4]);
  const auto out = static_cast<int>(to[1]);
  const auto npu_bytes = static_cast<local_addr_t>(tpu_local_mem_size_per_npu());
  const dim4 weights{1, out, in * 27, 1};
  const LocalTensor held{kWeights, DT_FP32, weights, true};
  const dim4 compact = strides_of(held);
  tpu_gdma_cpy_S2L(kWeights, run.inputs[1].address, &weights, &compact, nullptr, DT_FP32);
  const auto bias = static_cast<local_addr_t>(in * 27 * tpu_data_type_size(DT_FP32));
  const dim4 biases{1, out, 1, 1};
  tpu_gdma_compact_S2L(bias, run.inputs[2].address, &biases, DT_FP32);
  const dim4 planes{in * depth * h * w, h * w, w, 1};
  const dim4 stacked{1, in * static_cast<int>(kTaps), h, w};
  const dim4 result{1, out, h, w};
  const dim4 result_strides{out * depth * h * w, depth * h * w, w, 1};
  const dim2 kernel{3, 3};
  const padding_t pads{1, 1, 1, 1};
  const auto load = [&](std::int64_t n, int at, local_addr_t place) {
    const int begin = std::max(at - 1, 0);
    const int end = std::min(at + 2, depth);
    const dim4 one{1, 1, h, w};
    const auto clear = [&](local_addr_t plane) { tpu_gdma_set_C_local(plane, whole(0), &one, nullptr, DT_FP32); };
    for (int c = 0; c < in; ++c) {
      const auto plane = [&](std::int64_t tap) {
        return place + static_cast<local_addr_t>(c * kTaps + tap) * npu_bytes;
      };
      for (int tap = at - 1; tap < begin; ++tap) clear(plane(tap - at + 1));
      const dim4 some{1, end - begin, h, w};
      const std::int64_t first = ((n * in + c) * depth + begin) * h * w;
      tpu_gdma_cpy_S2L(plane(begin - at + 1), run.inputs[0].address + static_cast<system_addr_t>(first * kBytes), &some,
                       nullptr, &planes, DT_FP32);
      for (int tap = end; tap < at + 2; ++tap) clear(plane(tap - at + 1));
    }
  };
  for (std::int64_t n = 0; n < from[0]; ++n) {
    const auto store = [&](int at) {
      const std::int64_t first = (n * out * depth + at) * h * w;
      tpu_gdma_cpy_L2S(run.outputs[0].address + static_cast<system_addr_t>(first * kBytes), kTo[at % 2], &result,
                       &result_strides, nullptr, DT_FP32);
    };
    for (int at = 0; at < depth; ++at) {
      load(n, at, kFrom[at % 2]);
      tpu_bdc_fp_conv2d(kTo[at % 2], kFrom[at % 2], kWeights, bias, &stacked, nullptr, out, &kernel, &pads, &kOne,
                        &kOne, DT_FP32, DT_FP32, true, false);
      tpu_bdc_max_C(kTo[at % 2], kTo[at % 2], whole(0), &result, nullptr, nullptr, DT_FP32);
      if (at > 0) store(at - 1);
    }
    if (depth > 0) store(depth - 1);
  }
}

void deconvolution(const LocalRun& run) {
  const auto word = [&](std::size_t i) { return static_cast<int>(run.layer.word(i)); };
  const LocalTensor& from = run.inputs[0];
  const dim2 kernel{word(2), word(3)};
  const dim2 insert{word(4) - 1, word(5) - 1};
  const padding_t pads{kernel.h - 1 - word(8), kernel.h - 1 - word(9), kernel.w - 1 - word(10),
                       kernel.w - 1 - word(11)};
  tpu_bdc_fp_conv2d_for_deconv2d(run.output.address, from.address, run.inputs[1].address, run.inputs[2].address,
                                 &from.extents, nullptr, run.output.extents.c, &kernel, &insert, &pads, &kOne,
                                 run.output.type, from.type, true, false);
}

// ---- Products of matrices ----

namespace {

struct Product {
  int rows = 0, depth = 0, columns = 0;
  data_type_t type = DT_FP32;
  system_addr_t left = 0, right = 0, bias = 0, to = 0;
  bool has_bias = false;

  // As recorded; what is larger lies behind each other.
  static constexpr local_addr_t kLeft = 0, kRight = 0x10000, kTo = 0x20000;  // of f32
  static constexpr local_addr_t kTurn = 0x8000;                              // to the second places of operands

  static local_addr_t bytes_of_matrix(int rows, int columns, int in_channel) {
    return bytes_of({0, DT_FP32, {rows, (columns + in_channel - 1) / in_channel, 1, in_channel}, false});
  }
  static local_addr_t at_or_behind(local_addr_t recorded, local_addr_t end) {
    constexpr local_addr_t kBank = 0x4000;
    return std::max(recorded, (end + kBank - 1) / kBank * kBank);
  }
  static local_addr_t room() { return static_cast<local_addr_t>(tpu_local_mem_size_per_npu()); }
  static void need_room(local_addr_t end) {
    if (end > room()) fail("a product of this size");
  }

  // Columns of f32 in a channel: whole vectors. Of the result as many as all its rows have room for.
  static int width(int count) {
    const int vector = tpu_eu_num(DT_FP32);
    const int least = (count + tpu_npu_num() - 1) / tpu_npu_num();
    return std::max(vector, (least + vector - 1) / vector * vector);
  }
  int right_width() const {
    constexpr int kMostInRows = 1024;
    int widest = width(columns);
    if (columns <= widest) return columns;
    while (2 * widest <= columns && 2 * widest * rows <= kMostInRows) widest *= 2;
    return widest;
  }
  struct Places {
    local_addr_t addend, right, to, end;
  };
  Places places(int left_width, int in_channel) const {
    Places at{};
    at.addend = kLeft + bytes_of_matrix(rows, depth, left_width);
    at.right = at_or_behind(kRight, at.addend + bytes_of_matrix(1, columns, in_channel));
    at.to = at_or_behind(kTo, at.right + bytes_of_matrix(depth, columns, in_channel));
    at.end = at.to + bytes_of_matrix(rows, columns, in_channel);
    return at;
  }
  void of_float32() const {
    constexpr int kMostInRow = 96;
    if (rows == 1 && depth > kMostInRow) return of_halves();
    const int left_width = width(depth);
    int in_channel = right_width();
    // Many rows of the right side lie over more channels.
    while (places(left_width, in_channel).end > room() && in_channel > tpu_eu_num(DT_FP32)) in_channel /= 2;
    const Places at = places(left_width, in_channel);
    need_room(at.end);
    tpu_gdma_matrix_S2L(kLeft, left, rows, depth, left_width, depth, DT_FP32);
    tpu_gdma_matrix_S2L(at.right, right, depth, columns, in_channel, columns, DT_FP32);
    if (has_bias) tpu_gdma_matrix_S2L(at.addend, bias, 1, columns, in_channel, columns, DT_FP32);
    tpu_bdc_fp32_mm(at.to, kLeft, at.right, at.addend, rows, depth, columns, left_width, in_channel, has_bias, false);
    tpu_gdma_matrix_L2S(to, at.to, rows, columns, in_channel, columns, DT_FP32);
  }

  // A single row, as recorded: the sums of its halves, one after the other.
  void of_halves() const {
    constexpr std::int64_t kBytes = 4;
    const int in_channel = tpu_eu_num(DT_FP32);
    const int half = depth / 2, rest = depth - half;  // recorded where they are equal
    const local_addr_t left_turn = at_or_behind(kTurn, bytes_of_matrix(1, rest, in_channel));
    const local_addr_t addend = kLeft + left_turn + bytes_of_matrix(1, rest, in_channel);
    const local_addr_t right_at = at_or_behind(kRight, addend + bytes_of_matrix(1, columns, columns));
    const local_addr_t right_turn = at_or_behind(kTurn, bytes_of_matrix(rest, columns, columns));
    const local_addr_t to_at = at_or_behind(kTo, right_at + 2 * right_turn);
    need_room(to_at + bytes_of_matrix(1, columns, columns));
    for (int i = 0; i < 2; ++i) {
      const std::int64_t begin = std::int64_t{i} * half;
      const int count = i == 0 ? half : rest;
      const auto turn = static_cast<local_addr_t>(i);
      tpu_gdma_matrix_S2L(kLeft + turn * left_turn, left + static_cast<system_addr_t>(begin * kBytes), 1, count,
                          in_channel, depth, DT_FP32);
      tpu_gdma_matrix_S2L(right_at + turn * right_turn, right + static_cast<system_addr_t>(begin * columns * kBytes),
                          count, columns, columns, columns, DT_FP32);
    }
    if (has_bias) tpu_gdma_matrix_S2L(addend, bias, 1, columns, columns, columns, DT_FP32);
    for (int i = 0; i < 2; ++i) {
      const auto turn = static_cast<local_addr_t>(i);
      tpu_bdc_fp32_mm(to_at, kLeft + turn * left_turn, right_at + turn * right_turn, addend, 1, i == 0 ? half : rest,
                      columns, in_channel, columns, has_bias && i == 1, i == 1);
    }
    tpu_gdma_matrix_L2S(to, to_at, 1, columns, columns, columns, DT_FP32);
  }
};

// Products of narrow types, as many of a batch at a time as there is room for.
struct NarrowProducts {
  Product one;  // addresses are those of the first
  int batches = 1;
  data_type_t right_type = DT_FP16, result = DT_FP16;
  int multiplier = 0, shift = 0;  // of bytes

  void run() const {
    const local_addr_t wide = size_of(1, one.rows, one.columns, is_byte(one.type) ? DT_INT32 : result);
    int most = batches;
    while (most > 1 && place_of_results(most) + size_of(most, one.rows, one.columns, result) + wide > Product::room())
      --most;
    Product::need_room(place_of_results(most) + size_of(most, one.rows, one.columns, result) + wide);
    for (int done = 0; done < batches; done += most) some(done, std::min(most, batches - done));
  }

 private:
  static local_addr_t size_of(int n, int rows, int columns, data_type_t type) {
    return bytes_of({0, type, {n, rows, 1, columns}, false});
  }
  data_type_t bias_type() const { return is_byte(one.type) ? DT_INT32 : one.type; }
  local_addr_t place_of_right(int n) const { return size_of(n, one.rows, one.depth, one.type); }
  local_addr_t place_of_bias(int n) const { return place_of_right(n) + size_of(n, one.depth, one.columns, right_type); }
  local_addr_t place_of_results(int n) const {
    constexpr local_addr_t kBank = 0x4000;
    const local_addr_t end = place_of_bias(n) + (one.has_bias ? size_of(1, 1, one.columns, bias_type()) : 0);
    return (end + kBank - 1) / kBank * kBank;
  }
  static system_addr_t behind(system_addr_t first, std::int64_t elements, data_type_t type) {
    return first + static_cast<system_addr_t>(elements * tpu_data_type_size(type));
  }

  void some(int first, int n) const {
    const int rows = one.rows, depth = one.depth, columns = one.columns;
    const bool bytes = is_byte(one.type);
    const local_addr_t right_at = place_of_right(n), bias_at = place_of_bias(n), to_at = place_of_results(n);
    const dim4 left_shape{n, rows, 1, depth}, right_shape{n, depth, 1, columns}, shape{n, rows, 1, columns};
    tpu_gdma_cpy_S2L(0, behind(one.left, std::int64_t{first} * rows * depth, one.type), &left_shape, nullptr, nullptr,
                     one.type);
    tpu_gdma_cpy_S2L(right_at, behind(one.right, std::int64_t{first} * depth * columns, right_type), &right_shape,
                     nullptr, nullptr, right_type);
    const dim4 line{1, tpu_npu_num(), 1, columns};
    if (one.has_bias) tpu_gdma_channel_bcast_S2L(bias_at, one.bias, &line, nullptr, nullptr, bias_type());
    const dim4 plane{1, rows, columns, 1};
    const dim4 along{0, 0, 1, 1};
    for (int i = 0; i < n; ++i) {
      const auto batch = static_cast<local_addr_t>(i);
      const local_addr_t left = batch * size_of(1, rows, depth, one.type);
      const local_addr_t right = right_at + batch * size_of(1, depth, columns, right_type);
      const local_addr_t to = to_at + batch * size_of(1, rows, columns, result);
      if (bytes)
        tpu_bdc_int8_zp_mm(to, left, right, whole(0), rows, depth, columns, one.type, right_type, false);
      else
        tpu_bdc_fp_mm(to, left, right, rows, depth, columns, one.type, one.type, false);
      if (one.has_bias && bytes) {
        tpu_bdc_int_add(to, to, bias_at, &plane, nullptr, nullptr, &along, DT_INT32, DT_INT32, DT_INT32, 0,
                        RM_HALF_AWAY_FROM_ZERO, true);
      } else if (one.has_bias) {
        tpu_bdc_fp_add(to, to, bias_at, &plane, nullptr, nullptr, &along, one.type);
      }
      if (bytes) {
        tpu_bdc_int_requant(to, to, &plane, multiplier, static_cast<char>(shift), whole(0), result, DT_INT32,
                            RM_HALF_AWAY_FROM_ZERO);
      }
    }
    tpu_gdma_cpy_L2S(behind(one.to, std::int64_t{first} * rows * columns, result), to_at, &shape, nullptr, nullptr,
                     result);
  }
};

}  // namespace

void fully_connected(const LayerRun& run) {
  constexpr std::size_t kHasBias = 1, kMultiplier = 10, kShift = 11;
  Product product;
  product.type = device_type(run.inputs[0].shape.type);
  product.rows = static_cast<int>(run.inputs[0].shape.extents[0]);
  product.depth = static_cast<int>(run.inputs[0].shape.extents[1]);
  product.columns = static_cast<int>(run.inputs[1].shape.extents[1]);
  product.left = run.inputs[0].address;
  product.right = run.inputs[1].address;
  product.to = run.outputs[0].address;
  product.has_bias = run.layer.word(kHasBias) != 0;
  if (product.has_bias) product.bias = run.inputs[2].address;
  if (product.type == DT_FP32) return product.of_float32();
  if (!is_byte(product.type)) return NarrowProducts{product, 1, product.type, product.type}.run();
  NarrowProducts{product,
                 1,
                 DT_INT8,
                 device_type(run.layer.outputs[0].type.value_or(2)),
                 run.layer.word(kMultiplier),
                 run.layer.word(kShift)}
      .run();
}

void batched_product(const LayerRun& run) {
  constexpr std::size_t kMultiplier = 9, kShift = 10;
  const Extents& left = run.inputs[0].shape.extents;
  const Extents& right = run.inputs[1].shape.extents;
  Product product;
  product.type = device_type(run.inputs[0].shape.type);
  product.rows = static_cast<int>(left[left.size() - 2]);
  product.depth = static_cast<int>(left.back());
  product.columns = static_cast<int>(right.back());
  product.has_bias = run.inputs.size() > 2;
  if (product.has_bias) product.bias = run.inputs[2].address;
  const std::int64_t batches = elements_of(left) / std::max(1, product.rows * product.depth);
  product.left = run.inputs[0].address;
  product.right = run.inputs[1].address;
  product.to = run.outputs[0].address;
  if (product.type != DT_FP32) {
    const data_type_t narrow = is_byte(product.type) ? DT_INT8 : product.type;
    return NarrowProducts{product, static_cast<int>(batches),   narrow,
                          narrow,  run.layer.word(kMultiplier), run.layer.word(kShift)}
        .run();
  }
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    product.of_float32();
    const auto next = [](system_addr_t& at, int rows, int columns) {
      at += static_cast<system_addr_t>(std::int64_t{rows} * columns * tpu_data_type_size(DT_FP32));
    };
    next(product.left, product.rows, product.depth);
    next(product.right, product.depth, product.columns);
    next(product.to, product.rows, product.columns);
  }
}

}  // namespace softtpu::dynamic
