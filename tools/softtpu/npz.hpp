// Archives of NumPy arrays (.npz), read and written with libzip.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/isa/types.hpp"
#include "runtime/base/result.hpp"

namespace softtpu::cli {

// An array of a file: elements as NumPy describes them, C order, little endian.
struct NumpyArray {
  std::string name;
  char kind = 'f';  // f, i, u or b
  int item_bytes = 4;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint8_t> bytes;

  std::uint64_t count() const { return item_bytes > 0 ? bytes.size() / static_cast<unsigned>(item_bytes) : 0; }
  // Element `i` as a number.
  double value(std::uint64_t i) const;
};

// The contents of a .npy file. An error says what is wrong with `name`.
Result<NumpyArray> decode_npy(const std::string& name, const std::vector<std::uint8_t>& file);

// All arrays of a .npz file, in its order; the one of a .npy file. Names are without ".npy". Of an array with more than
// `most_bytes`, which fits none of the tensors that it may be for, only the shape is read.
Result<std::vector<NumpyArray>> read_arrays(const std::string& path, std::uint64_t most_bytes);

struct NamedTensor {
  std::string name;
  Dtype dtype{};
  std::vector<std::uint64_t> shape;
  std::vector<std::uint8_t> bytes;
};
// Replaces the file, when everything is written.
Result<void> write_npz(const std::string& path, const std::vector<NamedTensor>& tensors);

}  // namespace softtpu::cli
