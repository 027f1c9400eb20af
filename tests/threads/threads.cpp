// One host interface, used by several threads at a time: threads INTERFACE MODULE NETWORK [ROUNDS]. Built under
// ThreadSanitizer, it shows races of the libraries (scripts/check_threads); in any build, that each thread gets its own
// results. MODULE is host_test_kernels, NETWORK a recorded one of BM1684X.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "bmlib_runtime.h"
#include "bmruntime_interface.h"
#include "tpuv7/tpuv7_modelrt.h"
#include "tpuv7/tpuv7_rt.h"

namespace {

constexpr int kThreads = 4, kWords = 256;
constexpr unsigned kBytes = kWords * sizeof(int);

struct Options {
  std::string module, network;
  int rounds = 10;
};

// As the module's kernels take it.
struct Param {
  unsigned long long address = 0;
  int count = 0, value = 0;
};

// The first thread that fails ends the program; the others may be anywhere.
void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::_Exit(1);
}
#define REQUIRE(...) require((__VA_ARGS__), #__VA_ARGS__)

void in_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

bool holds(const std::vector<int>& words, int value) {
  for (int i = 0; i < kWords; ++i)
    if (words[static_cast<std::size_t>(i)] != value + i) return false;
  return true;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}
std::string beside(const std::string& network, const char* ending) {
  return network.substr(0, network.rfind('.')) + ending;
}

void use_bmlib(const Options& options) {
  bm_handle_t shared = nullptr;
  REQUIRE(bm_dev_request(&shared, 0) == BM_SUCCESS);
  const tpu_kernel_module_t module = tpu_kernel_load_module_file(shared, options.module.c_str());
  REQUIRE(module != nullptr);
  in_threads([&](int thread) {
    for (int round = 0; round < options.rounds; ++round) {
      bm_handle_t own = nullptr;
      REQUIRE(bm_dev_request(&own, 0) == BM_SUCCESS);
      const tpu_kernel_module_t again = tpu_kernel_load_module_file(own, options.module.c_str());
      REQUIRE(again != nullptr);
      for (const bool mine : {false, true}) {
        const bm_handle_t handle = mine ? own : shared;
        const tpu_kernel_function_t function = tpu_kernel_get_function(handle, mine ? again : module, "write_kernel");
        REQUIRE(function > 0);
        bm_device_mem_t memory, other;
        REQUIRE(bm_malloc_device_byte(handle, &memory, kBytes) == BM_SUCCESS);
        REQUIRE(bm_malloc_device_byte(handle, &other, kBytes) == BM_SUCCESS);
        std::vector<int> words(kWords, 1);
        REQUIRE(bm_memcpy_s2d(handle, memory, words.data()) == BM_SUCCESS);
        const int value = thread * 1000 + round;
        Param param = {bm_mem_get_device_addr(memory), kWords, value};
        if (round % 2 == 0) {
          REQUIRE(tpu_kernel_launch(handle, function, &param, sizeof param) == BM_SUCCESS);
        } else {
          REQUIRE(tpu_kernel_launch_async(handle, function, &param, sizeof param) == BM_SUCCESS);
          REQUIRE((mine ? bm_handle_sync(handle) : bm_thread_sync(handle)) == BM_SUCCESS);
        }
        REQUIRE(bm_memcpy_d2d_byte(handle, other, 0, memory, 0, kBytes) == BM_SUCCESS);
        REQUIRE(bm_memcpy_d2s(handle, words.data(), other) == BM_SUCCESS);
        REQUIRE(holds(words, value));
        unsigned long us = 0;
        static_cast<void>(bm_get_last_api_process_time_us(handle, &us));
        bm_dev_stat_t stat;
        REQUIRE(bm_get_stat(handle, &stat) == BM_SUCCESS);
        bm_free_device(handle, memory);
        bm_free_device(handle, other);
      }
      // Refused: a line of the log in each thread.
      REQUIRE(tpu_kernel_get_function(own, again, "no_such_kernel") <= 0);
      REQUIRE(tpu_kernel_free_module(own, again) == BM_SUCCESS);
      bm_dev_free(own);
    }
  });
  REQUIRE(tpu_kernel_free_module(shared, module) == BM_SUCCESS);
  bm_dev_free(shared);
}

// The recorded inputs and outputs of a network, cut into its tensors.
struct Recorded {
  std::vector<std::string> inputs, outputs;
};
template <class BytesOf>
std::vector<std::string> cut(const std::string& all, int count, const BytesOf& bytes_of) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (int i = 0; i < count; ++i) {
    parts.push_back(all.substr(at, bytes_of(i)));
    at += bytes_of(i);
  }
  REQUIRE(at == all.size());
  return parts;
}

void use_bmrt(const Options& options) {
  bm_handle_t handle = nullptr;
  REQUIRE(bm_dev_request(&handle, 0) == BM_SUCCESS);
  void* const shared = bmrt_create(handle);
  REQUIRE(shared != nullptr && bmrt_load_bmodel(shared, options.network.c_str()));
  const char** names = nullptr;
  bmrt_get_network_names(shared, &names);
  const std::string name = names[0];
  std::free(names);
  in_threads([&](int thread) {
    for (int round = 0; round < options.rounds; ++round) {
      // A runtime that all use, and one for a moment.
      const bool mine = (thread + round) % 2 == 0;
      void* runtime = shared;
      if (mine) {
        runtime = bmrt_create(handle);
        REQUIRE(runtime != nullptr && bmrt_load_bmodel(runtime, options.network.c_str()));
      }
      const bm_net_info_t* const info = bmrt_get_network_info(runtime, name.c_str());
      REQUIRE(info != nullptr);
      auto in = cut(read_file(beside(options.network, ".input.bin")), info->input_num,
                    [&](int i) { return info->max_input_bytes[i]; });
      const auto want = cut(read_file(beside(options.network, ".output.bin")), info->output_num,
                            [&](int i) { return info->max_output_bytes[i]; });
      std::vector<void*> inputs, outputs;
      for (std::string& one : in) inputs.push_back(one.data());
      auto got = want;
      for (std::string& one : got) outputs.push_back(std::memset(one.data(), 0, one.size()));
      std::vector<bm_shape_t> shapes(outputs.size());
      REQUIRE(bmrt_launch_data(runtime, name.c_str(), inputs.data(), info->stages[0].input_shapes, info->input_num,
                               outputs.data(), shapes.data(), info->output_num, true));
      REQUIRE(got == want);
      REQUIRE(bmrt_get_network_info(runtime, "no such network") == nullptr);
      if (mine) bmrt_destroy(runtime);
    }
  });
  bmrt_destroy(shared);
  bm_dev_free(handle);
}

int count_call(void* counter) {
  ++*static_cast<std::atomic<int>*>(counter);
  return 0;
}

void use_rt(const Options& options) {
  REQUIRE(tpuRtInit() == tpuRtSuccess && tpuRtSetDevice(0) == tpuRtSuccess);
  tpuRtStream_t shared = nullptr;
  REQUIRE(tpuRtStreamCreate(&shared) == tpuRtSuccess);
  std::atomic<int> calls{0};
  in_threads([&](int thread) {
    REQUIRE(tpuRtSetDevice(0) == tpuRtSuccess);
    tpuRtStream_t streams[2] = {};
    for (tpuRtStream_t& stream : streams) REQUIRE(tpuRtStreamCreate(&stream) == tpuRtSuccess);
    const tpuRtKernelModule_t module = tpuRtKernelLoadModuleFile(options.module.c_str(), streams[0]);
    REQUIRE(module != nullptr);
    void *memory = nullptr, *other = nullptr;
    REQUIRE(tpuRtMalloc(&memory, kBytes, 0) == tpuRtSuccess && tpuRtMalloc(&other, kBytes, 0) == tpuRtSuccess);
    for (int round = 0; round < options.rounds; ++round) {
      const int value = thread * 1000 + round;
      std::vector<int> words(kWords, 1), got(kWords);
      Param param = {reinterpret_cast<std::uintptr_t>(memory), kWords, value};
      tpuRtEvent_t begun = nullptr, written = nullptr;
      REQUIRE(tpuRtEventCreate(&begun) == tpuRtSuccess && tpuRtEventCreate(&written) == tpuRtSuccess);
      // All threads give steps and launches to one stream, too.
      REQUIRE(tpuRtEventRecord(begun, shared) == tpuRtSuccess);
      REQUIRE(tpuRtStreamAddCallback(shared, &count_call, &calls) == tpuRtSuccess);
      REQUIRE(tpuRtMemcpyS2DAsync(memory, words.data(), kBytes, streams[0]) == tpuRtSuccess);
      REQUIRE(tpuRtKernelLaunchAsync(module, "write_kernel", &param, sizeof param, 1, 1, streams[0]) == tpuRtSuccess);
      REQUIRE(tpuRtEventRecord(written, streams[0]) == tpuRtSuccess);
      REQUIRE(tpuRtStreamWaitEvent(streams[1], written) == tpuRtSuccess);
      REQUIRE(tpuRtMemcpyD2DAsync(other, memory, kBytes, streams[1]) == tpuRtSuccess);
      REQUIRE(tpuRtMemcpyD2SAsync(got.data(), other, kBytes, streams[1]) == tpuRtSuccess);
      REQUIRE(tpuRtStreamAddCallback(streams[1], &count_call, &calls) == tpuRtSuccess);
      static_cast<void>(tpuRtEventQuery(written));
      REQUIRE((round % 3 == 0 ? tpuRtDeviceSynchronize() : tpuRtStreamSynchronize(streams[1])) == tpuRtSuccess);
      REQUIRE(holds(got, value));
      REQUIRE(tpuRtEventSynchronize(begun) == tpuRtSuccess);
      float ms = 0;
      REQUIRE(tpuRtEventElapsedTime(&ms, begun, written) == tpuRtSuccess);
      REQUIRE(tpuRtEventFree(begun, shared) == tpuRtSuccess && tpuRtEventFree(written, streams[0]) == tpuRtSuccess);
      REQUIRE(tpuRtKernelLaunch(module, "no_such_kernel", &param, sizeof param, 1, 1, streams[0]) != tpuRtSuccess);
    }
    void* both[] = {memory, other};
    REQUIRE(tpuRtFree(both, 2) == tpuRtSuccess);
    REQUIRE(tpuRtKernelUnloadModule(module, streams[0]) == tpuRtSuccess);
    for (const tpuRtStream_t stream : streams) REQUIRE(tpuRtStreamDestroy(stream) == tpuRtSuccess);
  });
  REQUIRE(tpuRtStreamSynchronize(shared) == tpuRtSuccess);
  REQUIRE(calls == 2 * kThreads * options.rounds);
  REQUIRE(tpuRtStreamDestroy(shared) == tpuRtSuccess);
}

std::size_t bytes_of(tpuRtDataType_t type, const tpuRtShape_t& shape) {
  constexpr std::size_t kBytesOfType[] = {4, 2, 1, 1, 2, 2, 4, 4, 2};
  std::size_t count = kBytesOfType[type];
  for (int i = 0; i < shape.num_dims; ++i) count *= static_cast<std::size_t>(shape.dims[i]);
  return count;
}

void use_modelrt(const Options& options) {
  REQUIRE(tpuRtInit() == tpuRtSuccess && tpuRtSetDevice(0) == tpuRtSuccess);
  tpuRtNetContext_t context = nullptr;
  REQUIRE(tpuRtCreateNetContext(&context) == tpuRtSuccess);
  tpuRtNet_t shared = nullptr;
  REQUIRE(tpuRtLoadNet(options.network.c_str(), context, &shared) == tpuRtSuccess);
  in_threads([&](int thread) {
    REQUIRE(tpuRtSetDevice(0) == tpuRtSuccess);
    tpuRtStream_t stream = nullptr;
    REQUIRE(tpuRtStreamCreate(&stream) == tpuRtSuccess);
    for (int round = 0; round < options.rounds; ++round) {
      const bool mine = (thread + round) % 2 == 0;
      tpuRtNetContext_t own = nullptr;
      tpuRtNet_t net = shared;
      if (mine) {
        REQUIRE(tpuRtCreateNetContext(&own) == tpuRtSuccess);
        REQUIRE(tpuRtLoadNet(options.network.c_str(), own, &net) == tpuRtSuccess);
      }
      char** names = nullptr;
      REQUIRE(tpuRtGetNetNames(net, &names) == 1);
      const std::string name = names[0];
      tpuRtFreeNetNames(names);
      const tpuRtNetInfo_t info = tpuRtGetNetInfo(net, name.c_str());
      std::vector<tpuRtTensor_t> inputs, outputs;
      std::vector<void*> memories;
      const auto add = [&](std::vector<tpuRtTensor_t>& to, tpuRtDataType_t type, const tpuRtShape_t& shape) {
        tpuRtTensor_t made{};
        made.dtype = type;
        made.shape = shape;
        REQUIRE(tpuRtMalloc(&made.data, bytes_of(type, shape), 0) == tpuRtSuccess);
        memories.push_back(made.data);
        to.push_back(made);
      };
      for (int i = 0; i < info.input.num; ++i) add(inputs, info.input.dtypes[i], info.stages[0].input_shapes[i]);
      for (int i = 0; i < info.output.num; ++i) add(outputs, info.output.dtypes[i], info.stages[0].output_shapes[i]);
      const auto in = cut(read_file(beside(options.network, ".input.bin")), info.input.num,
                          [&](int i) { return bytes_of(info.input.dtypes[i], info.stages[0].input_shapes[i]); });
      const auto want = cut(read_file(beside(options.network, ".output.bin")), info.output.num,
                            [&](int i) { return bytes_of(info.output.dtypes[i], info.stages[0].output_shapes[i]); });
      for (std::size_t i = 0; i < inputs.size(); ++i)
        REQUIRE(tpuRtMemcpyS2DAsync(inputs[i].data, in[i].data(), in[i].size(), stream) == tpuRtSuccess);
      const auto launch = round % 3 == 0 ? &tpuRtLaunchNet : &tpuRtLaunchNetAsync;
      REQUIRE(launch(net, inputs.data(), outputs.data(), name.c_str(), stream) == tpuRtSuccess);
      auto got = want;
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        std::memset(got[i].data(), 0, got[i].size());
        REQUIRE(tpuRtMemcpyD2SAsync(got[i].data(), outputs[i].data, got[i].size(), stream) == tpuRtSuccess);
      }
      REQUIRE(tpuRtStreamSynchronize(stream) == tpuRtSuccess);
      REQUIRE(got == want);
      REQUIRE(tpuRtFree(memories.data(), static_cast<int>(memories.size())) == tpuRtSuccess);
      if (mine) {
        REQUIRE(tpuRtUnloadNet(net) == tpuRtSuccess);
        REQUIRE(tpuRtDestroyNetContext(own) == tpuRtSuccess);
      }
    }
    REQUIRE(tpuRtStreamDestroy(stream) == tpuRtSuccess);
  });
  REQUIRE(tpuRtUnloadNet(shared) == tpuRtSuccess);
  REQUIRE(tpuRtDestroyNetContext(context) == tpuRtSuccess);
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)(const Options&)> interfaces = {
      {"bmlib", &use_bmlib}, {"bmrt", &use_bmrt}, {"rt", &use_rt}, {"modelrt", &use_modelrt}};
  const auto found = count > 1 ? interfaces.find(words[1]) : interfaces.end();
  if (count < 4 || count > 5 || found == interfaces.end()) {
    std::fputs("usage: threads bmlib|bmrt|rt|modelrt MODULE NETWORK [ROUNDS]\n", stderr);
    return 2;
  }
  Options options{words[2], words[3]};
  if (count == 5) options.rounds = std::atoi(words[4]);
  found->second(options);
  return 0;
}
