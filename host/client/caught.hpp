// The end of a C function whose body has thrown: each function that programs call has a handler that ends in caught().
// A C program cannot catch anything, so what leaves a function of C would end the program.
#pragma once

#include <type_traits>

#include "bmlib_runtime.h"

namespace softtpu {

// What a function returns then. Unless its library says otherwise: NULL, false, 0, a structure of zeros, -1 for an int.
template <class T>
struct CaughtStatus {
  static constexpr T kNoMemory = std::is_same_v<T, int> ? T(-1) : T{};
  static constexpr T kFailure = kNoMemory;
};
template <class T>
requires std::is_class_v<T>
struct CaughtStatus<T> {
  static constexpr T kNoMemory{}, kFailure{};
};

template <>
struct CaughtStatus<bm_status_t> {
  static constexpr bm_status_t kNoMemory = BM_ERR_NOMEM, kFailure = BM_ERR_FAILURE;
};

class Caught {
 public:
  explicit Caught(bool no_memory) : no_memory_(no_memory) {}
  template <class T>
  operator T() const {
    return no_memory_ ? CaughtStatus<T>::kNoMemory : CaughtStatus<T>::kFailure;
  }

 private:
  bool no_memory_;
};

// Inside a handler: logs what was thrown in the name of the function. Needs no memory.
#pragma GCC visibility push(default)
Caught caught(const char* function) noexcept;
// Called with each message as well, by caught().
using CaughtObserver = void (*)(const char* function, const char* text);
void set_caught_observer(CaughtObserver observer);
#pragma GCC visibility pop

}  // namespace softtpu
