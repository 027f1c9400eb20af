// Copies across NPUs, transposes, broadcasts and sequences.
#include "tests/unit/elementwise_fixture.hpp"

namespace softtpu::move_test {
namespace {

constexpr Dtype kTypes[] = {Dtype::kFp32, Dtype::kFp16, Dtype::kInt8, Dtype::kUint16, Dtype::kInt32};

class Move : public TensorTest {};

std::size_t index_of(const Dim4& shape, int n, int c, int h, int w) {
  return static_cast<std::size_t>(((n * shape.c + c) * shape.h + h) * shape.w + w);
}

template <class Body>
void each(const Dim4& shape, Body body) {
  for (int n = 0; n < shape.n; ++n) {
    for (int c = 0; c < shape.c; ++c) {
      for (int h = 0; h < shape.h; ++h) {
        for (int w = 0; w < shape.w; ++w) body(n, c, h, w);
      }
    }
  }
}

TEST_F(Move, CopiesGoToOtherNpus) {
  for (int trial = 0; trial < 30; ++trial) {
    const Dtype type = pick(kTypes);
    const Dim4 shape = random_shape();
    const DeviceTensor src = made(type, shape, number(0, 63), 1);
    // Every third time the two overlap on other NPUs: the source is read completely before dst is written.
    const DeviceTensor dst = made(type, shape, number(0, 63), trial % 3 == 0 ? 1 : 0);
    const auto values = read(src);
    const dim4 c_shape = src.c_shape();
    expect_memory("cpy_cross_npu", [&] { tpu_bdc_cpy_cross_npu(at(dst), at(src), &c_shape, code(type)); },
                  {{dst, values}});
  }
}

TEST_F(Move, BroadcastsAndTransposes) {
  for (int trial = 0; trial < 30; ++trial) {
    const Dtype type = pick(kTypes);
    const Dim4 shape = {number(1, 3), number(1, 40), number(1, 4), number(1, 70)};
    const dim4 c_shape = {shape.n, shape.c, shape.h, shape.w};
    const DeviceTensor one = made(type, {shape.n, 1, shape.h, shape.w}, number(0, 63), 1);
    const DeviceTensor all = made(type, shape, number(0, 64 - shape.c), 0);
    const auto source = read(one);
    std::vector<std::uint32_t> want(static_cast<std::size_t>(shape.elements()));
    each(shape, [&](int n, int c, int h, int w) {
      want[index_of(shape, n, c, h, w)] = source[index_of(one.shape, n, 0, h, w)];
    });
    expect_memory("npu_bcast", [&] { tpu_bdc_npu_bcast(at(all), at(one), &c_shape, code(type)); }, {{all, want}});

    const Dim4 turned = {shape.n, shape.w, shape.h, shape.c};
    const bool cw = trial % 2 == 0;
    const DeviceTensor src = made(type, turned, cw ? 0 : number(0, 63), 1);
    DeviceTensor dst = made(type, shape, cw ? number(0, 63) : 0, 0);
    if (cw) {
      const std::int64_t row = 64 / size_of(type);
      dst.stride.h = (shape.w + row - 1) / row * row;
      dst.stride.c = shape.h * dst.stride.h;
      dst.stride.n = (dst.npu + shape.c + 63) / 64 * dst.stride.c;
    }
    const auto values = read(src);
    each(shape,
         [&](int n, int c, int h, int w) { want[index_of(shape, n, c, h, w)] = values[index_of(turned, n, w, h, c)]; });
    const auto function = cw ? tpu_bdc_cw_trans : tpu_bdc_wc_trans;
    expect_memory(cw ? "cw_trans" : "wc_trans", [&] { function(at(dst), at(src), &c_shape, code(type)); },
                  {{dst, want}});
  }
}

TEST_F(Move, StaticMemoryAndSequences) {
  const int length = 50;
  const DeviceTensor rows = made(Dtype::kInt32, {1, 7, 1, length}, 3, 0);
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i);
  const auto repeated = [&](const std::vector<std::uint32_t>& row) {
    std::vector<std::uint32_t> all;
    for (int c = 0; c < 7; ++c) all.insert(all.end(), row.begin(), row.end());
    return all;
  };
  // Static memory holds the integers from 0 at 0x5C0.
  expect_memory("bcast_from_static", [&] { tpu_bdc_npu_bcast_from_static(at(rows), 0x5C0, 7, length, DT_INT32); },
                {{rows, repeated(numbers)}});
  expect_memory("the same by system address",
                [&] { tpu_bdc_npu_bcast_from_static(at(rows), 0x090005C0, 7, length, DT_INT32); },
                {{rows, repeated(numbers)}});
  DeviceTensor spread = DeviceTensor::aligned(device_.chip(), Dtype::kInt32, {1, length, 1, 1}, 0, 0x4004);
  spread.stride = {1, 1, 1, 1};
  expect_memory("distribute_from_static",
                [&] { tpu_bdc_npu_distribute_from_static(at(spread), 0x5C0, length, DT_INT32); }, {{spread, numbers}});
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 2147483640U + 3 * static_cast<std::uint32_t>(i);
  expect_memory("sequence_bcast", [&] { tpu_bdc_arithmetic_sequence_bcast(at(rows), 7, 2147483640, 3, length); },
                {{rows, repeated(numbers)}});
  const DeviceTensor apart = made(Dtype::kInt32, {1, length, 1, 1}, 0, 2);
  expect_memory("sequence_distribute_aligned",
                [&] { tpu_bdc_arithmetic_sequence_distribute_aligned(at(apart), 2147483640, 3, length); },
                {{apart, numbers}});
  std::vector<std::uint32_t> going_on;
  for (std::uint32_t i = 0; i < 7 * numbers.size(); ++i) going_on.push_back(2147483640U + 3 * i);
  expect_memory("sequence_general",
                [&] { tpu_bdc_arithmetic_sequence_general(at(rows), 0x8000, 7, 2147483640, 3, length); },
                {{rows, going_on}});
  expect_memory("sequence_distribute",
                [&] { tpu_bdc_arithmetic_sequence_distribute(at(spread), 2147483640, 3, length); },
                {{spread, numbers}});
}

TEST_F(Move, RefusesWhatTheChipCannotDo) {
  const dim4 shape = {1, 5, 2, 7};
  const auto refused = [&](const std::function<void()>& kernel, const std::string& text) {
    device_.expect_fault(kernel, text);
  };
  refused([&] { tpu_bdc_npu_bcast(60 * 0x40000, 0x400, &shape, DT_FP32); }, "starts on NPU 60 and needs 5 NPUs");
  refused([&] { tpu_bdc_cw_trans(0, 0x40000, &shape, DT_FP32); }, "src starts on NPU 1");
  refused([&] { tpu_bdc_wc_trans(0x40000, 0, &shape, DT_FP32); }, "dst starts on NPU 1");
  refused([&] { tpu_bdc_arithmetic_sequence_distribute(0xC0404, 306, 33, 33); }, "dst starts on NPU 3");
  refused([&] { tpu_bdc_arithmetic_sequence_distribute_aligned(0x40000, 1, 1, 5); }, "dst starts on NPU 1");
  refused([&] { tpu_bdc_arithmetic_sequence_general(60 * 0x40000, 0x400, 5, 1, 1, 5); },
          "starts on NPU 60 and needs 5");
  refused([&] { tpu_bdc_npu_bcast_from_static(0, 4, 3, 5, DT_FP32); }, "is not a multiple of 64");
  refused([&] { tpu_bdc_npu_bcast_from_static(0, 65472, 3, 16, DT_FP32); }, "end below the end of static memory");
  refused([&] { tpu_bdc_arithmetic_sequence_bcast(0, 0, 1, 1, 5); }, "npu_num (0) is outside");
}

}  // namespace
}  // namespace softtpu::move_test
