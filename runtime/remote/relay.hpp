// Carries bytes both ways between a TLS connection and a local socket, until one of them ends. Knows nothing of what
// they mean.
#pragma once

#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/remote/tls.hpp"

namespace softtpu {

using LocalSocket = boost::asio::local::stream_protocol::socket;

class Relay : public std::enable_shared_from_this<Relay> {
 public:
  // on_end is called once, when both sides are closed.
  Relay(TlsStream tls, LocalSocket local, std::function<void()> on_end);
  void start();

 private:
  void pass_in();
  void pass_out();
  void end();

  TlsStream tls_;
  LocalSocket local_;
  std::function<void()> on_end_;
  std::vector<std::uint8_t> in_, out_;
};

}  // namespace softtpu
