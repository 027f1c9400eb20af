// Compression by GDMA: the bytes against a plain writer of the documented form, the way back, the sizes; refusals.
#include "device/isa/op_names.hpp"
#include "tests/reference/packing.hpp"
#include "tests/unit/move_fixture.hpp"

namespace softtpu::gdma_compress_test {
namespace {

using reference::Array;
using reference::Extents;

class GdmaCompressTest : public ChipMoveTest {
 protected:
  // What a case compresses, and how.
  struct Case {
    dim4 shape;
    data_type_t type;
    reference::Packing rule;
    Array plain, copy;  // in local memory
    Extents extents() const { return {shape.n, shape.c, shape.h, shape.w}; }
  };
  // In slots of `room` bytes of local memory; free strides now and then.
  Case make() {
    const int size = element_size(), first = npu(), room = static_cast<int>(device.chip().local_bytes) / 2;
    while (true) {
      const dim4 shape{between(1, 2), between(1, small_chip() ? 6 : 70), between(1, 3), between(1, 9)};
      const Extents extents{shape.n, shape.c, shape.h, shape.w};
      reference::Strides stride = reference::aligned(device.chip(), first, extents, size);
      if (stride[0] * shape.n * size > room) continue;
      const reference::Packing rule{size, static_cast<std::uint8_t>(between(0, 255)),
                                    static_cast<std::uint8_t>(between(0, 255)), coin()};
      return {shape,
              type_of_size(size),
              rule,
              {true, unified(first, 0), size, stride},
              {true, unified(first, room), size, stride}};
    }
  }
  // Long runs of like values, or none at all.
  void put_values(const Case& made, int kind) {
    reference::each(made.extents(), [&](const Extents& at) {
      std::uint32_t value = 0;
      for (int byte = 0; byte < made.rule.size; ++byte) {
        const int drawn = kind == 0   ? between(0, 255)
                          : kind == 1 ? (between(0, 9) == 0 ? between(0, 255) : 0)
                                      : 120 + between(-3, 3);
        value |= static_cast<std::uint32_t>(drawn) << 8 * byte;
      }
      reference::store(model, made.plain, at, value);
    });
    write_back();
  }
  std::uint8_t* system(std::uint64_t offset) { return model.global.data() + offset; }
  std::vector<std::uint8_t> row_bytes(const Case& made, int n, int c, int h) {
    std::vector<std::uint8_t> bytes;
    for (int w = 0; w < made.shape.w; ++w) {
      const std::uint8_t* element = reference::element(model, made.plain, {n, c, h, w});
      bytes.insert(bytes.end(), element, element + made.rule.size);
    }
    return bytes;
  }
  void expand(const Case& made) {
    reference::move(model, made.copy, made.extents(), made.plain, [](const Extents& at) { return at; });
  }
};

TEST_P(GdmaCompressTest, StreamsAreWhatTheFormSays) {
  for (int i = 0; i < 3 * cases() && !HasFatalFailure(); ++i) {
    const Case made = make();
    scramble();
    put_values(made, i % 3);
    const std::uint64_t packed = device.scratch();
    const auto from = static_cast<local_addr_t>(made.plain.addr), to = static_cast<local_addr_t>(made.copy.addr);
    int bound = 0;
    expect_accepted(
        [&] {
          tpu_gdma_compress_normal_L2S(packed, from, &made.shape, nullptr, made.type, made.rule.bias0, made.rule.bias1,
                                       made.rule.guard);
          tpu_gdma_decompress_normal_S2L(to, packed, &made.shape, nullptr, made.type, made.rule.bias0, made.rule.bias1,
                                         made.rule.guard);
          bound = tpu_gdma_compress_normal_max_bytes(&made.shape, made.type, made.rule.guard);
        },
        "compress_normal");
    std::vector<std::uint8_t> bytes;
    reference::each({made.shape.n, made.shape.c, made.shape.h, 1}, [&](const Extents& at) {
      const auto row = row_bytes(made, at[0], at[1], at[2]);
      bytes.insert(bytes.end(), row.begin(), row.end());
    });
    const std::vector<std::uint8_t> stream = reference::stream(bytes, made.rule);
    std::memcpy(system(0), stream.data(), stream.size());
    expand(made);
    expect_equal("compress_normal");
    ASSERT_EQ(bound, 16 + reference::largest_packed(bytes.size(), made.rule.size));
    ASSERT_LE(stream.size(), static_cast<std::size_t>(bound));
    device.oracle().confirm(Op::tpu_gdma_compress_normal_max_bytes);
  }
}

TEST_P(GdmaCompressTest, UnitsAreWhatTheFormSays) {
  for (int i = 0; i < 3 * cases() && !HasFatalFailure(); ++i) {
    const Case made = make();
    scramble();
    put_values(made, i % 3);
    const std::uint64_t packed = device.scratch(), meta = packed + 49152;
    const auto from = static_cast<local_addr_t>(made.plain.addr), to = static_cast<local_addr_t>(made.copy.addr);
    // Slots as large as the largest code, or larger ones of the caller's own.
    const int slot =
        (reference::largest_packed(static_cast<std::size_t>(made.shape.w * made.rule.size), made.rule.size) + 15) / 16 *
        16;
    const int pitch = slot + (coin() ? 16 : 0);
    const dim4 slots{made.shape.c * made.shape.h * pitch, made.shape.h * pitch, pitch, 1};
    const dim4* given = pitch != slot ? &slots : nullptr;
    int packed_bytes = 0, meta_bytes = 0;
    dim4 packed_stride{}, meta_stride{};
    expect_accepted(
        [&] {
          tpu_gdma_compress_RACU_L2S(packed, meta, from, &made.shape, given, nullptr, nullptr, made.type,
                                     made.rule.bias0, made.rule.bias1, made.rule.guard);
          tpu_gdma_decompress_RACU_S2L(to, packed, meta, &made.shape, nullptr, given, nullptr, made.type,
                                       made.rule.bias0, made.rule.bias1, made.rule.guard);
          packed_bytes = tpu_gdma_compress_RACU_max_racu_bytes(&made.shape, made.type, made.rule.guard);
          meta_bytes = tpu_gdma_compress_RACU_max_meta_bytes(&made.shape, made.type);
          packed_stride = tpu_gdma_compress_RACU_racu_stride(&made.shape, made.type, made.rule.guard);
          meta_stride = tpu_gdma_compress_RACU_meta_stride(&made.shape, made.type);
        },
        "compress_RACU");
    std::size_t unit = 0;
    reference::each({made.shape.n, made.shape.c, made.shape.h, 1}, [&](const Extents& at) {
      const auto code = reference::packed(row_bytes(made, at[0], at[1], at[2]), made.rule);
      std::memcpy(system(unit * static_cast<std::size_t>(pitch)), code.data(), code.size());
      const auto length = static_cast<std::uint32_t>(code.size());
      std::memcpy(system(49152 + 4 * unit++), &length, 4);
    });
    expand(made);
    expect_equal("compress_RACU");
    const int units = made.shape.n * made.shape.c * made.shape.h;
    ASSERT_EQ(packed_bytes, units * slot);
    ASSERT_EQ(meta_bytes, units * 4);
    ASSERT_EQ(packed_stride.n, made.shape.c * made.shape.h * slot);
    ASSERT_EQ(packed_stride.c, made.shape.h * slot);
    ASSERT_EQ(packed_stride.h, slot);
    ASSERT_EQ(meta_stride.n, made.shape.c * made.shape.h);
    ASSERT_EQ(meta_stride.c, made.shape.h);
    for (const Op op : {Op::tpu_gdma_compress_RACU_max_racu_bytes, Op::tpu_gdma_compress_RACU_max_meta_bytes,
                        Op::tpu_gdma_compress_RACU_racu_stride, Op::tpu_gdma_compress_RACU_meta_stride})
      device.oracle().confirm(op);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, GdmaCompressTest, kMoveChips, chip_name);

class GdmaCompressLimits : public MoveTest {
 protected:
  void put_noise() {
    for (std::size_t i = 0; i < device.chip().local_mem.bytes; ++i) {
      device.memories().local(0)[i] = static_cast<std::uint8_t>(between(0, 255));
    }
  }
};

TEST_F(GdmaCompressLimits, LikeValuesBecomeSmall) {
  const dim4 shape{1, 4, 1, 256};
  std::memset(device.memories().local(0), 7, device.chip().local_mem.bytes);
  expect_accepted([&] { tpu_gdma_compress_normal_L2S(device.scratch(), 0, &shape, nullptr, DT_UINT8, 7, 7, false); },
                  "compress");
  // Header, then one width byte for each 64 elements and no codes.
  EXPECT_EQ(device.global<std::uint32_t>(device.scratch())[2], 16U);
}

TEST_F(GdmaCompressLimits, RefusesWhatItDidNotWrite) {
  const dim4 shape{1, 4, 2, 9};
  put_noise();
  const std::uint64_t packed = device.scratch(), meta = packed + 32768;
  expect_accepted(
      [&] {
        tpu_gdma_compress_normal_L2S(packed, 0, &shape, nullptr, DT_FP16, 3, 5, true);
        for (const std::uint64_t at : {packed + 8192, packed + 4096}) {
          tpu_gdma_compress_RACU_L2S(at, meta, 0, &shape, nullptr, nullptr, nullptr, DT_FP16, 3, 5, true);
          tpu_gdma_decompress_RACU_S2L(1024, at, meta, &shape, nullptr, nullptr, nullptr, DT_FP16, 3, 5, true);
        }
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
}  // namespace softtpu::gdma_compress_test
