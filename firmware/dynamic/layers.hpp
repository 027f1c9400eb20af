// The layers of lists (runtime/bmodel/layers.def). A layer is one function; runtime/bmodel/layer_rules has the shapes
// and says which cases come here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "firmware/dynamic/tensors.hpp"

namespace softtpu::dynamic {

// A layer with operands in device memory.
struct LayerRun {
  const ListedLayer& layer;
  const std::vector<Tensor>& inputs;
  const std::vector<Tensor>& outputs;
  std::uint64_t context_moved;  // what is added to addresses in the context area
};
void carry_out(const LayerRun& run);

// A layer with operands in local memory.
struct LocalRun {
  const ListedLayer& layer;
  const std::vector<LocalTensor>& inputs;
  const LocalTensor& output;
  local_addr_t work;           // memory that the compiler has set aside for it
  local_addr_t work_step = 0;  // between tensors there; 0: they lie one behind the other
};
void carry_out(const LocalRun& run);

// moves.cpp
void concatenation(const LayerRun& run);
void concatenation(const LocalRun& run);
void reshape(const LayerRun& run);
void nothing(const LayerRun& run);  // of shapes, which the rules compute
void transpose(const LayerRun& run);
// Dimension i of the result is dimension axes[i] of what is given.
void transpose(system_addr_t to, const Tensor& from, const std::vector<std::size_t>& axes);
void strided_slice(const LayerRun& run);
void padding(const LayerRun& run);
void tile(const LayerRun& run);
void upsampling(const LayerRun& run);
void depth_space(const LayerRun& run);
void gather(const LayerRun& run);
void top_k(const LayerRun& run);

// elementwise.cpp: in device memory the same in pieces
void by_pieces(const LayerRun& run);
void conversion(const LocalRun& run);
void relu(const LocalRun& run);
void select(const LocalRun& run);
void binary(const LocalRun& run);
void binary_constant(const LocalRun& run);
void activation(const LocalRun& run);
void table(const LocalRun& run);
void table(const LayerRun& run);
void quantisation(const LocalRun& run);
void dequantisation(const LocalRun& run);
void requantisation(const LocalRun& run);

// sums.cpp
void pooling(const LocalRun& run);
void softmax(const LocalRun& run);
void softmax(const LayerRun& run);
void layer_norm(const LocalRun& run);
void reduction(const LayerRun& run);
void extreme_index(const LayerRun& run);

// products.cpp
void convolution(const LocalRun& run);
void convolution(const LayerRun& run);
void convolution_3d(const LayerRun& run);
void deconvolution(const LocalRun& run);
void fully_connected(const LayerRun& run);
void batched_product(const LayerRun& run);

// resize.cpp
void resize(const LayerRun& run);

// lstm.cpp
void lstm(const LayerRun& run);

// attention.cpp
void rms_norm(const LocalRun& run);
void rms_norm(const LayerRun& run);
void packed_product(const LayerRun& run);
void rotary_embedding(const LocalRun& run);
void attention_over_heads(const LayerRun& run);
void attention_of_head(const LocalRun& run);

}  // namespace softtpu::dynamic
