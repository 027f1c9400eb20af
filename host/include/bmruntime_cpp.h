// libbmrt for C++: a context with networks, a network with tensors.
#ifndef BMRUNTIME_CPP_H_
#define BMRUNTIME_CPP_H_

#include <string>
#include <vector>

#include "bmruntime_interface.h"

#pragma GCC visibility push(default)

namespace bmruntime {

class Network;

class Tensor;

size_t ByteSize(bm_data_type_t type);
size_t ByteSize(const bm_tensor_t& tensor);      // of its elements
size_t ByteSize(const bm_device_mem_t& memory);  // of the memory
size_t ByteSize(const Tensor& tensor);
uint64_t Count(const bm_shape_t& shape);
uint64_t Count(const bm_tensor_t& tensor);
uint64_t Count(const Tensor& tensor);
bool IsSameShape(const bm_shape_t& left, const bm_shape_t& right);

// Messages for the chip's firmware: softtpu sends none, and get_bmodel_api_info answers with empty ones and a line in
// the log.
struct api_info_t {
  std::vector<uint32_t> api_id;
  std::vector<std::vector<uint8_t>> api_data;
  std::vector<uint32_t> input_addr_offset;
  std::vector<uint32_t> output_addr_offset;
};
api_info_t get_bmodel_api_info(void* p_bmrt, const char* net_name, const bm_tensor_t* input_tensors, int input_num,
                               bm_tensor_t* output_tensors, int output_num, bool user_mem, bool user_stmode,
                               uint32_t* core_ids);

// A device with the networks that are loaded on it. Without a handle it opens and frees its own.
class Context {
 public:
  explicit Context(int devid = 0);
  explicit Context(bm_handle_t bm_handle);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  bm_status_t load_bmodel(const void* bmodel_data, size_t size);
  bm_status_t load_bmodel(const char* bmodel_file);
  int get_network_number() const;
  void get_network_names(std::vector<const char*>* names) const;
  const bm_net_info_t* get_network_info(const char* net_name) const;
  bm_handle_t handle() const;
  void trace() const;

  friend class Network;

 private:
  void* body_;
  bm_handle_t bm_handle_;
};

// An input or output of a Network.
class Tensor {
 public:
  bm_status_t CopyTo(void* data) const;
  bm_status_t CopyTo(void* data, size_t size, uint64_t offset = 0) const;
  bm_status_t CopyFrom(const void* data);
  bm_status_t CopyFrom(const void* data, size_t size, uint64_t offset = 0);
  // Inputs of a network with several stages: the shapes choose the stage.
  bm_status_t Reshape(const bm_shape_t& shape);
  size_t ByteSize() const;
  uint64_t num_elements() const;
  const bm_tensor_t* tensor() const { return tensor_; }
  void set_store_mode(bm_store_mode_t mode) const { tensor_->st_mode = mode; }
  // Memory of the caller's instead of the tensor's own.
  bm_status_t set_device_mem(const bm_device_mem_t& device_mem);

  friend class Network;

 private:
  Tensor(bm_handle_t handle, bm_tensor_t* tensor, bool can_reshape);
  ~Tensor();
  bool ready() const;

  bool user_mem_;
  bm_handle_t handle_;
  bm_tensor_t* tensor_;
  bool can_reshape_;
  bool have_reshaped_;
};

// One network of a context, with memory for its inputs and outputs. `stage_id` -1: any stage, as the inputs' shapes
// say.
class Network {
 public:
  Network(const Context& ctx, const char* net_name, int stage_id = -1);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  bm_status_t Forward(bool sync = true) const;
  const std::vector<Tensor*>& Inputs();
  const std::vector<Tensor*>& Outputs();
  Tensor* Input(const char* tensor_name);
  Tensor* Output(const char* tensor_name);
  const bm_net_info_t* info() const;

 private:
  const Context* ctx_;
  int net_id_;
  std::vector<Tensor*> inputs_, outputs_;
  bm_tensor_t* input_tensors_;
  bm_tensor_t* output_tensors_;
};

}  // namespace bmruntime

#pragma GCC visibility pop

#endif
