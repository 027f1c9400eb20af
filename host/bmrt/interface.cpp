// The functions of bmruntime_interface.h.
#include "bmruntime_interface.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "host/bmrt/launch.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "softtpu/networks.h"

using namespace softtpu;
using namespace softtpu::bmrt;

namespace {

constexpr bmodel::DataType kLastType = bmodel::DataType::kUint4;

bool is_type(bm_data_type_t type) { return static_cast<unsigned>(type) <= static_cast<unsigned>(kLastType); }

std::string type_text(bm_data_type_t type) {
  return is_type(type) ? std::string(to_text(static_cast<bmodel::DataType>(type))) : "?";
}

// Memory for a tensor of this type and shape.
bool make_tensor(const char* function, bm_handle_t handle, bm_tensor_t* tensor, bm_data_type_t dtype,
                 const bm_shape_t& shape) {
  if (tensor == nullptr) return refuse(function, "the tensor is NULL");
  if (!is_type(dtype)) return refuse(function, fmt::format("data type {} is not known", static_cast<int>(dtype)));
  if (shape.num_dims < 0 || shape.num_dims > BM_MAX_DIMS_NUM)
    return refuse(function, fmt::format("{} dimensions (limit {})", shape.num_dims, BM_MAX_DIMS_NUM));
  *tensor = {};
  tensor->dtype = dtype;
  tensor->shape = shape;
  const std::size_t bytes = bmrt_tensor_bytesize(tensor);
  constexpr std::size_t kMostBytes = 0xFFFFFFFF;
  if (bytes <= kMostBytes &&
      bm_malloc_device_byte(handle, &tensor->device_mem, static_cast<unsigned>(bytes)) == BM_SUCCESS)
    return true;
  return refuse(function, fmt::format("the device has no {} bytes for the tensor", bytes));
}

void print_tensor(const char* kind, const std::string& name, bm_data_type_t type, float scale, int zero_point,
                  const bm_shape_t& shape) {
  fmt::print("  {} {}: {} {}, scale {}, zero point {}\n", kind, name, type_text(type), to_text(shape), scale,
             zero_point);
}

// Variables that ask the vendor's library for files whose layout is not published: a program's user looks for them.
struct NotHeeded {
  const char* name;
  const char* instead;
};
constexpr NotHeeded kNotHeeded[] = {
    {"BMRT_SAVE_IO_TENSORS", "\"softtpu bmodel run --output FILE --dump-layers DIR\" writes tensors"},
    {"BMRUNTIME_ENABLE_PROFILE", "SOFTTPU_TIMELINE=FILE writes the estimated time of every command"},
};

// Once in a process.
void warn_of_environment() {
  static const bool done = [] {
    for (const NotHeeded& variable : kNotHeeded) {
      const char* const value = std::getenv(variable.name);
      if (value == nullptr || *value == '\0' || std::string_view(value) == "0") continue;
      log_warning(
          fmt::format("{} writes no files here, their layout is not published; {}.", variable.name, variable.instead));
    }
    return true;
  }();
  static_cast<void>(done);
}

bool check_cores(const char* function, bm_handle_t handle, const int* cores, int count) {
  if (cores == nullptr || count < 1)
    return refuse(function, cores == nullptr ? "core_list is NULL" : fmt::format("core_num {} is below 1", count));
  unsigned int there = 0;
  if (bm_get_tpu_scalar_num(handle, &there) != BM_SUCCESS) return refuse(function, "the device does not answer");
  for (int i = 0; i < count; ++i) {
    if (cores[i] < 0 || static_cast<unsigned>(cores[i]) >= there)
      return refuse(function, fmt::format("core {} does not exist: the device has {}", cores[i], there));
  }
  return true;
}

bool check_thread(const char* function, const Runtime& runtime, std::uint64_t index) {
  if (runtime.is_prepared(index)) return true;
  return refuse(function,
                fmt::format("thread_idx {} is not prepared: bmrt_pre_alloc_mem_multi_thread comes first", index));
}

// One step of a parallel copy: tensor `index` of all, which device `device` of the runtime has.
template <class Copy>
bool for_each_tensor(const char* function, const Runtime& runtime, const int* tensor_num, int device_num, Copy copy) {
  if (tensor_num == nullptr) return refuse(function, "tensor_num is NULL");
  if (device_num < 1 || static_cast<std::size_t>(device_num) > runtime.handles().size())
    return refuse(function, fmt::format("device_num {} is outside 1..{}", device_num, runtime.handles().size()));
  std::size_t index = 0;
  for (int device = 0; device < device_num; ++device) {
    for (int i = 0; i < tensor_num[device]; ++i, ++index) {
      if (copy(runtime.handles()[static_cast<std::size_t>(device)], index) != BM_SUCCESS)
        return refuse(function, fmt::format("the copy of tensor {} of device {} failed", i, device));
    }
  }
  return true;
}

}  // namespace

extern "C" {

// ---- Shapes and tensors ----

size_t bmrt_data_type_size(bm_data_type_t dtype) try {
  if (!is_type(dtype)) {
    refuse(__func__, fmt::format("data type {} is not known", static_cast<int>(dtype)));
    return 0;
  }
  return static_cast<size_t>(std::max(bmodel::bits_of(static_cast<bmodel::DataType>(dtype)) / 8, 1));
} catch (...) {
  return softtpu::caught(__func__);
}

void bmrt_shape(bm_shape_t* shape, const int* dims, int num_dims) try {
  if (shape == nullptr) return void(refuse(__func__, "the shape is NULL"));
  *shape = {};
  if (num_dims < 0 || num_dims > BM_MAX_DIMS_NUM)
    return void(refuse(__func__, fmt::format("{} dimensions (limit {})", num_dims, BM_MAX_DIMS_NUM)));
  if (dims == nullptr && num_dims > 0) return void(refuse(__func__, "the extents are NULL"));
  shape->num_dims = num_dims;
  std::copy_n(dims, num_dims, shape->dims);
} catch (...) {
  softtpu::caught(__func__);
}

uint64_t bmrt_shape_count(const bm_shape_t* shape) try {
  if (shape == nullptr) return static_cast<uint64_t>(refuse(__func__, "the shape is NULL"));
  uint64_t count = 1;
  for (int i = 0; i < std::clamp(shape->num_dims, 0, BM_MAX_DIMS_NUM); ++i)
    count *= static_cast<uint64_t>(shape->dims[i]);
  return count;
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_shape_is_same(const bm_shape_t* left, const bm_shape_t* right) try {
  if (left == nullptr || right == nullptr) return refuse(__func__, "a shape is NULL");
  const int count = std::clamp(left->num_dims, 0, BM_MAX_DIMS_NUM);
  return left->num_dims == right->num_dims && std::equal(left->dims, left->dims + count, right->dims);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_tensor(bm_tensor_t* tensor, void* p_bmrt, bm_data_type_t dtype, bm_shape_t shape) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  return make_tensor(__func__, runtime->handle(), tensor, dtype, shape);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_tensor_ex(bm_tensor_t* tensor, void* p_bmrt, int devid, bm_data_type_t dtype, bm_shape_t shape) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  if (devid < 0 || static_cast<size_t>(devid) >= runtime->handles().size())
    return refuse(__func__, fmt::format("devid {} is outside 0..{}", devid, runtime->handles().size() - 1));
  return make_tensor(__func__, runtime->handles()[static_cast<size_t>(devid)], tensor, dtype, shape);
} catch (...) {
  return softtpu::caught(__func__);
}

void bmrt_tensor_with_device(bm_tensor_t* tensor, bm_device_mem_t device_mem, bm_data_type_t dtype,
                             bm_shape_t shape) try {
  if (tensor == nullptr) return void(refuse(__func__, "the tensor is NULL"));
  *tensor = {dtype, shape, device_mem, BM_STORE_1N};
} catch (...) {
  softtpu::caught(__func__);
}

size_t bmrt_tensor_bytesize(const bm_tensor_t* tensor) try {
  if (tensor == nullptr) return static_cast<size_t>(refuse(__func__, "the tensor is NULL"));
  if (!is_type(tensor->dtype)) return bmrt_data_type_size(tensor->dtype);
  const auto bits = static_cast<uint64_t>(bmodel::bits_of(static_cast<bmodel::DataType>(tensor->dtype)));
  return (bmrt_shape_count(&tensor->shape) * bits + 7) / 8;
} catch (...) {
  return softtpu::caught(__func__);
}

size_t bmrt_tensor_device_size(const bm_tensor_t* tensor) try {
  if (tensor == nullptr) return static_cast<size_t>(refuse(__func__, "the tensor is NULL"));
  return bm_mem_get_device_size(tensor->device_mem);
} catch (...) {
  return softtpu::caught(__func__);
}

void bmrt_print_network_info(const bm_net_info_t* net_info) try {
  if (net_info == nullptr) return void(refuse(__func__, "the network's information is NULL"));
  const auto text = [](const char* name) { return name == nullptr ? std::string("(no name)") : escape_controls(name); };
  fmt::print("network {}: {} inputs, {} outputs, {} stages, address mode {}\n", text(net_info->name),
             net_info->input_num, net_info->output_num, net_info->stage_num, net_info->addr_mode);
  const bool has_inputs =
      net_info->input_num <= 0 || (net_info->input_names != nullptr && net_info->input_dtypes != nullptr &&
                                   net_info->input_scales != nullptr && net_info->input_zero_point != nullptr);
  const bool has_outputs =
      net_info->output_num <= 0 || (net_info->output_names != nullptr && net_info->output_dtypes != nullptr &&
                                    net_info->output_scales != nullptr && net_info->output_zero_point != nullptr);
  if (net_info->stage_num > 0 && (net_info->stages == nullptr || !has_inputs || !has_outputs))
    return void(refuse(__func__, "a list of the network's information is NULL"));
  for (int k = 0; k < net_info->stage_num; ++k) {
    if (net_info->stage_num > 1) fmt::print("  stage {}\n", k);
    const bm_stage_info_t& stage = net_info->stages[k];
    if ((stage.input_shapes == nullptr && net_info->input_num > 0) ||
        (stage.output_shapes == nullptr && net_info->output_num > 0))
      return void(refuse(__func__, fmt::format("the shapes of stage {} are NULL", k)));
    for (int i = 0; i < net_info->input_num; ++i)
      print_tensor("input", text(net_info->input_names[i]), net_info->input_dtypes[i], net_info->input_scales[i],
                   net_info->input_zero_point[i], stage.input_shapes[i]);
    for (int i = 0; i < net_info->output_num; ++i)
      print_tensor("output", text(net_info->output_names[i]), net_info->output_dtypes[i], net_info->output_scales[i],
                   net_info->output_zero_point[i], stage.output_shapes[i]);
  }
  std::fflush(stdout);
} catch (...) {
  softtpu::caught(__func__);
}

// ---- A runtime, and what is loaded ----

void* bmrt_create_ex(bm_handle_t* bm_handles, int num_handles) try {
  if (bm_handles == nullptr || num_handles < 1) {
    refuse(__func__, bm_handles == nullptr ? "the handles are NULL" : fmt::format("{} handles", num_handles));
    return nullptr;
  }
  unsigned id = 0;
  for (int i = 0; i < num_handles; ++i) {
    if (bm_get_chipid(bm_handles[i], &id) == BM_SUCCESS) continue;
    refuse(__func__, fmt::format("handle {} is not valid", i));
    return nullptr;
  }
  warn_of_environment();
  return publish(std::make_shared<Runtime>(std::vector<bm_handle_t>(bm_handles, bm_handles + num_handles)));
} catch (...) {
  return softtpu::caught(__func__);
}

void* bmrt_create(bm_handle_t bm_handle) try { return bmrt_create_ex(&bm_handle, 1); } catch (...) {
  return softtpu::caught(__func__);
}

void bmrt_destroy(void* p_bmrt) try {
  const std::shared_ptr<Runtime> runtime = find_runtime(__func__, p_bmrt);
  if (runtime == nullptr) return;
  // What it has launched still uses its memory.
  static_cast<void>(bm_handle_sync(runtime->handle()));
  withdraw(p_bmrt);
} catch (...) {
  softtpu::caught(__func__);
}

void bmrt_destroy_without_coeff(void* p_bmrt) try {
  const std::shared_ptr<Runtime> runtime = find_runtime(__func__, p_bmrt);
  if (runtime == nullptr) return;
  static_cast<void>(bm_handle_sync(runtime->handle()));
  runtime->unload();
} catch (...) {
  softtpu::caught(__func__);
}

void* bmrt_get_bm_handle(void* p_bmrt) try {
  SOFTTPU_RUNTIME(p_bmrt, nullptr);
  return runtime->handle();
} catch (...) {
  return softtpu::caught(__func__);
}

void bmrt_set_flags(void* p_bmrt, uint32_t flags) try {
  const std::shared_ptr<Runtime> runtime = find_runtime(__func__, p_bmrt);
  if (runtime == nullptr) return;
  constexpr uint32_t kKnown = BM_RUNTIME_SHARE_MEM | BM_RUNTIME_CHECK_MEM | BM_RUNTIME_SHARE_DYNMEM |
                              BM_RUNTIME_SOC_CMDBUF_MEM | BM_RUNTIME_FREE_COEFF;
  if ((flags & ~kKnown) != 0) return void(refuse(__func__, fmt::format("flags {:#x} are not known", flags & ~kKnown)));
  runtime->flags = flags;
} catch (...) {
  softtpu::caught(__func__);
}

uint32_t bmrt_get_flags(void* p_bmrt) try {
  SOFTTPU_RUNTIME(p_bmrt, 0);
  return runtime->flags;
} catch (...) {
  return softtpu::caught(__func__);
}

void bmrt_show_neuron_network(void* p_bmrt) try {
  const std::shared_ptr<Runtime> runtime = find_runtime(__func__, p_bmrt);
  for (size_t i = 0; runtime != nullptr && i < runtime->count(); ++i)
    fmt::print("network {}: {}\n", i, escape_controls(runtime->find(i)->name()));
  std::fflush(stdout);
} catch (...) {
  softtpu::caught(__func__);
}

int bmrt_get_network_number(void* p_bmrt) try {
  SOFTTPU_RUNTIME(p_bmrt, 0);
  return static_cast<int>(runtime->count());
} catch (...) {
  return softtpu::caught(__func__);
}

void bmrt_get_network_names(void* p_bmrt, const char*** network_names) try {
  if (network_names == nullptr) return void(refuse(__func__, "network_names is NULL"));
  *network_names = nullptr;
  const std::shared_ptr<Runtime> runtime = find_runtime(__func__, p_bmrt);
  if (runtime == nullptr) return;
  const size_t count = runtime->count();
  *network_names = static_cast<const char**>(std::calloc(std::max<size_t>(count, 1), sizeof(const char*)));
  for (size_t i = 0; *network_names != nullptr && i < count; ++i)
    (*network_names)[i] = runtime->find(i)->name().c_str();
} catch (...) {
  softtpu::caught(__func__);
}

int bmrt_get_network_index(void* p_bmrt, const char* net_name) try {
  SOFTTPU_RUNTIME(p_bmrt, -1);
  return runtime->index_of(net_name);
} catch (...) {
  return softtpu::caught(__func__);
}

const char* bmrt_get_network_name(void* p_bmrt, int index) try {
  SOFTTPU_RUNTIME(p_bmrt, nullptr);
  const auto network = index < 0 ? nullptr : runtime->find(static_cast<std::size_t>(index));
  if (network != nullptr) return network->info().name;
  refuse(__func__, fmt::format("network {} does not exist: {} are loaded", index, runtime->count()));
  return nullptr;
} catch (...) {
  return softtpu::caught(__func__);
}

int bmrt_get_stage_size(void* p_bmrt, const char* net_name) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, -1);
  return static_cast<int>(network->stages());
} catch (...) {
  return softtpu::caught(__func__);
}

int bmrt_get_stage_index(void* p_bmrt, const char* net_name, bm_tensor_t* input_tensors) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, -1);
  if (input_tensors == nullptr) {
    refuse(__func__, "the inputs are NULL");
    return -1;
  }
  const auto stage = network->find_stage(input_tensors, network->info().input_num);
  if (stage) return static_cast<int>(*stage);
  refuse(__func__, stage.error().text);
  return -1;
} catch (...) {
  return softtpu::caught(__func__);
}

int bmrt_get_neuron_number(void* p_bmrt, const char* net_name) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, 0);
  return 1;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_device_mem_t bmrt_get_neuron_memory(void* p_bmrt, const char* net_name, int mem_index, const int* core_list,
                                       int core_num) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, {});
  if (mem_index == 0) {
    if (core_num == 0 || check_cores(__func__, runtime->handle(), core_list, core_num))
      return network->memory_between();
    return {};
  }
  refuse(__func__, fmt::format("mem_index {} is outside 0..0", mem_index));
  return {};
} catch (...) {
  return softtpu::caught(__func__);
}

const bm_net_info_t* bmrt_get_network_info(void* p_bmrt, const char* net_name) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, nullptr);
  return &network->info();
} catch (...) {
  return softtpu::caught(__func__);
}

// ---- Running a network ----

bool bmrt_launch_tensor(void* p_bmrt, const char* net_name, const bm_tensor_t* input_tensors, int input_num,
                        bm_tensor_t* output_tensors, int output_num) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, false);
  const LaunchTensors tensors{input_tensors, input_num, output_tensors, output_num, false};
  return launch(__func__, *runtime, *network, tensors);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_launch_tensor_ex(void* p_bmrt, const char* net_name, const bm_tensor_t* input_tensors, int input_num,
                           bm_tensor_t* output_tensors, int output_num, bool user_mem, bool /*user_stmode*/) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, false);
  const LaunchTensors tensors{input_tensors, input_num, output_tensors, output_num, user_mem};
  return launch(__func__, *runtime, *network, tensors);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_launch_tensor_multi_cores(void* p_bmrt, const char* net_name, const bm_tensor_t* input_tensors, int input_num,
                                    bm_tensor_t* output_tensors, int output_num, bool user_mem, bool /*user_stmode*/,
                                    const int* core_list, int core_num) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, false);
  if (!check_cores(__func__, runtime->handle(), core_list, core_num)) return false;
  const LaunchTensors tensors{input_tensors, input_num, output_tensors,
                              output_num,    user_mem,  std::span(core_list, static_cast<std::size_t>(core_num))};
  return launch(__func__, *runtime, *network, tensors);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_launch_data(void* p_bmrt, const char* net_name, void* const* input_datas, const bm_shape_t* input_shapes,
                      int input_num, void** output_datas, bm_shape_t* output_shapes, int output_num,
                      bool user_mem) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, false);
  const LaunchData data{input_datas, input_shapes, input_num, output_datas, output_shapes, output_num, user_mem};
  return launch(__func__, *runtime, *network, data);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_launch_data_multi_cores(void* p_bmrt, const char* net_name, void* const* input_datas,
                                  const bm_shape_t* input_shapes, int input_num, void** output_datas,
                                  bm_shape_t* output_shapes, int output_num, bool user_mem, const int* core_list,
                                  int core_num) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, false);
  if (!check_cores(__func__, runtime->handle(), core_list, core_num)) return false;
  const LaunchData data{
      input_datas,   input_shapes, input_num, output_datas,
      output_shapes, output_num,   user_mem,  std::span(core_list, static_cast<std::size_t>(core_num))};
  return launch(__func__, *runtime, *network, data);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_pre_alloc_neuron_multi_cores(void* p_bmrt, const char* net_name, int stage_idx, const int* core_list,
                                       int core_num) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, false);
  if (!check_cores(__func__, runtime->handle(), core_list, core_num)) return false;
  if (stage_idx >= 0 && static_cast<size_t>(stage_idx) < network->stages()) return true;
  return refuse(__func__, fmt::format("stage {} is outside 0..{}", stage_idx, network->stages() - 1));
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_pre_alloc_mem(void* p_bmrt, const char* net_name) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, false);
  return true;
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_free_pre_alloc_mem(void* p_bmrt, const char* net_name) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, false);
  return true;
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_pre_alloc_mem_multi_thread(void* p_bmrt, uint64_t thread_idx, const mem_info_t* /*mem_info*/) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  runtime->prepare_thread(thread_idx);
  return true;
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_launch_tensor_multi_thread(void* p_bmrt, const char* net_name, const bm_tensor_t* input_tensors,
                                     int input_num, bm_tensor_t* output_tensors, int output_num, uint64_t thread_idx,
                                     bool user_mem, bool /*user_stmode*/, const int* core_list, int core_num) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, false);
  if (!check_thread(__func__, *runtime, thread_idx)) return false;
  LaunchTensors tensors{input_tensors, input_num, output_tensors, output_num, user_mem};
  if (core_num != 0) {
    if (!check_cores(__func__, runtime->handle(), core_list, core_num)) return false;
    tensors.cores = std::span(core_list, static_cast<std::size_t>(core_num));
  }
  return launch(__func__, *runtime, *network, tensors);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_launch_data_multi_thread(void* p_bmrt, const char* net_name, void* const* input_datas,
                                   const bm_shape_t* input_shapes, int input_num, void** output_datas,
                                   bm_shape_t* output_shapes, int output_num, uint64_t thread_idx, bool user_mem,
                                   const int* core_list, int core_num) try {
  SOFTTPU_NETWORK(p_bmrt, net_name, false);
  if (!check_thread(__func__, *runtime, thread_idx)) return false;
  LaunchData data{input_datas, input_shapes, input_num, output_datas, output_shapes, output_num, user_mem};
  if (core_num != 0) {
    if (!check_cores(__func__, runtime->handle(), core_list, core_num)) return false;
    data.cores = std::span(core_list, static_cast<std::size_t>(core_num));
  }
  return launch(__func__, *runtime, *network, data);
} catch (...) {
  return softtpu::caught(__func__);
}

void bmrt_trace(void* p_bmrt) try {
  const std::shared_ptr<Runtime> runtime = find_runtime(__func__, p_bmrt);
  for (size_t i = 0; runtime != nullptr && i < runtime->count(); ++i) {
    if (const auto good = runtime->find(i)->check_constants(); !good) refuse(__func__, good.error().text);
  }
} catch (...) {
  softtpu::caught(__func__);
}

// ---- Copies for several devices ----

bool bmrt_memcpy_s2d_parallel(void* p_bmrt, bm_tensor_t* tensors, void** datas, int* tensor_num, int device_num) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  if (tensors == nullptr || datas == nullptr) return refuse(__func__, "the tensors or the data are NULL");
  return for_each_tensor(__func__, *runtime, tensor_num, device_num, [&](bm_handle_t handle, size_t i) {
    return bm_memcpy_s2d_partial(handle, tensors[i].device_mem, datas[i],
                                 static_cast<unsigned>(bmrt_tensor_bytesize(&tensors[i])));
  });
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_memcpy_d2s_parallel(void* p_bmrt, void** datas, bm_tensor_t* tensors, int* tensor_num, int device_num) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  if (tensors == nullptr || datas == nullptr) return refuse(__func__, "the tensors or the data are NULL");
  return for_each_tensor(__func__, *runtime, tensor_num, device_num, [&](bm_handle_t handle, size_t i) {
    return bm_memcpy_d2s_partial(handle, datas[i], tensors[i].device_mem,
                                 static_cast<unsigned>(bmrt_tensor_bytesize(&tensors[i])));
  });
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_memcpy_d2d_byte_parallel(void* p_bmrt, bm_tensor_t* dst_tensors, size_t* dst_offsets,
                                   bm_tensor_t* src_tensors, size_t* src_offsets, size_t* sizes, int* tensor_num,
                                   int device_num) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  if (dst_tensors == nullptr || src_tensors == nullptr || sizes == nullptr || dst_offsets == nullptr ||
      src_offsets == nullptr)
    return refuse(__func__, "an array is NULL");
  return for_each_tensor(__func__, *runtime, tensor_num, device_num, [&](bm_handle_t handle, size_t i) {
    return bm_memcpy_d2d_byte(handle, dst_tensors[i].device_mem, dst_offsets[i], src_tensors[i].device_mem,
                              src_offsets[i], sizes[i]);
  });
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_memcpy_d2d_stride_ex_parallel(void* p_bmrt, bm_tensor_t* /*dst_tensors*/, size_t* /*dst_offsets*/,
                                        bm_shape_t* /*dst_strides*/, bm_tensor_t* /*src_tensors*/,
                                        size_t* /*src_offsets*/, bm_shape_t* /*src_strides*/, bm_shape_t* /*shapes*/,
                                        int* /*tensor_num*/, int /*device_num*/) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  return refuse(__func__, "the unit of its strides and offsets is not published; use bmrt_memcpy_d2d_byte_parallel");
} catch (...) {
  return softtpu::caught(__func__);
}

// ---- softtpu/networks.h ----

bool softtpu_bmrt_run_static_parts(void* p_bmrt, bool on) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  runtime->static_parts = on;
  return true;
} catch (...) {
  return softtpu::caught(__func__);
}

bool softtpu_bmrt_use_firmware(void* p_bmrt, const char* firmware) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  runtime->firmware = firmware == nullptr ? firmware_setting() : firmware;
  return true;
} catch (...) {
  return softtpu::caught(__func__);
}

bool softtpu_bmrt_use_tensor_map(void* p_bmrt, const char* net_name, int stage, const char* json, size_t bytes) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  runtime->map = {};
  if (json == nullptr) return true;
  if (net_name == nullptr || stage < 0) return refuse(__func__, "it needs the name of a network and a stage");
  runtime->map = {net_name, static_cast<std::size_t>(stage), std::string(json, bytes)};
  return true;
} catch (...) {
  return softtpu::caught(__func__);
}

bool softtpu_bmrt_show_tensors(void* p_bmrt, softtpu_tensor_callback callback, void* user) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  runtime->show = nullptr;
  if (callback == nullptr) return true;
  runtime->show = [callback, user](const bmodel::Tensor& tensor, const std::vector<std::uint8_t>& bytes) {
    const bm_shape_t shape = to_shape(tensor.shape);
    callback(user, tensor.name.c_str(), static_cast<bm_data_type_t>(tensor.type), &shape, bytes.data(), bytes.size());
  };
  return true;
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
