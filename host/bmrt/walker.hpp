// Kernel modules that walk the lists of layers of dynamic parts: softtpu's own, and a chip's firmware.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "bmlib_runtime.h"
#include "runtime/base/result.hpp"
#include "runtime/bmodel/container.hpp"

namespace softtpu::bmrt {

// A loaded module, given back with the last network that uses it.
class WalkerModule {
 public:
  static Result<std::shared_ptr<WalkerModule>> load_file(bm_handle_t handle, const std::string& path);
  static Result<std::shared_ptr<WalkerModule>> load_bytes(bm_handle_t handle, bmodel::Bytes bytes);
  ~WalkerModule();
  WalkerModule(const WalkerModule&) = delete;
  WalkerModule& operator=(const WalkerModule&) = delete;

  tpu_kernel_function_t kernel() const { return kernel_; }
  bool is_own = false;  // softtpu's own layers

 private:
  WalkerModule() = default;
  static Result<std::shared_ptr<WalkerModule>> of(bm_handle_t handle, tpu_kernel_module_t module);
  bm_handle_t handle_ = nullptr;
  tpu_kernel_module_t module_ = nullptr;
  tpu_kernel_function_t kernel_ = -1;
};

// Modules that a runtime has loaded already.
struct LoadedWalkers {
  std::weak_ptr<WalkerModule> own;
  std::map<std::string, std::weak_ptr<WalkerModule>> libraries;  // by path
};

// The firmware that walks the lists of one file.
class Walkers {
 public:
  // `choice`: empty, "none" (softtpu's own layers alone), "file" (the file's own firmware for every part), or the path
  // of a library. A library that cannot be loaded is an error if the file has dynamic parts.
  static Result<Walkers> make(bm_handle_t handle, const bmodel::Model& model, const std::string& choice,
                              LoadedWalkers& loaded);

  // An error says why this part cannot run, and what would help.
  Result<std::shared_ptr<WalkerModule>> find(const bmodel::DynamicPart& part);

 private:
  Result<std::shared_ptr<WalkerModule>> own();
  Result<std::shared_ptr<WalkerModule>> of_file();

  bm_handle_t handle_ = nullptr;
  LoadedWalkers* loaded_ = nullptr;
  std::string choice_;
  bmodel::Bytes firmware_;
  std::shared_ptr<WalkerModule> library_, of_file_;
  std::string why_not_of_file_;
};

// The setting of the process (SOFTTPU_FIRMWARE).
std::string firmware_setting();

}  // namespace softtpu::bmrt
