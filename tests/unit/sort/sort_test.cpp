// Sorts against the plain reference on random inputs; refusals.
#include <gtest/gtest.h>

#include "device/isa/op_names.hpp"
#include "tests/unit/assumed.hpp"
#include "tests/unit/hau_fixture.hpp"

namespace softtpu::sort_test {
namespace {

class Sort : public HauTest {};

TEST_F(Sort, SortsValuesAndIndices) {
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
TEST_F(Sort, SortsManyKeysWithAnyBits) {
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
TEST_F(Sort, SortsRowByRow) {
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

TEST_F(Sort, RefusesAndChangesNothing) {
  expect_refused([&] { tpu_hau_sort(dst, src, 10, 11, true, DT_FP32); }, "tpu_hau_sort: K (11) is outside 1..10");
  expect_refused([&] { tpu_hau_sort(dst, src, 0, 0, true, DT_FP32); }, "len (0) is outside");
  expect_refused([&] { tpu_hau_sort(dst, src, 10, 5, true, DT_FP16); }, "input type is fp16");
  expect_refused([&] { tpu_hau_sort(dst + 2, src, 10, 5, true, DT_FP32); }, "is not a multiple of 4");
  expect_refused([&] { tpu_hau_sort(device.chip().local_mem.start, src, 10, 5, true, DT_FP32); },
                 "is neither in global memory nor in L2 SRAM");
}

}  // namespace
}  // namespace softtpu::sort_test
