// A file with the bytes of an input, for readers that take paths. In memory where there is room for that.
#pragma once

#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "tests/fuzz/input.hpp"

namespace softtpu::fuzz {

inline std::string fast_folder() {
  constexpr unsigned long kEnoughBytes = 16UL << 20;
  struct statvfs space = {};
  const bool enough = ::statvfs("/dev/shm", &space) == 0 && space.f_bavail * space.f_frsize >= kEnoughBytes;
  return enough && ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

// Removed with the object. Its name is the same for every input of a process.
class TemporaryFile {
 public:
  TemporaryFile(const char* ending, std::span<const std::uint8_t> bytes)
      : path_(fast_folder() + "/softtpu-fuzz-" + std::to_string(::getpid()) + ending) {
    std::FILE* const file = std::fopen(path_.c_str(), "wb");
    require(file != nullptr, "a temporary file can be made");
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace softtpu::fuzz
