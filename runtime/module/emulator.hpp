// Kernel modules for the chip's own processor (aarch64) on another machine: qemu-user runs them, in a process of their
// own beside the core, and their calls of tpu_kernel.h come to the core (firmware/emulated).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/module/kernel_registry.hpp"

namespace softtpu {

// Whether the bytes behind a descriptor begin as a module for a processor that is emulated here.
bool is_for_emulated_processor(int image);
// The same for a module's first bytes.
bool is_for_emulated_processor(const void* bytes, std::size_t count);

struct Emulator {
  std::string qemu;     // the program
  std::string starter;  // softtpu's own program for that processor
  std::string system;   // folder with that processor's C library
};
// An error names what is missing, and the package that has it.
Result<Emulator> find_emulator();

// A module in a core. Its process starts with the first launch and ends with rest() or the module.
class EmulatedModule {
 public:
  virtual ~EmulatedModule() = default;
  virtual bool has(const std::string& kernel) const = 0;
  // The kernel that entry() runs in the next launch on this thread.
  virtual void select(const std::string& kernel) = 0;
  virtual void deselect() = 0;
  virtual void rest() = 0;
  virtual KernelFunction entry() const = 0;
};

// Set by the library that has the functions of tpu_kernel.h. `memories` are the files of global, L2 and local memory.
using EmulatedModuleMaker = Result<std::unique_ptr<EmulatedModule>> (*)(UniqueFd image, const std::string& name,
                                                                        std::vector<UniqueFd> memories);
EmulatedModuleMaker& emulated_module_maker();

}  // namespace softtpu
