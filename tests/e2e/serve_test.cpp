// A shared device: `softtpu serve`, several programs, and peers that do not behave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include "runtime/protocol/core_messages.hpp"
#include "runtime/protocol/frame.hpp"
#include "runtime/transport/rpc_client.hpp"
#include "runtime/transport/socket.hpp"
#include "tests/e2e/processes.hpp"

namespace softtpu::e2e {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::HasSubstr;

class Serve : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("softtpu-serve-" + std::to_string(::getpid()));
    fs::create_directory(folder_);
    environment_ = {{"XDG_RUNTIME_DIR", folder_}};
    socket_ = folder_ / "softtpu" / "device.sock";
    server_ = std::make_unique<Program>(std::vector<std::string>{kSofttpu, "serve", "--devices", "2"}, environment_);
    ASSERT_TRUE(server_->wait_for_output("use with SOFTTPU_DEVICE=unix:")) << server_->output();
    environment_["SOFTTPU_DEVICE"] = "unix:" + socket_.string();
  }
  void TearDown() override {
    server_->kill(SIGTERM);
    EXPECT_EQ(server_->wait(seconds(5)), 0) << server_->output();
    EXPECT_TRUE(server_->leaves_nothing());
    EXPECT_FALSE(fs::exists(socket_));
    fs::remove_all(folder_);
  }
  void expect_use() {
    Program program({kHost, "use", kKernels}, environment_);
    EXPECT_EQ(program.wait(), 0) << program.output();
  }
  msg::StatReply stat() {
    auto socket = connect_unix(socket_);
    RpcClient rpc(*std::move(socket));
    EXPECT_TRUE(rpc.call<msg::HelloReply>(msg::Hello{}));
    EXPECT_TRUE(rpc.call<msg::OpenReply>(msg::Open{0, false, {}}));
    auto reply = rpc.call<msg::StatReply>(msg::Stat{});
    EXPECT_TRUE(reply);
    return *reply;
  }
  // True when the server closes the connection after these bytes.
  bool is_closed_after(const Bytes& bytes) {
    auto socket = connect_unix(socket_);
    EXPECT_TRUE(socket);
    static_cast<void>(send_all(socket->get(), bytes));
    const timeval limit{2, 0};
    ::setsockopt(socket->get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    FrameBuffer buffer;
    for (;;) {
      auto received = receive(socket->get(), buffer, true);
      if (!received || *received == Received::kEnd) return true;
      if (*received == Received::kNothing) return false;
    }
  }

  fs::path folder_, socket_;
  Environment environment_;
  std::unique_ptr<Program> server_;
};

TEST_F(Serve, IsReachableByThisUserOnly) {
  struct stat status {};
  ASSERT_EQ(::stat(socket_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  ASSERT_EQ(::stat(socket_.parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
}

TEST_F(Serve, ServesSeveralProgramsAtOnce) {
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < 6; ++i) {
    programs.push_back(std::make_unique<Program>(
        std::vector<std::string>{kHost, i % 2 == 0 ? "use" : "faults", kKernels}, environment_));
  }
  for (auto& program : programs) EXPECT_EQ(program->wait(seconds(60)), 0) << program->output();
  EXPECT_TRUE(eventually([&] { return stat().clients.size() == 1; }));
  EXPECT_EQ(stat().bytes_used, 0U);
}

TEST_F(Serve, TakesBackWhatAKilledProgramHad) {
  Program program({kHost, "hold", kKernels}, environment_);
  ASSERT_TRUE(program.wait_for_output("holding")) << program.output();
  Program hanging({kHost, "hang", kKernels}, environment_);
  ASSERT_TRUE(hanging.wait_for_output("hanging")) << hanging.output();
  ASSERT_TRUE(eventually([&] { return stat().queued == 1; }));
  program.kill(SIGKILL);
  hanging.kill(SIGKILL);
  EXPECT_TRUE(eventually([&] { return stat().clients.size() == 1 && stat().queued == 0; }, seconds(3)));
  EXPECT_EQ(stat().bytes_used, 0U);
  expect_use();
}

TEST_F(Serve, RefusesToTakeASocketThatIsInUse) {
  Program second({kSofttpu, "serve"}, environment_);
  EXPECT_EQ(second.wait(), 1);
  EXPECT_THAT(second.output(), HasSubstr("another server listens on"));
  expect_use();
}

TEST_F(Serve, ClosesConnectionsThatDoNotSpeakTheProtocol) {
  Bytes text = {'G', 'E', 'T', ' ', '/', ' ', 'H', 'T', 'T', 'P', '/', '1', '.', '1', '\r', '\n', '\r', '\n'};
  EXPECT_TRUE(is_closed_after(text));
  Bytes bytes;
  append_frame(bytes, 1, msg::Open{});  // before Hello
  EXPECT_TRUE(is_closed_after(bytes));
  bytes.clear();
  append_frame(bytes, 1, msg::Hello{});
  append_frame(bytes, 2, msg::Allocate{4096});  // before Open
  EXPECT_TRUE(is_closed_after(bytes));
  bytes.clear();
  append_frame(bytes, 1, msg::Hello{});
  append_frame(bytes, 2, msg::Open{});
  append_frame(bytes, 3, msg::CoreLaunch{});  // between server and core only
  EXPECT_TRUE(is_closed_after(bytes));
  bytes.clear();
  append_frame(bytes, 1, msg::Hello{});
  bytes.resize(bytes.size() + kFrameHeaderBytes);
  wire::put_header(bytes.data() + bytes.size() - kFrameHeaderBytes, kMaxPayloadBytes + 1U, MessageType::kWrite, 0, 2);
  EXPECT_TRUE(is_closed_after(bytes));
  expect_use();
}

TEST_F(Serve, TellsAnotherVersionWhichOneItIs) {
  auto socket = connect_unix(socket_);
  ASSERT_TRUE(socket);
  RpcClient rpc(*std::move(socket));
  auto reply = rpc.call<msg::HelloReply>(msg::Hello{kHelloMagic, 999});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->version, kProtocolVersion);
}

// Zero stands for all streams where a client waits, and is no stream for launches.
TEST_F(Serve, SyncsAllStreamsOfAClientThatSpokeOfStreamZero) {
  auto socket = connect_unix(socket_);
  ASSERT_TRUE(socket);
  RpcClient rpc(*std::move(socket));
  ASSERT_TRUE(rpc.call<msg::HelloReply>(msg::Hello{}));
  ASSERT_TRUE(rpc.call<msg::OpenReply>(msg::Open{}));
  ASSERT_TRUE(rpc.call<msg::StreamTimeReply>(msg::StreamTime{0}));
  EXPECT_TRUE(rpc.call<msg::Done>(msg::Sync{0}));
  ASSERT_TRUE(rpc.send(msg::make_launch(0, 0, "no_such_kernel", {}, false)));
  const auto failed = rpc.call<msg::Done>(msg::Sync{0});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().text, HasSubstr("no_such_kernel"));
  expect_use();
}

TEST_F(Serve, KeepsEachProgramToItsOwnMemory) {
  auto first = connect_unix(socket_), second = connect_unix(socket_);
  RpcClient owner(*std::move(first)), stranger(*std::move(second));
  for (RpcClient* rpc : {&owner, &stranger}) {
    ASSERT_TRUE(rpc->call<msg::HelloReply>(msg::Hello{}));
    ASSERT_TRUE(rpc->call<msg::OpenReply>(msg::Open{}));
  }
  auto memory = owner.call<msg::AllocateReply>(msg::Allocate{4096});
  ASSERT_TRUE(memory);
  EXPECT_TRUE(owner.call<msg::Done>(msg::Write{memory->address, {1, 2, 3}}));
  EXPECT_FALSE(stranger.call<msg::ReadReply>(msg::Read{memory->address, 3}));
  EXPECT_FALSE(stranger.call<msg::Done>(msg::Release{memory->address}));
  EXPECT_FALSE(owner.call<msg::ReadReply>(msg::Read{memory->address + 4090, 7}));
  EXPECT_FALSE(owner.call<msg::ReadReply>(msg::Read{memory->address, UINT64_MAX}));
  ASSERT_TRUE(owner.call<msg::Done>(msg::Release{memory->address}));
  auto again = stranger.call<msg::AllocateReply>(msg::Allocate{4096});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->address, memory->address);
  auto data = stranger.call<msg::ReadReply>(msg::Read{again->address, 3});
  ASSERT_TRUE(data);
  EXPECT_EQ(data->data, (Bytes{0, 0, 0})) << "what another program left is not readable";
}

TEST_F(Serve, ShowsItselfInInfo) {
  Program holder({kHost, "hold", kKernels}, environment_);
  ASSERT_TRUE(holder.wait_for_output("holding"));
  Program info({kSofttpu, "info"}, environment_);
  EXPECT_EQ(info.wait(), 0);
  EXPECT_THAT(info.output(), HasSubstr("device 1: bm1684x"));
  EXPECT_THAT(info.output(), HasSubstr("process " + std::to_string(holder.pid()) + ":"));
}

// ---- Starting and choosing ----

TEST(ServeStart, RefusesAFileInTheSocketsPlace) {
  const fs::path path = fs::temp_directory_path() / ("softtpu-squat-" + std::to_string(::getpid()));
  std::ofstream(path) << "somebody's";
  Program server({kSofttpu, "serve", "--socket", path});
  EXPECT_EQ(server.wait(), 1);
  EXPECT_THAT(server.output(), HasSubstr("is not a socket of this user"));
  EXPECT_TRUE(fs::exists(path));
  fs::remove(path);
}

TEST(ServeStart, RefusesAFolderThatOthersCanEnter) {
  const fs::path folder = fs::temp_directory_path() / ("softtpu-open-" + std::to_string(::getpid()));
  fs::create_directories(folder / "softtpu");
  fs::permissions(folder / "softtpu", fs::perms::all);
  Program server({kSofttpu, "serve"}, {{"XDG_RUNTIME_DIR", folder}});
  EXPECT_EQ(server.wait(), 1);
  EXPECT_THAT(server.output(), HasSubstr("is open to other users"));
  fs::remove_all(folder);
}

TEST(ServeStart, GoesIntoTheBackgroundWhenReady) {
  const fs::path folder = fs::temp_directory_path() / ("softtpu-daemon-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  Environment environment = {{"XDG_RUNTIME_DIR", folder}};
  Program server({kSofttpu, "serve", "--daemon"}, environment);
  EXPECT_EQ(server.wait(), 0) << server.output();
  Program program(
      {kSofttpu, "run", "--device", "unix:" + (folder / "softtpu/device.sock").string(), "--", kHost, "use", kKernels},
      environment);
  EXPECT_EQ(program.wait(), 0) << program.output();
  for (const pid_t pid : server.processes("softtpu-device")) ::kill(pid, SIGTERM);
  EXPECT_TRUE(server.leaves_nothing());
  EXPECT_FALSE(fs::exists(folder / "softtpu/device.sock"));
  fs::remove_all(folder);
}

// As in $(softtpu serve --daemon): the caller reads until no process has the pipe open for writing.
TEST(ServeStart, ADaemonLetsGoOfItsCallersOutput) {
  const fs::path folder = fs::temp_directory_path() / ("softtpu-let-go-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  const std::string word = "'" + kSofttpu + "' serve --daemon 2>&1";
  Program shell({"/bin/sh", "-c", "text=$(" + word + "); echo \"heard: $text\""}, {{"XDG_RUNTIME_DIR", folder}});
  EXPECT_EQ(shell.wait(seconds(20)), 0);
  EXPECT_THAT(shell.output(), HasSubstr("heard: softtpu: 1 device of chip bm1684x"));
  for (const pid_t pid : shell.processes("softtpu-device")) ::kill(pid, SIGTERM);
  EXPECT_TRUE(shell.leaves_nothing());
  fs::remove_all(folder);
}

TEST(ServeStart, ADaemonSaysWhyItDoesNotStart) {
  Program server({kSofttpu, "serve", "--daemon", "--socket", "/nowhere/device.sock"});
  EXPECT_EQ(server.wait(), 1);
  EXPECT_THAT(server.output(), HasSubstr("/nowhere/device.sock"));
}

// ---- A socket that loses its name ----

TEST_F(Serve, ASocketThatIsRemovedComesBack) {
  expect_use();
  fs::remove(socket_);
  EXPECT_TRUE(eventually([&] { return fs::exists(socket_); }));
  expect_use();
  EXPECT_THAT(server_->output(), HasSubstr("has been removed or replaced"));
  fs::remove_all(folder_ / "softtpu");
  EXPECT_TRUE(eventually([&] { return fs::exists(socket_); }));
  expect_use();
}

// What is in the place of a server's socket when it ends may be another server's.
TEST_F(Serve, EndsWithoutTakingTheSocketOfAnother) {
  server_->kill(SIGSTOP);
  fs::remove(socket_);
  Program other({kSofttpu, "serve"}, environment_);
  ASSERT_TRUE(other.wait_for_output("use with SOFTTPU_DEVICE=unix:")) << other.output();
  server_->kill(SIGTERM);
  server_->kill(SIGCONT);
  EXPECT_EQ(server_->wait(seconds(5)), 0) << server_->output();
  EXPECT_TRUE(fs::exists(socket_));
  Program program({kHost, "use", kKernels}, environment_);
  EXPECT_EQ(program.wait(), 0) << program.output();
  other.kill(SIGTERM);
  EXPECT_EQ(other.wait(seconds(5)), 0) << other.output();
}

// Of servers that start at once in the place of a dead one, one serves, and its socket stays.
TEST(ServeStart, OfSeveralServersAtOnceOneHasTheSocket) {
  const fs::path folder = fs::temp_directory_path() / ("softtpu-race-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  Environment environment = {{"XDG_RUNTIME_DIR", folder}};
  {
    Program dead({kSofttpu, "serve"}, environment);
    ASSERT_TRUE(dead.wait_for_output("use with"));
    dead.kill(SIGKILL);
    dead.wait();
  }
  std::vector<std::unique_ptr<Program>> servers;
  for (int i = 0; i < 4; ++i)
    servers.push_back(std::make_unique<Program>(std::vector<std::string>{kSofttpu, "serve"}, environment));
  int serving = 0;
  for (const auto& server : servers) {
    ASSERT_TRUE(eventually([&] {
      return server->output().find("use with") != std::string::npos ||
             server->output().find("another server listens") != std::string::npos;
    })) << server->output();
    serving += server->output().find("use with") != std::string::npos;
  }
  EXPECT_EQ(serving, 1);
  environment["SOFTTPU_DEVICE"] = "unix:" + (folder / "softtpu/device.sock").string();
  Program program({kHost, "use", kKernels}, environment);
  EXPECT_EQ(program.wait(), 0) << program.output();
  for (const auto& server : servers) {
    server->kill(SIGTERM);
    server->wait(seconds(5));
  }
  fs::remove_all(folder);
}

TEST(Launcher, ListsEveryVariableAndRefusesBadValues) {
  Program good({kSofttpu, "env"});
  EXPECT_EQ(good.wait(), 0) << good.output();
  for (const char* name :
       {"SOFTTPU_DEVICE", "SOFTTPU_CHIP", "SOFTTPU_TIMEOUT", "SG_MAX_DEVICE_COUNT", "TPUKERNEL_FIRMWARE_PATH"}) {
    EXPECT_THAT(good.output(), HasSubstr(std::string(name) + "="));
  }
  Program bad({kSofttpu, "env"}, {{"SOFTTPU_TIMEOUT", "soon"}});
  EXPECT_EQ(bad.wait(), 1);
  EXPECT_THAT(bad.output(), HasSubstr("NOT USABLE: \"soon\" is not a number from 0 to 86400"));
}

}  // namespace
}  // namespace softtpu::e2e
