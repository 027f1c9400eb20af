#include "tests/fuzz/host_calls.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>

#include "tests/fuzz/failing_new.hpp"

namespace softtpu::fuzz {
namespace {

template <class T>
constexpr bool kIsDescriptor =
    std::is_same_v<T, bm_mem_desc> || std::is_same_v<T, sg_mem_desc> || std::is_same_v<T, bm_mem_desc_u64>;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Makes the arguments of one call and owns what they point to.
class HostArguments {
 public:
  HostArguments(const HostCall& row, Input& input, HostState& state) : row_(row), input_(input), state_(state) {
    reads_host_ = std::any_of(row.parameters.begin(), row.parameters.end(), [](const grid::Parameter& parameter) {
      return parameter.type == "void*" || parameter.type == "const void*" || parameter.type == "const char*";
    });
    converts_ = contains(row.name, "convert");
  }

  template <class P>
  P make() {
    const grid::Parameter& parameter = row_.parameters[next_++];
    if constexpr (std::is_same_v<P, bm_handle_t>) {
      return input_.byte() % 32 == 0 ? reinterpret_cast<P>(take_number(input_)) : state_.handle;
    } else if constexpr (std::is_same_v<P, tpu_launch_param_t*>) {
      return launches();
    } else if constexpr (std::is_pointer_v<P> && std::is_function_v<std::remove_pointer_t<P>>) {
      return input_.byte() % 2 == 0 ? nullptr : callback(P{});
    } else if constexpr (std::is_pointer_v<P>) {
      return pointer<std::remove_cv_t<std::remove_pointer_t<P>>>(parameter.name);
    } else if constexpr (std::is_floating_point_v<P>) {
      return input_.take<P>();
    } else if constexpr (std::is_integral_v<P> || std::is_enum_v<P>) {
      return static_cast<P>(number(parameter.name));
    } else {
      return descriptor<P>(parameter.name);
    }
  }

  // What a function that succeeded has allocated is the input's to free.
  void succeeded() {
    if (!converts_ && !contains(row_.name, "malloc")) return;
    for (const void* place : places_) {
      unsigned long long address = 0;
      std::memcpy(&address, place, sizeof address);
      state_.to_free.push_back(address);
    }
  }

 private:
  std::uint64_t number(std::string_view name) {
    if (name.ends_with("_num")) return static_cast<std::uint64_t>(input_.take<std::int8_t>() % 20);
    // Host data that is converted is as long as its shape says.
    if (converts_ && name == "coeff_count") return static_cast<std::uint64_t>(input_.take<std::int16_t>());
    if (converts_ && name.size() == 1) return static_cast<std::uint64_t>(input_.take<std::int8_t>() % 16);
    const bool is_size = contains(name, "size") || contains(name, "len");
    if (reads_host_ && is_size) return take_number(input_) % (kMostBytes + 1);
    return take_number(input_);
  }
  template <class R, class... P>
  static auto callback(R (*)(P...)) -> R (*)(P...) {
    return [](P...) -> R { return R(); };
  }
  template <class T>
  T descriptor(std::string_view name) {
    const bm_device_mem_t mem = take_memory(input_, state_);
    T made{};
    static_assert(kIsDescriptor<T> && sizeof made.u == sizeof mem.u);
    std::memcpy(&made.u, &mem.u, sizeof made.u);
    made.flags = mem.flags;
    made.size = mem.size;
    if (name.starts_with("sys_mem")) made.u.system.system_addr = state_.buffer.data();
    return made;
  }
  template <class T>
  T* pointer(std::string_view name) {
    if (input_.byte() % 16 == 0) return nullptr;
    if constexpr (std::is_void_v<T>) {
      // Addresses that are not followed are any.
      if (name == "vmem" || name == "phys_addr") return reinterpret_cast<void*>(take_number(input_));
      return state_.buffer.data();
    } else if constexpr (std::is_same_v<T, char>) {
      const auto text = input_.take_bytes(input_.byte() % 80);
      T* const made = static_cast<T*>(object(kMostBytes + 1));
      std::copy(text.begin(), text.end(), made);
      return made;
    } else if constexpr (kIsDescriptor<T>) {
      T* const made = new (object(sizeof(T))) T(descriptor<T>({}));
      places_.push_back(made);
      return made;
    } else {
      // One structure; single values are arrays as long as any function reads.
      constexpr std::size_t kArray = 32, kMostTraceItems = 1024;
      const std::size_t count = std::is_same_v<T, bm_trace_item_data> ? kMostTraceItems
                                : std::is_class_v<T>                  ? 1
                                                                      : kArray;
      T* const made = static_cast<T*>(object(count * sizeof(T)));
      const auto bytes = input_.take_bytes(input_.byte() % 2 == 0 ? 0 : sizeof(T));
      std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t*>(made));
      if (name == "paddr") places_.push_back(made);
      return made;
    }
  }
  tpu_launch_param_t* launches() {
    constexpr std::size_t kCount = 32;
    auto* const made = static_cast<tpu_launch_param_t*>(object(kCount * sizeof(tpu_launch_param_t)));
    for (int i = 0; i < 4; ++i) {
      made[i] = {static_cast<int>(take_number(input_)), static_cast<int>(take_number(input_)), state_.buffer.data(),
                 input_.take<std::uint16_t>()};
    }
    return made;
  }
  void* object(std::size_t bytes) {
    objects_.emplace_back(new std::uint8_t[bytes]());
    return objects_.back().get();
  }

  const HostCall& row_;
  Input& input_;
  HostState& state_;
  bool reads_host_ = false, converts_ = false;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<std::uint8_t[]>> objects_;
  std::vector<const void*> places_;  // where an allocation's address is stored
};

template <class Function, class Made>
auto call(const HostCall& row, Function function, const Made& made) {
  return FailingNew::during(static_cast<std::size_t>(&row - host_calls().data()), row.name,
                            [&] { return std::apply(function, made); });
}

template <class R, class... P>
void run(R (*function)(P...), const HostCall& row, Input& input, HostState& state) {
  HostArguments arguments(row, input, state);
  // Braces: the arguments are made from left to right.
  const std::tuple<P...> made{arguments.make<P>()...};
  if constexpr (std::is_same_v<R, bm_status_t>) {
    if (call(row, function, made) == BM_SUCCESS) arguments.succeeded();
  } else {
    call(row, function, made);
  }
}
// Of two functions of one name this is the header's own.
void run(bm_status_t (*function)(bm_handle_t, tpu_kernel_function_t, void*, std::size_t), const HostCall& row,
         Input& input, HostState& state) {
  run<bm_status_t, bm_handle_t, tpu_kernel_function_t, void*, std::size_t>(function, row, input, state);
}

constexpr std::string_view kExcluded[] = {"bm_dev_request", "bm_dev_free"};

std::vector<HostCall> make_calls() {
  std::vector<HostCall> calls = {
#define FUNCTION(name, ...) \
  {#name, {__VA_ARGS__}, [](const HostCall& row, Input& input, HostState& state) { run(&::name, row, input, state); }},
#include "bmlib_signatures.inc"
#undef FUNCTION
  };
  for (HostCall& row : log_calls()) calls.push_back(std::move(row));
  std::erase_if(calls, [](const HostCall& row) {
    return std::find(std::begin(kExcluded), std::end(kExcluded), row.name) != std::end(kExcluded);
  });
  return calls;
}

}  // namespace

std::span<const HostCall> host_calls() {
  static const auto* const calls = new std::vector<HostCall>(make_calls());  // the figures at the end need it
  return *calls;
}

bm_device_mem_t take_memory(Input& input, HostState& state) {
  bm_device_mem_t mem{};
  const std::uint8_t kind = input.byte();
  if (state.memories.empty() || kind % 8 == 0) {
    mem = input.take<bm_device_mem_t>();
    // A descriptor of host memory is a host pointer.
    const bm_mem_type_t type = bm_mem_get_type(mem);
    if (type == BM_MEM_TYPE_SYSTEM || type == BM_MEM_TYPE_HOST) bm_mem_set_system_addr(&mem, state.buffer.data());
    if (bm_mem_get_device_size(mem) > kMostBytes) bm_mem_set_device_size(&mem, kMostBytes);
    return mem;
  }
  mem = state.memories[kind / 8 % state.memories.size()];
  if (kind % 8 == 1) bm_mem_set_device_addr(&mem, bm_mem_get_device_addr(mem) + input.take<std::uint16_t>());
  if (kind % 8 == 2) bm_mem_set_device_size(&mem, input.take<std::uint16_t>());
  return mem;
}

}  // namespace softtpu::fuzz
