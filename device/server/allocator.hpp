// Where allocations lie in global memory. Only addresses: nothing here touches the memory itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace softtpu {

// Best fit over page-sized units, as the vendor's emulator does it (measured): the smallest hole that suffices, its low
// end; the space behind the last allocation counts only when no hole suffices. Not thread-safe.
class Allocator {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;

  Allocator(std::uint64_t start, std::uint64_t end) : start_(start), end_(end) {}

  // A size of 0 takes one page, so that every allocation has its own address. nullopt: no hole is large enough.
  std::optional<std::uint64_t> find_room(std::uint64_t bytes);
  // Takes this place. False: it is not free, or no place of an allocation.
  bool take(std::uint64_t address, std::uint64_t bytes);
  // The bytes given back (whole pages); nullopt: nothing was allocated at this address.
  std::optional<std::uint64_t> release(std::uint64_t address);

  std::uint64_t start() const { return start_; }
  std::uint64_t end() const { return end_; }
  std::uint64_t bytes_total() const { return end_ - start_; }
  std::uint64_t bytes_used() const { return used_; }
  // What one allocation can get at most.
  std::uint64_t largest_hole() const;

 private:
  std::uint64_t tail() const { return blocks_.empty() ? start_ : blocks_.rbegin()->first + blocks_.rbegin()->second; }

  std::uint64_t start_, end_;
  std::uint64_t used_ = 0;
  std::map<std::uint64_t, std::uint64_t> blocks_;  // address, bytes
};

}  // namespace softtpu
