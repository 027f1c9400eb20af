#include "host/bmrt/constants.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <map>
#include <vector>

#include "runtime/base/read_at.hpp"

namespace softtpu::bmrt {
namespace {

// A handle of our own for each device, so that shared memory outlives the handles of the runtimes that share it.
struct Shared {
  bm_handle_t handle = nullptr;
  std::shared_ptr<const Constants> constants;
  ~Shared() {
    constants = nullptr;
    if (handle != nullptr) bm_dev_free(handle);
  }
};

std::mutex& mutex() {
  static auto& instance = *new std::mutex;
  return instance;
}
std::map<std::pair<int, std::string>, std::weak_ptr<Shared>>& shared() {
  static auto& instance = *new std::map<std::pair<int, std::string>, std::weak_ptr<Shared>>;
  return instance;
}

std::string hash_of(std::span<const std::uint8_t> bytes) {
  std::string digest(EVP_MAX_MD_SIZE, 0);
  unsigned length = 0;
  EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &length, EVP_sha256(),
             nullptr);
  digest.resize(length);
  return digest;
}

}  // namespace

std::string ConstantBytes::key() const {
  return file == nullptr ? hash_of(bytes) : fmt::format("{}, {} bytes at {}", file->identity(), bytes.size(), offset);
}

Result<std::shared_ptr<const Constants>> Constants::make(DeviceMemory memory, std::string key,
                                                         const ConstantBytes& what) {
  if (what.file == nullptr) {
    if (auto written = memory.write(what.bytes); !written) return written.error();
  }
  return std::make_shared<const Constants>(std::move(memory), std::move(key), what);
}

Result<void> Constants::bring() const {
  if (file_ == nullptr || there_) return {};
  const std::lock_guard lock(mutex_);
  if (there_) return {};
  const auto fault = [](const Error& error) { return Error{error.kind, "its constants: " + error.text}; };
  // What is written while they are read counts as well.
  if (auto same = file_->check_unchanged(); !same) return fault(same.error());
  if (auto written = memory_.write(*file_, offset_); !written) return fault(written.error());
  if (auto same = file_->check_unchanged(); !same) return fault(same.error());
  there_ = true;
  return {};
}

Result<bool> Constants::are_unchanged() const {
  if (file_ == nullptr) {
    const auto bytes = memory_.read();
    if (!bytes) return bytes.error();
    return hash_of(*bytes) == key_;
  }
  if (!there_) return true;
  if (auto same = file_->check_unchanged(); !same) return same.error();
  constexpr std::uint64_t kBlock = std::uint64_t{16} << 20;
  for (std::uint64_t done = 0; done < memory_.bytes(); done += kBlock) {
    const auto bytes = memory_.read(done, std::min(kBlock, memory_.bytes() - done));
    if (!bytes) return bytes.error();
    std::vector<std::uint8_t> wanted(bytes->size());
    if (auto read = read_at(file_->fd(), offset_ + done, wanted); !read) return read.error();
    if (*bytes != wanted) return false;
  }
  return true;
}

Result<std::shared_ptr<const Constants>> share_constants(bm_handle_t handle, const ConstantBytes& what,
                                                         const std::string& key) {
  const int device = bm_get_devid(handle);
  const std::lock_guard lock(mutex());
  std::erase_if(shared(), [](const auto& row) { return row.second.expired(); });
  std::weak_ptr<Shared>& known = shared()[{device, key}];
  std::shared_ptr<Shared> there = known.lock();
  if (there == nullptr) {
    there = std::make_shared<Shared>();
    if (bm_dev_request(&there->handle, device) != BM_SUCCESS)
      return Error{ErrorKind::kConnection, fmt::format("device {} cannot be opened", device)};
    auto memory = DeviceMemory::make(there->handle, what.bytes.size());
    if (!memory) return memory.error();
    auto made = Constants::make(*std::move(memory), key, what);
    if (!made) return made.error();
    there->constants = *std::move(made);
    known = there;
  }
  return std::shared_ptr<const Constants>(there, there->constants.get());
}

}  // namespace softtpu::bmrt
