// Rules of GDMA row moves and selections (numerics: bm1684x-dma-hau-gather.md section 3; golden
// bm1684x/gdma_limits, gdma_select).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/dma/select/command.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {
namespace {

void check_unit_stride(Checks& check, const char* name, char dimension, std::int64_t stride) {
  check.require(stride == 1, [&] { return fmt::format("{} {} stride ({}) must be 1", name, dimension, stride); });
}

// 32-bit indices may lie at any address: checked as the aligned words that they touch.
void check_index(Checks& check, const Tensor& index) {
  check_unit_stride(check, "index", 'h', index.stride.h);
  Tensor words = index;
  words.addr &= ~std::uint64_t{3};
  check.tensor("index", words, NaturalAlignment::kElement);
  if (words.addr == index.addr) return;
  words.addr += 4;
  check.tensor("index", words, NaturalAlignment::kElement);
}

std::uint64_t count_selected(const Memories& mem, const Tensor& mask) {
  const TensorView view(mem, mask);
  const auto size = static_cast<std::size_t>(size_of(mask.dtype));
  const Dim4& shape = mask.shape;
  std::uint64_t count = 0;
  for (int n = 0; n < shape.n; ++n) {
    for (int c = 0; c < shape.c; ++c) {
      for (int h = 0; h < shape.h; ++h) {
        for (int w = 0; w < shape.w; ++w) {
          constexpr std::uint8_t kZero[4] = {};
          count += std::memcmp(view.byte_at(n, c, h, w, size), kZero, size) != 0 ? 1 : 0;
        }
      }
    }
  }
  return count;
}

// Only the results are written, so dst needs room for them and no more.
void check_results(Checks& check, const Tensor& dst, const Tensor& mask) {
  if (check.violation()) return;
  const auto size = static_cast<std::uint64_t>(size_of(dst.dtype));
  check.require(dst.addr % size == 0, [&] {
    return fmt::format("dst address (0x{:x}) is not a multiple of the element size ({})", dst.addr, size);
  });
  const Memories& mem = check.memories();
  if (mem.find_system(dst.addr, static_cast<std::uint64_t>(dst.shape.elements()) * size).data != nullptr) return;
  const std::uint64_t results = count_selected(mem, mask);
  check.require(mem.find_system(dst.addr, results * size).data != nullptr, [&] {
    return fmt::format("dst 0x{:x} has no room for {} results of {} bytes in one memory", dst.addr, results, size);
  });
}

}  // namespace

void rules(Checks& check, const DmaRowsCmd& cmd) {
  check.type("output", cmd.dst.dtype).shape("shape", cmd.dst.shape);
  // Sums of FP8 are not recorded.
  if (cmd.mode == RowsMode::kScatterAdd) check.type_in("output", cmd.dst.dtype, kAllTypes);
  check_unit_stride(check, "output", 'w', cmd.dst.stride.w);
  check_unit_stride(check, "param", 'w', cmd.param.stride.w);
  check.tensor("output", cmd.dst, NaturalAlignment::kElement).tensor("param", cmd.param, NaturalAlignment::kElement);
  check_index(check, cmd.index);
}

void rules(Checks& check, const DmaMaskSelectCmd& cmd) {
  check.type("src", cmd.src.dtype).type_in("mask", cmd.mask.dtype, kInts | kFp8s).shape("shape", cmd.src.shape);
  check.tensor("src", cmd.src).tensor("mask", cmd.mask);
  check_results(check, cmd.dst, cmd.mask);
}

void rules(Checks& check, const DmaNonzeroCmd& cmd) {
  const bool floats = check.chip().has(Quirk::kNonzeroFloats);
  check.type_in("src", cmd.src.dtype, info(check.op()).types & (floats ? kAnyTypes : kInts));
  check.shape("shape", cmd.src.shape).tensor("src", cmd.src);
  check_results(check, cmd.dst, cmd.src);
}

}  // namespace softtpu
