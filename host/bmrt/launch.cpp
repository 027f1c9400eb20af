#include "host/bmrt/launch.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "host/bmlib/network_launch.hpp"
#include "host/bmrt/type_text.hpp"

namespace softtpu::bmrt {
namespace {

bool check_counts(const char* function, const bm_net_info_t& info, int inputs, int outputs) {
  if (inputs == info.input_num && outputs == info.output_num) return true;
  return refuse(function, fmt::format("network \"{}\" has {} inputs and {} outputs; {} and {} are given", info.name,
                                      info.input_num, info.output_num, inputs, outputs));
}

bool check_shape(const char* function, const char* name, const bm_shape_t& shape) {
  if (shape.num_dims >= 0 && shape.num_dims <= BM_MAX_DIMS_NUM) return true;
  return refuse(function,
                fmt::format("tensor \"{}\" has {} dimensions (limit {})", name, shape.num_dims, BM_MAX_DIMS_NUM));
}

bool check_memory(const char* function, bm_handle_t handle, const char* name, const bm_tensor_t& tensor,
                  std::uint64_t bytes) {
  if (tensor.st_mode != BM_STORE_1N)
    return refuse(function, fmt::format("tensor \"{}\": BM1684X has no storage mode {} (BM_STORE_1N is 0)", name,
                                        static_cast<int>(tensor.st_mode)));
  const std::uint64_t has = bm_mem_get_device_size(tensor.device_mem);
  if (has < bytes)
    return refuse(function, fmt::format("tensor \"{}\" has memory of {} bytes, it needs {}", name, has, bytes));
  const host::GlobalMemory all = host::global_memory(handle);
  const std::uint64_t address = bm_mem_get_device_addr(tensor.device_mem);
  if (bytes == 0 ||
      (address >= all.start && address - all.start <= all.bytes && all.bytes - (address - all.start) >= bytes))
    return true;
  return refuse(function, fmt::format("tensor \"{}\" at 0x{:x} does not lie in global memory, 0x{:x}..0x{:x}", name,
                                      address, all.start, all.start + all.bytes));
}

bool check_inputs(const char* function, const bm_net_info_t& info, const bm_tensor_t* inputs) {
  for (int i = 0; i < info.input_num; ++i) {
    if (!check_shape(function, info.input_names[i], inputs[i].shape)) return false;
    if (inputs[i].dtype == info.input_dtypes[i]) continue;
    return refuse(function, fmt::format("input \"{}\" is of type {}, the network's is {}", info.input_names[i],
                                        type_text(inputs[i].dtype), type_text(info.input_dtypes[i])));
  }
  return true;
}

void free_outputs(bm_handle_t handle, bm_tensor_t* outputs, int count) {
  for (int i = 0; i < count; ++i) bm_free_device(handle, outputs[i].device_mem);
}

// Tensors in device memory for arrays of the host; freed at the end.
class Tensors {
 public:
  explicit Tensors(bm_handle_t handle) : handle_(handle) {}
  ~Tensors() { free_outputs(handle_, list.data(), static_cast<int>(made_)); }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;

  bool add(bm_data_type_t type, const bm_shape_t& shape) {
    bm_tensor_t tensor{};
    tensor.dtype = type;
    tensor.shape = shape;
    const std::size_t bytes = bmrt_tensor_bytesize(&tensor);
    if (bm_malloc_device_byte(handle_, &tensor.device_mem, static_cast<unsigned>(bytes)) != BM_SUCCESS) return false;
    list.push_back(tensor);
    made_ = list.size();
    return true;
  }

  std::vector<bm_tensor_t> list;

 private:
  bm_handle_t handle_;
  std::size_t made_ = 0;
};

// Arrays made with malloc() for the caller; freed again where it comes to none.
class Arrays {
 public:
  explicit Arrays(const LaunchData& data) : data_(data) {}
  ~Arrays() {
    for (int i = 0; i < made_; ++i) {
      std::free(data_.outputs[i]);
      data_.outputs[i] = nullptr;
    }
  }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;
  bool add(std::size_t bytes) {
    void* const array = std::malloc(bytes > 0 ? bytes : 1);
    if (array == nullptr) return false;
    data_.outputs[made_++] = array;
    return true;
  }
  void keep() { made_ = 0; }

 private:
  const LaunchData& data_;
  int made_ = 0;
};

// False, with a line in the log: some outputs are not made, as parts of the network are left out.
bool has_all_outputs(const char* function, const Network& network, std::size_t stage) {
  if (network.not_made(stage).empty()) return true;
  std::vector<std::string> missing;
  for (int i = 0; i < network.info().output_num; ++i) {
    const std::string name = network.info().output_names[i];
    if (network.not_made(stage).contains(name)) missing.push_back(fmt::format("\"{}\"", name));
  }
  if (missing.empty()) return true;
  return refuse(function, fmt::format("network \"{}\" has not made {}: left out is {}", network.name(),
                                      fmt::join(missing, ", "), fmt::join(network.left_out(stage), "; ")));
}

bool take_outputs(const char* function, bm_handle_t handle, const LaunchData& data, const Tensors& outputs,
                  const std::set<std::string>& not_made, const bm_net_info_t& info) {
  Arrays arrays(data);
  for (int i = 0; i < data.output_num; ++i) {
    const bm_tensor_t& tensor = outputs.list[static_cast<std::size_t>(i)];
    if (not_made.contains(info.output_names[i])) {
      if (data.output_shapes != nullptr) data.output_shapes[i].num_dims = -1;
      continue;
    }
    if (!data.user_mem && !arrays.add(bmrt_tensor_bytesize(&tensor)))
      return refuse(function, fmt::format("there is no memory for output {}", i));
    if (data.outputs[i] == nullptr) return refuse(function, fmt::format("output {} is NULL", i));
    if (bm_memcpy_d2s_partial(handle, data.outputs[i], tensor.device_mem,
                              static_cast<unsigned>(bmrt_tensor_bytesize(&tensor))) != BM_SUCCESS)
      return refuse(function, fmt::format("output {} cannot be read", i));
    if (data.output_shapes != nullptr) data.output_shapes[i] = tensor.shape;
  }
  arrays.keep();
  return true;
}

// As launch(), and says which stage it is; outputs that parts which are left out would make stay as they are.
bool start(const char* function, Runtime& runtime, Network& network, const LaunchTensors& tensors, std::size_t& used) {
  const bm_net_info_t& info = network.info();
  if (!check_counts(function, info, tensors.input_num, tensors.output_num)) return false;
  if (tensors.inputs == nullptr || tensors.outputs == nullptr)
    return refuse(function, tensors.inputs == nullptr ? "the inputs are NULL" : "the outputs are NULL");
  if (!check_inputs(function, info, tensors.inputs)) return false;
  const auto stage = network.find_stage(tensors.inputs, tensors.input_num);
  if (!stage) return refuse(function, stage.error().text);
  used = *stage;
  if (!network.refusal(*stage).empty())
    return refuse(function, fmt::format("network \"{}\" cannot run: {}", network.name(), network.refusal(*stage)));
  for (int i = 0; i < info.input_num; ++i) {
    const std::uint64_t bytes = network.is_dynamic(*stage) ? bmrt_tensor_bytesize(&tensors.inputs[i])
                                                           : network.input_bytes(*stage, static_cast<std::size_t>(i));
    if (!check_memory(function, runtime.handle(), info.input_names[i], tensors.inputs[i], bytes)) return false;
  }
  if (!tensors.cores.empty() && tensors.cores.size() != network.cores(*stage))
    return refuse(function, fmt::format("network \"{}\" is compiled for {} cores, core_list has {}", network.name(),
                                        network.cores(*stage), tensors.cores.size()));
  const bm_handle_t handle = runtime.handle();
  int made = 0;
  bool good = true;
  for (int i = 0; i < info.output_num && good; ++i) {
    bm_tensor_t& output = tensors.outputs[i];
    const std::uint64_t bytes = network.output_bytes(*stage, static_cast<std::size_t>(i));
    if (!tensors.user_mem) {
      output.st_mode = BM_STORE_1N;
      good = bm_malloc_device_byte(handle, &output.device_mem, static_cast<unsigned>(bytes)) == BM_SUCCESS;
      made += good ? 1 : 0;
      if (!good) refuse(function, fmt::format("the device has no {} bytes for output {}", bytes, i));
    }
    good = good && check_memory(function, handle, info.output_names[i], output, bytes);
    output.dtype = info.output_dtypes[i];
    output.shape = info.stages[*stage].output_shapes[i];
  }
  if (good) {
    good =
        (runtime.show ? network.launch_and_show(handle, *stage, tensors.inputs, tensors.outputs, runtime.show)
                      : network.launch(handle, *stage, tensors.inputs, tensors.outputs, tensors.cores)) == BM_SUCCESS;
  }
  if (!good) free_outputs(handle, tensors.outputs, made);
  return good;
}

}  // namespace

bool launch(const char* function, Runtime& runtime, Network& network, const LaunchTensors& tensors) {
  std::size_t stage = 0;
  if (!start(function, runtime, network, tensors, stage)) return false;
  if (has_all_outputs(function, network, stage)) return true;
  if (!tensors.user_mem && bm_thread_sync(runtime.handle()) == BM_SUCCESS)
    free_outputs(runtime.handle(), tensors.outputs, tensors.output_num);
  return false;
}

bool launch(const char* function, Runtime& runtime, Network& network, const LaunchData& data) {
  const bm_net_info_t& info = network.info();
  if (!check_counts(function, info, data.input_num, data.output_num)) return false;
  if (data.inputs == nullptr || data.input_shapes == nullptr || data.outputs == nullptr)
    return refuse(function, "an array of inputs, shapes or outputs is NULL");
  const bm_handle_t handle = runtime.handle();
  std::vector<bm_tensor_t> wanted(static_cast<std::size_t>(data.input_num));
  for (int i = 0; i < data.input_num; ++i) {
    if (data.inputs[i] == nullptr) return refuse(function, fmt::format("input {} is NULL", i));
    if (!check_shape(function, info.input_names[i], data.input_shapes[i])) return false;
    wanted[static_cast<std::size_t>(i)].shape = data.input_shapes[i];
  }
  const auto stage = network.find_stage(wanted.data(), data.input_num);
  if (!stage) return refuse(function, stage.error().text);
  Tensors inputs(handle);
  Tensors outputs(handle);
  for (int i = 0; i < data.input_num; ++i) {
    if (!inputs.add(info.input_dtypes[i], data.input_shapes[i]) ||
        bm_memcpy_s2d(handle, inputs.list.back().device_mem, data.inputs[i]) != BM_SUCCESS)
      return refuse(function, fmt::format("input {} cannot be copied to the device", i));
  }
  for (int i = 0; i < data.output_num; ++i) {
    if (!outputs.add(info.output_dtypes[i], info.stages[*stage].output_shapes[i]))
      return refuse(function, fmt::format("the device has no memory for output {}", i));
  }
  const LaunchTensors tensors{inputs.list.data(), data.input_num, outputs.list.data(),
                              data.output_num,    true,           data.cores};
  std::size_t used = 0;
  if (!start(function, runtime, network, tensors, used)) return false;
  if (bm_thread_sync(handle) != BM_SUCCESS) return refuse(function, "the network has failed");
  const bool whole = has_all_outputs(function, network, used);
  if (!whole && !data.user_mem) return false;
  return take_outputs(function, handle, data, outputs, network.not_made(used), info) && whole;
}

}  // namespace softtpu::bmrt
