// Random GDMA copies, fills and matrix moves against the plain reference, on the small chip (4 NPUs of 1 KiB) where
// every byte of memory can be compared; refusals; one thread and many.
#include <gtest/gtest.h>

#include <optional>

#include "device/memory/parallel.hpp"
#include "tests/unit/move_fixture.hpp"

namespace softtpu {
namespace {

using reference::Array;
using reference::Extents;
using reference::Strides;

// One operand of a call: where it lies, and the stride argument (nullptr for the layout of its side).
struct Side {
  Array array;
  std::optional<dim4> given;
  const dim4* stride() const { return given ? &*given : nullptr; }
  local_addr_t local() const { return static_cast<local_addr_t>(array.addr); }
  system_addr_t system() const { return array.addr; }
};

class GdmaCopyTest : public MoveTest {
 protected:
  enum class Use { kRead, kWrite };

  Extents small_shape() { return {between(1, 3), between(1, 9), between(1, 4), between(1, 6)}; }

  // Strides that leave gaps; when reading, some repeat.
  Strides free_stride(bool local, int first_npu, const Extents& shape, Use use) {
    const int groups = local ? (first_npu + shape[1] + device.chip().npu_num - 1) / device.chip().npu_num : shape[1];
    const std::int64_t row = shape[3] + between(0, 3);
    const std::int64_t feature = row * shape[2] + between(0, 3);
    Strides stride{feature * groups + between(0, 4), feature, row, 1};
    if (use == Use::kRead && coin()) stride[static_cast<std::size_t>(between(0, 2))] = 0;
    return stride;
  }

  // Reading uses the lower half of a memory, writing the upper half, so that sides never overlap.
  std::optional<Side> place(bool local, const Extents& shape, int size, Use use, bool may_be_free = true) {
    const int half = local ? static_cast<int>(device.chip().local_bytes) / 2 : static_cast<int>(kWindow) / 2;
    const int first_npu = local ? npu() : 0;
    Side side{{local, 0, size, {}}, std::nullopt};
    side.array.stride =
        local ? reference::aligned(device.chip(), first_npu, shape, size) : reference::continuous(shape);
    if (may_be_free && coin()) {
      side.array.stride = free_stride(local, first_npu, shape, use);
      side.given = to_dim4(side.array.stride);
    }
    const Strides& s = side.array.stride;
    const std::int64_t groups = local ? (first_npu + shape[1] - 1) / device.chip().npu_num : shape[1] - 1;
    const std::int64_t span =
        ((shape[0] - 1) * s[0] + groups * s[1] + (shape[2] - 1) * s[2] + (shape[3] - 1) * s[3] + 1) * size;
    if (span > half) return std::nullopt;
    const int offset = (use == Use::kWrite ? half : 0) + between(0, (half - static_cast<int>(span)) / size) * size;
    side.array.addr = local ? unified(first_npu, offset) : device.scratch() + static_cast<unsigned>(offset);
    return side;
  }

  using Map = std::function<Extents(const Extents&)>;
  using Call = std::function<void(const Side& dst, const Side& src, const dim4& shape, data_type_t type)>;

  // Random calls of one function against dst(at) = src(map(at)).
  void check(const std::string& what, bool dst_local, bool src_local, const Map& map, const Call& call,
             const std::function<Extents(const Extents&)>& source_shape, bool one_span = false) {
    int done = 0;
    for (int attempt = 0; done < 40 && attempt < 4000; ++attempt) {
      Extents shape = small_shape();
      const int size = element_size();
      if (one_span) shape[1] = between(1, device.chip().npu_num);
      auto dst = place(dst_local, shape, size, Use::kWrite);
      auto src = place(src_local, source_shape(shape), size, Use::kRead);
      if (!dst || !src) continue;
      if (one_span && dst->array.addr / device.chip().local_bytes + static_cast<unsigned>(shape[1]) >
                          static_cast<unsigned>(device.chip().npu_num)) {
        continue;
      }
      ++done;
      scramble();
      const dim4 c_shape = to_dim4(shape);
      const data_type_t type = type_of_size(size);
      expect_accepted([&] { call(*dst, *src, c_shape, type); }, what);
      reference::move(model, dst->array, shape, src->array, [&](const Extents& at) {
        const Extents from = map(at);
        return from;
      });
      shape_ = shape;
      expect_equal(what);
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(done, 40) << what;
  }

  Extents shape_{};
};

const auto kSame = [](const Extents& shape) { return shape; };

TEST_F(GdmaCopyTest, PlainCopiesInEveryDirection) {
  const auto map = [](const Extents& at) { return at; };
  check(
      "cpy_S2L", true, false, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_S2L(dst.local(), src.system(), &shape, dst.stride(), src.stride(), type);
      },
      kSame);
  check(
      "cpy_L2S", false, true, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_L2S(dst.system(), src.local(), &shape, dst.stride(), src.stride(), type);
      },
      kSame);
  check(
      "cpy_L2L", true, true, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_L2L(dst.local(), src.local(), &shape, dst.stride(), src.stride(), type);
      },
      kSame);
  check(
      "cpy_S2S", false, false, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_cpy_S2S(dst.system(), src.system(), &shape, dst.stride(), src.stride(), type);
      },
      kSame);
}

TEST_F(GdmaCopyTest, BatchesAndChannelsChangePlaces) {
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

TEST_F(GdmaCopyTest, ChannelsAndColumnsChangePlaces) {
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
}

TEST_F(GdmaCopyTest, OneChannelGoesToMany) {
  const auto map = [](const Extents& at) { return Extents{at[0], 0, at[2], at[3]}; };
  const auto source = [](const Extents& shape) { return Extents{shape[0], 1, shape[2], shape[3]}; };
  check(
      "channel_bcast_S2L", true, false, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_channel_bcast_S2L(dst.local(), src.system(), &shape, dst.stride(), src.stride(), type);
      },
      source, true);
  check(
      "channel_bcast_L2L", true, true, map,
      [](auto& dst, auto& src, auto& shape, auto type) {
        tpu_gdma_channel_bcast_L2L(dst.local(), src.local(), &shape, dst.stride(), src.stride(), type);
      },
      source, true);
}

TEST_F(GdmaCopyTest, ReversesOneDimension) {
  for (int axis = 0; axis < 4; ++axis) {
    int done = 0;
    while (done < 30) {
      const Extents shape = small_shape();
      const int size = element_size();
      const bool to_local = coin();
      const auto dst = place(to_local, shape, size, Use::kWrite);
      const auto src = place(!to_local, shape, size, Use::kRead);
      if (!dst || !src) continue;
      ++done;
      scramble();
      const dim4 c_shape = to_dim4(shape);
      const data_type_t type = type_of_size(size);
      expect_accepted(
          [&] {
            to_local
                ? tpu_gdma_reverse_S2L(dst->local(), src->system(), &c_shape, dst->stride(), src->stride(), axis, type)
                : tpu_gdma_reverse_L2S(dst->system(), src->local(), &c_shape, dst->stride(), src->stride(), axis, type);
          },
          "reverse");
      const auto turned = static_cast<std::size_t>(axis);
      reference::move(model, dst->array, shape, src->array, [&](Extents at) {
        at[turned] = shape[turned] - 1 - at[turned];
        return at;
      });
      expect_equal("reverse of axis " + std::to_string(axis));
    }
  }
  const dim4 shape{1, 1, 1, 1};
  expect_refused([&] { tpu_gdma_reverse_L2L(0, 0, &shape, nullptr, nullptr, 4, DT_INT8); },
                 "reverse_axis (4) is outside 0..3");
}

TEST_F(GdmaCopyTest, GeneralCopyKeepsTheOrderOfElements) {
  int done = 0;
  for (int attempt = 0; done < 60 && attempt < 4000; ++attempt) {
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
  const dim4 six{1, 1, 2, 3};
  const dim4 eight{1, 1, 2, 4};
  expect_refused([&] { tpu_gdma_general_cpy_S2L(0, device.scratch(), &six, &eight, nullptr, nullptr, DT_INT8); },
                 "differ in their number of elements (6 and 8)");
}

TEST_F(GdmaCopyTest, MatricesSpreadOverChannels) {
  int done = 0;
  for (int attempt = 0; done < 120 && attempt < 4000; ++attempt) {
    const int rows = between(1, 5);
    const int cols = between(1, 20);
    const int per_channel = between(1, 22);
    const int size = element_size();
    const bool transposed = coin();
    const bool to_local = coin();
    const Extents tensor{rows, (cols + per_channel - 1) / per_channel, 1, per_channel};
    auto local = place(true, tensor, size, to_local ? Use::kWrite : Use::kRead, false);
    if (!local) continue;
    ++done;
    scramble();
    const Extents matrix = transposed ? Extents{cols, 1, 1, rows} : Extents{rows, 1, 1, cols};
    const int row_stride = matrix[3] + between(0, 4);
    const std::uint64_t address = device.scratch() + static_cast<unsigned>((to_local ? 0 : kWindow / 2));
    const Array system{false, address, size, {row_stride, 0, 0, 1}};
    const data_type_t type = type_of_size(size);
    expect_accepted(
        [&] {
          if (transposed && to_local)
            tpu_gdma_matrix_trans_S2L(local->local(), address, cols, rows, per_channel, row_stride, type);
          if (transposed && !to_local)
            tpu_gdma_matrix_trans_L2S(address, local->local(), rows, cols, per_channel, row_stride, type);
          if (!transposed && to_local)
            tpu_gdma_matrix_S2L(local->local(), address, rows, cols, per_channel, row_stride, type);
          if (!transposed && !to_local)
            tpu_gdma_matrix_L2S(address, local->local(), rows, cols, per_channel, row_stride, type);
        },
        "matrix");
    reference::each(Extents{rows, 1, 1, cols}, [&](const Extents& at) {
      const Extents spread{at[0], at[3] / per_channel, 0, at[3] % per_channel};
      const Extents plain = transposed ? Extents{at[3], 0, 0, at[0]} : at;
      if (to_local) reference::store(model, local->array, spread, reference::load(model, system, plain));
      if (!to_local) reference::store(model, system, plain, reference::load(model, local->array, spread));
    });
    expect_equal("matrix");
  }
  EXPECT_EQ(done, 120);
}

TEST_F(GdmaCopyTest, FillsAndBlocks) {
  for (int i = 0; i < 60; ++i) {
    const Extents shape = small_shape();
    const int size = element_size();
    const auto dst = place(false, shape, size, Use::kWrite);
    if (!dst) continue;
    scramble();
    const dim4 c_shape = to_dim4(shape);
    scalar_t value;
    value.u32 = static_cast<u32>(random());
    const data_type_t type = type_of_size(size);
    expect_accepted([&] { tpu_gdma_set_C_system(dst->system(), value, &c_shape, dst->stride(), type); },
                    "set_C_system");
    reference::fill(model, dst->array, shape, value.u32);
    expect_equal("set_C_system");
    const auto count = static_cast<unsigned>(between(1, 500));
    const std::uint64_t from = device.scratch() + static_cast<unsigned>(between(0, 100) * size);
    expect_accepted([&] { tpu_gdma_system_cpy(device.scratch() + 256, from, count, type); }, "system_cpy");
    std::memmove(model.global.data() + 256, model.global.data() + (from - device.scratch()),
                 count * static_cast<unsigned>(size));
    expect_equal("system_cpy");
    expect_accepted([&] { tpu_gdma_system_set(device.scratch() + 512, value, count, type); }, "system_set");
    reference::fill(model, {false, device.scratch() + 512, size, {0, 0, 0, 1}}, {1, 1, 1, static_cast<int>(count)},
                    value.u32);
    expect_equal("system_set");
  }
}

TEST_F(GdmaCopyTest, BroadcastsABlockToTheSameOffsetOfNpus) {
  scramble();
  const std::uint64_t window = device.chip().local_mem.start;
  expect_accepted([&] { tpu_gdma_system_bcast(window + 64, device.scratch() + 32, 10, 4, DT_FP32); }, "system_bcast");
  reference::move(model, {true, 64, 4, {0, 10, 10, 1}}, {1, 4, 1, 10}, {false, device.scratch() + 32, 4, {0, 0, 0, 1}},
                  [](const Extents& at) {
                    return Extents{0, 0, 0, at[3]};
                  });
  expect_equal("system_bcast");
  expect_refused([&] { tpu_gdma_system_bcast(device.scratch(), device.scratch() + 64, 4, 4, DT_FP32); },
                 "is outside local memory");
}

// A copy onto itself, one element further: every element has been overwritten when it is read.
TEST_F(GdmaCopyTest, OverlappingCopiesMoveElementByElement) {
  scramble();
  const dim4 shape{1, 1, 1, 9};
  expect_accepted([&] { tpu_gdma_cpy_S2S(device.scratch() + 4, device.scratch(), &shape, nullptr, nullptr, DT_FP32); },
                  "cpy_S2S");
  for (std::size_t i = 1; i <= 9; ++i) std::memcpy(model.global.data() + 4 * i, model.global.data(), 4);
  expect_equal("an overlapping copy");
}

TEST_F(GdmaCopyTest, RefusesAndChangesNothing) {
  const dim4 shape{1, 2, 3, 4};
  const std::uint64_t global = device.scratch();
  const auto cpy = [&](local_addr_t dst, system_addr_t src, dim4 extent, const dim4* ds, const dim4* ss,
                       data_type_t type) { return [=] { tpu_gdma_cpy_S2L(dst, src, &extent, ds, ss, type); }; };
  const dim4 wide{64, 32, 33, 33};
  const dim4 standing{12, 12, 4, 0};
  const dim4 negative{-12, 12, 4, 1};
  expect_refused([&] { tpu_gdma_cpy_S2L(0, global, nullptr, nullptr, nullptr, DT_FP32); },
                 "tpu_gdma_cpy_S2L: shape is NULL");
  expect_refused(cpy(0, global, {0, 1, 1, 1}, nullptr, nullptr, DT_FP32), "shape.n (0) is outside 1..65535");
  expect_refused(cpy(0, global, {1, 1, 1, 65536}, nullptr, nullptr, DT_INT8), "shape.w (65536) is outside 1..65535");
  expect_refused(cpy(0, global, {65535, 65535, 65535, 65535}, &shape, nullptr, DT_INT8), "more elements than");
  expect_refused(cpy(2, global, shape, nullptr, nullptr, DT_FP32),
                 "dst address (0x2) is not a multiple of the element size (4)");
  expect_refused(cpy(0, global + 1, shape, nullptr, nullptr, DT_FP16), "is not a multiple of the element size (2)");
  expect_refused(cpy(0, 0, shape, nullptr, nullptr, DT_FP32), "does not lie inside one memory");
  expect_refused(cpy(0, device.chip().static_mem.start, shape, nullptr, nullptr, DT_FP32),
                 "does not lie inside one memory");
  expect_refused(cpy(1020, global, shape, nullptr, nullptr, DT_FP32), "of an NPU's local memory (1024 bytes)");
  expect_refused(cpy(4096, global, shape, nullptr, nullptr, DT_FP32), "lies beyond local memory");
  expect_refused(cpy(0, global, shape, nullptr, &wide, DT_FP32), "src w stride (33 elements, 132 bytes)");
  expect_refused(cpy(0, global, shape, &standing, nullptr, DT_FP32), "dst w stride (0 elements, 0 bytes)");
  expect_refused(cpy(0, global, shape, nullptr, &negative, DT_FP32), "negative stride");
  expect_refused(cpy(0, global, shape, nullptr, nullptr, DT_INT4), "tpu_gdma_cpy_S2L: dst type is int4");
  expect_refused(cpy(0, global, shape, nullptr, nullptr, static_cast<data_type_t>(40)), "is not a data type");
  expect_refused([&] { tpu_gdma_cpy_cw_trans_S2L(0, global, &shape, nullptr, &wide, DT_FP32); },
                 "src w stride (33) must be 1");
  expect_refused([&] { tpu_gdma_channel_bcast_S2L(1024, global, &wide, nullptr, nullptr, DT_INT8); },
                 "is above the number of NPUs (4)");
  expect_refused([&] { tpu_gdma_matrix_S2L(0, global, 2, 3, 0, 3, DT_FP32); },
                 "columns per channel (0) must be positive");
  expect_refused([&] { tpu_gdma_matrix_L2S(global, 0, 2, 3, 3, 2, DT_FP32); },
                 "row stride (2) is below the columns of a row (3)");
  expect_refused([&] { tpu_gdma_vector_S2L(0, global, 0, 4, DT_FP32); }, "cols (0) is outside 1..65535");
  expect_refused([&] { tpu_gdma_system_cpy(global, global + 64, 0, DT_FP32); }, "shape.w (0) is outside");
  expect_refused([&] { tpu_gdma_system_cpy(global, global + 64, 0xFFFFFFFFU, DT_INT8); },
                 "count (4294967295) is above");
}

class GdmaThreadTest : public MoveTest {
 protected:
  GdmaThreadTest() : MoveTest("bm1684x") {}
  void TearDown() override { set_thread_limit(0); }
};

// Large enough for several threads: the same bytes with one.
TEST_F(GdmaThreadTest, OneThreadGivesTheBytesOfMany) {
  const dim4 shape{2, 100, 40, 61};
  const dim4 swapped{100, 2, 40, 61};
  const dim4 repeated{100 * 40 * 61, 40 * 61, 0, 1};
  const std::uint64_t from = device.scratch();
  const std::uint64_t to = device.scratch(8 << 20);
  const std::size_t bytes = std::size_t{2} * 100 * 40 * 61 * 4;
  for (std::size_t i = 0; i < bytes; i += 4)
    *device.global<std::uint32_t>(from + i) = static_cast<std::uint32_t>(random());
  const auto results = [&](int threads) {
    set_thread_limit(threads);
    expect_accepted(
        [&] {
          tpu_gdma_cpy_S2L(0, from, &shape, nullptr, &repeated, DT_FP16);
          tpu_gdma_cpy_nc_trans_L2S(to, 0, &swapped, nullptr, nullptr, DT_FP16);
          tpu_gdma_cpy_S2S(to + bytes, from, &shape, nullptr, nullptr, DT_FP32);
          tpu_gdma_cpy_cw_trans_S2S(to + 2 * bytes, from, &shape, nullptr, nullptr, DT_FP32);
          tpu_gdma_matrix_trans_L2S(to + 3 * bytes, 0, 200, 4000, 61, 200, DT_FP16);
        },
        "large copies");
    std::vector<std::uint8_t> result = device.local_bytes();
    const std::uint8_t* global = device.global<std::uint8_t>(to);
    result.insert(result.end(), global, global + 4 * bytes);
    std::fill_n(device.global<std::uint8_t>(to), 4 * bytes, std::uint8_t{0});
    return result;
  };
  EXPECT_TRUE(results(1) == results(0));
}

}  // namespace
}  // namespace softtpu
