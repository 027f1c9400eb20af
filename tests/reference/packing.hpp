// The compressed form of elements, as device/engines/dma/README.md describes it: written plainly, bit by bit.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace softtpu::reference {

struct Packing {
  int size;  // bytes of an element
  std::uint8_t bias0, bias1;
  bool guard;
};

using Bytes = std::vector<std::uint8_t>;

// The rank of every byte in the order bias, bias - 1, bias + 1, bias - 2, ...; with the guard the byte 0 comes first.
inline std::array<int, 256> ranks(std::uint8_t bias, bool guard) {
  std::array<int, 256> result;
  result.fill(-1);
  int next = 0;
  if (guard) result[0] = next++;
  for (int step = 0; next < 256; ++step) {
    const int offset = step % 2 == 1 ? -(step + 1) / 2 : step / 2;
    int& rank = result[static_cast<std::uint8_t>(bias + offset)];
    if (rank < 0) rank = next++;
  }
  return result;
}

// The code of elements: blocks of 64, in each the width of every byte's codes, then the codes, lowest bit first.
inline Bytes packed(const Bytes& elements, const Packing& rule) {
  const auto size = static_cast<std::size_t>(rule.size);
  const std::size_t count = elements.size() / size;
  const std::array last = ranks(rule.bias0, rule.guard), others = ranks(rule.bias1, rule.guard);
  Bytes result;
  for (std::size_t first = 0; first < count; first += 64) {
    const std::size_t block = std::min<std::size_t>(64, count - first);
    std::vector<std::vector<int>> codes(size);
    std::vector<int> widths;
    for (std::size_t byte = 0; byte < size; ++byte) {
      int most = 0;
      for (std::size_t i = 0; i < block; ++i) {
        codes[byte].push_back((byte + 1 == size ? last : others)[elements[(first + i) * size + byte]]);
        most = std::max(most, codes[byte].back());
      }
      int width = 0;
      while (most >> width != 0) ++width;
      widths.push_back(width);
      result.push_back(static_cast<std::uint8_t>(width));
    }
    for (std::size_t byte = 0; byte < size; ++byte) {
      std::size_t bits = 0;
      for (const int code : codes[byte]) {
        for (int bit = 0; bit < widths[byte]; ++bit, ++bits) {
          if (bits % 8 == 0) result.push_back(0);
          result.back() = static_cast<std::uint8_t>(result.back() | ((code >> bit & 1) << bits % 8));
        }
      }
    }
  }
  return result;
}

// Bytes of the largest code.
inline int largest_packed(std::size_t bytes, int size) {
  const int count = static_cast<int>(bytes) / size;
  return (count + 63) / 64 * size + count * size;
}

// A stream: header, then the code.
inline Bytes stream(const Bytes& elements, const Packing& rule) {
  const Bytes code = packed(elements, rule);
  const std::uint32_t head[3] = {0x314B5053,
                                 static_cast<std::uint32_t>(elements.size()) / static_cast<unsigned>(rule.size),
                                 static_cast<std::uint32_t>(code.size())};
  Bytes result(sizeof(head));
  std::memcpy(result.data(), head, sizeof(head));
  result.push_back(static_cast<std::uint8_t>(rule.size));
  result.push_back(rule.bias0);
  result.push_back(rule.bias1);
  result.push_back(rule.guard ? 1 : 0);
  result.insert(result.end(), code.begin(), code.end());
  return result;
}

}  // namespace softtpu::reference
