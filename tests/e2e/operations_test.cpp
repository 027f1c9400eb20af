// Running a device: what it says about itself, how it ends, and what happens when the system has no more of something.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "runtime/transport/socket.hpp"
#include "tests/e2e/shared_device.hpp"

namespace softtpu::e2e {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

fs::path temporary(const std::string& name) {
  return fs::temp_directory_path() / ("softtpu-" + name + "-" + std::to_string(::getpid()));
}

// A limit of this process while a program is started with it.
class Limit {
 public:
  Limit(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    ::getrlimit(resource, &former_);
    const rlimit lower{value, former_.rlim_max};
    ::setrlimit(resource, &lower);
  }
  ~Limit() { ::setrlimit(resource_, &former_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  __rlimit_resource resource_;
  rlimit former_{};
};

// ---- What it says ----

TEST(Operations, InfoShowsFaults) {
  SharedDevice device;
  Client client(device.socket());
  EXPECT_FALSE(client.launch("fault_segv"));
  EXPECT_FALSE(client.launch("no_such_kernel"));
  Program info({kSofttpu, "info"}, device.environment());
  EXPECT_EQ(info.wait(), 0);
  EXPECT_THAT(info.output(), HasSubstr("core restarted 1 times"));
  EXPECT_THAT(info.output(), ContainsRegex("[0-9]+ s ago: kernel \"fault_segv\" on core 0 was ended by signal 11"));
}

TEST(Operations, TheLogGoesToAFile) {
  const fs::path log = temporary("log");
  {
    SharedDevice device(Environment{{"SOFTTPU_LOG_FILE", log}, {"SOFTTPU_LOG", "debug"}});
    Client client(device.socket());
    EXPECT_FALSE(client.launch("fault_segv"));
  }
  EXPECT_THAT(read_text(log), ContainsRegex("T[0-9:.]+ softtpu\\[[0-9]+\\] warning: kernel \"fault_segv\""));
  fs::remove(log);
}

TEST(Operations, AClientOfAnotherVersionIsNamedInTheLog) {
  const fs::path log = temporary("log");
  {
    SharedDevice device(Environment{{"SOFTTPU_LOG_FILE", log}});
    RpcClient old(*connect_unix(device.socket()));
    EXPECT_TRUE(old.call<msg::HelloReply>(msg::Hello{kHelloMagic, kProtocolVersion + 1}));
    EXPECT_FALSE(old.call<msg::OpenReply>(msg::Open{}));
  }
  EXPECT_THAT(read_text(log),
              ContainsRegex("process [0-9]+ speaks version [0-9]+ of the protocol, this device version"));
  fs::remove(log);
}

// ---- How it ends ----

TEST(Operations, AServerThatEndsWaitsForRunningLaunches) {
  SharedDevice device;
  Client client(device.socket());
  std::thread launch([&] { EXPECT_TRUE(client.launch("fault_busy", 1)); });
  EXPECT_TRUE(device.has_soon_queued(1));
  device.server().kill(SIGTERM);
  launch.join();
  EXPECT_EQ(device.server().wait(seconds(2)), 0);
}

TEST(Operations, AServerThatEndsCancelsWhatTakesTooLong) {
  SharedDevice device(Environment{{"SOFTTPU_DRAIN", "1"}});
  Client client(device.socket()), late(device.socket());
  std::thread launch([&] { EXPECT_FALSE(client.launch("fault_spin")); });
  EXPECT_TRUE(is_soon_computing(device.core()));
  const auto start = Clock::now();
  device.server().kill(SIGTERM);
  std::this_thread::sleep_for(milliseconds(200));
  auto refused = late.launch("fault_nothing");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("is about to end"));
  launch.join();
  EXPECT_EQ(device.server().wait(seconds(2)), 0);
  EXPECT_THAT(device.server().output(), HasSubstr("1 launches are cancelled"));
  EXPECT_LT(milliseconds_since(start), 2500);
}

TEST(Operations, ASecondSignalEndsAServerAtOnce) {
  SharedDevice device;
  Client client(device.socket());
  std::thread launch([&] { EXPECT_FALSE(client.launch("fault_spin")); });
  EXPECT_TRUE(is_soon_computing(device.core()));
  const auto start = Clock::now();
  device.server().kill(SIGTERM);
  std::this_thread::sleep_for(milliseconds(100));
  device.server().kill(SIGTERM);
  launch.join();
  EXPECT_EQ(device.server().wait(seconds(2)), 0);
  EXPECT_LT(milliseconds_since(start), 2000);
}

// ---- Limits of launches and fresh memory ----

TEST(Operations, ALaunchThatIssuesCommandsForEverIsEndedByTheLaunchLimit) {
  SharedDevice device(Environment{{"SOFTTPU_LAUNCH_LIMIT", "1"}});
  Client client(device.socket());
  double first_ms = 0;
  const auto done = client.crash("fault_busy", 1000, 0, &first_ms);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kTimeout);
  EXPECT_THAT(done.error().text, HasSubstr("ran for 1 s (limit: SOFTTPU_LAUNCH_LIMIT"));
  EXPECT_THAT(done.error().text, HasSubstr("tpu_poll"));
  EXPECT_LT(first_ms, 2500);
  EXPECT_TRUE(client.works());
  std::printf("| endless loop with commands | reported %.0f ms after its start (limit 1 s) |\n", first_ms);
}

TEST(Operations, AKernelThatIssuesCommandsMayRunLongerThanTheTimeWithoutOne) {
  SharedDevice device(Environment{{"SOFTTPU_TIMEOUT", "1"}});
  Client client(device.socket());
  EXPECT_TRUE(client.launch("fault_busy", 3));
}

TEST(Operations, FreshMemoryIsZeroOrPoisoned) {
  for (const char* fresh : {"zero", "poison"}) {
    SharedDevice device(Environment{{"SOFTTPU_FRESH", fresh}});
    Client client(device.socket());
    const int expected = std::string(fresh) == "zero" ? 0 : static_cast<int>(0xA5A5A5A5);
    EXPECT_THAT(client.words(), testing::Each(expected)) << fresh;
  }
}

// ---- softtpu dump ----

std::string dump(const SharedDevice& device, std::vector<std::string> options, int status = 0) {
  options.insert(options.begin(), {kSofttpu, "dump"});
  Program program(options, device.environment());
  EXPECT_EQ(program.wait(), status) << program.output();
  return program.output();
}

TEST(Dump, ShowsWhatACrashedKernelLeftAndWhatIsThereNow) {
  SharedDevice device;
  Client client(device.socket());
  EXPECT_THAT(dump(device, {"--ended"}, 2), HasSubstr("no kernel has ended its core yet"));
  ASSERT_TRUE(client.works(5));  // local memory of NPU 0: 5, 6, 7, ...
  EXPECT_FALSE(client.launch("fault_segv"));
  EXPECT_THAT(dump(device, {"--ended", "--bytes", "16"}),
              HasSubstr("00000000  05 00 00 00 06 00 00 00 07 00 00 00 08 00 00 00"));
  EXPECT_THAT(dump(device, {"--bytes", "16"}), HasSubstr("00000000  00 00 00 00 00 00 00 00 00 00"))
      << "the next launch starts clean";
  EXPECT_EQ(dump(device, {"--ended", "--shape", "1,1,2,3", "--dtype", "int32"}), "[0,0,0] 5 6 7\n[0,0,1] 8 9 10\n");
  ASSERT_TRUE(client.works(90));
  EXPECT_THAT(dump(device, {"--ended", "--bytes", "4"}), HasSubstr("05 00 00 00")) << "kept while others run";
}

// The device of a program ends with it; the folder stays.
TEST(Dump, KeepsWhatACrashedKernelOfAnEndedDeviceLeft) {
  const fs::path folder = temporary("crash");
  fs::create_directory(folder);
  const auto show = [&](int status) {
    Program shown({kSofttpu, "dump", "--from", folder, "--shape", "1,1,2,3", "--dtype", "int32"});
    EXPECT_EQ(shown.wait(), status) << shown.output();
    return shown.output();
  };
  {
    SharedDevice device(Environment{{"SOFTTPU_DUMP", folder}});
    Client client(device.socket());
    EXPECT_THAT(show(2), HasSubstr("no kernel of device 0 has crashed"));
    ASSERT_TRUE(client.works(5));
    EXPECT_FALSE(client.launch("fault_segv"));
    ASSERT_TRUE(client.works(90));
  }
  EXPECT_EQ(show(0), "[0,0,0] 5 6 7\n[0,0,1] 8 9 10\n");
  fs::remove_all(folder);
  fs::create_directory(folder);
  Program program({kSofttpu, "run", "--dump", folder, "--", kHost, "exit_in_kernel", kKernels});
  EXPECT_EQ(program.wait(), 121) << program.output();
  EXPECT_TRUE(program.leaves_nothing());
  EXPECT_THAT(show(0), HasSubstr("[0,0,0] "));
  fs::remove_all(folder);
}

TEST(Dump, MakesItsFolder) {
  const fs::path folder = temporary("made") / "with" / "crash";
  Program program({kSofttpu, "run", "--dump", folder, "--", kHost, "exit_in_kernel", kKernels});
  EXPECT_EQ(program.wait(), 121) << program.output();
  struct stat status {};
  ASSERT_EQ(::stat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U) << "what a kernel leaves is its user's data";
  Program shown({kSofttpu, "dump", "--from", folder, "--bytes", "4"});
  EXPECT_EQ(shown.wait(), 0) << shown.output();
  fs::remove_all(temporary("made"));
}

TEST(Dump, SaysThatItsFolderCannotBeMade) {
  Program missing({kSofttpu, "serve", "--socket", temporary("dump"), "--dump", "/dev/null/folder"});
  EXPECT_EQ(missing.wait(), 1);
  EXPECT_THAT(missing.output(), HasSubstr("SOFTTPU_DUMP: \"/dev/null/folder\": Not a directory"));
  Program shown({kSofttpu, "dump", "--from", "/no/such/folder"});
  EXPECT_EQ(shown.wait(), 2);
  EXPECT_THAT(shown.output(), HasSubstr("--from \"/no/such/folder\": No such file or directory"));
}

TEST(Dump, WritesNumPyFiles) {
  SharedDevice device;
  Client client(device.socket());
  ASSERT_TRUE(client.works(7));
  const fs::path file = temporary("dump.npy");
  dump(device, {"--space", "global", "--address", std::to_string(client.memory()), "--shape", "1,2,1,3", "--dtype",
                "int32", "-o", file});
  const std::string text = read_text(file);
  ASSERT_EQ(text.size(), 64U + 64U + 24U);
  EXPECT_THAT(text.substr(0, 8), testing::Eq(std::string("\x93NUMPY\x01\0", 8)));
  EXPECT_THAT(text, HasSubstr("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2, 1, 3, ), }"));
  EXPECT_EQ(text.substr(128, 8), std::string("\x07\0\0\0\x08\0\0\0", 8));
  fs::remove(file);
}

TEST(Dump, RefusesWhatIsNotThere) {
  SharedDevice device;
  EXPECT_THAT(dump(device, {"--core", "1"}, 2), HasSubstr("--core 1 does not exist"));
  EXPECT_THAT(dump(device, {"--device", "7"}, 2), HasSubstr("has no device 7"));
  EXPECT_THAT(dump(device, {"--space", "heap"}, 2),
              HasSubstr("--space \"heap\" is not one of local, global, l2, static"));
  EXPECT_THAT(dump(device, {"--address", "0xFFFFFFFF"}, 2), HasSubstr("is outside local memory"));
  EXPECT_THAT(dump(device, {"--bytes", "0"}, 2), HasSubstr("--bytes 0 is outside 1.."));
  EXPECT_THAT(dump(device, {"--shape", "1,1,1"}, 2), HasSubstr("is not 4 whole numbers"));
  EXPECT_THAT(dump(device, {"-o", "/dev/full"}, 3), HasSubstr("No space left on device"));
  EXPECT_THAT(dump(device, {"--pid", "1"}, 2), HasSubstr("process 1 has no device 0"));
}

TEST(Dump, FindsTheEmbeddedDeviceOfAProgram) {
  Program program({kHost, "hold", kKernels});
  ASSERT_TRUE(program.wait_for_output("holding")) << program.output();
  Program shown({kSofttpu, "dump", "--pid", std::to_string(program.pid()), "--space", "static", "--bytes", "16"});
  EXPECT_EQ(shown.wait(), 0) << shown.output();
  EXPECT_THAT(shown.output(), HasSubstr("00000000  "));
}

// ---- When there is no more ----

// Starts a server under the limit; it must say so and end, or work.
TEST(Exhausted, NoFilesMayGrow) {
  // Shared memories are files: none can be made.
  const Limit limit(RLIMIT_FSIZE, 1 << 20);
  Program server({kSofttpu, "serve", "--socket", temporary("fsize")});
  EXPECT_EQ(server.wait(), 1);
  EXPECT_THAT(server.output(), ContainsRegex("global memory: ftruncate of .* fails: File too large"));
}

TEST(Exhausted, NoAddressSpace) {
  if (kSanitized) GTEST_SKIP();
  const Limit limit(RLIMIT_AS, 512 << 20);
  Program server({kSofttpu, "serve", "--socket", temporary("as")});
  EXPECT_EQ(server.wait(), 1);
  EXPECT_THAT(server.output(), ContainsRegex("mmap of .* fails: Cannot allocate memory"));
}

TEST(Exhausted, LongMessagesNeedNoMemoryOfTheDevice) {
  if (kSanitized) GTEST_SKIP();
  const Limit limit(RLIMIT_AS, 2048ULL << 20);
  SharedDevice device(Environment{{"CMODEL_GLOBAL_MEM_SIZE", std::to_string(1ULL << 30)}});
  Client witness(device.socket());
  // Each of the clients has a large message on its way; together they are more than there is memory.
  std::vector<UniqueFd> sockets;
  for (int i = 0; i < 40; ++i) {
    auto socket = connect_unix(device.socket());
    ASSERT_TRUE(socket);
    Bytes bytes;
    append_frame(bytes, 1, msg::Hello{});
    append_frame(bytes, 2, msg::Open{});
    append_frame(bytes, 3, msg::Write{0, Bytes(60 << 20)});  // to an address that it does not have
    bytes.resize(bytes.size() - 1);
    static_cast<void>(send_all(socket->get(), bytes));
    sockets.push_back(std::move(*socket));
  }
  const auto full = std::chrono::steady_clock::now();
  EXPECT_TRUE(witness.works());
  print_recovery(full);
  sockets.clear();
  EXPECT_TRUE(witness.works(7));
  EXPECT_THAT(device.server().output(), Not(HasSubstr("there is no memory")));
}

TEST(Exhausted, NoDescriptors) {
  std::unique_ptr<SharedDevice> device;
  {
    const Limit limit(RLIMIT_NOFILE, 48);
    device = std::make_unique<SharedDevice>();
  }
  Client witness(device->socket());
  std::vector<UniqueFd> sockets;
  for (int i = 0; i < 64; ++i) {
    if (auto socket = connect_unix(device->socket())) sockets.push_back(std::move(*socket));
  }
  // A client without a descriptor for its module gets an error; a core that dies now may not come back at once.
  EXPECT_TRUE(eventually([&] { return device->server().output().find("Too many open files") != std::string::npos; }));
  EXPECT_TRUE(witness.works());
  EXPECT_FALSE(witness.launch("fault_segv"));
  auto meanwhile = witness.launch("fault_nothing");
  if (!meanwhile) {
    EXPECT_THAT(meanwhile.error().text,
                testing::AnyOf(HasSubstr("Too many open files"), HasSubstr("there was no descriptor for its file")));
  }
  sockets.clear();
  const auto free_again = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually([&] { return bool(witness.launch("fault_nothing")); }));
  print_recovery(free_again);
  EXPECT_TRUE(witness.works());
  Client another(device->socket());
  EXPECT_TRUE(another.works());
}

// Child processes, also those that have ended and that the process has not waited for.
int children_of(pid_t parent) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::istringstream stat(read_text(entry.path() / "stat"));
    std::string number, name, state;
    pid_t above = 0;
    stat >> number >> name >> state >> above;
    count += above == parent;
  }
  return count;
}

// There are descriptors for a new core's socket and for the channel to its supervisor, and none for the supervisor's
// end.
TEST(Exhausted, NoDescriptorForACoresProcess) {
  SharedDevice device;
  Client witness(device.socket());
  const pid_t server = device.server().pid();
  const fs::path files = fs::path("/proc") / std::to_string(server) / "fd";
  const auto is_open = [&](rlim_t fd) { return fs::is_symlink(fs::symlink_status(files / std::to_string(fd))); };
  // Connections take the numbers that are free among those in use.
  std::vector<UniqueFd> sockets;
  for (int i = 0; i < 4; ++i) {
    auto socket = connect_unix(device.socket());
    ASSERT_TRUE(socket);
    sockets.push_back(std::move(*socket));
    EXPECT_TRUE(witness.works());
  }
  rlimit before{}, tight{};
  ASSERT_EQ(::prlimit(server, RLIMIT_NOFILE, nullptr, &before), 0);
  tight = before;
  for (tight.rlim_cur = 0; is_open(tight.rlim_cur);) ++tight.rlim_cur;
  ++tight.rlim_cur;  // with the three of the core that ends: four
  ASSERT_EQ(::prlimit(server, RLIMIT_NOFILE, &tight, nullptr), 0);
  ::kill(device.core(), SIGKILL);
  EXPECT_TRUE(device.server().wait_for_output("cannot be started again: pidfd_open: Too many open files"))
      << device.server().output();
  EXPECT_EQ(children_of(server), 0);
  ASSERT_EQ(::prlimit(server, RLIMIT_NOFILE, &before, nullptr), 0);
  // A program that comes now loads its module before it launches anything: that starts the core too.
  Client later(device.socket());
  EXPECT_TRUE(later.works());
  EXPECT_TRUE(eventually([&] { return bool(witness.launch("fault_nothing")); }));
  EXPECT_EQ(children_of(server), 1);
}

TEST(Exhausted, AFullDiskEndsATraceAndNothingElse) {
  Program program({kHost, "use", kKernels}, {{"SOFTTPU_TRACE", "/dev/full"}});
  EXPECT_EQ(program.wait(), 0) << program.output();
  EXPECT_THAT(program.output(), ContainsRegex("SOFTTPU_TRACE: the file ends before .* No space left on device"));
}

TEST(Exhausted, ATraceThatMayNotGrowStaysWhole) {
  const fs::path trace = temporary("trace.json");
  {
    SharedDevice device(Environment{{"SOFTTPU_TRACE", trace}});
    Client client(device.socket());
    const rlimit small{6000, RLIM_INFINITY};
    ASSERT_EQ(::prlimit(device.server().pid(), RLIMIT_FSIZE, &small, nullptr), 0);
    ASSERT_TRUE(eventually([&] { return device.core() > 0; }));
    ::kill(device.core(), SIGKILL);  // a new one has the limits of its server
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(client.launch("fault_commands"));
    EXPECT_TRUE(client.works());
    EXPECT_THAT(device.server().output(), HasSubstr("File too large"));
  }
  const auto events = nlohmann::json::parse(read_text(trace), nullptr, false);
  ASSERT_TRUE(events.is_array()) << read_text(trace);
  EXPECT_GT(events.size(), 3U);
  fs::remove(trace);
}

TEST(Exhausted, ATraceIsWholeAfterACrash) {
  const fs::path trace = temporary("torn.json");
  SharedDevice device(Environment{{"SOFTTPU_TRACE", trace}});
  Client client(device.socket());
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(client.launch("fault_after_commands"));
    const auto events = nlohmann::json::parse(read_text(trace), nullptr, false);
    ASSERT_TRUE(events.is_array()) << read_text(trace);
    EXPECT_GE(events.size(), 11U * static_cast<unsigned>(i + 1));
  }
  fs::remove(trace);
}

// Each is a process of its own, and begins after the other.
TEST(Operations, TraceTimelineAndTimesHoldBothDevicesOfAProgram) {
  const fs::path trace = temporary("two.json"), timeline = temporary("two-times.json"), times = temporary("two.jsonl");
  std::ofstream(trace) << "of an earlier run";
  Program program({kSofttpu, "run", "--trace", trace, "--timeline", timeline, "--time-record", times, "--", kHost,
                   "two", kKernels});
  ASSERT_EQ(program.wait(), 0) << program.output();
  for (const fs::path& file : {trace, timeline}) {
    const auto events = nlohmann::json::parse(read_text(file), nullptr, false);
    ASSERT_TRUE(events.is_array()) << read_text(file);
    std::map<int, int> copies;
    for (const auto& event : events) {
      if (event["name"] != "tpu_gdma_cpy_S2L") continue;
      ++copies[event["pid"]];
      EXPECT_TRUE(event["args"].value("at", "").starts_with("e2e_kernels.c:")) << event;
    }
    EXPECT_EQ(copies, (std::map<int, int>{{1, 1}, {2, 1}})) << file;
    fs::remove(file);
  }
  const std::string lines = read_text(times);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  fs::remove(times);
}

// Later it can be seen which revision of a chip has computed what.
TEST(Operations, TimeRecordsReportsAndTracesNameTheRevision) {
  const fs::path times = temporary("revision.jsonl"), page = temporary("revision.html"),
                 trace = temporary("revision.json");
  for (const auto& [chip, revision] : {std::pair{"bm1684x", "1.30"}, std::pair{"bm1684x-23.05", "23.05"}}) {
    Program run(
        {kSofttpu, "run", "--chip", chip, "--time-record", times, "--trace", trace, "--", kHost, "use", kKernels});
    ASSERT_EQ(run.wait(), 0) << run.output();
    std::ifstream lines(times);
    int launches = 0;
    for (std::string line; std::getline(lines, line); ++launches)
      EXPECT_EQ(nlohmann::json::parse(line)["chip"]["revision"], revision);
    EXPECT_GT(launches, 0);
    EXPECT_NE(read_text(trace).find(std::string("bm1684x-") + revision), std::string::npos);
    Environment environment{{"SOFTTPU_CHIP", chip}};
    Program report({kSofttpu, "report", "--no-check", "-o", page, "--", kHost, "use", kKernels}, environment);
    ASSERT_EQ(report.wait(), 0) << report.output();
    EXPECT_NE(read_text(page).find(std::string("\"revision\":\"") + revision), std::string::npos);
    for (const fs::path& file : {times, page, trace}) fs::remove(file);
  }
}

TEST(Exhausted, ALogThatCannotBeWrittenIsNoReasonToEnd) {
  SharedDevice device(Environment{{"SOFTTPU_LOG_FILE", "/dev/full"}, {"SOFTTPU_LOG", "trace"}});
  Client client(device.socket());
  EXPECT_FALSE(client.launch("fault_segv"));
  const auto failed = std::chrono::steady_clock::now();
  EXPECT_TRUE(client.works());
  print_recovery(failed);
}

TEST(Exhausted, AReaderThatIsGoneEndsNoDevice) {
  SharedDevice device;
  Client client(device.socket());
  {
    // It asks for megabytes and goes: the server's answers have nowhere to go.
    auto socket = connect_unix(device.socket());
    ASSERT_TRUE(socket);
    Bytes bytes;
    append_frame(bytes, 1, msg::Hello{});
    append_frame(bytes, 2, msg::Open{});
    append_frame(bytes, 3, msg::Allocate{16 << 20});
    for (std::uint64_t i = 0; i < 50; ++i) append_frame(bytes, 4 + i, msg::Read{client.device().heap_start, 1 << 20});
    static_cast<void>(send_all(socket->get(), bytes));
  }
  const auto gone = std::chrono::steady_clock::now();
  EXPECT_TRUE(client.works());
  print_recovery(gone);
}

// ---- Another user ----

TEST(Strangers, AnotherUsersConnectionIsClosed) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become another user";
  SharedDevice device;
  // Even when the file system would let him in.
  fs::permissions(device.folder(), fs::perms(0755));
  fs::permissions(device.socket().parent_path(), fs::perms(0755));
  fs::permissions(device.socket(), fs::perms(0666));
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    auto socket = connect_unix(device.socket());
    if (!socket) ::_exit(3);
    RpcClient rpc(std::move(*socket));
    ::_exit(rpc.call<msg::HelloReply>(msg::Hello{}) ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1: was served; 2: no other user; 3: no connection at all";
  EXPECT_THAT(device.server().output(), HasSubstr("user 65534 may not use the devices of user 0"));
  Client client(device.socket());
  EXPECT_TRUE(client.works());
}

}  // namespace
}  // namespace softtpu::e2e
