// GDMA selection and compression: random cases against the plain reference or the original bytes; refusals.
#include <gtest/gtest.h>

#include "tests/unit/move_fixture.hpp"

namespace softtpu {
namespace {

using reference::Array;
using reference::Extents;

class GdmaSelectTest : public MoveTest {};

TEST_F(GdmaSelectTest, WritesWhatTheMaskKeepsAndCounts) {
  for (int i = 0; i < 120; ++i) {
    const Extents shape{between(1, 2), between(1, 6), between(1, 3), between(1, 6)};
    const int size = element_size();
    const int mask_size = element_size();
    const bool src_local = coin();
    const bool mask_local = coin();
    const bool positions = coin();  // nonzero instead of mask_select
    const int first = npu();
    const Array src{src_local, src_local ? unified(first, 0) : device.scratch() + 32768, size,
                    src_local ? reference::aligned(device.chip(), first, shape, size) : reference::continuous(shape)};
    const Array mask{
        mask_local, mask_local ? unified(first, 512) : device.scratch() + 49152, mask_size,
        mask_local ? reference::aligned(device.chip(), first, shape, mask_size) : reference::continuous(shape)};
    scramble();
    const Array& chosen = positions ? src : mask;
    reference::each(shape, [&](const Extents& at) {
      if (coin()) reference::store(model, chosen, at, 0);
    });
    std::memcpy(device.memories().local(0), model.local.data(), model.local.size());
    std::memcpy(device.global<std::uint8_t>(device.scratch()), model.global.data(), kWindow);
    const dim4 c_shape = to_dim4(shape);
    const data_type_t integer = size == 1 ? DT_INT8 : size == 2 ? DT_INT16 : DT_UINT32;
    const data_type_t mask_type = mask_size == 1 ? DT_UINT8 : mask_size == 2 ? DT_INT16 : DT_INT32;
    const auto local = static_cast<local_addr_t>(src.addr);
    unsigned count = 0;
    expect_accepted(
        [&] {
          if (positions && src_local) tpu_gdma_nonzero_L2S(device.scratch(), local, &c_shape, integer, 0xFFFFFFFEU);
          if (positions && !src_local) tpu_gdma_nonzero_S2S(device.scratch(), src.addr, &c_shape, integer, 0xFFFFFFFEU);
          if (!positions && src_local)
            tpu_gdma_mask_select_L2S(device.scratch(), local, mask.addr, mask_local, &c_shape, type_of_size(size),
                                     mask_type);
          if (!positions && !src_local)
            tpu_gdma_mask_select_S2S(device.scratch(), src.addr, mask.addr, mask_local, &c_shape, type_of_size(size),
                                     mask_type);
          count = tpu_gdma_get_filter_num();
        },
        "selection");
    int total = 0;
    std::uint32_t position = 0xFFFFFFFEU;
    const Array dst{false, device.scratch(), positions ? 4 : size, {0, 0, 0, 1}};
    reference::each(shape, [&](const Extents& at) {
      const std::uint32_t here = position++;
      if (reference::load(model, chosen, at) == 0) return;
      reference::store(model, dst, {0, 0, 0, total++}, positions ? here : reference::load(model, src, at));
    });
    EXPECT_EQ(count, static_cast<unsigned>(total));
    expect_equal("selection");
    if (HasFatalFailure()) return;
  }
}

// Only results are written, so the last bytes of memory are enough for one result; for two they are not.
TEST_F(GdmaSelectTest, NeedsRoomForTheResultsOnly) {
  const dim4 shape{1, 1, 1, 8};
  const MemoryRange& global = device.chip().global_mem;
  const system_addr_t last = global.start + global.bytes - 4;
  std::memset(device.local<std::uint8_t>(0, 0), 0, 64);
  *device.local<std::uint8_t>(0, 5) = 1;
  expect_accepted([&] { tpu_gdma_nonzero_L2S(last, 0, &shape, DT_UINT8, 0); }, "nonzero");
  EXPECT_EQ(*device.global<std::uint32_t>(last), 5U);
  *device.local<std::uint8_t>(0, 6) = 1;
  expect_refused([&] { tpu_gdma_nonzero_L2S(last, 0, &shape, DT_UINT8, 0); }, "has no room for 2 results of 4 bytes");
}

TEST_F(GdmaSelectTest, RefusesAndChangesNothing) {
  const dim4 shape{1, 1, 1, 8};
  const std::uint64_t at = device.scratch();
  expect_refused([&] { tpu_gdma_nonzero_L2S(at, 0, &shape, DT_FP32, 0); }, "src type is fp32");
  expect_refused([&] { tpu_gdma_nonzero_L2S(at, 4, &shape, DT_UINT8, 0); }, "is not a multiple of 64");
  expect_refused([&] { tpu_gdma_nonzero_L2S(at + 2, 0, &shape, DT_UINT8, 0); }, "dst address");
  expect_refused([&] { tpu_gdma_mask_select_S2S(at, at + 64, 4, 1, &shape, DT_FP32, DT_UINT8); },
                 "mask address (0x4) is not a multiple of 64");
  expect_refused([&] { tpu_gdma_mask_select_S2S(at, at + 64, at + 128, 0, &shape, DT_FP32, DT_FP32); },
                 "mask type is fp32");
}

class GdmaCompressTest : public MoveTest {
 protected:
  // Local data with long runs of like values, or none at all.
  void put_values(int kind) {
    for (std::size_t i = 0; i < device.chip().local_mem.bytes; ++i) {
      const int value = kind == 0   ? between(0, 255)
                        : kind == 1 ? between(0, 9) == 0 ? between(0, 255) : 0
                                    : 120 + between(-3, 3);
      device.memories().local(0)[i] = static_cast<std::uint8_t>(value);
    }
  }
};

TEST_F(GdmaCompressTest, RoundTripIsExactAndBounded) {
  for (int i = 0; i < 120; ++i) {
    const dim4 shape{between(1, 2), between(1, 6), between(1, 3), between(1, 9)};
    const data_type_t type = type_of_size(element_size());
    const auto bias0 = static_cast<unsigned char>(between(0, 255)), bias1 = static_cast<unsigned char>(between(0, 255));
    const bool guard = coin();
    const bool units = coin();
    const auto from = static_cast<local_addr_t>(unified(npu(), 0)), to = static_cast<local_addr_t>(from + 512);
    const Extents extents{shape.n, shape.c, shape.h, shape.w};
    const int size = static_cast<int>(size_of(static_cast<Dtype>(type)));
    const reference::Strides stride = reference::aligned(device.chip(), static_cast<int>(from / 1024), extents, size);
    if (shape.n * stride[0] * size > 512) continue;  // source and copy share an NPU's 1024 bytes
    put_values(i % 3);
    const std::uint64_t packed = device.scratch(), meta = packed + 32768;
    int bytes = 0, meta_bytes = 0;
    std::memset(device.global<std::uint8_t>(packed), 0x5A, kWindow);
    std::vector<std::uint8_t> original = device.local_bytes();
    expect_accepted(
        [&] {
          if (units) {
            tpu_gdma_compress_RACU_L2S(packed, meta, from, &shape, nullptr, nullptr, nullptr, type, bias0, bias1,
                                       guard);
            tpu_gdma_decompress_RACU_S2L(to, packed, meta, &shape, nullptr, nullptr, nullptr, type, bias0, bias1,
                                         guard);
            bytes = tpu_gdma_compress_RACU_max_racu_bytes(&shape, type, guard);
            meta_bytes = tpu_gdma_compress_RACU_max_meta_bytes(&shape, type);
          } else {
            tpu_gdma_compress_normal_L2S(packed, from, &shape, nullptr, type, bias0, bias1, guard);
            tpu_gdma_decompress_normal_S2L(to, packed, &shape, nullptr, type, bias0, bias1, guard);
            bytes = tpu_gdma_compress_normal_max_bytes(&shape, type, guard);
          }
        },
        "compression");
    // The copy is what the plain move would have made.
    model.local = original;
    reference::move(model, {true, to, size, stride}, extents, {true, from, size, stride},
                    [](const Extents& at) { return at; });
    ASSERT_TRUE(model.local == device.local_bytes()) << "units " << units;
    const std::uint8_t* global = device.global<std::uint8_t>(packed);
    for (int at = bytes; at < 32768; ++at) ASSERT_EQ(global[at], 0x5A) << "beyond " << bytes << " bytes";
    for (int at = 32768 + meta_bytes; at < static_cast<int>(kWindow); ++at) ASSERT_EQ(global[at], 0x5A);
  }
}

TEST_F(GdmaCompressTest, LikeValuesBecomeSmall) {
  const dim4 shape{1, 4, 1, 256};
  std::memset(device.memories().local(0), 7, device.chip().local_mem.bytes);
  expect_accepted([&] { tpu_gdma_compress_normal_L2S(device.scratch(), 0, &shape, nullptr, DT_UINT8, 7, 7, false); },
                  "compress");
  // Header, then one width byte for each 64 elements and no codes.
  EXPECT_EQ(device.global<std::uint32_t>(device.scratch())[2], 16U);
}

TEST_F(GdmaCompressTest, RefusesWhatItDidNotWrite) {
  const dim4 shape{1, 4, 2, 9};
  put_values(0);
  const std::uint64_t packed = device.scratch(), meta = packed + 32768;
  expect_accepted(
      [&] {
        tpu_gdma_compress_normal_L2S(packed, 0, &shape, nullptr, DT_FP16, 3, 5, true);
        tpu_gdma_compress_RACU_L2S(packed + 4096, meta, 0, &shape, nullptr, nullptr, nullptr, DT_FP16, 3, 5, true);
      },
      "compress");
  const auto expand = [&](unsigned char bias, data_type_t type) {
    return [=] { tpu_gdma_decompress_normal_S2L(512, packed, &shape, nullptr, type, bias, 5, true); };
  };
  expect_refused(expand(4, DT_FP16), "does not hold a stream that was compressed with this shape");
  expect_refused(expand(3, DT_FP32), "does not hold a stream");
  device.global<std::uint8_t>(packed)[16] = 9;
  expect_refused(expand(3, DT_FP16), "is damaged");
  *device.global<std::uint32_t>(meta) += 1;
  expect_refused(
      [&] {
        tpu_gdma_decompress_RACU_S2L(512, packed + 4096, meta, &shape, nullptr, nullptr, nullptr, DT_FP16, 3, 5, true);
      },
      "unit n 0, c 0, h 0 is damaged");
  expect_refused([&] { static_cast<void>(tpu_gdma_compress_normal_max_bytes(nullptr, DT_FP16, true)); },
                 "shape is NULL");
}

}  // namespace
}  // namespace softtpu
