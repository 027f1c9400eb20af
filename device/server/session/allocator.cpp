#include "device/server/session/allocator.hpp"

#include <algorithm>
#include <iterator>

namespace softtpu {

std::uint64_t Allocator::whole_pages(std::uint64_t bytes) {
  if (bytes > UINT64_MAX - kPageBytes) return bytes;  // more than any memory has
  return std::max(kPageBytes, (bytes + kPageBytes - 1) / kPageBytes * kPageBytes);
}

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
  add(address, need);
  return true;
}

std::uint64_t Allocator::space_before(Blocks::const_iterator block) const {
  if (block == blocks_.begin()) return start_;
  const auto& [address, size] = *std::prev(block);
  return address + size;
}

void Allocator::add_hole(std::uint64_t begin, std::uint64_t end) {
  if (begin < end) holes_.emplace(end - begin, begin);
}

// The place is free: it lies in a hole, or behind the last block.
void Allocator::add(std::uint64_t address, std::uint64_t bytes) {
  const auto next = blocks_.upper_bound(address);
  const std::uint64_t begin = space_before(next);
  if (next != blocks_.end()) {
    holes_.erase({next->first - begin, begin});
    add_hole(address + bytes, next->first);
  }
  add_hole(begin, address);
  blocks_.emplace_hint(next, address, bytes);
  used_ += bytes;
}

std::optional<std::uint64_t> Allocator::find_room(std::uint64_t bytes) {
  if (bytes > bytes_total()) return std::nullopt;
  const std::uint64_t need = whole_pages(bytes);
  const auto best = holes_.lower_bound({need, 0});
  const std::uint64_t address = best != holes_.end() ? best->second : tail();
  if (best == holes_.end() && end_ - address < need) return std::nullopt;
  add(address, need);
  return address;
}

std::optional<std::uint64_t> Allocator::release(std::uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return std::nullopt;
  const std::uint64_t bytes = found->second, begin = space_before(found);
  if (begin < address) holes_.erase({address - begin, begin});
  if (const auto next = std::next(found); next != blocks_.end()) {
    if (address + bytes < next->first) holes_.erase({next->first - address - bytes, address + bytes});
    add_hole(begin, next->first);
  }
  blocks_.erase(found);
  used_ -= bytes;
  return bytes;
}

std::uint64_t Allocator::largest_hole() const {
  return std::max(end_ - tail(), holes_.empty() ? 0 : holes_.rbegin()->first);
}

}  // namespace softtpu
