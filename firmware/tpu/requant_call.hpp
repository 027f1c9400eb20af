// Requantisation as functions take it.
#pragma once

#include "device/chip/rules.hpp"
#include "firmware/call.hpp"

namespace softtpu {

// The table of tpu_bdc_int_pc_requant: three words for each channel of the result, in the aligned layout, or two
// without gaps.
inline Requant requant_table(const Call& call, local_addr_t addr, int channels, Rounding rounding) {
  Requant requant;
  if (call.chip().has(Quirk::kCompactQuantRecords)) {
    requant.table = call.local(addr, Dim4{1, channels, 1, 2}, Dtype::kInt32, Layout::kCompact);
  } else {
    requant.table = call.local(addr, Dim4{1, channels, 1, 3}, Dtype::kInt32);
  }
  requant.rounding = rounding;
  return requant;
}

// A zero point of the result's type: 16 bits, of its sign.
inline std::int32_t result_zero_point(const Call& call, const char* name, int value, Dtype result) {
  const bool is_signed = is_signed_int(result);
  return call.in_range(name, value, is_signed ? -0x8000 : 0, is_signed ? 0x7FFF : 0xFFFF);
}

}  // namespace softtpu
