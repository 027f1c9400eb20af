#include "device/server/allocator.hpp"

#include <algorithm>

namespace softtpu {

std::optional<std::uint64_t> Allocator::find_room(std::uint64_t bytes) {
  if (bytes > bytes_total()) return std::nullopt;
  const std::uint64_t need = std::max(kPageBytes, (bytes + kPageBytes - 1) / kPageBytes * kPageBytes);
  std::uint64_t best = 0, best_bytes = UINT64_MAX, at = start_;
  for (const auto& [address, size] : blocks_) {
    const std::uint64_t hole = address - at;
    if (hole >= need && hole < best_bytes) {
      best = at;
      best_bytes = hole;
    }
    at = address + size;
  }
  if (best_bytes == UINT64_MAX) {
    best = tail();
    if (end_ - best < need) return std::nullopt;
  }
  blocks_.emplace(best, need);
  used_ += need;
  return best;
}

std::optional<std::uint64_t> Allocator::release(std::uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return std::nullopt;
  const std::uint64_t bytes = found->second;
  used_ -= bytes;
  blocks_.erase(found);
  return bytes;
}

std::uint64_t Allocator::largest_hole() const {
  std::uint64_t largest = end_ - tail(), at = start_;
  for (const auto& [address, size] : blocks_) {
    largest = std::max(largest, address - at);
    at = address + size;
  }
  return largest;
}

}  // namespace softtpu
