// A program that `softtpu run` starts and waits for.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace softtpu::cli {

// What is watched while a program runs: called each time that the descriptor becomes readable.
struct Meanwhile {
  int fd = -1;  // -1: nothing
  std::function<void(pid_t program)> when_readable;
};

// Runs the program to its end and returns its exit status (128 + N for signal N). Ctrl-C at the terminal reaches the
// program as always; SIGTERM and SIGHUP are passed on; the program ends with this process. An error: it could not be
// started.
Result<int> run_program(const std::vector<std::string>& command, const Meanwhile& meanwhile = {});

}  // namespace softtpu::cli
