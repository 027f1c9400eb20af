#include "device/isa/types.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/base/unreachable.hpp"

namespace softtpu {

std::string_view to_text(Dtype type) {
  switch (type) {
    case Dtype::kUint8: return "uint8";
    case Dtype::kInt8: return "int8";
    case Dtype::kFp16: return "fp16";
    case Dtype::kFp32: return "fp32";
    case Dtype::kUint16: return "uint16";
    case Dtype::kInt16: return "int16";
    case Dtype::kUint32: return "uint32";
    case Dtype::kInt32: return "int32";
    case Dtype::kBfp16: return "bfp16";
    case Dtype::kUint4: return "uint4";
    case Dtype::kInt4: return "int4";
    case Dtype::kFp8E5M2: return "fp8e5m2";
    case Dtype::kFp8E4M3: return "fp8e4m3";
    case Dtype::kFp20: return "fp20";
    case Dtype::kTf32: return "tf32";
    case Dtype::kFp4: return "fp4";
  }
  unreachable(type);
}

std::string_view to_text(Rounding mode) {
  switch (mode) {
    case Rounding::kHalfToEven: return "RM_HALF_TO_EVEN";
    case Rounding::kHalfAwayFromZero: return "RM_HALF_AWAY_FROM_ZERO";
    case Rounding::kTowardsZero: return "RM_TOWARDS_ZERO";
    case Rounding::kDown: return "RM_DOWN";
    case Rounding::kUp: return "RM_UP";
    case Rounding::kHalfUp: return "RM_HALF_UP";
    case Rounding::kHalfDown: return "RM_HALF_DOWN";
  }
  unreachable(mode);
}

std::string to_text(const Dim4& shape) { return fmt::format("[{}, {}, {}, {}]", shape.n, shape.c, shape.h, shape.w); }
std::string to_text(const Stride4& stride) {
  return fmt::format("[{}, {}, {}, {}]", stride.n, stride.c, stride.h, stride.w);
}
// The part of the shape that is in memory: along a dimension with stride 0 one element stands for all. Elements without
// a size in bytes have no strides.
static Dim4 stored_shape(const Tensor& tensor) {
  if (size_of(tensor.dtype) == 0) return tensor.shape;
  const auto extent = [](int count, std::int64_t stride) { return stride == 0 ? std::min(count, 1) : count; };
  return {extent(tensor.shape.n, tensor.stride.n), extent(tensor.shape.c, tensor.stride.c),
          extent(tensor.shape.h, tensor.stride.h), extent(tensor.shape.w, tensor.stride.w)};
}
std::string to_text(const Tensor& tensor) {
  const Dim4 stored = stored_shape(tensor);
  std::string text = fmt::format("0x{:08x}, shape {}", tensor.addr, to_text(stored));
  if (stored != tensor.shape) text += " for all of " + to_text(tensor.shape);
  text += fmt::format(", {}", to_text(tensor.dtype));
  if (!tensor.natural) text += ", stride " + to_text(tensor.stride);
  return text;
}
std::string to_text(const Operand& operand) {
  if (const auto* tensor = std::get_if<Tensor>(&operand)) return to_text(*tensor);
  const auto& scalar = std::get<Scalar>(operand);
  return fmt::format("constant 0x{:x} ({})", scalar.bits, to_text(scalar.dtype));
}

}  // namespace softtpu
