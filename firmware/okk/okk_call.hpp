// What the bodies of okk_* functions share: operands of BM1684's 32-bit element-wise functions.
#pragma once

#include <fmt/format.h>

#include <type_traits>

#include "device/command/checks.hpp"
#include "firmware/call.hpp"
#include "okk.h"

namespace softtpu {

// A tensor of a function that takes no strides: 128-byte aligned layout at an aligned address.
inline Tensor aligned_tensor(const Call& call, const char* name, std::uint32_t addr, const Dim4& shape,
                             Dtype type = Dtype::kFp32) {
  call.multiple_of(name, addr, static_cast<unsigned>(call.chip().eu_bytes));
  return call.local(addr, shape, type);
}

// The rules of an operand under its own name, where the steps of a composite know it by another.
inline void check_operand(const Call& call, const char* name, const Tensor& tensor, const Tensor& dst) {
  Checks check(call.core().memories(), call.op());
  check.shape("shape", dst.shape).source(name, tensor, dst);
  if (check.violation()) call.core().fault(ErrorKind::kUsage, *check.violation());
}

}  // namespace softtpu
