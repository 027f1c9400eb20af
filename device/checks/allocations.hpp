// The allocations of a device, alive and freed, as its server knows them and its cores' checks ask for them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/memory/shared_bytes.hpp"

namespace softtpu {

struct AllocationRecord {
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t client = 0;
  std::string allocated_text = {}, freed_text = {};  // stacks of the host program, a line each, innermost first
  std::string type = {};                             // of its elements, as far as the host program says
  std::uint64_t freed = 0;                           // later ones have a greater number; 0: it is alive

  std::vector<std::string> allocated_at() const;
  std::vector<std::string> freed_at() const;
};

// What a reader knows of a table.
class KnownAllocations {
 public:
  bool complete() const { return complete_; }  // false: there were more live allocations than the table has room for

  std::vector<const AllocationRecord*> live() const;                // by address
  const AllocationRecord* before(std::uint64_t address) const;      // the live one that begins last before or at it
  const AllocationRecord* from(std::uint64_t address) const;        // the live one that begins first at or after it
  const AllocationRecord* find(std::uint64_t address) const;        // a live one that holds the address
  const AllocationRecord* find_freed(std::uint64_t address) const;  // the latest freed one that held it

 private:
  friend class AllocationTable;
  void set(std::size_t place, AllocationRecord record);

  std::vector<AllocationRecord> places_;
  std::map<std::uint64_t, std::size_t> live_;  // address -> place
  bool complete_ = true;
  std::uint64_t version_ = 0, changes_ = 0;
};

// Written by the server's thread, read by the cores; a version number tells readers that a change is under way.
class AllocationTable {
 public:
  static constexpr std::size_t kEntries = 16384;
  static constexpr std::size_t kMostFreed = 1024;  // that are remembered

  static Result<std::shared_ptr<AllocationTable>> create();

  void add(const AllocationRecord& record);
  void locate(std::uint64_t address, const std::vector<std::string>& at);
  void set_type(std::uint64_t address, const std::string& type);
  void free(std::uint64_t address, const std::vector<std::string>& at);

  KnownAllocations read() const;
  // Reads what has changed since `known` was read: programs allocate and free memory around each launch.
  void update(KnownAllocations& known) const;

 private:
  struct Entry;
  struct Header;
  class Change;
  explicit AllocationTable(SharedBytes bytes) : bytes_(std::move(bytes)) {}
  Header& header() const;
  Entry* entries() const;
  std::uint64_t version() const;
  Entry* find_place();
  Entry* find_live(std::uint64_t address);
  void note_change(const Entry& entry);

  SharedBytes bytes_;
  // The server's own.
  std::map<std::uint64_t, std::size_t> live_;  // address -> place
  std::deque<std::size_t> freed_;              // places, the one that was freed first at the front
};

}  // namespace softtpu
