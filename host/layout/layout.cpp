// Bodies of softtpu/layout.h: check every argument, then one call into runtime/layout.
#include "softtpu/layout.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "runtime/layout/batch_words.hpp"
#include "runtime/layout/conv_block.hpp"

#define SOFTTPU_EXPORT extern "C" __attribute__((visibility("default")))

namespace softtpu {
namespace {

// A fixed buffer: reporting a failure must not be able to fail.
thread_local std::array<char, 256> error_text{};

template <class... Args>
int fail(fmt::format_string<Args...> format, Args&&... args) {
  const auto end = fmt::vformat_to_n(error_text.data(), error_text.size() - 1, format, fmt::make_format_args(args...));
  *end.out = '\0';
  return -1;
}

bool is_within(const char* function, const char* member, int value, int low, int high) {
  if (value >= low && value <= high) return true;
  fail("{}: {} is {}, outside {}..{}.", function, member, value, low, high);
  return false;
}

bool is_one_of(const char* function, const char* member, int value, int a, int b, int c) {
  if (value == a || value == b || value == c) return true;
  fail("{}: {} is {}; it can be {}, {} or {}.", function, member, value, a, b, c);
  return false;
}

// More does not fit any chip's memories; it also keeps every product below within 64 bits.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 32;

std::optional<ConvBlock> find_block(const char* function, const softtpu_conv_block_t* given) {
  if (given == nullptr) return fail("{}: block is NULL.", function), std::nullopt;
  const softtpu_conv_block_t& b = *given;
  if (!is_within(function, "block->npu_num", b.npu_num, 1, 1024) ||
      !is_within(function, "block->eu_bytes", b.eu_bytes, 4, 1024) ||
      !is_within(function, "block->oc", b.oc, 1, kMaxExtent) ||
      !is_within(function, "block->ic", b.ic, 1, kMaxExtent) ||
      !is_within(function, "block->kh", b.kh, 1, kMaxExtent) ||
      !is_within(function, "block->kw", b.kw, 1, kMaxExtent) ||
      !is_within(function, "block->ic_pack", b.ic_pack, 1, 1024) ||
      !is_one_of(function, "block->element_bytes", b.element_bytes, 1, 2, 4) ||
      !is_one_of(function, "block->bias_bytes", b.bias_bytes, 0, 2, 4)) {
    return std::nullopt;
  }
  const std::int64_t outer = align_up(b.ic, b.ic_pack) * b.oc;
  const std::int64_t window = std::int64_t{b.kh} * b.kw;
  if (outer > kMaxElements / window) {
    fail("{}: {} x {} x {} x {} weights are more than {}.", function, b.oc, b.ic, b.kh, b.kw, kMaxElements);
    return std::nullopt;
  }
  return ConvBlock{b.npu_num, b.eu_bytes, b.oc, b.ic, b.kh, b.kw, b.ic_pack, b.element_bytes, b.bias_bytes};
}

bool is_buffer(const char* function, const char* name, const void* pointer, std::size_t bytes, std::int64_t needed) {
  if (pointer == nullptr) return fail("{}: {} is NULL.", function, name), false;
  if (bytes == static_cast<std::size_t>(needed)) return true;
  fail("{}: {} has {} bytes, but the sizes say {}.", function, name, bytes, needed);
  return false;
}

bool has_bias(const char* function, const ConvBlock& block, bool wanted) {
  if ((block.bias_bytes != 0) == wanted) return true;
  fail("{}: block->bias_bytes is {}; it must {}be 0 here.", function, block.bias_bytes, wanted ? "not " : "");
  return false;
}

// The buffers of one call. Callers know which are inputs and which are outputs.
struct Buffer {
  const char* name;
  const void* data;
  std::size_t bytes;
};

std::optional<ConvBlock> check(const char* function, const softtpu_conv_block_t* given, const Buffer& weights,
                               const Buffer* bias, const Buffer& block) {
  const auto shape = find_block(function, given);
  if (!shape || !has_bias(function, *shape, bias != nullptr)) return std::nullopt;
  if (!is_buffer(function, weights.name, weights.data, weights.bytes,
                 shape->weight_elements() * shape->element_bytes)) {
    return std::nullopt;
  }
  if (bias != nullptr &&
      !is_buffer(function, bias->name, bias->data, bias->bytes, std::int64_t{shape->oc} * shape->bias_bytes)) {
    return std::nullopt;
  }
  if (!is_buffer(function, block.name, block.data, block.bytes, shape->bytes())) return std::nullopt;
  return shape;
}

std::optional<BatchWords> find_batch_words(const char* function, const softtpu_batch_words_t* given) {
  if (given == nullptr) return fail("{}: tensor is NULL.", function), std::nullopt;
  const softtpu_batch_words_t& t = *given;
  if (!is_within(function, "tensor->n", t.n, 1, kMaxExtent) || !is_within(function, "tensor->c", t.c, 1, kMaxExtent) ||
      !is_within(function, "tensor->h", t.h, 1, kMaxExtent) || !is_within(function, "tensor->w", t.w, 1, kMaxExtent)) {
    return std::nullopt;
  }
  if (t.n_pack != SOFTTPU_2N && t.n_pack != SOFTTPU_4N) {
    fail("{}: tensor->n_pack is {}; it can be {} or {}.", function, t.n_pack, +SOFTTPU_2N, +SOFTTPU_4N);
    return std::nullopt;
  }
  const std::int64_t outer = align_up(t.n, t.n_pack) * t.c;
  const std::int64_t plane = std::int64_t{t.h} * t.w;
  if (outer > kMaxElements / plane) {
    fail("{}: {} x {} x {} x {} elements are more than {}.", function, t.n, t.c, t.h, t.w, kMaxElements);
    return std::nullopt;
  }
  return BatchWords{{t.n, t.c, t.h, t.w}, t.n_pack};
}

std::optional<BatchWords> check(const char* function, const softtpu_batch_words_t* given, const Buffer& plain,
                                const Buffer& words) {
  const auto tensor = find_batch_words(function, given);
  if (!tensor || !is_buffer(function, plain.name, plain.data, plain.bytes, tensor->plain_bytes()) ||
      !is_buffer(function, words.name, words.data, words.bytes, tensor->bytes())) {
    return std::nullopt;
  }
  return tensor;
}

const std::byte* in(const void* data) { return static_cast<const std::byte*>(data); }
std::byte* out(void* data) { return static_cast<std::byte*>(data); }

}  // namespace
}  // namespace softtpu

using namespace softtpu;  // NOLINT: this file is nothing but the C interface to that namespace

SOFTTPU_EXPORT const char* softtpu_layout_error(void) { return error_text.data(); }

SOFTTPU_EXPORT size_t softtpu_conv_block_bytes(const softtpu_conv_block_t* block) {
  const auto shape = find_block(__func__, block);
  return shape ? static_cast<size_t>(shape->bytes()) : 0;
}
SOFTTPU_EXPORT size_t softtpu_conv_block_lanes(const softtpu_conv_block_t* block) {
  const auto shape = find_block(__func__, block);
  return shape ? static_cast<size_t>(shape->lanes()) : 0;
}
SOFTTPU_EXPORT size_t softtpu_conv_block_lane_bytes(const softtpu_conv_block_t* block) {
  const auto shape = find_block(__func__, block);
  return shape ? static_cast<size_t>(shape->lane_bytes()) : 0;
}
SOFTTPU_EXPORT size_t softtpu_conv_block_weight_offset(const softtpu_conv_block_t* block) {
  const auto shape = find_block(__func__, block);
  return shape ? static_cast<size_t>(shape->weight_offset()) : 0;
}

SOFTTPU_EXPORT int softtpu_conv_reorder(const softtpu_conv_block_t* block, const void* weights, size_t weights_bytes,
                                        void* out_data, size_t out_bytes) {
  const auto shape = check(__func__, block, {"weights", weights, weights_bytes}, nullptr, {"out", out_data, out_bytes});
  if (!shape) return -1;
  merge(*shape, in(weights), nullptr, out(out_data));
  return 0;
}

SOFTTPU_EXPORT int softtpu_conv_restore(const softtpu_conv_block_t* block, const void* reordered,
                                        size_t reordered_bytes, void* weights, size_t weights_bytes) {
  const auto shape =
      check(__func__, block, {"weights", weights, weights_bytes}, nullptr, {"reordered", reordered, reordered_bytes});
  if (!shape) return -1;
  split(*shape, in(reordered), out(weights), nullptr);
  return 0;
}

SOFTTPU_EXPORT int softtpu_conv_merge(const softtpu_conv_block_t* block, const void* weights, size_t weights_bytes,
                                      const void* bias, size_t bias_bytes, void* out_data, size_t out_bytes) {
  const Buffer bias_buffer{"bias", bias, bias_bytes};
  const auto shape =
      check(__func__, block, {"weights", weights, weights_bytes}, &bias_buffer, {"out", out_data, out_bytes});
  if (!shape) return -1;
  merge(*shape, in(weights), in(bias), out(out_data));
  return 0;
}

SOFTTPU_EXPORT int softtpu_conv_split(const softtpu_conv_block_t* block, const void* merged, size_t merged_bytes,
                                      void* weights, size_t weights_bytes, void* bias, size_t bias_bytes) {
  const Buffer bias_buffer{"bias", bias, bias_bytes};
  const auto shape =
      check(__func__, block, {"weights", weights, weights_bytes}, &bias_buffer, {"merged", merged, merged_bytes});
  if (!shape) return -1;
  split(*shape, in(merged), out(weights), out(bias));
  return 0;
}

SOFTTPU_EXPORT size_t softtpu_batch_words_bytes(const softtpu_batch_words_t* tensor) {
  const auto shape = find_batch_words(__func__, tensor);
  return shape ? static_cast<size_t>(shape->bytes()) : 0;
}

SOFTTPU_EXPORT int softtpu_batch_pack(const softtpu_batch_words_t* tensor, const void* plain, size_t plain_bytes,
                                      void* words, size_t words_bytes) {
  const auto shape = check(__func__, tensor, {"plain", plain, plain_bytes}, {"words", words, words_bytes});
  if (!shape) return -1;
  pack_batches(*shape, in(plain), out(words));
  return 0;
}

SOFTTPU_EXPORT int softtpu_batch_unpack(const softtpu_batch_words_t* tensor, const void* words, size_t words_bytes,
                                        void* plain, size_t plain_bytes) {
  const auto shape = check(__func__, tensor, {"plain", plain, plain_bytes}, {"words", words, words_bytes});
  if (!shape) return -1;
  unpack_batches(*shape, in(words), out(plain));
  return 0;
}
