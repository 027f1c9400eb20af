// One kernel module loaded into this process (a core) through the dynamic loader.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/module/kernel_registry.hpp"

namespace softtpu {

// Where a module lies in this process: an address is base + offset in the module.
struct ModuleCode {
  std::uint64_t base = 0, begin = 0, end = 0;
};

// What a module was loaded from.
struct ModuleFile {
  std::string name;  // what people know it by
  int image = -1;    // -1: the program itself
};

class EmulatedModule;

// The modules of a core by number. Used by the core's thread only.
class LoadedModules {
 public:
  LoadedModules();
  ~LoadedModules();
  LoadedModules(const LoadedModules&) = delete;
  LoadedModules& operator=(const LoadedModules&) = delete;

  // Loads the image; the names of the kernels that its constructors registered. `memories` are those that a module's
  // process beside the core gets (EmulatedModuleMaker).
  Result<std::vector<std::string>> load(std::uint32_t module, UniqueFd image, const std::string& name,
                                        std::vector<UniqueFd> memories = {});
  void unload(std::uint32_t module);
  // A registered kernel of the module, else its exported symbol. Module 0 is the program itself.
  Result<KernelFunction> find(std::uint32_t module, const std::string& name) const;

  // A module for the chip's processor, which runs beside the core; null: it is none.
  EmulatedModule* find_emulated(std::uint32_t module) const;
  // Ends the processes of such modules; the next launch starts them again.
  void rest();

  ModuleFile find_file(std::uint32_t module) const;
  std::optional<ModuleCode> find_code(std::uint32_t module) const;
  // Whether the module can start threads or processes, or change what the process is set to (module_reach.hpp).
  bool may_change_process(std::uint32_t module) const;

 private:
  struct Module;
  std::map<std::uint32_t, std::unique_ptr<Module>> modules_;
};

}  // namespace softtpu
