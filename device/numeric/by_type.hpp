// Calls a template with the storage type that belongs to a data type code.
#pragma once

#include <cstdint>

#include "device/isa/types.hpp"
#include "device/numeric/formats.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu {

// body(T()) with T = float, F16 or Bf16. The validator has refused every other type before.
template <class Body>
void for_float_type(Dtype type, Body body) {
  if (type == Dtype::kFp32) return body(float());
  if (type == Dtype::kFp16) return body(F16());
  if (type == Dtype::kBfp16) return body(Bf16());
  unreachable(type);
}

// body(T()) with T an integer of the type's width and sign.
template <class Body>
void for_int_type(Dtype type, Body body) {
  switch (type) {
    case Dtype::kInt8: return body(std::int8_t());
    case Dtype::kUint8: return body(std::uint8_t());
    case Dtype::kInt16: return body(std::int16_t());
    case Dtype::kUint16: return body(std::uint16_t());
    case Dtype::kInt32: return body(std::int32_t());
    case Dtype::kUint32: return body(std::uint32_t());
    case Dtype::kFp16:
    case Dtype::kFp32:
    case Dtype::kBfp16:
    case Dtype::kUint4:
    case Dtype::kInt4:
    case Dtype::kFp8E5M2:
    case Dtype::kFp8E4M3:
    case Dtype::kFp20:
    case Dtype::kTf32:
    case Dtype::kFp4: break;
  }
  unreachable(type);
}

template <class Body>
void for_any_type(Dtype type, Body body) {
  is_float(type) ? for_float_type(type, body) : for_int_type(type, body);
}

// body(T()) with T the unsigned integer of that many bytes: for moves, where only the size matters.
template <class Body>
void for_size(int bytes, Body body) {
  if (bytes == 1) return body(std::uint8_t());
  if (bytes == 2) return body(std::uint16_t());
  if (bytes == 4) return body(std::uint32_t());
  unreachable(bytes);
}

}  // namespace softtpu
