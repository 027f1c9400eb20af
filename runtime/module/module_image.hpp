// The bytes of a kernel module: taken over from a file or memory into a private, anonymous file, and checked before any
// of it is given to the dynamic loader. The original may be rebuilt or removed at any time afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/wire.hpp"

namespace softtpu {

// An anonymous file that becomes a copy of a module, piece by piece. Errors give the cause and the name that people
// know the module by.
class ModuleCopy {
 public:
  // Of a regular file within the limit of a module's size.
  static Result<ModuleCopy> of_file(UniqueFd file, const std::string& name);
  // Of bytes that add() gives.
  static Result<ModuleCopy> of_bytes();

  // Copies a piece of the file. True: that was the last one.
  Result<bool> step();
  Result<void> add(std::span<const std::uint8_t> bytes);
  // Of the file, when the copy began.
  std::uint64_t bytes() const { return bytes_; }
  // The copy, which is read-only from now on.
  Result<UniqueFd> take();
  // What has been copied so far, if anything is left.
  UniqueFd give_up() { return std::move(copy_); }

 private:
  UniqueFd copy_, file_;
  std::uint64_t bytes_ = 0, done_ = 0;
  std::string name_;
};

// The descriptor of an anonymous file with these bytes.
Result<UniqueFd> copy_module_bytes(std::span<const std::uint8_t> image);

// All bytes of a module's file, for a device that cannot be given the file itself; more than `limit` are refused.
Result<Bytes> read_module(int fd, const std::string& name, std::size_t limit);

// What SDK builds for the emulator embed instead of a module ({0}): a few bytes, all zero.
bool is_placeholder(std::span<const std::uint8_t> image);
Result<bool> is_placeholder_file(int fd);

// Refuses what the loader would refuse or die of: too short, not ELF, another machine's, not a shared object,
// truncated.
Result<void> check_module(int fd, const std::string& name);

// The kernels of an SDK build for the emulator: TPUKERNEL_FIRMWARE_PATH, else libcmodel.so where the dynamic loader
// would find it. nullopt: there is none.
std::optional<std::string> find_default_module(const std::string& firmware_path);

}  // namespace softtpu
