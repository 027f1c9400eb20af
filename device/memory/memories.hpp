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

  // `name` is for messages to people, `file` is what the system shows in /proc/PID/fd and maps.
  static Result<Mapping> create(const char* name, std::uint64_t bytes, const std::string& file);

  // The same file, mapped once more.
  Result<Mapping> map_again(const char* name) const;

  // From now on this mapping is read-only.
  void make_read_only();
  // Only the file stays.
  void unmap();

  std::uint8_t* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  int fd() const { return fd_; }

 private:
  static Result<Mapping> map(const char* name, int fd, std::uint64_t bytes, bool read_only = false);

  int fd_ = -1;
  std::uint8_t* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

class Memories {
 public:
  // Makes new, zeroed (sparse) memories and fills static memory with the chip's tables.
  // `label` begins the names of the shared files: LABEL-global.0 and so on.
  static Result<std::unique_ptr<Memories>> create(const Chip& chip, const std::string& label = "softtpu");
  // What another core of the chip sees: local memory (and DTCM) of its own, all else is shared. The new files' names
  // begin with LABEL-coreN.
  Result<std::unique_ptr<Memories>> make_for_core(int core) const;
  std::vector<int> fds() const;

  // Puts the memories on the chip (local, L2, DTCM) aside, as a core that ended has left them, and has new ones,
  // zeroed. Those of the core before that are given up. The new files have the next number: LABEL-local.1. For
  // processes that start from now on.
  // Of a chip with several cores L2 stays as it is, since others may use it.
  Result<void> renew_on_chip();

  const Chip& chip() const { return chip_; }
  std::uint8_t* local(int npu) const {
    return local_.data() + std::uint64_t{chip_.local_bytes} * static_cast<unsigned>(npu);
  }
  std::uint8_t* global() const { return global_.data(); }
  std::uint8_t* l2() const { return l2_.data(); }
  std::uint8_t* static_mem() const { return static_.data(); }
  std::uint8_t* dtcm() const { return dtcm_.data(); }

  // Which memory of the system map [addr, addr + bytes) lies in wholly; data is nullptr when in none.
  struct Location {
    std::uint8_t* data = nullptr;  // at addr
    const char* name = nullptr;    // "global memory", "L2 SRAM", ...
  };
  Location find_system(std::uint64_t addr, std::uint64_t bytes) const;
  // Which memory a pointer of this process is in or, within its guard areas, near: "4 bytes past the end of local
  // memory". Empty: none.
  std::string find_neighbour(const std::uint8_t* pointer) const;

 private:
  struct Part {
    Mapping Memories::*mapping;
    const char* file;  // the part of the shared file's name after the label
    const char* name;
    std::uint64_t bytes;
    bool on_chip = false;  // and written by kernels
    bool shared = false;   // by all cores
  };
  explicit Memories(const Chip& chip) : chip_(chip) {}
  std::vector<Part> parts() const;
  Result<Mapping> make(const Part& part) const;
  void fill_static_memory();

  Chip chip_;
  std::string label_;
  int generation_ = 0;
  Mapping global_, l2_, static_, local_, dtcm_;
  std::vector<Mapping> ended_;  // what renew_on_chip() put aside
};

}  // namespace softtpu
