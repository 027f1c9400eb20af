#include "runtime/remote/strangers.hpp"

#include <algorithm>

namespace softtpu {

void Strangers::come(const std::string& address, void* visitor) {
  of_[address].push_back(visitor);
  ++count_;
}

void Strangers::go(const std::string& address, void* visitor) {
  const auto found = of_.find(address);
  if (found == of_.end()) return;
  count_ -= std::erase(found->second, visitor);
  if (found->second.empty()) of_.erase(found);
}

void* Strangers::who_makes_room(const std::string& address) const {
  const auto own = of_.find(address);
  if (own != of_.end() && own->second.size() >= kMostOfAddress) return own->second.front();
  if (count_ < kMost) return nullptr;
  const auto most = std::max_element(of_.begin(), of_.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return most->second.front();
}

}  // namespace softtpu
