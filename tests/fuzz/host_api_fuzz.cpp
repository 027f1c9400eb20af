// Sequences of libbmlib calls with arbitrary numbers, descriptors, names and handles: each returns. Host buffers are as
// long as the largest size that a call can be granted, because a host program's own memory is its own business.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "tests/fuzz/call_figures.hpp"
#include "tests/fuzz/host_calls.hpp"
#include "tests/fuzz/name_keys.hpp"

namespace softtpu::fuzz {
namespace {

class Program {
 public:
  Program() {
    ::setenv("SOFTTPU_CHIP", "demo4", 0);
    // What it prints is not read, but printed. Fuzzer and sanitizers write to the descriptor.
    stderr = std::fopen("/dev/null", "w");
    require(stderr != nullptr, "there is a place for the log");
    ::setenv("SOFTTPU_LOG", "off", 0);
    require(bm_dev_request(&state_.handle, 0) == BM_SUCCESS, "a device can be requested");
    CallFigures::begin(std::span(host_calls()));
  }

  void run(Input& input) {
    bmlib_log_set_level(BMLIB_LOG_VERBOSE);
    bmlib_log_set_callback(nullptr);
    while (!input.empty()) step(input);
    clear();
    // Whatever was said before, the device still works.
    bm_device_mem_t mem;
    std::uint32_t out = 0x12345678, back = 0;
    const bm_handle_t handle = state_.handle;
    require(bm_malloc_device_byte(handle, &mem, sizeof out) == BM_SUCCESS, "memory is left");
    require(bm_memcpy_s2d(handle, mem, &out) == BM_SUCCESS && bm_memcpy_d2s(handle, &back, mem) == BM_SUCCESS,
            "copies work");
    require(out == back, "what is read is what was written");
    bm_free_device(handle, mem);
  }

 private:
  void clear() {
    for (const bm_device_mem_t& mem : state_.memories) bm_free_device(state_.handle, mem);
    for (const unsigned long long address : state_.to_free) bm_free_device_mem(state_.handle, address);
    state_.memories.clear();
    state_.to_free.clear();
    static_cast<void>(bm_handle_sync(state_.handle));
  }

  // Mostly memory that later calls can use.
  void allocate(Input& input) {
    bm_device_mem_t mem{};
    const unsigned size = input.take<std::uint16_t>();
    if (bm_malloc_device_byte(state_.handle, &mem, size) != BM_SUCCESS) return;
    if (state_.memories.size() >= 16) return bm_free_device(state_.handle, mem);
    state_.memories.push_back(mem);
  }
  // Two pieces; of more the caller would have to pass more arguments.
  void gather_or_scatter(Input& input) {
    void* const host = state_.buffer.data();
    const int count = static_cast<int>(input.take<std::int8_t>()) % 5;
    const bm_device_mem_t mem = take_memory(input, state_);
    const unsigned long long first = take_number(input) % kMostBytes, second = take_number(input) % kMostBytes;
    static_cast<void>(input.byte() % 2 == 0
                          ? bm_memcpy_s2d_gather(state_.handle, mem, count, host, first, host, second)
                          : bm_memcpy_d2s_scatter(state_.handle, mem, count, host, first, host, second));
  }
  void open_another(Input& input) {
    bm_handle_t other = nullptr;
    if (bm_dev_request(&other, static_cast<int>(take_number(input))) == BM_SUCCESS) bm_dev_free(other);
    const auto any = reinterpret_cast<bm_handle_t>(take_number(input));
    if (any != state_.handle) bm_dev_free(any);
  }

  void step(Input& input) {
    const std::uint8_t kind = input.byte();
    if (kind >= 192) return allocate(input);
    if (kind == 0) return gather_or_scatter(input);
    if (kind == 1) return open_another(input);
    static const NameKeys<HostCall> keys(host_calls());
    const HostCall& row = keys.find(input.take<std::uint16_t>());
    CallFigures::note(static_cast<std::size_t>(&row - host_calls().data()));
    row.call(row, input, state_);
  }

  HostState state_;
};

}  // namespace
}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static auto* const program = new softtpu::fuzz::Program;  // lives until the process ends, as its device does
  softtpu::fuzz::Input input(data, bytes);
  program->run(input);
  return 0;
}
