// A device served by a process of its own, and clients of it that speak its protocol.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runtime/transport/rpc_client.hpp"
#include "tests/e2e/kernels/e2e_param.h"
#include "tests/e2e/processes.hpp"

namespace softtpu::e2e {

// "softtpu serve" in a folder of its own. Its end is checked: status 0, no process, no socket.
class SharedDevice {
 public:
  explicit SharedDevice(const Environment& environment = {}, const std::vector<std::string>& options = {});
  ~SharedDevice();
  SharedDevice(const SharedDevice&) = delete;
  SharedDevice& operator=(const SharedDevice&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& socket() const { return socket_; }
  // For programs that use the device.
  const Environment& environment() const { return environment_; }
  Program& server() { return *server_; }
  pid_t core() const;
  void kill_server();
  // Another server on the same socket.
  void restart();
  // Waits until so many launches of all clients, at least, wait or run.
  bool has_soon_queued(std::uint32_t launches) const;
  // Entries of the server's /proc/PID/fd.
  std::size_t open_files() const;

 private:
  std::filesystem::path folder_, socket_;
  std::vector<std::string> options_;
  Environment environment_;
  std::unique_ptr<Program> server_;
};

// One connection with a device, memory and the fault kernels.
class Client {
 public:
  static constexpr int kWords = 1024;

  explicit Client(const std::filesystem::path& socket);

  RpcClient& rpc() { return rpc_; }
  const msg::OpenReply& device() const { return device_; }
  std::uint64_t memory() const { return memory_; }
  void load(const std::string& module);
  // Runs a kernel that gets the client's memory, unless another address is given.
  Result<msg::Done> launch(const std::string& kernel, int value = 0, std::uint64_t address = 0,
                           std::uint32_t stream = 1);
  // A kernel that crashes; again, when the machine was too busy to read the source lines of the report in time.
  // `first_ms` gets the time to the first report.
  Result<msg::Done> crash(const std::string& kernel, int value = 0, std::uint64_t address = 0,
                          double* first_ms = nullptr);
  // A kernel of the client's own that works, with its result checked.
  bool works(int value = 1000);
  std::vector<int> words();
  void write_words(const std::vector<int>& words);

 private:
  RpcClient rpc_;
  msg::OpenReply device_;
  std::uint64_t memory_ = 0;
};

double milliseconds_since(std::chrono::steady_clock::time_point start);
// For tests/faults_table.py: work has just gone on after a fault.
void print_recovery(std::chrono::steady_clock::time_point fault);

}  // namespace softtpu::e2e
