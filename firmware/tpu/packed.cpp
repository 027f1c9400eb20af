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
  call.require(shape.w <= 1 || steps.w == 1,
               "{argument} of 4-bit integers has a w stride of {value}; {limit} is known.", name, steps.w, 1);
  const std::optional<Tensor> bytes = packed_bytes(addr, shape, steps, type, stride == nullptr);
  call.require(bytes.has_value(), "{argument} of 4-bit integers has a stride of half a byte: {value}.", name,
               to_text(steps));
  return *bytes;
}

}  // namespace softtpu
