// The fills of golden/README.md: how the recorded cases describe memory contents.
#include "tools/golden/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "device/numeric/formats.hpp"

namespace softtpu::golden {
namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;
constexpr std::uint64_t kSecondStream = 0xD1B54A32D192ED03ULL;

// clang-format off
constexpr std::uint32_t kSpecialF32[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00800000, 0x80800000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff,
    0x00400000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0x7fffffff, 0xffabcdef,
    0x3f000000, 0xbf000000, 0x3fc00000, 0xbfc00000, 0x40200000, 0xc0200000, 0x33800000, 0x34000000, 0x3f7fffff, 0x3f800001,
    0x4b000001, 0x4b800000, 0x4b800001, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000, 0x477fe000, 0x477fefff,
    0x477ff000, 0x38800000, 0x387fe000, 0x33000000, 0x33000001, 0x42fe0000, 0x42ff0000, 0x43000000, 0xc3000000, 0x437f0000,
    0x437f8000, 0x46fffe00, 0x46ffff00, 0x477fff00, 0x47800000, 0x3f808000, 0x3f818000, 0x3f801000, 0x3f803000, 0x7f7f8000,
    0x7f7f7fff, 0x40490fdb, 0xc2f6e979, 0x3eaaaaab,
};
constexpr std::uint32_t kSpecialF16[] = {
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x0400, 0x8400, 0x0001, 0x8001, 0x03ff, 0x83ff,
    0x0200, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0x7fff, 0xfdab,
    0x3800, 0xb800, 0x3e00, 0xbe00, 0x4100, 0xc100, 0x1400, 0x1000, 0x3bff, 0x3c01,
    0x6400, 0x6401, 0x6801, 0x57f0, 0x57f8, 0x5800, 0xd800, 0x5bf8, 0x5bfc, 0x5c00,
    0x77ff, 0x7800, 0xf800, 0x4248, 0xcbd3, 0x3555, 0x8401, 0x7a00,
};
constexpr std::uint32_t kSpecialBf16[] = {
    0x0000, 0x8000, 0x3f80, 0xbf80, 0x0080, 0x8080, 0x0001, 0x8001, 0x007f, 0x807f,
    0x0040, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81, 0x7fff, 0xffab,
    0x3f00, 0xbf00, 0x3fc0, 0xbfc0, 0x4020, 0xc020, 0x3c00, 0x3b80, 0x3f7f, 0x3f81,
    0x4300, 0x42fe, 0x42ff, 0x4301, 0xc300, 0x437f, 0x4380, 0x4700, 0x4780, 0x4eff,
    0x4f00, 0xcf00, 0x4f80, 0x4049, 0xc2f7, 0x3eab, 0x477f, 0x3881,
};
constexpr std::uint32_t kSpecial8[] = {
    0x00, 0x01, 0xff, 0x02, 0xfe, 0x03, 0xfd, 0x7f, 0x80, 0x7e,
    0x81, 0x40, 0xc0, 0x3f, 0x55, 0xaa,
};
constexpr std::uint32_t kSpecial16[] = {
    0x0000, 0x0001, 0xffff, 0x0002, 0xfffe, 0x0003, 0xfffd, 0x007f, 0x0080, 0x00ff,
    0x0100, 0xff80, 0xff7f, 0x7fff, 0x8000, 0x7ffe, 0x8001, 0x4000, 0xc000, 0x5555,
    0xaaaa, 0x00b5, 0xff4b, 0x1234,
};
constexpr std::uint32_t kSpecial32[] = {
    0x00000000, 0x00000001, 0xffffffff, 0x00000002, 0xfffffffe, 0x00000003, 0xfffffffd, 0x0000007f, 0x00000080, 0x000000ff,
    0x00000100, 0xffffff80, 0xffffff7f, 0x00007fff, 0x00008000, 0x0000ffff, 0x00010000, 0xffff8000, 0xffff7fff, 0x7fffffff,
    0x80000000, 0x7ffffffe, 0x80000001, 0x40000000, 0xc0000000, 0x55555555, 0xaaaaaaaa, 0x01000001, 0x01000003, 0xfeffffff,
    0x0000b504, 0x12345678,
};
// clang-format on

struct Type {
  int bytes = 1;
  bool is_float = false;
  bool is_half = false;  // f16, not bf16
  std::span<const std::uint32_t> special;
};

std::optional<Type> find_element_type(const std::string& name) {
  if (name == "f32") return Type{4, true, false, kSpecialF32};
  if (name == "f16") return Type{2, true, true, kSpecialF16};
  if (name == "bf16") return Type{2, true, false, kSpecialBf16};
  if (name == "i8" || name == "u8") return Type{1, false, false, kSpecial8};
  if (name == "i16" || name == "u16") return Type{2, false, false, kSpecial16};
  if (name == "i32" || name == "u32") return Type{4, false, false, kSpecial32};
  return std::nullopt;
}

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// real(v): to f32, and from there to the 16-bit type, nearest even each time, subnormals kept.
std::uint64_t real(const Type& type, double value) {
  const auto single = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(single);
  if (type.bytes == 4) return bits;
  if (type.is_half) return round_f16(single);
  return (std::uint64_t{bits} + 0x7FFF + (bits >> 16 & 1U)) >> 16;
}

double unit(std::uint64_t x) { return static_cast<double>(x >> 11) * 0x1p-53; }

// The element at index i of a fill, as bits (the low ones count).
class Generator {
 public:
  Generator(const Fill& fill, const Type& type) : fill_(fill), type_(type) {}

  std::uint64_t operator()(std::uint64_t i) const {
    const std::uint64_t x = mix(fill_.seed + i * kGolden);
    if (fill_.kind == "const") return constant();
    if (fill_.kind == "uniform") return uniform(x);
    if (fill_.kind == "normal") return normal(x, mix((fill_.seed ^ kSecondStream) + i * kGolden));
    if (fill_.kind == "bits") return x;
    if (fill_.kind == "iota") return iota(i);
    const auto length = static_cast<std::uint64_t>(type_.special.size());
    if (fill_.kind == "special_row") return type_.special[i / length % length];
    if (fill_.kind == "special_col") return type_.special[i % length];
    return special(x, length);
  }

 private:
  std::uint64_t constant() const {
    if (fill_.bits) return *fill_.bits;
    return type_.is_float ? real(type_, fill_.value)
                          : static_cast<std::uint64_t>(static_cast<std::int64_t>(fill_.value));
  }
  std::uint64_t uniform(std::uint64_t x) const {
    if (type_.is_float) return real(type_, fill_.lo + unit(x) * (fill_.hi - fill_.lo));
    const auto low = static_cast<std::int64_t>(fill_.lo);
    const auto count = static_cast<std::uint64_t>(static_cast<std::int64_t>(fill_.hi) - low + 1);
    return static_cast<std::uint64_t>(low) + x % count;
  }
  std::uint64_t normal(std::uint64_t x, std::uint64_t y) const {
    std::int64_t sum = 0;
    for (int field = 0; field < 64; field += 16) {
      sum += static_cast<std::int64_t>(x >> field & 0xFFFF) + static_cast<std::int64_t>(y >> field & 0xFFFF);
    }
    const double v = static_cast<double>(sum - 262140) * 1.86881188e-05 * fill_.std + fill_.mean;
    return type_.is_float ? real(type_, v) : static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
  }
  std::uint64_t iota(std::uint64_t i) const {
    if (type_.is_float) return real(type_, fill_.start + fill_.step * static_cast<double>(i));
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(fill_.start)) +
           i * static_cast<std::uint64_t>(static_cast<std::int64_t>(fill_.step));
  }
  std::uint64_t special(std::uint64_t x, std::uint64_t length) const {
    if (x % 4 != 3) return type_.special[(x >> 8) % length];
    return type_.is_float ? real(type_, -8.0 + 16.0 * unit(x)) : x >> 16;
  }

  const Fill& fill_;
  const Type& type_;
};

std::vector<std::uint64_t> permutation(const Fill& fill, std::uint64_t count) {
  std::vector<std::uint64_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  for (std::uint64_t i = count; i-- > 1;) std::swap(values[i], values[mix(fill.seed + i * kGolden) % (i + 1)]);
  for (std::uint64_t& value : values) value += static_cast<std::uint64_t>(static_cast<std::int64_t>(fill.start));
  return values;
}

bool is_known(const std::string& kind) {
  static const char* const kKinds[] = {"const", "uniform", "normal",      "bits",       "iota",
                                       "perm",  "special", "special_row", "special_col"};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

// What a generator makes of any numbers within these limits can be converted: to f32, or to an integer of 64 bits.
std::optional<Error> find_bad_number(const Fill& fill, bool is_float) {
  const double limit = is_float ? double{std::numeric_limits<float>::max()} : 0x1p48;
  const std::pair<const char*, double> numbers[] = {{"value", fill.value}, {"lo", fill.lo},   {"hi", fill.hi},
                                                    {"mean", fill.mean},   {"std", fill.std}, {"start", fill.start},
                                                    {"step", fill.step}};
  for (const auto& [name, number] : numbers) {
    if (std::abs(number) <= limit) continue;
    return Error{ErrorKind::kUsage, fmt::format("fill has {} {}, beyond {}", name, number, limit)};
  }
  if (fill.lo > fill.hi) {
    return Error{ErrorKind::kUsage, fmt::format("fill has the empty range [{}, {}]", fill.lo, fill.hi)};
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::uint8_t>> evaluate(const Fill& fill, std::uint64_t bytes) {
  if (fill.kind == "byte") {
    if (fill.value >= 0 && fill.value <= 255)
      return std::vector<std::uint8_t>(bytes, static_cast<std::uint8_t>(fill.value));
    return Error{ErrorKind::kUsage, fmt::format("fill has the value {}, which is no byte", fill.value)};
  }
  const auto type = find_element_type(fill.dtype);
  if (!type) return Error{ErrorKind::kUsage, "fill has the unknown dtype \"" + fill.dtype + "\""};
  if (!is_known(fill.kind)) return Error{ErrorKind::kUsage, "fill has the unknown kind \"" + fill.kind + "\""};
  if (auto error = find_bad_number(fill, type->is_float)) return *std::move(error);
  const auto size = static_cast<std::uint64_t>(type->bytes);
  const std::uint64_t count = bytes / size;
  std::vector<std::uint8_t> data(bytes);
  const auto store = [&](std::uint64_t i, std::uint64_t value) { std::memcpy(data.data() + i * size, &value, size); };
  if (fill.kind == "perm") {
    const std::vector<std::uint64_t> values = permutation(fill, count);
    for (std::uint64_t i = 0; i < count; ++i) store(i, values[i]);
    return data;
  }
  const Generator generate(fill, *type);
  for (std::uint64_t i = 0; i < count; ++i) store(i, generate(i));
  return data;
}

}  // namespace softtpu::golden
