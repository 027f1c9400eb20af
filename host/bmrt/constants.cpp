#include "host/bmrt/constants.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <map>
#include <mutex>
#include <utility>

namespace softtpu::bmrt {
namespace {

using Digest = std::vector<std::uint8_t>;

// A handle of our own for each device, so that shared memory outlives the handles of the runtimes that share it.
struct Shared {
  bm_handle_t handle = nullptr;
  DeviceMemory memory;
  ~Shared() {
    memory = {};
    if (handle != nullptr) bm_dev_free(handle);
  }
};

std::mutex& mutex() {
  static auto& instance = *new std::mutex;
  return instance;
}
std::map<std::pair<int, Digest>, std::weak_ptr<Shared>>& shared() {
  static auto& instance = *new std::map<std::pair<int, Digest>, std::weak_ptr<Shared>>;
  return instance;
}

}  // namespace

std::vector<std::uint8_t> hash_constants(std::span<const std::uint8_t> bytes) {
  Digest digest(EVP_MAX_MD_SIZE);
  unsigned length = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr);
  digest.resize(length);
  return digest;
}

Result<std::shared_ptr<const DeviceMemory>> share_constants(bm_handle_t handle, std::span<const std::uint8_t> bytes,
                                                            const Digest& digest) {
  const int device = bm_get_devid(handle);
  const std::lock_guard lock(mutex());
  std::erase_if(shared(), [](const auto& row) { return row.second.expired(); });
  std::weak_ptr<Shared>& known = shared()[{device, digest}];
  std::shared_ptr<Shared> constants = known.lock();
  if (constants == nullptr) {
    constants = std::make_shared<Shared>();
    if (bm_dev_request(&constants->handle, device) != BM_SUCCESS)
      return Error{ErrorKind::kConnection, fmt::format("device {} cannot be opened", device)};
    auto made = DeviceMemory::make(constants->handle, bytes);
    if (!made) return made.error();
    constants->memory = *std::move(made);
    known = constants;
  }
  return std::shared_ptr<const DeviceMemory>(constants, &constants->memory);
}

}  // namespace softtpu::bmrt
