#include "runtime/remote/gateway.hpp"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/protocol/frame.hpp"
#include "runtime/remote/rate_limiter.hpp"
#include "runtime/remote/relay.hpp"
#include "runtime/remote/secret.hpp"
#include "runtime/remote/tls.hpp"
#include "runtime/remote/unauthenticated_connections.hpp"

namespace softtpu {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

// For the handshake and the token together.
constexpr std::chrono::seconds kHandshakePatience{10};
constexpr std::chrono::milliseconds kAcceptPause{100};

// What failures are counted for: an IPv6 client owns all addresses of its network.
std::string counted_address(const asio::ip::address& address) {
  if (address.is_v4()) return address.to_string();
  const auto v6 = address.to_v6();
  if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
  auto bytes = v6.to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
  return asio::ip::make_address_v6(bytes).to_string();
}

}  // namespace

struct Gateway::State {
  State(std::unique_ptr<TlsContext> tls_context, Bytes secret, std::string path)
      : tls(std::move(tls_context)), token(std::move(secret)), socket_path(std::move(path)) {}

  asio::io_context context{1};
  std::unique_ptr<TlsContext> tls;
  const Bytes token;
  const std::string socket_path;
  Endpoint bound;
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  RateLimiter limit;
  UnauthenticatedConnections unauthenticated;
};

namespace {

// One connection until it has shown the token; then a Relay takes it over.
template <class State>
class Visitor : public std::enable_shared_from_this<Visitor<State>> {
 public:
  Visitor(State& state, tcp::socket socket, const tcp::endpoint& peer)
      : state_(state),
        name_(to_text(Endpoint{peer.address().to_string(), peer.port()})),
        counted_(counted_address(peer.address())),
        tls_(std::move(socket), *state.tls),
        deadline_(state.context) {
    state_.unauthenticated.add(counted_, this);
  }
  ~Visitor() { state_.unauthenticated.remove(counted_, this); }
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;

  // Makes room for another connection, which may have a token.
  void give_way() {
    log_debug(name_ + " is disconnected: others wait, and it has not authenticated yet");
    failed_ = true;
    close();
  }
  const std::string& address() const { return counted_; }

  void start() {
    deadline_.expires_after(kHandshakePatience);
    deadline_.async_wait([self = this->shared_from_this()](error_code error) {
      if (!error) self->fail("it has not authenticated in time");
    });
    tls_.async_handshake(TlsStream::server, [self = this->shared_from_this()](error_code error) {
      error ? self->fail("no TLS handshake (" + error.message() + ")") : self->read();
    });
  }

 private:
  void read() {
    const auto space = in_.space(kMaxTokenBytes);
    tls_.async_read_some(asio::buffer(space.data(), std::min(space.size(), kMaxTokenBytes)),
                         [self = this->shared_from_this()](error_code error, std::size_t got) {
                           if (error) return self->fail("it disconnected without a token");
                           self->in_.received(got);
                           self->taken_ += got;
                           self->check();
                         });
  }

  void check() {
    auto frame = in_.next();
    if (frame && !*frame) {
      // The frame of the longest token has not come to its end: nothing that authenticates is this long.
      if (taken_ > kFrameHeaderBytes + sizeof(std::uint32_t) + kMaxTokenBytes)
        return fail("its first message is too long");
      return read();
    }
    const auto message = frame && (*frame)->type == MessageType::kAuthenticate
                             ? find_message<msg::Authenticate>((*frame)->payload)
                             : std::nullopt;
    if (!message) return fail("its first message has no token");
    request_ = (*frame)->request;
    // Others of its address may have failed since this one came: no token more is compared than is promised.
    if (state_.limit.blocks(counted_, RateLimiter::Clock::now())) return fail("its address is blocked");
    if (is_same_secret(message->token, state_.token)) return pass_on();
    count_failure("its token is wrong");
    append_frame(out_, request_, msg::Failure{ErrorKind::kConnection, "the token is not accepted."});
    write_and([self = this->shared_from_this()](error_code) { self->close(); });
  }

  // The device learns where the client is, the client that it is in.
  void pass_on() {
    auto local = std::make_shared<LocalSocket>(state_.context);
    error_code error;
    local->connect(asio::local::stream_protocol::endpoint(state_.socket_path), error);
    Bytes remote;
    append_frame(remote, 0, msg::Remote{name_});
    if (!error) asio::write(*local, asio::buffer(remote), error);
    if (error) {
      log_error(fmt::format("{}: {}", state_.socket_path, error.message()));
      append_frame(out_, request_,
                   msg::Failure{ErrorKind::kConnection, "the device behind the gateway does not answer."});
      write_and([self = this->shared_from_this()](error_code) { self->close(); });
      return;
    }
    log_info(name_ + " is connected");
    append_frame(out_, request_, msg::Done{});
    write_and([self = this->shared_from_this(), local](error_code failed) {
      self->deadline_.cancel();
      if (failed) return self->close();
      std::make_shared<Relay>(std::move(self->tls_), std::move(*local), [name = self->name_] {
        log_info(name + " is gone");
      })->start();
    });
  }

  template <class Next>
  void write_and(Next next) {
    asio::async_write(tls_, asio::buffer(out_),
                      [self = this->shared_from_this(), next](error_code error, std::size_t) { next(error); });
  }

  void fail(const std::string& why) {
    count_failure(why);
    close();
  }

  void count_failure(const std::string& why) {
    if (std::exchange(failed_, true)) return;
    log_warning(fmt::format("{} is refused: {}", name_, why));
    if (state_.limit.failed(counted_, RateLimiter::Clock::now())) {
      log_warning(fmt::format("{} has failed {} times and is blocked for {} s", counted_, RateLimiter::kMostFailures,
                              RateLimiter::kMemory.count()));
    }
  }

  void close() {
    state_.unauthenticated.remove(counted_, this);
    deadline_.cancel();
    error_code ignored;
    tls_.lowest_layer().close(ignored);
  }

  State& state_;
  const std::string name_, counted_;
  TlsStream tls_;
  asio::steady_timer deadline_;
  FrameBuffer in_;
  Bytes out_;
  std::size_t taken_ = 0;
  std::uint64_t request_ = 0;
  bool failed_ = false;
};

template <class State>
void take(State& state, tcp::socket socket) {
  error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  if (error) return;  // gone already
  const std::string counted = counted_address(peer.address());
  if (state.limit.blocks(counted, RateLimiter::Clock::now())) {
    log_debug(fmt::format("{} is refused: it is blocked", counted));
    return;
  }
  // The oldest of its own address makes room, or of the address that has the most: a connection with a token sends it
  // at once, and one that only waits keeps no other out.
  if (auto* const oldest = state.unauthenticated.next_to_evict(counted))
    static_cast<Visitor<State>*>(oldest)->give_way();
  socket.set_option(tcp::no_delay(true), error);
  socket.set_option(asio::socket_base::keep_alive(true), error);
  std::make_shared<Visitor<State>>(state, std::move(socket), peer)->start();
}

template <class State>
void accept(State& state) {
  state.acceptor.async_accept([&state](error_code error, tcp::socket socket) {
    if (!error) {
      take(state, std::move(socket));
      return accept(state);
    }
    if (error == asio::error::operation_aborted) return;
    // Out of descriptors, for example: connections that end make room.
    log_warning("accepting a connection: " + error.message());
    state.pause.expires_after(kAcceptPause);
    state.pause.async_wait([&state](error_code stopped) {
      if (!stopped) accept(state);
    });
  });
}

}  // namespace

Gateway::Gateway(std::shared_ptr<State> state) : state_(std::move(state)) {}
Gateway::~Gateway() = default;

Result<std::unique_ptr<Gateway>> Gateway::create(const GatewayOptions& options) {
  auto token = read_token(options.token_file);
  if (!token) return token.error();
  auto tls = make_server_context(options.certificate_file, options.key_file);
  if (!tls) return tls.error();
  auto state = std::make_shared<State>(std::move(*tls), std::move(*token), options.socket_path);
  const std::string name = to_text(options.endpoint);
  error_code error;
  const auto found =
      tcp::resolver(state->context)
          .resolve(options.endpoint.host, std::to_string(options.endpoint.port), tcp::resolver::passive, error);
  if (error) return Error{ErrorKind::kUsage, fmt::format("{}: {}.", name, error.message())};
  const tcp::endpoint address = found.begin()->endpoint();
  state->acceptor.open(address.protocol(), error);
  if (!error) state->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) state->acceptor.bind(address, error);
  if (!error) state->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    const char* const advice = error == asio::error::address_in_use
                                   ? " Another program listens there; --tcp can name another port, or 0."
                                   : "";
    return Error{ErrorKind::kResource, fmt::format("listening on {}: {}.{}", name, error.message(), advice)};
  }
  state->bound = {options.endpoint.host, state->acceptor.local_endpoint().port()};
  return std::unique_ptr<Gateway>(new Gateway(std::move(state)));
}

std::string Gateway::endpoint() const { return to_text(state_->bound); }

void Gateway::run(UniqueFd lifeline) {
  State& state = *state_;
  asio::posix::stream_descriptor end(state.context, lifeline.release());
  end.async_wait(asio::posix::stream_descriptor::wait_read, [&state](error_code) { state.context.stop(); });
  accept(state);
  state.context.run();
}

}  // namespace softtpu
