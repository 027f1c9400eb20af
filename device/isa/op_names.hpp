// The names of the operations: one enumerator per row of device/isa/ops.def. Include it only where a name stands: a
// changed row compiles each of these files again. The others know the type from op.hpp.
#pragma once

#include "device/isa/op.hpp"

namespace softtpu {

enum class Op : std::uint16_t {
#define OP(family, name, ...) name,
#include "device/isa/ops.def"
};

}  // namespace softtpu
