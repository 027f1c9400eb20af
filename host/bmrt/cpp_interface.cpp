// The classes of bmruntime_cpp.h.
#include "bmruntime_cpp.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "host/bmrt/log.hpp"

namespace bmruntime {
namespace {

using softtpu::bmrt::refuse;

// What a Context's body points to.
struct Body {
  void* bmrt = nullptr;
  bool own_handle = false;
};
void* bmrt_of(void* body) { return static_cast<Body*>(body)->bmrt; }

}  // namespace

size_t ByteSize(bm_data_type_t type) { return bmrt_data_type_size(type); }
size_t ByteSize(const bm_tensor_t& tensor) { return bmrt_tensor_bytesize(&tensor); }
size_t ByteSize(const bm_device_mem_t& memory) { return bm_mem_get_device_size(memory); }
size_t ByteSize(const Tensor& tensor) { return tensor.ByteSize(); }
uint64_t Count(const bm_shape_t& shape) { return bmrt_shape_count(&shape); }
uint64_t Count(const bm_tensor_t& tensor) { return bmrt_shape_count(&tensor.shape); }
uint64_t Count(const Tensor& tensor) { return tensor.num_elements(); }
bool IsSameShape(const bm_shape_t& left, const bm_shape_t& right) { return bmrt_shape_is_same(&left, &right); }

Context::Context(int devid) : body_(nullptr), bm_handle_(nullptr) {
  auto* body = new Body;
  if (bm_dev_request(&bm_handle_, devid) == BM_SUCCESS) {
    body->own_handle = true;
    body->bmrt = bmrt_create(bm_handle_);
  }
  body_ = body;
}

Context::Context(bm_handle_t bm_handle) : body_(new Body{bmrt_create(bm_handle), false}), bm_handle_(bm_handle) {}

Context::~Context() {
  auto* body = static_cast<Body*>(body_);
  if (body->bmrt != nullptr) bmrt_destroy(body->bmrt);
  if (body->own_handle) bm_dev_free(bm_handle_);
  delete body;
}

bm_status_t Context::load_bmodel(const void* bmodel_data, size_t size) {
  return bmrt_load_bmodel_data(bmrt_of(body_), bmodel_data, size) ? BM_SUCCESS : BM_ERR_FAILURE;
}
bm_status_t Context::load_bmodel(const char* bmodel_file) {
  return bmrt_load_bmodel(bmrt_of(body_), bmodel_file) ? BM_SUCCESS : BM_ERR_FAILURE;
}
int Context::get_network_number() const { return bmrt_get_network_number(bmrt_of(body_)); }
void Context::get_network_names(std::vector<const char*>* names) const {
  if (names == nullptr) return void(refuse("get_network_names", "names is NULL"));
  const char** list = nullptr;
  bmrt_get_network_names(bmrt_of(body_), &list);
  names->clear();
  if (list != nullptr) names->assign(list, list + get_network_number());
  std::free(list);
}
const bm_net_info_t* Context::get_network_info(const char* net_name) const {
  return bmrt_get_network_info(bmrt_of(body_), net_name);
}
bm_handle_t Context::handle() const { return bm_handle_; }
void Context::trace() const { bmrt_trace(bmrt_of(body_)); }

Tensor::Tensor(bm_handle_t handle, bm_tensor_t* tensor, bool can_reshape)
    : user_mem_(false), handle_(handle), tensor_(tensor), can_reshape_(can_reshape), have_reshaped_(!can_reshape) {}
Tensor::~Tensor() {
  if (!user_mem_ && tensor_->device_mem.size > 0) bm_free_device(handle_, tensor_->device_mem);
}

bm_status_t Tensor::CopyTo(void* data) const { return CopyTo(data, ByteSize(), 0); }
bm_status_t Tensor::CopyTo(void* data, size_t size, uint64_t offset) const {
  return bm_memcpy_d2s_partial_offset(handle_, data, tensor_->device_mem, static_cast<unsigned>(size),
                                      static_cast<unsigned>(offset));
}
bm_status_t Tensor::CopyFrom(const void* data) { return CopyFrom(data, ByteSize(), 0); }
bm_status_t Tensor::CopyFrom(const void* data, size_t size, uint64_t offset) {
  return bm_memcpy_s2d_partial_offset(handle_, tensor_->device_mem, const_cast<void*>(data),  // NOLINT: bmlib's type
                                      static_cast<unsigned>(size), static_cast<unsigned>(offset));
}
bm_status_t Tensor::Reshape(const bm_shape_t& shape) {
  if (!can_reshape_ && !bmrt_shape_is_same(&shape, &tensor_->shape)) {
    refuse("Reshape", "the shape of this tensor is fixed");
    return BM_ERR_PARAM;
  }
  tensor_->shape = shape;
  have_reshaped_ = true;
  return BM_SUCCESS;
}
size_t Tensor::ByteSize() const { return bmrt_tensor_bytesize(tensor_); }
uint64_t Tensor::num_elements() const { return bmrt_shape_count(&tensor_->shape); }
bm_status_t Tensor::set_device_mem(const bm_device_mem_t& device_mem) {
  if (bm_mem_get_device_size(device_mem) < ByteSize()) {
    refuse("set_device_mem",
           fmt::format("memory of {} bytes for a tensor of {}", bm_mem_get_device_size(device_mem), ByteSize()));
    return BM_ERR_PARAM;
  }
  if (!user_mem_ && tensor_->device_mem.size > 0) bm_free_device(handle_, tensor_->device_mem);
  tensor_->device_mem = device_mem;
  user_mem_ = true;
  return BM_SUCCESS;
}
bool Tensor::ready() const { return have_reshaped_; }

Network::Network(const Context& ctx, const char* net_name, int stage_id)
    : ctx_(&ctx), net_id_(-1), input_tensors_(nullptr), output_tensors_(nullptr) {
  std::vector<const char*> names;
  ctx.get_network_names(&names);
  for (size_t i = 0; net_name != nullptr && i < names.size(); ++i) {
    if (std::strcmp(names[i], net_name) == 0) net_id_ = static_cast<int>(i);
  }
  const bm_net_info_t* of = info();
  if (of == nullptr || stage_id < -1 || stage_id >= of->stage_num) {
    refuse("Network", of == nullptr ? "no such network is loaded" : fmt::format("there is no stage {}", stage_id));
    net_id_ = -1;
    return;
  }
  // Any stage: as large as the largest, with shapes that are given later where there are several.
  const bool any = stage_id == -1 && of->stage_num > 1;
  const bm_stage_info_t& stage = of->stages[stage_id == -1 ? 0 : stage_id];
  const auto make = [&](int count, const bm_data_type_t* types, const bm_shape_t* shapes, const size_t* bytes,
                        bool inputs, std::vector<Tensor*>& list) {
    auto* tensors = new bm_tensor_t[static_cast<size_t>(count)]{};
    for (int i = 0; i < count; ++i) {
      tensors[i].dtype = types[i];
      tensors[i].shape = shapes[i];
      if (bm_malloc_device_byte(ctx_->handle(), &tensors[i].device_mem, static_cast<unsigned>(bytes[i])) != BM_SUCCESS)
        tensors[i].device_mem = {};
      list.push_back(new Tensor(ctx_->handle(), &tensors[i], any && inputs));
    }
    return tensors;
  };
  input_tensors_ = make(of->input_num, of->input_dtypes, stage.input_shapes, of->max_input_bytes, true, inputs_);
  output_tensors_ = make(of->output_num, of->output_dtypes, stage.output_shapes, of->max_output_bytes, false, outputs_);
}

Network::~Network() {
  for (auto* tensors : {&inputs_, &outputs_}) {
    for (Tensor* tensor : *tensors) delete tensor;
  }
  delete[] input_tensors_;
  delete[] output_tensors_;
}

bm_status_t Network::Forward(bool sync) const {
  const bm_net_info_t* of = info();
  if (of == nullptr) {
    refuse("Forward", "the network is not loaded");
    return BM_ERR_FAILURE;
  }
  for (const Tensor* input : inputs_) {
    if (input->ready()) continue;
    refuse("Forward", "an input has no shape yet: Reshape chooses the stage");
    return BM_ERR_FAILURE;
  }
  if (!bmrt_launch_tensor_ex(bmrt_of(ctx_->body_), of->name, input_tensors_, of->input_num, output_tensors_,
                             of->output_num, true, false))
    return BM_ERR_FAILURE;
  return sync ? bm_thread_sync(ctx_->handle()) : BM_SUCCESS;
}

const std::vector<Tensor*>& Network::Inputs() { return inputs_; }
const std::vector<Tensor*>& Network::Outputs() { return outputs_; }

Tensor* Network::Input(const char* tensor_name) {
  const bm_net_info_t* of = info();
  for (int i = 0; of != nullptr && tensor_name != nullptr && i < of->input_num; ++i) {
    if (std::strcmp(of->input_names[i], tensor_name) == 0) return inputs_[static_cast<size_t>(i)];
  }
  return nullptr;
}
Tensor* Network::Output(const char* tensor_name) {
  const bm_net_info_t* of = info();
  for (int i = 0; of != nullptr && tensor_name != nullptr && i < of->output_num; ++i) {
    if (std::strcmp(of->output_names[i], tensor_name) == 0) return outputs_[static_cast<size_t>(i)];
  }
  return nullptr;
}

const bm_net_info_t* Network::info() const {
  std::vector<const char*> names;
  if (net_id_ < 0) return nullptr;
  ctx_->get_network_names(&names);
  return static_cast<size_t>(net_id_) < names.size() ? ctx_->get_network_info(names[static_cast<size_t>(net_id_)])
                                                     : nullptr;
}

// There are no messages to the chip's firmware.
api_info_t get_bmodel_api_info(void* /*p_bmrt*/, const char* /*net_name*/, const bm_tensor_t* /*input_tensors*/,
                               int /*input_num*/, bm_tensor_t* /*output_tensors*/, int /*output_num*/,
                               bool /*user_mem*/, bool /*user_stmode*/, uint32_t* /*core_ids*/) {
  refuse("get_bmodel_api_info", "softtpu reads the instructions itself and sends no messages to a firmware");
  return {};
}

}  // namespace bmruntime
