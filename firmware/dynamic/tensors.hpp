// Tensors of dynamic parts in device memory and in local memory, and how they are moved.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/bmodel/layer_list.hpp"
#include "tpu_kernel.h"

namespace softtpu::dynamic {

using bmodel::Extents;
using bmodel::ListedLayer;
using bmodel::ShapedTensor;

// The host refuses a part that cannot run before it launches one; what comes here is a list that has changed since, or
// shapes that are smaller than those that the host has judged. The text names the layer that runs.
[[noreturn]] void fail(const std::string& text);

// The layer of this thread that runs as long as this lives.
class RunningLayer {
 public:
  explicit RunningLayer(const ListedLayer& layer);
  ~RunningLayer();
  RunningLayer(const RunningLayer&) = delete;
  RunningLayer& operator=(const RunningLayer&) = delete;
  // A launch that has failed has ended without destructors: a part begins without a layer.
  static void clear();

 private:
  const ListedLayer* outer_;  // which carries this one out
};

// In device memory, compact.
struct Tensor {
  system_addr_t address = 0;
  ShapedTensor shape;
};

// In local memory, from NPU 0 on. Constants are compact: their channels have no gaps.
struct LocalTensor {
  local_addr_t address = 0;
  data_type_t type = DT_FP32;
  dim4 extents{1, 1, 1, 1};
  bool compact = false;
};

inline constexpr dim2 kOne{1, 1};  // of a stride or dilation: none
inline constexpr int kNewtonSteps = 3;
inline constexpr std::int64_t kMostExtent = 65535;  // of a command

data_type_t device_type(std::uint32_t type);
inline bool is_byte(data_type_t type) { return type == DT_INT8 || type == DT_UINT8; }
std::int64_t elements_of(const Extents& extents);
std::vector<std::int64_t> packed_strides(const Extents& extents);
dim4 packed_strides(const dim4& extents);
// A command takes extents, or strides in local memory, up to here.
inline bool fits_command(const dim4& numbers) {
  return std::max({numbers.n, numbers.c, numbers.h, numbers.w}) <= kMostExtent;
}

dim4 to_dim4(const Extents& extents);  // bmodel::local_extents
dim4 strides_of(const LocalTensor& tensor);
// Strides that make a tensor one of these extents: 0 where it has one element.
dim4 spread(const LocalTensor& tensor, const dim4& extents);
local_addr_t bytes_of(const LocalTensor& tensor);  // in each NPU; above any size where there are too many

inline constexpr int kTableEntries = 256;  // of a table that bytes look up

scalar_t constant(float value, data_type_t type);
scalar_t whole(int value);
scalar_t lowest(data_type_t type);  // the least number
variable_t as_operand(local_addr_t address);
variable_t as_operand(scalar_t value);

// The rounding of a list's number; the rules know 0 and 1.
rounding_mode_t rounding_of(std::int32_t number);

// A part of a tensor in device memory; strides count elements.
struct Region {
  system_addr_t address = 0;
  std::vector<std::int64_t> strides;
};

// Copies element by element. Dimensions that lie one behind the other on both sides are one, those of four dimensions
// only where `join` says so; four of them are a command, and those in front of them a loop.
void copy_region(Region to, Region from, Extents extents, std::uint32_t type, bool join = true);
void copy_all(system_addr_t to, system_addr_t from, std::int64_t count, std::uint32_t type);

}  // namespace softtpu::dynamic
