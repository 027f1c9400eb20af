#include "device/core/stack_paint.hpp"

#include <array>

namespace softtpu {

__attribute__((noinline)) void paint_stack() {
  std::array<volatile std::uint32_t, kPaintedBytes / sizeof(kPaintedWord)> area;  // NOLINT: what is set is what counts
  for (volatile std::uint32_t& word : area) word = kPaintedWord;
}

}  // namespace softtpu
