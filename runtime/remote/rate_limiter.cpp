#include "runtime/remote/rate_limiter.hpp"

#include <algorithm>

namespace softtpu {

bool RateLimiter::blocks(const std::string& address, Clock::time_point now) const {
  const auto row = rows_.find(address);
  return row != rows_.end() && row->second.failures >= kMostFailures && now - row->second.last < kMemory;
}

bool RateLimiter::failed(const std::string& address, Clock::time_point now) {
  if (!rows_.contains(address)) make_room(now);
  Row& row = rows_[address];
  row.failures = now - row.last < kMemory ? row.failures + 1 : 1;
  row.last = now;
  return row.failures == kMostFailures;
}

void RateLimiter::make_room(Clock::time_point now) {
  if (rows_.size() < kMostAddresses) return;
  std::erase_if(rows_, [now](const auto& row) { return now - row.second.last >= kMemory; });
  if (rows_.size() < kMostAddresses) return;
  rows_.erase(std::min_element(rows_.begin(), rows_.end(),
                               [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

}  // namespace softtpu
