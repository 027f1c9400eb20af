// BM1684's layers of bytes, from their instructions to every byte of local memory: random shapes, windows, signs,
// places and shifts, and what is refused. The sums are stated here element by element, by the words of the layout.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/command.hpp"
#include "device/instruction/translate.hpp"
#include "device/isa/op_names.hpp"
#include "device/memory/memories.hpp"

namespace softtpu::stream::okk_bytes_test {
namespace {

using testing::HasSubstr;
using Fields = std::initializer_list<std::pair<Field, std::uint64_t>>;

constexpr std::uint64_t kBytes = 0, kHalves = 3, kWords = 4;  // codes of types
constexpr std::uint64_t kGiven = 3;                           // the layout with strides
constexpr std::uint32_t kInput = 0, kWeight = 0x4000, kBias = 0x8000, kOutput = 0xA000, kEnd = 0xE000;

// Words whose strides are those of the layout without strides.
struct Place {
  int npu = 0;
  std::uint32_t offset = 0;
  std::int64_t n = 0, c = 0, h = 0, w = 1;
};

class OkkBytes : public testing::Test {
 protected:
  OkkBytes() : memories_(*Memories::create(*load_chip("bm1684"))) {
    for (int lane = 0; lane < chip().npu_num; ++lane)
      std::generate_n(byte(lane, 0), kEnd, [this] { return static_cast<std::uint8_t>(random_()); });
  }

  const Chip& chip() const { return memories_->chip(); }
  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::uint8_t* byte(int lane, std::int64_t offset) { return memories_->local(lane) + offset; }
  std::uint64_t address(int npu, std::uint32_t offset) const {
    return chip().local_mem.start + static_cast<std::uint64_t>(npu) * chip().local_bytes + offset;
  }
  int lane(int npu, int channel) const { return (npu + channel) % chip().npu_num; }
  int group(int npu, int channel) const { return (npu + channel) / chip().npu_num; }

  // Aligned, of elements of `size` bytes.
  Place aligned(int npu, std::uint32_t offset, int channels, int height, int width, int size) const {
    const std::int64_t row = chip().eu_bytes / size;
    const std::int64_t c = (std::int64_t{height} * width + row - 1) / row * row;
    return {npu, offset, group(npu, channels + chip().npu_num - 1) * c, c, width, 1};
  }
  std::uint8_t* packed(const Place& at, int n, int c, int h, int w) {
    const std::int64_t word = n / 4 * at.n + group(at.npu, c) * at.c + h * at.h + w * at.w;
    return byte(lane(at.npu, c), at.offset + 4 * word + n % 4);
  }
  static int value(const std::uint8_t* at, bool is_signed) {
    return is_signed ? static_cast<std::int8_t>(*at) : static_cast<int>(*at);
  }
  int bias(int npu, int channel, bool is_signed) {
    return half(byte(lane(npu, channel), kBias + 2 * group(npu, channel)), is_signed);
  }
  static int half(const std::uint8_t* at, bool is_signed) {
    const int bits = at[0] + 256 * at[1];
    return is_signed && bits >= 32768 ? bits - 65536 : bits;
  }
  static std::uint8_t end(std::int64_t sum, bool relu, int rshift, bool is_signed) {
    if (relu && sum < 0) sum = 0;
    for (int i = 0; i < rshift; ++i) {
      const bool half = (sum & 1) != 0 && i == rshift - 1;
      sum = (sum >= 0 ? sum / 2 : -((1 - sum) / 2)) + (half ? 1 : 0);
    }
    const bool below = is_signed && !relu;
    return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum, below ? -128 : 0, below ? 127 : 255));
  }

  static Instruction instruction(std::string_view format, unsigned function, Fields fields) {
    const Format* found = InstructionSet::find_chip("bm1684")->find(format);
    Instruction made{found, {}};
    made[Field::tsk_typ] = found->operation;
    made[Field::tsk_eu_typ] = function;
    for (const auto& [field, content] : fields) made[field] = content;
    return made;
  }

  // Carries the instruction out; nothing but `want` changes.
  void expect_result(const Instruction& of, const std::vector<std::pair<std::uint8_t*, std::uint8_t>>& want) {
    const auto issued = translate(chip(), of);
    ASSERT_TRUE(issued) << issued.error().text;
    std::vector<std::uint8_t> expected;
    for (int npu = 0; npu < chip().npu_num; ++npu) expected.insert(expected.end(), byte(npu, 0), byte(npu, kEnd));
    for (const auto& [at, content] : want) {
      const std::int64_t offset = at - byte(0, 0);
      expected[static_cast<std::size_t>(offset / chip().local_bytes * kEnd + offset % chip().local_bytes)] = content;
    }
    ASSERT_EQ(refusal(*issued), "");
    std::visit(
        [&](const auto& cmd) {
          if constexpr (!std::is_same_v<decltype(cmd), const ControlCmd&>) execute(*memories_, cmd);
        },
        issued->command);
    std::vector<std::uint8_t> got;
    for (int npu = 0; npu < chip().npu_num; ++npu) got.insert(got.end(), byte(npu, 0), byte(npu, kEnd));
    EXPECT_TRUE(got == expected);
  }
  std::string refusal(const Issued& issued) {
    return std::visit(
        [&](const auto& cmd) -> std::string {
          if constexpr (std::is_same_v<decltype(cmd), const ControlCmd&>)
            return "no command of the tensor unit";
          else
            return sentence_of(violation(*memories_, issued.op, cmd));
        },
        issued.command);
  }
  static std::string sentence_of(const Violation& refused) { return refused ? sentence("it", *refused) : ""; }
  std::string refusal(const Instruction& of) {
    const auto issued = translate(chip(), of);
    return issued ? refusal(*issued) : issued.error().text;
  }

  // What windows have in common; the sizes of the output follow. Zeros are inserted between neighbours of the input.
  struct Geometry {
    int n, c, h, w, kh, kw, sh, sw, dh, dw, up, down, left, right;
    int zeros_h = 0, zeros_w = 0;
    int out_h() const { return ((h - 1) * (zeros_h + 1) + 1 + up + down - (kh - 1) * dh - 1) / sh + 1; }
    int out_w() const { return ((w - 1) * (zeros_w + 1) + 1 + left + right - (kw - 1) * dw - 1) / sw + 1; }
  };
  Geometry random_geometry() {
    Geometry g{};
    do {
      g = {number(1, 6), number(1, 70), number(1, 6), number(1, 9), number(1, 3), number(1, 3), number(1, 3),
           number(1, 3), number(1, 2),  number(1, 2), number(0, 2), number(0, 2), number(0, 2), number(0, 2)};
    } while (g.h + g.up + g.down < (g.kh - 1) * g.dh + 1 || g.w + g.left + g.right < (g.kw - 1) * g.dw + 1);
    return g;
  }
  Instruction window(std::string_view format, unsigned function, const Geometry& g, int outputs, Fields fields) {
    Instruction made = instruction(format, function, fields);
    for (const auto& [field, content] : std::initializer_list<std::pair<Field, int>>{{Field::res0_n, g.n},
                                                                                     {Field::res0_c, outputs},
                                                                                     {Field::res0_h, g.out_h()},
                                                                                     {Field::res0_w, g.out_w()},
                                                                                     {Field::opd0_n, g.n},
                                                                                     {Field::opd0_c, g.c},
                                                                                     {Field::opd0_h, g.h},
                                                                                     {Field::opd0_w, g.w},
                                                                                     {Field::opd1_h, g.kh},
                                                                                     {Field::opd1_w, g.kw},
                                                                                     {Field::res_op_y_str, g.sh},
                                                                                     {Field::res_op_x_str, g.sw},
                                                                                     {Field::opd1_y_ins0, g.dh - 1},
                                                                                     {Field::opd1_x_ins0, g.dw - 1},
                                                                                     {Field::opd0_y_ins0, g.zeros_h},
                                                                                     {Field::opd0_x_ins0, g.zeros_w},
                                                                                     {Field::opd0_up_pad, g.up},
                                                                                     {Field::opd0_dn_pad, g.down},
                                                                                     {Field::opd0_lf_pad, g.left},
                                                                                     {Field::opd0_rt_pad, g.right}})
      made[field] = static_cast<std::uint64_t>(content);
    return made;
  }
  // The input under a tap of the window of output (h, w); `outside` in the padding.
  int tap(const Place& input, const Geometry& g, int n, int c, int h, int w, int i, int j, bool is_signed,
          int outside) {
    const int y = h * g.sh - g.up + i * g.dh, x = w * g.sw - g.left + j * g.dw;
    const int rows = g.zeros_h + 1, columns = g.zeros_w + 1;
    if (y < 0 || y >= (g.h - 1) * rows + 1 || x < 0 || x >= (g.w - 1) * columns + 1) return outside;
    if (y % rows != 0 || x % columns != 0) return outside;
    return value(packed(input, n, c, y / rows, x / columns), is_signed);
  }

  std::unique_ptr<Memories> memories_;
  std::mt19937 random_{20261127};
};

TEST_F(OkkBytes, ConvolutionsSumWordsOfInputChannels) {
  for (int trial = 0; trial < 36; ++trial) {
    Geometry g = random_geometry();
    if (trial % 3 == 1) {
      g.zeros_h = number(0, 2);
      g.zeros_w = number(0, 1);
      g.h = std::min(g.h, 3);
      g.w = std::min(g.w, 4);
      g.up = g.down = g.left = g.right = 2 * g.kh + g.kw;
    }
    // More output pixels than a tile of a product has columns, and more steps than one has rows.
    if (trial % 6 == 5) {
      g.n = number(1, 4);
      g.c = std::min(g.c, 9);
      g.h = number(7, 13);
      g.w = number(11, 19);
      g.sh = g.sw = number(1, 2);
    }
    // Words of input channels lie side by side, or each holds a kernel of its own.
    const bool turned = trial % 4 == 1, by_word = trial % 5 == 2;
    const int outputs = number(1, 70), from = number(0, 63), npu = number(0, 63), rshift = number(0, 14);
    const bool a_signed = trial % 2 == 0, b_signed = trial % 3 != 0, has_bias = trial % 4 < 2,
               c_signed = trial % 4 == 0;
    const bool relu = trial % 5 == 0, is_signed = a_signed || b_signed || (has_bias && c_signed);
    const Place input = aligned(from, kInput, g.c, g.h, g.w, 4);
    const Place output = aligned(npu, kOutput, outputs, g.out_h(), g.out_w(), 4);
    const int words = (g.c + 3) / 4, step = by_word ? g.kh * g.kw : 1, column = by_word ? 1 : words,
              row = g.kw * column, kernel = g.kh * g.kw * words + number(0, 2);
    std::vector<std::pair<std::uint8_t*, std::uint8_t>> want;
    for (int n = 0; n < g.n; ++n)
      for (int oc = 0; oc < outputs; ++oc)
        for (int h = 0; h < g.out_h(); ++h)
          for (int w = 0; w < g.out_w(); ++w) {
            std::int64_t sum = has_bias ? bias(npu, oc, c_signed) : 0;
            for (int i = 0; i < g.kh; ++i)
              for (int j = 0; j < g.kw; ++j)
                for (int c = 0; c < g.c; ++c) {
                  const int stored_i = turned ? g.kh - 1 - i : i, stored_j = turned ? g.kw - 1 - j : j;
                  const std::int64_t word = c / 4 * step + group(npu, oc) * kernel + stored_i * row + stored_j * column;
                  sum += tap(input, g, n, c, h, w, i, j, a_signed, 0) *
                         value(byte(lane(npu, oc), kWeight + 4 * word + c % 4), b_signed);
                }
            want.emplace_back(packed(output, n, oc, h, w), end(sum, relu, rshift, is_signed));
          }
    const auto flag = [](bool set) { return std::uint64_t{set}; };
    const auto stride = [](int count) { return static_cast<std::uint64_t>(count); };
    expect_result(window("conv_op", 0, g, outputs,
                         {{Field::res0_prec, kBytes},
                          {Field::opd0_prec, kBytes},
                          {Field::opd0_sign, flag(a_signed)},
                          {Field::opd1_sign, flag(b_signed)},
                          {Field::opd2_sign, flag(c_signed)},
                          {Field::relu, flag(relu)},
                          {Field::right_shift, stride(rshift)},
                          {Field::tsk_opd_num, has_bias ? 3U : 2U},
                          {Field::opd1_str, kGiven},
                          {Field::kernel_rotate, flag(turned)},
                          {Field::opd1_n_str, stride(step)},
                          {Field::opd1_c_str, stride(kernel)},
                          {Field::opd1_h_str, stride(row)},
                          {Field::opd1_w_str, stride(column)},
                          {Field::opd0_addr, address(from, kInput)},
                          {Field::opd1_addr, address(npu, kWeight)},
                          {Field::opd2_addr, address(npu, kBias)},
                          {Field::res0_addr, address(npu, kOutput)}}),
                  want);
  }
}

TEST_F(OkkBytes, WindowsOverChannelsSumOrTakeTheLargest) {
  for (int trial = 0; trial < 36; ++trial) {
    const Geometry g = random_geometry();
    const int npu = number(0, 63), rshift = number(0, 8);
    const bool is_max = trial % 3 == 0, constant = trial % 3 == 1, a_signed = trial % 2 == 0, b_signed = trial % 4 < 2;
    const bool has_bias = !is_max && trial % 5 < 2, c_signed = trial % 5 == 0, relu = !is_max && trial % 7 == 0;
    const bool is_signed = a_signed || (!is_max && (b_signed || (has_bias && c_signed)));
    const Place input = aligned(npu, kInput, g.c, g.h, g.w, 4);
    const Place output = aligned(npu, kOutput, g.c, g.out_h(), g.out_w(), 4);
    const std::uint8_t same = static_cast<std::uint8_t>(random_());
    std::vector<std::pair<std::uint8_t*, std::uint8_t>> want;
    for (int n = 0; n < g.n; ++n)
      for (int c = 0; c < g.c; ++c)
        for (int h = 0; h < g.out_h(); ++h)
          for (int w = 0; w < g.out_w(); ++w) {
            const int lowest = a_signed ? -128 : 0;
            std::int64_t result = is_max ? lowest : has_bias ? bias(npu, c, c_signed) : 0;
            for (int i = 0; i < g.kh; ++i)
              for (int j = 0; j < g.kw; ++j) {
                const int x = tap(input, g, n, c, h, w, i, j, a_signed, is_max ? lowest : 0);
                const std::int64_t at = kWeight + (group(npu, c) * g.kh + i) * g.kw + j;
                if (is_max)
                  result = std::max<std::int64_t>(result, x);
                else
                  result += x * value(constant ? &same : byte(lane(npu, c), at), b_signed);
              }
            want.emplace_back(packed(output, n, c, h, w),
                              is_max ? static_cast<std::uint8_t>(result) : end(result, relu, rshift, is_signed));
          }
    const auto flag = [](bool set) { return std::uint64_t{set}; };
    expect_result(window("pord_op", is_max ? 4 : 1, g, g.c,
                         {{Field::res0_prec, kBytes},
                          {Field::opd0_prec, kBytes},
                          {Field::opd0_sign, flag(a_signed)},
                          {Field::opd1_sign, flag(b_signed)},
                          {Field::opd2_sign, flag(c_signed)},
                          {Field::opd1_const, flag(constant)},
                          {Field::relu, flag(relu)},
                          {Field::right_shift, static_cast<std::uint64_t>(rshift)},
                          {Field::tsk_opd_num, has_bias ? 3U : 2U},
                          {Field::opd0_addr, address(npu, kInput)},
                          {Field::opd1_addr, constant ? same : address(npu, kWeight)},
                          {Field::opd2_addr, address(npu, kBias)},
                          {Field::res0_addr, address(npu, kOutput)}}),
                  want);
  }
}

TEST_F(OkkBytes, MatricesLieInBytes) {
  for (int trial = 0; trial < 24; ++trial) {
    const int rows = number(1, 9), left_w = number(1, 40), left_c = number(1, 5), last = number(1, left_w);
    const int w = number(1, 40), c = number(1, 20), from = number(0, 63), npu = number(0, 63), rshift = number(0, 14);
    const int inner = (left_c - 1) * left_w + last;
    const bool a_signed = trial % 2 == 0, b_signed = trial % 3 != 0, has_bias = trial % 4 < 2,
               c_signed = trial % 4 == 0;
    const bool relu = trial % 5 == 0, is_signed = a_signed || b_signed || (has_bias && c_signed);
    const std::uint32_t right_at = 0x1000, right_end = kBias;
    const Place left = aligned(from, kInput, left_c, 1, left_w, 1), right = aligned(npu, right_at, c, 1, w, 1);
    const Place biases = aligned(npu, kBias, c, 1, w, 2), output = aligned(npu, kOutput, c, 1, w, 1);
    ASSERT_LE(right_at + inner * right.n, right_end);
    const auto at = [&](const Place& place, int width, int row, int col, int size) {
      const std::int64_t element = row * place.n + group(place.npu, col / width) * place.c + col % width;
      return byte(lane(place.npu, col / width), place.offset + size * element);
    };
    std::vector<std::pair<std::uint8_t*, std::uint8_t>> want;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < c * w; ++j) {
        std::int64_t sum = has_bias ? half(at(biases, w, 0, j, 2), c_signed) : 0;
        for (int k = 0; k < inner; ++k)
          sum += value(at(left, left_w, i, k, 1), a_signed) * value(at(right, w, k, j, 1), b_signed);
        want.emplace_back(at(output, w, i, j, 1), end(sum, relu, rshift, is_signed));
      }
    const auto flag = [](bool set) { return std::uint64_t{set}; };
    const auto size = [](int count) { return static_cast<std::uint64_t>(count); };
    expect_result(instruction("mm_op", 0,
                              {{Field::res0_prec, kBytes},
                               {Field::opd0_prec, kBytes},
                               {Field::opd0_sign, flag(a_signed)},
                               {Field::opd1_sign, flag(b_signed)},
                               {Field::opd2_sign, flag(c_signed)},
                               {Field::relu, flag(relu)},
                               {Field::right_shift, size(rshift)},
                               {Field::tsk_opd_num, has_bias ? 3U : 2U},
                               {Field::opd0_n, size(rows)},
                               {Field::opd0_c, size(left_c)},
                               {Field::opd0_w, size(left_w)},
                               {Field::opd1_w, size(last)},
                               {Field::res0_n, size(rows)},
                               {Field::res0_c, size(c)},
                               {Field::res0_h, 1},
                               {Field::res0_w, size(w)},
                               {Field::opd0_addr, address(from, kInput)},
                               {Field::opd1_addr, address(npu, right_at)},
                               {Field::opd2_addr, address(npu, kBias)},
                               {Field::res0_addr, address(npu, kOutput)}}),
                  want);
  }
}

TEST_F(OkkBytes, TablesInL2AreIndexedByTheLowByte) {
  constexpr std::uint64_t kL2Base = 0x10000000;
  const int channels = 70, width = 5, npu = 7;
  const std::uint64_t table = chip().l2_sram.start;
  auto* entries = memories_->find_system(table, 1024).data;
  ASSERT_NE(entries, nullptr);
  std::generate_n(entries, 1024, [this] { return static_cast<std::uint8_t>(random_()); });
  const Place from = aligned(npu, kInput, channels, 1, width, 4), to = aligned(npu, kOutput, channels, 1, width, 4);
  std::vector<std::pair<std::uint8_t*, std::uint8_t>> want;
  for (int c = 0; c < channels; ++c)
    for (int w = 0; w < width; ++w)
      for (int i = 0; i < 4; ++i)
        want.emplace_back(packed(to, 0, c, 0, w) + i, entries[4 * packed(from, 0, c, 0, w)[0] + i]);
  const Instruction lookup = instruction("lut_op", 0,
                                         {{Field::res0_prec, kWords},
                                          {Field::opd0_prec, kWords},
                                          {Field::res0_n, 1},
                                          {Field::res0_c, static_cast<std::uint64_t>(channels)},
                                          {Field::res0_h, 1},
                                          {Field::res0_w, static_cast<std::uint64_t>(width)},
                                          {Field::opd0_addr, address(npu, kInput)},
                                          {Field::opd1_addr, table - kL2Base},
                                          {Field::res0_addr, address(npu, kOutput)}});
  expect_result(lookup, want);
  Instruction beyond = lookup;
  beyond[Field::opd1_addr] = chip().l2_sram.start + chip().l2_sram.bytes - kL2Base - 4;
  EXPECT_THAT(refusal(beyond), HasSubstr("table"));
  beyond[Field::opd1_addr] = 16;
  EXPECT_THAT(refusal(beyond), HasSubstr("is no table that is known"));
}

// A stream with wrong sizes: nothing beyond the padded input is read.
TEST_F(OkkBytes, WindowsBeyondThePaddedInputAreRefused) {
  const Geometry g{1, 4, 5, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  const Fields common = {{Field::res0_prec, kBytes},
                         {Field::opd0_prec, kBytes},
                         {Field::tsk_opd_num, 2},
                         {Field::opd1_str, kGiven},
                         {Field::opd1_c_str, 9},
                         {Field::opd1_h_str, 3},
                         {Field::opd1_w_str, 1},
                         {Field::opd0_addr, address(0, kInput)},
                         {Field::opd1_addr, address(0, kWeight)},
                         {Field::res0_addr, address(0, kOutput)}};
  Instruction conv = window("conv_op", 0, g, 4, common);
  EXPECT_EQ(refusal(conv), "");
  conv[Field::res0_w] = 6;
  EXPECT_THAT(refusal(conv), HasSubstr("windows of an output of [5, 6] reach over [7, 8] of a padded input of [7, 7]"));
  Instruction largest = window("pord_op", 4, g, 4, common);
  largest[Field::opd1_str] = 0;
  EXPECT_EQ(refusal(largest), "");
  largest[Field::res0_h] = 6;
  EXPECT_THAT(refusal(largest), HasSubstr("padded input of [7, 7]"));
}

TEST_F(OkkBytes, WhatNoRecordingShowsIsRefusedByName) {
  const Geometry g{1, 4, 5, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  const Instruction conv = window("conv_op", 0, g, 4,
                                  {{Field::res0_prec, kBytes},
                                   {Field::opd0_prec, kBytes},
                                   {Field::tsk_opd_num, 2},
                                   {Field::opd1_str, kGiven},
                                   {Field::opd0_addr, address(0, kInput)},
                                   {Field::opd1_addr, address(0, kWeight)},
                                   {Field::res0_addr, address(0, kOutput)}});
  for (const auto& [field, text] : std::initializer_list<std::pair<Field, const char*>>{
           {Field::res_add, "res_add (0x1) is set"}, {Field::winograd, "winograd (0x1) is no part"}}) {
    Instruction other = conv;
    other[field] = 1;
    EXPECT_THAT(refusal(other), HasSubstr(text));
  }
  // One constant in place of the weights is recorded.
  Instruction constant = conv;
  constant[Field::opd1_const] = 1;
  EXPECT_EQ(refusal(constant), "");
  Instruction halves = conv;
  halves[Field::res0_prec] = kHalves;
  EXPECT_THAT(refusal(halves), HasSubstr("res0_prec (0x3)"));
}

// 65,025 * 33,026 does not fit into 32 bits.
TEST_F(OkkBytes, SumsBeyond32BitsAreRefused) {
  OkkByteMatmulCmd product;
  product.inner = 33026;
  product.left = product.right = product.output = Tensor{Space::kLocal, 0, {1, 1, 1, 1}, {}, Dtype::kUint8, true};
  const auto text = [&] { return sentence_of(violation(*memories_, Op::okk_bdc_matmul, product)); };
  EXPECT_THAT(text(), HasSubstr("a sum of 33026 products can leave 32 bits (at most 33025 of these types)"));
  product.left.dtype = Dtype::kInt8;
  EXPECT_THAT(text(), testing::Not(HasSubstr("32 bits")));
}

}  // namespace
}  // namespace softtpu::stream::okk_bytes_test
