// The kernels that this process knows by name. Constructors that TPUKERNEL_FUNC_REGISTER and OKKERNEL_FUNC_REGISTER
// make add to it while their module is being loaded; kernels linked into a program belong to module 0. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace softtpu {

// A kernel may return int; its value is not used, as on the device.
using KernelFunction = void (*)(const void*);

class KernelRegistry {
 public:
  static constexpr std::uint32_t kProgram = 0;

  // Registering a name of the same module again keeps the first, as measured.
  void add(std::string_view name, KernelFunction function);
  // The module that registrations belong to from now on.
  void set_loading(std::uint32_t module);
  KernelFunction find(std::uint32_t module, std::string_view name) const;
  // In order of registration.
  std::vector<std::string> names(std::uint32_t module) const;
  // Of all modules.
  std::vector<KernelFunction> functions() const;
  void remove(std::uint32_t module);
  std::size_t size() const;
  // One line per kernel on standard output, as the SDK prints them.
  void dump() const;

 private:
  struct Row {
    std::string name;
    KernelFunction function;
    std::uint32_t module;
  };
  mutable std::mutex mutex_;
  std::vector<Row> rows_;
  std::uint32_t loading_ = kProgram;
};

// The registry of this process. Usable from constructors that run before main().
KernelRegistry& kernel_registry();

}  // namespace softtpu
