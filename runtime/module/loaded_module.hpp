// One kernel module loaded into this process (a core) through the dynamic loader.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/module/kernel_registry.hpp"

namespace softtpu {

// The modules of a core by number. Used by the core's thread only.
class LoadedModules {
 public:
  LoadedModules();
  ~LoadedModules();
  LoadedModules(const LoadedModules&) = delete;
  LoadedModules& operator=(const LoadedModules&) = delete;

  // Loads the image; the names of the kernels that its constructors registered.
  Result<std::vector<std::string>> load(std::uint32_t module, UniqueFd image, const std::string& name);
  void unload(std::uint32_t module);
  // A registered kernel of the module, else its exported symbol. Module 0 is the program itself.
  Result<KernelFunction> find(std::uint32_t module, const std::string& name) const;

 private:
  struct Module;
  std::map<std::uint32_t, std::unique_ptr<Module>> modules_;
};

}  // namespace softtpu
