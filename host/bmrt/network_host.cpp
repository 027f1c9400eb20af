// Parts of networks that the host's processor carries out (runtime/bmodel/host_layer).
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "host/bmrt/host_work.hpp"
#include "host/bmrt/log.hpp"
#include "host/bmrt/network.hpp"

namespace softtpu::bmrt {
namespace {

using Extents = std::vector<int>;
using InitFunction = void* (*)();
using UninitFunction = void (*)(void* handle);
using ProcessFunction = int (*)(void* handle, void* parameters, const std::vector<float*>& inputs,
                                const std::vector<Extents>& input_shapes, const std::vector<float*>& outputs,
                                std::vector<Extents>& output_shapes);

constexpr const char* kUserLibrary = "libusercpu.so";

std::uint64_t elements_of(const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  return count;
}

}  // namespace

Result<std::shared_ptr<UserLayers>> UserLayers::find() {
  std::shared_ptr<UserLayers> made(new UserLayers);
  void* from = RTLD_DEFAULT;
  if (::dlsym(from, "user_cpu_process") == nullptr) {
    made->library_ = from = ::dlopen(kUserLibrary, RTLD_LAZY);
    if (from == nullptr) return Error{ErrorKind::kUnsupported, ::dlerror()};
  }
  const auto init = reinterpret_cast<InitFunction>(::dlsym(from, "user_cpu_init"));
  made->process_ = ::dlsym(from, "user_cpu_process");
  void* const uninit = ::dlsym(from, "user_cpu_uninit");
  if (init == nullptr || made->process_ == nullptr || uninit == nullptr)
    return Error{ErrorKind::kUnsupported,
                 fmt::format("{} lacks user_cpu_init, user_cpu_process or user_cpu_uninit", kUserLibrary)};
  made->handle_ = init();
  made->uninit_ = uninit;
  return made;
}

UserLayers::~UserLayers() {
  if (uninit_ != nullptr) reinterpret_cast<UninitFunction>(uninit_)(handle_);
  if (library_ != nullptr) ::dlclose(library_);
}

Result<std::vector<bmodel::HostTensor>> UserLayers::run(std::span<const std::uint8_t> parameters,
                                                        std::span<const bmodel::HostTensor> inputs,
                                                        std::span<const bmodel::Tensor> outputs) const {
  std::vector<std::uint8_t> record(parameters.begin(), parameters.end());
  std::vector<bmodel::HostTensor> given(inputs.begin(), inputs.end());
  std::vector<bmodel::HostTensor> made;
  std::vector<float*> from;
  std::vector<float*> to;
  std::vector<Extents> input_shapes;
  std::vector<Extents> output_shapes;
  for (bmodel::HostTensor& input : given) {
    from.push_back(reinterpret_cast<float*>(input.bytes.data()));
    input_shapes.emplace_back(input.shape.begin(), input.shape.end());
  }
  for (const bmodel::Tensor& output : outputs)
    made.push_back({output.type, output.shape, std::vector<std::uint8_t>(output.bytes)});
  for (bmodel::HostTensor& output : made) {
    to.push_back(reinterpret_cast<float*>(output.bytes.data()));
    output_shapes.emplace_back(output.shape.begin(), output.shape.end());
  }
  const auto wrong = [](const std::string& text) {
    return Error{ErrorKind::kUsage, fmt::format("user_cpu_process {}", text)};
  };
  int status = 0;
  try {
    status = reinterpret_cast<ProcessFunction>(process_)(handle_, record.data(), from, input_shapes, to, output_shapes);
  } catch (const std::exception& thrown) {
    return wrong(fmt::format("threw \"{}\"", thrown.what()));
  }
  if (status != 0) return wrong(fmt::format("returned {}", status));
  if (output_shapes.size() != made.size()) return wrong(fmt::format("left {} shapes", output_shapes.size()));
  for (std::size_t i = 0; i < made.size(); ++i) {
    const Extents& extents = output_shapes[i];
    std::uint64_t count = 1;
    for (const int extent : extents) {
      if (extent < 0 || (extent > 0 && count > made[i].bytes.size() / static_cast<std::uint64_t>(extent)))
        return wrong(fmt::format("gave output \"{}\" the shape [{}]", outputs[i].name, fmt::join(extents, ", ")));
      count *= static_cast<std::uint64_t>(extent);
    }
    if (extents.size() > BM_MAX_DIMS_NUM || count > elements_of(outputs[i].shape))
      return wrong(fmt::format("gave output \"{}\" the shape [{}]", outputs[i].name, fmt::join(extents, ", ")));
    made[i].shape.assign(extents.begin(), extents.end());
    made[i].bytes.resize(count * sizeof(float));
  }
  return made;
}

Result<std::shared_ptr<const HostWork>> HostWork::of(const bmodel::DynamicPart& part) {
  auto made = std::make_shared<HostWork>();
  made->type = part.host->type;
  made->parameters.assign(part.host->parameters.begin(), part.host->parameters.end());
  for (const auto& [name, bytes] : part.constants) made->constants[name].assign(bytes.begin(), bytes.end());
  made->read_later = part.read_later;
  made->label = part.label;
  if (made->type == bmodel::kUserLayer) {
    auto user = UserLayers::find();
    if (!user)
      return Error{ErrorKind::kUnsupported,
                   fmt::format("{}: {} needs {}: {}", part.label, bmodel::name_of_host_layer(made->type), kUserLibrary,
                               user.error().text)};
    made->user = *std::move(user);
  }
  return std::shared_ptr<const HostWork>(std::move(made));
}

Result<std::vector<bmodel::HostTensor>> HostWork::run(std::span<const bmodel::HostTensor> inputs,
                                                      std::span<const bmodel::Tensor> outputs, bool whole) const {
  if (user != nullptr) return user->run(parameters, inputs, outputs);
  return bmodel::run_on_host({type, parameters}, inputs, outputs, whole);
}

// Inputs are read where they are, and results written where the program or the next instructions need them.
bm_status_t Network::run_on_host(bm_handle_t handle, const Stage& of, const Stage::Dynamic& part,
                                 KnownTensors& known) const {
  const HostWork& work = *part.host;
  const auto fail = [&](const std::string& text) {
    refuse(fmt::format("network \"{}\"", name_).c_str(), fmt::format("{}: {}", work.label, text));
    return BM_ERR_FAILURE;
  };
  if (bm_thread_sync(handle) != BM_SUCCESS) return BM_ERR_FAILURE;
  std::vector<bmodel::HostTensor> inputs;
  bool whole = true;
  for (const bmodel::Tensor& tensor : part.inputs) {
    bmodel::HostTensor& input = inputs.emplace_back();
    input.type = tensor.type;
    if (const auto constant = work.constants.find(tensor.name); constant != work.constants.end()) {
      input.shape = tensor.shape;
      input.bytes = constant->second;
      continue;
    }
    const KnownTensor& one = known_tensor(of, tensor, known);
    input.shape.assign(one.shape.dims, one.shape.dims + one.shape.num_dims);
    const std::uint64_t count = elements_of(input.shape);
    if (count > elements_of(tensor.shape))
      return fail(fmt::format("input \"{}\" has shape {}, more than [{}]", tensor.name, to_text(one.shape),
                              fmt::join(tensor.shape, ", ")));
    if (count == elements_of(tensor.shape))
      input.shape = tensor.shape;
    else
      whole = false;
    const std::uint64_t bytes = count * static_cast<unsigned>(bmodel::bits_of(tensor.type)) / 8;
    if (one.bytes != nullptr) {
      if (one.bytes->size() != bytes)
        return fail(fmt::format("input \"{}\" has {} bytes, not {}", tensor.name, one.bytes->size(), bytes));
      input.bytes = *one.bytes;
      continue;
    }
    if (one.address == 0) return fail(fmt::format("input \"{}\" has no memory, and no part makes it", tensor.name));
    input.bytes.resize(bytes);
    if (bytes > 0 && bm_memcpy_d2s(handle, input.bytes.data(), to_memory(one.address, bytes)) != BM_SUCCESS)
      return fail(fmt::format("input \"{}\" cannot be read", tensor.name));
  }
  auto made = work.run(inputs, part.outputs, whole);
  if (!made) return fail(made.error().text);
  for (std::size_t i = 0; i < part.outputs.size(); ++i) {
    const bmodel::Tensor& tensor = part.outputs[i];
    bmodel::HostTensor& result = (*made)[i];
    if (work.read_later[i] && result.bytes.size() != tensor.bytes)
      return fail(fmt::format("its result \"{}\" has shape [{}], the instructions behind it take [{}]", tensor.name,
                              fmt::join(result.shape, ", "), fmt::join(tensor.shape, ", ")));
    KnownTensor& one = known_tensor(of, tensor, known);
    one.shape = to_shape(result.shape);
    if (one.output != nullptr) one.output->shape = one.shape;
    if (one.address != 0 && !result.bytes.empty() &&
        bm_memcpy_s2d(handle, to_memory(one.address, result.bytes.size()), result.bytes.data()) != BM_SUCCESS)
      return fail(fmt::format("its result \"{}\" cannot be written", tensor.name));
    if (one.address == 0 && work.read_later[i])
      return fail(fmt::format("its result \"{}\" has no memory on the device", tensor.name));
    one.bytes = std::make_shared<const std::vector<std::uint8_t>>(std::move(result.bytes));
  }
  return BM_SUCCESS;
}

}  // namespace softtpu::bmrt
