#include "firmware/tpu/packed.hpp"

#include "device/isa/op_names.hpp"

namespace softtpu {
namespace {

constexpr int kPerByte = 2;

Stride4 steps_of(const Call& call, std::uint32_t addr, const Dim4& shape, const dim4* stride) {
  if (stride != nullptr) return {stride->n, stride->c, stride->h, stride->w};
  const Chip& chip = call.chip();
  return aligned_stride(chip.npu_num, chip.npu_of(addr), shape, kPerByte * chip.eu_bytes);
}

}  // namespace

Tensor packed_or_whole(const Call& call, const char* name, std::uint32_t addr, const Dim4& shape, const dim4* stride,
                       Dtype type) {
  if (!is_nibble(type)) return call.local(addr, shape, stride, type);
  const Stride4 steps = steps_of(call, addr, shape, stride);
  const bool joined = shape.h > 1 && steps.h == shape.w;
  const auto whole = [](int extent, std::int64_t step) { return extent <= 1 || step % kPerByte == 0; };
  call.require(shape.w <= 1 || steps.w == 1,
               "{argument} of 4-bit integers has a w stride of {value}; {limit} is known.", name, steps.w, 1);
  call.require((joined || whole(shape.h, steps.h)) && whole(shape.n, steps.n) && whole(shape.c, steps.c),
               "{argument} of 4-bit integers has a stride of half a byte: {value}.", name, to_text(steps));
  Tensor bytes{Space::kLocal, addr, shape, {}, byte_of(type), stride == nullptr};
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
