// Random GDMA moves of matrices, vectors and blocks, and fills, against the plain reference.
#include "tests/unit/gdma_fixture.hpp"

namespace softtpu::gdma_block_test {
namespace {

class GdmaBlockTest : public GdmaTest {};

TEST_P(GdmaBlockTest, MatricesSpreadOverChannels) {
  int done = 0;
  for (int attempt = 0; done < 4 * cases() && attempt < 4000; ++attempt) {
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
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(done, 4 * cases());
}

TEST_P(GdmaBlockTest, VectorsSpreadOverChannels) {
  for (int i = 0; i < 2 * cases();) {
    const int length = between(1, 300), per_channel = between(1, 40);
    const int size = element_size();
    const bool to_local = coin();
    const Extents tensor{1, (length + per_channel - 1) / per_channel, 1, per_channel};
    const auto local = place(true, tensor, size, to_local ? Use::kWrite : Use::kRead, false);
    if (!local) continue;
    ++i;
    scramble();
    const std::uint64_t address = device.scratch() + static_cast<unsigned>(between(0, 500) * size);
    const Array system{false, address, size, {0, 0, 0, 1}};
    const data_type_t type = type_of_size(size);
    expect_accepted(
        [&] {
          if (to_local) {
            tpu_gdma_vector_S2L(local->local(), address, length, per_channel, type);
          } else {
            tpu_gdma_vector_L2S(address, local->local(), length, per_channel, type);
          }
        },
        "vector");
    reference::each(Extents{1, 1, 1, length}, [&](const Extents& at) {
      const Extents spread{0, at[3] / per_channel, 0, at[3] % per_channel};
      if (to_local) reference::store(model, local->array, spread, reference::load(model, system, at));
      if (!to_local) reference::store(model, system, at, reference::load(model, local->array, spread));
    });
    expect_equal("vector");
    if (HasFatalFailure()) return;
  }
}

TEST_P(GdmaBlockTest, FillsWithAConstant) {
  for (int i = 0; i < 2 * cases();) {
    const bool to_local = coin();
    const Extents shape = small_shape();
    const int size = element_size(), first = to_local ? npu() : 0;
    // The start NPU does not count in the default n stride of the local function.
    const Strides natural = to_local ? reference::aligned(device.chip(), 0, shape, size) : reference::continuous(shape);
    const auto dst = place(to_local, shape, natural, size, Use::kWrite, first, true);
    if (!dst) continue;
    ++i;
    scramble();
    const dim4 extent = to_dim4(shape);
    scalar_t value;
    value.u32 = static_cast<u32>(random());
    const data_type_t type = type_of_size(size);
    expect_accepted(
        [&] {
          if (to_local) {
            tpu_gdma_set_C_local(dst->local(), value, &extent, dst->stride(), type);
          } else {
            tpu_gdma_set_C_system(dst->system(), value, &extent, dst->stride(), type);
          }
        },
        "set_C");
    reference::fill(model, dst->array, shape, value.u32);
    expect_equal("set_C");
    if (HasFatalFailure()) return;
  }
}

TEST_P(GdmaBlockTest, MovesAndFillsBlocks) {
  for (int i = 0; i < cases() && !HasFatalFailure(); ++i) {
    const int size = element_size();
    const data_type_t type = type_of_size(size);
    scalar_t value;
    value.u32 = static_cast<u32>(random());
    scramble();
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
    // To the same offset of some NPUs, given as an address in the window onto local memory.
    const int first = npu(), npus = between(1, device.chip().npu_num - first);
    const std::uint64_t to = unified(first, between(0, 16) * size);
    const int length = between(1, 200);
    expect_accepted(
        [&] {
          tpu_gdma_system_bcast(device.chip().local_mem.start + to, from, static_cast<unsigned>(length), npus, type);
        },
        "system_bcast");
    reference::move(model, {true, to, size, {0, length, length, 1}}, {1, npus, 1, length},
                    {false, from, size, {0, 0, 0, 1}}, [](const Extents& at) {
                      return Extents{0, 0, 0, at[3]};
                    });
    expect_equal("system_bcast");
  }
}

// A copy onto itself, one element further: every element has been overwritten when it is read.
TEST_P(GdmaBlockTest, OverlappingCopiesMoveElementByElement) {
  scramble();
  const dim4 shape{1, 1, 1, 9};
  expect_accepted([&] { tpu_gdma_cpy_S2S(device.scratch() + 4, device.scratch(), &shape, nullptr, nullptr, DT_FP32); },
                  "cpy_S2S");
  for (std::size_t i = 1; i <= 9; ++i) std::memcpy(model.global.data() + 4 * i, model.global.data(), 4);
  expect_equal("an overlapping copy");
}

INSTANTIATE_TEST_SUITE_P(Chips, GdmaBlockTest, kMoveChips, chip_name);

}  // namespace
}  // namespace softtpu::gdma_block_test
