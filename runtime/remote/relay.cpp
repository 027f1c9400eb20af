#include "runtime/remote/relay.hpp"

#include <boost/asio/write.hpp>
#include <utility>

namespace softtpu {

namespace asio = boost::asio;

namespace {

// Four TLS records: fewer calls for bulk data, little memory for a thousand connections.
constexpr std::size_t kBufferBytes = 64 << 10;

}  // namespace

Relay::Relay(TlsStream tls, LocalSocket local, std::function<void()> on_end)
    : tls_(std::move(tls)),
      local_(std::move(local)),
      on_end_(std::move(on_end)),
      in_(kBufferBytes),
      out_(kBufferBytes) {}

void Relay::start() {
  pass_in();
  pass_out();
}

// Each direction reads again when what it has read is written, so a slow reader slows the writer down and nothing piles
// up here.
void Relay::pass_in() {
  tls_.async_read_some(
      asio::buffer(in_), [self = shared_from_this()](boost::system::error_code error, std::size_t got) {
        if (error) return self->end();
        asio::async_write(
            self->local_, asio::buffer(self->in_.data(), got),
            [self](boost::system::error_code failed, std::size_t) { failed ? self->end() : self->pass_in(); });
      });
}

void Relay::pass_out() {
  local_.async_read_some(
      asio::buffer(out_), [self = shared_from_this()](boost::system::error_code error, std::size_t got) {
        if (error) return self->end();
        asio::async_write(
            self->tls_, asio::buffer(self->out_.data(), got),
            [self](boost::system::error_code failed, std::size_t) { failed ? self->end() : self->pass_out(); });
      });
}

// Frames carry their lengths, so a peer cannot take a cut connection for a complete message and no TLS shutdown is
// waited for.
void Relay::end() {
  boost::system::error_code ignored;
  tls_.lowest_layer().close(ignored);
  local_.close(ignored);
  if (on_end_) std::exchange(on_end_, nullptr)();
}

}  // namespace softtpu
