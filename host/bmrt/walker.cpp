#include "host/bmrt/walker.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/base/dynamic_module.hpp"
#include "runtime/module/emulator.hpp"
#include "softtpu/device.h"

namespace softtpu::bmrt {
namespace {

constexpr const char* kKernel = "sg_api_dynamic_fullnet";

// The module lies beside this library, in the build tree and in an installed one.
std::string own_module() {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&own_module), &here) == 0 || here.dli_fname == nullptr)
    return kDynamicModule;
  std::error_code failed;
  const auto library = std::filesystem::canonical(here.dli_fname, failed);
  return failed ? kDynamicModule : (library.parent_path() / kDynamicModule).string();
}

std::string why_it_failed() {
  const char* const failure = softtpu_last_failure();
  const auto json = nlohmann::json::parse(failure == nullptr ? "" : failure, nullptr, false);
  std::string why = json.is_object() ? json.value("text", "") : "";
  while (why.ends_with('.') || why.ends_with('\n')) why.pop_back();
  return why.empty() ? "the device does not take it" : why;
}

bool has_dynamic_parts(const bmodel::Model& model) {
  return std::any_of(model.networks.begin(), model.networks.end(), [](const bmodel::Network& network) {
    return std::any_of(network.stages.begin(), network.stages.end(), [](const bmodel::Stage& stage) {
      return std::any_of(stage.dynamic_parts.begin(), stage.dynamic_parts.end(),
                         [](const bmodel::DynamicPart& part) { return !part.host; });
    });
  });
}

}  // namespace

std::string firmware_setting() {
  const char* const text = std::getenv("SOFTTPU_FIRMWARE");
  return text == nullptr ? "" : text;
}

Result<std::shared_ptr<WalkerModule>> WalkerModule::of(bm_handle_t handle, tpu_kernel_module_t module) {
  if (module == nullptr) return Error{ErrorKind::kUsage, why_it_failed()};
  std::shared_ptr<WalkerModule> made(new WalkerModule);
  made->handle_ = handle;
  made->module_ = module;
  made->kernel_ = tpu_kernel_get_function(handle, module, kKernel);
  if (made->kernel_ < 0) return Error{ErrorKind::kUsage, why_it_failed()};
  return made;
}

Result<std::shared_ptr<WalkerModule>> WalkerModule::load_file(bm_handle_t handle, const std::string& path) {
  return of(handle, tpu_kernel_load_module_file(handle, path.c_str()));
}

Result<std::shared_ptr<WalkerModule>> WalkerModule::load_bytes(bm_handle_t handle, bmodel::Bytes bytes) {
  return of(handle, tpu_kernel_load_module(handle, reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

WalkerModule::~WalkerModule() {
  if (module_ != nullptr) tpu_kernel_free_module(handle_, module_);
}

Result<Walkers> Walkers::make(bm_handle_t handle, const bmodel::Model& model, const std::string& choice,
                              LoadedWalkers& loaded) {
  Walkers made;
  made.handle_ = handle;
  made.loaded_ = &loaded;
  made.choice_ = choice;
  made.firmware_ = model.firmware;
  if (choice.empty() || choice == "none" || choice == "file" || !has_dynamic_parts(model)) return made;
  auto& known = loaded.libraries[choice];
  made.library_ = known.lock();
  if (made.library_ != nullptr) return made;
  auto library = WalkerModule::load_file(handle, choice);
  if (!library)
    return Error{ErrorKind::kUsage, fmt::format("the firmware {} cannot be used: {}", choice, library.error().text)};
  made.library_ = *std::move(library);
  known = made.library_;
  return made;
}

Result<std::shared_ptr<WalkerModule>> Walkers::own() {
  if (auto known = loaded_->own.lock()) return known;
  const std::string path = own_module();
  auto module = WalkerModule::load_file(handle_, path);
  if (!module)
    return Error{ErrorKind::kResource,
                 fmt::format("softtpu's own layers ({}) cannot be loaded: {}", path, module.error().text)};
  (*module)->is_own = true;
  loaded_->own = *module;
  return module;
}

Result<std::shared_ptr<WalkerModule>> Walkers::of_file() {
  if (of_file_ != nullptr) return of_file_;
  if (firmware_.empty()) return Error{ErrorKind::kUnsupported, "the file has no firmware"};
  if (why_not_of_file_.empty() && is_for_emulated_processor(firmware_.data(), firmware_.size())) {
    if (const auto emulator = find_emulator(); !emulator) why_not_of_file_ = emulator.error().text;
  }
  if (why_not_of_file_.empty()) {
    auto module = WalkerModule::load_bytes(handle_, firmware_);
    if (module) {
      of_file_ = *module;
      return module;
    }
    why_not_of_file_ = "the firmware in the file cannot be used: " + module.error().text;
  }
  return Error{ErrorKind::kUnsupported, why_not_of_file_};
}

Result<std::shared_ptr<WalkerModule>> Walkers::find(const bmodel::DynamicPart& part) {
  if (library_ != nullptr) return library_;
  if (part.fault.empty() && choice_ != "file") return own();
  const auto with_remedy = [&](const std::string& why) {
    const std::string fault = part.fault.empty() ? fmt::format("part {}", part.id) : part.fault;
    return Error{
        ErrorKind::kUnsupported,
        fmt::format("{} ({}; --firmware LIBRARY or SOFTTPU_FIRMWARE names an installed compiler's)", fault, why)};
  };
  if (choice_ == "none") return with_remedy("firmware is not used");
  auto module = of_file();
  return module ? module : Result<std::shared_ptr<WalkerModule>>(with_remedy(module.error().text));
}

}  // namespace softtpu::bmrt
