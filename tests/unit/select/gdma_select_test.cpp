// Random selections by GDMA against the plain reference; refusals.
#include <algorithm>

#include "device/isa/op_names.hpp"
#include "tests/unit/move_fixture.hpp"

namespace softtpu::gdma_select_test {
namespace {

using reference::Array;
using reference::Extents;

class GdmaSelectTest : public ChipMoveTest {};

enum class Selection : std::uint8_t { kMaskLocal, kMaskSystem, kMaskWithCount, kNonzeroLocal, kNonzeroSystem };

TEST_P(GdmaSelectTest, WritesWhatTheMaskKeepsAndCounts) {
  for (int i = 0; i < 5 * cases() && !HasFatalFailure(); ++i) {
    const auto form = static_cast<Selection>(i % 5);
    const bool positions = form >= Selection::kNonzeroLocal;
    const bool src_local = form == Selection::kMaskLocal || form == Selection::kNonzeroLocal;
    const Extents shape{between(1, 2), between(1, small_chip() ? 6 : 130), between(1, 3), between(1, 6)};
    const int size = element_size(), mask_size = element_size();
    const bool mask_local = coin();
    const int first = npu(), half = static_cast<int>(device.chip().local_bytes) / 2;
    const auto tensor = [&](bool local, int offset, std::uint64_t system, int bytes) {
      return Array{local, local ? unified(first, offset) : device.scratch() + system, bytes,
                   local ? reference::aligned(device.chip(), first, shape, bytes) : reference::continuous(shape)};
    };
    const Array src = tensor(src_local, 0, 32768, size), mask = tensor(mask_local, half, 49152, mask_size);
    scramble();
    const Array& chosen = positions ? src : mask;
    reference::each(shape, [&](const Extents& at) {
      reference::store(model, chosen, at, coin() ? 0 : static_cast<std::uint32_t>(random()));
    });
    write_back();
    const dim4 c_shape = to_dim4(shape);
    const data_type_t type = type_of_size(size);
    const data_type_t integer = size == 1 ? DT_INT8 : size == 2 ? DT_INT16 : DT_UINT32;
    const data_type_t mask_type = mask_size == 1 ? DT_UINT8 : mask_size == 2 ? DT_INT16 : DT_INT32;
    const auto base = static_cast<std::uint32_t>(random());
    const auto local = static_cast<local_addr_t>(src.addr);
    const global_addr_t to = device.scratch();
    unsigned count = 0, returned = 0;
    expect_accepted(
        [&] {
          switch (form) {
            case Selection::kMaskLocal:
              tpu_gdma_mask_select_L2S(to, local, mask.addr, mask_local, &c_shape, type, mask_type);
              break;
            case Selection::kMaskSystem:
              tpu_gdma_mask_select_S2S(to, src.addr, mask.addr, mask_local, &c_shape, type, mask_type);
              break;
            case Selection::kMaskWithCount:
              returned =
                  tpu_gdma_mask_select_S2S_with_ret(to, src.addr, mask.addr, mask_local, &c_shape, type, mask_type);
              break;
            case Selection::kNonzeroLocal: tpu_gdma_nonzero_L2S(to, local, &c_shape, integer, base); break;
            case Selection::kNonzeroSystem: tpu_gdma_nonzero_S2S(to, src.addr, &c_shape, integer, base); break;
          }
          count = tpu_gdma_get_filter_num();
        },
        "selection");
    int total = 0;
    std::uint32_t position = base;
    const Array dst{false, to, positions ? 4 : size, {0, 0, 0, 1}};
    reference::each(shape, [&](const Extents& at) {
      const std::uint32_t here = position++;
      if (reference::load(model, chosen, at) == 0) return;
      reference::store(model, dst, {0, 0, 0, total++}, positions ? here : reference::load(model, src, at));
    });
    ASSERT_EQ(count, static_cast<unsigned>(total));
    ASSERT_EQ(returned, form == Selection::kMaskWithCount ? count : 0U);
    device.oracle().confirm(Op::tpu_gdma_get_filter_num);
    expect_equal("selection");
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, GdmaSelectTest, kMoveChips, chip_name);

class GdmaSelectLimits : public MoveTest {};

// Longer than a piece, than a thread's part and than what is handled together; results over their own input.
TEST_F(GdmaSelectLimits, SelectsFromLargeTensors) {
  constexpr std::uint64_t kMega = 1 << 20;
  const std::uint64_t to = device.scratch(), from = to + 16 * kMega, mask = from + 16 * kMega;
  constexpr dim4 kShapes[] = {{1, 1, 1, 9001}, {1, 3, 1, 20000}, {2, 4, 37, 500}, {1, 64, 512, 64}, {3, 50, 80, 1}};
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    const dim4& shape = kShapes[i % 5];
    const auto count = static_cast<std::size_t>(shape.n) * static_cast<std::size_t>(shape.c) *
                       static_cast<std::size_t>(shape.h) * static_cast<std::size_t>(shape.w);
    const int size = element_size(), mask_size = element_size(), rarely = std::array{0, 1, 1, 300}[std::size_t(i % 4)];
    const bool positions = coin(), over_input = coin();
    const auto base = static_cast<std::uint32_t>(random());
    const std::uint64_t result = over_input ? (positions ? mask : from) : to;
    const int result_size = positions ? 4 : size;
    std::vector<std::uint8_t> values(count * 4), flags(count * 4, 0);
    for (std::uint8_t& byte : values) byte = static_cast<std::uint8_t>(random());
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t at = k * std::size_t(mask_size) + random() % std::size_t(mask_size);
      flags[at] = between(0, rarely) == 0 ? static_cast<std::uint8_t>(random() | 4U) : 0;
    }
    // Element by element, as the chip goes: a result may change what is read later.
    std::vector<std::uint8_t> want(count * 4, 0x5A);
    std::vector<std::uint8_t> source = values, chosen = flags;
    std::vector<std::uint8_t>& out = !over_input ? want : positions ? chosen : source;
    std::size_t total = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const auto* flag = chosen.data() + k * std::size_t(mask_size);
      if (std::all_of(flag, flag + mask_size, [](std::uint8_t byte) { return byte == 0; })) continue;
      const std::uint32_t position = base + static_cast<std::uint32_t>(k);
      const std::size_t at = total++ * std::size_t(result_size);
      if (at + std::size_t(result_size) > out.size()) out.resize(at + std::size_t(result_size));
      if (positions) {
        std::memcpy(out.data() + at, &position, 4);
      } else {
        std::memmove(out.data() + at, source.data() + k * std::size_t(size), std::size_t(size));
      }
    }
    const data_type_t type = type_of_size(size);
    const data_type_t mask_type = mask_size == 1 ? DT_UINT8 : mask_size == 2 ? DT_INT16 : DT_INT32;
    for (const int way : {0, 1, 2, 3}) {
      set_plain_kernels(way == 0);
      set_thread_limit(way < 2 ? 1 : 0);
      set_parallel_threshold(way == 3 ? 0 : kParallelSteps);
      std::memcpy(device.global<std::uint8_t>(from), values.data(), values.size());
      std::memcpy(device.global<std::uint8_t>(mask), flags.data(), flags.size());
      std::memset(device.global<std::uint8_t>(to), 0x5A, count * 4);
      unsigned found = 0;
      const LaunchOutcome outcome = device.run([&] {
        if (positions) {
          tpu_gdma_nonzero_S2S(result, mask, &shape, mask_type, base);
        } else {
          tpu_gdma_mask_select_S2S(result, from, mask, 0, &shape, type, mask_type);
        }
        found = tpu_gdma_get_filter_num();
      });
      ASSERT_TRUE(outcome.ok) << outcome.text;
      EXPECT_EQ(found, total);
      const std::size_t bytes = over_input ? total * std::size_t(result_size) : want.size();
      EXPECT_EQ(std::memcmp(device.global<std::uint8_t>(result), out.data(), bytes), 0)
          << "case " << i << ", way " << way << ", sizes " << size << " and " << mask_size << ", positions "
          << positions << ", over input " << over_input;
    }
  }
  set_plain_kernels(false);
  set_parallel_threshold(kParallelSteps);
  set_thread_limit(0);
}

// Only results are written, so the last bytes of memory are enough for one result; for two they are not.
TEST_F(GdmaSelectLimits, NeedsRoomForTheResultsOnly) {
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

TEST_F(GdmaSelectLimits, RefusesAndChangesNothing) {
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

}  // namespace
}  // namespace softtpu::gdma_select_test
