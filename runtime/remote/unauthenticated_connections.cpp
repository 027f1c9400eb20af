#include "runtime/remote/unauthenticated_connections.hpp"

#include <algorithm>

namespace softtpu {

void UnauthenticatedConnections::add(const std::string& address, void* visitor) {
  of_[address].push_back(visitor);
  ++count_;
}

void UnauthenticatedConnections::remove(const std::string& address, void* visitor) {
  const auto found = of_.find(address);
  if (found == of_.end()) return;
  count_ -= std::erase(found->second, visitor);
  if (found->second.empty()) of_.erase(found);
}

void* UnauthenticatedConnections::next_to_evict(const std::string& address) const {
  const auto own = of_.find(address);
  if (own != of_.end() && own->second.size() >= kMostOfAddress) return own->second.front();
  if (count_ < kMost) return nullptr;
  const auto most = std::max_element(of_.begin(), of_.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return most->second.front();
}

}  // namespace softtpu
