#include "device/engines/dma/compress/group_code.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace softtpu {
namespace {

using Group = std::array<std::uint8_t, kGroupElements>;

// A byte of the map: bits of each remainder above, sum of the quotients below.
constexpr int kSumBits = 5;
constexpr unsigned kMostSum = (1U << kSumBits) - 1;
constexpr int kMostRemainderBits = 5;
constexpr std::uint8_t kPlain = 7 << kSumBits;
constexpr int kPlainBits = 8 * kGroupElements;
constexpr int kZeroCountBits = 4;
// Distances between whole numbers of one sign: 1..127 above zero, -1..-128 below.
constexpr int kAbove = 127, kBelow = 128;

class BitWriter {
 public:
  void put(unsigned value, int bits) {
    for (int i = 0; i < bits; ++i) {
      if (count_ % 8 == 0) bytes_.push_back(0);
      bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | (value >> i & 1U) << (count_ % 8));
      ++count_;
    }
  }
  std::vector<std::uint8_t> take() {
    bytes_.resize((bytes_.size() + kGroupAlignment - 1) / kGroupAlignment * kGroupAlignment);
    return std::move(bytes_);
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::int64_t count_ = 0;
};

// Reads 0 behind the end.
class BitReader {
 public:
  BitReader(const std::uint8_t* bytes, std::int64_t count) : bytes_(bytes), end_(8 * count) {}
  unsigned get(int bits) {
    unsigned value = 0;
    for (int i = 0; i < bits; ++i, ++at_) {
      if (at_ < end_) value |= (static_cast<unsigned>(bytes_[at_ / 8]) >> (at_ % 8) & 1U) << i;
    }
    return value;
  }
  std::int64_t steps() const { return (at_ + 8 * kGroupAlignment - 1) / (8 * kGroupAlignment); }

 private:
  const std::uint8_t* bytes_;
  std::int64_t at_ = 0, end_ = 0;
};

bool is_signed_integer(Dtype type) { return type == Dtype::kInt8 || type == Dtype::kInt16; }

// The upper bytes of floats that lie around a bias, as far as they do on both sides of it, take turns as well: the bias
// itself, one above, one below, two above ... The others follow by their distance. With the zero guard all stay (golden
// bm1688-varied/m_c/gdma_compress_normal_L2S/000; a bias above 127 is not recorded).
constexpr int kMostByte = 255;
bool is_biased_float(const GroupFormat& format) {
  return is_float(format.type) && !format.rule.zero_guard && format.rule.bias0 != 0;
}
int reach_of(int bias) { return std::min(bias, kMostByte - bias); }
std::uint8_t from_bias(std::uint8_t byte, int bias) {
  const int above = byte - bias, distance = above < 0 ? -above : above;
  if (distance > reach_of(bias)) return static_cast<std::uint8_t>(distance + reach_of(bias));
  return static_cast<std::uint8_t>(above > 0 ? 2 * above - 1 : 2 * distance);
}
std::uint8_t onto_bias(std::uint8_t symbol, int bias) {
  const int reach = reach_of(bias);
  if (symbol > 2 * reach) return static_cast<std::uint8_t>(reach == bias ? symbol : kMostByte - symbol);
  return static_cast<std::uint8_t>(symbol % 2 == 1 ? bias + (symbol + 1) / 2 : bias - symbol / 2);
}

// Small numbers of either sign get small symbols: 0, -1, 1, -2 ... A bias moves the numbers above zero, another those
// below, each in a circle of its own.
std::uint8_t to_symbol(std::uint8_t byte, const GroupFormat& format) {
  if (is_biased_float(format)) return from_bias(byte, format.rule.bias0);
  if (!is_signed_integer(format.type)) return byte;
  const int value = static_cast<std::int8_t>(byte);
  if (value == 0) return 0;
  if (value > 0) return static_cast<std::uint8_t>(2 * ((value - 1 - format.rule.bias0 + 3 * kAbove) % kAbove + 1));
  return static_cast<std::uint8_t>(2 * ((-value - 1 - format.rule.bias1 + 2 * kBelow) % kBelow) + 1);
}
std::uint8_t to_byte(std::uint8_t symbol, const GroupFormat& format) {
  if (is_biased_float(format)) return onto_bias(symbol, format.rule.bias0);
  if (!is_signed_integer(format.type) || symbol == 0) return symbol;
  if (symbol % 2 == 0) return static_cast<std::uint8_t>((symbol / 2 - 1 + format.rule.bias0) % kAbove + 1);
  return static_cast<std::uint8_t>(-((symbol / 2 + format.rule.bias1) % kBelow + 1));
}

// Of the next group, how many are elements.
std::size_t filled(std::int64_t count) {
  return static_cast<std::size_t>(std::min<std::int64_t>(count, kGroupElements));
}

// Of a float that counts as zero, and of what fills a group up, nothing else is kept. Without the guard no fp16 counts
// as zero (golden bm1688-varied/m_a/gdma_decompress_RACU_S2L/002).
bool keeps_rest(std::size_t i, std::uint8_t symbol, std::int64_t count, const GroupFormat& format) {
  const bool zeros = format.type != Dtype::kFp16 || format.rule.zero_guard;
  return !is_float(format.type) || (i < filled(count) && (!zeros || to_byte(symbol, format) != 0));
}

// A group of elements as the byte that is coded and, of 16 bits, the byte that follows as it is: an integer's upper and
// lower byte, a float's bits 7 to 14 and its sign with bits 0 to 6. What fills the last group up is a symbol of 0,
// whatever the bias (golden bm1688-varied/m_c/gdma_compress_RACU_L2S/000).
struct Split {
  Group coded{}, rest{};
};
Split split(const std::uint8_t* elements, std::int64_t count, const GroupFormat& format) {
  Split parts;
  const bool wide = size_of(format.type) == 2;
  for (std::size_t i = 0; i < filled(count); ++i) {
    if (!wide) {
      parts.coded[i] = elements[i];
      continue;
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, elements + 2 * i, sizeof(bits));
    if (!is_float(format.type)) {
      parts.coded[i] = static_cast<std::uint8_t>(bits >> 8);
      parts.rest[i] = static_cast<std::uint8_t>(bits);
      continue;
    }
    parts.coded[i] = static_cast<std::uint8_t>(bits >> 7);
    parts.rest[i] = static_cast<std::uint8_t>((bits >> 15) << 7 | (bits & 0x7F));
    // The zero guard takes subnormal numbers of fp16 for zeros: its exponent is the upper five of these bits.
    if (format.type == Dtype::kFp16 && format.rule.zero_guard && parts.coded[i] < 8) parts.coded[i] = 0;
  }
  for (std::size_t i = 0; i < filled(count); ++i) parts.coded[i] = to_symbol(parts.coded[i], format);
  return parts;
}

unsigned quotients(const Group& symbols, int remainder_bits) {
  unsigned sum = 0;
  for (const std::uint8_t symbol : symbols) sum += static_cast<unsigned>(symbol) >> remainder_bits;
  return sum;
}

// The map's byte for the shortest code, of equals the one with fewer remainder bits.
std::uint8_t choose(const Group& symbols, bool counts_zeros) {
  int shortest = kPlainBits;
  std::uint8_t chosen = kPlain;
  for (int bits = 0; bits <= kMostRemainderBits; ++bits) {
    const unsigned sum = quotients(symbols, bits);
    const int zeros = counts_zeros && bits > 0 ? kZeroCountBits : 0;
    const int length = kGroupElements * (bits + 1) + static_cast<int>(sum) + zeros;
    if (sum > kMostSum || length >= shortest) continue;
    shortest = length;
    chosen = static_cast<std::uint8_t>(static_cast<unsigned>(bits) << kSumBits | sum);
  }
  return chosen;
}

void put_symbols(BitWriter& out, const Group& symbols, std::uint8_t map, bool counts_zeros) {
  if (map == kPlain) {
    for (const std::uint8_t symbol : symbols) out.put(symbol, 8);
    return;
  }
  const int bits = map >> kSumBits;
  for (int bit = 0; bit < bits; ++bit) {
    for (const std::uint8_t symbol : symbols) out.put(static_cast<unsigned>(symbol) >> bit & 1U, 1);
  }
  if (counts_zeros && bits > 0) {
    out.put(static_cast<unsigned>(std::count(symbols.begin(), symbols.end(), std::uint8_t{0})), kZeroCountBits);
  }
  for (const std::uint8_t symbol : symbols) {
    out.put(0, symbol >> bits);
    out.put(1, 1);
  }
}

bool get_symbols(BitReader& in, Group& symbols, std::uint8_t map, bool counts_zeros) {
  if (map == kPlain) {
    for (std::uint8_t& symbol : symbols) symbol = static_cast<std::uint8_t>(in.get(8));
    return true;
  }
  const int bits = map >> kSumBits;
  if (bits > kMostRemainderBits) return false;
  symbols = {};
  for (int bit = 0; bit < bits; ++bit) {
    for (std::uint8_t& symbol : symbols) symbol = static_cast<std::uint8_t>(symbol | in.get(1) << bit);
  }
  if (counts_zeros && bits > 0) in.get(kZeroCountBits);
  // A quotient is the distance of its one from the one before it.
  const int places = kGroupElements + (map & kMostSum);
  int before = -1;
  std::size_t found = 0;
  for (int at = 0; at < places; ++at) {
    if (in.get(1) == 0) continue;
    if (found == symbols.size()) return false;
    symbols[found] = static_cast<std::uint8_t>(symbols[found] | (at - before - 1) << bits);
    ++found;
    before = at;
  }
  if (found == symbols.size()) return before == places - 1;
  // A group behind the codes, which has none: each counts as one at the first bit (golden
  // bm1688-varied/m_a/gdma_decompress_RACU_S2L/002). What becomes of some of them is not recorded.
  if (found != 0 || bits != 0) return false;
  symbols.fill(kMostByte);
  symbols[0] = 0;
  return true;
}

void join(const Group& symbols, const Group& rest, std::int64_t count, const GroupFormat& format,
          std::uint8_t* elements) {
  for (std::size_t i = 0; i < filled(count); ++i) {
    const unsigned byte = to_byte(symbols[i], format);
    if (size_of(format.type) == 1) {
      elements[i] = static_cast<std::uint8_t>(byte);
      continue;
    }
    const unsigned low = rest[i];
    const auto bits = static_cast<std::uint16_t>(is_float(format.type) ? (low >> 7) << 15 | byte << 7 | (low & 0x7FU)
                                                                       : byte << 8 | low);
    std::memcpy(elements + 2 * i, &bits, sizeof(bits));
  }
}

}  // namespace

GroupCode encode_groups(const std::uint8_t* elements, std::int64_t count, const GroupFormat& format) {
  GroupCode code;
  const int size = size_of(format.type), each = format.zeros_in_map ? 2 : 1;
  code.map.resize(static_cast<std::size_t>(group_map_bytes(count, each)));
  const bool counts_zeros = size == 2 && is_float(format.type) && !format.zeros_in_map;
  BitWriter out;
  for (std::int64_t group = 0; group < groups_of(count); ++group) {
    const std::int64_t first = group * kGroupElements;
    const Split parts = split(elements + first * size, count - first, format);
    const std::uint8_t map = choose(parts.coded, counts_zeros);
    std::uint8_t* const place = code.map.data() + group * each;
    place[0] = map;
    if (format.zeros_in_map)
      place[1] = static_cast<std::uint8_t>(std::count(parts.coded.begin(), parts.coded.end(), std::uint8_t{0}));
    put_symbols(out, parts.coded, map, counts_zeros);
    if (size == 1) continue;
    for (std::size_t i = 0; i < parts.rest.size(); ++i) {
      if (keeps_rest(i, parts.coded[i], count - first, format)) out.put(parts.rest[i], 8);
    }
  }
  code.codes = out.take();
  return code;
}

std::optional<std::int64_t> decode_groups(const std::uint8_t* map, const std::uint8_t* codes, std::int64_t room,
                                          std::int64_t count, const GroupFormat& format, std::uint8_t* elements) {
  const int size = size_of(format.type), each = format.zeros_in_map ? 2 : 1;
  const bool counts_zeros = size == 2 && is_float(format.type) && !format.zeros_in_map;
  BitReader in(codes, room);
  for (std::int64_t group = 0; group < groups_of(count); ++group) {
    Group symbols{}, rest{};
    if (!get_symbols(in, symbols, map[group * each], counts_zeros)) return std::nullopt;
    const std::int64_t first = group * kGroupElements;
    for (std::size_t i = 0; size == 2 && i < rest.size(); ++i) {
      if (keeps_rest(i, symbols[i], count - first, format)) rest[i] = static_cast<std::uint8_t>(in.get(8));
    }
    join(symbols, rest, count - first, format, elements + first * size);
  }
  return in.steps() * kGroupAlignment;
}

}  // namespace softtpu
