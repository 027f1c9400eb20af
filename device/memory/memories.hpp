// The memories of one device as this process sees them: global, L2, static, DTCM, and the local memories of one core.
// Each is a shared mapping (memfd) between two inaccessible guard areas, so that server, cores and host see the same
// bytes. Owner: the server (create) or a core process (attach). Not synchronised: a core's thread and its workers
// write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/chip/chip.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

// One shared mapping with guard areas before and behind it.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  static Result<Mapping> create(const char* name, std::uint64_t bytes);
  // Maps a duplicate of fd; the caller keeps its own.
  static Result<Mapping> attach(const char* name, int fd, std::uint64_t bytes);

  std::uint8_t* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  int fd() const { return fd_; }

 private:
  static Result<Mapping> map(const char* name, int fd, std::uint64_t bytes);

  int fd_ = -1;
  std::uint8_t* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

class Memories {
 public:
  // Makes new, zeroed (sparse) memories and fills static memory with the chip's tables.
  static Result<std::unique_ptr<Memories>> create(const Chip& chip);
  // Maps memories that another process created: its fds(), in order.
  static Result<std::unique_ptr<Memories>> attach(const Chip& chip, const std::vector<int>& fds);
  std::vector<int> fds() const;

  const Chip& chip() const { return chip_; }
  std::uint8_t* local(int npu) const {
    return local_.data() + std::uint64_t{chip_.local_bytes} * static_cast<unsigned>(npu);
  }
  std::uint8_t* global() const { return global_.data(); }
  std::uint8_t* l2() const { return l2_.data(); }
  std::uint8_t* static_mem() const { return static_.data(); }
  std::uint8_t* dtcm() const { return dtcm_.data(); }

  // Which memory of the system map [addr, addr + bytes) lies in wholly; data is nullptr when in none.
  struct Place {
    std::uint8_t* data = nullptr;  // at addr
    const char* name = nullptr;    // "global memory", "L2 SRAM", ...
  };
  Place find_system(std::uint64_t addr, std::uint64_t bytes) const;

 private:
  struct Part {
    Mapping* mapping;
    const char* name;
    std::uint64_t bytes;
  };
  explicit Memories(const Chip& chip) : chip_(chip) {}
  std::vector<Part> parts();
  void fill_static_memory();

  Chip chip_;
  Mapping global_, l2_, static_, local_, dtcm_;
};

}  // namespace softtpu
