// One row per function of libbmlib: a call of it with arguments made from fuzz bytes. What a function may read or write
// of its caller's memory is there: buffers are longer than any size that is passed beside them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bmlib_internal.h"
#include "tests/fuzz/input.hpp"
#include "tests/grid/call_table.hpp"

namespace softtpu::fuzz {

constexpr unsigned kMostBytes = 64 << 10;     // of a copy between host and device
constexpr unsigned kBufferBytes = 512 << 10;  // of each host buffer

// What the calls of one input share.
struct HostState {
  bm_handle_t handle = nullptr;
  std::vector<bm_device_mem_t> memories;    // of at most kMostBytes
  std::vector<unsigned long long> to_free;  // addresses of other allocations
  std::vector<std::uint8_t> buffer = std::vector<std::uint8_t>(kBufferBytes);
};

struct HostCall {
  std::string_view name;
  std::vector<grid::Parameter> parameters;
  void (*call)(const HostCall& row, Input& input, HostState& state);
};

// All functions of the header but those that open and close handles.
std::span<const HostCall> host_calls();
// Those of them whose arguments their signatures do not tell (log_calls.cpp).
std::vector<HostCall> log_calls();

// One of the program's memories, perhaps with a changed size or address, or anything.
bm_device_mem_t take_memory(Input& input, HostState& state);

}  // namespace softtpu::fuzz
