// BM1684's GDMA against plain loops: copies, fills and matrices of every width between every pair of memories, random
// shapes, start NPUs and strides; refusals that change nothing.
#include <array>

#include "tests/unit/okk_fixture.hpp"

namespace softtpu::okk_gdma_test {
namespace {

constexpr std::uint32_t kDst = 0x00000;
constexpr std::uint32_t kSrc = 0x40000;
constexpr std::uint64_t kWindow = 1 << 20;  // bytes of each system memory that a case uses
constexpr int kTrials = 16;                 // of each function

using CopyS2L = void (*)(local_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*);
using CopyL2S = void (*)(system_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*);
using CopyL2L = void (*)(local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*);
using CopyS2S = void (*)(system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*);
struct Width {
  Dtype type;
  CopyS2L s2l;
  CopyL2S l2s;
  CopyL2L l2l;
  CopyS2S s2s;
};
const Width kWidths[] = {
    {Dtype::kUint32, okk_gdma_32bit_cpy_S2L, okk_gdma_32bit_cpy_L2S, okk_gdma_32bit_cpy_L2L, okk_gdma_32bit_cpy_S2S},
    {Dtype::kUint16, okk_gdma_16bit_cpy_S2L, okk_gdma_16bit_cpy_L2S, okk_gdma_16bit_cpy_L2L, okk_gdma_16bit_cpy_S2S},
    {Dtype::kUint8, okk_gdma_8bit_cpy_S2L, okk_gdma_8bit_cpy_L2S, okk_gdma_8bit_cpy_L2L, okk_gdma_8bit_cpy_S2S}};

// A tensor in system memory.
struct SystemTensor {
  Dtype type;
  Dim4 shape;
  std::uint64_t addr;
  std::array<std::int64_t, 4> stride;
  dim4 c_stride() const {
    return {static_cast<int>(stride[0]), static_cast<int>(stride[1]), static_cast<int>(stride[2]),
            static_cast<int>(stride[3])};
  }
};

class OkkGdma : public OkkTest {
 protected:
  // Global memory, L2 SRAM and DTCM: their addresses, and where the test sees them.
  struct Memory {
    std::uint64_t start;
    std::uint8_t* bytes;
    std::size_t size;
  };
  std::array<Memory, 3> memories() {
    Memories& all = device_.memories();
    const Chip& chip = device_.chip();
    return {Memory{device_.scratch(), device_.global<std::uint8_t>(device_.scratch()), kWindow},
            Memory{chip.l2_sram.start, all.l2(), kWindow}, Memory{chip.dtcm->start, all.dtcm(), 0x50000}};
  }
  // Takes a copy of the system memories; afterwards they have to be as the test changed that copy.
  void take_copy() {
    for (std::size_t i = 0; i < 3; ++i)
      mirror_[i].assign(memories()[i].bytes, memories()[i].bytes + memories()[i].size);
  }
  void expect_everything(const std::function<void()>& kernel, const std::string& what) {
    expect_image(kernel, what);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_EQ(std::memcmp(mirror_[i].data(), memories()[i].bytes, mirror_[i].size()), 0)
          << what << ": system memory " << i;
    }
  }

  Dim4 shape_that_fits() { return {number(1, 4), number(1, 70), number(1, 5), number(1, 30)}; }
  DeviceTensor local(Dtype type, const Dim4& shape, std::uint32_t offset, bool& given, bool is_source) {
    const auto unit = static_cast<unsigned>(size_of(type));
    DeviceTensor tensor = DeviceTensor::aligned(device_.chip(), type, shape, number(0, 63),
                                                offset + unit * static_cast<unsigned>(number(0, 40)));
    given = flip();
    if (!given) return tensor;
    tensor = spread(tensor);
    tensor.stride.w = 1;
    if (is_source && flip()) tensor.stride.h = 0;
    return tensor;
  }
  // In a random memory, in its lower half or upper half.
  SystemTensor system(Dtype type, const Dim4& shape, bool upper, bool& given, bool is_source, std::size_t& memory) {
    memory = static_cast<std::size_t>(number(0, 2));
    const auto unit = static_cast<unsigned>(size_of(type));
    const std::uint64_t place = (upper ? memories()[memory].size / 2 : 0) + unit * static_cast<unsigned>(number(0, 40));
    const std::int64_t plane = std::int64_t{shape.h} * shape.w;
    SystemTensor tensor{type, shape, memories()[memory].start + place, {shape.c * plane, plane, shape.w, 1}};
    given = flip();
    if (!given) return tensor;
    const std::int64_t row = shape.w + number(0, 2), channel = row * shape.h + number(0, 2);
    tensor.stride = {channel * shape.c + number(0, 2), channel, row, 1};
    if (is_source && flip()) tensor.stride[static_cast<std::size_t>(number(0, 2))] = 0;
    return tensor;
  }
  // Calls body(element, bytes) for each element in the copy of that memory.
  template <class Body>
  void each(const SystemTensor& tensor, std::size_t memory, Body body) {
    std::size_t index = 0;
    std::uint8_t* first = mirror_[memory].data() + (tensor.addr - memories()[memory].start);
    for (int n = 0; n < tensor.shape.n; ++n) {
      for (int c = 0; c < tensor.shape.c; ++c) {
        for (int h = 0; h < tensor.shape.h; ++h) {
          for (int w = 0; w < tensor.shape.w; ++w) {
            const std::int64_t element =
                n * tensor.stride[0] + c * tensor.stride[1] + h * tensor.stride[2] + w * tensor.stride[3];
            body(index++, first + element * size_of(tensor.type));
          }
        }
      }
    }
  }
  Words random_source(const SystemTensor& tensor, std::size_t memory) {
    const auto width = static_cast<std::size_t>(size_of(tensor.type));
    Words words = random_words(tensor.shape.elements());
    each(tensor, memory, [&](std::size_t i, std::uint8_t* at) { std::memcpy(at, &words[i], width); });
    std::memcpy(memories()[memory].bytes, mirror_[memory].data(), mirror_[memory].size());
    each(tensor, memory, [&](std::size_t i, const std::uint8_t* at) {
      words[i] = 0;
      std::memcpy(&words[i], at, width);
    });
    return words;
  }
  void want_in(const SystemTensor& tensor, std::size_t memory, const Words& words) {
    each(tensor, memory, [&](std::size_t i, std::uint8_t* at) {
      std::memcpy(at, &words[i], static_cast<std::size_t>(size_of(tensor.type)));
    });
  }

  void copy(const Width& width, bool to_local, bool from_local) {
    const Dim4 shape = shape_that_fits();
    const dim4 dim = {shape.n, shape.c, shape.h, shape.w};
    bool given[2] = {};
    std::size_t memory[2] = {};
    take_copy();
    const DeviceTensor dst = local(width.type, shape, kDst, given[0], false);
    const DeviceTensor src = local(width.type, shape, kSrc, given[1], true);
    const bool local_given[2] = {given[0], given[1]};
    const SystemTensor to = system(width.type, shape, true, given[0], false, memory[0]);
    const SystemTensor from = system(width.type, shape, false, given[1], true, memory[1]);
    put_random(dst);
    const Words words = from_local ? put_random(src) : random_source(from, memory[1]);
    if (to_local) want(dst, words);
    if (!to_local) want_in(to, memory[0], words);
    const dim4 strides[] = {to_local ? dst.c_stride() : to.c_stride(), from_local ? src.c_stride() : from.c_stride()};
    const dim4* d = (to_local ? local_given[0] : given[0]) ? &strides[0] : nullptr;
    const dim4* s = (from_local ? local_given[1] : given[1]) ? &strides[1] : nullptr;
    expect_everything(
        [&] {
          if (to_local && from_local) width.l2l(addr(dst), addr(src), &dim, d, s);
          if (to_local && !from_local) width.s2l(addr(dst), from.addr, &dim, d, s);
          if (!to_local && from_local) width.l2s(to.addr, addr(src), &dim, d, s);
          if (!to_local && !from_local) width.s2s(to.addr, from.addr, &dim, d, s);
        },
        "copy of elements of " + std::to_string(size_of(width.type)) + " bytes");
  }

  std::array<std::vector<std::uint8_t>, 3> mirror_;
};

TEST_F(OkkGdma, CopiesMoveBitsBetweenAllMemories) {
  for (const Width& width : kWidths) {
    for (int trial = 0; trial < 4 * kTrials; ++trial) copy(width, trial % 4 < 2, trial % 2 == 0);
  }
}

template <class Union>
Union union_of(std::uint32_t bits) {
  Union value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

TEST_F(OkkGdma, FillsReachEveryMemory) {
  for (int trial = 0; trial < 6 * kTrials; ++trial) {
    const Dtype type = kWidths[trial % 3].type;
    const bool to_local = trial % 2 == 0;
    const Dim4 shape = shape_that_fits();
    const dim4 dim = {shape.n, shape.c, shape.h, shape.w};
    const std::uint32_t bits = random_word();
    bool given = false;
    std::size_t memory = 0;
    take_copy();
    DeviceTensor dst = local(type, shape, kDst, given, false);
    SystemTensor to{};
    if (!to_local) to = system(type, shape, flip(), given, false, memory);
    if (to_local) put_random(dst);
    const Words words(static_cast<std::size_t>(shape.elements()), bits);
    if (to_local) want(dst, words);
    if (!to_local) want_in(to, memory, words);
    const dim4 stride = to_local ? dst.c_stride() : to.c_stride();
    const dim4* d = given ? &stride : nullptr;
    expect_everything(
        [&] {
          switch (trial % 6) {
            case 0: return okk_gdma_32bit_set_C_local(addr(dst), union_of<x32>(bits), &dim, d);
            case 1: return okk_gdma_16bit_set_C_system(to.addr, union_of<x16>(bits), &dim, d);
            case 2: return okk_gdma_8bit_set_C_local(addr(dst), union_of<x8>(bits), &dim, d);
            case 3: return okk_gdma_32bit_set_C_system(to.addr, union_of<x32>(bits), &dim, d);
            case 4: return okk_gdma_16bit_set_C_local(addr(dst), union_of<x16>(bits), &dim, d);
            default: return okk_gdma_8bit_set_C_system(to.addr, union_of<x8>(bits), &dim, d);
          }
        },
        "set_C");
  }
}

TEST_F(OkkGdma, MatricesLieInTheMatrixLayout) {
  for (int trial = 0; trial < 4 * kTrials; ++trial) {
    const bool loads = trial % 2 == 0;
    // Every fourth time a channel has room for more columns than there are.
    const int rows = number(1, 12), cols = number(1, trial % 4 < 2 ? 300 : 20),
              width = number(1, trial % 4 < 2 ? 40 : 400);
    const int columns = std::min(width, cols);
    const int channels = (cols + columns - 1) / columns;
    const int row_stride = cols + number(0, 5);
    DeviceTensor stored =
        aligned({rows, channels, 1, columns}, number(0, 63), kSrc + static_cast<local_addr_t>(4 * number(0, 40)));
    // A row takes as many channels of an NPU as a matrix that begins at NPU 0 does, each as wide as it was asked for.
    stored.stride.n = (channels + 63) / 64 * ((width + 31) / 32 * 32);
    std::size_t memory = 0;
    bool given = false;
    take_copy();
    SystemTensor matrix = system(Dtype::kUint32, {rows, 1, 1, cols}, false, given, true, memory);
    matrix.stride = {row_stride, 0, 0, 1};
    Words cells = put_random(stored);
    const auto cell = [&](int row, int col) -> std::uint32_t& {
      return cells[static_cast<std::size_t>(row * channels * columns + col)];
    };
    Words words = random_source(matrix, memory);
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        std::uint32_t& outside = words[static_cast<std::size_t>(row * cols + col)];
        loads ? cell(row, col) = outside : outside = cell(row, col);
      }
    }
    want(stored, cells);
    want_in(matrix, memory, words);
    expect_everything(
        [&] {
          if (loads) okk_gdma_32bit_matrix_S2L(addr(stored), matrix.addr, rows, cols, width, row_stride);
          if (!loads) okk_gdma_32bit_matrix_L2S(matrix.addr, addr(stored), rows, cols, width, row_stride);
        },
        loads ? "matrix_S2L" : "matrix_L2S");
  }
}

TEST_F(OkkGdma, RowsOfAMatrixNarrowerThanItsChannelsLieAsFarApartAsTheChannelsSay) {
  const auto row = [&](int n) { return device_.local<std::uint32_t>(0, kDst) + n * 416; };
  auto* outside = device_.global<std::uint32_t>(device_.scratch());
  outside[0] = 7;
  outside[1] = 9;
  *row(0) = *row(1) = 0;
  ASSERT_TRUE(device_.run([&] { okk_gdma_32bit_matrix_S2L(kDst, device_.scratch(), 2, 1, 392, 1); }).ok);
  EXPECT_EQ(*row(0), 7U);
  EXPECT_EQ(*row(1), 9U);
  outside[0] = outside[1] = 0;
  ASSERT_TRUE(device_.run([&] { okk_gdma_32bit_matrix_L2S(device_.scratch(), kDst, 2, 1, 392, 1); }).ok);
  EXPECT_EQ(outside[0], 7U);
  EXPECT_EQ(outside[1], 9U);
}

// A copy between memories is cut into pieces by the library.
TEST_F(OkkGdma, CopiesRowsOfMoreThan65535Elements) {
  const dim4 row = {1, 1, 1, 70000};
  auto* from = device_.global<std::uint8_t>(device_.scratch());
  auto* to = device_.global<std::uint8_t>(device_.scratch(1 << 20));
  for (int i = 0; i < row.w; ++i) from[i] = static_cast<std::uint8_t>(i % 251);
  ASSERT_TRUE(device_
                  .run([&] {
                    okk_gdma_8bit_cpy_S2L(kDst, device_.scratch(), &row, nullptr, nullptr);
                    okk_gdma_8bit_cpy_L2S(device_.scratch(1 << 20), kDst, &row, nullptr, nullptr);
                  })
                  .ok);
  EXPECT_EQ(std::memcmp(from, to, static_cast<std::size_t>(row.w)), 0);
}

TEST_F(OkkGdma, LocalMemoryIsPartOfTheSystemMap) {
  const DeviceTensor src = aligned({1, 1, 1, 5}, 9, kSrc);
  const DeviceTensor dst = aligned({1, 1, 1, 5}, 20, kDst);
  const Words words = put_random(src);
  want(dst, words);
  const dim4 dim = {1, 1, 1, 5};
  const std::uint64_t window = device_.chip().local_mem.start;
  expect_image([&] { okk_gdma_32bit_cpy_S2S(window + addr(dst), window + addr(src), &dim, nullptr, nullptr); }, "S2S");
}

TEST_F(OkkGdma, RefusesWhatTheChipCannotDo) {
  const dim4 shape = {1, 2, 8, 8};
  const dim4 wide = {80, 40, 16, 2};
  const dim4 none = {0, 2, 8, 8};
  const auto load = [&](local_addr_t dst, system_addr_t src, const dim4* dim, const dim4* stride) {
    okk_gdma_32bit_cpy_S2L(dst, src, dim, stride, nullptr);
  };
  device_.expect_fault([&] { load(kDst, device_.scratch(), &shape, &wide); }, "w stride (2) must be 1");
  device_.expect_fault([&] { load(kDst, 0, &shape, nullptr); }, "does not lie inside one memory");
  device_.expect_fault([&] { load(kDst, device_.scratch(2), &shape, nullptr); }, "is not a multiple of the element");
  device_.expect_fault([&] { load(0x7FFF0, device_.scratch(), &shape, nullptr); }, "local memory (524288 bytes)");
  device_.expect_fault([&] { load(0x2000000, device_.scratch(), &shape, nullptr); }, "lies beyond local memory");
  device_.expect_fault([&] { load(kDst, device_.scratch(), &none, nullptr); }, "shape.n (0)");
}

}  // namespace
}  // namespace softtpu::okk_gdma_test
