// Random GDMA copies against the plain reference: every byte of local memory and of a window of global memory.
#include "tests/unit/gdma_fixture.hpp"

namespace softtpu::gdma_copy_test {
namespace {

class GdmaCopyTest : public GdmaTest {};

TEST_P(GdmaCopyTest, PlainCopiesInEveryDirection) {
  const auto map = [](const Extents& at) { return at; };
  check(
      "cpy_S2L", true, false, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_S2L(dst.local(), src.system(), &shape, dst.stride(), src.stride(), type);
      },
      same_shape);
  check(
      "cpy_L2S", false, true, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_L2S(dst.system(), src.local(), &shape, dst.stride(), src.stride(), type);
      },
      same_shape);
  check(
      "cpy_L2L", true, true, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_L2L(dst.local(), src.local(), &shape, dst.stride(), src.stride(), type);
      },
      same_shape);
  check(
      "cpy_S2S", false, false, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_S2S(dst.system(), src.system(), &shape, dst.stride(), src.stride(), type);
      },
      same_shape);
}

TEST_P(GdmaCopyTest, BatchesAndChannelsChangePlaces) {
  const auto map = [](const Extents& at) { return Extents{at[1], at[0], at[2], at[3]}; };
  const auto source = [](const Extents& shape) { return Extents{shape[1], shape[0], shape[2], shape[3]}; };
  check(
      "nc_trans_S2L", true, false, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_nc_trans_S2L(dst.local(), src.system(), &shape, dst.stride(), src.stride(), type);
      },
      source);
  check(
      "nc_trans_L2S", false, true, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_nc_trans_L2S(dst.system(), src.local(), &shape, dst.stride(), src.stride(), type);
      },
      source);
  check(
      "nc_trans_L2L", true, true, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_nc_trans_L2L(dst.local(), src.local(), &shape, dst.stride(), src.stride(), type);
      },
      source);
  check(
      "nc_trans_S2S", false, false, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_nc_trans_S2S(dst.system(), src.system(), &shape, dst.stride(), src.stride(), type);
      },
      source);
}

TEST_P(GdmaCopyTest, ChannelsAndColumnsChangePlaces) {
  const auto map = [](const Extents& at) { return Extents{at[0], at[3], at[2], at[1]}; };
  const auto source = [](const Extents& shape) { return Extents{shape[0], shape[3], shape[2], shape[1]}; };
  check(
      "cw_trans_S2L", true, false, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_cw_trans_S2L(dst.local(), src.system(), &shape, dst.stride(), src.stride(), type);
      },
      source);
  check(
      "cw_trans_L2S", false, true, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_cw_trans_L2S(dst.system(), src.local(), &shape, dst.stride(), src.stride(), type);
      },
      source);
  check(
      "cw_trans_L2L", true, true, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_cw_trans_L2L(dst.local(), src.local(), &shape, dst.stride(), src.stride(), type);
      },
      source);
  // Strides given to this one do not count: both sides are continuous.
  const dim4 ignored = {7, 5, 3, 1};
  check("cw_trans_S2S", false, false, map,
        [&](auto& dst, auto& src, auto& shape, auto type) {
          const dim4* stride = type == DT_INT8 ? &ignored : nullptr;
          tpu_gdma_cpy_cw_trans_S2S(dst.system(), src.system(), &shape, stride, stride, type);
        },
        source, {.free_strides = false});
}

TEST_P(GdmaCopyTest, OneChannelGoesToMany) {
  const auto map = [](const Extents& at) { return Extents{at[0], 0, at[2], at[3]}; };
  const auto source = [](const Extents& shape) { return Extents{shape[0], 1, shape[2], shape[3]}; };
  check("channel_bcast_S2L", true, false, map,
        [](auto& dst, auto& src, auto& shape, auto type) {
          tpu_gdma_channel_bcast_S2L(dst.local(), src.system(), &shape, dst.stride(), src.stride(), type);
        },
        source, {.one_span = true});
  check("channel_bcast_L2L", true, true, map,
        [](auto& dst, auto& src, auto& shape, auto type) {
          tpu_gdma_channel_bcast_L2L(dst.local(), src.local(), &shape, dst.stride(), src.stride(), type);
        },
        source, {.one_span = true});
}

TEST_P(GdmaCopyTest, ReversesOneDimension) {
  for (int i = 0; i < 4 * cases();) {
    const Extents shape = small_shape();
    const int size = element_size();
    const int axis = between(0, 3);
    const bool from_local = coin(), to_local = coin();
    const auto dst = place(to_local, shape, size, Use::kWrite);
    const auto src = place(from_local, shape, size, Use::kRead);
    if (!dst || !src) continue;
    ++i;
    scramble();
    const dim4 extent = to_dim4(shape);
    const dim4 *to = dst->stride(), *from = src->stride();
    const data_type_t type = type_of_size(size);
    expect_accepted(
        [&] {
          if (to_local && from_local) tpu_gdma_reverse_L2L(dst->local(), src->local(), &extent, to, from, axis, type);
          if (to_local && !from_local) tpu_gdma_reverse_S2L(dst->local(), src->system(), &extent, to, from, axis, type);
          if (!to_local && from_local) tpu_gdma_reverse_L2S(dst->system(), src->local(), &extent, to, from, axis, type);
          if (!to_local && !from_local)
            tpu_gdma_reverse_S2S(dst->system(), src->system(), &extent, to, from, axis, type);
        },
        "reverse");
    const auto turned = static_cast<std::size_t>(axis);
    reference::move(model, dst->array, shape, src->array, [&](Extents at) {
      at[turned] = shape[turned] - 1 - at[turned];
      return at;
    });
    expect_equal("reverse of axis " + std::to_string(axis));
    if (HasFatalFailure()) return;
  }
}

TEST_P(GdmaCopyTest, GeneralCopyKeepsTheOrderOfElements) {
  int done = 0;
  for (int attempt = 0; done < 2 * cases() && attempt < 4000; ++attempt) {
    const Extents dst_shape = small_shape();
    const Extents src_shape{dst_shape[1], dst_shape[3], dst_shape[0] * dst_shape[2], 1};
    const int size = element_size();
    const bool to_local = coin();
    const auto dst = place(to_local, dst_shape, size, Use::kWrite);
    const auto src = place(!to_local, src_shape, size, Use::kRead);
    if (!dst || !src) continue;
    ++done;
    scramble();
    const dim4 to = to_dim4(dst_shape);
    const dim4 from = to_dim4(src_shape);
    const data_type_t type = type_of_size(size);
    expect_accepted(
        [&] {
          to_local
              ? tpu_gdma_general_cpy_S2L(dst->local(), src->system(), &to, &from, dst->stride(), src->stride(), type)
              : tpu_gdma_general_cpy_L2S(dst->system(), src->local(), &to, &from, dst->stride(), src->stride(), type);
        },
        "general_cpy");
    reference::reshape(model, dst->array, dst_shape, src->array, src_shape);
    expect_equal("general_cpy");
  }
}

// Local memory compact, system memory continuous; a transposed source has its batches and channels exchanged.
TEST_P(GdmaCopyTest, CompactTensorsHaveNoGaps) {
  for (int i = 0; i < 4 * cases();) {
    const bool to_local = coin(), swapped = coin();
    const Extents shape = small_shape();
    const Extents source = swapped ? Extents{shape[1], shape[0], shape[2], shape[3]} : shape;
    const int size = element_size(), first = npu();
    const auto compact = [&](const Extents& extents, Use use) {
      return place(true, extents, reference::compact(device.chip(), first, extents), size, use, first, false);
    };
    const auto dst = to_local ? compact(shape, Use::kWrite) : place(false, shape, size, Use::kWrite, false);
    const auto src = to_local ? place(false, source, size, Use::kRead, false) : compact(source, Use::kRead);
    if (!dst || !src) continue;
    ++i;
    scramble();
    const dim4 extent = to_dim4(shape);
    const data_type_t type = type_of_size(size);
    expect_accepted(
        [&] {
          if (to_local) {
            (swapped ? tpu_gdma_compact_nc_trans_S2L : tpu_gdma_compact_S2L)(dst->local(), src->system(), &extent,
                                                                             type);
          } else {
            (swapped ? tpu_gdma_compact_nc_trans_L2S : tpu_gdma_compact_L2S)(dst->system(), src->local(), &extent,
                                                                             type);
          }
        },
        "compact");
    reference::move(model, dst->array, shape, src->array, [&](const Extents& at) {
      return swapped ? Extents{at[1], at[0], at[2], at[3]} : at;
    });
    expect_equal("compact");
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, GdmaCopyTest, kMoveChips, chip_name);

}  // namespace
}  // namespace softtpu::gdma_copy_test
