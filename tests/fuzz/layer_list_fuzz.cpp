// Lists of layers of dynamic parts: refused with the reason, or read, with every parameter inside the list; and judged
// for inputs of any small shape. The first bytes say how many inputs and outputs the part has, and the inputs' shape.
#include "runtime/bmodel/layer_list.hpp"

#include "tests/fuzz/input.hpp"

namespace softtpu::fuzz {
namespace {

using bmodel::ShapedTensor;

void check_layer(const bmodel::ListedLayer& layer, std::span<const std::uint8_t> list, const ShapedTensor& like) {
  require(layer.parameters.empty() || (layer.parameters.data() >= list.data() &&
                                       layer.parameters.data() + layer.parameters.size() <= list.data() + list.size()),
          "the parameters of a layer lie inside the list");
  require(!bmodel::name_of_layer(layer.type).empty(), "a layer has a name");
  static_cast<void>(layer.word(layer.parameters.size()));
  static_cast<void>(layer.address(layer.parameters.size()));
  const std::vector<ShapedTensor> inputs(layer.inputs.size(), like);
  const auto results = bmodel::results_of(layer, inputs);
  require(!results || results->size() == layer.outputs.size(),
          "each output of a layer that is carried out has a shape");
  require(results || !results.error().text.empty(), "a refusal says why");
}

}  // namespace
}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu;
  constexpr std::size_t kHead = 6;
  if (bytes < kHead) return 0;
  const std::size_t inputs = data[0] % 8U;
  const std::size_t outputs = data[1] % 8U;
  bmodel::ShapedTensor like{data[2] % 11U, {}};
  for (std::size_t i = 3; i < kHead; ++i) like.extents.push_back(data[i] % 32U + 1);
  const std::span list(data + kHead, bytes - kHead);
  const auto read = bmodel::read_layer_list(list, inputs, outputs);
  if (!read) {
    fuzz::require(!read.error().text.empty(), "a refusal says why");
    return 0;
  }
  fuzz::require(read->inputs.size() == inputs && read->outputs.size() == outputs, "a list has its part's tensors");
  for (const bmodel::ListedGroup& group : read->groups) {
    for (const bmodel::ListedLayer& layer : group.layers) fuzz::check_layer(layer, list, like);
  }
  for (const bmodel::WhoseSizes sizes : {bmodel::WhoseSizes::kGreatest, bmodel::WhoseSizes::kOfLaunch}) {
    for (const std::string& fault : bmodel::faults_of(*read, std::vector<bmodel::ShapedTensor>(inputs, like), sizes))
      fuzz::require(!fault.empty(), "a fault is a sentence");
  }
  return 0;
}
