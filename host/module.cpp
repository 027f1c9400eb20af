// Kernel modules: shared libraries with kernels, and the functions in them.
#include <fmt/format.h>
#include <openssl/evp.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "host/launch.hpp"

namespace softtpu::host {
namespace {

// What a tpu_kernel_module_t points to. It stays until tpu_kernel_free_module, unloaded or not.
struct Module {
  bm_module published{};
  std::shared_ptr<DeviceClient> owner;
  ModuleId id{};
  bool loaded = true;
};

struct Modules {
  std::mutex mutex;
  std::map<const bm_module*, std::unique_ptr<Module>> known;
};

// Never destroyed: exit handlers of the program may still use modules.
Modules& modules() {
  static auto& instance = *new Modules;
  return instance;
}

void set_md5(bm_module& module, std::span<const std::byte> image) {
  unsigned length = 0;
  EVP_Digest(image.data(), image.size(), module.md5, &length, EVP_md5(), nullptr);
}

tpu_kernel_module_t keep(const char* function, Handle& handle, const Result<ModuleId>& id, const std::string& name,
                         std::span<const std::byte> image) {
  if (!id) {
    fail(function, id.error());
    return nullptr;
  }
  auto module = std::make_unique<Module>();
  name.copy(module->published.lib_name, LIB_MAX_NAME_LEN - 1);
  set_md5(module->published, image);
  module->owner = handle.shared_device();
  module->id = *id;
  Modules& all = modules();
  const std::lock_guard lock(all.mutex);
  bm_module* const published = &module->published;
  all.known.emplace(published, std::move(module));
  return published;
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<std::byte> bytes(file ? static_cast<std::size_t>(file.tellg()) : 0);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
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
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  const Result<ModuleId> id = h->device().load_module_file(absolute.string());
  return keep(function, *h, id, name, id ? read_file(absolute) : std::vector<std::byte>());
}

tpu_kernel_module_t load_bytes(const char* function, bm_handle_t handle, const char* data, size_t length, int core_id) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr || check_core(function, *h, core_id) != BM_SUCCESS) return nullptr;
  if (data == nullptr || length == 0) {
    fail(function, BM_ERR_PARAM, data == nullptr ? "data is NULL" : "length is 0");
    return nullptr;
  }
  const std::span image(reinterpret_cast<const std::byte*>(data), length);
  return keep(function, *h, h->device().load_module_bytes(image), "memory", image);
}

// The module, or nullptr after a message. The lock of modules() is held by the caller.
Module* find_module(const char* function, tpu_kernel_module_t module) {
  const auto found = modules().known.find(module);
  if (found != modules().known.end()) return found->second.get();
  fail(function, BM_ERR_PARAM, module == nullptr ? "the module is NULL" : "the module was freed or never loaded");
  return nullptr;
}

bm_status_t unload(const char* function, bm_handle_t handle, tpu_kernel_module_t module, bool forget) {
  if (find_handle(function, handle) == nullptr) return BM_ERR_DEVNOTREADY;
  const std::lock_guard lock(modules().mutex);
  Module* const found = find_module(function, module);
  if (found == nullptr) return BM_ERR_PARAM;
  if (!found->loaded && !forget) return fail(function, BM_ERR_PARAM, "the module is unloaded already");
  bm_status_t status = BM_SUCCESS;
  if (found->loaded) status = to_status(function, found->owner->unload_module(found->id));
  found->loaded = false;
  if (forget) modules().known.erase(module);
  return status;
}

tpu_kernel_function_t get_function(const char* function, bm_handle_t handle, tpu_kernel_module_t module,
                                   const char* name, int core_id) {
  constexpr tpu_kernel_function_t kNone = -1;
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr || check_core(function, *h, core_id) != BM_SUCCESS) return kNone;
  if (check_kernel_name(function, name) != BM_SUCCESS) return kNone;
  const std::lock_guard lock(modules().mutex);
  const Module* const found = find_module(function, module);
  if (found == nullptr) return kNone;
  if (!found->loaded || found->owner.get() != &h->device()) {
    fail(function, BM_ERR_PARAM, found->loaded ? "the module is loaded on another device" : "the module is unloaded");
    return kNone;
  }
  const Result<FunctionId> id = h->device().find_function(found->id, name);
  if (id) return static_cast<tpu_kernel_function_t>(*id);
  fail(function, id.error());
  return kNone;
}

}  // namespace
}  // namespace softtpu::host

using namespace softtpu::host;

extern "C" {

tpu_kernel_module_t tpu_kernel_load_module_file(bm_handle_t handle, const char* module_file) {
  return load_file(__func__, handle, module_file, 0);
}
tpu_kernel_module_t tpu_kernel_load_module_file_to_core(bm_handle_t handle, const char* module_file, int core_id) {
  return load_file(__func__, handle, module_file, core_id);
}
tpu_kernel_module_t tpu_kernel_load_module_file_key(bm_handle_t handle, const char* module_file, const char* key,
                                                    int size) {
  if (key == nullptr || size == 0) return load_file(__func__, handle, module_file, 0);
  not_supported(__func__, "encrypted modules need the key store of a board; load the plain file without a key");
  return nullptr;
}
tpu_kernel_module_t tpu_kernel_load_module(bm_handle_t handle, const char* data, size_t length) {
  return load_bytes(__func__, handle, data, length, 0);
}
tpu_kernel_module_t tpu_kernel_load_module_to_core(bm_handle_t handle, const char* data, size_t length, int core_id) {
  return load_bytes(__func__, handle, data, length, core_id);
}

bm_status_t tpu_kernel_unload_module(bm_handle_t handle, tpu_kernel_module_t p_module) {
  return unload(__func__, handle, p_module, false);
}
bm_status_t tpu_kernel_unload_module_from_core(bm_handle_t handle, tpu_kernel_module_t p_module, int core_id) {
  SOFTTPU_HANDLE(handle);
  if (const bm_status_t status = check_core(__func__, *h, core_id); status != BM_SUCCESS) return status;
  return unload(__func__, handle, p_module, false);
}
bm_status_t tpu_kernel_free_module(bm_handle_t handle, tpu_kernel_module_t p_module) {
  return unload(__func__, handle, p_module, true);
}

tpu_kernel_function_t tpu_kernel_get_function(bm_handle_t handle, tpu_kernel_module_t module, const char* function) {
  return get_function(__func__, handle, module, function, 0);
}
tpu_kernel_function_t tpu_kernel_get_function_from_core(bm_handle_t handle, tpu_kernel_module_t module,
                                                        const char* function, int core_id) {
  return get_function(__func__, handle, module, function, core_id);
}

void show_md5(unsigned char* md5) {
  if (md5 == nullptr) {
    fail(__func__, BM_ERR_PARAM, "md5 is NULL");
    return;
  }
  for (int i = 0; i < MD5SUM_LEN; ++i) printf("%02x", md5[i]);
  printf("\n");
}

}  // extern "C"
