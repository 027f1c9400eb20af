// Random gathers, scatters and mask selections by BDC in BM1684X's local memories against the plain reference;
// refusals.
#include <algorithm>

#include "tests/unit/move_fixture.hpp"

namespace softtpu::bdc_gather_test {
namespace {

using reference::Array;
using reference::Extents;

class BdcGatherTest : public MoveTest {
 protected:
  BdcGatherTest() : MoveTest("bm1684x") {}

  static constexpr unsigned kOutput = 65536, kParam = 131072, kIndex = 1024;
  static constexpr unsigned kBytes = 2048;  // of each NPU that a case may touch, behind each of the three

  void scramble_areas() {
    for (int lane = 0; lane < device.chip().npu_num; ++lane) {
      for (const unsigned start : {kOutput, kParam, kIndex}) {
        for (unsigned i = 0; i < kBytes; i += 4)
          *device.local<std::uint32_t>(lane, start + i) = static_cast<std::uint32_t>(random());
      }
    }
    take_copy();
  }
};

// w, hw, batch w, batch h
class BdcGatherModes : public BdcGatherTest, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Modes, BdcGatherModes, ::testing::Range(0, 4));

TEST_P(BdcGatherModes, ColumnsPlacesAndRows) {
  for (int i = 0; i < 80; ++i) {
    const int mode = GetParam();
    const bool scatter = i % 3 == 0;
    const bool repeated = mode >= 2 && coin();
    const int first = npu();
    const int size = element_size();
    const int index_size = mode == 1 ? 2 : between(1, 2);
    const Extents walked{between(1, 2), between(1, 70), mode == 0 || mode == 2 ? 1 : between(1, 4), between(1, 9)};
    const Extents named{walked[0], walked[1], mode == 0 || mode == 2 ? 1 : between(1, 4),
                        mode == 3 ? walked[3] : between(1, 9)};
    const Extents out_shape = scatter ? named : walked;
    Extents param_shape = scatter ? walked : named;
    if (mode >= 2) param_shape[0] = 1;
    const auto layout = [&](const Extents& shape) {
      return mode == 3 ? reference::line_aligned(device.chip(), first, shape, size)
                       : reference::aligned(device.chip(), first, shape, size);
    };
    const Array output{true, unified(first, kOutput), size, layout(out_shape)};
    Array param{true, unified(first, kParam), size, layout(param_shape)};
    if (repeated) param.stride[1] = 0;
    const int index_npu = mode < 2 ? 0 : first;
    const Extents index_shape = mode == 0   ? Extents{1, walked[3], 1, 1}
                                : mode == 1 ? Extents{1, walked[2] * walked[3], 1, 2}
                                : mode == 2 ? Extents{walked[0], walked[1], 1, walked[3]}
                                            : Extents{walked[0], walked[1], 1, walked[2]};
    const Array index{true, unified(index_npu, kIndex), index_size,
                      mode < 2 ? reference::compact(device.chip(), 0, index_shape)
                               : reference::aligned(device.chip(), first, index_shape, index_size)};
    const bool exception = !scatter && coin();
    const bool fills = coin();
    const std::uint32_t largest = index_size == 1 ? 0xFF : 0xFFFF;
    scramble_areas();
    reference::each(index_shape, [&](const Extents& at) {
      const int extent = mode == 3 || (mode == 1 && at[3] == 1) ? named[2] : named[3];
      const auto inside = static_cast<std::uint32_t>(between(0, extent - 1));
      reference::store(model, index, at, exception && between(0, 4) == 0 ? largest : inside);
    });
    write_back();
    scalar_t fill;
    fill.u32 = static_cast<u32>(random());
    const dim4 shape = to_dim4(out_shape);
    const data_type_t type = type_of_size(size);
    const data_type_t index_type = index_size == 1 ? DT_UINT8 : DT_UINT16;
    const auto out_addr = static_cast<local_addr_t>(output.addr), param_addr = static_cast<local_addr_t>(param.addr),
               index_addr = static_cast<local_addr_t>(index.addr);
    expect_accepted(
        [&] {
          if (mode == 0 && scatter)
            tpu_bdc_w_scatter(out_addr, param_addr, index_addr, &shape, param_shape[3], type, index_type);
          if (mode == 0 && !scatter && !exception)
            tpu_bdc_w_gather(out_addr, param_addr, index_addr, &shape, param_shape[3], type, index_type);
          if (mode == 0 && exception)
            tpu_bdc_w_gather_exception(out_addr, param_addr, index_addr, fill, &shape, param_shape[3], type, index_type,
                                       fills);
          if (mode == 1 && scatter)
            tpu_bdc_hw_scatter(out_addr, param_addr, index_addr, &shape, param_shape[2], param_shape[3], type);
          if (mode == 1 && !scatter && !exception)
            tpu_bdc_hw_gather(out_addr, param_addr, index_addr, &shape, param_shape[2], param_shape[3], type);
          if (mode == 1 && exception)
            tpu_bdc_hw_gather_exception(out_addr, param_addr, index_addr, fill, &shape, param_shape[2], param_shape[3],
                                        type, fills);
          if (mode == 2 && scatter)
            tpu_bdc_batch_bcast_w_scatter(out_addr, param_addr, index_addr, &shape, param_shape[3], type, index_type,
                                          repeated);
          if (mode == 2 && !scatter && !exception)
            tpu_bdc_batch_bcast_w_gather(out_addr, param_addr, index_addr, &shape, param_shape[3], type, index_type,
                                         repeated);
          if (mode == 2 && exception)
            tpu_bdc_batch_bcast_w_gather_exception(out_addr, param_addr, index_addr, fill, &shape, param_shape[3], type,
                                                   index_type, repeated, fills);
          if (mode == 3 && scatter)
            tpu_bdc_batch_bcast_h_scatter(out_addr, param_addr, index_addr, &shape, param_shape[2], type, index_type,
                                          repeated);
          if (mode == 3 && !scatter && !exception)
            tpu_bdc_batch_bcast_h_gather(out_addr, param_addr, index_addr, &shape, param_shape[2], type, index_type,
                                         repeated);
          if (mode == 3 && exception)
            tpu_bdc_batch_bcast_h_gather_exception(out_addr, param_addr, index_addr, fill, &shape, param_shape[2], type,
                                                   index_type, repeated, fills);
        },
        "gather");
    reference::each(walked, [&](const Extents& at) {
      const int flat = at[2] * walked[3] + at[3];
      const auto read = [&](const Extents& which) { return reference::load(model, index, which); };
      std::uint32_t column = static_cast<std::uint32_t>(at[3]), row = static_cast<std::uint32_t>(at[2]);
      if (mode == 0) column = read({0, at[3], 0, 0});
      if (mode == 1) column = read({0, flat, 0, 0}), row = read({0, flat, 0, 1});
      if (mode == 2) column = read({at[0], at[1], 0, at[3]});
      if (mode == 3) row = read({at[0], at[1], 0, at[2]});
      const bool missing =
          exception && ((mode != 3 && column == largest) || ((mode == 1 || mode == 3) && row == largest));
      Extents other{at[0], at[1], static_cast<int>(row), static_cast<int>(column)};
      Extents in = scatter ? at : other;
      const Extents out = scatter ? other : at;
      if (mode >= 2) in[0] = 0;
      if (!missing) reference::store(model, output, out, reference::load(model, param, in));
      if (missing && fills) reference::store(model, output, out, fill.u32);
    });
    expect_equal("gather mode " + std::to_string(mode) + (scatter ? " scatter" : "") + (exception ? " exception" : ""));
    if (HasFatalFailure()) return;
  }
}

TEST_F(BdcGatherTest, MaskSelectsColumns) {
  for (int i = 0; i < 40; ++i) {
    const int first = npu();
    const int size = element_size();
    const int mask_size = element_size();
    const bool repeated = coin();
    const Extents shape{between(1, 2), between(1, 70), 1, between(1, 30)};
    const Extents one{1, shape[1], 1, shape[3]};
    const Array output{true, unified(first, kOutput), size, reference::aligned(device.chip(), first, shape, size)};
    const Array count{true, unified(first, kOutput + 4096), 2,
                      reference::compact(device.chip(), first, {shape[0], shape[1], 1, 1})};
    Array param{true, unified(first, kParam), size, reference::aligned(device.chip(), first, one, size)};
    if (repeated) param.stride[1] = 0;
    const Array mask{true, unified(first, kIndex), mask_size,
                     reference::aligned(device.chip(), first, shape, mask_size)};
    scramble_areas();
    reference::each(shape, [&](const Extents& at) {
      if (coin()) reference::store(model, mask, at, 0);
    });
    write_back();
    const dim4 c_shape = to_dim4(shape);
    const data_type_t mask_type = mask_size == 1 ? DT_UINT8 : mask_size == 2 ? DT_UINT16 : DT_UINT32;
    expect_accepted(
        [&] {
          tpu_bdc_batch_bcast_w_mask_select(static_cast<local_addr_t>(output.addr),
                                            static_cast<local_addr_t>(count.addr),
                                            static_cast<local_addr_t>(param.addr), static_cast<local_addr_t>(mask.addr),
                                            &c_shape, type_of_size(size), mask_type, repeated);
        },
        "mask_select");
    reference::each({shape[0], shape[1], 1, 1}, [&](const Extents& at) {
      int total = 0;
      for (int w = 0; w < shape[3]; ++w) {
        if (reference::load(model, mask, {at[0], at[1], 0, w}) == 0) continue;
        reference::store(model, output, {at[0], at[1], 0, total++}, reference::load(model, param, {0, at[1], 0, w}));
      }
      reference::store(model, count, at, static_cast<std::uint32_t>(total));
    });
    expect_equal("mask_select");
    if (HasFatalFailure()) return;
  }
}

// The parameter lies four times in banks 8 to 15, the output in banks 4 to 7, the index in banks 0 to 3.
TEST_F(BdcGatherTest, FourBankGatherReadsColumns) {
  for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
    const int first = npu(), size = element_size(), index_size = between(1, 2);
    const bool repeated = coin(), exception = coin(), fills = coin();
    const Extents shape{1, between(1, 70), 1, between(1, 20)};
    const Extents param_shape{1, shape[1], 1, between(1, 30)};
    const Array output{true, unified(first, kOutput), size, reference::aligned(device.chip(), first, shape, size)};
    Array param{true, unified(first, kParam), size, reference::aligned(device.chip(), first, param_shape, size)};
    const Array index{true, unified(first, kIndex), index_size,
                      reference::aligned(device.chip(), first, shape, index_size)};
    if (repeated) param.stride[1] = 0;
    scramble_areas();
    constexpr std::uint64_t kCopyStep = 32768;
    for (std::uint64_t copy = 1; copy < 4; ++copy) {
      Array other = param;
      other.addr += copy * kCopyStep;
      reference::move(model, other, param_shape, param, [](const Extents& at) { return at; });
    }
    const std::uint32_t largest = index_size == 1 ? 0xFF : 0xFFFF;
    reference::each(shape, [&](const Extents& at) {
      const auto inside = static_cast<std::uint32_t>(between(0, param_shape[3] - 1));
      reference::store(model, index, at, exception && between(0, 4) == 0 ? largest : inside);
    });
    write_back();
    scalar_t fill;
    fill.u32 = static_cast<u32>(random());
    const dim4 c_shape = to_dim4(shape);
    const data_type_t type = type_of_size(size), index_type = index_size == 1 ? DT_UINT8 : DT_UINT16;
    const auto to = static_cast<local_addr_t>(output.addr), from = static_cast<local_addr_t>(param.addr),
               by = static_cast<local_addr_t>(index.addr);
    expect_accepted(
        [&] {
          if (exception) {
            tpu_bdc_4bank_w_gather_exception(to, from, by, fill, &c_shape, param_shape[3], type, index_type, repeated,
                                             fills);
          } else {
            tpu_bdc_4bank_w_gather(to, from, by, &c_shape, param_shape[3], type, index_type, repeated);
          }
        },
        "4bank_w_gather");
    reference::each(shape, [&](const Extents& at) {
      const std::uint32_t column = reference::load(model, index, at);
      const bool missing = exception && column == largest;
      if (missing && fills) reference::store(model, output, at, fill.u32);
      if (!missing)
        reference::store(model, output, at, reference::load(model, param, {0, at[1], 0, static_cast<int>(column)}));
    });
    expect_equal("4bank_w_gather");
  }
}

// The table lies at one offset of every NPU.
TEST_F(BdcGatherTest, TablesAreLookedUp) {
  for (int i = 0; i < 40 && !HasFatalFailure(); ++i) {
    const int first = npu(), size = element_size(), index_size = between(1, 2), length = between(1, 100);
    const Extents shape{between(1, 2), between(1, 70), between(1, 3), between(1, 9)};
    const Array output{true, unified(first, kOutput), size, reference::aligned(device.chip(), first, shape, size)};
    const Array index{true, unified(first, kIndex), index_size,
                      reference::aligned(device.chip(), first, shape, index_size)};
    scramble_areas();
    reference::each(shape, [&](const Extents& at) {
      reference::store(model, index, at, static_cast<std::uint32_t>(between(0, length - 1)));
    });
    write_back();
    const dim4 c_shape = to_dim4(shape);
    expect_accepted(
        [&] {
          tpu_bdc_table_lookup(static_cast<local_addr_t>(output.addr), static_cast<local_addr_t>(index.addr), kParam,
                               &c_shape, length, type_of_size(size), index_size == 1 ? DT_UINT8 : DT_UINT16);
        },
        "table_lookup");
    reference::each(shape, [&](const Extents& at) {
      const auto lane = static_cast<std::uint64_t>((first + at[1]) % device.chip().npu_num);
      const Array table{true, lane * device.chip().local_bytes + kParam, size, {0, 0, 0, 1}};
      const auto entry = static_cast<int>(reference::load(model, index, at));
      reference::store(model, output, at, reference::load(model, table, {0, 0, 0, entry}));
    });
    expect_equal("table_lookup");
  }
}

TEST_F(BdcGatherTest, FourBankGatherWantsFourEqualCopies) {
  const dim4 shape{1, 3, 1, 5};
  scramble_areas();
  for (int lane = 0; lane < 3; ++lane) {
    for (unsigned w = 0; w < 5; ++w)
      *device.local<std::uint16_t>(lane, kIndex + 2 * w) = static_cast<std::uint16_t>(w % 4);
    for (unsigned copy = 0; copy < 4; ++copy)
      std::memcpy(device.local<std::uint8_t>(lane, kParam + copy * 32768), device.local<std::uint8_t>(lane, kParam),
                  64);
  }
  const auto call = [&] { tpu_bdc_4bank_w_gather(kOutput, kParam, kIndex, &shape, 4, DT_FP32, DT_UINT16, false); };
  expect_accepted(call, "4bank_w_gather");
  EXPECT_EQ(*device.local<std::uint32_t>(2, kOutput + 16), *device.local<std::uint32_t>(2, kParam));
  *device.local<std::uint32_t>(1, kParam + 65536 + 4) ^= 1;
  expect_refused(call, "copy 2 of param (at +65536 bytes) differs in channel 1");
  expect_refused([&] { tpu_bdc_4bank_w_gather(kOutput, kParam, kOutput, &shape, 4, DT_FP32, DT_UINT16, false); },
                 "index lies in banks 4..4, outside 0..3");
}

TEST_F(BdcGatherTest, RefusesAndChangesNothing) {
  const dim4 shape{1, 3, 1, 5};
  scramble_areas();
  for (int lane = 0; lane < 5; ++lane) *device.local<std::uint16_t>(lane, kIndex) = lane == 4 ? 9 : 0;
  const auto call = [&](local_addr_t out, local_addr_t param, local_addr_t index, int width, data_type_t index_type) {
    return [=] { tpu_bdc_w_gather(out, param, index, &shape, width, DT_FP32, index_type); };
  };
  expect_refused(call(kOutput, kParam, kIndex, 9, DT_UINT16), "index 4 is not below the extent of the parameter");
  expect_refused(call(kOutput + 4, kParam, kIndex, 10, DT_UINT16), "is not a multiple of 64");
  expect_refused(call(kOutput, kParam + 262144, kIndex, 10, DT_UINT16),
                 "start NPU of param (1) differs from start NPU of output (0)");
  expect_refused(call(kOutput, kParam, kIndex + 262144, 10, DT_UINT16),
                 "index starts on NPU 1, it has to start on NPU 0");
  expect_refused(call(kOutput, kParam, kIndex, 0, DT_UINT16), "param_w (0) is outside 1..65535");
  expect_refused(call(kOutput, kParam, kIndex, 10, DT_INT32), "index type is int32");
  // What known case m_a/bdc_hw_gather_exception/001 of today's BM1684X does rests on indices that its memory happens to
  // hold: any pair that is no mark and lies beyond the rows or columns is refused, as recorded.
  for (int lane = 0; lane < 16; ++lane) std::fill_n(device.local<std::uint16_t>(lane, kIndex), 2, 0x2B2B);
  const auto pairs = [&] {
    tpu_bdc_hw_gather_exception(kOutput, kParam, kIndex, scalar_t{}, &shape, 5, 6, DT_FP32, true);
  };
  expect_refused(pairs, "is not below the extent of the parameter");
}

TEST_F(BdcGatherTest, OneThreadGivesTheBytesOfMany) {
  const dim4 shape{4, 128, 1, 200};
  scramble_areas();
  const auto result = [&](int threads) {
    set_thread_limit(threads);
    device.local_image() = model.local;
    const LaunchOutcome outcome = device.run([&] {
      tpu_bdc_batch_bcast_w_gather_exception(kOutput, kParam, kIndex, scalar_t{}, &shape, 255, DT_UINT8, DT_UINT8,
                                             false, true);
    });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return reference::Image(device.local_image());
  };
  EXPECT_TRUE(result(1) == result(0));
  set_thread_limit(0);
}

}  // namespace
}  // namespace softtpu::bdc_gather_test
