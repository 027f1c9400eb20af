// Files of compiled networks: refused with the reason, or read, with every part inside the file.
#include "runtime/bmodel/container.hpp"

#include "tests/fuzz/input.hpp"

namespace softtpu::fuzz {
namespace {

using bmodel::Bytes;

void check_part(Bytes part, Bytes file) {
  if (part.empty()) return;
  require(part.data() >= file.data() && part.data() + part.size() <= file.data() + file.size(),
          "a part of a network lies inside the file");
}

void check_tensors(const std::vector<bmodel::Tensor>& tensors) {
  for (const bmodel::Tensor& tensor : tensors) {
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : tensor.shape) elements *= extent;
    require(tensor.bytes == (elements * static_cast<unsigned>(bits_of(tensor.type)) + 7) / 8,
            "a tensor has the bytes of its shape and type");
    require(!to_text(tensor.type).empty(), "its type has a name");
  }
}

void check_stage(const bmodel::Stage& stage, Bytes file) {
  check_part(stage.coefficients, file);
  for (const auto* tensors : {&stage.inputs, &stage.outputs, &stage.between}) check_tensors(*tensors);
  for (const bmodel::CommandGroup& group : stage.groups) {
    check_part(group.tiu, file);
    check_part(group.dma, file);
    for (const bmodel::Relocation& one : group.relocations)
      require(one.offset + std::uint64_t{5} <= group.dma.size(), "a relocated address lies inside its stream");
  }
  require(bmodel::unpack_layers(bmodel::pack_layers(stage.layers)).size() == stage.layers.size(),
          "every layer reaches the core");
  require(!stage.groups.empty() || !stage.reasons(true).empty(),
          "a stage has instructions, or a reason why it cannot run");
}

}  // namespace
}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu;
  const bmodel::Bytes file(data, bytes);
  const auto model = bmodel::read_model(file);
  if (!model) {
    fuzz::require(!model.error().text.empty(), "a refusal says why");
    return 0;
  }
  for (const bmodel::Network& network : model->networks) {
    for (const bmodel::Stage& stage : network.stages) fuzz::check_stage(stage, file);
  }
  return 0;
}
