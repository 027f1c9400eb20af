// softtpu run --gdb: waits for cores that call for a debugger, and starts gdb on them, one after the other.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "tools/softtpu/program.hpp"

namespace softtpu::cli {

class GdbSession {
 public:
  // Finds gdb and softtpu's script for it, listens, and sets SOFTTPU_GDB for the program. `commands`: a file with what
  // gdb does at the first line of the kernel, without a terminal; empty: the terminal is gdb's.
  static Result<std::unique_ptr<GdbSession>> create(const std::string& commands);
  ~GdbSession();
  GdbSession(const GdbSession&) = delete;
  GdbSession& operator=(const GdbSession&) = delete;

  // What run_program() shall watch while the program runs.
  Meanwhile meanwhile();

 private:
  GdbSession() = default;
  void serve_core(pid_t program);
  int run_gdb(const std::vector<std::string>& call) const;

  std::string gdb_, script_, commands_, folder_, socket_path_;
  UniqueFd listener_;
};

}  // namespace softtpu::cli
