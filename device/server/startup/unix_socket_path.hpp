// The name of a server's socket in the file system: taken so that it is never without a listener, never from a server
// that lives, and given up only by its owner.
#pragma once

#include <sys/types.h>

#include <string>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

class UnixSocketPath {
 public:
  // A socket that listens under this name, for this user only. Refused: a name with a listener, and one that
  // is no socket of this user.
  Result<UniqueFd> listen(const std::string& path);
  // The name still leads to the socket that listen() has made.
  bool is_ours() const;
  // Removes the name if it is ours.
  void leave();

 private:
  std::string path_;
  dev_t device_ = 0;
  ino_t number_ = 0;
};

}  // namespace softtpu
