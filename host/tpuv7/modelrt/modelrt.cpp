// libtpuv7_modelrt: the published runtime of compiled networks of BM1690's generation, over libbmrt. A launch is a step
// of its stream: it runs on a handle of its context and is over when the network is.
#include "tpuv7/tpuv7_modelrt.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "bmruntime_interface.h"
#include "host/bmrt/type_text.hpp"
#include "host/client/log_sink.hpp"
#include "host/tpuv7/support.hpp"

namespace softtpu::tpuv7 {
namespace {

// Both interfaces number types and lay out shapes alike.
static_assert(static_cast<int>(TPU_UINT4) == static_cast<int>(BM_UINT4) &&
              static_cast<int>(TPU_BFLOAT16) == static_cast<int>(BM_BFLOAT16));
static_assert(sizeof(tpuRtShape_t) == sizeof(bm_shape_t) && offsetof(tpuRtShape_t, dims) == offsetof(bm_shape_t, dims));
static_assert(sizeof(tpuRtDataType_t) == sizeof(bm_data_type_t));

struct Context {
  ~Context() { bm_dev_free(handle); }
  bm_handle_t handle = nullptr;
  std::shared_ptr<host::Stream> stream;  // the handle's: networks run in it
};

// What one file has brought.
class Net {
 public:
  Net(std::shared_ptr<Context> context, void* runtime) : context_(std::move(context)), runtime_(runtime) {
    const char** names = nullptr;
    bmrt_get_network_names(runtime_, &names);
    for (int i = 0; i < bmrt_get_network_number(runtime_); ++i) {
      names_.emplace_back(names[i]);
      described_.push_back(describe(*bmrt_get_network_info(runtime_, names[i])));
    }
    std::free(names);
  }
  ~Net() { bmrt_destroy(runtime_); }
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  Context& context() const { return *context_; }
  void* runtime() const { return runtime_; }
  const std::vector<std::string>& names() const { return names_; }
  // nullptr: there is none.
  const bm_net_info_t* find(const char* name) const {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) return nullptr;
    return bmrt_get_network_info(runtime_, name);
  }
  tpuRtNetInfo_t info(const char* name) {
    const auto at = static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
    const bm_net_info_t& of = *bmrt_get_network_info(runtime_, name);
    tpuRtNetInfo_t to{};
    to.name = of.name;
    to.is_dynamic = of.is_dynamic;
    to.input = {of.input_num, of.input_names, of.input_scales, of.input_zero_point, types(of.input_dtypes)};
    to.output = {of.output_num, of.output_names, of.output_scales, of.output_zero_point, types(of.output_dtypes)};
    to.stage_num = of.stage_num;
    to.stages = described_[at].stages.data();
    return to;
  }

 private:
  struct Described {
    std::vector<std::vector<void*>> memories;
    std::vector<tpuRtStageInfo_t> stages;
  };
  static tpuRtDataType_t* types(bm_data_type_t* of) { return reinterpret_cast<tpuRtDataType_t*>(of); }
  static Described describe(const bm_net_info_t& info) {
    Described made;
    const auto addresses = [&](const bm_device_mem_t* of, int count) {
      std::vector<void*>& list = made.memories.emplace_back();
      for (int i = 0; i < count; ++i) list.push_back(reinterpret_cast<void*>(bm_mem_get_device_addr(of[i])));
      return list.data();  // stays where it is when the outer list grows
    };
    for (const bm_stage_info_t& stage : std::span(info.stages, static_cast<std::size_t>(info.stage_num))) {
      void** const inputs = addresses(stage.input_mems, info.input_num);
      void** const outputs = addresses(stage.output_mems, info.output_num);
      made.stages.push_back({reinterpret_cast<tpuRtShape_t*>(stage.input_shapes),
                             reinterpret_cast<tpuRtShape_t*>(stage.output_shapes), inputs, outputs});
    }
    return made;
  }

  std::shared_ptr<Context> context_;
  void* runtime_;
  std::vector<std::string> names_;
  std::vector<Described> described_;
};

// Never destroyed: exit handlers of the program may still come here.
host::HandleTable<Context>& contexts() {
  static auto& instance = *new host::HandleTable<Context>;
  return instance;
}
host::HandleTable<Net>& nets() {
  static auto& instance = *new host::HandleTable<Net>;
  return instance;
}

// ---- Loading ----

template <class Load>
tpuRtStatus_t load(const char* function, tpuRtNetContext_t name, tpuRtNet_t* net, Load load_into) {
  if (net == nullptr) return fail(function, tpuRtErrorInvalidValue, "net is NULL");
  auto context = find(function, contexts(), name, "context");
  if (context == nullptr) return kNoHandle;
  // What libbmrt and libbmlib have to say, they say in this function's name.
  const host::CalledAs called(function);
  void* const runtime = bmrt_create(context->handle);
  if (runtime == nullptr) return tpuRtErrFailure;
  if (!load_into(runtime)) {
    bmrt_destroy(runtime);
    return tpuRtErrData;
  }
  *net = nets().add(std::make_shared<Net>(std::move(context), runtime));
  return tpuRtSuccess;
}

// ---- Launching ----

struct Launch {
  std::shared_ptr<Net> net;
  std::string name;
  std::vector<bm_tensor_t> inputs, outputs;
};

bm_tensor_t to_tensor(tpuRtDataType_t dtype, const tpuRtShape_t& shape, const void* data) {
  bm_tensor_t tensor{};
  tensor.dtype = static_cast<bm_data_type_t>(dtype);
  tensor.shape = std::bit_cast<bm_shape_t>(shape);
  bm_set_device_mem(&tensor.device_mem, static_cast<unsigned>(bmrt_tensor_bytesize(&tensor)),
                    reinterpret_cast<std::uintptr_t>(data));
  return tensor;
}

// The stage that was compiled for these inputs; -1: none.
int find_stage(const bm_net_info_t& info, const tpuRtTensor_t* input) {
  for (int stage = 0; stage < info.stage_num; ++stage) {
    bool same = true;
    for (int i = 0; i < info.input_num; ++i) {
      const tpuRtShape_t& shape = input[i].shape;
      const auto wanted = std::bit_cast<tpuRtShape_t>(info.stages[stage].input_shapes[i]);
      same = same && shape.num_dims == wanted.num_dims &&
             std::equal(shape.dims, shape.dims + wanted.num_dims, wanted.dims);
    }
    if (same) return stage;
  }
  return -1;
}

// The program's memory of a tensor has to hold all of it.
tpuRtStatus_t check_memory(const char* function, const DeviceClient& device, const char* name,
                           const bm_tensor_t& tensor) {
  const std::string what = fmt::format("tensor \"{}\"", name);
  return to_status(function, device.check_range(what.c_str(), bm_mem_get_device_addr(tensor.device_mem),
                                                bm_mem_get_device_size(tensor.device_mem)));
}

tpuRtStatus_t add_inputs(const char* function, const bm_net_info_t& info, const tpuRtTensor_t* input, Launch& launch) {
  const DeviceClient& device = launch.net->context().stream->device();
  for (int i = 0; i < info.input_num; ++i) {
    if (static_cast<int>(input[i].dtype) != static_cast<int>(info.input_dtypes[i]))
      return fail(
          function, tpuRtErrParam,
          fmt::format("input \"{}\" is of type {}, the network's is {}", info.input_names[i],
                      softtpu::bmrt::type_text(input[i].dtype), softtpu::bmrt::type_text(info.input_dtypes[i])));
    launch.inputs.push_back(to_tensor(input[i].dtype, input[i].shape, input[i].data));
    if (const auto status = check_memory(function, device, info.input_names[i], launch.inputs.back());
        status != tpuRtSuccess)
      return status;
  }
  return tpuRtSuccess;
}

tpuRtStatus_t add_outputs(const char* function, const bm_net_info_t& info, int stage, tpuRtTensor_t* output,
                          Launch& launch) {
  const DeviceClient& device = launch.net->context().stream->device();
  for (int i = 0; i < info.output_num; ++i) {
    const auto type = static_cast<tpuRtDataType_t>(info.output_dtypes[i]);
    const auto shape = std::bit_cast<tpuRtShape_t>(info.stages[stage].output_shapes[i]);
    launch.outputs.push_back(to_tensor(type, shape, output[i].data));
    if (const auto status = check_memory(function, device, info.output_names[i], launch.outputs.back());
        status != tpuRtSuccess)
      return status;
    output[i].dtype = type;
    output[i].shape = shape;
  }
  return tpuRtSuccess;
}

tpuRtStatus_t prepare(const char* function, const tpuRtTensor_t* input, tpuRtTensor_t* output, Launch& launch) {
  const bm_net_info_t* const info = launch.net->find(launch.name.c_str());
  if (info == nullptr) return fail(function, tpuRtErrParam, fmt::format("no network \"{}\" is loaded", launch.name));
  if ((input == nullptr && info->input_num > 0) || (output == nullptr && info->output_num > 0))
    return fail(function, tpuRtErrParam, input == nullptr ? "input is NULL" : "output is NULL");
  const int stage = find_stage(*info, input);
  if (stage < 0)
    return fail(function, tpuRtErrParam,
                fmt::format("network \"{}\" was not compiled for inputs of these shapes", launch.name));
  if (const auto status = add_inputs(function, *info, input, launch); status != tpuRtSuccess) return status;
  return add_outputs(function, *info, stage, output, launch);
}

// Carries the launch out; its memory may have been freed since it was checked.
Result<void> carry_out(const char* function, const Launch& launch) {
  const host::CalledAs called(function);
  std::vector<bm_tensor_t> outputs = launch.outputs;
  if (!bmrt_launch_tensor_ex(launch.net->runtime(), launch.name.c_str(), launch.inputs.data(),
                             static_cast<int>(launch.inputs.size()), outputs.data(), static_cast<int>(outputs.size()),
                             true, true))
    return Error{ErrorKind::kInternal, fmt::format("network \"{}\" cannot be launched", launch.name)};
  return launch.net->context().stream->synchronize();
}

tpuRtStatus_t launch_net(const char* function, tpuRtNet_t name, const tpuRtTensor_t* input, tpuRtTensor_t* output,
                         const char* net_name, tpuRtStream_t stream, bool wait) {
  const auto found = find_stream(function, stream);
  if (found == nullptr) return kNoHandle;
  Launch launch{find(function, nets(), name, "net"), {}, {}, {}};
  if (launch.net == nullptr) return kNoHandle;
  if (net_name == nullptr) return fail(function, tpuRtErrParam, "net_name is NULL");
  launch.name = net_name;
  if (launch.net->context().stream->shared_device() != found->shared_device())
    return fail(function, kNoHandle, "the network is loaded on another device than the stream's");
  if (wait && found->is_own_thread())
    return fail(function, tpuRtErrBusy, "a callback cannot wait for the stream that it belongs to");
  if (const auto status = prepare(function, input, output, launch); status != tpuRtSuccess) return status;
  if (!wait) {
    return to_status(
        function, found->add(host::Stream::LaunchingStep{[function, launch] { return carry_out(function, launch); }}));
  }
  if (auto before = found->wait_for_all(); !before) return to_status(function, before, true);
  return to_status(function, carry_out(function, launch), true);
}

// ---- Names ----

// Arrays that programs have been given.
struct GivenNames {
  std::mutex mutex;
  std::set<char**> known;
};
GivenNames& given_names() {
  static auto& instance = *new GivenNames;
  return instance;
}

}  // namespace
}  // namespace softtpu::tpuv7

using namespace softtpu;
using namespace softtpu::tpuv7;

extern "C" {

tpuRtStatus_t tpuRtCreateNetContext(tpuRtNetContext_t* context) try {
  SOFTTPU_RT_NOT_NULL(context, tpuRtErrorInvalidValue);
  const host::CalledAs called(__func__);
  int device = 0;
  if (const auto status = tpuRtGetDevice(&device); status != tpuRtSuccess) return status;
  auto made = std::make_shared<Context>();
  if (bm_dev_request(&made->handle, device) != BM_SUCCESS) return tpuRtDevnotready;
  made->stream = host::stream_table().find(made->handle);
  *context = contexts().add(std::move(made));
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtDestroyNetContext(tpuRtNetContext_t context) try {
  if (find(__func__, contexts(), context, "context") == nullptr) return kNoHandle;
  contexts().take(context);
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtLoadNet(const char* net_path, tpuRtNetContext_t context, tpuRtNet_t* net) try {
  SOFTTPU_RT_NOT_NULL(net_path, tpuRtErrParam);
  std::error_code error;
  if (!std::filesystem::is_regular_file(net_path, error))
    return fail(__func__, tpuRtErrParam,
                fmt::format("{}: {}", net_path, error ? error.message() : std::string("is not a file")));
  return load(__func__, context, net, [&](void* runtime) { return bmrt_load_bmodel(runtime, net_path); });
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtLoadNetFromMem(const void* net_data, size_t size, tpuRtNetContext_t context, tpuRtNet_t* net) try {
  SOFTTPU_RT_NOT_NULL(net_data, tpuRtErrParam);
  return load(__func__, context, net, [&](void* runtime) { return bmrt_load_bmodel_data(runtime, net_data, size); });
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtUnloadNet(tpuRtNet_t net) try {
  if (find(__func__, nets(), net, "net") == nullptr) return kNoHandle;
  nets().take(net);
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtNetInfo_t tpuRtGetNetInfo(const tpuRtNet_t net, const char* name) try {
  const auto found = find(__func__, nets(), net, "net");
  if (found == nullptr) return {};
  if (name != nullptr && found->find(name) != nullptr) return found->info(name);
  fail(__func__, tpuRtErrParam,
       name == nullptr ? std::string("name is NULL") : fmt::format("no network \"{}\" is loaded", name));
  return {};
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtLaunchNetAsync(tpuRtNet_t net, const tpuRtTensor_t* input, tpuRtTensor_t* output,
                                  const char* net_name, tpuRtStream_t stream) try {
  return launch_net(__func__, net, input, output, net_name, stream, false);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtLaunchNet(tpuRtNet_t net, const tpuRtTensor_t* input, tpuRtTensor_t* output, const char* net_name,
                             tpuRtStream_t stream) try {
  return launch_net(__func__, net, input, output, net_name, stream, true);
} catch (...) {
  return softtpu::caught(__func__);
}

int tpuRtGetNetNames(const tpuRtNet_t net, char*** names) try {
  const auto found = find(__func__, nets(), net, "net");
  if (found == nullptr) return -1;
  if (names == nullptr) {
    fail(__func__, tpuRtErrorInvalidValue, "names is NULL");
    return -1;
  }
  // One block: the array, and the names behind it.
  const std::size_t count = found->names().size();
  std::size_t bytes = count * sizeof(char*);
  for (const std::string& name : found->names()) bytes += name.size() + 1;
  auto* const list = static_cast<char**>(std::malloc(bytes));
  if (list == nullptr) {
    fail(__func__, tpuRtErrorMemoryAllocation, "there is no memory for the names");
    return -1;
  }
  auto* next = reinterpret_cast<char*>(list + count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = found->names()[i];
    list[i] = next;
    std::memcpy(next, name.c_str(), name.size() + 1);
    next += name.size() + 1;
  }
  GivenNames& given = given_names();
  const std::lock_guard lock(given.mutex);
  given.known.insert(list);
  *names = list;
  return static_cast<int>(count);
} catch (...) {
  return softtpu::caught(__func__);
}

void tpuRtFreeNetNames(char** names) try {
  if (names == nullptr) return;
  GivenNames& given = given_names();
  const std::lock_guard lock(given.mutex);
  if (given.known.erase(names) == 0) {
    fail(__func__, tpuRtErrParam, "the names are not from tpuRtGetNetNames, or were freed");
    return;
  }
  std::free(names);
} catch (...) {
  softtpu::caught(__func__);
}

}  // extern "C"
