// Vector by vector operations: one element-wise command for each element of the first vector, shared by the threads.
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/bdc/outer/command.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/parallel.hpp"
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

// Whether no batch of dst touches another one or what the commands read.
template <class Rule>
bool batches_are_apart(const Chip& chip, const Rule& rule) {
  return writes_each_byte_once(chip, rule.dst) && !may_overlap(chip, rule.dst, std::get<Tensor>(rule.b));
}

}  // namespace

void execute(Memories& mem, const OuterCmd& cmd) {
  std::visit(
      [&](const auto& rule) {
        const int length = rule.dst.shape.n;
        const auto batch_bytes = static_cast<std::uint64_t>(rule.dst.stride.n * size_of(rule.dst.dtype));
        const std::vector<std::uint32_t> values = read_vector(mem, cmd.src0, length);
        const auto run = [&](int first, int last) {
          auto batch = rule;
          batch.dst.shape.n = 1;
          for (int n = first; n < last; ++n) {
            batch.dst.addr = rule.dst.addr + static_cast<unsigned>(n) * batch_bytes;
            batch.a = Scalar{values[static_cast<std::size_t>(n)], cmd.src0.dtype};
            execute(mem, batch);
          }
        };
        batches_are_apart(mem.chip(), rule) ? parallel_ranges(length, rule.dst.shape.elements(), run) : run(0, length);
      },
      cmd.rule);
}

}  // namespace softtpu
