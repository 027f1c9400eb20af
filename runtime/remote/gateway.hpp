// The remote end of a shared device: listens on a TCP port, and passes on to the device's Unix socket what arrives
// inside TLS from clients that know the token. Runs on one thread.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/endpoint.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

struct GatewayOptions {
  Endpoint endpoint;  // port 0: any free one
  std::string socket_path, certificate_file, key_file, token_file;
};

class Gateway {
 public:
  // Reads the secrets and binds the port; connections are taken by run().
  static Result<std::unique_ptr<Gateway>> create(const GatewayOptions& options);
  ~Gateway();

  // HOST:PORT with the port that was bound.
  std::string endpoint() const;
  // Until the other end of this socket closes.
  void run(UniqueFd lifeline);

 private:
  struct State;
  explicit Gateway(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace softtpu
