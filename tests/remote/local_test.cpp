// Who may use a shared device of this machine, and what its clients can do to each other: sockets and folders that
// were prepared, peers of other users, memory of other clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "runtime/protocol/frame.hpp"
#include "runtime/transport/rpc_client.hpp"
#include "runtime/transport/socket.hpp"
#include "tests/e2e/shared_device.hpp"

namespace softtpu::e2e {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr uid_t kNobody = 65534;

// A socket that is bound and listens, as an attacker would leave one.
UniqueFd listen_on(const fs::path& path) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(fd.get(), 4), 0);
  return fd;
}

// Runs `work` in a child of another user; its result is the child's exit status.
template <class Work>
int as_nobody(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::setgid(kNobody) == 0 && ::setuid(kNobody) == 0 ? work() : 99);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

class Local : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "softtpu-local-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    socket_ = folder_ / "softtpu" / "device.sock";
    environment_ = {{"XDG_RUNTIME_DIR", folder_}};
  }
  void TearDown() override {
    if (server_) {
      server_->kill(SIGTERM);
      EXPECT_EQ(server_->wait(seconds(10)), 0) << server_->output();
    }
    fs::remove_all(folder_);
  }
  void serve() {
    server_ = std::make_unique<Program>(std::vector<std::string>{kSofttpu, "serve"}, environment_);
    ASSERT_TRUE(server_->wait_for_output("use with")) << server_->output();
  }
  std::string failed_start() const {
    Program server({kSofttpu, "serve"}, environment_);
    EXPECT_EQ(server.wait(), 1) << server.output();
    return server.output();
  }
  std::unique_ptr<RpcClient> connect() const {
    auto socket = connect_unix(socket_);
    EXPECT_TRUE(socket);
    auto rpc = std::make_unique<RpcClient>(*std::move(socket));
    EXPECT_TRUE(rpc->call<msg::HelloReply>(msg::Hello{}));
    EXPECT_TRUE(rpc->call<msg::OpenReply>(msg::Open{}));
    return rpc;
  }

  fs::path folder_, socket_;
  Environment environment_;
  std::unique_ptr<Program> server_;
};

// ---- Prepared sockets and folders ----

TEST_F(Local, RefusesALinkInTheFoldersPlace) {
  fs::create_directory(folder_ / "elsewhere");
  fs::permissions(folder_ / "elsewhere", fs::perms::owner_all);
  fs::create_directory_symlink("elsewhere", folder_ / "softtpu");
  EXPECT_THAT(failed_start(), HasSubstr("is not a directory"));
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
}

TEST_F(Local, RefusesALinkInTheSocketsPlace) {
  fs::create_directory(folder_ / "softtpu");
  fs::permissions(folder_ / "softtpu", fs::perms::owner_all);
  for (const char* target : {"../victim", "../nowhere"}) {
    std::ofstream(folder_ / "victim") << "somebody's";
    fs::create_symlink(target, socket_);
    EXPECT_THAT(failed_start(), HasSubstr("is not a socket of this user"));
    EXPECT_TRUE(fs::is_symlink(socket_));
    EXPECT_EQ(fs::file_size(folder_ / "victim"), 10U);
    EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
    fs::remove(socket_);
  }
}

TEST_F(Local, RefusesASocketThatSomebodyListensOn) {
  fs::create_directory(folder_ / "softtpu");
  fs::permissions(folder_ / "softtpu", fs::perms::owner_all);
  const UniqueFd squatter = listen_on(socket_);
  EXPECT_THAT(failed_start(), HasSubstr("another server listens on"));
  if (::getuid() == 0) {
    ASSERT_EQ(::chown(socket_.c_str(), kNobody, kNobody), 0);
    EXPECT_THAT(failed_start(), HasSubstr("is not a socket of this user"));
  }
}

TEST_F(Local, TakesTheSocketOfAServerThatIsGone) {
  fs::create_directory(folder_ / "softtpu");
  fs::permissions(folder_ / "softtpu", fs::perms::owner_all);
  listen_on(socket_).reset();
  ASSERT_TRUE(fs::exists(socket_));
  serve();
  connect();
}

TEST_F(Local, RefusesAFolderOfAnotherUser) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  fs::create_directory(folder_ / "softtpu");
  fs::permissions(folder_ / "softtpu", fs::perms::owner_all);
  ASSERT_EQ(::chown((folder_ / "softtpu").c_str(), kNobody, kNobody), 0);
  EXPECT_THAT(failed_start(), HasSubstr("belongs to user 65534, not to 0"));
}

// ---- Other users ----

TEST_F(Local, HasNoAnswerForAnotherUserEvenWhenTheSocketIsOpen) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become another user";
  serve();
  for (const fs::path& path : {folder_, socket_.parent_path(), socket_}) ::chmod(path.c_str(), 0777);
  const std::string path = socket_;
  const int outcome = as_nobody([&path] {
    auto socket = connect_unix(path);
    if (!socket) return 1;
    Bytes hello;
    append_frame(hello, 1, msg::Hello{});
    static_cast<void>(send_all(socket->get(), hello));
    std::uint8_t byte = 0;
    return ::recv(socket->get(), &byte, 1, 0) <= 0 ? 0 : 2;  // closed, without an answer
  });
  EXPECT_EQ(outcome, 0);
  EXPECT_TRUE(server_->wait_for_output("user 65534 may not use the devices of user 0")) << server_->output();
  connect();
}

TEST_F(Local, DoesNotTrustAServerOfAnotherUser) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become another user";
  ::chmod(folder_.c_str(), 0777);
  const fs::path path = folder_ / "offered.sock";
  const pid_t attacker = ::fork();
  if (attacker == 0) {
    if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(1);
    const UniqueFd socket = listen_on(path);
    ::pause();
    ::_exit(0);
  }
  ASSERT_TRUE(eventually([&] { return fs::exists(path); }));
  environment_["SOFTTPU_DEVICE"] = "unix:" + path.string();
  // Bound is not yet listening.
  ASSERT_TRUE(eventually([&] { return static_cast<bool>(connect_unix(path)); }));
  Program program({kHost, "use", kKernels}, environment_);
  EXPECT_EQ(program.wait(), 2);
  EXPECT_THAT(program.output(), HasSubstr("belongs to user 65534, not to 0"));
  ::kill(attacker, SIGKILL);
  ::waitpid(attacker, nullptr, 0);
}

// ---- Other clients' memory ----

TEST_F(Local, KeepsEveryCopyInsideTheClientsOwnAllocations) {
  serve();
  const auto owner = connect(), stranger = connect();
  const auto theirs = owner->call<msg::AllocateReply>(msg::Allocate{8192});
  const auto own = stranger->call<msg::AllocateReply>(msg::Allocate{8192});
  ASSERT_TRUE(theirs && own);
  const Bytes secret(8192, 0x5A);
  ASSERT_TRUE(owner->call<msg::Done>(msg::Write{theirs->address, secret}));
  const std::uint64_t t = theirs->address, o = own->address;
  // Every message with an address, with the other's memory in each place, wholly and by one byte over an edge.
  for (const std::uint64_t at : {t, t + 100, t + 8191, o + 8185, UINT64_MAX - 3, std::uint64_t{0}}) {
    EXPECT_FALSE(stranger->call<msg::ReadReply>(msg::Read{at, 8})) << at;
    EXPECT_FALSE(stranger->call<msg::Done>(msg::Write{at, Bytes(8)})) << at;
    EXPECT_FALSE(stranger->call<msg::Done>(msg::Fill{at, 8, {1}})) << at;
    EXPECT_FALSE(stranger->call<msg::Done>(msg::Copy{at, o, 8, 1, 1, 1})) << at;
    EXPECT_FALSE(stranger->call<msg::Done>(msg::Copy{o, at, 8, 1, 1, 1})) << at;
  }
  EXPECT_FALSE(stranger->call<msg::Done>(msg::Copy{o, o, 3, 8, 0xFFFFFFFF, 1}))
      << "a stride that leads out of the allocation";
  EXPECT_FALSE(stranger->call<msg::Done>(msg::Copy{o, o, 3, 8, 1, 0xFFFFFFFF}));
  EXPECT_FALSE(stranger->call<msg::Done>(msg::Copy{o, o, UINT64_MAX, 8, 1, 1}));
  EXPECT_FALSE(stranger->call<msg::Done>(msg::Copy{o, o, UINT64_MAX / 8 + 2, 8, 1, 1})) << "a size that overflows";
  EXPECT_FALSE(stranger->call<msg::ReadReply>(msg::Read{o, UINT64_MAX}));
  EXPECT_FALSE(stranger->call<msg::Done>(msg::Fill{o, UINT64_MAX, {1}}));
  EXPECT_FALSE(stranger->call<msg::Done>(msg::Release{t}));
  EXPECT_FALSE(stranger->call<msg::Done>(msg::Release{o + 8}));
  EXPECT_EQ(owner->call<msg::ReadReply>(msg::Read{t, 8192})->data, secret);
  EXPECT_EQ(stranger->call<msg::ReadReply>(msg::Read{o, 8192})->data, Bytes(8192, 0));
}

// What a client's memory holds when another gets it: the setting's pattern, whichever way the former owner went.
enum class Parting { kFrees, kDisconnects, kIsKilled, kCrashesAKernel };

// The address of memory that the client has filled.
std::uint64_t fill_some(Client& client, std::uint64_t bytes) {
  const auto memory = client.rpc().call<msg::AllocateReply>(msg::Allocate{bytes});
  EXPECT_TRUE(memory && client.rpc().call<msg::Done>(msg::Fill{memory->address, bytes, {0xEE}}));
  return memory ? memory->address : 0;
}

std::uint64_t fill_and_be_killed(const fs::path& socket, std::uint64_t bytes) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Client client(socket);
    const std::uint64_t address = fill_some(client, bytes);
    static_cast<void>(!::write(ends[1], &address, sizeof(address)));
    ::raise(SIGKILL);
  }
  std::uint64_t address = 0;
  EXPECT_EQ(::read(ends[0], &address, sizeof(address)), static_cast<ssize_t>(sizeof(address)));
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  ::close(ends[0]);
  ::close(ends[1]);
  return address;
}

std::uint64_t leave(const fs::path& socket, Parting parting, std::uint64_t bytes) {
  if (parting == Parting::kIsKilled) return fill_and_be_killed(socket, bytes);
  Client client(socket);
  const std::uint64_t address = fill_some(client, bytes);
  if (parting == Parting::kFrees) {
    EXPECT_TRUE(client.rpc().call<msg::Done>(msg::Release{address}));
  } else if (parting == Parting::kCrashesAKernel) {
    EXPECT_FALSE(client.launch("fault_segv"));
  }
  return address;
}

TEST(FreshMemory, NeverShowsWhatAnotherClientLeft) {
  constexpr std::uint64_t kBytes = 1 << 20;
  for (const std::string fresh : {"zero", "poison"}) {
    SharedDevice device(Environment{{"SOFTTPU_FRESH", fresh}});
    Client next(device.socket());
    const std::uint8_t expected = fresh == "zero" ? 0 : 0xA5;
    for (const Parting parting :
         {Parting::kFrees, Parting::kDisconnects, Parting::kIsKilled, Parting::kCrashesAKernel}) {
      const std::uint64_t address = leave(device.socket(), parting, kBytes);
      // Memory in the same place, in another size: what is left of the last page counts as well. The former owner's
      // other memory lay before it.
      std::uint64_t again = 0;
      ASSERT_TRUE(eventually([&] {
        const auto memory = next.rpc().call<msg::AllocateReply>(msg::Allocate{kBytes - 100});
        again = memory ? memory->address : 0;
        const bool overlaps = again < address + kBytes / 2 && address < again + kBytes / 2;
        if (!overlaps) {
          EXPECT_TRUE(next.rpc().call<msg::Done>(msg::Release{again}));
        }
        return overlaps;
      })) << fresh
          << " " << static_cast<int>(parting);
      EXPECT_EQ(next.rpc().call<msg::ReadReply>(msg::Read{again, kBytes - 100})->data, Bytes(kBytes - 100, expected))
          << fresh << " " << static_cast<int>(parting);
      ASSERT_TRUE(next.rpc().call<msg::Done>(msg::Release{again}));
      EXPECT_FALSE(next.rpc().call<msg::ReadReply>(msg::Read{again, 1})) << "what was freed can be read no more";
    }
  }
}

}  // namespace
}  // namespace softtpu::e2e
