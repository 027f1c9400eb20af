#include "host/bmrt/device_memory.hpp"

#include <fmt/format.h>

#include "host/bmlib/network_launch.hpp"
#include "host/bmrt/constants.hpp"

namespace softtpu::bmrt {

Result<DeviceMemory> DeviceMemory::make(bm_handle_t handle, std::uint64_t bytes) {
  DeviceMemory made;
  if (bm_malloc_device_byte_u64(handle, &made.memory_, bytes) != BM_SUCCESS)
    return Error{ErrorKind::kResource, fmt::format("the device has no {} bytes of memory for it", bytes)};
  made.handle_ = handle;
  return made;
}

Result<DeviceMemory> DeviceMemory::make(bm_handle_t handle, std::span<const std::uint8_t> contents) {
  auto made = make(handle, contents.size());
  if (!made) return made;
  if (auto written = made->write(contents); !written) return written.error();
  return made;
}

DeviceMemory DeviceMemory::lend(bm_handle_t handle, std::uint64_t address, std::uint64_t bytes) {
  DeviceMemory made;
  bm_set_device_mem_u64(&made.memory_, bytes, address);
  made.handle_ = handle;
  made.lent_ = true;
  return made;
}

Result<void> DeviceMemory::write(std::span<const std::uint8_t> contents) {
  if (contents.empty()) return {};
  // bmlib's type of a source is older than const.
  void* const source = const_cast<std::uint8_t*>(contents.data());  // NOLINT
  if (bm_memcpy_s2d_partial_u64(handle_, memory_, source, contents.size()) != BM_SUCCESS)
    return Error{ErrorKind::kConnection, fmt::format("{} bytes cannot be copied to the device", contents.size())};
  return {};
}

Result<void> DeviceMemory::write(const bmodel::ModelFile& file, std::uint64_t offset) const {
  return empty() ? Result<void>() : host::write_from_file(handle_, address(), file.fd(), offset, bytes());
}

Result<std::vector<std::uint8_t>> DeviceMemory::read() const { return read(0, bytes()); }

Result<std::vector<std::uint8_t>> DeviceMemory::read(std::uint64_t offset, std::uint64_t bytes) const {
  std::vector<std::uint8_t> contents(bytes);
  if (empty() || bytes == 0 ||
      bm_memcpy_d2s_partial_offset_u64(handle_, contents.data(), memory_, bytes, offset) == BM_SUCCESS)
    return contents;
  return Error{ErrorKind::kConnection, fmt::format("{} bytes cannot be read from the device", bytes)};
}

namespace {

constexpr const char* kUseNames[kUses] = {"instruction_mem", "variable_instruction_mem", "neuron_mem", "coeff_mem",
                                          "io_mem"};
constexpr std::uint64_t kConstantsStep = 128;  // what constants in a file on the device have to begin at

}  // namespace

void MemorySource::give(Use use, std::uint64_t address, std::uint64_t bytes) {
  of(use) = {true, address, address + bytes};
}

void MemorySource::give_file(std::span<const std::uint8_t> file, std::uint64_t address) {
  file_ = file;
  file_address_ = address;
}

Result<DeviceMemory> MemorySource::make(Use use, std::uint64_t bytes) {
  Given& given = of(use);
  if (!given.any) return DeviceMemory::make(handle_, bytes);
  if (bytes > given.end - given.next)
    return Error{ErrorKind::kUsage,
                 fmt::format("mem_info.{} has {} bytes left, {} more are needed",
                             kUseNames[static_cast<std::size_t>(use)], given.end - given.next, bytes)};
  DeviceMemory lent = DeviceMemory::lend(handle_, given.next, bytes);
  given.next = std::min(given.end, (given.next + bytes + kStep - 1) / kStep * kStep);
  return lent;
}

Result<DeviceMemory> MemorySource::make(Use use, std::span<const std::uint8_t> contents) {
  auto made = make(use, contents.size());
  if (!made) return made;
  if (auto written = made->write(contents); !written) return written.error();
  return made;
}

Result<std::shared_ptr<const Constants>> MemorySource::constants(std::span<const std::uint8_t> bytes) {
  ConstantBytes what{bytes};
  if (!file_.empty() && bytes.data() >= file_.data() && bytes.data() + bytes.size() <= file_.data() + file_.size()) {
    const std::uint64_t at = file_address_ + static_cast<std::uint64_t>(bytes.data() - file_.data());
    if (at % kConstantsStep == 0)
      return std::make_shared<const Constants>(DeviceMemory::lend(handle_, at, bytes.size()), what.key(), what);
  }
  if (const auto offset = from_ == nullptr ? std::nullopt : from_->offset_of(bytes)) {
    if (bytes.size() >= ConstantBytes::kFewestToWait) {
      what.file = from_;
      what.offset = *offset;
    } else if (auto fetched = from_->fetch(bytes); !fetched) {
      return fetched.error();
    }
  }
  const std::string key = what.key();
  if (!of(Use::kConstants).any) return share_constants(handle_, what, key);
  std::shared_ptr<const Constants>& known = known_[key];
  if (known == nullptr) {
    auto memory = make(Use::kConstants, bytes.size());
    if (!memory) return memory.error();
    auto made = Constants::make(*std::move(memory), key, what);
    if (!made) return made.error();
    // The program may read its memory.
    if (auto brought = (*made)->bring(); !brought) return brought.error();
    known = *std::move(made);
  }
  return known;
}

}  // namespace softtpu::bmrt
