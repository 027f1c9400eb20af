#include "runtime/module/loaded_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <string_view>

#include "runtime/base/own_number.hpp"
#include "runtime/module/emulator.hpp"
#include "runtime/module/instrumentation.hpp"
#include "runtime/module/missing_symbols.hpp"
#include "runtime/module/module_reach.hpp"
#include "runtime/module/own_interface.hpp"

namespace softtpu {

struct LoadedModules::Module {
  Module() = default;
  std::unique_ptr<EmulatedModule> emulated;  // instead of a library
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module() {
    library.unload();
    // A library that cannot be unloaded (C++ unique symbols) keeps its name; giving the number to another image would
    // make the loader take the old one for it.
    if (void* still = path.empty() ? nullptr : ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
      ::dlclose(still);
      static_cast<void>(image.release());
    }
  }

  std::string name;
  std::string path;
  UniqueFd image;  // stays open: debuggers and backtraces read the file behind its path
  boost::dll::shared_library library;
};

LoadedModules::LoadedModules() = default;
LoadedModules::~LoadedModules() = default;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SOFTTPU_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SOFTTPU_SANITIZED
#endif
#endif

// A module's calls are bound to its own functions, also when this process or the C library has some of the same
// names. The sanitizers cannot work with modules that search their own symbols first.
constexpr auto kPlainMode = boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local;
#ifdef SOFTTPU_SANITIZED
constexpr auto kLoadMode = kPlainMode;
#else
constexpr auto kLoadMode = kPlainMode | boost::dll::load_mode::rtld_deepbind;
#endif

// A list that the device's server reads in one go.
constexpr std::size_t kMostKernels = 16384;

// What the loader said, without the path that it was given, which here is a number that says nothing to people, and
// without what the library around it added.
std::string loader_text(const std::string& path, std::string text) {
  if (const auto at = text.find(path + ": "); at != std::string::npos) text.erase(0, at + path.size() + 2);
  // Boost puts it in brackets and adds the meaning of an errno that has nothing to do with it.
  if (const auto end = text.rfind("): "); end != std::string::npos) text.erase(end);
  if (!text.empty() && text.back() == ')') text.pop_back();
  return text;
}

std::string why_not_loaded(int image, const std::string& text) {
  constexpr std::string_view kUndefined = "undefined symbol: ";
  if (!text.starts_with(kUndefined)) return text;
  const std::string symbol = text.substr(kUndefined.size());
  if (symbol.starts_with("rvt_")) {
    return fmt::format("it needs {}, a function of the RISC-V mode of SG2260E and its relatives, which is not emulated",
                       symbol);
  }
  const std::string known = explain_missing(image, symbol);
  return known.empty() ? text : known;
}

// Loads what an instrumented module needs. Whether the module may search its own symbols first.
Result<bool> prepare(int image) {
  const auto instrumentation = find_instrumentation(image);
  if (!instrumentation) return instrumentation.error();
  if (!instrumentation->before.empty() &&
      ::dlopen(instrumentation->before.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return Error{ErrorKind::kUsage, ::dlerror()};
  }
  if (!instrumentation->first.empty() && !has_address_sanitizer()) {
    return Error{
        ErrorKind::kUsage,
        fmt::format("it is built with -fsanitize=address, whose runtime has to be in the device from its start: set "
                    "SOFTTPU_PRELOAD={}",
                    instrumentation->first)};
  }
  return !has_address_sanitizer();
}

}  // namespace

Result<std::vector<std::string>> LoadedModules::load(std::uint32_t module, UniqueFd image, const std::string& name,
                                                     std::vector<UniqueFd> memories) {
  auto made = std::make_unique<Module>();
  if (is_for_emulated_processor(image.get()) && emulated_module_maker() != nullptr) {
    auto copy = image.duplicate();
    auto emulated = emulated_module_maker()(std::move(copy), name, std::move(memories));
    if (!emulated) return emulated.error();
    made->name = name;
    made->emulated = *std::move(emulated);
    made->image = std::move(image);
    modules_[module] = std::move(made);
    return std::vector<std::string>();
  }
  auto imports = import_interface(std::move(image),
                                  [](const char* function) { return ::dlsym(RTLD_DEFAULT, function) != nullptr; });
  if (!imports) return imports.error();
  image = *std::move(imports);
  // By the process number rather than "self", so that tools started from here resolve it too.
  const std::string path = fmt::format("/proc/{}/fd/{}", own_process_number(), image.get());
  const auto itself_first = prepare(image.get());
  if (!itself_first)
    return Error{itself_first.error().kind, fmt::format("kernel module {}: {}.", name, itself_first.error().text)};
  kernel_registry().set_loading(module);
  try {
    made->library.load(path, *itself_first ? kLoadMode : kPlainMode);
  } catch (const std::exception& failure) {
    kernel_registry().set_loading(KernelRegistry::kProgram);
    kernel_registry().remove(module);
    if (::access("/proc/self/fd", X_OK) != 0) {
      return Error{ErrorKind::kResource,
                   fmt::format("kernel module {}: modules are loaded through /proc, which is not mounted.", name)};
    }
    return Error{ErrorKind::kUsage, fmt::format("kernel module {}: {}.", name,
                                                why_not_loaded(image.get(), loader_text(path, failure.what())))};
  }
  kernel_registry().set_loading(KernelRegistry::kProgram);
  auto kernels = kernel_registry().names(module);
  if (kernels.size() > kMostKernels) {
    kernel_registry().remove(module);
    return Error{ErrorKind::kUsage, fmt::format("kernel module {}: it registers {} kernels (limit {}).", name,
                                                kernels.size(), kMostKernels)};
  }
  made->name = name;
  made->path = path;
  made->image = std::move(image);
  modules_[module] = std::move(made);
  return kernels;
}

void LoadedModules::unload(std::uint32_t module) {
  kernel_registry().remove(module);
  modules_.erase(module);
}

ModuleFile LoadedModules::find_file(std::uint32_t module) const {
  const auto found = modules_.find(module);
  return found == modules_.end() ? ModuleFile{"the program", -1}
                                 : ModuleFile{found->second->name, found->second->image.get()};
}

std::optional<ModuleCode> LoadedModules::find_code(std::uint32_t module) const {
  const auto found = modules_.find(module);
  const link_map* map = nullptr;
  if (found == modules_.end() || found->second->emulated != nullptr ||
      ::dlinfo(found->second->library.native(), RTLD_DI_LINKMAP, &map) != 0)
    return std::nullopt;
  struct Search {
    ModuleCode code;
  } search{{map->l_addr, map->l_addr, map->l_addr}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        if (info->dlpi_addr != wanted.code.base) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type == PT_LOAD)
            wanted.code.end = std::max<std::uint64_t>(wanted.code.end, wanted.code.base + part.p_vaddr + part.p_memsz);
        }
        return 1;
      },
      &search);
  return search.code;
}

bool LoadedModules::may_change_process(std::uint32_t module) const {
  const auto found = modules_.find(module);
  const link_map* map = nullptr;
  if (found != modules_.end() && found->second->emulated != nullptr) return false;  // it is in a process of its own
  if (found == modules_.end() || ::dlinfo(found->second->library.native(), RTLD_DI_LINKMAP, &map) != 0) return true;
  return softtpu::may_change_process(*map);
}

EmulatedModule* LoadedModules::find_emulated(std::uint32_t module) const {
  const auto found = modules_.find(module);
  return found == modules_.end() ? nullptr : found->second->emulated.get();
}

void LoadedModules::rest() {
  for (const auto& [number, module] : modules_) {
    if (module->emulated != nullptr) module->emulated->rest();
  }
}

namespace {

// For a name that is mistyped: the kernels that there are, or some of them.
std::string registered_kernels(std::uint32_t module) {
  constexpr std::size_t kMost = 10;
  std::vector<std::string> names = kernel_registry().names(module);
  if (names.empty()) return "";
  const std::size_t left_out = names.size() - std::min(names.size(), kMost);
  names.resize(names.size() - left_out);
  return fmt::format("; it registers {}{}", fmt::join(names, ", "),
                     left_out != 0 ? fmt::format(" and {} more", left_out) : "");
}

}  // namespace

Result<KernelFunction> LoadedModules::find(std::uint32_t module, const std::string& name) const {
  if (KernelFunction function = kernel_registry().find(module, name)) return function;
  void* symbol = nullptr;
  std::string where = "the program";
  if (module == KernelRegistry::kProgram) {
    symbol = ::dlsym(RTLD_DEFAULT, name.c_str());
  } else if (const auto found = modules_.find(module); found != modules_.end()) {
    where = "kernel module " + found->second->name;
    if (const EmulatedModule* const emulated = found->second->emulated.get()) {
      if (emulated->has(name)) return emulated->entry();
      return Error{ErrorKind::kUsage, fmt::format("function \"{}\" is not found in {}.", name, where)};
    }
    // dlsym would also search the libraries that the module needs; a kernel must be the module's own.
    symbol = ::dlsym(found->second->library.native(), name.c_str());
    Dl_info owner{};
    if (symbol != nullptr && (::dladdr(symbol, &owner) == 0 || owner.dli_fname != found->second->path))
      symbol = nullptr;
  }
  if (symbol == nullptr)
    return Error{ErrorKind::kUsage,
                 fmt::format("function \"{}\" is not found in {}{}.", name, where, registered_kernels(module))};
  return reinterpret_cast<KernelFunction>(symbol);
}

}  // namespace softtpu
