// Rules of GDMA row moves, selections and compression (numerics: bm1684x-dma-hau-gather.md section 3; golden
// bm1684x/gdma_limits, gdma_select).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "device/command/checks.hpp"
#include "device/engines/commands.hpp"
#include "device/engines/dma/compress/group_code.hpp"
#include "device/engines/dma/compress/packing.hpp"
#include "device/engines/dma/compress/stream.hpp"
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

void check_stream(Checks& check, const DmaCompressCmd& cmd) {
  const TensorView packed(check.memories(), cmd.packed);
  const std::uint8_t* bytes = packed.byte_at(0, 0, 0, 0, 1);
  StreamHeader header;
  std::memcpy(&header, bytes, sizeof(header));
  const std::uint32_t payload = std::exchange(header.payload, 0);
  check.require(header == make_stream_header(cmd), [&] {
    return fmt::format(
        "src 0x{:x} does not hold a stream that was compressed with this shape, data type, bias and "
        "zero guard",
        cmd.packed.addr);
  });
  if (check.violation()) return;
  const std::int64_t room = cmd.packed.shape.w - static_cast<std::int64_t>(sizeof(header));
  const auto length = packed_bytes(bytes + sizeof(header), room, cmd.plain.shape.elements(), size_of(cmd.plain.dtype));
  check.require(length == payload, [&] { return fmt::format("the stream at src 0x{:x} is damaged", cmd.packed.addr); });
}

void check_units(Checks& check, const DmaCompressCmd& cmd) {
  const TensorView packed(check.memories(), cmd.packed);
  const TensorView meta(check.memories(), cmd.meta);
  const Dim4& shape = cmd.plain.shape;
  for (int n = 0; n < shape.n; ++n) {
    for (int c = 0; c < shape.c; ++c) {
      for (int h = 0; h < shape.h && !check.violation(); ++h) {
        const auto length =
            packed_bytes(packed.byte_at(n, c, h, 0, 1), cmd.packed.shape.w, shape.w, size_of(cmd.plain.dtype));
        const std::uint32_t stored = *meta.at<std::uint32_t>(n, c, h, 0);
        check.require(length == stored, [&] {
          return fmt::format("unit n {}, c {}, h {} is damaged: meta gives {} bytes", n, c, h, stored);
        });
      }
    }
  }
}

}  // namespace

Violation violation(const Memories& mem, Op op, const DmaRowsCmd& cmd) {
  Checks check(mem, op);
  check.type("output", cmd.dst.dtype).in_range("shape.n", cmd.dst.shape.n, 1, 1).shape("shape", cmd.dst.shape);
  check.in_range("param_h", cmd.param.shape.h, 1, kMaxExtent);
  check_unit_stride(check, "output", 'w', cmd.dst.stride.w);
  check_unit_stride(check, "param", 'w', cmd.param.stride.w);
  check.tensor("output", cmd.dst, NaturalAlignment::kElement).tensor("param", cmd.param, NaturalAlignment::kElement);
  check_index(check, cmd.index);
  return check.violation();
}

Violation violation(const Memories& mem, Op op, const DmaMaskSelectCmd& cmd) {
  Checks check(mem, op);
  check.type("src", cmd.src.dtype).type_in("mask", cmd.mask.dtype, kInts).shape("shape", cmd.src.shape);
  check.tensor("src", cmd.src).tensor("mask", cmd.mask);
  check_results(check, cmd.dst, cmd.mask);
  return check.violation();
}

Violation violation(const Memories& mem, Op op, const DmaNonzeroCmd& cmd) {
  Checks check(mem, op);
  check.type("src", cmd.src.dtype).shape("shape", cmd.src.shape).tensor("src", cmd.src);
  check_results(check, cmd.dst, cmd.src);
  return check.violation();
}

// What the chip's own form holds is taken as it is; a code that ends nowhere is refused.
void check_grouped_stream(Checks& check, const DmaCompressCmd& cmd) {
  const std::int64_t count = cmd.plain.shape.elements();
  const std::uint8_t* map = TensorView(check.memories(), cmd.packed).byte_at(0, 0, 0, 0, 1) + kGroupAlignment;
  std::vector<std::uint8_t> elements(static_cast<std::size_t>(count * size_of(cmd.plain.dtype)));
  const std::int64_t room = cmd.packed.shape.w - kGroupAlignment - group_map_bytes(count);
  const GroupFormat format{cmd.plain.dtype, cmd.rule};
  check.require(decode_groups(map, map + group_map_bytes(count), room, count, format, elements.data()).has_value(),
                [&] { return fmt::format("the stream at src 0x{:x} is damaged", cmd.packed.addr); });
}
void check_grouped_units(Checks& check, const DmaCompressCmd& cmd) {
  const TensorView packed(check.memories(), cmd.packed);
  const Dim4& shape = cmd.plain.shape;
  const GroupFormat format{cmd.plain.dtype, cmd.rule};
  const int npus = check.chip().npu_num;
  for (int n = 0; n < shape.n; ++n) {
    for (int first = 0; first < shape.c; first += npus) {
      const std::int64_t count = std::int64_t{std::min(npus, shape.c - first)} * shape.w;
      std::vector<std::uint8_t> elements(static_cast<std::size_t>(count * size_of(cmd.plain.dtype)));
      std::int64_t at = 0;
      for (int h = 0; h < shape.h && !check.violation(); ++h) {
        const std::uint8_t* map = packed.byte_at(n, first / npus, 0, 0, 1) + at;
        const std::int64_t room = cmd.packed.shape.w * std::int64_t{shape.h} - at - group_map_bytes(count);
        std::optional<std::int64_t> bytes;
        if (room >= 0) bytes = decode_groups(map, map + group_map_bytes(count), room, count, format, elements.data());
        check.require(bytes.has_value(),
                      [&] { return fmt::format("unit n {}, channels from {}, h {} is damaged", n, first, h); });
        at += group_map_bytes(count) + bytes.value_or(0);
      }
    }
  }
}
Violation violation(const Memories& mem, Op op, const DmaCompressCmd& cmd) {
  Checks check(mem, op);
  check.type("tensor", cmd.plain.dtype).shape("shape", cmd.plain.shape);
  check.tensor(cmd.expand ? "dst" : "src", cmd.plain, NaturalAlignment::kElement);
  check.tensor(cmd.expand ? "src" : "dst", cmd.packed, NaturalAlignment::kElement);
  if (cmd.units) check.tensor("meta", cmd.meta, NaturalAlignment::kElement);
  if (check.violation() || !cmd.expand) return check.violation();
  if (cmd.grouped) {
    cmd.units ? check_grouped_units(check, cmd) : check_grouped_stream(check, cmd);
  } else {
    cmd.units ? check_units(check, cmd) : check_stream(check, cmd);
  }
  return check.violation();
}

}  // namespace softtpu
