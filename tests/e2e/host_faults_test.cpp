// A client that dies at any point of any message, and a server that does: what is freed, and which calls fail.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "runtime/base/config.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/transport/socket.hpp"
#include "tests/e2e/shared_device.hpp"

namespace softtpu::e2e {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// ---- Clients that end in the middle of a message ----

// How much of the last message goes out before the end.
enum class Cut { kNothing, kHalfHeader, kHeader, kHalf, kAll };
enum class End { kKill, kAbort, kDisconnect };

// The messages of a client, in an order in which each can be sent.
constexpr MessageType kMessages[] = {
    MessageType::kHello,        MessageType::kOpen,        MessageType::kAllocate,     MessageType::kWrite,
    MessageType::kRead,         MessageType::kFill,        MessageType::kCopy,         MessageType::kLoadModule,
    MessageType::kFindFunction, MessageType::kLaunch,      MessageType::kSync,         MessageType::kSetTimeout,
    MessageType::kStat,         MessageType::kCloseStream, MessageType::kUnloadModule, MessageType::kRelease};

// A client that goes through the messages and ends at one of them. Runs in a process of its own.
class Dying {
 public:
  Dying(UniqueFd socket, bool async_spin) : socket_(std::move(socket)), spins_(async_spin) {}

  [[noreturn]] void run(MessageType last, Cut cut, End end) {
    for (const MessageType type : kMessages) {
      make(type);
      if (type == last) break;
      static_cast<void>(send_all(socket_.get(), frame_, fds()));
      if (type != MessageType::kCloseStream && !(type == MessageType::kLaunch && spins_)) wait_for_reply();
    }
    const std::size_t sent[] = {0, kFrameHeaderBytes / 2, kFrameHeaderBytes, (kFrameHeaderBytes + frame_.size()) / 2,
                                frame_.size()};
    const std::size_t bytes = std::min(sent[static_cast<std::size_t>(cut)], frame_.size());
    if (bytes > 0) static_cast<void>(send_all(socket_.get(), std::span(frame_).first(bytes), fds()));
    if (end == End::kKill) ::kill(::getpid(), SIGKILL);
    if (end == End::kAbort) std::abort();
    socket_.reset();
    ::_exit(0);
  }

 private:
  std::span<const int> fds() const { return module_fd_ >= 0 ? std::span(&module_fd_, 1) : std::span<const int>(); }

  template <class Message>
  void set(const Message& message) {
    frame_.clear();
    append_frame(frame_, ++request_, message, module_fd_ >= 0 ? 1 : 0);
  }
  void make(MessageType type) {
    module_fd_ = -1;
    switch (type) {
      case MessageType::kHello: return set(msg::Hello{});
      case MessageType::kOpen: return set(msg::Open{0, false, {}});
      case MessageType::kAllocate: return set(msg::Allocate{1 << 20});
      case MessageType::kWrite: return set(msg::Write{address_, Bytes(1000, 7)});
      case MessageType::kRead: return set(msg::Read{address_, 100000});
      case MessageType::kFill: return set(msg::Fill{address_, 4096, {1, 2}});
      case MessageType::kCopy: return set(msg::Copy{address_, address_ + 4096, 4096, 1, 1, 1});
      case MessageType::kLoadModule:
        module_fd_ = ::open(kFaultKernels.c_str(), O_RDONLY | O_CLOEXEC);
        return set(msg::LoadModule{kFaultKernels, {}});
      case MessageType::kFindFunction: return set(msg::FindFunction{module_, "fault_nothing"});
      case MessageType::kLaunch: {
        const e2e_param_t param = {address_, 100, 5};
        Bytes args(sizeof param);
        std::memcpy(args.data(), &param, sizeof param);
        return set(msg::make_launch(1, 0, spins_ ? "fault_spin" : "fault_nothing", std::move(args), !spins_));
      }
      case MessageType::kSync: return set(msg::Sync{1});
      case MessageType::kSetTimeout: return set(msg::SetTimeout{1, 5000});
      case MessageType::kStat: return set(msg::Stat{});
      case MessageType::kCloseStream: return set(msg::CloseStream{1});
      case MessageType::kUnloadModule: return set(msg::UnloadModule{module_});
      case MessageType::kRelease: return set(msg::Release{address_});
      default: ::_exit(3);
    }
  }
  void wait_for_reply() {
    while (!in_.has_frame()) {
      auto received = receive(socket_.get(), in_, true);
      if (!received || *received == Received::kEnd) ::_exit(2);
    }
    auto frame = in_.next();
    if (!frame || !*frame || (*frame)->type == MessageType::kFailure) ::_exit(4);
    if (auto reply = find_message<msg::AllocateReply>((*frame)->payload);
        reply && (*frame)->type == MessageType::kAllocateReply)
      address_ = reply->address;
    if (auto reply = find_message<msg::LoadModuleReply>((*frame)->payload);
        reply && (*frame)->type == MessageType::kLoadModuleReply)
      module_ = reply->module;
  }

  UniqueFd socket_;
  const bool spins_;
  int module_fd_ = -1;
  Bytes frame_;
  FrameBuffer in_;
  std::uint64_t request_ = 0, address_ = 0;
  std::uint32_t module_ = 0;
};

// Starts the client and waits for its end. `connect` gives it a socket. False: it did not come to its last message.
template <class Connect>
bool die(Connect connect, MessageType last, Cut cut, End end, bool spins = false) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto socket = connect();
    if (!socket) ::_exit(1);
    Dying(*std::move(socket), spins).run(last, cut, end);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) || WEXITSTATUS(status) == 0;
}

msg::StatReply stat_of(Client& client) {
  auto reply = client.rpc().call<msg::StatReply>(msg::Stat{});
  EXPECT_TRUE(reply);
  return reply ? *reply : msg::StatReply();
}

TEST(HostFaults, AClientMayEndAtAnyPointOfAnyMessage) {
  SharedDevice device;
  Client witness(device.socket());
  ASSERT_TRUE(witness.works());
  const std::uint64_t used = stat_of(witness).bytes_used;
  const std::size_t files = device.open_files();
  const auto connect = [&] { return connect_unix(device.socket()); };
  int ends = 0;
  double slowest = 0;
  for (const MessageType type : kMessages) {
    for (const Cut cut : {Cut::kNothing, Cut::kHalfHeader, Cut::kHeader, Cut::kHalf, Cut::kAll}) {
      for (const End end : {End::kKill, End::kAbort, End::kDisconnect}) {
        ASSERT_TRUE(die(connect, type, cut, end)) << "message " << static_cast<int>(type);
        const auto start = Clock::now();
        ASSERT_TRUE(eventually(
            [&] {
              const msg::StatReply now = stat_of(witness);
              return now.clients.size() == 1 && now.bytes_used == used && now.queued == 0;
            },
            milliseconds(1000)))
            << "message " << static_cast<int>(type) << ", cut " << static_cast<int>(cut);
        slowest = std::max(slowest, milliseconds_since(start));
        ASSERT_TRUE(witness.works(++ends));
      }
    }
  }
  EXPECT_TRUE(eventually([&] { return device.open_files() == files; }))
      << device.open_files() << " files, at first " << files;
  EXPECT_EQ(stat_of(witness).core_restarts, 0U);
  std::printf("| client ends inside a message | %d ends | everything is free after at most %.1f ms |\n", ends, slowest);
}

TEST(HostFaults, ALaunchThatNeverEndsGoesWithItsClient) {
  SharedDevice device;
  Client witness(device.socket());
  const auto connect = [&] { return connect_unix(device.socket()); };
  for (const Cut cut : {Cut::kNothing, Cut::kHalf, Cut::kAll}) {
    const auto start = Clock::now();
    ASSERT_TRUE(die(connect, MessageType::kSync, cut, End::kKill, true));
    ASSERT_TRUE(witness.works());
    EXPECT_LT(milliseconds_since(start), 2000);
    const msg::StatReply now = stat_of(witness);
    EXPECT_EQ(now.clients.size(), 1U);
    std::printf("| client killed while its kernel spins | the next client's launch is through after %.0f ms |\n",
                milliseconds_since(start));
  }
}

// Images of modules that the server holds.
std::size_t held_modules(SharedDevice& device) {
  namespace fs = std::filesystem;
  std::size_t count = 0;
  for (const auto& file : fs::directory_iterator(fs::path("/proc") / std::to_string(device.server().pid()) / "fd")) {
    std::error_code gone;
    count += fs::read_symlink(file.path(), gone).string().find("softtpu-module") != std::string::npos;
  }
  return count;
}

// One module waits for a launch before it is unloaded; the client waits for neither.
TEST(HostFaults, ModulesGoWithTheClientOfALaunchThatNeverEnds) {
  SharedDevice device;
  Client witness(device.socket());
  ASSERT_TRUE(witness.works());
  ASSERT_EQ(held_modules(device), 1U);
  {
    Client client(device.socket());
    const UniqueFd module(::open(kKernels.c_str(), O_RDONLY | O_CLOEXEC));
    const int fd = module.get();
    const auto loaded = client.rpc().call<msg::LoadModuleReply>(msg::LoadModule{kKernels, {}}, std::span(&fd, 1));
    ASSERT_TRUE(loaded);
    ASSERT_TRUE(client.rpc().send(msg::make_launch(1, 0, "fault_spin", {}, false)));
    ASSERT_TRUE(client.rpc().call<msg::Done>(msg::UnloadModule{loaded->module}));
  }
  EXPECT_TRUE(witness.works());
  EXPECT_TRUE(eventually([&] { return held_modules(device) == 1; })) << held_modules(device);
  EXPECT_TRUE(witness.works());
}

TEST(HostFaults, AnEmbeddedDeviceEndsWithItsProgramAtAnyMessage) {
  const std::string mark = "host-faults-" + std::to_string(::getpid()) + ".";
  const auto settings = read_settings();
  ASSERT_TRUE(settings);
  const auto connect = [&]() -> Result<UniqueFd> {
    ::setenv("SOFTTPU_E2E_MARK", mark.c_str(), 1);
    ::setenv("SOFTTPU_DEVICE_BINARY", built("bin/softtpu-device").c_str(), 1);
    auto own = read_settings();
    if (!own) return own.error();
    return start_embedded_device(*own);
  };
  double slowest = 0;
  for (const MessageType type : kMessages) {
    for (const End end : {End::kKill, End::kDisconnect}) {
      ASSERT_TRUE(die(connect, type, Cut::kHalf, end)) << "message " << static_cast<int>(type);
      const auto start = Clock::now();
      ASSERT_TRUE(eventually([&] { return marked_processes(mark).empty(); }, milliseconds(2000)))
          << "message " << static_cast<int>(type);
      slowest = std::max(slowest, milliseconds_since(start));
    }
  }
  std::printf("| program of an embedded device ends | no process is left after at most %.0f ms |\n", slowest);
}

// ---- Clients that ask for much ----

TEST(GreedyClients, HaveALimitedNumberOfStreams) {
  SharedDevice device;
  Client client(device.socket());
  for (std::uint32_t stream = 1; stream <= 70000; ++stream)
    ASSERT_TRUE(client.rpc().send(msg::SetTimeout{stream, 1000}));
  const auto refused = client.rpc().call<msg::Done>(msg::SetTimeout{70001, 1000});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, testing::HasSubstr("this program has 65536 streams already"));
  EXPECT_TRUE(client.works());
  EXPECT_TRUE(client.rpc().call<msg::Done>(msg::Sync{0}));
}

TEST(GreedyClients, LeaveRequestsThatWaitInTheSocket) {
  SharedDevice device(Environment{{"SOFTTPU_TIMEOUT", "3"}});
  Client witness(device.socket()), client(device.socket());
  ASSERT_TRUE(client.rpc().send(msg::make_launch(1, 0, "fault_spin", {}, false)));
  // As many as the server and the socket take while the kernel spins.
  constexpr int kMost = 100000;
  std::atomic<int> taken{0};
  std::thread sender([&] {
    while (taken < kMost && client.rpc().send(msg::Sync{1})) ++taken;
  });
  for (int before = -1; taken != before && taken < kMost;) {
    before = taken;
    std::this_thread::sleep_for(milliseconds(300));
  }
  EXPECT_LT(taken, kMost);
  sender.join();
  const auto last = client.rpc().call<msg::Done>(msg::Sync{1});
  EXPECT_TRUE(last) << "the failure belongs to the first of them: " << last.error().text;
  EXPECT_TRUE(client.works());
  EXPECT_TRUE(witness.works());
}

TEST(GreedyClients, GoWithTheirLaunchesWhenNothingIsReadFromThem) {
  SharedDevice device(Environment{{"SOFTTPU_TIMEOUT", "20"}});
  Client witness(device.socket());
  const pid_t greedy = ::fork();
  if (greedy == 0) {
    Client client(device.socket());
    static_cast<void>(client.rpc().send(msg::make_launch(1, 0, "fault_spin", {}, false)));
    while (client.rpc().send(msg::Sync{1})) {
    }
    ::_exit(0);
  }
  EXPECT_TRUE(device.has_soon_queued(1));
  EXPECT_TRUE(is_soon_asleep(greedy)) << "the socket takes no more";
  ::kill(greedy, SIGKILL);
  ::waitpid(greedy, nullptr, 0);
  const auto start = Clock::now();
  EXPECT_TRUE(witness.works());
  EXPECT_LT(milliseconds_since(start), 5000);
}

// ---- A server or a core that ends ----

// Calls until one fails; how long that one took.
template <class Call>
std::thread until_failure(Call call, std::atomic<int>& failed, std::atomic<bool>& killed, std::atomic<double>& slowest,
                          Clock::time_point& at) {
  return std::thread([&, call] {
    for (int i = 0; i < 1000000; ++i) {
      if (call()) continue;
      if (killed) slowest = std::max(slowest.load(), milliseconds_since(at));
      ++failed;
      return;
    }
  });
}

TEST(HostFaults, EveryPendingCallEndsWithTheServer) {
  auto device = std::make_unique<SharedDevice>();
  Client spinning(device->socket()), working(device->socket()), copying(device->socket());
  std::atomic<int> failed{0};
  std::atomic<bool> killed{false};
  std::atomic<double> slowest{0};
  Clock::time_point at;
  std::vector<std::thread> threads;
  threads.push_back(until_failure([&] { return bool(spinning.launch("fault_spin")); }, failed, killed, slowest, at));
  threads.push_back(until_failure([&] { return bool(working.launch("fault_nothing")); }, failed, killed, slowest, at));
  threads.push_back(
      until_failure([&] { return bool(working.rpc().call<msg::Done>(msg::Sync{0})); }, failed, killed, slowest, at));
  threads.push_back(until_failure(
      [&] {
        return bool(copying.rpc().call<msg::Done>(msg::Write{copying.memory(), Bytes(4096)}));
      },
      failed, killed, slowest, at));
  threads.push_back(until_failure([&] { return bool(copying.rpc().call<msg::StatReply>(msg::Stat{})); }, failed, killed,
                                  slowest, at));
  EXPECT_TRUE(is_soon_computing(device->core()));
  EXPECT_EQ(failed, 0);
  at = Clock::now();
  killed = true;
  device->kill_server();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed, 5);
  EXPECT_LT(slowest, 1000);
  std::printf("| server killed with five calls pending | every call has failed after %.1f ms |\n", slowest.load());
  const auto start = Clock::now();
  device->restart();
  Client again(device->socket());
  EXPECT_TRUE(again.works());
  std::printf("| a new server in the killed one's place | first launch after %.0f ms |\n", milliseconds_since(start));
}

TEST(HostFaults, ACoreThatIsKilledFailsOnlyTheLaunchThatRan) {
  SharedDevice device;
  Client spinning(device.socket()), working(device.socket());
  std::thread victim([&] {
    auto done = spinning.launch("fault_spin");
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().text, testing::HasSubstr("was ended by signal 9"));
  });
  EXPECT_TRUE(is_soon_computing(device.core()));
  std::thread waiting([&] { EXPECT_TRUE(working.works()); });  // stands behind the other
  EXPECT_TRUE(device.has_soon_queued(2));
  const auto start = Clock::now();
  ::kill(device.core(), SIGKILL);
  victim.join();
  waiting.join();
  EXPECT_LT(milliseconds_since(start), 1000);
  std::printf("| core killed during a launch | reported, and the launch behind it through, after %.1f ms |\n",
              milliseconds_since(start));
}

// Steps of a network come from the client: as a message says, not as its library would make them.
TEST(OddMessages, NetworksThatNoLibraryMakesAreRefused) {
  SharedDevice device;
  Client client(device.socket());
  const auto run = [&](std::vector<msg::NetworkStep> steps, std::uint32_t parts = 1) {
    msg::Launch launch;
    launch.stream = 1;
    for (std::uint32_t core = 0; core < parts; ++core) launch.parts.push_back({core, msg::NetworkCall{"odd", steps}});
    return client.rpc().call<msg::Done>(launch);
  };
  const auto expect_refused = [](const Result<msg::Done>& outcome, const char* why) {
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().text, testing::HasSubstr(why));
  };
  EXPECT_TRUE(run({}));
  expect_refused(run(std::vector<msg::NetworkStep>(97, msg::NetworkBarrier{})), "97 steps (limit 96)");
  msg::NetworkGroup group;
  group.tiu = {1, std::uint64_t{1} << 60};
  expect_refused(run({group}), "kernel \"network odd\" on core 0");
  expect_refused(run({group}), "lie outside the device's memory");
  group.tiu = {};
  group.keeps.resize(96);
  expect_refused(run({group}), "97 steps (limit 96)");
  expect_refused(run({msg::NetworkCopy{1, 2, 3}}), "kernel \"network odd\" on core 0");
  expect_refused(run({}, 0), "one part at least");
  msg::Launch mixed = msg::make_launch(1, 0, "fault_nothing", Bytes(64));
  mixed.parts.push_back({0, msg::NetworkCall{"odd", {}}});
  expect_refused(client.rpc().call<msg::Done>(mixed), "asks for 2 workitems");
  EXPECT_TRUE(client.works());
}

}  // namespace
}  // namespace softtpu::e2e
