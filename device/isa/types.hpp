// Value types of commands: data types, rounding modes, shapes, addresses, tensors. Plain data, no behaviour of a chip.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "runtime/layout/shape.hpp"

namespace softtpu {

// The interfaces that kernels are written for. A chip runs the functions of one.
enum class Api : std::uint8_t { kTpuKernel, kOkKernel };

// Element types with the codes of data_type_t (api facts: tpukernel.json, enum data_type_t). Chips that number some
// otherwise say so (TypeNumbers); fp4 has a number on those alone, and here one that is free.
enum class Dtype : std::uint8_t {
  kUint8 = 0,
  kInt8 = 1,
  kFp16 = 3,
  kFp32 = 5,
  kUint16 = 6,
  kInt16 = 7,
  kUint32 = 8,
  kInt32 = 9,
  kBfp16 = 11,
  kUint4 = 12,
  kInt4 = 13,
  kFp8E5M2 = 15,
  kFp20 = 17,
  kTf32 = 19,
  kFp8E4M3 = 47,
  kFp4 = 61,
};

// Rounding modes with the codes of rounding_mode_t.
enum class Rounding : std::uint8_t {
  kHalfToEven = 0,
  kHalfAwayFromZero = 1,
  kTowardsZero = 2,
  kDown = 3,
  kUp = 4,
  kHalfUp = 5,
  kHalfDown = 6,
};

// Bytes of one element; the 4-bit types have no byte size and give 0.
constexpr int size_of(Dtype type) {
  switch (type) {
    case Dtype::kUint8:
    case Dtype::kInt8:
    case Dtype::kFp8E5M2:
    case Dtype::kFp8E4M3: return 1;
    case Dtype::kFp16:
    case Dtype::kBfp16:
    case Dtype::kUint16:
    case Dtype::kInt16: return 2;
    case Dtype::kFp32:
    case Dtype::kUint32:
    case Dtype::kInt32:
    case Dtype::kFp20:
    case Dtype::kTf32: return 4;
    case Dtype::kUint4:
    case Dtype::kInt4:
    case Dtype::kFp4: return 0;
  }
  return 0;
}
constexpr bool is_fp8(Dtype type) { return type == Dtype::kFp8E5M2 || type == Dtype::kFp8E4M3; }
constexpr bool is_float(Dtype type) {
  return type == Dtype::kFp32 || type == Dtype::kFp16 || type == Dtype::kBfp16 || is_fp8(type) ||
         type == Dtype::kTf32 || type == Dtype::kFp20 || type == Dtype::kFp4;
}
constexpr bool is_signed_int(Dtype type) {
  return type == Dtype::kInt8 || type == Dtype::kInt16 || type == Dtype::kInt32 || type == Dtype::kInt4;
}
constexpr bool is_integer(Dtype type) { return !is_float(type); }

std::string_view to_text(Dtype type);
std::string_view to_text(Rounding mode);

// A set of data types: bit i stands for the type with code i.
using TypeSet = std::uint64_t;
constexpr TypeSet types(auto... list) { return ((TypeSet{1} << static_cast<unsigned>(list)) | ... | TypeSet{0}); }
constexpr bool contains(TypeSet set, Dtype type) { return (set >> static_cast<unsigned>(type) & 1U) != 0; }
// The floats of every chip; those that only some have are asked for by name.
constexpr TypeSet kFloats = types(Dtype::kFp32, Dtype::kFp16, Dtype::kBfp16);
constexpr TypeSet kFp32Only = types(Dtype::kFp32);
constexpr TypeSet kHalves = types(Dtype::kFp16, Dtype::kBfp16);
constexpr TypeSet kInts8 = types(Dtype::kInt8, Dtype::kUint8);
constexpr TypeSet kInts16 = types(Dtype::kInt16, Dtype::kUint16);
constexpr TypeSet kInts32 = types(Dtype::kInt32, Dtype::kUint32);
constexpr TypeSet kInts = kInts8 | kInts16 | kInts32;
constexpr TypeSet kSignedInts = types(Dtype::kInt8, Dtype::kInt16, Dtype::kInt32);
constexpr TypeSet kUnsignedInts = types(Dtype::kUint8, Dtype::kUint16, Dtype::kUint32);
constexpr TypeSet kAllTypes = kFloats | kInts;
constexpr TypeSet kFp8s = types(Dtype::kFp8E5M2, Dtype::kFp8E4M3);
// With the types that only some chips have: an argument of such a type is refused on the others.
constexpr TypeSet kAnyFloats = kFloats | kFp8s;
constexpr TypeSet kAnyTypes = kAllTypes | kFp8s;
constexpr TypeSet kReduced = kFloats | types(Dtype::kInt32, Dtype::kUint32);
constexpr TypeSet kNoTypes = 0;

struct Dim2 {
  int h = 1, w = 1;
  bool operator==(const Dim2&) const = default;
};
struct Padding4 {
  int top = 0, bottom = 0, left = 0, right = 0;
  bool operator==(const Padding4&) const = default;
};

enum class Space : std::uint8_t {
  kLocal,   // unified local address: npu * bytes per NPU + offset
  kSystem,  // global memory, L2 SRAM, DTCM or the window onto local memory, by system address
  kStatic,  // offset in static memory
};

// A tensor as a command names it. `natural` remembers that the caller passed no strides (NULL): the alignment rules
// differ.
struct Tensor {
  Space space = Space::kLocal;
  std::uint64_t addr = 0;
  Dim4 shape;
  Stride4 stride;
  Dtype dtype = Dtype::kFp32;
  bool natural = false;
  bool operator==(const Tensor&) const = default;
};

// A constant operand: its low bits in the type of the tensors it is combined with.
struct Scalar {
  std::uint32_t bits = 0;
  Dtype dtype = Dtype::kFp32;
  bool operator==(const Scalar&) const = default;
};

using Operand = std::variant<Tensor, Scalar>;
inline Dtype type_of(const Operand& operand) {
  return std::visit([](const auto& value) { return value.dtype; }, operand);
}

enum class Access : std::uint8_t { kRead, kWrite, kReadWrite };

std::string to_text(const Dim4& shape);
std::string to_text(const Stride4& stride);
std::string to_text(const Tensor& tensor);
std::string to_text(const Operand& operand);

}  // namespace softtpu
