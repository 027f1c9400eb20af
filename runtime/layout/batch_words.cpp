#include "runtime/layout/batch_words.hpp"

#include <cstring>

#include "runtime/layout/formulas.hpp"

namespace softtpu {
namespace {

// Calls move(offset in the words, offset in the plain tensor) for each element.
template <class Move>
void for_each_element(const BatchWords& tensor, Move move) {
  const Stride4 unit = continuous_stride(packed_shape(tensor.shape, tensor.pack));
  const std::int64_t batch = unit.n;  // elements of one batch, and words of one group of batches
  const int element = tensor.element_bytes();
  std::int64_t plain = 0;
  for (int n = 0; n < tensor.shape.n; ++n) {
    const std::int64_t group = n / tensor.pack * batch * kWordBytes + n % tensor.pack * element;
    for (std::int64_t i = 0; i < batch; ++i, plain += element) move(group + i * kWordBytes, plain);
  }
}

}  // namespace

std::int64_t BatchWords::bytes() const { return packed_shape(shape, pack).elements() * kWordBytes; }

void pack_batches(const BatchWords& tensor, const std::byte* plain, std::byte* words) {
  std::memset(words, 0, static_cast<std::size_t>(tensor.bytes()));
  const auto element = static_cast<std::size_t>(tensor.element_bytes());
  for_each_element(tensor,
                   [&](std::int64_t there, std::int64_t here) { std::memcpy(words + there, plain + here, element); });
}

void unpack_batches(const BatchWords& tensor, const std::byte* words, std::byte* plain) {
  const auto element = static_cast<std::size_t>(tensor.element_bytes());
  for_each_element(tensor,
                   [&](std::int64_t there, std::int64_t here) { std::memcpy(plain + here, words + there, element); });
}

}  // namespace softtpu
