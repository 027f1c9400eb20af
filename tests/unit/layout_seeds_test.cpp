// Every example and figure of the documents that define the layouts, as assertions: which element is in which NPU and
// at which byte. The chip of the figures has 4 NPUs of 1 KiB; its aligned layout counts 128 bytes (BM1684) or 64
// (BM1684X).
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "device/chip/layout.hpp"
#include "runtime/layout/placement.hpp"

namespace softtpu::layout_seeds_test {
namespace {

constexpr Lanes k128{4, 128, 1024};
constexpr Lanes k64{4, 64, 1024};
constexpr std::uint64_t npu(int index) { return static_cast<std::uint64_t>(index) * 1024; }

Placement place(const Lanes& lanes, LayoutKind kind, std::uint64_t addr, const Dim4& shape, int element_bytes,
                int pack = 1, const std::optional<Stride4>& stride = std::nullopt) {
  const auto result = make_placement(lanes, kind, addr, shape, pack, element_bytes, stride);
  EXPECT_TRUE(result) << result.error().text;
  return result ? *result : Placement{};
}

// Everything that lies in the local memories: (npu, byte offset) -> element. Fails when two elements share a byte.
using Element = std::tuple<int, int, int, int>;
using Picture = std::map<std::pair<int, std::int64_t>, Element>;

Picture draw(const Placement& tensor) {
  Picture picture;
  std::set<std::pair<int, std::int64_t>> bytes;
  for (int n = 0; n < tensor.shape.n; ++n) {
    for (int c = 0; c < tensor.shape.c; ++c) {
      for (int h = 0; h < tensor.shape.h; ++h) {
        for (int w = 0; w < tensor.shape.w; ++w) {
          const LocalSpot spot = tensor.spot(n, c, h, w);
          picture[{spot.npu, spot.offset}] = {n, c, h, w};
          for (int byte = 0; byte < tensor.element_bytes; ++byte) bytes.insert({spot.npu, spot.offset + byte});
        }
      }
    }
  }
  EXPECT_EQ(bytes.size(), static_cast<std::size_t>(tensor.shape.elements() * tensor.element_bytes)) << "overlap";
  return picture;
}

// A feature is H * W elements one after the other; `blocks` gives each feature's NPU and first block (element).
void expect_features(const Placement& tensor, const std::map<std::pair<int, int>, std::pair<int, int>>& blocks) {
  Picture expected;
  for (const auto& [feature, at] : blocks) {
    for (int i = 0; i < tensor.shape.h * tensor.shape.w; ++i) {
      expected[{at.first, std::int64_t{at.second + i} * tensor.element_bytes}] = {
          feature.first, feature.second, i / tensor.shape.w, i % tensor.shape.w};
    }
  }
  EXPECT_EQ(draw(tensor), expected);
}

TEST(LayoutSeeds, AddressesOfTheFirstFigure) {
  EXPECT_EQ(split_local_address(k64, 340), (LocalSpot{0, 340}));
  EXPECT_EQ(split_local_address(k64, 1472), (LocalSpot{1, 448}));
  EXPECT_EQ(split_local_address(k64, 2300), (LocalSpot{2, 252}));
  EXPECT_EQ(split_local_address(k64, 3088), (LocalSpot{3, 16}));
  EXPECT_EQ(split_local_address(k64, 4095), (LocalSpot{3, 1023}));
  EXPECT_TRUE(make_placement(k64, LayoutKind::kCompact, 4095, {1, 1, 1, 1}, 1, 1));
  EXPECT_FALSE(make_placement(k64, LayoutKind::kCompact, 4096, {1, 1, 1, 1}, 1, 1));
}

TEST(LayoutSeeds, AddressesOfBm1684x) {
  const auto chip = load_chip("bm1684x");
  ASSERT_TRUE(chip);
  const Lanes lanes = lanes_of(*chip);
  EXPECT_EQ(lanes.npu_num, 64);
  EXPECT_EQ(chip->banks, 16);
  EXPECT_EQ(split_local_address(lanes, 0), (LocalSpot{0, 0}));
  EXPECT_EQ(split_local_address(lanes, 256 * 1024 - 1), (LocalSpot{0, 256 * 1024 - 1}));
  EXPECT_EQ(split_local_address(lanes, 256 * 1024), (LocalSpot{1, 0}));
  EXPECT_EQ(split_local_address(lanes, 2 * 256 * 1024 - 1), (LocalSpot{1, 256 * 1024 - 1}));
}

// Scatter figures: a feature is one block, so its offset is row * feature size within a batch.
struct Scatter {
  int first_npu, channels_more_than_npus, channels_per_npu;
};
class LayoutScatter : public testing::TestWithParam<std::tuple<int, Scatter>> {};

TEST_P(LayoutScatter, FeaturesGoRoundTheNpus) {
  const auto& [x, figure] = GetParam();
  const int start = figure.first_npu < 0 ? x + figure.first_npu : figure.first_npu;
  const int channels = x + figure.channels_more_than_npus;
  const Lanes lanes{x, 64, 1024};
  EXPECT_EQ(channels_per_npu(x, start, channels), figure.channels_per_npu);
  const Placement tensor = place(lanes, LayoutKind::kCompact, npu(start), {2, channels, 1, 1}, 4);
  std::map<std::pair<int, int>, std::pair<int, int>> blocks;
  for (int n = 0; n < 2; ++n) {
    // The figure is read row by row: `start` empty blocks, then one block per channel; each batch begins a new row.
    for (int c = 0, block = start; c < channels; ++c, ++block) {
      blocks[{n, c}] = {block % x, n * figure.channels_per_npu + block / x};
    }
  }
  expect_features(tensor, blocks);
  for (int c0 = 0; c0 < channels; ++c0) {
    for (int c1 = 0; c1 < channels; ++c1) {
      EXPECT_EQ(tensor.spot(0, c0, 0, 0).npu == tensor.spot(1, c1, 0, 0).npu, c0 % x == c1 % x);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(LayoutSeeds, LayoutScatter,
                         testing::Combine(testing::Values(4, 8, 64),
                                          testing::Values(Scatter{0, -1, 1}, Scatter{1, -1, 1}, Scatter{0, 2, 2},
                                                          Scatter{-1, 2, 3})));

TEST(LayoutSeeds, EmptyNpusOfTheScatterFigures) {
  for (const auto& [key, element] : draw(place(k64, LayoutKind::kCompact, 0, {2, 3, 1, 1}, 4))) EXPECT_NE(key.first, 3);
  for (const auto& [key, element] : draw(place(k64, LayoutKind::kCompact, npu(1), {2, 3, 1, 1}, 4))) {
    EXPECT_NE(key.first, 0);
  }
  // C = X + 2 from NPU X - 1: X - 1 empty blocks in the first and in the third row.
  const Picture picture = draw(place(k64, LayoutKind::kCompact, npu(3), {1, 6, 1, 1}, 4));
  const Picture expected = {{{3, 0}, {0, 0, 0, 0}}, {{0, 4}, {0, 1, 0, 0}}, {{1, 4}, {0, 2, 0, 0}},
                            {{2, 4}, {0, 3, 0, 0}}, {{3, 4}, {0, 4, 0, 0}}, {{0, 8}, {0, 5, 0, 0}}};
  EXPECT_EQ(picture, expected);
}

TEST(LayoutSeeds, LocalStridesWithGaps) {
  const Placement tensor = place(k64, LayoutKind::kFree, 0, {2, 5, 3, 4}, 4, 1, Stride4{120, 56, 16, 2});
  Picture expected;
  for (int n = 0; n < 2; ++n) {
    for (int c = 0; c < 5; ++c) {
      for (int h = 0; h < 3; ++h) {
        for (int w = 0; w < 4; ++w)
          expected[{c % 4, 4 * (n * 120 + (c == 4 ? 56 : 0) + h * 16 + w * 2)}] = {n, c, h, w};
      }
    }
  }
  EXPECT_EQ(draw(tensor), expected);
  EXPECT_EQ(tensor.spot(0, 4, 0, 0), (LocalSpot{0, 224}));
  EXPECT_EQ(tensor.spot(1, 4, 2, 3), (LocalSpot{0, 856}));
}

TEST(LayoutSeeds, LocalStridesThatMakeNoSense) {
  const Dim4 shape{2, 3, 1, 10};
  EXPECT_EQ(channels_per_npu(4, 1, 3), 1);
  const Picture picture = draw(place(k64, LayoutKind::kFree, npu(1), shape, 4, 1, Stride4{120, 0, 0, 2}));
  EXPECT_EQ(picture, draw(place(k64, LayoutKind::kFree, npu(1), shape, 4, 1, Stride4{120, 777, 99, 2})));
  Picture expected;
  for (int n = 0; n < 2; ++n) {
    for (int c = 0; c < 3; ++c) {
      for (int w = 0; w < 10; ++w) expected[{1 + c, 4 * (n * 120 + w * 2)}] = {n, c, 0, w};
    }
  }
  EXPECT_EQ(picture, expected);
}

TEST(LayoutSeeds, ContinuousLayoutAndSystemStrides) {
  EXPECT_EQ(continuous_stride({2, 2, 3, 2}), (Stride4{12, 6, 2, 1}));
  EXPECT_EQ(continuous_stride({7, 5, 3, 4}), (Stride4{5 * 3 * 4, 3 * 4, 4, 1}));
  const Placement tensor = place(k64, LayoutKind::kContinuous, 0, {2, 2, 3, 2}, 4);
  int i = 0;
  for (const auto& [at, element] : draw(tensor)) {  // by address: n0c0h0w0, n0c0h0w1, n0c0h1w0 ...
    EXPECT_EQ(at, (std::pair<int, std::int64_t>{0, 4 * i}));
    EXPECT_EQ(element, (Element{i / 12, i / 6 % 2, i / 2 % 3, i % 2}));
    ++i;
  }
  EXPECT_EQ(i, 24);
}

TEST(LayoutSeeds, FourStridesOfOneByteTensor) {
  const Dim4 shape{4, 3, 2, 2};
  for (const Stride4& stride :
       {Stride4{12, 4, 2, 1}, Stride4{24, 4, 2, 1}, Stride4{24, 8, 4, 2}, Stride4{24, 8, 4, 1}}) {
    const Placement tensor = place(k64, LayoutKind::kFreeContinuous, 0, shape, 1, 1, stride);
    EXPECT_EQ(draw(tensor).size(), 48U);
    EXPECT_EQ(tensor.spot(3, 2, 1, 1).offset, 3 * stride.n + 2 * stride.c + stride.h + stride.w);
    EXPECT_EQ(tensor.end_offset(), 3 * stride.n + 2 * stride.c + stride.h + stride.w + 1);
  }
  // Stride (12, 4, 2, 1) leaves no gap: the 48 elements are 48 bytes.
  EXPECT_EQ(place(k64, LayoutKind::kFreeContinuous, 0, shape, 1, 1, Stride4{12, 4, 2, 1}).end_offset(), 48);
}

TEST(LayoutSeeds, ChannelsOnDifferentNpus) {
  const Placement tensor = place(k64, LayoutKind::kFree, 0, {2, 3, 2, 3}, 4, 1, Stride4{9, 9, 3, 1});
  expect_features(
      tensor,
      {{{0, 0}, {0, 0}}, {{0, 1}, {1, 0}}, {{0, 2}, {2, 0}}, {{1, 0}, {0, 9}}, {{1, 1}, {1, 9}}, {{1, 2}, {2, 9}}});
}

TEST(LayoutSeeds, AlignedStridesByTypeSize) {
  for (const int h : {1, 4, 7, 31}) {
    for (const int w : {1, 5, 32, 33}) {
      const auto up = [&](int to) { return (h * w + to - 1) / to * to; };
      for (const auto& [eu, bytes] : {std::pair{32, 4}, {64, 2}, {128, 1}}) {
        EXPECT_EQ(aligned_stride(4, 0, {2, 3, h, w}, 128 / bytes), (Stride4{up(eu), up(eu), w, 1}));
        EXPECT_EQ(aligned_stride(4, 2, {2, 3, h, w}, 128 / bytes), (Stride4{2 * up(eu), up(eu), w, 1}));
      }
      for (const auto& [eu, bytes] : {std::pair{16, 4}, {32, 2}, {64, 1}}) {
        EXPECT_EQ(aligned_stride(4, 0, {2, 3, h, w}, 64 / bytes), (Stride4{up(eu), up(eu), w, 1}));
        const std::int64_t line = (w + eu - 1) / eu * eu;
        EXPECT_EQ(line_aligned_stride(4, 0, {2, 3, h, w}, 64 / bytes), (Stride4{h * line, h * line, line, 1}));
        EXPECT_EQ(line_aligned_stride(4, 2, {2, 3, h, w}, 64 / bytes), (Stride4{2 * h * line, h * line, line, 1}));
      }
      EXPECT_EQ(compact_stride(4, 0, {2, 3, h, w}), (Stride4{h * w, h * w, w, 1}));
      EXPECT_EQ(compact_stride(4, 2, {2, 3, h, w}), (Stride4{2 * h * w, h * w, w, 1}));
    }
  }
}

TEST(LayoutSeeds, AlignedLayoutStartsOnAnAlignedAddress) {
  for (const std::uint64_t addr : {4U, 32U, 64U, 100U}) {
    const bool fits64 = addr % 64 == 0;
    EXPECT_EQ(static_cast<bool>(make_placement(k64, LayoutKind::kAligned, addr, {1, 1, 1, 1}, 1, 4)), fits64);
    EXPECT_EQ(static_cast<bool>(make_placement(k64, LayoutKind::kLineAligned, addr, {1, 1, 1, 1}, 1, 4)), fits64);
    EXPECT_FALSE(make_placement(k128, LayoutKind::kAligned, addr, {1, 1, 1, 1}, 1, 4));
    EXPECT_TRUE(make_placement(k128, LayoutKind::kAligned, npu(1) + 128, {1, 1, 1, 1}, 1, 4));
  }
}

TEST(LayoutSeeds, AlignedLayoutOf2x3x4x5) {
  // fp32 with 128 bytes and fp16 with 64 bytes: 32 elements each.
  for (const auto& [lanes, bytes] : {std::pair{k128, 4}, {k64, 2}}) {
    const Placement from0 = place(lanes, LayoutKind::kAligned, 0, {2, 3, 4, 5}, bytes);
    EXPECT_EQ(from0.stride, (Stride4{32, 32, 5, 1}));
    expect_features(from0, {{{0, 0}, {0, 0}},
                            {{0, 1}, {1, 0}},
                            {{0, 2}, {2, 0}},
                            {{1, 0}, {0, 32}},
                            {{1, 1}, {1, 32}},
                            {{1, 2}, {2, 32}}});
    const Placement from2 = place(lanes, LayoutKind::kAligned, npu(2), {2, 3, 4, 5}, bytes);
    EXPECT_EQ(from2.stride, (Stride4{64, 32, 5, 1}));
    expect_features(from2, {{{0, 0}, {2, 0}},
                            {{0, 1}, {3, 0}},
                            {{0, 2}, {0, 32}},
                            {{1, 0}, {2, 64}},
                            {{1, 1}, {3, 64}},
                            {{1, 2}, {0, 96}}});
  }
}

TEST(LayoutSeeds, CompactLayoutOf2x3x4x5) {
  for (const auto& [lanes, bytes] : {std::pair{k128, 4}, {k64, 2}}) {
    const Placement from0 = place(lanes, LayoutKind::kCompact, 0, {2, 3, 4, 5}, bytes);
    EXPECT_EQ(from0.stride, (Stride4{20, 20, 5, 1}));
    expect_features(from0, {{{0, 0}, {0, 0}},
                            {{0, 1}, {1, 0}},
                            {{0, 2}, {2, 0}},
                            {{1, 0}, {0, 20}},
                            {{1, 1}, {1, 20}},
                            {{1, 2}, {2, 20}}});
    const Placement from2 = place(lanes, LayoutKind::kCompact, npu(2), {2, 3, 4, 5}, bytes);
    EXPECT_EQ(from2.stride, (Stride4{40, 20, 5, 1}));
    expect_features(from2, {{{0, 0}, {2, 0}},
                            {{0, 1}, {3, 0}},
                            {{0, 2}, {0, 20}},
                            {{1, 0}, {2, 40}},
                            {{1, 1}, {3, 40}},
                            {{1, 2}, {0, 60}}});
  }
}

// The 2-by-40 matrix: cols_per_channel, channels, blocks of one row in each NPU.
struct Matrix {
  int w, channels, blocks;
};
class LayoutMatrix : public testing::TestWithParam<Matrix> {};

TEST_P(LayoutMatrix, ColumnsAreDividedIntoChannels) {
  const Matrix& figure = GetParam();
  const Dim4 shape = matrix_shape(2, 40, figure.w);
  EXPECT_EQ(shape, (Dim4{2, figure.channels, 1, figure.w}));
  for (const auto& [lanes, bytes] : {std::pair{k128, 4}, {k64, 2}}) {
    const Placement tensor = place(lanes, LayoutKind::kAligned, 0, shape, bytes);
    EXPECT_EQ(tensor.stride.n, figure.blocks);
    for (int row = 0; row < 2; ++row) {
      for (int col = 0; col < 40; ++col) {
        const int channel = col / figure.w;
        const int feature = (figure.w + 31) / 32 * 32;  // blocks, rounded up to the aligned layout
        const LocalSpot expected{channel % 4, bytes * (row * figure.blocks + channel / 4 * feature + col % figure.w)};
        EXPECT_EQ(tensor.spot(row, channel, 0, col % figure.w), expected);
      }
    }
  }
  const int last = 40 - (shape.c - 1) * figure.w;
  EXPECT_EQ(last, 40 % figure.w == 0 ? figure.w : 40 - figure.w * (40 / figure.w));
}
INSTANTIATE_TEST_SUITE_P(LayoutSeeds, LayoutMatrix,
                         testing::Values(Matrix{40, 1, 64}, Matrix{20, 2, 32}, Matrix{10, 4, 32}, Matrix{8, 5, 64},
                                         Matrix{15, 3, 32}, Matrix{6, 7, 64}));

TEST(LayoutSeeds, VectorLayout) {
  EXPECT_EQ(matrix_shape(1, 40, 10), (Dim4{1, 4, 1, 10}));
  EXPECT_EQ(matrix_shape(1, 41, 10), (Dim4{1, 5, 1, 10}));
  const Placement vector = place(k64, LayoutKind::kAligned, 0, matrix_shape(1, 41, 10), 2);
  EXPECT_EQ(vector.spot(0, 3, 0, 9), (LocalSpot{3, 18}));
  EXPECT_EQ(vector.spot(0, 4, 0, 0), (LocalSpot{0, 64}));
}

TEST(LayoutSeeds, Mode4N) {
  const Dim4 shape{6, 5, 4, 5};
  EXPECT_EQ(packed_shape(shape, 4), (Dim4{2, 5, 4, 5}));
  const Placement tensor = place(k128, LayoutKind::kAligned, 0, shape, 1, 4);
  EXPECT_EQ(tensor.stride, (Stride4{64, 32, 5, 1}));  // of int8x4: 32 bits
  const Picture picture = draw(tensor);
  for (const auto& [at, element] : picture) {
    const auto& [n, c, h, w] = element;
    EXPECT_EQ(at, (std::pair<int, std::int64_t>{c % 4, 4 * (n / 4 * 64 + c / 4 * 32 + h * 5 + w) + n % 4}));
  }
  // Units of the second batch hold elements 4 and 5 and two dummies.
  EXPECT_EQ(picture.at({0, 256}), (Element{4, 0, 0, 0}));
  EXPECT_EQ(picture.at({0, 257}), (Element{5, 0, 0, 0}));
  EXPECT_FALSE(picture.contains({0, 258}));
  EXPECT_FALSE(picture.contains({0, 259}));
}

TEST(LayoutSeeds, Mode2N) {
  const Dim4 shape{3, 5, 4, 5};
  EXPECT_EQ(packed_shape(shape, 2), (Dim4{2, 5, 4, 5}));
  const Placement tensor = place(k128, LayoutKind::kAligned, 0, shape, 2, 2);
  EXPECT_EQ(tensor.stride, (Stride4{64, 32, 5, 1}));  // of int16x2: 32 bits
  const Picture picture = draw(tensor);
  for (const auto& [at, element] : picture) {
    const auto& [n, c, h, w] = element;
    EXPECT_EQ(at, (std::pair<int, std::int64_t>{c % 4, 4 * (n / 2 * 64 + c / 4 * 32 + h * 5 + w) + n % 2 * 2}));
  }
  EXPECT_EQ(picture.at({0, 256}), (Element{2, 0, 0, 0}));
  EXPECT_FALSE(picture.contains({0, 258}));
}

TEST(LayoutSeeds, Mode2IC) {
  const Dim4 shape{5, 6, 2, 3};  // (I, O, H, W)
  EXPECT_EQ(packed_shape(shape, 2), (Dim4{3, 6, 2, 3}));
  const Placement tensor = place(k128, LayoutKind::kWeight, 0, shape, 4, 2);
  for (int j = 0; j < 2; ++j) {
    for (int o = 0; o < 6; ++o) {
      for (int h = 0; h < 2; ++h) {
        for (int w = 0; w < 3; ++w) {
          const LocalSpot even = tensor.spot(2 * j, o, h, w);
          EXPECT_EQ(tensor.spot(2 * j + 1, o, h, w), (LocalSpot{even.npu, even.offset + 4}));
          EXPECT_EQ(even, (LocalSpot{o % 4, 8 * (j * 6 + o / 4 * 18 + h * 3 + w)}));
        }
      }
    }
  }
  EXPECT_FALSE(draw(tensor).contains({0, 8 * 12 + 4}));  // the dummy of the odd last channel
}

TEST(LayoutSeeds, Weights64ICAnd32IC) {
  for (const int pack : {64, 32, 1}) {
    const int element = pack == 64 ? 1 : pack == 32 ? 2 : 4;
    for (const int ic : {1, 31, 32, 33, 64, 65, 130}) {
      const int kh = 3;
      const int kw = 2;
      const Stride4 units = weight_stride({ic, 70, kh, kw}, pack);
      const std::int64_t groups = (ic + pack - 1) / pack;
      EXPECT_EQ(units.w * pack, pack);
      EXPECT_EQ(units.h * pack, pack * kw);
      EXPECT_EQ(units.c * pack, pack * kw * kh * groups);
      EXPECT_EQ(units.n * pack, pack * kw * kh);  // from one group of input channels to the next
      const Lanes lanes{64, 64, 256 * 1024};
      const Placement tensor = place(lanes, LayoutKind::kWeight, 0, {ic, 70, kh, kw}, element, pack);
      for (const int oc : {0, 1, 63, 64, 69}) {
        for (int i = 0; i < ic; ++i) {
          const std::int64_t at = ((oc / 64 * groups + i / pack) * kh * kw + 2 * kw + 1) * pack + i % pack;
          EXPECT_EQ(tensor.spot(i, oc, 2, 1), (LocalSpot{oc % 64, at * element}));
        }
      }
    }
  }
}

TEST(LayoutSeeds, BytesOfTheDataTypes) {
  EXPECT_EQ(size_of(Dtype::kInt8), 1);
  EXPECT_EQ(size_of(Dtype::kInt16), 2);
  EXPECT_EQ(size_of(Dtype::kInt32), 4);
  EXPECT_EQ(size_of(Dtype::kFp16), 2);
  EXPECT_EQ(size_of(Dtype::kBfp16), 2);
  EXPECT_EQ(size_of(Dtype::kFp32), 4);
  // "In an F32 tensor the distance between w and w + 1 is 1 * 4."
  const Placement tensor = place(k64, LayoutKind::kContinuous, 0, {2, 2, 3, 2}, size_of(Dtype::kFp32));
  EXPECT_EQ(tensor.spot(0, 0, 0, 1).offset - tensor.spot(0, 0, 0, 0).offset, 4);
}

TEST(LayoutRefusals, NameTheSizes) {
  const auto text = [](LayoutKind kind, const Dim4& shape, std::uint64_t addr = 0) {
    const auto result = make_placement(k64, kind, addr, shape, 1, 4);
    return result ? std::string("accepted") : result.error().text;
  };
  EXPECT_EQ(text(LayoutKind::kAligned, {1, 4, 16, 16}), "accepted");
  EXPECT_NE(text(LayoutKind::kAligned, {1, 5, 16, 16})
                .find("needs 2048 bytes (2 KiB) per NPU from offset 0; an NPU has 1024"),
            std::string::npos);
  EXPECT_NE(text(LayoutKind::kCompact, {1, 1, 16, 16}, 4).find("from offset 4"), std::string::npos);
  EXPECT_NE(text(LayoutKind::kCompact, {0, 1, 1, 1}).find("N is 0"), std::string::npos);
  EXPECT_NE(text(LayoutKind::kCompact, {1, 1, 1, 65536}).find("W is 65536"), std::string::npos);
  EXPECT_NE(text(LayoutKind::kAligned, {1, 1, 1, 1}, 8).find("not divisible by 64"), std::string::npos);
  EXPECT_FALSE(make_placement(k64, LayoutKind::kFree, 0, {2, 1, 1, 1}, 1, 4, Stride4{-1, 0, 0, 1}));
}

}  // namespace
}  // namespace softtpu::layout_seeds_test
