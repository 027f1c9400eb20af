// Loading files: plain and encrypted, into memory of the runtime's or the program's; libraries; the log.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "bmruntime_interface.h"
#include "host/bmrt/runtime.hpp"
#include "runtime/bmodel/model_file.hpp"

using namespace softtpu;
using namespace softtpu::bmrt;

namespace {

using Bytes = std::vector<std::uint8_t>;

Result<std::shared_ptr<bmodel::ModelFile>> open_file(const char* path) {
  if (path == nullptr) return Error{ErrorKind::kUsage, "the path is NULL"};
  auto file = bmodel::ModelFile::open(path);
  if (!file) return Error{file.error().kind, fmt::format("{}: {}", path, file.error().text)};
  return file;
}

memory_t wanted(std::uint64_t bytes) {
  memory_t memory{};
  memory.addr = -1;
  memory.size = bytes;
  memory.number = bytes > 0 ? 1 : 0;
  return memory;
}

bool describe(const char* function, std::span<const std::uint8_t> head, mem_info_t* info) {
  if (info == nullptr) return refuse(function, "mem_info is NULL");
  const auto sizes = bmodel::read_memory_sizes(head, MemorySource::kStep);
  if (!sizes) return refuse(function, sizes.error().text);
  *info = {};
  info->instruction_mem = wanted(sizes->instructions);
  info->variable_instruction_mem = wanted(sizes->moving_instructions);
  info->neuron_mem = wanted(sizes->between);
  info->coeff_mem = wanted(sizes->constants);
  info->io_mem = wanted(sizes->inputs_and_outputs);
  return true;
}

bool load_with(const char* function, Runtime& runtime, std::span<const std::uint8_t> bytes, const mem_info_t* info,
               std::shared_ptr<const bmodel::ModelFile> file = nullptr) {
  if (info == nullptr) return refuse(function, "mem_info is NULL");
  MemorySource source(runtime.handle());
  if (file != nullptr) source.give_file(std::move(file));
  const auto give = [&](Use use, const memory_t& memory) {
    if (memory.addr != -1 && memory.size > 0) source.give(use, static_cast<std::uint64_t>(memory.addr), memory.size);
  };
  give(Use::kInstructions, info->instruction_mem);
  give(Use::kMovingInstructions, info->variable_instruction_mem);
  give(Use::kBetween, info->neuron_mem);
  give(Use::kConstants, info->coeff_mem);
  give(Use::kInputsAndOutputs, info->io_mem);
  const auto loaded = runtime.load(bytes, source);
  return loaded ? true : refuse(function, loaded.error().text);
}

bool load_decrypted(const char* function, Runtime& runtime, const char* path, decrypt_func decrypt) {
  if (decrypt == nullptr) return refuse(function, "the function that decrypts is NULL");
  const auto file = open_file(path);
  if (!file) return refuse(function, file.error().text);
  MemorySource own(runtime.handle());
  own.give_file(*file);
  const auto loaded = runtime.load((*file)->bytes(), own, [decrypt](bmodel::Bytes encrypted) -> Result<Bytes> {
    std::uint64_t bytes = 0;
    std::uint8_t* const plain = decrypt(encrypted.data(), encrypted.size(), &bytes);
    if (plain == nullptr)
      return Error{ErrorKind::kUsage, fmt::format("{} bytes could not be decrypted", encrypted.size())};
    Bytes made(plain, plain + bytes);
    std::free(plain);
    return made;
  });
  return loaded ? true : refuse(function, fmt::format("{}: {}", path, loaded.error().text));
}

}  // namespace

extern "C" {

bool bmrt_load_bmodel_data(void* p_bmrt, const void* bmodel_data, size_t size) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  if (bmodel_data == nullptr) return refuse(__func__, "the data is NULL");
  const auto loaded = runtime->load({static_cast<const std::uint8_t*>(bmodel_data), size});
  return loaded ? true : refuse(__func__, loaded.error().text);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_load_bmodel(void* p_bmrt, const char* bmodel_path) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  const auto file = open_file(bmodel_path);
  if (!file) return refuse(__func__, file.error().text);
  const auto loaded = runtime->load(*file, bmodel_path);
  return loaded ? true : refuse(__func__, fmt::format("{}: {}", bmodel_path, loaded.error().text));
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_load_bmodel_with_mem(void* p_bmrt, const char* bmodel_path, mem_info_t* mem_info) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  const auto file = open_file(bmodel_path);
  if (!file) return refuse(__func__, file.error().text);
  return load_with(__func__, *runtime, (*file)->bytes(), mem_info, *file);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_load_bmodel_data_with_mem(void* p_bmrt, const void* bmodel_data, size_t size, mem_info_t* mem_info) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  if (bmodel_data == nullptr) return refuse(__func__, "the data is NULL");
  return load_with(__func__, *runtime, {static_cast<const std::uint8_t*>(bmodel_data), size}, mem_info);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_load_bmodel_with_mem_v2(void* p_bmrt, const char* bmodel_path, void* bmodel_head, mem_info_t* mem_info,
                                  std::vector<bm_device_mem_t>& io_mems) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  if (!io_mems.empty())
    return refuse(__func__, fmt::format("io_mems has {} members: what they are for is not published", io_mems.size()));
  const auto file = open_file(bmodel_path);
  if (!file) return refuse(__func__, file.error().text);
  if (bmodel_head != nullptr) {
    constexpr std::size_t kHeader = 64;
    const auto* const head = static_cast<const std::uint8_t*>(bmodel_head);
    const auto given = bmodel::head_bytes({head, kHeader}, (*file)->bytes().size());
    if (!given) return refuse(__func__, "bmodel_head: " + given.error().text);
    if (auto replaced = (*file)->replace_head({head, *given}); !replaced)
      return refuse(__func__, replaced.error().text);
  }
  return load_with(__func__, *runtime, (*file)->bytes(), mem_info, *file);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_load_bmodel_in_device(void* p_bmrt, void* p_bmodel, uint64_t dev_addr, size_t size) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  // Read from the device, whatever the host's view of it holds.
  static_cast<void>(p_bmodel);
  const auto file = DeviceMemory::lend(runtime->handle(), dev_addr, size).read();
  if (!file) return refuse(__func__, file.error().text);
  MemorySource source(runtime->handle());
  source.give_file(*file, dev_addr);
  const auto loaded = runtime->load(*file, source);
  return loaded ? true : refuse(__func__, loaded.error().text);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_load_bmodel_with_decrypt(void* p_bmrt, const char* bmodel_path, decrypt_func f) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  return load_decrypted(__func__, *runtime, bmodel_path, f);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_load_bmodel_with_decrypt_lib(void* p_bmrt, const char* bmodel_path, const char* decrypt_lib) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  if (decrypt_lib == nullptr) return refuse(__func__, "the library is NULL");
  void* const library = ::dlopen(decrypt_lib, RTLD_LAZY);
  if (library == nullptr) return refuse(__func__, ::dlerror());
  const auto decrypt = reinterpret_cast<decrypt_func>(::dlsym(library, "decrypt"));
  const bool loaded = decrypt == nullptr ? refuse(__func__, fmt::format("{} has no function \"decrypt\"", decrypt_lib))
                                         : load_decrypted(__func__, *runtime, bmodel_path, decrypt);
  ::dlclose(library);
  return loaded;
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_update_bmodel_weight_with_decrypt(void* p_bmrt, const char* /*bmodel_path*/, const char* /*update_path*/,
                                            const char* /*net_idx*/, const char* /*mem_idx*/,
                                            const char** /*weight_idx*/, int /*weight_count*/, decrypt_func /*f*/) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  return refuse(__func__, "what files of new constants look like is not published");
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_empty_bmodel_weight_with_decrypt(void* p_bmrt, const char* /*bmodel_path*/, const char* /*net_idx*/,
                                           const char* /*mem_idx*/, const char** /*weight_idx*/, int /*weight_count*/,
                                           decrypt_func /*f*/) try {
  SOFTTPU_RUNTIME(p_bmrt, false);
  return refuse(__func__, "how weight_idx names constants is not published");
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_get_coeff_info(void* p_bmrt, ...) try {  // NOLINT: its other arguments are not known
  SOFTTPU_RUNTIME(p_bmrt, false);
  return refuse(__func__, "what its arguments are is not published");
} catch (...) {
  return softtpu::caught(__func__);
}

// ---- What a file needs ----

bool bmrt_get_bmodel_info(const char* bmodel_path, mem_info_t* mem_info) try {
  const auto file = open_file(bmodel_path);
  return file ? describe(__func__, (*file)->bytes(), mem_info) : refuse(__func__, file.error().text);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_get_bmodel_data_info(const void* bmodel_data, size_t size, mem_info_t* mem_info) try {
  if (bmodel_data == nullptr) return refuse(__func__, "the data is NULL");
  return describe(__func__, {static_cast<const std::uint8_t*>(bmodel_data), size}, mem_info);
} catch (...) {
  return softtpu::caught(__func__);
}

bool bmrt_get_bmodel_info_from_data(const void* bmodel_data, mem_info_t* mem_info, size_t size) try {
  if (bmodel_data == nullptr) return refuse(__func__, "the data is NULL");
  constexpr std::size_t kHeader = 64;
  const std::span head(static_cast<const std::uint8_t*>(bmodel_data), std::min(size, kHeader));
  const auto bytes = bmodel::head_bytes(head, size);
  if (!bytes) return refuse(__func__, bytes.error().text);
  return describe(__func__, {head.data(), *bytes}, mem_info);
} catch (...) {
  return softtpu::caught(__func__);
}

const char* libbmrt_version() try {
  static const std::string text = fmt::format("libbmrt_version:1.0.0, softtpu {}.{}.{}", SOFTTPU_VERSION_MAJOR,
                                              SOFTTPU_VERSION_MINOR, SOFTTPU_VERSION_PATCH);
  return text.c_str();
} catch (...) {
  return softtpu::caught(__func__);
}

BMRT_LogLevel bmrt_get_current_log_level() { return static_cast<BMRT_LogLevel>(log_level()); }
void bmrt_set_current_log_level(BMRT_LogLevel level) try { set_log_level(static_cast<int>(level)); } catch (...) {
  softtpu::caught(__func__);
}

// ---- Libraries ----

void* bmrt_load_lib(const char* libname, int flags) try { return ::dlopen(libname, flags); } catch (...) {
  return softtpu::caught(__func__);
}
void* bmrt_find_sym(void* libhandle, const char* symname) try { return ::dlsym(libhandle, symname); } catch (...) {
  return softtpu::caught(__func__);
}
int bmrt_unload_lib(void* libhandle) try { return libhandle == nullptr ? -1 : ::dlclose(libhandle); } catch (...) {
  return softtpu::caught(__func__);
}
char* bmrt_lib_error() try { return ::dlerror(); } catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
