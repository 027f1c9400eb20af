// The program that qemu-user runs: it loads one kernel module for aarch64, gives it device memory, and passes its calls
// of tpu_kernel.h on to the core. Arguments: the module's descriptor, the connection's, and those of the memories.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "firmware/emulated/marshal.hpp"

namespace softtpu::emulated {
namespace {

constexpr std::size_t kFlushAt = 32 << 10;
constexpr std::size_t kGuard = 64 << 10;  // inaccessible, in front of and behind each memory

int connection = -1;
Bytes outgoing;
std::uint8_t* memories[kMemories];
std::uint64_t module_base = 0;
void* module = nullptr;
// Answers that never change.
std::map<Bytes, Bytes>& known_answers() {
  static auto& known = *new std::map<Bytes, Bytes>;
  return known;
}
std::map<std::string, tpu_kernel_func_t>& registered() {
  static auto& kernels = *new std::map<std::string, tpu_kernel_func_t>;
  return kernels;
}

// A core that has gone needs this process no longer.
void send_all(const void* bytes, std::size_t count) {
  const auto* from = static_cast<const std::uint8_t*>(bytes);
  while (count > 0) {
    const ssize_t sent = ::send(connection, from, count, MSG_NOSIGNAL);
    if (sent <= 0) ::_exit(0);
    from += sent;
    count -= static_cast<std::size_t>(sent);
  }
}
void receive_all(void* bytes, std::size_t count) {
  auto* to = static_cast<std::uint8_t*>(bytes);
  while (count > 0) {
    const ssize_t got = ::recv(connection, to, count, 0);
    if (got <= 0) ::_exit(0);
    to += got;
    count -= static_cast<std::size_t>(got);
  }
}
void flush() {
  send_all(outgoing.data(), outgoing.size());
  outgoing.clear();
}

void add_call(std::uint32_t function, std::uint64_t caller, const Bytes& payload) {
  Writer writer(outgoing);
  writer.add(CallHead{function, static_cast<std::uint32_t>(payload.size()), caller});
  writer.add(payload.data(), payload.size());
}

[[noreturn]] void give_up(const std::string& text) {
  add_call(kProblem, 0, Bytes(text.begin(), text.end()));
  flush();
  ::_exit(1);
}

Bytes ask(std::uint32_t function, std::uint64_t caller, const Bytes& payload, bool is_constant) {
  Bytes key;
  if (is_constant) {
    Writer writer(key);
    writer.add(function);
    writer.add(payload.data(), payload.size());
    if (const auto known = known_answers().find(key); known != known_answers().end()) return known->second;
  }
  add_call(function, caller, payload);
  flush();
  AnswerHead head;
  receive_all(&head, sizeof head);
  Bytes answer(head.bytes);
  receive_all(answer.data(), answer.size());
  if (is_constant && head.faulted == 0) known_answers()[key] = answer;
  return answer;
}

// The rows of questions about layouts and data types, whose answers depend on their arguments alone.
constexpr bool is_constant(std::string_view name) {
#define OP(family, function, ...) \
  if (name == #function) return true;
#include "device/isa/ops/data_types.def"
#include "device/isa/ops/layout.def"
#undef OP
  return name == "tpu_npu_num" || name == "tpu_bank_num" || name == "tpu_local_mem_size_per_npu";
}

template <class R>
R result_of(Reader& from) {
  if constexpr (std::is_pointer_v<R>) {
    const auto place = from.take<Place>();
    if (place.memory >= kMemories || memories[place.memory] == nullptr) return nullptr;
    return memories[place.memory] + place.offset;
  } else {
    return from.take<R>();
  }
}

enum Number : std::uint32_t {
#define OP(family, name, ...) kNumber_##name,
#define OKK(...)
#include "device/isa/ops.def"
#undef OP
#undef OKK
};

// What a module calls under the function's name.
template <Number kNumber, bool kWaits, bool kConstant, class F>
struct Entry;
template <Number kNumber, bool kWaits, bool kConstant, class R, class... A>
struct Entry<kNumber, kWaits, kConstant, R(A...)> {
  static R call(A... arguments) {
    if constexpr (!Signature<R(A...)>::kPasses) {
      give_up("it calls a function whose arguments cannot be passed on from an emulated processor");
    } else {
      const auto caller = reinterpret_cast<std::uint64_t>(__builtin_return_address(0)) - module_base;
      Bytes payload;
      Writer writer(payload);
      (Parameter<A>::write(writer, arguments), ...);
      if constexpr (!kWaits && !Signature<R(A...)>::kComesBack) {
        add_call(kNumber, caller, payload);
        if (outgoing.size() >= kFlushAt) flush();
      } else {
        const Bytes answer = ask(kNumber, caller, payload, kConstant);
        Reader reader(answer.data(), answer.size());
        if constexpr (std::is_void_v<R>) {
          (Parameter<A>::read_back(reader, arguments), ...);
        } else {
          const R result = result_of<R>(reader);
          (Parameter<A>::read_back(reader, arguments), ...);
          return result;
        }
      }
    }
  }
};
template <Number kNumber, bool kWaits, bool kConstant, class R, class... A>
struct Entry<kNumber, kWaits, kConstant, R(A...) noexcept> : Entry<kNumber, kWaits, kConstant, R(A...)> {};

std::uint8_t* map_memory(int fd) {
  struct stat status {};
  if (fd < 0 || ::fstat(fd, &status) != 0 || status.st_size <= 0) return nullptr;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* const room = ::mmap(nullptr, bytes + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  auto* const at = static_cast<std::uint8_t*>(room) + kGuard;
  return ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED ? at : nullptr;
}

void run_next() {
  RunHead head;
  receive_all(&head, sizeof head);
  std::string name(head.name_bytes, '\0');
  receive_all(name.data(), name.size());
  Bytes arguments(head.argument_bytes + 1);
  receive_all(arguments.data(), head.argument_bytes);
  const auto found = registered().find(name);
  auto kernel = found != registered().end() ? found->second : nullptr;
  if (kernel == nullptr) kernel = reinterpret_cast<tpu_kernel_func_t>(::dlsym(module, name.c_str()));
  if (kernel == nullptr) give_up("it has no function \"" + name + "\"");
  reinterpret_cast<void (*)(void*, int)>(reinterpret_cast<void*>(kernel))(arguments.data(),
                                                                          static_cast<int>(head.argument_bytes));
  std::fflush(stdout);
  add_call(kEnd, 0, {});
  flush();
}

}  // namespace
}  // namespace softtpu::emulated

// Functions that are this process's own affair (stays_in_process).
#define STAYS_tpu_register_kernel_func ~, 1
#define STAYS_tpu_dump_registered_kernel_funcs ~, 1
#define STAYS___print_trace ~, 1
#define STAYS_get_atomic_cmodel_assert_enable ~, 1
#define STAYS_tpu_kernel_memcpy ~, 1
#define STAYS_tpu_kernel_memset ~, 1
#define STAYS_tpu_any_range_overlapped ~, 1
#define SECOND(first, second, ...) second
#define SECOND_OF(...) SECOND(__VA_ARGS__)
#define JOIN(left, right) left##right
#define JOINED(left, right) JOIN(left, right)

extern "C" {
// Each function of the interface: a jump to its entry, so that the return address is the module's.
#define PASSED_ON_1(family, name)
#define PASSED_ON_0(family, name)                                                                             \
  extern void* const softtpu_entry_##name;                                                                    \
  __attribute__((used)) void* const softtpu_entry_##name = reinterpret_cast<void*>(                           \
      &softtpu::emulated::Entry<softtpu::emulated::kNumber_##name, softtpu::emulated::is_waited_for(#family), \
                                softtpu::emulated::is_constant(#name), decltype(::name)>::call);              \
  asm(".text\n.globl " #name "\n.type " #name ", %function\n" #name ": adrp x16, softtpu_entry_" #name        \
      "\nldr x16, [x16, :lo12:softtpu_entry_" #name "]\nbr x16\n.size " #name ", . - " #name);
#define OP(family, name, ...) JOINED(PASSED_ON_, SECOND_OF(STAYS_##name, 0, ~))(family, name)
#define OKK(...)
#include "device/isa/ops.def"
#undef OP
#undef OKK

#undef tpu_register_kernel_func
void tpu_register_kernel_func(const char* name, tpu_kernel_func_t func) {
  softtpu::emulated::registered()[name] = func;
}
void tpu_dump_registered_kernel_funcs(void) {
  for (const auto& [name, kernel] : softtpu::emulated::registered()) std::printf("%s\n", name.c_str());
}
void __print_trace(void) {}
int get_atomic_cmodel_assert_enable(void) { return 1; }
void* tpu_kernel_memcpy(void* dst, const void* src, size_t n) { return std::memcpy(dst, src, n); }
void* tpu_kernel_memset(void* dst, int c, size_t n) { return std::memset(dst, c, n); }
bool tpu_any_range_overlapped(const range_t* ranges, int num) {
  for (int i = 0; i < num; ++i) {
    for (int k = i + 1; k < num; ++k) {
      if (ranges[i].start <= ranges[k].end && ranges[k].start <= ranges[i].end) return true;
    }
  }
  return false;
}
void softtpu_kernel_assert_fail(const char* assertion, const char* file, int line, const char* function) {
  softtpu::emulated::give_up(std::string("assertion \"") + assertion + "\" failed in " + function + " (" + file + ":" +
                             std::to_string(line) + ")");
}
}

int main(int count, char** words) {
  using namespace softtpu::emulated;  // NOLINT: the program's own contents
  constexpr int kWords = 3 + static_cast<int>(kMemories);
  if (count != kWords) {
    std::fprintf(stderr, "%s is started by softtpu alone\n", words[0]);
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  connection = std::atoi(words[2]);
  for (unsigned i = 0; i < kMemories; ++i) memories[i] = map_memory(std::atoi(words[3 + i]));
  if (memories[0] == nullptr) give_up("its process has no room for the device's memory");
  // A module means its own functions, as in a core.
  module = ::dlopen((std::string("/proc/self/fd/") + words[1]).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (module == nullptr) give_up(std::string("it cannot be loaded: ") + ::dlerror());
  const link_map* map = nullptr;
  if (::dlinfo(module, RTLD_DI_LINKMAP, &map) == 0) module_base = map->l_addr;
  for (;;) run_next();
}
