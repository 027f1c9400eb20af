// SOFTTPU_GDB: a core calls for a debugger before its first launch. `softtpu run --gdb` listens, starts gdb, and gdb
// attaches. Used by the core's thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/module/kernel_registry.hpp"

namespace softtpu {

class DebuggerCall {
 public:
  // An empty socket: no debugger.
  explicit DebuggerCall(std::string socket) : socket_(std::move(socket)) {}

  bool is_due() const { return !socket_.empty() && !done_; }
  // Returns when the debugger has attached and lets this process go on, or when it does not come. `kernels`: the one
  // that is launched, then others that may be.
  void make(const std::vector<KernelFunction>& kernels);

 private:
  std::string socket_;
  bool done_ = false;
};

}  // namespace softtpu
