// Which data type each number of data_type_t means to the functions of a chip.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "device/isa/types.hpp"

namespace softtpu {

constexpr Dtype kEveryType[] = {Dtype::kUint8,  Dtype::kInt8,  Dtype::kFp16,    Dtype::kFp32,
                                Dtype::kUint16, Dtype::kInt16, Dtype::kUint32,  Dtype::kInt32,
                                Dtype::kBfp16,  Dtype::kUint4, Dtype::kInt4,    Dtype::kFp8E5M2,
                                Dtype::kFp20,   Dtype::kTf32,  Dtype::kFp8E4M3, Dtype::kFp4};

// Numbers that mean no type give nothing.
class TypeNumbers {
 public:
  // Those of every chip whose description does not say otherwise; fp4 has none.
  constexpr TypeNumbers() {
    for (const Dtype type : kEveryType)
      if (type != Dtype::kFp4) types_[static_cast<std::size_t>(type)] = type;
  }
  constexpr std::optional<Dtype> type_of(int number) const {
    const bool inside = number >= 0 && number < static_cast<int>(types_.size());
    return inside ? types_[static_cast<std::size_t>(number)] : std::nullopt;
  }
  // -1: the chip has no number for it.
  constexpr int number_of(Dtype type) const {
    const auto* const found = std::find(types_.begin(), types_.end(), type);
    return found == types_.end() ? -1 : static_cast<int>(found - types_.begin());
  }
  // The number that `type` had means nothing then.
  constexpr void set(Dtype type, int number) {
    for (auto& one : types_)
      if (one == type) one = std::nullopt;
    types_[static_cast<std::size_t>(number)] = type;
  }

 private:
  std::array<std::optional<Dtype>, 64> types_{};
};

}  // namespace softtpu
