// What one client of a shared device holds, over all of its connections, and how much of everything it may. A client is
// a process, or an address where a gateway brings it. Lives on the server's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "device/server/queue/crash_debt.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

class EventLoop;

// The defaults are those of a device that one program has for itself: nothing is limited.
struct ShareLimits {
  std::uint64_t memory_bytes = UINT64_MAX;  // of each device
  std::size_t modules = SIZE_MAX;
  std::size_t descriptors = SIZE_MAX;  // of the server: one of a connection, one of a module for each core
  std::size_t connections = SIZE_MAX;
};

class ClientShare : public std::enable_shared_from_this<ClientShare> {
 public:
  explicit ClientShare(const ShareLimits& limits) : limits_(limits) {}

  // Given back when the last copy of it goes.
  using Hold = std::shared_ptr<void>;
  Result<Hold> hold_connection();
  Result<Hold> hold_module(std::size_t descriptors);

  Result<void> take_memory(const void* device, std::uint64_t bytes);
  void give_memory(const void* device, std::uint64_t bytes) { bytes_[device] -= bytes; }

  // What its crashes have cost others, on all devices of the server.
  std::shared_ptr<CrashDebt> crash_debt() const { return crash_debt_; }

  // How long one of the client's connections may work before others are served.
  static constexpr std::chrono::microseconds kTurn{200};
  // Calls back when others have been served. One of the client's connections after the other: many get no more of the
  // server than one.
  void wait_for_turn(EventLoop& loop, std::function<void()> callback);
  // Some wait for their turn.
  bool is_busy() const { return !turns_.empty(); }

  // Loads, unloads and definitions: a core has one of the client at a time, so that others' launches come in between.
  // The job calls the function that it is given when it is through.
  using Job = std::function<void(std::function<void()>)>;
  void in_turn(Job job);

 private:
  Result<Hold> hold(std::size_t& count, std::size_t most, const char* what, const char* setting,
                    std::size_t descriptors);
  void next_job();
  void next_turn(EventLoop& loop);

  const ShareLimits limits_;
  std::size_t connections_ = 0, modules_ = 0, descriptors_ = 0;
  std::map<const void*, std::uint64_t> bytes_;
  std::shared_ptr<CrashDebt> crash_debt_ = std::make_shared<CrashDebt>();
  std::deque<Job> jobs_;
  bool in_core_ = false, starting_ = false;
  std::deque<std::function<void()>> turns_;
  bool turn_comes_ = false;
};

// The shares of all clients that are there.
class ClientShares {
 public:
  explicit ClientShares(const ShareLimits& limits = {}) : limits_(limits) {}
  std::shared_ptr<ClientShare> of(const std::string& client);

 private:
  ShareLimits limits_;
  std::map<std::string, std::weak_ptr<ClientShare>> shares_;
};

}  // namespace softtpu
