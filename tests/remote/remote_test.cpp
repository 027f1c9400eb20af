// A remote device: a gateway with TLS and a token, programs that may come in, and strangers that may not.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include "runtime/protocol/frame.hpp"
#include "runtime/transport/rpc_client.hpp"
#include "runtime/transport/socket.hpp"
#include "tests/e2e/processes.hpp"
#include "tests/remote/certificate.hpp"

namespace softtpu::e2e {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

void write_token(const fs::path& path, const std::string& token) {
  std::ofstream(path) << token << "\n";
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

class Remote : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "softtpu-remote-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    make_certificate(folder_ / "cert.pem", folder_ / "key.pem");
    write_token(folder_ / "token", "the token of these tests");
    local_ = {{"XDG_RUNTIME_DIR", folder_}};
  }
  void TearDown() override {
    if (server_) {
      server_->kill(SIGTERM);
      EXPECT_EQ(server_->wait(seconds(10)), 0) << server_->output();
      EXPECT_TRUE(server_->leaves_nothing());
    }
    fs::remove_all(folder_);
  }
  std::vector<std::string> serve_words() const {
    std::vector<std::string> words = {kSofttpu,       "serve",
                                      "--tcp",        "127.0.0.1:0",
                                      "--tls-cert",   folder_ / "cert.pem",
                                      "--tls-key",    folder_ / "key.pem",
                                      "--token-file", folder_ / "token"};
    words.insert(words.end(), options_.begin(), options_.end());
    return words;
  }
  void serve() {
    server_ = std::make_unique<Program>(serve_words(), local_);
    ASSERT_TRUE(server_->wait_for_output("tcp://127.0.0.1:")) << server_->output();
    const std::string text = server_->output();
    const std::size_t at = text.find("tcp://127.0.0.1:");
    device_ = text.substr(at, text.find('\n', at) - at);
    port_ = static_cast<std::uint16_t>(std::stoi(device_.substr(device_.rfind(':') + 1)));
    remote_ = {{"SOFTTPU_DEVICE", device_},
               {"SOFTTPU_TLS_CA", folder_ / "cert.pem"},
               {"SOFTTPU_TOKEN_FILE", folder_ / "token"}};
  }
  // What a program with these variables says when it cannot open the device.
  std::string refusal(const Environment& environment) const {
    Program program({kHost, "use", kKernels}, environment);
    EXPECT_EQ(program.wait(), 2) << program.output();
    EXPECT_TRUE(program.leaves_nothing());
    return program.output();
  }
  // `from`: an address of this machine; empty: the usual one.
  UniqueFd connect(const std::string& from = "") const {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    if (!from.empty()) {
      EXPECT_EQ(::inet_pton(AF_INET, from.c_str(), &address.sin_addr), 1);
      EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const timeval limit{5, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return socket;
  }
  // True when the gateway ends the connection; what it says before is TLS alerts, never an answer of the protocol.
  static bool is_closed(const UniqueFd& socket) {
    char bytes[256];
    ssize_t got = 0;
    do {
      got = ::recv(socket.get(), bytes, sizeof bytes, 0);
    } while (got > 0);
    return got == 0 || errno == ECONNRESET;
  }
  msg::StatReply stat() const {
    auto socket = connect_unix(folder_ / "softtpu/device.sock");
    RpcClient rpc(*std::move(socket));
    EXPECT_TRUE(rpc.call<msg::HelloReply>(msg::Hello{}));
    EXPECT_TRUE(rpc.call<msg::OpenReply>(msg::Open{0, false, {}}));
    auto reply = rpc.call<msg::StatReply>(msg::Stat{});
    EXPECT_TRUE(reply);
    return *reply;
  }

  fs::path folder_;
  std::vector<std::string> options_;  // further ones of the server
  Environment local_, remote_;
  std::unique_ptr<Program> server_;
  std::string device_;
  std::uint16_t port_ = 0;
};

TEST_F(Remote, RunsProgramsAsALocalDeviceDoes) {
  serve();
  for (const char* scenario : {"use", "big", "threads", "faults"}) {
    Program program({kHost, scenario, kKernels}, remote_);
    EXPECT_EQ(program.wait(seconds(60)), 0) << scenario << "\n" << program.output();
    EXPECT_TRUE(program.leaves_nothing());
  }
  EXPECT_THAT(server_->output(),
              testing::ContainsRegex("info: 127.0.0.1:[0-9]+ loads kernel module .*e2e_kernels.so, sha256 [0-9a-f]+"));
}

TEST_F(Remote, TellsAProgramWhatItsChecksHaveFound) {
  options_ = {"--check=memory"};
  serve();
  Program leaking({kHost, "leak", kKernels}, remote_);
  EXPECT_EQ(leaking.wait(seconds(60)), 0) << leaking.output();
  Program other({kHost, "use", kKernels}, remote_);
  EXPECT_THAT(leaking.output(), HasSubstr("softtpu: error memory/overrun in kernel \"e2e_shape\": "));
  EXPECT_THAT(leaking.output(), HasSubstr("at e2e_kernels.c:"));
  EXPECT_THAT(leaking.output(), HasSubstr("softtpu: warning memory/leak: 4096 bytes at "));
  EXPECT_EQ(other.wait(seconds(60)), 0) << other.output();
  EXPECT_THAT(other.output(), Not(HasSubstr("softtpu: ")));
}

TEST_F(Remote, IsFoundByItsNameAsWell) {
  serve();
  remote_["SOFTTPU_DEVICE"] = "tcp://localhost:" + std::to_string(port_);
  Program program({kHost, "use", kKernels}, remote_);
  EXPECT_EQ(program.wait(), 0) << program.output();
}

TEST_F(Remote, ShowsItselfInInfo) {
  serve();
  Program info({kSofttpu, "info"}, remote_);
  EXPECT_EQ(info.wait(), 0) << info.output();
  EXPECT_THAT(info.output(), HasSubstr("shared device: " + device_));
  EXPECT_THAT(info.output(), HasSubstr("device 0: bm1684x"));
}

TEST_F(Remote, TakesBackWhatAKilledProgramHad) {
  serve();
  Program program({kHost, "hold", kKernels}, remote_);
  ASSERT_TRUE(program.wait_for_output("holding")) << program.output();
  EXPECT_EQ(stat().clients.size(), 2U);
  program.kill(SIGKILL);
  EXPECT_TRUE(eventually([&] { return stat().clients.size() == 1 && stat().bytes_used == 0; }, seconds(5)));
  EXPECT_TRUE(program.leaves_nothing());
}

TEST_F(Remote, RefusesAWrongToken) {
  serve();
  write_token(folder_ / "other", "the token of other tests");
  remote_["SOFTTPU_TOKEN_FILE"] = folder_ / "other";
  EXPECT_THAT(refusal(remote_), HasSubstr(device_ + ": the token is not accepted."));
  EXPECT_THAT(server_->output(), HasSubstr("is refused: its token is wrong"));
  remote_.erase("SOFTTPU_TOKEN_FILE");
  EXPECT_THAT(refusal(remote_), HasSubstr("SOFTTPU_TOKEN_FILE is not set"));
}

TEST_F(Remote, IsRefusedWhenItsCertificateIsNotTrusted) {
  serve();
  make_certificate(folder_ / "other.pem", folder_ / "other-key.pem");
  remote_["SOFTTPU_TLS_CA"] = folder_ / "other.pem";
  EXPECT_THAT(refusal(remote_), HasSubstr("its certificate is not accepted"));
  remote_["SOFTTPU_TLS_CA"] = "";  // the system's
  EXPECT_THAT(refusal(remote_), HasSubstr("its certificate is not accepted"));
}

TEST_F(Remote, IsRefusedWhenItsCertificateIsForAnotherHost) {
  make_certificate(folder_ / "cert.pem", folder_ / "key.pem", "elsewhere.example");
  serve();
  EXPECT_THAT(refusal(remote_), HasSubstr("its certificate is not accepted (IP address mismatch)"));
}

TEST_F(Remote, HasNoAnswerForAClientWithoutTls) {
  serve();
  Bytes bytes;
  append_frame(bytes, 1, msg::Hello{});
  append_frame(bytes, 2, msg::Open{});
  append_frame(bytes, 3, msg::Allocate{4096});
  const UniqueFd socket = connect();
  ASSERT_TRUE(send_all(socket.get(), bytes));
  EXPECT_TRUE(is_closed(socket));
  EXPECT_THAT(server_->output(), HasSubstr("is refused: no TLS handshake"));
  EXPECT_EQ(stat().clients.size(), 1U);
}

TEST_F(Remote, BlocksAnAddressAfterFiveFailures) {
  serve();
  for (int i = 0; i < 5; ++i) {
    const UniqueFd socket = connect();
    const Bytes bytes(32, static_cast<std::uint8_t>('x'));
    ASSERT_TRUE(send_all(socket.get(), bytes));
    EXPECT_TRUE(is_closed(socket));
  }
  EXPECT_TRUE(eventually([&] {
    return server_->output().find("127.0.0.1 has failed 5 times and is blocked for 60 s") != std::string::npos;
  }));
  // Also a client with the token, and without a line in the log for each attempt.
  const std::string before = server_->output();
  EXPECT_THAT(refusal(remote_), HasSubstr("no TLS connection"));
  EXPECT_EQ(server_->output(), before);
  // The Unix socket is another way in.
  local_["SOFTTPU_DEVICE"] = "unix:" + (folder_ / "softtpu/device.sock").string();
  Program program({kHost, "use", kKernels}, local_);
  EXPECT_EQ(program.wait(), 0) << program.output();
}

// However many show one at once.
TEST_F(Remote, ComparesFiveWrongTokensAndNoMore) {
  serve();
  write_token(folder_ / "wrong", "the token of another device");
  Environment wrong = remote_;
  wrong["SOFTTPU_TOKEN_FILE"] = folder_ / "wrong";
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < 16; ++i)
    programs.push_back(std::make_unique<Program>(std::vector<std::string>{kHost, "use", kKernels}, wrong));
  for (const auto& program : programs) EXPECT_NE(program->wait(), 0);
  const std::string log = server_->output();
  int compared = 0;
  for (std::size_t at = log.find("its token is wrong"); at != std::string::npos;
       at = log.find("its token is wrong", at + 1))
    ++compared;
  EXPECT_LE(compared, 5) << log;
  EXPECT_GT(compared, 0) << log;
}

TEST_F(Remote, IdleConnectionsKeepNobodyOut) {
  serve();
  // From eight addresses, as many as may wait.
  std::vector<UniqueFd> idle;
  for (int address = 1; address <= 8; ++address) {
    for (int i = 0; i < 16; ++i) idle.push_back(connect("127.0.0." + std::to_string(10 + address)));
  }
  const auto start = std::chrono::steady_clock::now();
  Program program({kHost, "use", kKernels}, remote_);
  EXPECT_EQ(program.wait(), 0) << program.output();
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(8));
}

TEST_F(Remote, GetsANewGatewayWhenTheOldOneIsKilled) {
  serve();
  local_["SOFTTPU_DEVICE"] = "unix:" + (folder_ / "softtpu/device.sock").string();
  Program local({kHost, "hold", kKernels}, local_);
  ASSERT_TRUE(local.wait_for_output("holding"));
  const auto gateways = server_->processes("softtpu-remote");
  ASSERT_EQ(gateways.size(), 1U);
  const auto killed = std::chrono::steady_clock::now();
  ::kill(gateways[0], SIGKILL);
  EXPECT_TRUE(server_->wait_for_output("the gateway was ended by signal 9"));
  EXPECT_TRUE(eventually([&] { return Program({kHost, "use", kKernels}, remote_).wait() == 0; }));
  std::printf("| gateway killed | a remote program has run after %.0f ms |\n",
              std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - killed).count());
  EXPECT_TRUE(eventually([&] { return stat().clients.size() == 2; })) << "the local client is as it was";
}

TEST_F(Remote, GetsANewGatewayAsSoonAsThereAreDescriptorsForIt) {
  serve();
  rlimit before{};
  ASSERT_EQ(::prlimit(server_->pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit none{4, before.rlim_max};
  ASSERT_EQ(::prlimit(server_->pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  for (const pid_t gateway : server_->processes("softtpu-remote")) ::kill(gateway, SIGKILL);
  EXPECT_TRUE(server_->wait_for_output("cannot be started again: socketpair: Too many open files"));
  ASSERT_EQ(::prlimit(server_->pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  EXPECT_TRUE(eventually([&] { return Program({kHost, "use", kKernels}, remote_).wait() == 0; }));
}

TEST_F(Remote, EndsWithItsProgramEvenIfAForkOfItStays) {
  serve();
  Program program({kHost, "leave_a_fork", kKernels}, remote_);
  EXPECT_EQ(program.wait(), 0) << program.output();
  EXPECT_TRUE(eventually([&] { return stat().clients.size() == 1; }, seconds(5)));
  EXPECT_TRUE(program.processes("softtpu-remote").empty());
}

TEST_F(Remote, GoesIntoTheBackgroundWithItsGateway) {
  auto words = serve_words();
  words.emplace_back("--daemon");
  Program server(words, local_);
  EXPECT_EQ(server.wait(), 0) << server.output();
  const auto gateways = server.processes("softtpu-remote");
  ASSERT_EQ(gateways.size(), 1U);
  // Only root sees the files of a process that is not dumpable.
  for (const int fd : ::getuid() == 0 ? std::vector<int>{0, 1, 2} : std::vector<int>()) {
    EXPECT_EQ(fs::read_symlink("/proc/" + std::to_string(gateways[0]) + "/fd/" + std::to_string(fd)), "/dev/null");
  }
  for (const pid_t pid : server.processes("softtpu-device")) ::kill(pid, SIGTERM);
  EXPECT_TRUE(server.leaves_nothing());
}

// ---- What is not served ----

class RemoteStart : public Remote {
 protected:
  std::string failed_start(const std::vector<std::string>& words) const {
    Program server(words, local_);
    EXPECT_EQ(server.wait(), 1) << server.output();
    EXPECT_TRUE(server.leaves_nothing());
    EXPECT_THAT(server.output(), Not(HasSubstr("use with")));
    return server.output();
  }
};

TEST_F(RemoteStart, NeedsTlsAndAToken) {
  EXPECT_THAT(failed_start({kSofttpu, "serve", "--tcp", "127.0.0.1:0"}),
              HasSubstr("--tcp is only served with TLS and a token; missing: --tls-cert, --tls-key, --token-file."));
  for (const char* option : {"--tls-cert", "--tls-key", "--token-file"}) {
    auto words = serve_words();
    const auto at = std::find(words.begin(), words.end(), option);
    words.erase(at, at + 2);
    EXPECT_THAT(failed_start(words), HasSubstr("missing: " + std::string(option) + "."));
  }
  EXPECT_THAT(failed_start({kSofttpu, "serve", "--token-file", folder_ / "token"}),
              HasSubstr("--token-file without --tcp"));
}

TEST_F(RemoteStart, NeedsSecretsThatAreSecret) {
  auto words = serve_words();
  for (const char* file : {"key.pem", "token"}) {
    fs::permissions(folder_ / file, fs::perms::group_read, fs::perm_options::add);
    EXPECT_THAT(failed_start(words), HasSubstr("other users can read it"));
    fs::permissions(folder_ / file, fs::perms::group_read, fs::perm_options::remove);
  }
  make_certificate(folder_ / "other.pem", folder_ / "key.pem");
  EXPECT_THAT(failed_start(words), HasSubstr("key values mismatch"));
  std::ofstream(folder_ / "cert.pem") << "no certificate\n";
  EXPECT_THAT(failed_start(words), HasSubstr("TLS certificate " + (folder_ / "cert.pem").string()));
}

TEST_F(RemoteStart, NeedsAnAddressThatCanBeBound) {
  auto words = serve_words();
  words[3] = "nowhere";
  EXPECT_THAT(failed_start(words), HasSubstr("\"nowhere\" is not HOST:PORT"));
  words[3] = "192.0.2.1:0";  // reserved for documents
  EXPECT_THAT(failed_start(words), HasSubstr("listening on 192.0.2.1:0"));
}

TEST_F(RemoteStart, SaysWhatToDoWhenAnotherProgramHasTheAddress) {
  const UniqueFd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  ASSERT_EQ(::bind(taken.get(), reinterpret_cast<const sockaddr*>(&address), bytes), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ASSERT_EQ(::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  auto words = serve_words();
  words[3] = "127.0.0.1:" + std::to_string(::ntohs(address.sin_port));
  EXPECT_THAT(failed_start(words), HasSubstr("Address already in use. Another program listens there; --tcp can name"));
}

}  // namespace
}  // namespace softtpu::e2e
