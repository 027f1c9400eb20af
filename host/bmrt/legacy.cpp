// The functions of bmruntime_legacy.h.
#include "bmruntime_legacy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "host/bmrt/launch.hpp"

using namespace softtpu;
using namespace softtpu::bmrt;

namespace {

// By name, else by number.
std::shared_ptr<Network> choose(const char* function, const Runtime& runtime, int index, const char* name) {
  if (name != nullptr) return find_network(function, runtime, name);
  std::shared_ptr<Network> network = index < 0 ? nullptr : runtime.find(static_cast<std::size_t>(index));
  if (network == nullptr) refuse(function, fmt::format("network {} is outside 0..{}", index, runtime.count() - 1));
  return network;
}

// One side of a network: its inputs, or its outputs.
struct Side {
  int count;
  const char** names;
  bm_data_type_t* types;
  bm_shape_t* (*shapes)(const bm_stage_info_t&);
  const char* kind;
};
Side side(const bm_net_info_t& info, bool inputs) {
  if (inputs)
    return {info.input_num, info.input_names, info.input_dtypes,
            [](const bm_stage_info_t& stage) { return stage.input_shapes; }, "input"};
  return {info.output_num, info.output_names, info.output_dtypes,
          [](const bm_stage_info_t& stage) { return stage.output_shapes; }, "output"};
}

// Which tensor of a side has the name; -1 after a message.
int find_tensor(const char* function, const bm_net_info_t& info, const Side& of, const char* name) {
  for (int i = 0; name != nullptr && i < of.count; ++i) {
    if (std::string_view(of.names[i]) == name) return i;
  }
  refuse(function, name == nullptr ? "the tensor's name is NULL"
                                   : fmt::format("network \"{}\" has no {} \"{}\"", info.name, of.kind, name));
  return -1;
}

// The largest extents of a tensor over all stages.
bm_shape_t largest(const bm_net_info_t& info, const Side& of, int tensor) {
  bm_shape_t most{};
  for (int stage = 0; stage < info.stage_num; ++stage) {
    const bm_shape_t& shape = of.shapes(info.stages[stage])[tensor];
    most.num_dims = std::max(most.num_dims, shape.num_dims);
    for (int i = 0; i < shape.num_dims; ++i) most.dims[i] = std::max(most.dims[i], shape.dims[i]);
  }
  return most;
}

void max_nhw(const char* function, void* p_bmrt, bool inputs, const char* tensor_name, int net_idx,
             const char* net_name, const std::array<int*, 4>& extents) {
  bm_shape_t shape{};
  const auto runtime = find_runtime(function, p_bmrt);
  const std::shared_ptr<Network> network = runtime == nullptr ? nullptr : choose(function, *runtime, net_idx, net_name);
  int tensor = -1;
  if (network != nullptr) {
    const Side of = side(network->info(), inputs);
    tensor = find_tensor(function, network->info(), of, tensor_name);
    if (tensor >= 0) shape = largest(network->info(), of, tensor);
  }
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const int there = static_cast<int>(i) < shape.num_dims ? shape.dims[i] : 1;
    if (extents[i] != nullptr) *extents[i] = tensor < 0 ? 0 : there;
  }
}

int max_shape(const char* function, void* p_bmrt, bool inputs, const char* tensor_name, int net_idx,
              const char* net_name, int* extents) {
  const auto runtime = find_runtime(function, p_bmrt);
  const std::shared_ptr<Network> network = runtime == nullptr ? nullptr : choose(function, *runtime, net_idx, net_name);
  if (network == nullptr) return -1;
  const Side of = side(network->info(), inputs);
  const int tensor = find_tensor(function, network->info(), of, tensor_name);
  if (tensor < 0) return -1;
  if (extents == nullptr) {
    refuse(function, "shape is NULL");
    return -1;
  }
  const bm_shape_t shape = largest(network->info(), of, tensor);
  std::copy_n(shape.dims, shape.num_dims, extents);
  return shape.num_dims;
}

// What `value` says of a tensor, or -1.
template <class Value>
int about(const char* function, void* p_bmrt, bool inputs, const char* tensor_name, int net_idx, const char* net_name,
          Value value) {
  const auto runtime = find_runtime(function, p_bmrt);
  const std::shared_ptr<Network> network = runtime == nullptr ? nullptr : choose(function, *runtime, net_idx, net_name);
  if (network == nullptr) return -1;
  const Side of = side(network->info(), inputs);
  const int tensor = find_tensor(function, network->info(), of, tensor_name);
  return tensor < 0 ? -1 : value(of, tensor);
}

bool names(const char* function, void* p_bmrt, bool inputs, int net_idx, const char* net_name, int* count,
           const char*** list) {
  const auto runtime = find_runtime(function, p_bmrt);
  const std::shared_ptr<Network> network = runtime == nullptr ? nullptr : choose(function, *runtime, net_idx, net_name);
  if (network == nullptr) return false;
  if (count == nullptr || list == nullptr) return refuse(function, "the number or the names are NULL");
  const Side of = side(network->info(), inputs);
  *count = of.count;
  *list = of.names;
  return true;
}

// A launch of this generation: memories, and the inputs' shapes.
struct OldLaunch {
  int net_idx;
  const char* net_name;
  const void* inputs;
  int input_num;
  const void* outputs;
  int output_num;
  const int* in_stmode = nullptr;
  const int* out_stmode = nullptr;
  bm_shape_t* output_shapes = nullptr;
};

// `shape_of(info, i)` is the shape of input i.
template <class ShapeOf>
bool launch_old(const char* function, void* p_bmrt, const OldLaunch& what, ShapeOf shape_of) {
  const auto runtime = find_runtime(function, p_bmrt);
  const std::shared_ptr<Network> network =
      runtime == nullptr ? nullptr : choose(function, *runtime, what.net_idx, what.net_name);
  if (network == nullptr) return false;
  const bm_net_info_t& info = network->info();
  if (what.inputs == nullptr || what.outputs == nullptr) return refuse(function, "the inputs or the outputs are NULL");
  if (what.input_num != info.input_num || what.output_num != info.output_num)
    return refuse(function, fmt::format("network \"{}\" has {} inputs and {} outputs", info.name, info.input_num,
                                        info.output_num));
  const auto mode = [](const int* modes, int i) {
    return static_cast<bm_store_mode_t>(modes == nullptr ? BM_STORE_1N : modes[i]);
  };
  std::vector<bm_tensor_t> inputs;
  std::vector<bm_tensor_t> outputs;
  const auto* input_memory = static_cast<const bm_device_mem_t*>(what.inputs);
  const auto* output_memory = static_cast<const bm_device_mem_t*>(what.outputs);
  for (int i = 0; i < what.input_num; ++i)
    inputs.push_back({info.input_dtypes[i], shape_of(info, i), input_memory[i], mode(what.in_stmode, i)});
  for (int i = 0; i < what.output_num; ++i)
    outputs.push_back({info.output_dtypes[i], {}, output_memory[i], mode(what.out_stmode, i)});
  const LaunchTensors tensors{inputs.data(), what.input_num, outputs.data(), what.output_num, true};
  if (!launch(function, *runtime, *network, tensors)) return false;
  for (int i = 0; what.output_shapes != nullptr && i < what.output_num; ++i)
    what.output_shapes[i] = outputs[static_cast<std::size_t>(i)].shape;
  return true;
}

bm_shape_t first_shape(const bm_net_info_t& info, int i) { return info.stages[0].input_shapes[i]; }

// The first stage's shape with another batch, height and width.
bm_shape_t with_nhw(const bm_net_info_t& info, int i, int n, int h, int w) {
  bm_shape_t shape = first_shape(info, i);
  if (shape.num_dims > 0) shape.dims[0] = n;
  if (shape.num_dims > 2) shape.dims[2] = h;
  if (shape.num_dims > 3) shape.dims[3] = w;
  return shape;
}

// All shapes one behind the other.
bool launch_shapes(const char* function, void* p_bmrt, const OldLaunch& what, const int* dims, const int* extents) {
  if (dims == nullptr || extents == nullptr) return refuse(function, "the shapes are NULL");
  return launch_old(function, p_bmrt, what, [dims, extents](const bm_net_info_t&, int i) {
    bm_shape_t shape{};
    const int* from = extents;
    for (int k = 0; k < i; ++k) from += std::max(dims[k], 0);
    shape.num_dims = dims[i];
    if (dims[i] >= 0 && dims[i] <= BM_MAX_DIMS_NUM) std::copy_n(from, dims[i], shape.dims);
    return shape;
  });
}

constexpr int kFailure = BM_ERR_DEVNOTREADY;  // of functions with a bm_status_t as int, when the runtime is none

}  // namespace

extern "C" {

void* create_bmrt_helper(void* pbm_handle, const char* /*chip_type*/, int devid) try {
  if (pbm_handle == nullptr) {
    refuse(__func__, "the place of the handle is NULL");
    return nullptr;
  }
  auto& handle = *static_cast<bm_handle_t*>(pbm_handle);
  return bm_dev_request(&handle, devid) == BM_SUCCESS ? bmrt_create(handle) : nullptr;
} catch (...) {
  return softtpu::caught(__func__);
}

void destroy_bmruntime(void* p_bmrt) try { bmrt_destroy(p_bmrt); } catch (...) {
  softtpu::caught(__func__);
}

bool bmrt_load_context(void* p_bmrt, const char* ctx_dir) try {
  if (ctx_dir == nullptr) return refuse(__func__, "the folder is NULL");
  return bmrt_load_bmodel(p_bmrt, (std::filesystem::path(ctx_dir) / "compilation.bmodel").c_str());
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_can_batch_size_change(void* p_bmrt, int net_idx, const char* net_name) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  static_cast<void>(choose(__func__, *runtime, net_idx, net_name));
  return false;
} catch (...) {
  return softtpu::caught(__func__);
}
bool bmrt_can_height_and_width_change(void* p_bmrt, int net_idx, const char* net_name) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  static_cast<void>(choose(__func__, *runtime, net_idx, net_name));
  return false;
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_get_input_tensor(void* p_bmrt, int net_idx, const char* net_name, int* input_num,
                           const char*** input_names) try {
  return names(__func__, p_bmrt, true, net_idx, net_name, input_num, input_names);
} catch (...) {
  return softtpu::caught(__func__);
}
bool bmrt_get_output_tensor(void* p_bmrt, int net_idx, const char* net_name, int* output_num,
                            const char*** output_names) try {
  return names(__func__, p_bmrt, false, net_idx, net_name, output_num, output_names);
} catch (...) {
  return softtpu::caught(__func__);
}

void bmrt_get_input_blob_max_nhw(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name, int* max_n,
                                 int* max_c, int* max_h, int* max_w) try {
  max_nhw(__func__, p_bmrt, true, tensor_name, net_idx, net_name, {max_n, max_c, max_h, max_w});
} catch (...) {
  softtpu::caught(__func__);
}
void bmrt_get_output_blob_max_nhw(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name, int* max_n,
                                  int* max_c, int* max_h, int* max_w) try {
  max_nhw(__func__, p_bmrt, false, tensor_name, net_idx, net_name, {max_n, max_c, max_h, max_w});
} catch (...) {
  softtpu::caught(__func__);
}
int bmrt_get_input_blob_max_shape(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name,
                                  int* shape) try {
  return max_shape(__func__, p_bmrt, true, tensor_name, net_idx, net_name, shape);
} catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_get_output_blob_max_shape(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name,
                                   int* shape) try {
  return max_shape(__func__, p_bmrt, false, tensor_name, net_idx, net_name, shape);
} catch (...) {
  return softtpu::caught(__func__);
}

int bmrt_get_input_data_type(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name) try {
  return about(__func__, p_bmrt, true, tensor_name, net_idx, net_name,
               [](const Side& of, int i) { return static_cast<int>(of.types[i]); });
} catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_get_output_data_type(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name) try {
  return about(__func__, p_bmrt, false, tensor_name, net_idx, net_name,
               [](const Side& of, int i) { return static_cast<int>(of.types[i]); });
} catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_get_input_gmem_stmode(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name) try {
  return about(__func__, p_bmrt, true, tensor_name, net_idx, net_name,
               [](const Side&, int) { return static_cast<int>(BM_STORE_1N); });
} catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_get_output_gmem_stmode(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name) try {
  return about(__func__, p_bmrt, false, tensor_name, net_idx, net_name,
               [](const Side&, int) { return static_cast<int>(BM_STORE_1N); });
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_launch(void* p_bmrt, int net_idx, const char* net_name, const void* input_tensors, int input_num,
                 const void* output_tensors, int output_num, bm_shape_t* output_shapes) try {
  const OldLaunch what{net_idx,    net_name, input_tensors, input_num,    output_tensors,
                       output_num, nullptr,  nullptr,       output_shapes};
  return launch_old(__func__, p_bmrt, what, first_shape);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_launch_nhw_stmode(void* p_bmrt, int net_idx, const char* net_name, const void* input_tensors, int input_num,
                            const void* output_tensors, int output_num, int n, int h, int w, int* in_stmode,
                            int* out_stmode, bm_shape_t* output_shapes) try {
  const OldLaunch what{net_idx,    net_name,  input_tensors, input_num,    output_tensors,
                       output_num, in_stmode, out_stmode,    output_shapes};
  return launch_old(__func__, p_bmrt, what,
                    [n, h, w](const bm_net_info_t& info, int i) { return with_nhw(info, i, n, h, w); });
} catch (...) {
  return softtpu::caught(__func__);
}
bool bmrt_launch_nhw(void* p_bmrt, int net_idx, const char* net_name, const void* input_tensors, int input_num,
                     const void* output_tensors, int output_num, int n, int h, int w, bm_shape_t* output_shapes) try {
  return bmrt_launch_nhw_stmode(p_bmrt, net_idx, net_name, input_tensors, input_num, output_tensors, output_num, n, h,
                                w, nullptr, nullptr, output_shapes);
} catch (...) {
  return softtpu::caught(__func__);
}
bool bmrt_launch_nhw_stmode_multi_input(void* p_bmrt, int net_idx, const char* net_name, const void* input_tensors,
                                        int input_num, const void* output_tensors, int output_num, int n, int* h,
                                        int* w, int* in_stmode, int* out_stmode, bm_shape_t* output_shapes) try {
  if (h == nullptr || w == nullptr) return refuse(__func__, "the heights or the widths are NULL");
  const OldLaunch what{net_idx,    net_name,  input_tensors, input_num,    output_tensors,
                       output_num, in_stmode, out_stmode,    output_shapes};
  return launch_old(__func__, p_bmrt, what,
                    [n, h, w](const bm_net_info_t& info, int i) { return with_nhw(info, i, n, h[i], w[i]); });
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_launch_shape_stmode(void* p_bmrt, int net_idx, const char* net_name, const void* input_tensors, int input_num,
                              const int* input_dim, const int* input_shape, const void* output_tensors, int output_num,
                              int* in_stmode, int* out_stmode, bm_shape_t* output_shapes) try {
  const OldLaunch what{net_idx,    net_name,  input_tensors, input_num,    output_tensors,
                       output_num, in_stmode, out_stmode,    output_shapes};
  return launch_shapes(__func__, p_bmrt, what, input_dim, input_shape);
} catch (...) {
  return softtpu::caught(__func__);
}
bool bmrt_launch_shape(void* p_bmrt, int net_idx, const char* net_name, const void* input_tensors, int input_num,
                       const int* input_dim, const int* input_shape, const void* output_tensors, int output_num,
                       bm_shape_t* output_shapes) try {
  return bmrt_launch_shape_stmode(p_bmrt, net_idx, net_name, input_tensors, input_num, input_dim, input_shape,
                                  output_tensors, output_num, nullptr, nullptr, output_shapes);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_launch_cpu_data(void* p_bmrt, int /*net_idx*/, const char* /*net_name*/, void* /*input_tensors*/,
                          int /*input_num*/, void* /*output_tensors*/, int /*output_num*/, const int* /*in_shape*/,
                          bm_shape_t* /*out_shapes*/) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  return refuse(__func__, "what its arrays point to is not published; bmrt_launch_data does the same");
} catch (...) {
  return softtpu::caught(__func__);
}

int bmrt_malloc_neuron_device(void* p_bmrt, bm_device_mem_t* pmem, int n, int c, int h, int w) try {
  SOFTTPU_RUNTIME(p_bmrt, kFailure);
  return bm_malloc_neuron_device(runtime->handle(), pmem, n, c, h, w);
} catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_malloc_device_byte(void* p_bmrt, bm_device_mem_t* pmem, unsigned int size) try {
  SOFTTPU_RUNTIME(p_bmrt, kFailure);
  return bm_malloc_device_byte(runtime->handle(), pmem, size);
} catch (...) {
  return softtpu::caught(__func__);
}
void bmrt_free_device(void* p_bmrt, bm_device_mem_t mem) try {
  const auto runtime = find_runtime(__func__, p_bmrt);
  if (runtime != nullptr) bm_free_device(runtime->handle(), mem);
} catch (...) {
  softtpu::caught(__func__);
}
int bmrt_memcpy_s2d(void* p_bmrt, bm_device_mem_t dst, void* src) try {
  SOFTTPU_RUNTIME(p_bmrt, kFailure);
  return bm_memcpy_s2d(runtime->handle(), dst, src);
} catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_memcpy_d2s(void* p_bmrt, void* dst, bm_device_mem_t src) try {
  SOFTTPU_RUNTIME(p_bmrt, kFailure);
  return bm_memcpy_d2s(runtime->handle(), dst, src);
} catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_memcpy_s2d_withsize(void* p_bmrt, bm_device_mem_t dst, void* src, unsigned int size) try {
  SOFTTPU_RUNTIME(p_bmrt, kFailure);
  return bm_memcpy_s2d_partial(runtime->handle(), dst, src, size);
} catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_memcpy_d2s_withsize(void* p_bmrt, void* dst, bm_device_mem_t src, unsigned int size) try {
  SOFTTPU_RUNTIME(p_bmrt, kFailure);
  return bm_memcpy_d2s_partial(runtime->handle(), dst, src, size);
} catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_memcpy_s2d_withsize_offset(void* p_bmrt, bm_device_mem_t dst, void* src, unsigned int size,
                                    unsigned int dev_offset) try {
  SOFTTPU_RUNTIME(p_bmrt, kFailure);
  return bm_memcpy_s2d_partial_offset(runtime->handle(), dst, src, size, dev_offset);
} catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_memcpy_d2s_withsize_offset(void* p_bmrt, void* dst, bm_device_mem_t src, unsigned int size,
                                    unsigned int dev_offset) try {
  SOFTTPU_RUNTIME(p_bmrt, kFailure);
  return bm_memcpy_d2s_partial_offset(runtime->handle(), dst, src, size, dev_offset);
} catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_thread_sync(void* p_bmrt) try {
  SOFTTPU_RUNTIME(p_bmrt, kFailure);
  return bm_thread_sync(runtime->handle());
} catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_dev_getcount(void* /*p_bmrt*/, int* dev_count) try { return bm_dev_getcount(dev_count); } catch (...) {
  return softtpu::caught(__func__);
}
void bmrt_get_last_api_process_time_us(void* p_bmrt, unsigned long* time_us) try {
  const auto runtime = find_runtime(__func__, p_bmrt);
  if (runtime != nullptr) static_cast<void>(bm_get_last_api_process_time_us(runtime->handle(), time_us));
} catch (...) {
  softtpu::caught(__func__);
}

api_info_c* get_bmodel_api_info_c(void* p_bmrt, const char* /*net_name*/, const bm_tensor_t* /*input_tensors*/,
                                  int /*input_num*/, bm_tensor_t* /*output_tensors*/, int /*output_num*/,
                                  bool /*user_mem*/, bool /*user_stmode*/, uint32_t* /*core_ids*/) try {
  SOFTTPU_RUNTIME(p_bmrt, nullptr);
  refuse(__func__, "softtpu reads the instructions itself and sends no messages to a firmware");
  return nullptr;
} catch (...) {
  return softtpu::caught(__func__);
}
void bmrt_free_api_info(api_info_c* api_info) try {
  if (api_info != nullptr) refuse(__func__, "api_info was not returned by get_bmodel_api_info_c");
} catch (...) {
  softtpu::caught(__func__);
}

}  // extern "C"
