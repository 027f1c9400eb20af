// HAU against the plain reference on random inputs; refusals.
#include <gtest/gtest.h>

#include <bit>

#include "tests/unit/assumed.hpp"
#include "tests/unit/move_fixture.hpp"

namespace softtpu {
namespace {

class HauTest : public MoveTest {
 protected:
  std::uint32_t* words(std::uint64_t address) { return device.global<std::uint32_t>(address); }

  // A key that often repeats; no NaN, zero of either sign or subnormal among the floats.
  std::uint32_t key(Dtype type) {
    if (type != Dtype::kFp32)
      return static_cast<std::uint32_t>(between(-5, 5)) * static_cast<std::uint32_t>(coin() ? 1 : 0x11111111);
    return std::bit_cast<std::uint32_t>(static_cast<float>(2 * between(-6, 6) + 1) * (coin() ? 0.5F : 1e20F));
  }

  const std::uint64_t dst = device.scratch(), dst_index = dst + 8192, src = dst + 16384, src_index = dst + 24576;
};

TEST_F(HauTest, SortsValuesAndIndices) {
  for (int i = 0; i < 200; ++i) {
    const int len = between(1, 300);
    const int kept = between(1, len);
    const bool descending = coin();
    const int form = between(0, 3);  // none, natural, given, general
    const data_type_t type = std::array{DT_FP32, DT_INT32, DT_UINT32}[static_cast<std::size_t>(between(0, 2))];
    scramble();
    std::vector<reference::Keyed> entries;
    for (int k = 0; k < len; ++k) {
      words(src)[k] = key(static_cast<Dtype>(type));
      if (form >= 2) words(src_index)[k] = static_cast<std::uint32_t>(random());
      entries.push_back({words(src)[k], form >= 2 ? words(src_index)[k] : static_cast<std::uint32_t>(k)});
    }
    take_copy();
    expect_accepted(
        [&] {
          if (form == 0) tpu_hau_sort(dst, src, len, kept, descending, type);
          if (form == 1) tpu_hau_sort_natural_index(dst, dst_index, src, len, kept, descending, type);
          if (form == 2) tpu_hau_sort_specific_index(dst, dst_index, src, src_index, len, kept, descending, type);
          // The flags of this function are codes of their own.
          const int flags = type == DT_FP32 ? 0 : type == DT_INT32 ? 1 : 2;
          if (form == 3)
            tpu_hau_sort_general(src, src_index, dst, dst_index, flags, len, descending ? 1 : 0, 1, 0, kept);
        },
        "sort");
    reference::sort(entries, static_cast<Dtype>(type), descending);
    for (std::size_t k = 0; k < static_cast<std::size_t>(kept); ++k) {
      std::memcpy(model.global.data() + 4 * k, &entries[k].bits, 4);
      if (form != 0) std::memcpy(model.global.data() + 8192 + 4 * k, &entries[k].index, 4);
    }
    expect_equal("sort form " + std::to_string(form));
    if (HasFatalFailure()) return;
  }
}

// Enough keys for several threads and for every way of sorting: many kept or few, many keys equal, results over the
// input. Equal keys and indices stay in their order.
TEST_F(HauTest, SortsManyKeysWithAnyBits) {
  constexpr std::uint32_t kSpecial[] = {0,           0x80000000U, 1,           0x80000001U, 0x7FC00000U,
                                        0xFFC00001U, 0x7F800000U, 0xFF800000U, 0x3F800000U};
  constexpr std::uint64_t kMega = 1 << 20;
  for (int i = 0; i < 36 && !HasFailure(); ++i) {
    const int len = between(9000, 70000), form = i % 3, kinds = i / 3 % 4;  // of keys: special, few, random, one
    const int kept =
        coin() ? between(1, len) : std::min(len, std::array{1, 100, 2048, 2049}[std::size_t(between(0, 3))]);
    const bool descending = coin(), over_input = coin();
    const data_type_t type = std::array{DT_FP32, DT_INT32, DT_UINT32}[static_cast<std::size_t>(between(0, 2))];
    const std::uint64_t from = device.scratch() + kMega, from_index = from + kMega, to_index = from_index + kMega;
    const std::uint64_t to = over_input ? from : to_index + kMega;
    std::vector<reference::Keyed> entries(static_cast<std::size_t>(len));
    for (std::uint32_t k = 0; k < entries.size(); ++k) {
      const auto any = static_cast<std::uint32_t>(random());
      entries[k] = {kinds == 0   ? kSpecial[any % std::size(kSpecial)]
                    : kinds == 1 ? any % 5
                    : kinds == 2 ? any
                                 : 7,
                    form == 2 ? static_cast<std::uint32_t>(random() % (coin() ? 3 : 1U << 31)) : k};
    }
    const std::vector<reference::Keyed> input = entries;
    reference::sort(entries, static_cast<Dtype>(type), descending);
    for (const int threads : {1, 0, 3}) {
      set_thread_limit(threads == 3 ? 0 : threads);
      set_parallel_threshold(threads == 3 ? 0 : kParallelSteps);
      for (std::size_t k = 0; k < input.size(); ++k) {
        words(from)[k] = input[k].bits;
        words(from_index)[k] = input[k].index;
      }
      const LaunchOutcome outcome = device.run([&] {
        if (form == 0) tpu_hau_sort(to, from, len, kept, descending, type);
        if (form == 1) tpu_hau_sort_natural_index(to, to_index, from, len, kept, descending, type);
        if (form == 2) tpu_hau_sort_specific_index(to, to_index, from, from_index, len, kept, descending, type);
      });
      ASSERT_TRUE(outcome.ok) << outcome.text;
      int wrong = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(kept); ++k)
        wrong += words(to)[k] != entries[k].bits || (form != 0 && words(to_index)[k] != entries[k].index) ? 1 : 0;
      EXPECT_EQ(wrong, 0) << "form " << form << ", kinds " << kinds << ", len " << len << ", kept " << kept
                          << ", threads " << threads;
    }
  }
  set_parallel_threshold(kParallelSteps);
  set_thread_limit(0);
}

// Each row by itself; the results of a row follow those of the row before it.
TEST_F(HauTest, SortsRowByRow) {
  record_assumed({Op::tpu_hau_sort_2d, Op::tpu_hau_sort_natural_index_2d, Op::tpu_hau_sort_specific_index_2d});
  for (int i = 0; i < 120 && !HasFatalFailure(); ++i) {
    const int rows = between(1, 6), len = between(1, 60), kept = between(1, len), form = i % 3;
    const bool descending = coin();
    const data_type_t type = std::array{DT_FP32, DT_INT32, DT_UINT32}[static_cast<std::size_t>(between(0, 2))];
    scramble();
    for (int k = 0; k < rows * len; ++k) words(src)[k] = key(static_cast<Dtype>(type));
    take_copy();
    expect_accepted(
        [&] {
          if (form == 0) tpu_hau_sort_2d(dst, src, rows, len, kept, descending, type);
          if (form == 1) tpu_hau_sort_natural_index_2d(dst, dst_index, src, rows, len, kept, descending, type);
          if (form == 2)
            tpu_hau_sort_specific_index_2d(dst, dst_index, src, src_index, rows, len, kept, descending, type);
        },
        "sort_2d");
    for (int row = 0; row < rows; ++row) {
      std::vector<reference::Keyed> entries;
      for (int k = 0; k < len; ++k) {
        const int at = row * len + k;
        entries.push_back({words(src)[at], form == 2 ? words(src_index)[at] : static_cast<std::uint32_t>(k)});
      }
      reference::sort(entries, static_cast<Dtype>(type), descending);
      for (int k = 0; k < kept; ++k) {
        const std::size_t at = 4 * static_cast<std::size_t>(row * kept + k);
        const reference::Keyed& entry = entries[static_cast<std::size_t>(k)];
        std::memcpy(model.global.data() + at, &entry.bits, 4);
        if (form != 0) std::memcpy(model.global.data() + 8192 + at, &entry.index, 4);
      }
    }
    expect_equal("sort_2d form " + std::to_string(form));
  }
}

TEST_F(HauTest, SuppressesBoxes) {
  for (int i = 0; i < 60; ++i) {
    const int boxes = between(1, 60);
    const int keep = coin() ? 0 : between(1, 20);
    scramble();
    const auto count = static_cast<std::size_t>(boxes);
    std::vector<std::uint8_t> mask(device.global<std::uint8_t>(src), device.global<std::uint8_t>(src) + count * count);
    for (std::uint8_t& flag : mask) flag |= static_cast<std::uint8_t>(between(0, 6) != 0);
    std::memcpy(device.global<std::uint8_t>(src), mask.data(), mask.size());
    take_copy();
    expect_accepted([&] { tpu_hau_hard_nms(dst, src, boxes, keep); }, "hard_nms");
    const auto bitmap = reference::hard_nms(mask, boxes, keep);
    std::memcpy(model.global.data(), bitmap.data(), bitmap.size());
    expect_equal("hard_nms");

    std::vector<float> coeff(count * count), score(count);
    for (float& value : coeff) value = static_cast<float>(between(0, 100)) / 100;
    for (float& value : score) value = static_cast<float>(between(0, 50)) / 50;
    std::memcpy(device.global<float>(src), coeff.data(), coeff.size() * 4);
    std::memcpy(device.global<float>(src_index + 8192), score.data(), score.size() * 4);
    take_copy();
    const float threshold = static_cast<float>(between(0, 40)) / 100;
    expect_accepted([&] { tpu_hau_soft_nms(dst, src, src_index + 8192, threshold, boxes, keep); }, "soft_nms");
    const auto soft = reference::soft_nms(coeff, score, threshold, keep);
    std::memcpy(model.global.data(), soft.data(), soft.size());
    expect_equal("soft_nms");
    if (HasFatalFailure()) return;
  }
}

// Several blocks of boxes, and numbers of them that fill no block.
TEST_F(HauTest, SuppressesManyBoxes) {
  constexpr std::uint64_t kMega = 1 << 20;
  const std::uint64_t to = device.scratch() + kMega, from = to + kMega, scores = to + 512 * 1024;
  for (int i = 0; i < 24 && !HasFailure(); ++i) {
    const int boxes = i < 4 ? 255 + i : between(60, 900), rarely = std::array{3, 40, 400, 4000}[std::size_t(i % 4)];
    const int keep = coin() ? 0 : between(1, boxes);
    const auto count = static_cast<std::size_t>(boxes);
    std::vector<std::uint8_t> mask(count * count);
    for (std::uint8_t& flag : mask)
      flag = static_cast<std::uint8_t>(random() & 0xFEU) | static_cast<std::uint8_t>(between(0, rarely) != 0);
    std::memcpy(device.global<std::uint8_t>(from), mask.data(), mask.size());
    const auto want = reference::hard_nms(mask, boxes, keep);
    std::vector<float> coeff(count * count), score(count);
    for (float& value : coeff) value = static_cast<float>(between(0, 100)) / 100;
    for (float& value : score) value = static_cast<float>(between(0, 50)) / 50;
    const float threshold = static_cast<float>(between(1, 40)) / 100;  // above what has become subnormal
    const auto want_soft = reference::soft_nms(coeff, score, threshold, keep);
    for (const int threads : {1, 0, 3}) {
      set_thread_limit(threads == 3 ? 0 : threads);
      set_parallel_threshold(threads == 3 ? 0 : kParallelSteps);
      const auto expect = [&](const char* what, const std::vector<std::uint8_t>& bitmap, auto kernel) {
        std::memset(device.global<std::uint8_t>(to), 0xA5, bitmap.size() + 1);
        const LaunchOutcome outcome = device.run(kernel);
        ASSERT_TRUE(outcome.ok) << outcome.text;
        EXPECT_EQ(std::memcmp(device.global<std::uint8_t>(to), bitmap.data(), bitmap.size()), 0)
            << what << ", " << boxes << " boxes, keep " << keep << ", threads " << threads;
        EXPECT_EQ(device.global<std::uint8_t>(to)[bitmap.size()], 0xA5) << what;
      };
      std::memcpy(device.global<std::uint8_t>(from), mask.data(), mask.size());
      expect("hard", want, [&] { tpu_hau_hard_nms(to, from, boxes, keep); });
      std::memcpy(device.global<float>(from), coeff.data(), coeff.size() * 4);
      std::memcpy(device.global<float>(scores), score.data(), score.size() * 4);
      expect("soft", want_soft, [&] { tpu_hau_soft_nms(to, from, scores, threshold, boxes, keep); });
    }
  }
  set_parallel_threshold(kParallelSteps);
  set_thread_limit(0);
}

TEST_F(HauTest, GathersLines) {
  for (int i = 0; i < 60; ++i) {
    const int lines = between(1, 12);
    const int start = between(0, lines - 1);
    const int end = between(start, lines - 1);
    const int length = between(1, 9);
    const int count = between(1, 20);
    const int size = element_size();
    const bool fills = coin();
    scramble();
    for (int k = 0; k < count; ++k) words(src_index)[k] = static_cast<std::uint32_t>(between(-2, lines + 2));
    take_copy();
    scalar_t fill;
    fill.u32 = size == 4 ? 0x12345678U : 0xFFFFFFFBU;
    expect_accepted(
        [&] {
          tpu_hau_line_gather(dst, src, src_index, fill, lines, length, count, start, end, type_of_size(size), fills);
        },
        "line_gather");
    const reference::Array out{false, dst, size, {0, 0, length, 1}};
    const reference::Array in{false, src, size, {0, 0, length, 1}};
    reference::each({1, 1, count, length}, [&](const reference::Extents& at) {
      const auto line = static_cast<std::int32_t>(words(src_index)[at[2]]);
      const bool inside = line >= start && line <= end;
      if (inside) reference::store(model, out, at, reference::load(model, in, {0, 0, line - start, at[3]}));
      if (!inside && fills) reference::store(model, out, at, fill.u32);
    });
    expect_equal("line_gather");
    if (HasFatalFailure()) return;
  }
}

TEST_F(HauTest, RefusesAndChangesNothing) {
  expect_refused([&] { tpu_hau_sort(dst, src, 10, 11, true, DT_FP32); }, "tpu_hau_sort: K (11) is outside 1..10");
  expect_refused([&] { tpu_hau_sort(dst, src, 0, 0, true, DT_FP32); }, "len (0) is outside");
  expect_refused([&] { tpu_hau_sort(dst, src, 10, 5, true, DT_FP16); }, "input type is fp16");
  expect_refused([&] { tpu_hau_sort(dst + 2, src, 10, 5, true, DT_FP32); }, "is not a multiple of 4");
  expect_refused([&] { tpu_hau_sort(device.chip().local_mem.start, src, 10, 5, true, DT_FP32); },
                 "is neither in global memory nor in L2 SRAM");
  expect_refused([&] { tpu_hau_hard_nms(dst, src, 0, 0); }, "box_num (0) is outside 1..16777215");
  expect_refused([&] { tpu_hau_hard_nms(dst, src, 4, -1); }, "keep_num (-1) is outside");
  expect_refused([&] { tpu_hau_hard_nms(dst, src, 16777215, 0); }, "does not lie inside one memory");
  scalar_t fill;
  fill.u32 = 0x12345678;
  expect_refused([&] { tpu_hau_line_gather(dst, src, src_index, fill, 4, 3, 5, 0, 3, DT_FP16, true); },
                 "C (0x12345678) does not fit into fp16");
  fill.u32 = 0;
  expect_refused([&] { tpu_hau_line_gather(dst, src, src_index, fill, 10, 3, 5, 0, 10, DT_FP32, true); },
                 "end (10) is outside 0..9");
  expect_refused([&] { tpu_hau_line_gather(dst, src + 4, src_index, fill, 10, 3, 5, 0, 9, DT_FP32, true); },
                 "is not a multiple of 64");
}

}  // namespace
}  // namespace softtpu
