// Clients that ask for more than their share, and modules that do not come to an end: the others notice nothing.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "runtime/base/memory_ops.hpp"
#include "runtime/transport/socket.hpp"
#include "tests/e2e/shared_device.hpp"

namespace softtpu::e2e {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMiB = 1 << 20;

// A connection that sends as it likes and takes answers when it likes.
class RawClient {
 public:
  explicit RawClient(const SharedDevice& device) : rpc_(*connect_unix(device.socket())) {
    EXPECT_TRUE(rpc_.call<msg::HelloReply>(msg::Hello{}));
    EXPECT_TRUE(rpc_.call<msg::OpenReply>(msg::Open{0, false, {}}));
  }
  RpcClient& rpc() { return rpc_; }
  std::uint64_t allocate(std::uint64_t bytes) {
    auto reply = rpc_.call<msg::AllocateReply>(msg::Allocate{bytes});
    EXPECT_TRUE(reply) << reply.error().text;
    return reply ? reply->address : 0;
  }
  template <class Message>
  void add(const Message& message) {
    append_frame(burst_, ++request_, message);
  }
  void send() {
    EXPECT_TRUE(send_all(rpc_.socket(), burst_));
    burst_.clear();
  }
  // As much as the server takes while its answers are not read.
  void send_deaf() {
    for (std::size_t sent = 0; sent < burst_.size();) {
      pollfd wait{rpc_.socket(), POLLOUT, 0};
      if (::poll(&wait, 1, 500) <= 0) break;
      const auto taken = send_some(rpc_.socket(), std::span(burst_).subspan(sent));
      if (!taken) break;
      sent += *taken;
    }
    burst_.clear();
  }
  // The next answer, whatever it is.
  RpcReply receive_next() {
    while (!in_.has_frame()) {
      auto got = receive(rpc_.socket(), in_, true);
      if (!got || *got == Received::kEnd) return {};
    }
    auto frame = in_.next();
    return {(*frame)->type, Bytes((*frame)->payload.begin(), (*frame)->payload.end()), {}};
  }
  std::uint64_t last_request() const { return request_; }

 private:
  RpcClient rpc_;
  Bytes burst_;
  FrameBuffer in_;
  std::uint64_t request_ = 1000000;
};

std::uint64_t private_kib(pid_t process) {
  const std::string status = read_text("/proc/" + std::to_string(process) + "/status");
  const std::size_t at = status.find("RssAnon:");
  return at == std::string::npos ? 0 : std::stoull(status.substr(at + 8));
}

Result<msg::LoadModuleReply> load(RpcClient& rpc, const std::string& module) {
  const UniqueFd file(::open(module.c_str(), O_RDONLY | O_CLOEXEC));
  const int fd = file.get();
  return rpc.call<msg::LoadModuleReply>(msg::LoadModule{module, {}}, std::span(&fd, 1));
}

// A launch of the witness beside what the other one has asked for. The limit is far above what a busy machine needs,
// and far below what the work takes.
void expect_served(Client& witness, const char* beside) {
  const auto start = Clock::now();
  EXPECT_TRUE(witness.works());
  EXPECT_LT(milliseconds_since(start), 1500) << beside;
  std::printf("| %s | a launch beside it is through after %.1f ms |\n", beside, milliseconds_since(start));
}

TEST(GreedyClients, ABurstOfLongCopiesKeepsNobodyWaiting) {
  SharedDevice device;
  Client witness(device.socket());
  RawClient client(device);
  constexpr std::uint64_t kCount = 1 << 28;
  const std::uint64_t to = client.allocate(kCount), from = client.allocate(2 * kCount);
  for (int i = 0; i < 20; ++i) client.add(msg::Copy{to, from, kCount, 1, 1, 2});
  client.send();
  EXPECT_TRUE(is_soon_computing(device.server().processes("softtpu-device").front()));
  for (int i = 0; i < 3; ++i) expect_served(witness, "20 strided copies of 2^28 elements");
}

// A client of short launches is given many ahead, one that rests in between only one or two: these come in
// nevertheless.
TEST(GreedyClients, AStreamOfShortLaunchesLeavesRoomForOthers) {
  SharedDevice device;
  Client witness(device.socket());
  RawClient client(device);
  ASSERT_TRUE(load(client.rpc(), kKernels));
  constexpr int kLaunches = 20000;
  for (int i = 0; i < kLaunches; ++i) client.add(msg::make_launch(1, 0, "e2e_nothing", Bytes(64), false));
  client.add(msg::Sync{1});
  std::atomic<bool> through = false;
  std::thread sender([&] { client.send(); });
  std::thread taker([&] {
    client.receive_next();
    through = true;
  });
  EXPECT_TRUE(device.has_soon_queued(1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(witness.works());
    EXPECT_FALSE(through) << "launch " << i << " of the witness stood behind all others";
  }
  sender.join();
  taker.join();
}

TEST(GreedyClients, AMillionSmallRequestsKeepNobodyWaiting) {
  SharedDevice device;
  Client witness(device.socket());
  RawClient client(device);
  for (int i = 0; i < 54000; ++i) client.add(msg::Allocate{1});
  std::thread sender([&] { client.send(); });
  std::thread taker([&] {
    for (int i = 0; i < 54000; ++i) client.receive_next();
  });
  for (int i = 0; i < 3; ++i) expect_served(witness, "54,000 allocations of a byte");
  sender.join();
  taker.join();
}

TEST(GreedyClients, AnswersAreNotMadeBeforeSomebodyTakesThem) {
  SharedDevice device;
  Client witness(device.socket());
  RawClient client(device);
  const std::uint64_t from = client.allocate(16 * kMiB);
  const std::uint64_t before = private_kib(device.server().pid());
  for (int i = 0; i < 1500; ++i) client.add(msg::Read{from, 16 * kMiB});
  client.send_deaf();
  expect_served(witness, "1500 reads of 16 MiB");
  const std::uint64_t after = private_kib(device.server().pid());
  EXPECT_LT(after, before + 64 * 1024);
  std::printf("| 1500 reads of 16 MiB | the server has taken %llu KiB |\n",
              static_cast<unsigned long long>(after - std::min(before, after)));
}

TEST(GreedyClients, ALongMessageTakesNoMemoryOfTheServer) {
  SharedDevice device;
  Client witness(device.socket());
  const std::uint64_t before = private_kib(device.server().pid());
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<RawClient>(device));
    Bytes bytes;
    append_frame(bytes, 7, msg::Write{clients.back()->allocate(60 * kMiB), Bytes(60 * kMiB)});
    bytes.pop_back();
    EXPECT_TRUE(send_all(clients.back()->rpc().socket(), bytes));
  }
  expect_served(witness, "10 unfinished messages of 60 MiB");
  EXPECT_LT(private_kib(device.server().pid()), before + 64 * 1024);
}

// In pieces, and between other answers, all bytes are as in one go.
TEST(GreedyClients, WorkInPiecesGivesTheSameBytes) {
  SharedDevice device;
  RawClient client(device);
  constexpr std::size_t kBytes = 5 * kMiB + 4321;
  const std::uint64_t at = client.allocate(kBytes);
  std::mt19937 random(19);
  Bytes expected(kBytes);
  for (auto& byte : expected) byte = static_cast<std::uint8_t>(random());
  const auto check = [&](const char* what) {
    auto reply = client.rpc().call<msg::ReadReply>(msg::Read{at, kBytes});
    ASSERT_TRUE(reply);
    EXPECT_TRUE(reply->data == expected) << what;
  };
  ASSERT_TRUE(client.rpc().call<msg::Done>(msg::Write{at, expected}));
  check("a write");
  for (const auto& [to, from] : {std::pair(0, 1), std::pair(1, 0), std::pair(70000, 3), std::pair(5, 200000)}) {
    const std::size_t bytes = 4 * kMiB + 99;
    ASSERT_TRUE(client.rpc().call<msg::Done>(
        msg::Copy{at + static_cast<std::uint64_t>(to), at + static_cast<std::uint64_t>(from), bytes, 1, 1, 1}));
    std::memmove(expected.data() + to, expected.data() + from, bytes);
    check("a copy onto itself");
  }
  for (const auto& [element, to, from] : {std::tuple(1, 3, 2), std::tuple(4, 1, 5), std::tuple(2, 1500, 1)}) {
    const std::uint64_t half = kBytes / 2 / 4 * 4;
    const std::uint64_t count = half / static_cast<std::uint64_t>(element * std::max(to, from));
    const auto stride = [](int value) { return static_cast<std::uint32_t>(value); };
    ASSERT_TRUE(
        client.rpc().call<msg::Done>(msg::Copy{at, at + half, count, stride(element), stride(to), stride(from)}));
    copy_elements(expected.data(), expected.data() + half, count, stride(element), stride(to), stride(from));
    check("a strided copy");
  }
  const Bytes pattern = {1, 2, 3};
  ASSERT_TRUE(client.rpc().call<msg::Done>(msg::Fill{at + 1, 3 * 1000003, pattern}));
  fill_bytes(expected.data() + 1, 3 * 1000003, pattern);
  check("a fill");
  // A refused write is read to its end, and what follows is understood.
  EXPECT_FALSE(client.rpc().call<msg::Done>(msg::Write{at + 4096, Bytes(kBytes)}));
  check("a write that is refused");
}

TEST(GreedyClients, AnswersComeWholeBetweenThePiecesOfALongOne) {
  SharedDevice device;
  Client launching(device.socket());
  auto& rpc = launching.rpc();
  const auto at = rpc.call<msg::AllocateReply>(msg::Allocate{16 * kMiB});
  ASSERT_TRUE(at);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 20; ++n) {
        if (i == 0) {
          const auto reply = rpc.call<msg::ReadReply>(msg::Read{at->address, 16 * kMiB});
          EXPECT_TRUE(reply && reply->data.size() == 16 * kMiB);
        } else {
          EXPECT_TRUE(launching.launch("fault_nothing", n, 0, static_cast<std::uint32_t>(i)));
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(GreedyClients, HaveAShareOfEverything) {
  SharedDevice device(Environment{}, {"--client-memory", "1000000", "--client-modules", "2", "--client-connections",
                                      "3", "--client-descriptors", "4"});
  RawClient client(device);
  const std::uint64_t held = client.allocate(999000);
  const auto more = client.rpc().call<msg::AllocateReply>(msg::Allocate{4096});
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().text, HasSubstr("(SOFTTPU_CLIENT_MEMORY)"));
  EXPECT_TRUE(client.rpc().call<msg::Done>(msg::Release{held}));
  client.allocate(999000);

  const auto first = load(client.rpc(), kKernels);
  ASSERT_TRUE(first);
  ASSERT_TRUE(load(client.rpc(), kKernels));
  const auto third = load(client.rpc(), kKernels);
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().text, HasSubstr("this program has 2 modules already (its share: SOFTTPU_CLIENT_MODULES)"));
  EXPECT_TRUE(client.rpc().call<msg::Done>(msg::UnloadModule{first->module}));
  EXPECT_TRUE(eventually([&] { return bool(load(client.rpc(), kKernels)); }));

  // Three descriptors are taken; a connection takes the last one.
  RawClient second(device);
  const auto refused = connect_unix(device.socket());
  ASSERT_TRUE(refused);
  RpcClient rpc(UniqueFd::duplicate(refused->get()));
  EXPECT_FALSE(rpc.call<msg::HelloReply>(msg::Hello{}));
  EXPECT_THAT(device.server().output(), HasSubstr("SOFTTPU_CLIENT_DESCRIPTORS"));
  // Another program has its own share.
  Program program({kHost, "use", kKernels}, device.environment());
  EXPECT_EQ(program.wait(), 0) << program.output();
}

TEST(GreedyClients, HaveAShareOfConnections) {
  SharedDevice device(Environment{}, {"--client-connections", "2"});
  RawClient first(device);
  {
    RawClient second(device);
    RpcClient third(*connect_unix(device.socket()));
    EXPECT_FALSE(third.call<msg::HelloReply>(msg::Hello{}));
    // Its log and its answer come by different ways.
    EXPECT_TRUE(device.server().wait_for_output("this program has 2 connections already")) << device.server().output();
  }
  EXPECT_TRUE(eventually([&] {
    RpcClient again(*connect_unix(device.socket()));
    return bool(again.call<msg::HelloReply>(msg::Hello{}));
  }));
}

// The pages of a large module go in one call, which takes milliseconds: neither the server nor the core makes it.
TEST(GreedyClients, ALargeModuleIsClosedByAProcessOfItsOwn) {
  SharedDevice device;
  Client witness(device.socket());
  RawClient client(device);
  const auto closers = [&] { return device.server().processes("softtpu-closer").size(); };
  const auto large = std::filesystem::temp_directory_path() / fmt::format("softtpu-large-{}.so", ::getpid());
  std::filesystem::copy_file(kKernels, large, std::filesystem::copy_options::overwrite_existing);
  {
    std::ofstream file(large, std::ios::app);
    file << std::string(12 * kMiB, 'x');
  }
  for (const std::string& module : {kKernels, large.string(), large.string()}) {
    const auto loaded = load(client.rpc(), module);
    ASSERT_TRUE(loaded) << loaded.error().text;
    EXPECT_TRUE(client.rpc().call<msg::Done>(msg::UnloadModule{loaded->module}));
    EXPECT_TRUE(witness.works());
    if (module == kKernels) {
      EXPECT_EQ(closers(), 0U);
    } else {
      EXPECT_TRUE(eventually([&] { return closers() == 1; }));
    }
  }
  std::filesystem::remove(large);
  const auto open = device.open_files();
  // It is ended from outside: the server closes, or starts another one.
  for (const pid_t closer : device.server().processes("softtpu-closer")) ::kill(closer, SIGKILL);
  EXPECT_TRUE(witness.works());
  EXPECT_LE(device.open_files(), open);
}

TEST(GreedyClients, CannotSetALongerTimeLimitThanTheServers) {
  SharedDevice device(Environment{{"SOFTTPU_TIMEOUT", "1"}});
  for (const std::uint32_t asked : {0U, 3600000U}) {
    Client client(device.socket());
    ASSERT_TRUE(client.rpc().call<msg::Done>(msg::SetTimeout{1, asked}));
    const auto start = Clock::now();
    const auto done = client.launch("fault_spin");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::kTimeout);
    EXPECT_LT(milliseconds_since(start), 10000);
  }
}

// ---- Modules that do not come to an end ----

TEST(HangingModules, AConstructorHasTheLimitOfALaunch) {
  SharedDevice device(Environment{{"SOFTTPU_TIMEOUT", "1"}});
  Client witness(device.socket());
  RawClient client(device);
  const auto start = Clock::now();
  const auto loaded = load(client.rpc(), kHangsLoading);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::kTimeout);
  EXPECT_THAT(loaded.error().text, HasSubstr("loading kernel module"));
  EXPECT_THAT(loaded.error().text, HasSubstr("issued no command for 1 s"));
  std::printf("| a constructor that never returns | reported after %.0f ms |\n", milliseconds_since(start));
  EXPECT_TRUE(witness.works());
  EXPECT_TRUE(load(client.rpc(), kKernels));
}

TEST(HangingModules, ADestructorHasTheLimitOfALaunch) {
  SharedDevice device(Environment{{"SOFTTPU_TIMEOUT", "1"}});
  Client witness(device.socket());
  RawClient client(device);
  const auto loaded = load(client.rpc(), kHangsUnloading);
  ASSERT_TRUE(loaded);
  const auto start = Clock::now();
  ASSERT_TRUE(client.rpc().call<msg::Done>(msg::UnloadModule{loaded->module}));
  EXPECT_TRUE(witness.works());
  EXPECT_LT(milliseconds_since(start), 10000);
  std::printf("| a destructor that never returns | the next client's launch is through after %.0f ms |\n",
              milliseconds_since(start));
  EXPECT_THAT(device.server().output(), HasSubstr("unloading kernel module"));
}

TEST(HangingModules, ALoadWhoseCoreIsLostFailsAndCanBeRepeated) {
  SharedDevice device(Environment{{"SOFTTPU_TIMEOUT", "60"}});
  Client witness(device.socket());
  RawClient client(device);
  const pid_t core = device.core();
  std::thread killer([core] {
    EXPECT_TRUE(is_soon_computing(core));
    ::kill(core, SIGKILL);
  });
  const auto lost = load(client.rpc(), kHangsLoading);
  killer.join();
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().text, HasSubstr("loading kernel module"));
  EXPECT_THAT(lost.error().text, HasSubstr("signal 9"));
  EXPECT_TRUE(load(client.rpc(), kKernels));
  EXPECT_TRUE(witness.works());
}

TEST(HangingModules, GoWithTheirClient) {
  SharedDevice device(Environment{{"SOFTTPU_TIMEOUT", "60"}});
  Client witness(device.socket());
  for (const std::string& module : {kHangsLoading, kHangsUnloading}) {
    auto client = std::make_unique<RawClient>(device);
    if (module == kHangsUnloading) {
      ASSERT_TRUE(load(client->rpc(), module));
    } else {
      const UniqueFd file(::open(module.c_str(), O_RDONLY | O_CLOEXEC));
      Bytes bytes;
      append_frame(bytes, 5, msg::LoadModule{module, {}}, 1);
      const int fd = file.get();
      ASSERT_TRUE(send_all(client->rpc().socket(), bytes, std::span(&fd, 1)));
      EXPECT_TRUE(is_soon_computing(device.core()));
    }
    const auto start = Clock::now();
    client.reset();
    EXPECT_TRUE(witness.works());
    EXPECT_LT(milliseconds_since(start), 10000);
    std::printf("| a module that hangs goes with its client | the next client's launch is through after %.0f ms |\n",
                milliseconds_since(start));
  }
}

TEST(Recovery, AnIdleCoreThatIsStoppedGoesOnWhenItIsWanted) {
  SharedDevice device;
  Client client(device.socket());
  ASSERT_TRUE(client.works());
  ::kill(device.core(), SIGSTOP);
  const auto start = Clock::now();
  EXPECT_TRUE(client.works(5));
  EXPECT_LT(milliseconds_since(start), 10000);
  print_recovery(start);
  EXPECT_THAT(device.server().output(), HasSubstr("was stopped while it had nothing to do"));
}

// A new supervisor has the server's handlers until it has set its own.
TEST(Recovery, ASignalAtASupervisorThatStartsDoesNotEndTheServer) {
  SharedDevice device(Environment{{"SOFTTPU_CHIP", "bm1690"}});
  Client client(device.socket());
  ASSERT_TRUE(client.works());
  const std::string children = fmt::format("/proc/{0}/task/{0}/children", device.server().pid());
  int signals = 0;
  const auto start = Clock::now();
  while (milliseconds_since(start) < 1500) {
    for (const pid_t core : device.server().processes("softtpu-core0")) ::kill(core, SIGKILL);
    const auto killed = Clock::now();
    while (milliseconds_since(killed) < 100) {
      std::ifstream file(children);
      for (pid_t child = 0; file >> child; ++signals) ::kill(child, SIGTERM);
    }
  }
  EXPECT_GT(signals, 100);
  EXPECT_TRUE(eventually([&] { return client.works(1); })) << device.server().output();
}

}  // namespace
}  // namespace softtpu::e2e
