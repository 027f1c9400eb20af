// Random gathers and scatters, by GDMA on the small chip and by BDC on BM1684X, against the plain reference; refusals.
#include <gtest/gtest.h>

#include "device/memory/parallel.hpp"
#include "tests/unit/move_fixture.hpp"

namespace softtpu {
namespace {

using reference::Array;
using reference::Extents;

class GdmaGatherTest : public MoveTest {
 protected:
  // Indices of which most lie inside [0, extent).
  void put_indices(const Array& index, int channels, int count, int extent, std::uint32_t start) {
    reference::each({1, channels, count, 1}, [&](const Extents& at) {
      const auto inside = static_cast<std::uint32_t>(between(0, extent - 1)) + start;
      const std::uint32_t value = between(0, 5) == 0 ? static_cast<std::uint32_t>(random()) : inside;
      reference::store(model, index, at, value);
    });
    std::memcpy(device.memories().local(0), model.local.data(), model.local.size());
    std::memcpy(device.global<std::uint8_t>(device.scratch()), model.global.data(), kWindow);
  }
};

TEST_F(GdmaGatherTest, RowsByIndexInEveryDirection) {
  for (int i = 0; i < 300; ++i) {
    const int channels = between(1, 6);
    const int rows = between(1, 5);
    const int param_rows = between(1, 5);
    const int width = between(1, 6);
    const int size = element_size();
    const bool scatter = coin();
    const bool dst_local = coin();
    const bool param_local = coin();
    const bool index_local = coin();
    const int count = scatter ? param_rows : rows;
    const Extents dst_shape{1, channels, rows, width};
    const Extents param_shape{1, channels, param_rows, width};
    const Extents index_shape{1, channels, count, 1};
    // Local operands at offsets 0, 256 and 512 of the NPUs, system operands 16 KiB apart.
    const auto place = [&](bool local, const Extents& shape, unsigned slot, int bytes) {
      const int first = local ? npu() : 0;
      return Array{local, local ? unified(first, static_cast<int>(slot) * 256) : device.scratch() + slot * 16384, bytes,
                   local ? reference::aligned(device.chip(), first, shape, bytes) : reference::continuous(shape)};
    };
    const Array dst = place(dst_local, dst_shape, 2, size);
    const Array param = place(param_local, param_shape, 0, size);
    const Array index = place(index_local, index_shape, 1, 4);
    scramble();
    put_indices(index, channels, count, scatter ? rows : param_rows, 0);
    const dim4 shape = to_dim4(dst_shape);
    const data_type_t type = type_of_size(size);
    scalar_t fill;
    fill.u32 = static_cast<u32>(random());
    const auto l = [](const Array& array) { return static_cast<local_addr_t>(array.addr); };
    const auto call = [&] {
      if (!scatter && dst_local && param_local)
        tpu_gdma_h_gather_L2L(l(dst), l(param), index.addr, index_local, fill, &shape, param_rows, nullptr, nullptr,
                              nullptr, type);
      if (!scatter && dst_local && !param_local)
        tpu_gdma_h_gather_S2L(l(dst), param.addr, index.addr, index_local, fill, &shape, param_rows, nullptr, nullptr,
                              nullptr, type);
      if (!scatter && !dst_local && param_local)
        tpu_gdma_h_gather_L2S(dst.addr, l(param), index.addr, index_local, fill, &shape, param_rows, nullptr, nullptr,
                              nullptr, type);
      if (!scatter && !dst_local && !param_local)
        tpu_gdma_h_gather_S2S(dst.addr, param.addr, index.addr, index_local, fill, &shape, param_rows, nullptr, nullptr,
                              nullptr, type);
      if (scatter && dst_local && param_local)
        tpu_gdma_h_scatter_L2L(l(dst), l(param), index.addr, index_local, &shape, param_rows, nullptr, nullptr, nullptr,
                               type);
      if (scatter && dst_local && !param_local)
        tpu_gdma_h_scatter_S2L(l(dst), param.addr, index.addr, index_local, &shape, param_rows, nullptr, nullptr,
                               nullptr, type);
      if (scatter && !dst_local && param_local)
        tpu_gdma_h_scatter_L2S(dst.addr, l(param), index.addr, index_local, &shape, param_rows, nullptr, nullptr,
                               nullptr, type);
      if (scatter && !dst_local && !param_local)
        tpu_gdma_h_scatter_S2S(dst.addr, param.addr, index.addr, index_local, &shape, param_rows, nullptr, nullptr,
                               nullptr, type);
    };
    expect_accepted(call, "h_gather or h_scatter");
    reference::each({1, channels, count, width}, [&](const Extents& at) {
      const std::uint32_t named = reference::load(model, index, {0, at[1], at[2], 0});
      const bool inside = named < static_cast<std::uint32_t>(scatter ? rows : param_rows);
      const Extents other{0, at[1], static_cast<int>(named), at[3]};
      if (scatter && inside) reference::store(model, dst, other, reference::load(model, param, at));
      if (!scatter) reference::store(model, dst, at, inside ? reference::load(model, param, other) : fill.u32);
    });
    expect_equal("h_gather or h_scatter");
    if (HasFatalFailure()) return;
  }
}

TEST_F(GdmaGatherTest, ExtendedFormsCountFromAStartAndAdd) {
  const dim4 shape{1, 2, 5, 3};
  const std::uint64_t dst = device.scratch(), param = dst + 4096, index = dst + 8192;
  const Array indices{false, index, 4, {14, 7, 1, 1}};
  scalar_t fill;
  fill.u32 = 0xABCDEF01U;
  scramble();
  put_indices(indices, 2, 7, 5, 100);
  expect_accepted(
      [&] {
        tpu_gdma_h_scatter_S2S_ext(dst, param, index, false, &shape, 7, 100, 1, nullptr, nullptr, nullptr, DT_INT32);
      },
      "h_scatter_S2S_ext");
  const Array output{false, dst, 4, {30, 15, 3, 1}};
  const Array input{false, param, 4, {42, 21, 3, 1}};
  reference::each({1, 2, 7, 3}, [&](const Extents& at) {
    const std::uint32_t row = reference::load(model, indices, {0, at[1], at[2], 0}) - 100;
    if (row >= 5) return;
    const Extents to{0, at[1], static_cast<int>(row), at[3]};
    reference::store(model, output, to, reference::load(model, output, to) + reference::load(model, input, at));
  });
  expect_equal("h_scatter_S2S_ext");
  const Array five{false, index, 4, {10, 5, 1, 1}};
  put_indices(five, 2, 5, 7, 100);
  expect_accepted(
      [&] {
        tpu_gdma_h_gather_S2S_ext(dst, param, index, false, fill, &shape, 7, 100, nullptr, nullptr, nullptr, DT_INT32);
      },
      "h_gather_S2S_ext");
  reference::each({1, 2, 5, 3}, [&](const Extents& at) {
    const std::uint32_t row = reference::load(model, five, {0, at[1], at[2], 0}) - 100;
    const Extents from{0, at[1], static_cast<int>(row), at[3]};
    reference::store(model, output, at, row < 7 ? reference::load(model, input, from) : fill.u32);
  });
  expect_equal("h_gather_S2S_ext");
}

// Sums of f32 that are exact, twice into the same row.
TEST_F(GdmaGatherTest, AddsFloatsInOrder) {
  const std::uint64_t dst = device.scratch(), param = dst + 4096, index = dst + 8192;
  const dim4 shape{1, 1, 2, 1};
  float* out = device.global<float>(dst);
  out[0] = 1.5F;
  out[1] = 8.0F;
  const float values[] = {0.25F, -2.0F, 0.5F};
  const std::uint32_t rows[] = {0, 1, 0};
  std::memcpy(device.global<float>(param), values, sizeof(values));
  std::memcpy(device.global<std::uint32_t>(index), rows, sizeof(rows));
  expect_accepted(
      [&] {
        tpu_gdma_h_scatter_S2S_ext(dst, param, index, false, &shape, 3, 0, 1, nullptr, nullptr, nullptr, DT_FP32);
      },
      "h_scatter_S2S_ext");
  EXPECT_EQ(out[0], 2.25F);
  EXPECT_EQ(out[1], 6.0F);
}

TEST_F(GdmaGatherTest, RefusesAndChangesNothing) {
  const dim4 shape{1, 2, 3, 4};
  const dim4 batches{2, 2, 3, 4};
  const dim4 wide{24, 12, 8, 2};
  const std::uint64_t at = device.scratch();
  const auto gather = [&](const dim4* extent, int rows, addr_t index, bool local, const dim4* output,
                          const dim4* strides) {
    return [=] {
      tpu_gdma_h_gather_S2S(at + 4096, at, index, local, scalar_t{}, extent, rows, output, nullptr, strides, DT_FP32);
    };
  };
  expect_refused(gather(&batches, 3, at + 8192, false, nullptr, nullptr), "shape.n (2) is outside 1..1");
  expect_refused(gather(&shape, 0, at + 8192, false, nullptr, nullptr), "param_h (0) is outside 1..65535");
  expect_refused(gather(&shape, 3, at + 8192, false, &wide, nullptr), "output w stride (2) must be 1");
  expect_refused(gather(&shape, 3, at + 8192, false, nullptr, &wide), "index h stride (8) must be 1");
  expect_refused(gather(&shape, 3, 1 << 20, true, nullptr, nullptr),
                 "index address (0x100000) lies beyond local memory");
  expect_refused(gather(&shape, 3, 64, false, nullptr, nullptr), "index [0x40");
}

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
  void write_back() { std::memcpy(device.memories().local(0), model.local.data(), model.local.size()); }
};

TEST_F(BdcGatherTest, ColumnsPlacesAndRows) {
  for (int i = 0; i < 90; ++i) {
    const int mode = i % 4;  // w, hw, batch w, batch h
    const bool scatter = coin();
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
  for (int i = 0; i < 20; ++i) {
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
}

TEST_F(BdcGatherTest, OneThreadGivesTheBytesOfMany) {
  const dim4 shape{4, 128, 1, 200};
  scramble_areas();
  const auto result = [&](int threads) {
    set_thread_limit(threads);
    std::memcpy(device.memories().local(0), model.local.data(), model.local.size());
    expect_accepted(
        [&] {
          tpu_bdc_batch_bcast_w_gather_exception(kOutput, kParam, kIndex, scalar_t{}, &shape, 255, DT_UINT8, DT_UINT8,
                                                 false, true);
        },
        "gather");
    return device.local_bytes();
  };
  EXPECT_TRUE(result(1) == result(0));
  set_thread_limit(0);
}

}  // namespace
}  // namespace softtpu
