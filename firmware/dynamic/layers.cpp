#include "firmware/dynamic/layers.hpp"

#include <algorithm>
#include <iterator>

namespace softtpu::dynamic {
namespace {

using Global = void (*)(const LayerRun&);
using Local = void (*)(const LocalRun&);

struct Layer {
  std::uint32_t type;
  Global global;
  Local local;
};

constexpr Layer kLayers[] = {{0, convolution, convolution},
                             {1, nullptr, pooling},
                             {3, fully_connected, nullptr},
                             {7, concatenation, concatenation},
                             {11, by_pieces, relu},
                             {18, reshape, nullptr},
                             {19, softmax, softmax},
                             {22, nullptr, deconvolution},
                             {26, padding, nullptr},
                             {27, extreme_index, nullptr},
                             {28, tile, nullptr},
                             {29, nullptr, select},
                             {31, by_pieces, binary},
                             {32, by_pieces, binary_constant},
                             {35, by_pieces, activation},
                             {38, nothing, nullptr},
                             {41, nothing, nullptr},
                             {42, nothing, nullptr},
                             {43, reshape, nullptr},
                             {49, transpose, nullptr},
                             {50, reduction, nullptr},
                             {51, strided_slice, nullptr},
                             {57, top_k, nullptr},
                             {65, batched_product, nullptr},
                             {66, upsampling, nullptr},
                             {71, nothing, nullptr},
                             {74, by_pieces, conversion},
                             {bmodel::kTensorToShape, nothing, nullptr},
                             {96, gather, nullptr},
                             {102, depth_space, nullptr},
                             {106, table, table},
                             {131, nullptr, layer_norm},
                             {132, by_pieces, quantisation},
                             {134, by_pieces, dequantisation}};

template <class Run>
void carry_out_with(const Run& run, void (*Layer::*function)(const Run&)) {
  const auto* const found = std::find_if(std::begin(kLayers), std::end(kLayers),
                                         [&](const Layer& one) { return one.type == run.layer.type; });
  if (found == std::end(kLayers) || found->*function == nullptr)
    fail(bmodel::name_of_layer(run.layer.type) + " is not carried out");
  (found->*function)(run);
}

}  // namespace

void carry_out(const LayerRun& run) { carry_out_with(run, &Layer::global); }
void carry_out(const LocalRun& run) { carry_out_with(run, &Layer::local); }

}  // namespace softtpu::dynamic
