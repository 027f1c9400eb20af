// Rules of GDMA compression (golden bm1684x/gdma_limits, bm1688/new_compress).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/dma/compress/command.hpp"
#include "device/engines/dma/compress/group_code.hpp"
#include "device/engines/dma/compress/packing.hpp"
#include "device/engines/dma/compress/stream.hpp"
#include "device/engines/dma/compress/stream_places.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {
namespace {

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

// What the chip's own form holds is taken as it is; a map and codes that do not belong together are refused.
void check_grouped_stream(Checks& check, const DmaCompressCmd& cmd) {
  const std::int64_t count = cmd.plain.shape.elements();
  const GroupFormat format = stream_format(check.chip(), cmd);
  const StreamPlaces places(check.chip(), count, format);
  const std::uint8_t* packed = TensorView(check.memories(), cmd.packed).byte_at(0, 0, 0, 0, 1);
  std::vector<std::uint8_t> elements(static_cast<std::size_t>(count * size_of(cmd.plain.dtype)));
  const std::int64_t room = stream_codes(cmd, packed, places);
  const auto used = decode_groups(packed + places.map, packed + places.codes, room, count, format, elements.data());
  check.require(used.has_value(), [&] { return fmt::format("the stream at src 0x{:x} is damaged", cmd.packed.addr); });
}

void check_grouped_units(Checks& check, const DmaCompressCmd& cmd) {
  const TensorView packed(check.memories(), cmd.packed);
  const TensorView meta(check.memories(), cmd.meta);
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
        const auto length = unit_codes(cmd, *meta.at<std::uint32_t>(n, first / npus, h, 0), count);
        std::optional<std::int64_t> bytes;
        if (room >= 0)
          bytes = decode_groups(map, map + group_map_bytes(count), std::min(length.value_or(room), room), count, format,
                                elements.data());
        check.require(bytes.has_value(),
                      [&] { return fmt::format("unit n {}, channels from {}, h {} is damaged", n, first, h); });
        at += group_map_bytes(count) + length.value_or(bytes.value_or(0));
      }
    }
  }
}

}  // namespace

void rules(Checks& check, const DmaCompressCmd& cmd) {
  check.type("tensor", cmd.plain.dtype).shape("shape", cmd.plain.shape);
  check.tensor(cmd.expand ? "dst" : "src", cmd.plain, NaturalAlignment::kElement);
  check.tensor(cmd.expand ? "src" : "dst", cmd.packed, NaturalAlignment::kElement);
  if (cmd.grouped && !cmd.units && check.chip().has(Quirk::kAlignedCode))
    check.multiple_of(cmd.expand ? "src" : "dst", cmd.packed.addr, kGroupAlignment);
  if (cmd.units) check.tensor("meta", cmd.meta, NaturalAlignment::kElement);
  if (check.violation() || !cmd.expand) return;
  if (cmd.grouped) {
    cmd.units ? check_grouped_units(check, cmd) : check_grouped_stream(check, cmd);
  } else {
    cmd.units ? check_units(check, cmd) : check_stream(check, cmd);
  }
}

}  // namespace softtpu
