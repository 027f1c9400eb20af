// The plain loop over shifted sums, and the choice between it and the SIMD ones.
#include "device/engines/bdc/requant/shifted_sums.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

template <class T>
void shift_row(const SumShift& rule, const std::uint32_t* sums, std::uint32_t start, const std::int64_t* addends,
               int count, void* out) {
  auto* results = static_cast<T*>(out);
  for (int i = 0; i < count; ++i)
    results[i] = static_cast<T>(rule(sums[i] + start, addends == nullptr ? 0 : addends[i]));
}

}  // namespace

ShiftSums plain_shift_sums(int result_bytes) {
  ShiftSums found = nullptr;
  for_size(result_bytes, [&]<class T>(T) { found = &shift_row<T>; });
  return found;
}

ShiftSums shift_sums(int result_bytes) {
  return plain_kernels() ? plain_shift_sums(result_bytes) : fast_shift_sums(result_bytes);
}

}  // namespace softtpu
