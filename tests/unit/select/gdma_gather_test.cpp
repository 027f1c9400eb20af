// Random row moves by GDMA against the plain reference; refusals.
#include "tests/reference/chip_float.hpp"
#include "tests/unit/gdma_fixture.hpp"

namespace softtpu::gdma_gather_test {
namespace {

class GdmaGatherTest : public ChipMoveTest {
 protected:
  enum class Use { kRead, kReadIndex, kWrite };

  // One of three places in local memory, or 16 KiB apart in system memory; strides of its own, or those of its side.
  Side place(bool local, const Extents& shape, unsigned slot, int size, Use use) {
    const int first = local ? npu() : 0, room = local ? static_cast<int>(device.chip().local_bytes) / 4 : 16384;
    Side side{{local, 0, size, {}}, std::nullopt};
    side.array.addr =
        local ? unified(first, static_cast<int>(slot) * room) : device.scratch() + std::uint64_t{slot} * 16384;
    side.array.stride = local ? reference::aligned(device.chip(), first, shape, size) : reference::continuous(shape);
    const std::int64_t groups = local ? (first + shape[1] - 1) / device.chip().npu_num + 1 : shape[1];
    const std::int64_t row = use == Use::kReadIndex ? 1 : shape[3] + between(0, 3);
    std::int64_t feature = row * shape[2] + between(0, 5);
    if (coin() || groups * feature * size > room) return side;
    if (use != Use::kWrite && coin()) feature = 0;  // one row of parameters or indices for all channels
    side.array.stride = {feature * groups, feature, row, 1};
    side.given = to_dim4(side.array.stride);
    return side;
  }
  // Indices of which most lie in [start, start + extent).
  void put_indices(const Side& index, int channels, int count, int extent, std::uint32_t start) {
    reference::each({1, channels, count, 1}, [&](const Extents& at) {
      const auto inside = static_cast<std::uint32_t>(between(0, extent - 1)) + start;
      const std::uint32_t value = between(0, 5) == 0 ? static_cast<std::uint32_t>(random()) : inside;
      reference::store(model, index.array, at, value);
    });
    write_back();
  }

  struct Rows {
    int channels, rows, param_rows, width;
    bool scatter;
    int count() const { return scatter ? param_rows : rows; }
    int extent() const { return scatter ? rows : param_rows; }
    Extents output() const { return {1, channels, rows, width}; }
    Extents param() const { return {1, channels, param_rows, width}; }
    Extents index() const { return {1, channels, count(), 1}; }
  };
  Rows random_rows() {
    return {between(1, small_chip() ? 6 : 100), between(1, 5), between(1, 5), between(1, 6), coin()};
  }
  // What the call means: combine(old, new) is stored by a scatter.
  void apply(const Rows& rows, const Side& dst, const Side& param, const Side& index, std::uint32_t start,
             std::uint32_t fill, const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>& combine) {
    reference::each({1, rows.channels, rows.count(), rows.width}, [&](const Extents& at) {
      const std::uint32_t named = reference::load(model, index.array, {0, at[1], at[2], 0}) - start;
      const bool inside = named < static_cast<std::uint32_t>(rows.extent());
      const Extents other{0, at[1], static_cast<int>(named), at[3]};
      if (!rows.scatter) {
        reference::store(model, dst.array, at, inside ? reference::load(model, param.array, other) : fill);
      } else if (inside) {
        reference::store(model, dst.array, other,
                         combine(reference::load(model, dst.array, other), reference::load(model, param.array, at)));
      }
    });
  }
};

TEST_P(GdmaGatherTest, RowsByIndexInEveryDirection) {
  for (int i = 0; i < 8 * cases() && !HasFatalFailure(); ++i) {
    const Rows rows = random_rows();
    const int size = element_size();
    const bool to_local = coin(), from_local = coin(), at_local = coin();
    const Side dst = place(to_local, rows.output(), 2, size, Use::kWrite);
    const Side param = place(from_local, rows.param(), 0, size, Use::kRead);
    const Side index = place(at_local, rows.index(), 1, 4, Use::kReadIndex);
    scramble();
    put_indices(index, rows.channels, rows.count(), rows.extent(), 0);
    const dim4 shape = to_dim4(rows.output());
    const data_type_t type = type_of_size(size);
    const int height = rows.param_rows;
    const dim4 *ds = dst.stride(), *ps = param.stride(), *is = index.stride();
    const addr_t at = index.array.addr;
    scalar_t fill;
    fill.u32 = static_cast<u32>(random());
    expect_accepted(
        [&] {
          if (rows.scatter && to_local && from_local)
            tpu_gdma_h_scatter_L2L(dst.local(), param.local(), at, at_local, &shape, height, ds, ps, is, type);
          if (rows.scatter && to_local && !from_local)
            tpu_gdma_h_scatter_S2L(dst.local(), param.system(), at, at_local, &shape, height, ds, ps, is, type);
          if (rows.scatter && !to_local && from_local)
            tpu_gdma_h_scatter_L2S(dst.system(), param.local(), at, at_local, &shape, height, ds, ps, is, type);
          if (rows.scatter && !to_local && !from_local)
            tpu_gdma_h_scatter_S2S(dst.system(), param.system(), at, at_local, &shape, height, ds, ps, is, type);
          if (!rows.scatter && to_local && from_local)
            tpu_gdma_h_gather_L2L(dst.local(), param.local(), at, at_local, fill, &shape, height, ds, ps, is, type);
          if (!rows.scatter && to_local && !from_local)
            tpu_gdma_h_gather_S2L(dst.local(), param.system(), at, at_local, fill, &shape, height, ds, ps, is, type);
          if (!rows.scatter && !to_local && from_local)
            tpu_gdma_h_gather_L2S(dst.system(), param.local(), at, at_local, fill, &shape, height, ds, ps, is, type);
          if (!rows.scatter && !to_local && !from_local)
            tpu_gdma_h_gather_S2S(dst.system(), param.system(), at, at_local, fill, &shape, height, ds, ps, is, type);
        },
        "h_gather or h_scatter");
    apply(rows, dst, param, index, 0, fill.u32, [](std::uint32_t, std::uint32_t value) { return value; });
    expect_equal("h_gather or h_scatter");
  }
}

// Indices count from a start; a scatter may add to what is there, in the type of the elements.
TEST_P(GdmaGatherTest, ExtendedFormsCountFromAStartAndAdd) {
  constexpr data_type_t kTypes[] = {DT_FP32,  DT_FP16,   DT_BFP16, DT_INT32, DT_UINT32,
                                    DT_INT16, DT_UINT16, DT_INT8,  DT_UINT8};
  for (int i = 0; i < 4 * cases() && !HasFatalFailure(); ++i) {
    const Rows rows = random_rows();
    const data_type_t type = kTypes[between(0, 8)];
    const auto dtype = static_cast<Dtype>(type);
    const bool at_local = coin(), add = coin();
    const auto start = static_cast<std::uint32_t>(random());
    const Side dst = place(false, rows.output(), 2, size_of(dtype), Use::kWrite);
    const Side param = place(false, rows.param(), 0, size_of(dtype), Use::kRead);
    const Side index = place(at_local, rows.index(), 1, 4, Use::kReadIndex);
    scramble();
    put_indices(index, rows.channels, rows.count(), rows.extent(), start);
    const dim4 shape = to_dim4(rows.output());
    scalar_t fill;
    fill.u32 = static_cast<u32>(random());
    expect_accepted(
        [&] {
          if (rows.scatter) {
            tpu_gdma_h_scatter_S2S_ext(dst.system(), param.system(), index.array.addr, at_local, &shape,
                                       rows.param_rows, start, add, dst.stride(), param.stride(), index.stride(), type);
          } else {
            tpu_gdma_h_gather_S2S_ext(dst.system(), param.system(), index.array.addr, at_local, fill, &shape,
                                      rows.param_rows, start, dst.stride(), param.stride(), index.stride(), type);
          }
        },
        "extended form");
    apply(rows, dst, param, index, start, fill.u32, [&](std::uint32_t old, std::uint32_t value) {
      if (!add) return value;
      if (is_integer(dtype)) return old + value;
      return reference::stored(reference::add(reference::loaded(old, dtype), reference::loaded(value, dtype)), dtype);
    });
    expect_equal("extended form, type " + std::string(to_text(dtype)));
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, GdmaGatherTest, kMoveChips, chip_name);

class GdmaGatherLimits : public MoveTest {};

TEST_F(GdmaGatherLimits, RefusesAndChangesNothing) {
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

}  // namespace
}  // namespace softtpu::gdma_gather_test
