// A program's end of a connection to a remote device. Runs on one thread.
#pragma once

#include <string>

#include "runtime/base/endpoint.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

struct ConnectorOptions {
  Endpoint endpoint;
  std::string ca_file, token_file;  // no ca_file: what the system trusts
};

// Connects, checks the server's certificate, shows the token, and then carries bytes until either end closes. An error
// comes before anything has been taken from the socket, which is then still open.
Result<void> run_connector(const ConnectorOptions& options, UniqueFd& socket);

}  // namespace softtpu
