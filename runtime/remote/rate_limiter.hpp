// Which addresses may not connect for now, because they have failed too often. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace softtpu {

// An address with kMostFailures failures, each within kMemory of the one before, is blocked for kMemory after the last
// of them.
class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kMostFailures = 5;
  static constexpr std::chrono::seconds kMemory{60};
  // So many addresses are remembered; beyond them the one that failed longest ago is forgotten.
  static constexpr std::size_t kMostAddresses = 4096;

  bool blocks(const std::string& address, Clock::time_point now) const;
  // True when this failure is the one that blocks the address.
  bool failed(const std::string& address, Clock::time_point now);
  std::size_t size() const { return rows_.size(); }

 private:
  struct Row {
    int failures = 0;
    Clock::time_point last;
  };
  void make_room(Clock::time_point now);
  std::map<std::string, Row> rows_;
};

}  // namespace softtpu
