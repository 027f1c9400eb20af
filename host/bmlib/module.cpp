// Kernel modules: shared libraries with kernels, and the functions in them.
#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "host/bmlib/launch.hpp"
#include "host/client/tables.hpp"

namespace softtpu::host {
namespace {

// A tpu_kernel_module_t points to what its module publishes.
static_assert(offsetof(bm_module, lib_name) == offsetof(KernelModule::Published, lib_name) &&
              offsetof(bm_module, md5) == offsetof(KernelModule::Published, md5));

tpu_kernel_module_t keep(const char* function, const Result<std::shared_ptr<KernelModule>>& module) {
  if (!module) {
    fail(function, module.error());
    return nullptr;
  }
  KernelModule::Published* const name = &(*module)->published();
  module_table().add_as(name, *module);
  return reinterpret_cast<tpu_kernel_module_t>(name);
}

tpu_kernel_module_t load_file(const char* function, bm_handle_t handle, const char* module_file, int core_id) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr || check_core(function, *h, core_id) != BM_SUCCESS) return nullptr;
  if (module_file == nullptr) {
    fail(function, BM_ERR_PARAM, "module_file is NULL");
    return nullptr;
  }
  const std::filesystem::path path(module_file);
  const std::string name = path.filename().string();
  if (name.size() >= LIB_MAX_NAME_LEN) {
    fail(function, BM_ERR_PARAM,
         fmt::format("the file name \"{}\" has {} characters (at most {})", name, name.size(), LIB_MAX_NAME_LEN - 1));
    return nullptr;
  }
  return keep(function, KernelModule::load_file(h->shared_device(), path.string()));
}

tpu_kernel_module_t load_bytes(const char* function, bm_handle_t handle, const char* data, size_t length, int core_id) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr || check_core(function, *h, core_id) != BM_SUCCESS) return nullptr;
  if (data == nullptr || length == 0) {
    fail(function, BM_ERR_PARAM, data == nullptr ? "data is NULL" : "length is 0");
    return nullptr;
  }
  const std::span image(reinterpret_cast<const std::byte*>(data), length);
  return keep(function, KernelModule::load_bytes(h->shared_device(), image));
}

// The module, or nullptr after a message.
std::shared_ptr<KernelModule> find_module(const char* function, tpu_kernel_module_t module) {
  auto found = module_table().find(module);
  if (found == nullptr)
    fail(function, BM_ERR_PARAM, module == nullptr ? "the module is NULL" : "the module was freed or never loaded");
  return found;
}

bm_status_t unload(const char* function, bm_handle_t handle, tpu_kernel_module_t module, bool forget) {
  if (find_handle(function, handle) == nullptr) return BM_ERR_DEVNOTREADY;
  const auto found = find_module(function, module);
  if (found == nullptr) return BM_ERR_PARAM;
  if (forget) module_table().take(module);
  if (forget && !found->is_loaded()) return BM_SUCCESS;
  return to_status(function, found->unload());
}

tpu_kernel_function_t get_function(const char* function, bm_handle_t handle, tpu_kernel_module_t module,
                                   const char* name, int core_id) {
  constexpr tpu_kernel_function_t kNone = -1;
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr || check_core(function, *h, core_id) != BM_SUCCESS) return kNone;
  if (check_kernel_name(function, name) != BM_SUCCESS) return kNone;
  const auto found = find_module(function, module);
  if (found == nullptr) return kNone;
  if (found->device() != h->shared_device()) {
    fail(function, BM_ERR_PARAM, "the module is loaded on another device");
    return kNone;
  }
  const Result<FunctionId> id = found->find(name);
  if (id) return static_cast<tpu_kernel_function_t>(*id);
  fail(function, id.error());
  return kNone;
}

}  // namespace
}  // namespace softtpu::host

using namespace softtpu::host;

extern "C" {

tpu_kernel_module_t tpu_kernel_load_module_file(bm_handle_t handle, const char* module_file) try {
  return load_file(__func__, handle, module_file, 0);
} catch (...) {
  return softtpu::caught(__func__);
}
tpu_kernel_module_t tpu_kernel_load_module_file_to_core(bm_handle_t handle, const char* module_file, int core_id) try {
  return load_file(__func__, handle, module_file, core_id);
} catch (...) {
  return softtpu::caught(__func__);
}
tpu_kernel_module_t tpu_kernel_load_module_file_key(bm_handle_t handle, const char* module_file, const char* key,
                                                    int size) try {
  if (key == nullptr || size == 0) return load_file(__func__, handle, module_file, 0);
  not_supported(__func__, "encrypted modules need the key store of a board; load the plain file without a key");
  return nullptr;
} catch (...) {
  return softtpu::caught(__func__);
}
tpu_kernel_module_t tpu_kernel_load_module(bm_handle_t handle, const char* data, size_t length) try {
  return load_bytes(__func__, handle, data, length, 0);
} catch (...) {
  return softtpu::caught(__func__);
}
tpu_kernel_module_t tpu_kernel_load_module_to_core(bm_handle_t handle, const char* data, size_t length,
                                                   int core_id) try {
  return load_bytes(__func__, handle, data, length, core_id);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t tpu_kernel_unload_module(bm_handle_t handle, tpu_kernel_module_t p_module) try {
  return unload(__func__, handle, p_module, false);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_unload_module_from_core(bm_handle_t handle, tpu_kernel_module_t p_module, int core_id) try {
  SOFTTPU_HANDLE(handle);
  if (const bm_status_t status = check_core(__func__, *h, core_id); status != BM_SUCCESS) return status;
  return unload(__func__, handle, p_module, false);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_free_module(bm_handle_t handle, tpu_kernel_module_t p_module) try {
  return unload(__func__, handle, p_module, true);
} catch (...) {
  return softtpu::caught(__func__);
}

tpu_kernel_function_t tpu_kernel_get_function(bm_handle_t handle, tpu_kernel_module_t module,
                                              const char* function) try {
  return get_function(__func__, handle, module, function, 0);
} catch (...) {
  return softtpu::caught(__func__);
}
tpu_kernel_function_t tpu_kernel_get_function_from_core(bm_handle_t handle, tpu_kernel_module_t module,
                                                        const char* function, int core_id) try {
  return get_function(__func__, handle, module, function, core_id);
} catch (...) {
  return softtpu::caught(__func__);
}

void show_md5(unsigned char* md5) try {
  if (md5 == nullptr) {
    fail(__func__, BM_ERR_PARAM, "md5 is NULL");
    return;
  }
  for (int i = 0; i < MD5SUM_LEN; ++i) printf("%02x", md5[i]);
  printf("\n");
} catch (...) {
  softtpu::caught(__func__);
}

}  // extern "C"
