// The SIMD loops of products and poolings give the bits of the plain ones, with every instruction set of this machine.
#include "device/engines/bdc/product/product_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "device/engines/bdc/product/byte_kernels.hpp"
#include "device/engines/bdc/product/load_rows.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/window/pool_taps.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu::product_kernels_test {
namespace {

using Bits = std::vector<std::uint32_t>;

// What operands look like: ordinary values, any f16, any bf16, bf16 with products near the least normal f32 or the
// largest (and infinite ones), small numbers of few bits and zeros, whose products are cut exactly or not at all, and
// ordinary values with an infinity or a NaN now and then, f16 of any size among zeros, so that whole rows, columns and
// groups of products are zero; f32 with products that only rounding makes the least normal
// number.
enum class Kind : std::uint8_t {
  kOrdinary,
  kAnyF16,
  kAnyBf16,
  kTinyBf16,
  kHugeBf16,
  kRoundF16,
  kRareSpecial,
  kSparseF16,
  kAnyF32,
  kLeastF32
};
constexpr Kind kGroupKinds[] = {Kind::kOrdinary, Kind::kAnyF16,      Kind::kAnyBf16,   Kind::kTinyBf16, Kind::kHugeBf16,
                                Kind::kRoundF16, Kind::kRareSpecial, Kind::kSparseF16, Kind::kLeastF32};

class FastKernels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!set_simd_limit(GetParam())) GTEST_SKIP() << "this machine has no " << GetParam();
  }
  void TearDown() override { set_simd_limit(""); }

  float value(Kind kind) {
    const std::uint32_t bits = next();
    switch (kind) {
      case Kind::kOrdinary:
        return widen_f16(static_cast<std::uint16_t>((bits & 0x83FFU) | (8 + (bits >> 16) % 12) << 10));
      case Kind::kAnyF16: return widen_f16(static_cast<std::uint16_t>(bits));
      case Kind::kAnyBf16: return Wide<Bf16>::load({static_cast<std::uint16_t>(bits)});
      case Kind::kTinyBf16:
        return widen_bf16(static_cast<std::uint16_t>((bits & 0x807FU) | (60 + (bits >> 16) % 8) << 7));
      case Kind::kHugeBf16:
        return widen_bf16(static_cast<std::uint16_t>((bits & 0x807FU) | (184 + (bits >> 16) % 8) << 7));
      case Kind::kRoundF16:
        return (bits & 0x300U) == 0 ? ((bits & 1U) != 0 ? -0.0F : 0.0F)
                                    : widen_f16(static_cast<std::uint16_t>((bits & 0x8300U) | (bits >> 16) % 30 << 10));
      case Kind::kRareSpecial:
        if (bits % 197 != 0) return value(Kind::kOrdinary);
        return widen_f16(
            static_cast<std::uint16_t>(0x7C00U | (bits >> 16 & 0x8000U) | (bits >> 30 == 0 ? 0x200U : 0U)));
      case Kind::kSparseF16:
        return (bits >> 16) % 12 != 0 ? 0.0F : widen_f16(static_cast<std::uint16_t>(bits % 0x7C00U | (bits & 0x8000U)));
      case Kind::kAnyF32: return std::bit_cast<float>(bits);
      case Kind::kLeastF32: {
        // (1 - 2^-n) * (1 + 2^-n)
        const float rest = std::ldexp(1.0F, -13 - static_cast<int>(bits >> 8 & 1U));
        const float number = (bits & 1U) != 0 ? 1 + rest : 1 - rest;
        return std::ldexp((bits & 2U) != 0 ? -number : number, -63 - static_cast<int>(bits >> 4 & 1U));
      }
    }
    return 0;
  }
  std::vector<float> values(std::size_t count, Kind kind) {
    std::vector<float> list(count);
    for (float& element : list) element = value(kind);
    return list;
  }
  int below(int limit) { return 1 + static_cast<int>(next() % static_cast<std::uint32_t>(limit)); }

  // The bits; one NaN stands for all.
  static Bits bits_of(const std::vector<float>& list) {
    Bits bits;
    for (const float element : list) {
      bits.push_back(element != element ? kNanInvalid : std::bit_cast<std::uint32_t>(element));
    }
    return bits;
  }

  static Bits exact_bits_of(const std::vector<float>& list) {
    Bits bits(list.size());
    std::memcpy(bits.data(), list.data(), list.size() * sizeof(float));
    return bits;
  }

  std::uint32_t next() { return static_cast<std::uint32_t>(random_()); }

  std::mt19937 random_{7};
  FpuScope modes_;
};

constexpr int kMaxRows = 75;
constexpr int kMaxInner = 80;

// Rows of the right matrix one behind the other, the last ones first: the loops ask where they lie.
std::vector<std::int64_t> row_offsets() {
  std::vector<std::int64_t> offsets;
  for (int k = 0; k < kMaxInner; ++k) offsets.push_back((kMaxInner - 1 - k) * kTileCols);
  return offsets;
}

// Columns behind those that count may hold anything.
Bits counted(const Bits& sums, TileSize size) {
  Bits bits;
  for (int row = 0; row < size.rows; ++row) {
    bits.insert(bits.end(), sums.begin() + row * kTileCols, sums.begin() + row * kTileCols + size.cols);
  }
  return bits;
}

TEST_P(FastKernels, TwoLaneProductsHaveThePlainBits) {
  for (const Kind kind : {Kind::kOrdinary, Kind::kAnyF16, Kind::kAnyBf16, Kind::kAnyF32, Kind::kLeastF32}) {
    for (int round = 0; round < 12; ++round) {
      const TileSize size{below(kMaxRows), below(kMaxInner), below(kTileCols)};
      const std::vector<float> left = values(kMaxRows * kMaxInner, kind);
      const std::vector<float> right = values(kMaxInner * kTileCols, kind);
      std::vector<float> plain[2], fast[2];
      for (auto* sums : {plain, fast}) sums[0] = sums[1] = std::vector<float>(kMaxRows * kTileCols);
      const std::vector<std::int64_t> offsets = row_offsets();
      kPlainProductKernels.two_lanes(size, left.data(), kMaxInner, right.data(), offsets.data(), plain[0].data(),
                                     plain[1].data());
      fast_product_kernels().two_lanes(size, left.data(), kMaxInner, right.data(), offsets.data(), fast[0].data(),
                                       fast[1].data());
      for (int lane = 0; lane < 2; ++lane) {
        ASSERT_EQ(counted(bits_of(plain[lane]), size), counted(bits_of(fast[lane]), size)) << "kind " << int(kind);
      }
      kPlainProductKernels.join(size.rows, plain[1].data(), plain[0].data());
      fast_product_kernels().join(size.rows, fast[1].data(), fast[0].data());
      ASSERT_EQ(counted(exact_bits_of(plain[0]), size), counted(exact_bits_of(fast[0]), size)) << "kind " << int(kind);
    }
  }
}

TEST_P(FastKernels, JoinedLanesHaveThePlainBits) {
  for (const Kind kind : {Kind::kOrdinary, Kind::kAnyF16, Kind::kAnyBf16, Kind::kAnyF32, Kind::kLeastF32}) {
    for (int round = 0; round < 24; ++round) {
      const TileSize size{below(kMaxRows), below(round % 2 == 0 ? 4 : kMaxInner), below(kTileCols)};
      const std::vector<float> left = values(kMaxRows * kMaxInner, kind);
      const std::vector<float> right = values(kMaxInner * kTileCols, kind);
      const std::vector<std::int64_t> offsets = row_offsets();
      std::vector<float> plain = values(kMaxRows * kTileCols, kind), fast = plain;
      const bool add = round % 3 == 0;
      kPlainProductKernels.joined_lanes(size, left.data(), kMaxInner, right.data(), offsets.data(), add, plain.data());
      fast_product_kernels().joined_lanes(size, left.data(), kMaxInner, right.data(), offsets.data(), add, fast.data());
      ASSERT_EQ(counted(exact_bits_of(plain), size), counted(exact_bits_of(fast), size)) << "kind " << int(kind);
      if (add) continue;
      // The same as both lanes one after the other.
      std::vector<float> first(kMaxRows * kTileCols), second(kMaxRows * kTileCols);
      kPlainProductKernels.two_lanes(size, left.data(), kMaxInner, right.data(), offsets.data(), first.data(),
                                     second.data());
      kPlainProductKernels.join(size.rows, second.data(), first.data());
      ASSERT_EQ(counted(exact_bits_of(first), size), counted(exact_bits_of(fast), size)) << "kind " << int(kind);
    }
  }
}

TEST_P(FastKernels, GroupSumsHaveThePlainBits) {
  for (const Kind kind : kGroupKinds) {
    for (int round = 0; round < 24; ++round) {
      const TileSize size{below(kMaxRows), below(kMaxInner), below(kTileCols), next() % 2 == 0};
      const int group = round % 3 == 0 ? kGroupTerms : round % 7 == 1 ? 1 : below(kGroupTerms);
      const std::vector<float> left = values(kMaxRows * kMaxInner, kind);
      const std::vector<float> right = values(kMaxInner * kTileCols, kind);
      // Sums of -0, too: what cancels is +0.
      std::vector<float> plain(kMaxRows * kTileCols, round % 2 == 0 ? -0.0F : 0.0F), fast = plain;
      const std::vector<std::int64_t> offsets = row_offsets();
      kPlainProductKernels.groups(size, group, left.data(), kMaxInner, right.data(), offsets.data(), plain.data());
      fast_product_kernels().groups(size, group, left.data(), kMaxInner, right.data(), offsets.data(), fast.data());
      ASSERT_EQ(counted(bits_of(plain), size), counted(bits_of(fast), size)) << "kind " << int(kind);
    }
  }
}

// A product of bytes as some kernels pack it.
class PackedBytes {
 public:
  // Rows of `left` and `right` are kMaxInner and `pitch` bytes apart.
  PackedBytes(const ByteKernels& kernels, TileSize size, bool left_signed, bool right_signed,
              const std::vector<std::uint8_t>& left, const std::vector<std::uint8_t>& right, int pitch = kTileCols)
      : words_((size.inner + kernels.per_word - 1) / kernels.per_word) {
    const bool turned = kernels.turns_right && left_signed == right_signed;
    moved_by = !turned ? 0U : right_signed ? 128U : static_cast<std::uint32_t>(-128);
    left_.resize(static_cast<std::size_t>(words_ * size.rows));
    for (int row = 0; row < size.rows; ++row) {
      left_sums.push_back(
          kernels.pack_left(left.data() + row * kMaxInner, size.inner, left_signed, left_.data() + row * words_));
      bases.push_back(moved_by * left_sums.back());
    }
    right_.resize(static_cast<std::size_t>((words_ + 1) * pitch));
    for (int k = 0; k < words_; ++k) {
      const std::uint8_t* from[4];
      for (int i = 0; i < kernels.per_word; ++i) from[i] = right.data() + (k * kernels.per_word + i) * pitch;
      // The last ones come first: the loops ask where words lie.
      offsets_.push_back((words_ - 1 - k) * pitch);
      kernels.pack_right(std::min(kernels.per_word, size.inner - k * kernels.per_word), from, size.cols, right_signed,
                         turned ? 0x80 : 0, right_.data() + offsets_.back());
    }
    tile = {{size.rows, words_, size.cols},
            left_signed,
            right_signed,
            left_.data(),
            words_,
            right_.data(),
            offsets_.data()};
  }
  int words() const { return words_; }

  ByteTile tile;
  std::uint32_t moved_by;
  Bits left_sums, bases;

 private:
  int words_;
  std::vector<std::uint32_t> left_, right_;
  std::vector<std::int64_t> offsets_;
};

template <class T>
std::vector<void*> rows_of(std::vector<T>& values, int rows, int pitch) {
  std::vector<void*> list;
  for (int row = 0; row < rows; ++row) list.push_back(values.data() + row * pitch);
  return list;
}

// Sums of packed operands, with what zero points take off, and the sums of the left rows and of the right columns.
struct ByteSums {
  Bits sums, left_sums, column_sums;
  bool operator==(const ByteSums&) const = default;
};

ByteSums byte_sums(const ByteKernels& kernels, TileSize size, bool left_signed, bool right_signed,
                   const std::vector<std::uint8_t>& left, const std::vector<std::uint8_t>& right, const Bits& points) {
  const PackedBytes packed(kernels, size, left_signed, right_signed, left, right);
  ByteSums result;
  result.left_sums = packed.left_sums;
  Bits sums(kMaxRows * kTileCols, 5);
  const std::vector<void*> rows = rows_of(sums, size.rows, kTileCols);
  ByteTile none = packed.tile;
  none.size.inner = 0;
  kernels.make(none, {packed.bases.data(), packed.left_sums.data(), points.data()}, {}, rows.data());
  kernels.multiply(packed.tile, sums.data());
  result.sums = counted(sums, size);
  // The same in one go.
  std::fill(sums.begin(), sums.end(), 5);
  kernels.make(packed.tile, {packed.bases.data(), packed.left_sums.data(), points.data()}, {}, rows.data());
  EXPECT_EQ(result.sums, counted(sums, size));
  const std::vector<std::uint32_t> ones(static_cast<std::size_t>(packed.words()), kernels.ones);
  ByteTile tile = packed.tile;
  tile.left = ones.data();
  tile.size.rows = 1;
  Bits columns(kTileCols, 0U - packed.moved_by * static_cast<std::uint32_t>(packed.words() * kernels.per_word));
  kernels.multiply(tile, columns.data());
  result.column_sums = counted(columns, tile.size);
  return result;
}

// Products of few columns, which are computed turned: with addends, at every depth.
TEST_P(FastKernels, NarrowProductsHaveThePlainBits) {
  for (const Kind kind : kGroupKinds) {
    for (int i = 0; i < 25; ++i) {
      const int rows = below(150), inner = below(i % 4 == 0 ? 600 : 100), cols = below(3);
      const auto left = values(static_cast<std::size_t>(rows * inner), kind);
      const auto right = values(static_cast<std::size_t>(inner * cols), kind);
      auto added = values(static_cast<std::size_t>(rows * cols), kind);
      // Of a sum that is a NaN and an addend that is one, the compiler chooses which comes first.
      std::replace_if(
          added.begin(), added.end(), [](float value) { return std::isnan(value); }, 1.0F);
      std::vector<float> results(static_cast<std::size_t>(rows * cols));
      FloatProduct product;
      product.rule = FloatSum::kGroups;
      product.size = {rows, inner, cols};
      product.group = next() % 2 == 0 ? 16 : 32;
      product.tail_group = std::max(1, inner % product.group);
      product.tail_begin = inner - inner % product.group;
      product.nan_wins = next() % 2 == 0;
      product.relu = next() % 4 == 0;
      product.signs_nan = next() % 2 == 0;
      product.store_last = next() % 4 == 0;
      product.source.left = [&](int row, int count, float* to) {
        std::copy_n(left.data() + row * inner, count * inner, to);
      };
      product.source.right = [&](int k, int depth, int col, int count, float* to) {
        for (int r = 0; r < depth; ++r) std::copy_n(right.data() + (k + r) * cols + col, count, to + r * kTileCols);
      };
      if (next() % 2 == 0)
        product.addends.emplace_back(
            [&](int row, int col, int count, float* to) { std::copy_n(added.data() + row * cols + col, count, to); });
      product.store = by_rows<float>([&](int row, int col, int count, const float* from) {
        std::copy_n(from, count, results.data() + row * cols + col);
      });
      set_plain_kernels(true);
      multiply(product);
      const Bits plain = exact_bits_of(results);
      std::fill(results.begin(), results.end(), -1.0F);
      set_plain_kernels(false);
      multiply(product);
      ASSERT_EQ(exact_bits_of(results), plain)
          << "kind " << static_cast<int>(kind) << ", " << rows << " x " << inner << " x " << cols;
    }
  }
}

TEST_P(FastKernels, ByteProductsHaveThePlainBits) {
  for (int round = 0; round < 48; ++round) {
    const TileSize size{below(kMaxRows), below(kMaxInner), below(kTileCols)};
    const bool left_signed = (round & 1) != 0;
    const bool right_signed = (round & 2) != 0;
    std::vector<std::uint8_t> left(kMaxRows * kMaxInner), right((kMaxInner + 3) * kTileCols);
    for (auto* list : {&left, &right}) {
      for (std::uint8_t& byte : *list) byte = static_cast<std::uint8_t>(round < 8 ? 0x80 : next());
    }
    Bits points(kTileCols);
    for (std::uint32_t& point : points) point = next();
    const auto sums = [&](const ByteKernels& kernels) {
      return byte_sums(kernels, size, left_signed, right_signed, left, right, points);
    };
    ASSERT_EQ(sums(kPlainByteKernels), sums(fast_byte_kernels()))
        << left_signed << right_signed << " " << size.rows << " x " << size.inner << " x " << size.cols;
  }
}

// Sums that end where they are made: every type, all shifts, starts at both ends, wide tiles and odd ones, and not a
// byte beside the results.
TEST_P(FastKernels, EndedByteProductsHaveThePlainBits) {
  constexpr int kPitch = 320;
  const auto compare = [&]<class T>(T, Dtype type) {
    for (int round = 0; round < 60; ++round) {
      const TileSize size{below(kMaxRows), below(round % 2 == 0 ? 12 : kMaxInner), below(kPitch - 16)};
      const bool left_signed = (round & 1) != 0, right_signed = (round & 2) != 0;
      std::vector<std::uint8_t> left(kMaxRows * kMaxInner), right((kMaxInner + 3) * kPitch);
      for (auto* list : {&left, &right}) {
        for (std::uint8_t& byte : *list) byte = static_cast<std::uint8_t>(round < 4 ? 0x80 : next());
      }
      Bits starts;
      for (int row = 0; row < size.rows; ++row) {
        const std::uint32_t most = round % 3 == 0 ? (1U << 28) - 1 : 1U << 12;
        starts.push_back(round % 5 == 0 ? (next() % 2 == 0 ? most : 0U - most) : next() % most - most / 2);
      }
      const QuickEnd end{type, round % 28};
      Bits factors(kMaxRows), points(kPitch);
      for (auto* list : {&factors, &points}) std::generate(list->begin(), list->end(), [&] { return next(); });
      const auto results = [&](const ByteKernels& kernels) {
        const PackedBytes packed(kernels, size, left_signed, right_signed, left, right, kPitch);
        Bits bases;
        for (int row = 0; row < size.rows; ++row)
          bases.push_back(packed.bases[static_cast<std::size_t>(row)] - starts[static_cast<std::size_t>(row)]);
        // Rows begin at any byte.
        const int pitch = size.cols + 3;
        std::vector<T> values(static_cast<std::size_t>(size.rows * pitch), T(77));
        kernels.make(packed.tile, {bases.data(), factors.data(), points.data()}, end,
                     rows_of(values, size.rows, pitch).data());
        return values;
      };
      ASSERT_EQ(results(kPlainByteKernels), results(fast_byte_kernels()))
          << static_cast<int>(type) << " >> " << end.right << ": " << left_signed << right_signed << " " << size.rows
          << " x " << size.inner << " x " << size.cols;
    }
  };
  compare(std::int8_t(), Dtype::kInt8);
  compare(std::uint8_t(), Dtype::kUint8);
  compare(std::int16_t(), Dtype::kInt16);
  compare(std::uint16_t(), Dtype::kUint16);
  compare(std::int32_t(), Dtype::kInt32);
}

// Some windows with some taps. Loops may read, but not write, behind the last window.
struct Windows {
  std::vector<std::vector<float>> taps;
  std::vector<const float*> rows;
  int count = 0;
};

TEST_P(FastKernels, SumsOfWindowsHaveThePlainBits) {
  const PoolTaps plain = plain_pool_taps(), fast = fast_pool_taps();
  const auto compare = [&](auto member, auto stored, Kind kind) {
    using T = decltype(stored);
    for (int round = 0; round < 40; ++round) {
      Windows windows{{}, {}, below(70)};
      for (int k = below(9); k >= 0; --k) windows.taps.push_back(values(70 + kTapSlack, kind));
      for (const auto& tap : windows.taps) windows.rows.push_back(tap.data());
      const std::vector<float> weights = values(windows.rows.size(), kind);
      const TapRows<float> taps{windows.rows.data(), static_cast<int>(windows.rows.size()), windows.count};
      const float even = value(kind), odd = value(kind);
      std::vector<T> first(80), second(80);
      (plain.*member)(taps, weights.data(), even, odd, first.data());
      (fast.*member)(taps, weights.data(), even, odd, second.data());
      ASSERT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(T)), 0) << "kind " << int(kind);
    }
  };
  compare(&PoolTaps::sum_f32, float(), Kind::kAnyF32);
  compare(&PoolTaps::sum_f32, float(), Kind::kLeastF32);
  compare(&PoolTaps::sum_f16, F16(), Kind::kAnyF16);
  compare(&PoolTaps::sum_f16, F16(), Kind::kOrdinary);
  compare(&PoolTaps::sum_bf16, Bf16(), Kind::kAnyBf16);
  compare(&PoolTaps::sum_bf16, Bf16(), Kind::kTinyBf16);
}

TEST_P(FastKernels, IntegerSumsOfWindowsHaveThePlainBits) {
  const auto compare = [&]<class T>(PoolTaps::SumInts<T> PoolTaps::*member) {
    for (int round = 0; round < 240; ++round) {
      // Many at once, of few and of more taps than a loop prepares, with weights of any word or of bytes.
      constexpr int kMost = 300;
      const int count = below(round % 2 == 0 ? 70 : kMost);
      const int taps = round % 40 == 0 ? 200 + below(100) : 1 + below(20);
      std::vector<std::vector<T>> values(static_cast<std::size_t>(taps), std::vector<T>(kMost + kTapSlack));
      std::vector<const T*> rows;
      Bits weights;
      for (std::vector<T>& tap : values) {
        for (T& value : tap) value = static_cast<T>(next());
        rows.push_back(tap.data());
        const std::uint32_t any = static_cast<std::uint32_t>(next());
        const std::uint32_t weight[] = {any, any & 0xFFU, (any & 0xFFU) - 128U, any & 0x7FU};
        weights.push_back(weight[round / 2 % 4]);
      }
      Bits first(kMost + kTapSlack), second(kMost + kTapSlack);
      const TapRows<T> windows{rows.data(), taps, count};
      (plain_pool_taps().*member)(windows, weights.data(), 5, first.data());
      (fast_pool_taps().*member)(windows, weights.data(), 5, second.data());
      first.resize(static_cast<std::size_t>(count));
      second.resize(static_cast<std::size_t>(count));
      ASSERT_EQ(first, second);
    }
  };
  compare(&PoolTaps::sum_ints);
  compare(&PoolTaps::sum_s8);
  compare(&PoolTaps::sum_u8);
}

TEST_P(FastKernels, ExtremesKeepEveryBit) {
  for (const Dtype type : {Dtype::kFp32, Dtype::kFp16, Dtype::kBfp16}) {
    const Kind kind = type == Dtype::kFp32 ? Kind::kAnyF32 : type == Dtype::kFp16 ? Kind::kAnyF16 : Kind::kAnyBf16;
    for (int round = 0; round < 80; ++round) {
      const std::vector<float> one = values(67 + kTapSlack, kind), other = values(67 + kTapSlack, kind);
      const void* const rows[] = {one.data(), other.data()};
      std::vector<float> first(67), second(67);
      constexpr Equals kChoices[] = {Equals::kLast, Equals::kFirst, Equals::kFirstTap};
      const Equals equals = kChoices[round / 2 % 3];
      plain_best_row(type, round % 2 == 0, equals)(rows, 2, 67, first.data());
      fast_best_row(type, round % 2 == 0, equals)(rows, 2, 67, second.data());
      ASSERT_EQ(std::memcmp(first.data(), second.data(), 67 * sizeof(float)), 0);
    }
  }
}

TEST_P(FastKernels, EveryHalfWidensToItsValue) {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  for (const auto member : {&LoadRows::widen_f16, &LoadRows::widen_bf16}) {
    std::vector<float> plain(halves.size()), fast(halves.size());
    (kPlainLoadRows.*member)(halves.data(), plain.data(), 65536);
    (fast_load_rows().*member)(halves.data(), fast.data(), 65536);
    EXPECT_EQ(std::memcmp(plain.data(), fast.data(), plain.size() * sizeof(float)), 0);
  }
}

TEST_P(FastKernels, FloatsAreRoundedAsTheUnitStoresThem) {
  constexpr int kCount = 4099;
  std::vector<float> values(kCount);
  // Every exponent, with the bits that decide how it is rounded, ties among them.
  std::uint32_t bits = 0;
  for (int round = 0; round < 256; ++round) {
    for (float& value : values) value = std::bit_cast<float>(bits += 0xFFF + (next() % 3 == 0 ? next() : 0));
    for (const int count : {kCount, 1 + static_cast<int>(next() % 40)}) {
      std::vector<std::uint16_t> plain(kCount, 1), fast(kCount, 1);
      kPlainLoadRows.round_f16(values.data(), plain.data(), count);
      fast_load_rows().round_f16(values.data(), fast.data(), count);
      ASSERT_EQ(plain, fast);
      kPlainLoadRows.round_bf16(values.data(), plain.data(), count);
      fast_load_rows().round_bf16(values.data(), fast.data(), count);
      ASSERT_EQ(plain, fast);
    }
  }
}

TEST_P(FastKernels, BytesWidenToTheirValue) {
  for (int count = 0; count < 300; count += below(20)) {
    std::vector<std::uint8_t> stored(static_cast<std::size_t>(count));
    for (std::uint8_t& byte : stored) byte = static_cast<std::uint8_t>(next());
    Bits as_signed(stored.size()), as_unsigned(stored.size()), wanted_signed, wanted_unsigned;
    for (const std::uint8_t byte : stored) {
      wanted_unsigned.push_back(byte);
      wanted_signed.push_back(byte < 128 ? byte : byte - 256U);
    }
    fast_load_rows().widen_u8(stored.data(), as_unsigned.data(), count);
    fast_load_rows().widen_s8(reinterpret_cast<const std::int8_t*>(stored.data()), as_signed.data(), count);
    ASSERT_EQ(as_unsigned, wanted_unsigned);
    ASSERT_EQ(as_signed, wanted_signed);
  }
}

TEST_P(FastKernels, PairsAreSplit) {
  const auto split = [&]<class T>(T, auto member) {
    for (int pairs = 0; pairs < 300; pairs += below(20)) {
      std::vector<T> row(2 * static_cast<std::size_t>(pairs));
      for (T& element : row) element = static_cast<T>(next());
      // One element more, which has to stay.
      std::vector<T> even(static_cast<std::size_t>(pairs) + 1), odd = even, wanted_even = even, wanted_odd = even;
      for (std::size_t i = 0; i < row.size(); ++i) (i % 2 == 0 ? wanted_even : wanted_odd)[i / 2] = row[i];
      (fast_load_rows().*member)(row.data(), pairs, even.data(), odd.data());
      ASSERT_EQ(even, wanted_even);
      ASSERT_EQ(odd, wanted_odd);
    }
  };
  split(std::uint8_t(), &LoadRows::split_bytes);
  split(std::uint32_t(), &LoadRows::split_words);
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, FastKernels, testing::Values("sse4", "avx2", "avx512", ""),
                         [](const auto& set) { return *set.param == '\0' ? "best" : std::string(set.param); });

}  // namespace
}  // namespace softtpu::product_kernels_test
