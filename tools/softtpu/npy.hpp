// Arrays for people and for NumPy. bfp16, which NumPy does not have, becomes fp32 of the same value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/isa/types.hpp"
#include "runtime/base/result.hpp"

namespace softtpu::cli {

// The contents of such a file.
Result<std::string> encode_npy(Dtype dtype, const std::vector<std::uint64_t>& shape,
                               const std::vector<std::uint8_t>& bytes);

// Version 1.0 of the .npy format, C order, little endian. A type that NumPy does not have is kept as integers of the
// same bits, and PATH.json says which type they are (npy_type_note()); for another type, such a file beside it is
// removed.
Result<void> write_npy(const std::string& path, Dtype dtype, const std::vector<std::uint64_t>& shape,
                       const std::vector<std::uint8_t>& bytes);

// What PATH.json says of such a type; empty for types of NumPy.
std::string npy_type_note(Dtype dtype, const std::vector<std::uint64_t>& shape);

// One element, as print_elements() shows it.
std::string element_text(Dtype dtype, const std::uint8_t* from);

// One line per row of the last dimension, with the indices before it.
void print_elements(Dtype dtype, const std::vector<std::uint64_t>& shape, const std::vector<std::uint8_t>& bytes);

}  // namespace softtpu::cli
