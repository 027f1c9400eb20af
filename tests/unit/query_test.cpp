// What BM1684X answers about itself, about layouts, data types and its memories, against formulas and tables of this
// file.
#include <bit>
#include <limits>

#include "device/isa/op_names.hpp"
#include "tests/reference/elementwise.hpp"
#include "tests/unit/move_fixture.hpp"

namespace softtpu::query_test {
namespace {

class QueryTest : public MoveTest {
 protected:
  QueryTest() : MoveTest("bm1684x-23.05") {}

  // Runs the questions as a kernel, which has to succeed.
  void ask(const std::function<void()>& questions) {
    const LaunchOutcome outcome = device.run(questions);
    ASSERT_TRUE(outcome.ok) << outcome.text;
  }
  template <class Got, class Want>
  void check(Op op, const Got& got, const Want& want) {
    EXPECT_EQ(got, want) << info(op).name;
    device.oracle().confirm(op);
  }
};

TEST_F(QueryTest, SizesCountsAndStatesAreTheChips) {
  struct Fact {
    Op op;
    unsigned long long got, want;
  };
  std::vector<Fact> facts;
  ask([&] {
#define FACT(function, want) {Op::function, static_cast<unsigned long long>(function()), want}
    facts = {
        FACT(tpu_npu_num, 64),
        FACT(tpu_bank_num, 16),
        FACT(tpu_local_mem_size_per_npu, 262144),
        FACT(tpu_l2_sram_size, 2097152),
        FACT(tpu_l2_sram_get_start_addr, 0x10000000),
        FACT(tpu_global_mem_get_start_addr, 0x100000000),
        FACT(tpu_local_mem_get_start_addr, 0x08000000),
        FACT(tpu_static_mem_get_start_addr, 0x09000000),
        FACT(tpu_gdma_move_max_wstride_byte_len, 128),
        FACT(tpu_cache_line_size, 64),
        // One core that runs one work item of one group, on one chip.
        FACT(tpu_core_num, 1),
        FACT(tpu_core_index, 0),
        FACT(tpu_workitem_num, 1),
        FACT(tpu_workitem_index, 0),
        FACT(tpu_group_num, 1),
        FACT(tpu_group_index, 0),
        FACT(tpu_physical_core_num, 1),
        FACT(tpu_physical_core_id, 0),
        FACT(tpu_start_physical_core_id, 0),
        FACT(tpu_chip_num, 1),
        FACT(tpu_chip_id, 0),
        FACT(tpu_tpuv7_env, 0),
        // Commands are complete when their call returns.
        FACT(tpu_bdc_busy, 0),
        FACT(tpu_gdma_busy, 0),
        FACT(tpu_hau_sort_busy, 0),
        FACT(tpu_gdma_cmd_overflow, 0),
        FACT(tpu_hau_sort_cmd_overflow, 0),
    };
#undef FACT
    for (const int dim : {TENSOR_N_DIM, TENSOR_C_DIM, TENSOR_H_DIM, TENSOR_W_DIM})
      facts.push_back({Op::tpu_gdma_shape_limit, static_cast<unsigned long long>(tpu_gdma_shape_limit(dim)), 65535});
  });
  ASSERT_FALSE(facts.empty());
  for (const Fact& fact : facts) check(fact.op, fact.got, fact.want);
  check(Op::get_atomic_cmodel_assert_enable, get_atomic_cmodel_assert_enable(), 1);
  expect_refused([] { static_cast<void>(tpu_gdma_shape_limit(4)); }, "dim (4) is outside 0..3");
}

// ---- Layouts ----

std::vector<int> as_list(const dim4& d) { return {d.n, d.c, d.h, d.w}; }
int up(int value, int unit) { return (value + unit - 1) / unit * unit; }

TEST_F(QueryTest, StridesFollowTheFormulas) {
  for (int trial = 0; trial < 200; ++trial) {
    const dim4 shape = {between(1, 9), between(1, 300), between(1, 60), between(1, 60)};
    const dim5 deep = {shape.n, shape.c, between(1, 5), shape.h, shape.w};
    const int start = npu(), size = element_size(), units = 64 / size, plane = shape.h * shape.w;
    const int groups = (start + shape.c + 63) / 64, padded = up(plane, units), row = up(shape.w, units);
    const data_type_t type = type_of_size(size);
    dim4 aligned{}, compact{}, line{}, continuous{}, flat{};
    ask([&] {
      tpu_aligned_stride(&aligned, start, &shape, type);
      tpu_compact_stride(&compact, start, &shape);
      tpu_line_aligned_stride(&line, start, &shape, type);
      tpu_continuous_stride(&continuous, &shape);
      tpu_local_shape_5d_to_4d(&deep, &flat);
      check(Op::tpu_eu_num, tpu_eu_num(type), units);
      check(Op::tpu_channle_num_per_npu, tpu_channle_num_per_npu(start, shape.c), groups);
      check(Op::tpu_aligned_feature_size, tpu_aligned_feature_size(shape.h, shape.w, type), padded * size);
      check(Op::tpu_get_local_cstride, tpu_get_local_cstride(shape.h, shape.w, true, type), padded);
      check(Op::tpu_get_local_cstride, tpu_get_local_cstride(shape.h, shape.w, false, type), plane);
      check(Op::tpu_get_local_nstride, tpu_get_local_nstride(padded, shape.c, start), groups * padded);
      check(Op::tpu_get_local_size, tpu_get_local_size(&shape, type, start, true), shape.n * groups * padded * size);
      check(Op::tpu_get_local_size, tpu_get_local_size(&shape, type, start, false), shape.n * groups * plane * size);
    });
    check(Op::tpu_aligned_stride, as_list(aligned), (std::vector<int>{groups * padded, padded, shape.w, 1}));
    check(Op::tpu_compact_stride, as_list(compact), (std::vector<int>{groups * plane, plane, shape.w, 1}));
    check(Op::tpu_line_aligned_stride, as_list(line),
          (std::vector<int>{groups * shape.h * row, shape.h * row, row, 1}));
    check(Op::tpu_continuous_stride, as_list(continuous), (std::vector<int>{shape.c * plane, plane, shape.w, 1}));
    check(Op::tpu_local_shape_5d_to_4d, as_list(flat), (std::vector<int>{deep.n * deep.d, deep.c, deep.h, deep.w}));
    if (HasFailure()) return;
  }
}

TEST_F(QueryTest, AddressesNameNpusAndBanks) {
  for (int trial = 0; trial < 200; ++trial) {
    const int first = npu(), offset = between(0, 262143), bytes = between(1, 262144 - offset);
    const auto addr = static_cast<local_addr_t>(unified(first, offset));
    const int c = between(0, 300), stride = between(1, 500), size = element_size();
    const data_type_t type = type_of_size(size);
    std::vector<range_t> ranges(static_cast<std::size_t>(between(2, 4)));
    for (range_t& range : ranges) {
      range.start = between(0, 40);
      range.end = range.start + between(0, 6);
    }
    const auto meet = [](const range_t& a, const range_t& b) {
      for (int i = a.start; i <= a.end; ++i) {
        if (i >= b.start && i <= b.end) return true;
      }
      return false;
    };
    bool any = false;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) any = any || meet(ranges[i], ranges[j]);
    }
    ask([&] {
      check(Op::tpu_npu_index, tpu_npu_index(addr), first);
      check(Op::tpu_bank_index, tpu_bank_index(addr), offset / 16384);
      const range_t banks = tpu_bank_range(addr, bytes);
      check(Op::tpu_bank_range, (std::pair{banks.start, banks.end}),
            (std::pair{offset / 16384, (offset + bytes - 1) / 16384}));
      check(Op::tpu_range_overlapped, tpu_range_overlapped(&ranges[0], &ranges[1]), meet(ranges[0], ranges[1]));
      check(Op::tpu_any_range_overlapped, tpu_any_range_overlapped(ranges.data(), static_cast<int>(ranges.size())),
            any);
      check(Op::tpu_npu_c_offset, tpu_npu_c_offset(c, stride, type), c / 64 * stride * size);
      check(Op::tpu_unified_c_offset, tpu_unified_c_offset(c, stride, type), c % 64 * 262144 + c / 64 * stride * size);
    });
    if (HasFailure()) return;
  }
}

// ---- Data types ----

struct TypeFacts {
  data_type_t code;
  int bits;
  bool is_signed, is_float;
};
constexpr TypeFacts kTypeFacts[] = {
    {DT_INT4, 4, true, false},   {DT_UINT4, 4, false, false},   {DT_INT8, 8, true, false},
    {DT_UINT8, 8, false, false}, {DT_INT16, 16, true, false},   {DT_UINT16, 16, false, false},
    {DT_INT32, 32, true, false}, {DT_UINT32, 32, false, false}, {DT_FP16, 16, true, true},
    {DT_BFP16, 16, true, true},  {DT_FP32, 32, true, true},
};

TEST_F(QueryTest, DataTypesHaveASizeASignAndAKind) {
  for (const TypeFacts& type : kTypeFacts) {
    const bool integer = !type.is_float;
    ask([&] {
      check(Op::tpu_is_data_type_signed, tpu_is_data_type_signed(type.code), type.is_signed);
      check(Op::tpu_is_data_type_int, tpu_is_data_type_int(type.code), integer);
      check(Op::tpu_is_data_type_int4, tpu_is_data_type_int4(type.code), integer && type.bits == 4);
      check(Op::tpu_is_data_type_int8, tpu_is_data_type_int8(type.code), integer && type.bits == 8);
      check(Op::tpu_is_data_type_int16, tpu_is_data_type_int16(type.code), integer && type.bits == 16);
      check(Op::tpu_is_data_type_int32, tpu_is_data_type_int32(type.code), integer && type.bits == 32);
      check(Op::tpu_is_data_type_signed_int, tpu_is_data_type_signed_int(type.code), integer && type.is_signed);
      check(Op::tpu_is_data_type_unsigned_int, tpu_is_data_type_unsigned_int(type.code), integer && !type.is_signed);
      check(Op::tpu_is_data_type_fp, tpu_is_data_type_fp(type.code), type.is_float);
      check(Op::tpu_is_data_type_fp8, tpu_is_data_type_fp8(type.code), false);
      check(Op::tpu_data_type_bits, tpu_data_type_bits(type.code), type.bits);
      if (type.bits >= 8) check(Op::tpu_data_type_size, tpu_data_type_size(type.code), type.bits / 8);
    });
  }
  expect_refused([] { static_cast<void>(tpu_data_type_size(DT_INT4)); }, "4-bit types have no size in bytes");
  // Comparisons with the numbers of types have an answer for every number (numerics newer-rules.md: 33), others do not.
  constexpr auto kNoType = static_cast<data_type_t>(33);
  ask([&] {
    check(Op::tpu_is_data_type_int4, tpu_is_data_type_int4(kNoType), false);
    check(Op::tpu_is_data_type_int8, tpu_is_data_type_int8(kNoType), false);
    check(Op::tpu_is_data_type_int16, tpu_is_data_type_int16(kNoType), false);
    check(Op::tpu_is_data_type_int32, tpu_is_data_type_int32(kNoType), false);
  });
  expect_refused([] { static_cast<void>(tpu_is_data_type_signed(kNoType)); }, "dtype (33) is not a data type");
}

// Random bits of any type, rounded in any mode, into any type that the chip converts it to.
TEST_F(QueryTest, SingleValuesAreConverted) {
  for (int trial = 0; trial < 3000 && !HasFailure(); ++trial) {
    const TypeFacts& from = kTypeFacts[between(2, 10)];
    const TypeFacts& to = kTypeFacts[between(2, 10)];
    const int mode = between(0, 6);
    const bool halves = from.is_float && to.is_float && from.bits == 16 && to.bits == 16 && from.code != to.code;
    if (halves || (from.is_float && !to.is_float && mode >= 5)) continue;
    scalar_t value;
    value.u32 = static_cast<u32>(random());
    if (coin() && from.code == DT_FP32) value.f32 = static_cast<float>(between(-70000, 70000)) / 8;
    if (from.bits < 32) value.u32 &= (1U << from.bits) - 1;
    // The result of a value that rounds in no direction does not depend on the mode.
    const bool whole = !from.is_float && !to.is_float;
    const auto rounding = static_cast<rounding_mode_t>(mode);
    const std::uint32_t want = reference::convert(value.u32, static_cast<Dtype>(to.code), static_cast<Dtype>(from.code),
                                                  static_cast<Rounding>(mode));
    const std::uint32_t mask = to.bits == 32 ? ~0U : (1U << to.bits) - 1;
    ask([&] {
      const auto same = [&](Op op, scalar_t got) {
        EXPECT_EQ(got.u32 & mask, want & mask) << info(op).name << " of 0x" << std::hex << value.u32 << ", "
                                               << from.code << " to " << to.code << ", mode " << mode;
        device.oracle().confirm(op);
      };
      same(Op::tpu_cast, tpu_cast(value, to.code, from.code, rounding));
      if (whole) same(Op::tpu_int_cast, tpu_int_cast(value, to.code, from.code));
      if (from.is_float && to.is_float) same(Op::tpu_fp_cast, tpu_fp_cast(value, to.code, from.code, rounding));
      if (from.is_float && !to.is_float)
        same(Op::tpu_fp_to_int_cast, tpu_fp_to_int_cast(value, to.code, from.code, rounding));
      if (!from.is_float && to.is_float)
        same(Op::tpu_int_to_fp_cast, tpu_int_to_fp_cast(value, to.code, from.code, rounding));
    });
  }
}

// ---- The kernel's own view of the memories ----

// What a kernel stores through a pointer is what GDMA reads at that address.
TEST_F(QueryTest, PointersReachTheMemories) {
  const dim4 one = {1, 1, 1, 1};
  for (int trial = 0; trial < 32; ++trial) {
    const auto word = 4U * static_cast<unsigned>(between(0, 50000));
    const int lane = npu();
    const auto bits = static_cast<std::uint32_t>(random());
    bool seen[4] = {};
    ask([&] {
      const struct {
        std::uint64_t addr;
        void* bytes;
      } places[] = {
          {device.scratch(word), tpu_global_mem_addr(device.scratch(word))},
          {tpu_l2_sram_get_start_addr() + word, tpu_l2_sram_addr(tpu_l2_sram_get_start_addr() + word)},
          {tpu_local_mem_get_start_addr() + unified(lane, static_cast<int>(word)), tpu_local_mem_addr(lane, word)},
          {tpu_local_mem_get_start_addr() + unified(lane, static_cast<int>(word)),
           tpu_local_mem_addr_unified(static_cast<local_addr_t>(unified(lane, static_cast<int>(word))))},
      };
      for (unsigned i = 0; i < 4; ++i) {
        const std::uint32_t value = bits + i;
        std::memcpy(places[i].bytes, &value, sizeof value);
        tpu_flush_cache(places[i].addr, 4);
        tpu_gdma_cpy_S2L(0, places[i].addr, &one, nullptr, nullptr, DT_FP32);
        tpu_invalidate_cache(places[i].addr, 4);
        seen[i] = std::memcmp(tpu_local_mem_addr(0, 0), &value, sizeof value) == 0;
      }
    });
    device.oracle().forget();
    const Op functions[] = {Op::tpu_global_mem_addr, Op::tpu_l2_sram_addr, Op::tpu_local_mem_addr,
                            Op::tpu_local_mem_addr_unified};
    for (int i = 0; i < 4; ++i) check(functions[i], seen[i], true);
    check(Op::tpu_flush_cache, seen[0], true);
    check(Op::tpu_invalidate_cache, seen[0], true);
  }
  expect_refused([] { tpu_local_mem_addr(64, 0); }, "NPU index (64) is outside 0..63");
  expect_refused([] { tpu_local_mem_addr(0, 262144); }, "offset (0x40000) is outside an NPU's local memory");
  expect_refused([] { tpu_local_mem_addr_unified(64 * 262144); }, "lies beyond local memory");
  expect_refused([] { tpu_l2_sram_addr(0x10200000); }, "is outside L2 SRAM");
}

TEST_F(QueryTest, MemoryHelpersMoveAndFillBytes) {
  for (int trial = 0; trial < 40; ++trial) {
    const auto count = static_cast<std::size_t>(between(0, 300));
    scramble();
    const int fill = between(-200, 300);
    auto* bytes = device.global<std::uint8_t>(device.scratch());
    ask([&] {
      check(Op::tpu_kernel_memcpy, tpu_kernel_memcpy(bytes + 1000, bytes + 8, count), static_cast<void*>(bytes + 1000));
      check(Op::tpu_kernel_memset, tpu_kernel_memset(bytes + 2000, fill, count), static_cast<void*>(bytes + 2000));
    });
    for (std::size_t i = 0; i < count; ++i) {
      model.global[1000 + i] = model.global[8 + i];
      model.global[2000 + i] = static_cast<std::uint8_t>(fill);
    }
    ASSERT_NO_FATAL_FAILURE(expect_equal("memory helpers"));
  }
  expect_refused([] { tpu_kernel_memcpy(nullptr, nullptr, 4); }, "dst or src is NULL");
  expect_refused([] { tpu_kernel_memset(nullptr, 0, 4); }, "dst is NULL");
}

TEST_F(QueryTest, TheMatrixUnitHasAShapeForEachType) {
  const auto shape_of = [&](int type) {
    const dim2 shape = tpu_cube_shape(static_cast<data_type_t>(type));
    return std::vector<int>{shape.h, shape.w};
  };
  ask([&] {
    for (int type = 0; type < 40; ++type) {
      const bool byte = type == DT_INT8 || type == DT_UINT8, half = type == DT_FP16 || type == DT_BFP16;
      check(Op::tpu_cube_shape, shape_of(type), (std::vector<int>{byte ? 64 : half ? 32 : 1, 4}));
    }
  });
}

}  // namespace
}  // namespace softtpu::query_test
