// Random requantisation for the tests of products that end with it.
#pragma once

#include "tests/reference/random_data.hpp"
#include "tests/reference/sum_end.hpp"
#include "tests/unit/assumed.hpp"

namespace softtpu {

// Mostly parameters that bring sums into the result's range; now and then any that are allowed.
inline reference::Requantisation any_requantisation(reference::RandomData& random, Dtype result) {
  const bool wild = random.in(0, 3) == 0;
  const bool is_signed = result == Dtype::kInt8 || result == Dtype::kInt16;
  const int offset = wild ? random.in(0, 0xFFFF) : random.in(0, 200);
  const auto multiplier = wild ? static_cast<std::int32_t>(random.bits()) : random.in(-20, 500);
  return {multiplier, wild ? random.in(-64, 31) : random.in(-18, 1),
          is_signed ? offset - (wild ? 0x8000 : 100) : offset};
}

// A table of `tensor`'s channels: words whose unused bits hold anything.
inline void fill_table(reference::RandomData& random, reference::Image& image, const reference::LocalTensor& tensor,
                       Dtype result) {
  for (int c = 0; c < tensor.c; ++c) {
    const reference::Requantisation made = any_requantisation(random, result);
    const auto word = [&](int w, std::uint32_t bits) { reference::RandomData::put(image, tensor, 0, c, 0, w, bits); };
    word(0, static_cast<std::uint32_t>(made.multiplier));
    word(1, (static_cast<std::uint32_t>(made.shift) & 0xFFU) | (random.bits() & 0xFFFFFF00U));
    word(2, (static_cast<std::uint32_t>(made.offset) & 0xFFFFU) | (random.bits() & 0xFFFF0000U));
  }
}
inline reference::Requantisation table_entry(const reference::Image& image, const reference::LocalTensor& tensor, int c,
                                             Dtype result) {
  const auto word = [&](int w) { return reference::RandomData::take(image, tensor, 0, c, 0, w); };
  return reference::from_words(word(0), word(1), word(2), result);
}

}  // namespace softtpu
