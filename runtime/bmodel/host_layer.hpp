// Layers that compilers leave to the host's processor. Their numbers, names and records of parameters are those of the
// published interface of the vendor's library of such layers. What a layer computes is what the operator of that name
// does where it comes from (ONNX, PyTorch, TensorFlow, MXNet, Caffe): documented, not compared with the vendor's
// library. Layers whose operator, operands or record are not published are refused by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/bmodel/container.hpp"

namespace softtpu::bmodel {

// The layer of a program's own library (libusercpu.so), which the host's runtime calls.
inline constexpr std::int32_t kUserLayer = 3;

// "TOPK (17)"; of an unknown number "17".
std::string name_of_host_layer(std::int32_t type);
// Where what it does is documented, "PyTorch's topk"; empty: it is not carried out.
std::string meaning_of_host_layer(std::int32_t type);

// Why a layer is not carried out, as far as the file tells; empty: it is.
std::string why_not_on_host(const HostLayer& layer, std::span<const Tensor> inputs, std::span<const Tensor> outputs);

// A tensor in the host's memory, compact.
struct HostTensor {
  DataType type = DataType::kFloat32;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint8_t> bytes;
};

// Carries a layer out. `outputs` are those of the file, with their greatest shapes; the results have the real ones.
// Where the inputs have the shapes that the file gives them (`whole`), a layer whose result does not depend on values
// has to fill its outputs: else the operands are not those of the documented operator.
Result<std::vector<HostTensor>> run_on_host(const HostLayer& layer, std::span<const HostTensor> inputs,
                                            std::span<const Tensor> outputs, bool whole);

}  // namespace softtpu::bmodel
