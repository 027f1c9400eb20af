// Where allocations lie in global memory. Only addresses: nothing here touches the memory itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace softtpu {

// Best fit over page-sized units, as the vendor's emulator does it (measured): the smallest hole that suffices, its low
// end; the space behind the last allocation counts only when no hole suffices. Every call takes O(log n) of n
// allocations. Not thread-safe.
class Allocator {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;

  // What an allocation of so many bytes takes.
  static std::uint64_t whole_pages(std::uint64_t bytes);

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
  using Blocks = std::map<std::uint64_t, std::uint64_t>;

  std::uint64_t tail() const { return blocks_.empty() ? start_ : blocks_.rbegin()->first + blocks_.rbegin()->second; }
  // Where the space before this block begins.
  std::uint64_t space_before(Blocks::const_iterator block) const;
  void add(std::uint64_t address, std::uint64_t bytes);
  void add_hole(std::uint64_t begin, std::uint64_t end);

  std::uint64_t start_, end_;
  std::uint64_t used_ = 0;
  Blocks blocks_;                                            // address, bytes
  std::set<std::pair<std::uint64_t, std::uint64_t>> holes_;  // bytes, address; without the space behind the last block
};

}  // namespace softtpu
