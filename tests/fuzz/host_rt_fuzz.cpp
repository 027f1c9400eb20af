// Sequences of calls of any function of libtpuv7_rt, libtpuv7_modelrt, libtpu_runtime_api and libtpudnn, with arbitrary
// numbers, names and handles, also destroyed ones and those of another interface: each returns. Host buffers are as
// long as the largest size that is passed, because a host program's own memory is its own business.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bmlib_runtime.h"
#include "tests/fuzz/call_figures.hpp"
#include "tests/fuzz/failing_new.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/name_keys.hpp"
#include "tests/grid/call_table.hpp"
#include "tpu_runtime_api/tpu_runtime_api.h"
#include "tpudnn/tpuDNN.h"
#include "tpuv7/tpuv7_manager.h"
#include "tpuv7/tpuv7_modelrt.h"

namespace softtpu::fuzz {
namespace {

constexpr std::size_t kBufferBytes = 128 << 10;
constexpr std::size_t kMostBytes = 66000;
constexpr std::size_t kMostThings = 12;

// What calls have made and may use, of each kind, dead ones among them.
struct State {
  std::deque<void*> streams, events, modules, handles, graphs, memories, host, contexts, nets, names;
  std::string network;              // of the net that each input begins with
  tpuRtTensor_t input{}, output{};  // its tensors
};
// The host buffer of all calls. It lives as long as the program: a copy to it may still wait in a stream that an input
// has left.
std::vector<std::uint8_t>& buffer() {
  static auto& bytes = *new std::vector<std::uint8_t>(kBufferBytes);
  return bytes;
}

struct Row {
  std::string_view name;
  std::vector<grid::Parameter> parameters;
  void (*call)(const Row& row, Input& input, State& state);
};

int call_back(void* /*data*/) {
  int device = 0;
  static_cast<void>(tpuRtGetDevice(&device));
  static_cast<void>(tpuRtDeviceSynchronize());  // refused
  return device;
}

bool ends(std::string_view text, std::string_view end) { return text.ends_with(end); }

class Arguments {
 public:
  Arguments(const Row& row, Input& input, State& state) : row_(row), input_(input), state_(state) {}

  template <class P>
  P make() {
    const grid::Parameter& parameter = row_.parameters[next_++];
    if constexpr (std::is_pointer_v<P> && std::is_function_v<std::remove_pointer_t<P>>) {
      return input_.byte() % 8 == 0 ? nullptr : &call_back;
    } else if constexpr (std::is_pointer_v<P>) {
      return static_cast<P>(const_cast<void*>(pointer<std::remove_pointer_t<P>>(parameter)));
    } else {
      return static_cast<P>(number(parameter.name));
    }
  }
  // What a call has made is there for the next ones.
  void keep_results() {
    for (const auto& [place, kind] : results_) {
      if (*place == nullptr) continue;
      kind->push_back(*place);
      if (kind->size() > kMostThings && kind != &state_.memories && kind != &state_.host) kind->pop_front();
    }
  }
  void keep(std::deque<void*>& kind, void* made) {
    if (made != nullptr) kind.push_back(made);
  }

 private:
  std::uint64_t number(std::string_view name) {
    const bool is_count =
        name.find("_num") != std::string_view::npos || name.starts_with("group") || name == "world_size";
    if (is_count) return input_.byte() % 11;
    const bool is_size = name.find("ize") != std::string_view::npos || name == "length" || name == "argBytes";
    // Any size can be asked of the device, no more than there is can be read of this program.
    const bool any = row_.name == "tpuRtMalloc" || row_.name == "tpuMalloc";
    if (is_size && !any) return input_.byte() % 4 == 0 ? take_number(input_) % kMostBytes : input_.byte() % 16 * 4U;
    if (name == "dst" || name == "src") return reinterpret_cast<std::uintptr_t>(take(state_.memories));
    return take_number(input_);
  }
  void* take(const std::deque<void*>& kind) {
    const std::uint8_t choice = input_.byte();
    if (choice == 0) return nullptr;
    if (choice == 1 || kind.empty()) return reinterpret_cast<void*>(take_number(input_));
    char* const thing = static_cast<char*>(kind[choice % kind.size()]);
    return choice % 32 == 2 ? thing + input_.byte() : thing;
  }
  // Where a call puts what it makes; tpuRtFree finds its memory there.
  void** place(std::deque<void*>& kind, bool makes) {
    objects_.push_back(std::make_unique<std::uint64_t[]>(kMostThings));
    void** const at = reinterpret_cast<void**>(objects_.back().get());
    if (makes) {
      results_.emplace_back(at, &kind);
    } else {
      *at = take(kind);
    }
    return at;
  }
  std::deque<void*>* find_kind(std::string_view name) {
    if (ends(name, "tream") || name == "capture_stream") return &state_.streams;
    if (ends(name, "vent") || name == "start" || name == "end") return &state_.events;
    if (ends(name, "module")) return &state_.modules;
    if (name == "handle") return &state_.handles;
    if (name.starts_with("graph") || name == "instance") return &state_.graphs;
    if (name == "devPtr" || name == "dstDevPtr" || name == "srcDevPtr" || name == "dstPtr" || name == "srcPtr")
      return &state_.memories;
    if (name == "ptr") return &state_.host;
    if (name == "context") return &state_.contexts;
    if (name == "net") return &state_.nets;
    if (name == "names") return &state_.names;
    return nullptr;
  }
  template <class T>
  const void* pointer(const grid::Parameter& parameter) {
    std::deque<void*>* const kind = find_kind(parameter.name);
    if constexpr (std::is_same_v<std::remove_const_t<T>, tpuRtTensor_t>) {
      // Nearly always what the network takes: other shapes end at the first check.
      tpuRtTensor_t& tensor = parameter.name == "input" ? state_.input : state_.output;
      if (input_.byte() % 8 == 0) tensor.data = take(state_.memories);
      if (input_.byte() % 8 == 0) tensor.shape.dims[0] = static_cast<int>(take_number(input_));
      return input_.byte() % 16 == 0 ? nullptr : &tensor;
    }
    if (row_.name == "tpuRtFreeNetNames") return take(state_.names);
    if (std::is_pointer_v<T> && input_.byte() % 16 == 0) return nullptr;
    if (std::is_pointer_v<T> && kind != nullptr) return place(*kind, row_.name.find("Free") == std::string_view::npos);
    // A stream or event that is to be made is named by a pointer to its type.
    const bool is_made = (row_.name == "tpuStreamCreate" || row_.name == "tpuEventCreate");
    if (kind != nullptr) return is_made ? place(*kind, true) : take(*kind);
    if (input_.byte() % 16 == 0) return nullptr;
    if constexpr (std::is_same_v<T, const char>) {
      const char* const names[] = {
          "nothing",           "nothing", "nothing", "", "unknown", SOFTTPU_FUZZ_KERNELS, state_.network.c_str(),
          SOFTTPU_FUZZ_NETWORK};
      if (parameter.name.find("name") != std::string_view::npos ||
          parameter.name.find("file") != std::string_view::npos || parameter.name == "kernelName" ||
          parameter.name == "net_path")
        return names[input_.choice(std::size(names))];
    }
    if (std::is_void_v<T> || std::is_same_v<std::remove_const_t<T>, char>) return buffer().data();
    objects_.push_back(std::make_unique<std::uint64_t[]>(64));
    return objects_.back().get();
  }
  const Row& row_;
  Input& input_;
  State& state_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<std::uint64_t[]>> objects_;
  std::vector<std::pair<void**, std::deque<void*>*>> results_;
};

std::span<const Row> rows();

template <class Function, class Made>
auto call(const Row& row, Function function, const Made& made) {
  return FailingNew::during(static_cast<std::size_t>(&row - rows().data()), row.name,
                            [&] { return std::apply(function, made); });
}

template <class R, class... P>
void run(R (*function)(P...), const Row& row, Input& input, State& state) {
  Arguments arguments(row, input, state);
  // Braces: the arguments are made from left to right.
  const std::tuple<P...> made{arguments.make<P>()...};
  if constexpr (std::is_pointer_v<R>) {
    void* const result = call(row, function, made);
    if (row.name == "tpudnnPhysToVirt") return;
    arguments.keep(row.name.starts_with("tpudnn") ? state.handles : state.modules, result);
  } else {
    static_cast<void>(call(row, function, made));
    arguments.keep_results();
  }
}

std::span<const Row> rows() {
  static const auto* const all = new std::vector<Row>{
#define FUNCTION(name, ...) \
  {#name, {__VA_ARGS__}, [](const Row& row, Input& input, State& state) { run(&::name, row, input, state); }},
#include "host_rt_signatures.inc"
#undef FUNCTION
  };
  return *all;
}

class Program {
 public:
  Program() {
    ::setenv("SOFTTPU_CHIP", "bm1684x", 1);  // the network is for it
    ::setenv("SOFTTPU_LOG", "off", 0);
    // What it prints is not read, but printed. Fuzzer and sanitizers write to the descriptor.
    stderr = std::fopen("/dev/null", "w");
    require(stderr != nullptr, "there is a place for the log");
    require(tpuRtSetDevice(0) == tpuRtSuccess, "a device can be chosen");
    CallFigures::begin(rows());
  }

  void run(Input& input) {
    begin();
    constexpr unsigned kOneOf = 7;
    if (FailingNew::is_on()) FailingNew::of_other_threads(kOneOf);
    while (!input.empty()) {
      static const NameKeys<Row> keys(rows());
      const Row& row = keys.find(input.take<std::uint16_t>());
      CallFigures::note(static_cast<std::size_t>(&row - rows().data()));
      row.call(row, input, state_);
    }
    FailingNew::of_other_threads(0);
    clear();
    check();
  }

 private:
  void begin() {
    tpuRtStream_t stream = nullptr;
    void* memory = nullptr;
    require(tpuRtStreamCreate(&stream) == tpuRtSuccess, "a stream can be made");
    require(tpuRtMalloc(&memory, kMostBytes, 0) == tpuRtSuccess, "memory is left");
    state_.streams.push_back(stream);
    state_.memories.push_back(memory);
    state_.modules.push_back(tpuRtKernelLoadModuleFile(SOFTTPU_FUZZ_KERNELS, stream));
    state_.handles.push_back(tpudnnHandleFromStream(0, stream, nullptr));
    begin_networks();
  }
  // Loading judges all instructions on the device, so a network serves until an input has unloaded it.
  void begin_networks() {
    char** names = nullptr;
    if (net_ == nullptr || tpuRtGetNetNames(net_, &names) != 1) {
      static_cast<void>(tpuRtDestroyNetContext(context_));
      require(tpuRtCreateNetContext(&context_) == tpuRtSuccess, "a context can be made");
      require(tpuRtLoadNet(SOFTTPU_FUZZ_NETWORK, context_, &net_) == tpuRtSuccess, "a network can be loaded");
      require(tpuRtGetNetNames(net_, &names) == 1, "it has a name");
    }
    state_.contexts.push_back(context_);
    state_.nets.push_back(net_);
    state_.names.push_back(names);
    state_.network = names[0];
    const tpuRtNetInfo_t info = tpuRtGetNetInfo(net_, names[0]);
    state_.input = {info.input.dtypes[0], info.stages[0].input_shapes[0], state_.memories[0], {}};
    state_.output = {info.output.dtypes[0], info.stages[0].output_shapes[0], state_.memories[0], {}};
  }
  void clear() {
    for (void* stream : state_.streams) {
      tpuGraph_t graph = nullptr;
      if (tpuStreamEndCapture(stream, &graph) == tpuSuccess) static_cast<void>(tpuGraphDestroy(graph));
      static_cast<void>(tpuRtStreamSynchronize(static_cast<tpuRtStream_t>(stream)));
    }
    for (void* handle : state_.handles) tpudnnDestroy(static_cast<tpudnnHandle_t>(handle));
    for (int device : {1, 0}) {
      if (tpuRtSetDevice(device) != tpuRtSuccess) continue;
      static_cast<void>(tpuRtDeviceSynchronize());
      for (void* memory : state_.memories) static_cast<void>(tpuRtFree(&memory, 0));
    }
    for (void* stream : state_.streams) static_cast<void>(tpuStreamDestroy(stream));
    for (void* event : state_.events) static_cast<void>(tpuEventDestroy(event, nullptr));
    for (void* graph : state_.graphs) static_cast<void>(tpuGraphDestroy(graph));
    for (void* module : state_.modules) static_cast<void>(tpuKernelUnloadModule(module, nullptr));
    for (void* block : state_.host) static_cast<void>(tpuRtFreeHost(block));
    for (void* names : state_.names) tpuRtFreeNetNames(static_cast<char**>(names));
    for (void* net : state_.nets) {
      if (net != net_) static_cast<void>(tpuRtUnloadNet(net));
    }
    for (void* context : state_.contexts) {
      if (context != context_) static_cast<void>(tpuRtDestroyNetContext(context));
    }
    state_ = {};
  }
  // Whatever was said before, the device still works.
  static void check() {
    void* memory = nullptr;
    std::uint32_t out = 0x12345678, back = 0;
    require(tpuRtMalloc(&memory, sizeof out, 0) == tpuRtSuccess, "memory is left");
    require(tpuRtMemcpyS2D(memory, &out, sizeof out) == tpuRtSuccess, "a copy works");
    require(tpuRtMemcpyD2S(&back, memory, sizeof back) == tpuRtSuccess && out == back,
            "what is read is what was written");
    require(tpuRtFree(&memory, 0) == tpuRtSuccess, "memory is freed");
  }

  State state_;
  tpuRtNetContext_t context_ = nullptr;
  tpuRtNet_t net_ = nullptr;
};

}  // namespace
}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static auto* const program = new softtpu::fuzz::Program;  // lives until the process ends, as its device does
  softtpu::fuzz::Input input(data, bytes);
  program->run(input);
  return 0;
}
