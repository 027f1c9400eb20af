// What becomes of the 32-bit sums of products of bytes: relu, requantisation, saturation.
#pragma once

#include <bit>
#include <optional>
#include <vector>

#include "device/isa/commands/requant.hpp"
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
  explicit SumEnd(const SumRule& rule) : rule_(rule), range_(saturation_range(rule.result, rule.symmetric)) {}
  SumEnd(const SumRule& rule, std::int32_t multiplier, int shift, std::int32_t offset, Rounding rounding)
      : SumEnd(rule) {
    const std::int64_t factor = multiplier;
    requantises_ = true;
    const auto magnitude = static_cast<std::uint64_t>(factor < 0 ? -factor : factor);
    narrow_ = fits_64(32 + static_cast<int>(std::bit_width(magnitude)), shift);
    multiplier_ = factor;
    offset_ = offset;
    narrow_shift_ = Shifter<std::int64_t>(shift, rounding);
    wide_shift_ = Shifter<Int128>(shift, rounding);
  }

  std::int64_t operator()(std::uint32_t sum) const {
    std::int64_t value = rule_.is_signed ? std::int64_t{static_cast<std::int32_t>(sum)} : std::int64_t{sum};
    if (rule_.relu) value = std::max<std::int64_t>(value, 0);
    if (requantises_ && !narrow_) {
      const Int128 wide = requantised(value, multiplier_, wide_shift_, offset_);
      return static_cast<std::int64_t>(std::clamp<Int128>(wide, range_.low, range_.high));
    }
    if (requantises_) value = requantised(value, multiplier_, narrow_shift_, offset_);
    return std::clamp(value, range_.low, range_.high);
  }

 private:
  SumRule rule_;
  IntRange range_;
  bool requantises_ = false, narrow_ = true;
  std::int64_t multiplier_ = 1, offset_ = 0;
  Shifter<std::int64_t> narrow_shift_{0, Rounding::kHalfUp};
  Shifter<Int128> wide_shift_{0, Rounding::kHalfUp};
};

// The ends of all channels. Tables are read at once: the result may overlap them.
class SumEnds {
 public:
  SumEnds(const Memories& mem, const SumRule& rule, const std::optional<Requant>& requant) {
    if (!requant) {
      ends_.emplace_back(rule);
    } else if (!requant->table) {
      ends_.emplace_back(rule, requant->multiplier, requant->shift, requant->offset, requant->rounding);
    } else {
      load(mem, rule, *requant);
    }
  }
  const SumEnd& of(int channel) const {
    return ends_.size() == 1 ? ends_[0] : ends_[static_cast<std::size_t>(channel)];
  }

 private:
  // Of the second word the low 8 bits count; of the third the low 16, with the sign of the result's type.
  void load(const Memories& mem, const SumRule& rule, const Requant& requant) {
    const TensorView table(mem, *requant.table);
    const int channels = requant.table->shape.c;
    ends_.reserve(static_cast<std::size_t>(channels));
    for (int c = 0; c < channels; ++c) {
      const auto* words = table.at<const std::int32_t>(0, c, 0, 0);
      const std::int32_t offset = is_signed_int(rule.result) ? std::int32_t{static_cast<std::int16_t>(words[2])}
                                                             : std::int32_t{static_cast<std::uint16_t>(words[2])};
      ends_.emplace_back(rule, words[0], static_cast<std::int8_t>(words[1]), offset, requant.rounding);
    }
  }

  std::vector<SumEnd> ends_;
};

}  // namespace softtpu
