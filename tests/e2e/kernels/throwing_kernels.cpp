// Kernels in C++ that throw.
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

}  // namespace

TPUKERNEL_FUNC_REGISTER(e2e_throw)
TPUKERNEL_FUNC_REGISTER(e2e_throw_in_a_thread)
TPUKERNEL_FUNC_REGISTER(e2e_throw_and_catch)
