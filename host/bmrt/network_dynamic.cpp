// Parts of networks that a kernel module walks as lists of layers (runtime/bmodel/layer_list).
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>

#include "host/bmrt/network.hpp"
#include "runtime/base/dynamic_module.hpp"

namespace softtpu::bmrt {
namespace {

// The module lies beside this library, in the build tree and in an installed one.
std::string dynamic_module() {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&dynamic_module), &here) == 0 || here.dli_fname == nullptr)
    return kDynamicModule;
  std::error_code failed;
  const auto library = std::filesystem::canonical(here.dli_fname, failed);
  return failed ? kDynamicModule : (library.parent_path() / kDynamicModule).string();
}

// What a dynamic part says of an output.
struct GivenShape {
  std::int32_t dims = 0, extents[BM_MAX_DIMS_NUM] = {}, elements = 0;
};

// A launch's arguments, packed.
struct Block {
  std::vector<std::uint8_t> bytes;
  template <class T>
  void add(T value) {
    bytes.resize(bytes.size() + sizeof(T));
    std::memcpy(&bytes[bytes.size() - sizeof(T)], &value, sizeof(T));
  }
};

}  // namespace

bool Network::Stage::has_dynamic(const std::string& output) const {
  return std::any_of(dynamic_parts.begin(), dynamic_parts.end(), [&](const Dynamic& part) {
    return std::any_of(part.outputs.begin(), part.outputs.end(),
                       [&](const bmodel::Tensor& one) { return one.name == output; });
  });
}

Result<void> Network::load_dynamic(MemorySource& source, const bmodel::Stage& stage, Stage& loaded) {
  loaded.dynamic = stage.dynamic;
  loaded.context_address = stage.context_address;
  loaded.coefficient_address = stage.coefficient_address;
  for (const bmodel::DynamicPart& part : stage.dynamic_parts) {
    if (dynamic_kernel_ == static_cast<tpu_kernel_function_t>(-1)) {
      const std::string path = dynamic_module();
      tpu_kernel_module_t const module = tpu_kernel_load_module_file(source.handle(), path.c_str());
      if (module == nullptr)
        return Error{ErrorKind::kResource, fmt::format("its dynamic part needs {}, which cannot be loaded", path)};
      dynamic_kernel_ = tpu_kernel_get_function(source.handle(), module, "sg_api_dynamic_fullnet");
    }
    Stage::Dynamic& made = loaded.dynamic_parts.emplace_back();
    made.inputs = part.inputs;
    made.outputs = part.outputs;
    made.list_bytes = static_cast<std::uint32_t>(part.list.size());
    std::vector<std::uint8_t> words(part.list.begin(), part.list.end());
    words.resize((words.size() + 3) / 4 * 4);
    auto list = source.make(Use::kInstructions, words);
    if (!list) return list.error();
    made.list = *std::move(list);
    auto shapes = DeviceMemory::make(source.handle(), part.outputs.size() * sizeof(GivenShape));
    if (!shapes) return shapes.error();
    made.shapes = *std::move(shapes);
  }
  return {};
}

// Inputs are read where the program has them, and outputs are written where it wants them.
bm_status_t Network::run_dynamic(bm_handle_t handle, Stage& of, const bm_tensor_t* inputs, bm_tensor_t* outputs) const {
  struct Known {
    std::uint64_t address = 0;
    bm_shape_t shape{};
    bm_tensor_t* output = nullptr;
  };
  std::map<std::string, Known> known;
  for (std::size_t i = 0; i < of.inputs.size(); ++i)
    known[of.inputs[i].name] = {bm_mem_get_device_addr(inputs[i].device_mem), inputs[i].shape, nullptr};
  for (std::size_t i = 0; i < of.outputs.size(); ++i) {
    if (of.has_dynamic(of.outputs[i].name))
      known[of.outputs[i].name] = {bm_mem_get_device_addr(outputs[i].device_mem), outputs[i].shape, &outputs[i]};
  }
  const auto find = [&](const bmodel::Tensor& tensor) -> Known& {
    return known.try_emplace(tensor.name, Known{place(of, tensor.address), to_shape(tensor.shape), nullptr})
        .first->second;
  };
  for (const Stage::Dynamic& part : of.dynamic_parts) {
    Block block;
    block.add(part.list.address());
    block.add((part.list_bytes + 3) / 4);
    block.add(static_cast<std::uint32_t>(part.inputs.size()));
    for (const bmodel::Tensor& tensor : part.inputs) {
      const Known& one = find(tensor);
      block.add(one.address);
      block.add(static_cast<std::uint32_t>(one.shape.num_dims) | static_cast<std::uint32_t>(tensor.type) << 16);
      for (int k = 0; k < one.shape.num_dims; ++k) block.add(static_cast<std::uint32_t>(one.shape.dims[k]));
      block.add(std::uint32_t{0});
    }
    block.add(static_cast<std::uint32_t>(part.outputs.size()));
    for (const bmodel::Tensor& tensor : part.outputs) block.add(find(tensor).address);
    block.add(std::uint32_t{1});
    block.add(part.shapes.address());
    block.add(of.context_address);
    block.add(std::uint32_t{1});
    block.add(std::numeric_limits<std::uint64_t>::max());
    block.add(of.context == nullptr ? 0 : of.context->address() - of.context_address);
    block.add(of.constants == nullptr ? 0 : of.constants->address() - of.coefficient_address);
    block.add(std::uint64_t{0});
    block.add(std::uint64_t{0});
    block.add(part.list_bytes);
    std::vector<GivenShape> shapes(part.outputs.size());
    bm_device_mem_t memory = to_memory(part.shapes.address(), shapes.size() * sizeof(GivenShape));
    if (bm_memcpy_s2d(handle, memory, shapes.data()) != BM_SUCCESS) return BM_ERR_FAILURE;
    if (const bm_status_t status = tpu_kernel_launch(handle, dynamic_kernel_, block.bytes.data(), block.bytes.size());
        status != BM_SUCCESS)
      return status;
    if (bm_memcpy_d2s(handle, shapes.data(), memory) != BM_SUCCESS) return BM_ERR_FAILURE;
    for (std::size_t i = 0; i < part.outputs.size(); ++i) {
      Known& one = find(part.outputs[i]);
      if (shapes[i].dims < 1 || shapes[i].dims > BM_MAX_DIMS_NUM) {
        bmlib_log("bmrt", BMLIB_LOG_ERROR, "network \"%s\": its dynamic part has given output \"%s\" no shape.\n",
                  name_.c_str(), part.outputs[i].name.c_str());
        return BM_ERR_FAILURE;
      }
      one.shape.num_dims = shapes[i].dims;
      std::copy_n(std::begin(shapes[i].extents), shapes[i].dims, std::begin(one.shape.dims));
      if (one.output != nullptr) one.output->shape = one.shape;
    }
  }
  return BM_SUCCESS;
}

}  // namespace softtpu::bmrt
