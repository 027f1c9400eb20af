// Random operands of GDMA functions in local and system memory.
#pragma once

#include <optional>

#include "tests/unit/move_fixture.hpp"

namespace softtpu {

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

// What a copy allows: tensors within one span of NPUs, strides of its own.
struct CopyRules {
  bool one_span = false, free_strides = true;
};

class GdmaTest : public ChipMoveTest {
 protected:
  enum class Use { kRead, kWrite };

  Extents small_shape() { return {between(1, 3), channels(), between(1, 4), between(1, 6)}; }

  // Strides that leave gaps; when reading, some repeat.
  Strides free_stride(bool local, int first_npu, const Extents& shape, Use use) {
    const int groups = local ? (first_npu + shape[1] + device.chip().npu_num - 1) / device.chip().npu_num : shape[1];
    const std::int64_t row = shape[3] + between(0, 3);
    const std::int64_t feature = row * shape[2] + between(0, 3);
    Strides stride{feature * groups + between(0, 4), feature, row, 1};
    if (use == Use::kRead && coin()) stride[static_cast<std::size_t>(between(0, 2))] = 0;
    return stride;
  }

  // Reading uses the lower half of a memory, writing the upper half, so that sides never overlap. nullopt: no room.
  std::optional<Side> place(bool local, const Extents& shape, const Strides& natural, int size, Use use, int first_npu,
                            bool may_be_free) {
    const int half = local ? static_cast<int>(device.chip().local_bytes) / 2 : static_cast<int>(kWindow) / 2;
    Side side{{local, 0, size, natural}, std::nullopt};
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
  std::optional<Side> place(bool local, const Extents& shape, int size, Use use, bool may_be_free = true) {
    const int first_npu = local ? npu() : 0;
    const Strides natural =
        local ? reference::aligned(device.chip(), first_npu, shape, size) : reference::continuous(shape);
    return place(local, shape, natural, size, use, first_npu, may_be_free);
  }

  using Map = std::function<Extents(const Extents&)>;
  using Call = std::function<void(const Side& dst, const Side& src, const dim4& shape, data_type_t type)>;

  // Random calls of one function against dst(at) = src(map(at)).
  void check(const std::string& what, bool dst_local, bool src_local, const Map& map, const Call& call,
             const std::function<Extents(const Extents&)>& source_shape, const CopyRules& rules = {}) {
    int done = 0;
    for (int attempt = 0; done < cases() && attempt < 4000; ++attempt) {
      Extents shape = small_shape();
      const int size = element_size();
      if (rules.one_span) shape[1] = between(1, device.chip().npu_num);
      const auto dst = place(dst_local, shape, size, Use::kWrite, rules.free_strides);
      const auto src = place(src_local, source_shape(shape), size, Use::kRead, rules.free_strides);
      if (!dst || !src) continue;
      const auto first_npu = static_cast<int>(dst->array.addr / device.chip().local_bytes);
      if (rules.one_span && first_npu + shape[1] > device.chip().npu_num) continue;
      ++done;
      scramble();
      const dim4 c_shape = to_dim4(shape);
      const data_type_t type = type_of_size(size);
      expect_accepted([&] { call(*dst, *src, c_shape, type); }, what);
      reference::move(model, dst->array, shape, src->array, map);
      expect_equal(what);
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(done, cases()) << what;
  }
};

inline Extents same_shape(const Extents& shape) { return shape; }

}  // namespace softtpu
