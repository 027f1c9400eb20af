// Kernels in C++ that throw, or make functions of the interface throw.
#include <dlfcn.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "tpu_kernel.h"

namespace {

// A frame with something to destroy between the kernel and what it throws.
struct Marked {
  explicit Marked(int* word) : word_(word) {}
  ~Marked() { *word_ = 1; }
  Marked(const Marked&) = delete;
  Marked& operator=(const Marked&) = delete;

 private:
  int* word_;
};

struct Own {};

__attribute__((noinline)) void throw_one(int what) {
  if (what == 0) throw std::runtime_error("out of range\x1b[31m");
  if (what == 1) throw Own();
  throw 7;
}

void e2e_throw(const void* args) {
  int what = 0;
  std::memcpy(&what, static_cast<const char*>(args) + 12, sizeof what);
  int word = 0;
  const Marked marked(&word);
  throw_one(what);
}

void e2e_throw_in_a_thread(const void*) {
  std::thread([] { throw_one(0); }).join();
}

// What it catches itself is its own affair.
void e2e_throw_and_catch(const void*) {
  try {
    throw_one(0);
  } catch (const std::runtime_error&) {
    return;
  }
  __builtin_trap();
}

constexpr const char* kFunctions[] = {
#define OP(family, name, ...) #name,
#include "device/isa/ops.def"
};

// All memory that the process may have. Gives it back at its end.
class AllMemory {
 public:
  AllMemory() {
    for (const auto limit : {RLIMIT_AS, RLIMIT_DATA}) {
      ::getrlimit(limit, &before_[limit == RLIMIT_AS ? 0 : 1]);
      rlimit none = before_[limit == RLIMIT_AS ? 0 : 1];
      none.rlim_cur = 0;
      ::setrlimit(limit, &none);
    }
    constexpr std::size_t kLargest = 1 << 24, kLeast = 16;
    for (std::size_t bytes = kLargest; bytes >= kLeast; bytes /= 2) {
      while (void* const block = std::malloc(bytes)) {
        std::memcpy(block, &last_, sizeof last_);
        last_ = block;
      }
    }
  }
  ~AllMemory() {
    while (last_ != nullptr) {
      void* const block = last_;
      std::memcpy(&last_, block, sizeof last_);
      std::free(block);
    }
    ::setrlimit(RLIMIT_AS, &before_[0]);
    ::setrlimit(RLIMIT_DATA, &before_[1]);
  }
  AllMemory(const AllMemory&) = delete;
  AllMemory& operator=(const AllMemory&) = delete;

 private:
  rlimit before_[2] = {};
  void* last_ = nullptr;
};

// Calls one function of the interface, with zeros, when no memory is left.
void e2e_call_without_memory(const void* args) {
  int index = 0;
  std::memcpy(&index, static_cast<const char*>(args) + 12, sizeof index);
  using Any = void (*)(long, long, long, long, long, long, long, long, long, long, long, long);
  const auto function = reinterpret_cast<Any>(::dlsym(RTLD_DEFAULT, kFunctions[index]));
  if (function == nullptr) return;
  const AllMemory all;
  function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

}  // namespace

TPUKERNEL_FUNC_REGISTER(e2e_call_without_memory)
TPUKERNEL_FUNC_REGISTER(e2e_throw)
TPUKERNEL_FUNC_REGISTER(e2e_throw_in_a_thread)
TPUKERNEL_FUNC_REGISTER(e2e_throw_and_catch)
