// The connections that have not shown a token yet: which of them makes room when there are too many. Not thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>

namespace softtpu {

class UnauthenticatedConnections {
 public:
  static constexpr std::size_t kMost = 128;
  static constexpr std::size_t kMostOfAddress = 16;

  void add(const std::string& address, void* visitor);
  void remove(const std::string& address, void* visitor);
  // The one to close before another one of this address may come; nullptr: there is room.
  void* next_to_evict(const std::string& address) const;
  std::size_t size() const { return count_; }

 private:
  std::map<std::string, std::deque<void*>> of_;  // oldest first
  std::size_t count_ = 0;
};

}  // namespace softtpu
