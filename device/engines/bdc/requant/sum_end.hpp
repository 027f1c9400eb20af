// What becomes of the 32-bit sums of products of bytes: relu, requantisation, saturation.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "device/chip/rules.hpp"
#include "device/engines/bdc/requant/requant.hpp"
#include "device/engines/bdc/requant/shifted_sums.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/requant.hpp"

namespace softtpu {

// Where results are clamped; the symmetric range of a signed type leaves its lowest value out.
inline IntRange saturation_range(Dtype type, bool symmetric) {
  IntRange range = range_of(type);
  if (symmetric && range.low < 0) range.low = -range.high;
  return range;
}

struct SumRule {
  Dtype result;
  bool is_signed;  // how the bits of a sum are read
  bool relu, symmetric;
};

// The end of the sums of one channel.
class SumEnd {
 public:
  explicit SumEnd(const SumRule& rule) : SumEnd(rule, 0, Rounding::kHalfUp) {}
  SumEnd(const SumRule& rule, std::int32_t multiplier, int shift, std::int32_t offset, Rounding rounding, bool uncut)
      : SumEnd(rule, counted(shift, uncut), rounding) {
    uncut_ = uncut;
    shift = counted(shift, uncut);
    rule_.multiplier = multiplier;
    rule_.offset = offset;
    // A product of two 32-bit values and what rounds it fit into 64 bits; a shift to the left or a long one may not.
    // What has 32 bits saturates as a signed one before its offset is added, and once more as what it is
    // (golden-bmodel bm1688/instr_1 conv/0090).
    const bool twice = size_of(rule.result) == 4 && (offset != 0 || !is_signed_int(rule.result));
    if (shift > 0 || shift < -Shifter<std::int64_t>::kMaxRight || twice || !rule.is_signed)
      wide_shift_.emplace(shift, rounding);
  }

  // out[i] is of sums[i] + start, modulo 2^32.
  template <class T>
  void operator()(const std::uint32_t* sums, std::uint32_t start, int count, T* out) const {
    if (!wide_shift_) return shift_sums(sizeof(T))(rule_, sums, start, nullptr, count, out);
    for (int i = 0; i < count; ++i) {
      const std::uint32_t sum = sums[i] + start;
      const std::int64_t read = rule_.is_signed ? std::int64_t{static_cast<std::int32_t>(sum)} : std::int64_t{sum};
      const std::int64_t value = std::max(read, rule_.floor);
      Int128 shifted = shifted_product(value, rule_.multiplier, *wide_shift_, uncut_);
      if (uncut_) shifted = within_64(shifted);
      if constexpr (sizeof(T) == 4)
        shifted = std::clamp<Int128>(shifted, INT32_MIN, std::min<std::int64_t>(rule_.high, INT32_MAX));
      const Int128 wide = shifted + rule_.offset;
      out[i] = static_cast<T>(std::clamp<Int128>(wide, rule_.low, rule_.high));
    }
  }

 private:
  // What goes to the left counts modulo the 64 bits of the product there (numerics newer-rules.md section 1).
  static constexpr int counted(int shift, bool uncut) { return uncut && shift > 0 ? shift & 63 : shift; }

  SumEnd(const SumRule& rule, int shift, Rounding rounding)
      : rule_{rule.is_signed, {shift, rounding}, 0, 0, rule.relu ? 0 : SumShift::kNoFloor} {
    const IntRange range = saturation_range(rule.result, rule.symmetric);
    rule_.low = range.low;
    rule_.high = range.high;
  }

  SumShift rule_;
  bool uncut_ = false;
  std::optional<Shifter<Int128>> wide_shift_;
};

// The ends of all channels. Tables are read at once: the result may overlap them.
class SumEnds {
 public:
  SumEnds(const Memories& mem, const SumRule& rule, const std::optional<Requant>& requant) {
    if (!requant) {
      ends_.emplace_back(rule);
    } else if (!requant->table) {
      ends_.emplace_back(rule, requant->multiplier, requant->shift, requant->offset, requant->rounding,
                         mem.chip().has(Quirk::kUncutShifts));
    } else {
      load(mem, rule, *requant);
    }
  }
  bool differ() const { return ends_.size() != 1; }
  const SumEnd& of(int channel) const {
    return ends_.size() == 1 ? ends_[0] : ends_[static_cast<std::size_t>(channel)];
  }

 private:
  // Of the second word the low 8 bits count; of the third the low 16, with the sign of the result's type. Of a record
  // of two words the offset is the signed upper half of the second.
  void load(const Memories& mem, const SumRule& rule, const Requant& requant) {
    const TensorView table(mem, *requant.table);
    const int channels = requant.table->shape.c;
    const bool compact = requant.table->shape.w == 2, uncut = mem.chip().has(Quirk::kUncutShifts);
    ends_.reserve(static_cast<std::size_t>(channels));
    for (int c = 0; c < channels; ++c) {
      const auto* words = table.at<const std::int32_t>(0, c, 0, 0);
      const std::int32_t stored = compact ? words[1] >> 16 : words[2];
      const std::int32_t offset = compact || is_signed_int(rule.result)
                                      ? std::int32_t{static_cast<std::int16_t>(stored)}
                                      : std::int32_t{static_cast<std::uint16_t>(stored)};
      const int shift = static_cast<std::int8_t>(words[1]);
      const bool lost = shift > kMostPlaces && mem.chip().has(Quirk::kLongShiftsLose);
      ends_.emplace_back(rule, lost ? 0 : words[0], shift, offset, requant.rounding, uncut);
    }
  }

  static constexpr int kMostPlaces = 63;  // of a product of 64 bits
  std::vector<SumEnd> ends_;
};

}  // namespace softtpu
