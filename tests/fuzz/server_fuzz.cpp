// A whole server with one client that says anything: afterwards its connection is closed and nothing of it is left. The
// input is a list of messages (type, length, payload), so that most of them pass the framing; what frames break is
// decoder_fuzz's.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "device/server/startup/server.hpp"
#include "runtime/transport/rpc_client.hpp"
#include "runtime/transport/socket.hpp"
#include "tests/fuzz/input.hpp"

namespace softtpu::fuzz {
namespace {

// The socket has no name once it is open, so that a run that crashes leaves no file.
std::string& socket_path() {
  static std::string path = "/tmp/softtpu-fuzz-" + std::to_string(::getpid()) + ".sock";
  return path;
}

// Runs until the program ends.
void start_server() {
  ::setenv("SOFTTPU_LOG", "off", 0);
  auto settings = read_settings();
  require(static_cast<bool>(settings), "the environment is usable");
  settings->chip = "demo4";
  auto server = Server::create(*settings, {.devices = {.count = 2, .in_process = true}});
  require(static_cast<bool>(server), "a server can be made");
  require(static_cast<bool>((*server)->listen(socket_path())), "it listens");
  const int held = ::open(socket_path().c_str(), O_PATH | O_CLOEXEC);
  require(held >= 0 && ::unlink(socket_path().c_str()) == 0, "the socket can be held");
  socket_path() = "/proc/self/fd/" + std::to_string(held);
  std::thread([running = server->release()] { running->run(); }).detach();
}

// Writes and modules that are longer than what is taken at once; their count may say so or not.
void make_long(MessageType type, Bytes& payload, bool right_count) {
  constexpr std::size_t kLong = 150 << 10;
  const std::size_t count_at = type == MessageType::kWrite ? 8 : 4;
  if (payload.size() < count_at + 4) return;
  if (type == MessageType::kLoadModule) payload = {0, 0, 0, 0, 0, 0, 0, 0};
  payload.resize(payload.size() + kLong);
  const std::size_t left = payload.size() - count_at - 4;
  for (std::size_t i = 0; i < 4 && right_count; ++i) payload[count_at + i] = static_cast<std::uint8_t>(left >> (8 * i));
}

// Launches of the inputs that a server can read. The seeds alone have more than these, unless they hold messages of
// another protocol.
constexpr unsigned long kFewLaunches = 20;
unsigned long launches = 0;
void print_launches() {
  std::printf("%lu launches that a server can read\n", launches);
  if (launches < kFewLaunches)
    std::printf("never called: launches, of which the seeds should have %lu\n", kFewLaunches);
}

Bytes make_conversation(Input& input) {
  // Requests that a client sends, and some that it must not.
  constexpr MessageType kTypes[] = {MessageType::kOpen,       MessageType::kAllocate,     MessageType::kRelease,
                                    MessageType::kWrite,      MessageType::kRead,         MessageType::kFill,
                                    MessageType::kCopy,       MessageType::kLaunch,       MessageType::kSync,
                                    MessageType::kSetTimeout, MessageType::kUnloadModule, MessageType::kFindFunction,
                                    MessageType::kStat,       MessageType::kCloseStream,  MessageType::kHello,
                                    MessageType::kLoadModule, MessageType::kRemote,       MessageType::kCoreDone};
  Bytes bytes;
  const std::uint8_t mode = input.byte();
  if ((mode & 1) != 0) append_frame(bytes, 1, msg::Remote{"somewhere"});
  append_frame(bytes, 2, msg::Hello{});
  append_frame(bytes, 3, msg::Open{static_cast<std::uint32_t>(input.byte() % 3), false, {}});
  std::uint64_t request = 3;
  while (!input.empty()) {
    const MessageType type = kTypes[input.byte() % std::size(kTypes)];
    const auto taken = input.take_bytes(input.byte());
    Bytes payload(taken.begin(), taken.end());
    if ((mode & 2) != 0 && (type == MessageType::kWrite || type == MessageType::kLoadModule))
      make_long(type, payload, (mode & 4) != 0);
    if (type == MessageType::kLaunch && find_message<msg::Launch>(payload)) ++launches;
    const std::size_t at = bytes.size();
    bytes.resize(at + kFrameHeaderBytes);
    wire::put_header(bytes.data() + at, payload.size(), type, 0, ++request);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
  }
  return bytes;
}

// What the device says about itself to another client.
msg::StatReply stat() {
  auto socket = connect_unix(socket_path());
  require(static_cast<bool>(socket), "the server takes a connection");
  RpcClient rpc(*std::move(socket));
  require(static_cast<bool>(rpc.call<msg::HelloReply>(msg::Hello{})), "it greets");
  require(static_cast<bool>(rpc.call<msg::OpenReply>(msg::Open{0, false, {}})), "it opens");
  auto reply = rpc.call<msg::StatReply>(msg::Stat{});
  require(static_cast<bool>(reply), "it answers");
  return *reply;
}

}  // namespace
}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu;
  static const bool started = [] {
    fuzz::start_server();
    std::atexit(fuzz::print_launches);
    return true;
  }();
  static_cast<void>(started);
  fuzz::Input input(data, bytes);
  auto socket = connect_unix(fuzz::socket_path());
  fuzz::require(static_cast<bool>(socket), "the server takes a connection");
  static_cast<void>(send_all(socket->get(), fuzz::make_conversation(input)));
  ::shutdown(socket->get(), SHUT_WR);
  FrameBuffer answers;
  for (;;) {
    const auto received = receive(socket->get(), answers, true);
    if (!received || *received == Received::kEnd) break;
    for (;;) {
      auto frame = answers.next();
      fuzz::require(static_cast<bool>(frame), "the server's frames are whole");
      if (!*frame) break;
    }
  }
  static unsigned inputs = 0;
  if (++inputs % 64 == 0) {
    msg::StatReply left = fuzz::stat();
    // It is given back piece by piece.
    for (int i = 0; i < 2000 && (left.bytes_used != 0 || left.queued != 0); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      left = fuzz::stat();
    }
    fuzz::require(left.bytes_used == 0 && left.queued == 0, "a client that has gone has left nothing");
  }
  return 0;
}
