#include "runtime/remote/connector.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <optional>

#include "runtime/protocol/frame.hpp"
#include "runtime/remote/relay.hpp"
#include "runtime/remote/secret.hpp"
#include "runtime/remote/tls.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::chrono::seconds kAnswerPatience{15};
constexpr std::size_t kMaxAnswerBytes = 4096;

// The steps up to the gateway's answer, each of which may end it.
class Entry {
 public:
  Entry(const ConnectorOptions& options, TlsContext& context, Bytes token)
      : options_(options), tls_(context_, context), resolver_(context_) {
    append_frame(out_, 1, msg::Authenticate{std::move(token)});
  }

  Result<void> enter() {
    resolver_.async_resolve(options_.endpoint.host, std::to_string(options_.endpoint.port),
                            [this](error_code error, const tcp::resolver::results_type& found) {
                              error ? end("no such host", error) : connect(found);
                            });
    context_.run_for(kAnswerPatience);
    if (!outcome_) return failure(fmt::format("no answer within {} s", kAnswerPatience.count()));
    return *outcome_;
  }
  asio::io_context& context() { return context_; }
  TlsStream take_stream() { return std::move(tls_); }

 private:
  Error failure(const std::string& text) const {
    return Error{ErrorKind::kConnection, fmt::format("tcp://{}: {}.", to_text(options_.endpoint), text)};
  }
  void end(const std::string& what, error_code error) {
    outcome_ = failure(fmt::format("{} ({})", what, error.message()));
  }

  void connect(const tcp::resolver::results_type& found) {
    asio::async_connect(tls_.lowest_layer(), found, [this](error_code error, const tcp::endpoint&) {
      if (error) return end("no connection", error);
      tls_.lowest_layer().set_option(tcp::no_delay(true), error);
      expect_host(tls_, options_.endpoint.host);
      tls_.async_handshake(TlsStream::client, [this](error_code failed) {
        failed ? void(outcome_ = failure("no TLS connection: " + handshake_error(tls_, failed))) : authenticate();
      });
    });
  }

  void authenticate() {
    asio::async_write(tls_, asio::buffer(out_), [this](error_code error, std::size_t) {
      error ? end("the connection is closed during authentication", error) : read();
    });
  }

  void read() {
    const auto space = in_.space(kMaxAnswerBytes);
    tls_.async_read_some(asio::buffer(space.data(), std::min(space.size(), kMaxAnswerBytes - taken_)),
                         [this](error_code error, std::size_t got) {
                           if (error) return end("the connection is closed during authentication", error);
                           in_.received(got);
                           taken_ += got;
                           check();
                         });
  }

  void check() {
    auto frame = in_.next();
    if (frame && !*frame && taken_ < kMaxAnswerBytes) return read();
    if (frame && *frame && (*frame)->type == MessageType::kDone) {
      outcome_.emplace();
      return;
    }
    const auto refusal = frame && *frame && (*frame)->type == MessageType::kFailure
                             ? find_message<msg::Failure>((*frame)->payload)
                             : std::nullopt;
    outcome_ = refusal ? Error{refusal->kind, fmt::format("tcp://{}: {}", to_text(options_.endpoint), refusal->text)}
                       : failure("the server is not a gateway of softtpu");
  }

  const ConnectorOptions& options_;
  asio::io_context context_{1};
  TlsStream tls_;
  tcp::resolver resolver_;
  FrameBuffer in_;
  Bytes out_;
  std::size_t taken_ = 0;
  std::optional<Result<void>> outcome_;
};

}  // namespace

Result<void> run_connector(const ConnectorOptions& options, UniqueFd& socket) {
  auto token = read_token(options.token_file);
  if (!token) return Error{token.error().kind, "SOFTTPU_TOKEN_FILE: " + token.error().text};
  auto tls = make_client_context(options.ca_file);
  if (!tls) return tls.error();
  Entry entry(options, **tls, std::move(*token));
  if (auto entered = entry.enter(); !entered) return entered;
  // The program's end closes this connection, even if a fork of it still holds the socket.
  auto peer = find_peer(socket.get());
  if (!peer) return peer.error();
  const int program = static_cast<int>(::syscall(SYS_pidfd_open, peer->pid, 0));
  asio::posix::stream_descriptor end(entry.context());
  if (program >= 0) {
    end.assign(program);
    end.async_wait(asio::posix::stream_descriptor::wait_read, [&entry](error_code) { entry.context().stop(); });
  }
  LocalSocket local(entry.context(), asio::local::stream_protocol(), socket.release());
  std::make_shared<Relay>(entry.take_stream(), std::move(local), [&entry] { entry.context().stop(); })->start();
  entry.context().restart();
  entry.context().run();
  return {};
}

}  // namespace softtpu
