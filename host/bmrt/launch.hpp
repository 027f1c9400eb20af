// Launches of networks: what the functions of both generations share.
#pragma once

#include <span>

#include "host/bmrt/runtime.hpp"

namespace softtpu::bmrt {

struct LaunchTensors {
  const bm_tensor_t* inputs = nullptr;
  int input_num = 0;
  bm_tensor_t* outputs = nullptr;
  int output_num = 0;
  bool user_mem = false;            // the outputs have memory
  std::span<const int> cores = {};  // to run on; empty: the first ones
};

// Checks everything, makes the outputs' memory where asked to, fills in their types and shapes, queues the launch.
// False: no memory was made, and the log says why.
bool launch(const char* function, Runtime& runtime, Network& network, const LaunchTensors& tensors);

// The same for arrays of the host; waits. Outputs that parts which are left out would make get -1 as their number of
// dimensions.
struct LaunchData {
  void* const* inputs = nullptr;
  const bm_shape_t* input_shapes = nullptr;
  int input_num = 0;
  void** outputs = nullptr;
  bm_shape_t* output_shapes = nullptr;
  int output_num = 0;
  bool user_mem = false;
  std::span<const int> cores = {};
};
bool launch(const char* function, Runtime& runtime, Network& network, const LaunchData& data);

}  // namespace softtpu::bmrt
