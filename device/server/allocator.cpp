#include "device/server/allocator.hpp"

#include <algorithm>
#include <iterator>

namespace softtpu {

namespace {

std::uint64_t whole_pages(std::uint64_t bytes) {
  constexpr std::uint64_t kPage = Allocator::kPageBytes;
  return std::max(kPage, (bytes + kPage - 1) / kPage * kPage);
}

}  // namespace

bool Allocator::take(std::uint64_t address, std::uint64_t bytes) {
  if (address < start_ || address > end_ || bytes > end_ - address || (address - start_) % kPageBytes != 0)
    return false;
  const std::uint64_t need = whole_pages(bytes);
  if (need > end_ - address) return false;
  const auto next = blocks_.lower_bound(address);
  if (next != blocks_.end() && next->first - address < need) return false;
  if (next != blocks_.begin()) {
    const auto& [before, size] = *std::prev(next);
    if (address - before < size) return false;
  }
  blocks_.emplace(address, need);
  used_ += need;
  return true;
}

std::optional<std::uint64_t> Allocator::find_room(std::uint64_t bytes) {
  if (bytes > bytes_total()) return std::nullopt;
  const std::uint64_t need = whole_pages(bytes);
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
