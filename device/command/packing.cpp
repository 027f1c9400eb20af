#include "device/command/packing.hpp"

namespace softtpu {

std::optional<Tensor> packed_bytes(std::uint64_t addr, const Dim4& shape, const Stride4& steps, Dtype type,
                                   bool natural) {
  constexpr int kPerByte = 2;
  const bool joined = shape.h > 1 && steps.h == shape.w;
  const auto whole = [](int extent, std::int64_t step) { return extent <= 1 || step % kPerByte == 0; };
  if (shape.w > 1 && steps.w != 1) return std::nullopt;
  if ((!joined && !whole(shape.h, steps.h)) || !whole(shape.n, steps.n) || !whole(shape.c, steps.c))
    return std::nullopt;
  Tensor bytes{Space::kLocal, addr, shape, {}, byte_of(type), natural};
  bytes.stride = {steps.n / kPerByte, steps.c / kPerByte, steps.h / kPerByte, 1};
  std::int64_t row = shape.w;
  if (joined) {
    bytes.shape.h = 1;
    row *= shape.h;
  }
  bytes.shape.w = static_cast<int>((row + kPerByte - 1) / kPerByte);
  return bytes;
}

}  // namespace softtpu
