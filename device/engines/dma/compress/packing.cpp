#include "device/engines/dma/compress/packing.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace softtpu {
namespace {

// A table of the code of every byte value, and of its reverse.
struct ByteCode {
  std::array<std::uint8_t, 256> code{}, byte{};
};

// Distances from the bias in the order 0, -1, 1, -2, 2 ... have the codes 0, 1, 2 ...; with zero_guard the byte 0 is
// moved to the front.
ByteCode make_code(std::uint8_t bias, bool zero_guard) {
  ByteCode table;
  unsigned next = zero_guard ? 1 : 0;
  for (unsigned rank = 0; rank < 256; ++rank) {
    const unsigned distance = rank % 2 == 0 ? rank / 2 : 256 - (rank + 1) / 2;
    const unsigned value = (bias + distance) & 0xFFU;
    if (zero_guard && value == 0) continue;
    table.code[value] = static_cast<std::uint8_t>(next);
    table.byte[next++] = static_cast<std::uint8_t>(value);
  }
  return table;
}

// The tables of an element's bytes, least significant first.
class ElementCode {
 public:
  ElementCode(int size, const PackingRule& rule)
      : size_(size), low_(make_code(rule.bias1, rule.zero_guard)), high_(make_code(rule.bias0, rule.zero_guard)) {}
  const ByteCode& plane(int i) const { return i == size_ - 1 ? high_ : low_; }

 private:
  int size_;
  ByteCode low_, high_;
};

constexpr std::int64_t plane_bytes(std::int64_t count, int width) { return (count * width + 7) / 8; }

// Codes of one plane of one block; returns where the next begins.
std::uint8_t* put_plane(const std::uint8_t* elements, std::int64_t count, int size, const ByteCode& table, int width,
                        std::uint8_t* out) {
  std::fill_n(out, plane_bytes(count, width), std::uint8_t{0});
  for (std::int64_t i = 0; i < count; ++i) {
    const unsigned code = table.code[elements[i * size]];
    const std::int64_t bit = i * width;
    const unsigned shifted = code << (bit % 8);
    out[bit / 8] = static_cast<std::uint8_t>(out[bit / 8] | shifted);
    if (bit % 8 + width > 8) out[bit / 8 + 1] = static_cast<std::uint8_t>(shifted >> 8);
  }
  return out + plane_bytes(count, width);
}

int plane_width(const std::uint8_t* elements, std::int64_t count, int size, const ByteCode& table) {
  unsigned used = 0;
  for (std::int64_t i = 0; i < count; ++i) used |= table.code[elements[i * size]];
  return static_cast<int>(std::bit_width(used));
}

}  // namespace

std::int64_t pack(const std::uint8_t* elements, std::int64_t count, int size, const PackingRule& rule,
                  std::uint8_t* out) {
  const ElementCode code(size, rule);
  const std::uint8_t* const start = out;
  for (std::int64_t first = 0; first < count; first += kPackingBlock) {
    const std::int64_t block = std::min<std::int64_t>(kPackingBlock, count - first);
    const std::uint8_t* values = elements + first * size;
    std::uint8_t* widths = out;
    out += size;
    for (int plane = 0; plane < size; ++plane) {
      const int width = plane_width(values + plane, block, size, code.plane(plane));
      widths[plane] = static_cast<std::uint8_t>(width);
      if (width > 0) out = put_plane(values + plane, block, size, code.plane(plane), width, out);
    }
  }
  return out - start;
}

std::optional<std::int64_t> packed_bytes(const std::uint8_t* in, std::int64_t limit, std::int64_t count, int size) {
  std::int64_t at = 0;
  for (std::int64_t first = 0; first < count; first += kPackingBlock) {
    const std::int64_t block = std::min<std::int64_t>(kPackingBlock, count - first);
    if (limit - at < size) return std::nullopt;
    std::int64_t codes = 0;
    for (int plane = 0; plane < size; ++plane) {
      if (in[at + plane] > 8) return std::nullopt;
      codes += plane_bytes(block, in[at + plane]);
    }
    at += size;
    if (limit - at < codes) return std::nullopt;
    at += codes;
  }
  return at;
}

void unpack(const std::uint8_t* in, std::int64_t count, int size, const PackingRule& rule, std::uint8_t* elements) {
  const ElementCode code(size, rule);
  for (std::int64_t first = 0; first < count; first += kPackingBlock) {
    const std::int64_t block = std::min<std::int64_t>(kPackingBlock, count - first);
    const std::uint8_t* widths = in;
    in += size;
    for (int plane = 0; plane < size; ++plane) {
      const int width = widths[plane];
      const unsigned mask = (1U << width) - 1;
      for (std::int64_t i = 0; i < block; ++i) {
        const std::int64_t bit = i * width;
        unsigned bits = width > 0 ? static_cast<unsigned>(in[bit / 8]) >> (bit % 8) : 0;
        if (bit % 8 + width > 8) bits |= static_cast<unsigned>(in[bit / 8 + 1]) << (8 - bit % 8);
        elements[(first + i) * size + plane] = code.plane(plane).byte[bits & mask];
      }
      in += plane_bytes(block, width);
    }
  }
}

}  // namespace softtpu
