// The reader of NumPy files, which users give to `softtpu bmodel run` and `compare`: a .npy file, or an archive of
// them.
#include <string>

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/temporary_file.hpp"
#include "tools/softtpu/npz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu;
  constexpr std::uint64_t kMostBytes = 1 << 16;
  fuzz::Input input(data, bytes);
  const bool is_archive = input.byte() % 4 != 0;
  const fuzz::TemporaryFile file(is_archive ? ".npz" : ".npy", input.rest());
  const auto arrays = cli::read_arrays(file.path(), kMostBytes);
  if (!arrays) {
    fuzz::require(!arrays.error().text.empty(), "a refusal says why");
    return 0;
  }
  for (const cli::NumpyArray& array : *arrays) {
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : array.shape) elements *= extent;
    // Of arrays that are too long only the shape is read.
    fuzz::require(array.count() == elements || array.bytes.empty(), "as many elements as the shape says");
    fuzz::require(array.bytes.size() <= kMostBytes || !is_archive, "no more is inflated than was asked for");
    if (array.count() > 0) static_cast<void>(array.value(array.count() - 1));
  }
  return 0;
}
