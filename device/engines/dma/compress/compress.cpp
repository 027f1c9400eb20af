// GDMA compression between local and system memory (format: device/engines/dma/README.md).
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/dma/compress/command.hpp"
#include "device/engines/dma/compress/group_code.hpp"
#include "device/engines/dma/compress/packing.hpp"
#include "device/engines/dma/compress/stream.hpp"
#include "device/engines/dma/compress/stream_places.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {
namespace {

using Bytes = std::vector<std::uint8_t>;

// One row of the plain tensor as contiguous elements.
class PlainRow {
 public:
  PlainRow(const Memories& mem, const Tensor& plain)
      : view_(mem, plain), size_(static_cast<std::size_t>(size_of(plain.dtype))), width_(plain.shape.w) {}

  void read(int n, int c, int h, std::uint8_t* out) const {
    for (int w = 0; w < width_; ++w, out += size_) std::memcpy(out, view_.byte_at(n, c, h, w, size_), size_);
  }
  void write(int n, int c, int h, const std::uint8_t* in) const {
    for (int w = 0; w < width_; ++w, in += size_) std::memcpy(view_.byte_at(n, c, h, w, size_), in, size_);
  }
  std::size_t bytes() const { return size_ * static_cast<std::size_t>(width_); }

 private:
  TensorView view_;
  std::size_t size_;
  int width_;
};

template <class Body>
void for_rows(const Dim4& shape, Body body) {
  for (int n = 0; n < shape.n; ++n) {
    for (int c = 0; c < shape.c; ++c) {
      for (int h = 0; h < shape.h; ++h) body(n, c, h);
    }
  }
}

// The whole tensor as one stream behind a header.
void move_stream(const Memories& mem, const DmaCompressCmd& cmd) {
  const PlainRow row(mem, cmd.plain);
  const int size = size_of(cmd.plain.dtype);
  const std::int64_t count = cmd.plain.shape.elements();
  std::uint8_t* packed = TensorView(mem, cmd.packed).byte_at(0, 0, 0, 0, 1);
  Bytes elements(static_cast<std::size_t>(count * size));
  std::uint8_t* at = elements.data();
  if (cmd.expand) {
    unpack(packed + sizeof(StreamHeader), count, size, cmd.rule, at);
    for_rows(cmd.plain.shape, [&](int n, int c, int h) { row.write(n, c, h, std::exchange(at, at + row.bytes())); });
    return;
  }
  for_rows(cmd.plain.shape, [&](int n, int c, int h) { row.read(n, c, h, std::exchange(at, at + row.bytes())); });
  // Staged: the source may be seen through the window at the destination's address.
  Bytes coded(static_cast<std::size_t>(max_packed_bytes(count, size)));
  StreamHeader header = make_stream_header(cmd);
  header.payload = static_cast<std::uint32_t>(pack(elements.data(), count, size, cmd.rule, coded.data()));
  std::memcpy(packed, &header, sizeof(header));
  std::memcpy(packed + sizeof(header), coded.data(), header.payload);
}

// Every row a unit of its own.
void move_units(const Memories& mem, const DmaCompressCmd& cmd) {
  const PlainRow row(mem, cmd.plain);
  const TensorView packed(mem, cmd.packed);
  const TensorView meta(mem, cmd.meta);
  const int size = size_of(cmd.plain.dtype);
  const int width = cmd.plain.shape.w;
  Bytes elements(row.bytes());
  Bytes coded(static_cast<std::size_t>(max_packed_bytes(width, size)));
  for_rows(cmd.plain.shape, [&](int n, int c, int h) {
    std::uint8_t* slot = packed.byte_at(n, c, h, 0, 1);
    std::uint8_t* length = meta.byte_at(n, c, h, 0, sizeof(std::uint32_t));
    if (cmd.expand) {
      unpack(slot, width, size, cmd.rule, elements.data());
      return row.write(n, c, h, elements.data());
    }
    row.read(n, c, h, elements.data());
    const auto bytes = static_cast<std::uint32_t>(pack(elements.data(), width, size, cmd.rule, coded.data()));
    std::memcpy(slot, coded.data(), bytes);
    std::memcpy(length, &bytes, sizeof(bytes));
  });
}

// ---- the chip's own form ----

// All of the tensor in n, c, h, w order.
void move_grouped_stream(const Memories& mem, const DmaCompressCmd& cmd) {
  const PlainRow row(mem, cmd.plain);
  const std::int64_t count = cmd.plain.shape.elements();
  const GroupFormat format = stream_format(mem.chip(), cmd);
  std::uint8_t* packed = TensorView(mem, cmd.packed).byte_at(0, 0, 0, 0, 1);
  const StreamPlaces places(mem.chip(), count, format);
  std::uint8_t* map = packed + places.map;
  std::uint8_t* codes = packed + places.codes;
  Bytes elements(static_cast<std::size_t>(count * size_of(cmd.plain.dtype)));
  std::uint8_t* at = elements.data();
  if (cmd.expand) {
    if (!decode_groups(map, codes, stream_codes(cmd, packed, places), count, format, at))
      return;  // refused by its rules
    for_rows(cmd.plain.shape, [&](int n, int c, int h) { row.write(n, c, h, std::exchange(at, at + row.bytes())); });
    return;
  }
  for_rows(cmd.plain.shape, [&](int n, int c, int h) { row.read(n, c, h, std::exchange(at, at + row.bytes())); });
  const GroupCode code = encode_groups(elements.data(), count, format);
  // What fills a part up is zero.
  const auto written = static_cast<std::uint64_t>(places.filled(static_cast<std::int64_t>(code.codes.size())));
  std::memset(packed, 0, static_cast<std::size_t>(places.codes) + written);
  std::memcpy(packed, &written, sizeof(written));
  std::memcpy(map, code.map.data(), code.map.size());
  std::memcpy(codes, code.codes.data(), code.codes.size());
}

// The rows of a group of channels follow each other without a gap.
void move_grouped_units(const Memories& mem, const DmaCompressCmd& cmd) {
  const PlainRow row(mem, cmd.plain);
  const TensorView packed(mem, cmd.packed);
  const TensorView meta(mem, cmd.meta);
  const Dim4& shape = cmd.plain.shape;
  const GroupFormat format{cmd.plain.dtype, cmd.rule};
  const int npus = mem.chip().npu_num;
  const std::int64_t slot = cmd.packed.shape.w;
  for (int n = 0; n < shape.n; ++n) {
    for (int first = 0; first < shape.c; first += npus) {
      const int channels = std::min(npus, shape.c - first), group = first / npus;
      const std::int64_t count = std::int64_t{channels} * shape.w;
      Bytes elements(row.bytes() * static_cast<std::size_t>(channels));
      std::int64_t at = 0;
      for (int h = 0; h < shape.h; ++h) {
        std::uint8_t* map = packed.byte_at(n, group, 0, 0, 1) + at;
        std::uint8_t* codes = map + group_map_bytes(count);
        const auto element_of = [&](int c) { return elements.data() + row.bytes() * static_cast<std::size_t>(c); };
        if (cmd.expand) {
          const std::int64_t room = slot * shape.h - at - group_map_bytes(count);
          const auto length = unit_codes(cmd, *meta.at<std::uint32_t>(n, group, h, 0), count);
          const auto bytes =
              decode_groups(map, codes, std::min(length.value_or(room), room), count, format, elements.data());
          if (!bytes) return;  // refused by its rules
          for (int c = 0; c < channels; ++c) row.write(n, first + c, h, element_of(c));
          at += group_map_bytes(count) + length.value_or(*bytes);
          continue;
        }
        for (int c = 0; c < channels; ++c) row.read(n, first + c, h, element_of(c));
        const GroupCode code = encode_groups(elements.data(), count, format);
        std::memcpy(map, code.map.data(), code.map.size());
        std::memcpy(codes, code.codes.data(), code.codes.size());
        const auto bytes = static_cast<std::int64_t>(code.codes.size());
        *meta.at<std::uint32_t>(n, group, h, 0) = UnitMeta::word(bytes, h * slot - at);
        at += group_map_bytes(count) + bytes;
      }
    }
  }
}

}  // namespace

void execute(Memories& mem, const DmaCompressCmd& cmd) {
  if (cmd.grouped) return cmd.units ? move_grouped_units(mem, cmd) : move_grouped_stream(mem, cmd);
  cmd.units ? move_units(mem, cmd) : move_stream(mem, cmd);
}

}  // namespace softtpu
