// Vector by vector operations: one element-wise command for each element of the first vector.
#include <vector>

#include "device/core/commands.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

// The first `length` elements of the vector, as bits. They are read before dst, which may cover them, is written.
std::vector<std::uint32_t> read_vector(const Memories& mem, const Tensor& vector, int length) {
  std::vector<std::uint32_t> bits;
  bits.reserve(static_cast<std::size_t>(length));
  const TensorView view(mem, vector);
  const int per_channel = vector.shape.w;
  for_size(size_of(vector.dtype), [&]<class T>(T) {
    for (int i = 0; i < length; ++i) bits.push_back(*view.at<T>(0, i / per_channel, 0, i % per_channel));
  });
  return bits;
}

}  // namespace

void execute(Memories& mem, const OuterCmd& cmd) {
  std::visit(
      [&](auto rule) {
        const int length = rule.dst.shape.n;
        const auto batch_bytes = static_cast<std::uint64_t>(rule.dst.stride.n * size_of(rule.dst.dtype));
        rule.dst.shape.n = 1;
        for (const std::uint32_t bits : read_vector(mem, cmd.src0, length)) {
          rule.a = Scalar{bits, cmd.src0.dtype};
          execute(mem, rule);
          rule.dst.addr += batch_bytes;
        }
      },
      cmd.rule);
}

}  // namespace softtpu
