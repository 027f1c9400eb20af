// What the log calls a kernel module, whatever its sender calls it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

namespace softtpu {

// The SHA-256 of a file's bytes, piece by piece. The file stays open until then.
class ModuleHash {
 public:
  explicit ModuleHash(int fd);

  // Reads a piece. True: that was the last one.
  bool step();
  // In hexadecimal digits; "unknown" when the file cannot be read.
  std::string text() const { return text_; }

 private:
  struct State;
  int fd_;
  off_t offset_ = 0;
  std::shared_ptr<State> state_;
  std::string text_ = "unknown";
};

}  // namespace softtpu
