#include "tests/e2e/shared_device.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "runtime/transport/socket.hpp"

namespace softtpu::e2e {
namespace {

namespace fs = std::filesystem;

// A test that goes on without its connection would only fail later and less clearly.
template <class T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text);
  return *std::move(result);
}

}  // namespace

SharedDevice::SharedDevice(const Environment& environment, const std::vector<std::string>& options)
    : options_(options), environment_(environment) {
  static std::atomic<int> number{0};
  folder_ =
      fs::temp_directory_path() / ("softtpu-shared-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
  fs::create_directory(folder_);
  socket_ = folder_ / "softtpu" / "device.sock";
  environment_["XDG_RUNTIME_DIR"] = folder_;
  restart();
  environment_["SOFTTPU_DEVICE"] = "unix:" + socket_.string();
}

void SharedDevice::restart() {
  std::vector<std::string> words = {kSofttpu, "serve"};
  words.insert(words.end(), options_.begin(), options_.end());
  server_ = std::make_unique<Program>(words, environment_);
  if (!server_->wait_for_output("use with SOFTTPU_DEVICE=unix:")) throw std::runtime_error(server_->output());
}

void SharedDevice::kill_server() {
  server_->kill(SIGKILL);
  EXPECT_EQ(server_->wait(), 128 + SIGKILL);
  EXPECT_TRUE(server_->leaves_nothing(std::chrono::seconds(1)));
}

SharedDevice::~SharedDevice() {
  server_->kill(SIGTERM);
  EXPECT_EQ(server_->wait(std::chrono::seconds(5)), 0) << server_->output();
  EXPECT_TRUE(server_->leaves_nothing());
  EXPECT_FALSE(fs::exists(socket_));
  fs::remove_all(folder_);
}

pid_t SharedDevice::core() const {
  const auto cores = server_->processes("softtpu-core0");
  return cores.empty() ? -1 : cores.front();
}

bool SharedDevice::has_soon_queued(std::uint32_t launches) const {
  RpcClient rpc(need(connect_unix(socket_)));
  need(rpc.call<msg::HelloReply>(msg::Hello{}));
  need(rpc.call<msg::OpenReply>(msg::Open{0, false, {}}));
  return eventually([&] { return need(rpc.call<msg::StatReply>(msg::Stat{})).queued >= launches; });
}

std::size_t SharedDevice::open_files() const {
  const fs::path folder = fs::path("/proc") / std::to_string(server_->pid()) / "fd";
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

Client::Client(const fs::path& socket) : rpc_(need(connect_unix(socket))) {
  need(rpc_.call<msg::HelloReply>(msg::Hello{}));
  device_ = need(rpc_.call<msg::OpenReply>(msg::Open{0, false, {}}));
  memory_ = need(rpc_.call<msg::AllocateReply>(msg::Allocate{kWords * sizeof(int)})).address;
  load(kFaultKernels);
}

void Client::load(const std::string& module) {
  const UniqueFd file(::open(module.c_str(), O_RDONLY | O_CLOEXEC));
  const int fd = file.get();
  need(rpc_.call<msg::LoadModuleReply>(msg::LoadModule{module, {}}, std::span(&fd, 1)));
}

Result<msg::Done> Client::launch(const std::string& kernel, int value, std::uint64_t address, std::uint32_t stream) {
  const e2e_param_t param = {address != 0 ? address : memory_, kWords, value};
  Bytes args(sizeof param);
  std::memcpy(args.data(), &param, sizeof param);
  return rpc_.call<msg::Done>(msg::make_launch(stream, 0, kernel, std::move(args)));
}

Result<msg::Done> Client::crash(const std::string& kernel, int value, std::uint64_t address, double* first_ms) {
  const auto start = std::chrono::steady_clock::now();
  auto done = launch(kernel, value, address);
  if (first_ms != nullptr) *first_ms = milliseconds_since(start);
  for (int i = 0; i < 4 && !done && done.error().text.find("could not be read in time") != std::string::npos; ++i) {
    done = launch(kernel, value, address);
  }
  return done;
}

std::vector<int> Client::words() {
  const msg::ReadReply reply = need(rpc_.call<msg::ReadReply>(msg::Read{memory_, kWords * sizeof(int)}));
  std::vector<int> words(kWords);
  std::memcpy(words.data(), reply.data.data(), reply.data.size());
  return words;
}

void Client::write_words(const std::vector<int>& words) {
  msg::Write write{memory_, Bytes(words.size() * sizeof(int))};
  std::memcpy(write.data.data(), words.data(), write.data.size());
  need(rpc_.call<msg::Done>(write));
}

bool Client::works(int value) {
  if (auto done = launch("fault_nothing", value); !done) {
    ADD_FAILURE() << done.error().text;
    return false;
  }
  const std::vector<int> words = this->words();
  for (int i = 0; i < kWords; ++i) {
    if (words[static_cast<std::size_t>(i)] != value + i) return false;
  }
  return true;
}

void print_recovery(std::chrono::steady_clock::time_point fault) {
  std::printf("| recovery | work goes on after %.1f ms |\n", milliseconds_since(fault));
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace softtpu::e2e
