// The server's end of its gateway (softtpu-remote), the process through which remote clients come. Lives on the
// server's thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

class EventLoop;

class GatewayLink {
 public:
  struct Options {
    std::string endpoint;  // HOST:PORT
    std::string certificate_file, key_file, token_file;
    std::string socket_path;
    bool daemon = false;  // the gateway lets go of the terminal once it listens
  };
  // What is missing for a remote device to be as good as closed to strangers.
  static Result<void> check(const Options& options);
  // Starts the gateway and waits until it listens.
  static Result<std::unique_ptr<GatewayLink>> start(EventLoop& loop, const Options& options);
  // The gateway ends when this socket to it closes.
  ~GatewayLink();

  // HOST:PORT with the port that was bound.
  pid_t pid() const { return pid_; }
  const std::string& endpoint() const { return endpoint_; }

 private:
  GatewayLink(EventLoop& loop, const Options& options) : loop_(loop), options_(options) {}
  Result<void> spawn();
  void watch();
  void when_ended();
  void start_again();

  EventLoop& loop_;
  Options options_;
  std::string endpoint_;
  UniqueFd socket_;
  pid_t pid_ = -1;
};

}  // namespace softtpu
