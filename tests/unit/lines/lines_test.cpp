// Line gathers against the plain reference on random inputs; refusals.
#include <gtest/gtest.h>

#include "tests/unit/hau_fixture.hpp"

namespace softtpu::lines_test {
namespace {

class Lines : public HauTest {};

TEST_F(Lines, GathersLines) {
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

TEST_F(Lines, RefusesAndChangesNothing) {
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
}  // namespace softtpu::lines_test
