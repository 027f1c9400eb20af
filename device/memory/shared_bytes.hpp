// Memory that a server and the cores that it forks share, for what checks have to know about the device.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <utility>

#include "runtime/base/result.hpp"

namespace softtpu {

// Zeroed at first; pages take memory only once they are touched.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(SharedBytes&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  SharedBytes& operator=(SharedBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SharedBytes() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }

  // Of a memory that the chip lacks (0 bytes) nothing is mapped.
  static Result<SharedBytes> create(std::uint64_t bytes) {
    if (bytes == 0) return SharedBytes();
    void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) return Error{ErrorKind::kResource, "the checks' memory cannot be mapped"};
    SharedBytes made;
    made.data_ = static_cast<std::uint8_t*>(data);
    made.bytes_ = bytes;
    return made;
  }

  std::uint8_t* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace softtpu
