// The allocations of a device, alive and freed, as its server knows them and its cores' checks ask for them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/memory/shared_bytes.hpp"

namespace softtpu {

struct AllocationRecord {
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t client = 0;
  std::vector<std::string> allocated_at, freed_at;  // stacks of the host program, innermost first
  std::string type = {};                            // of its elements, as far as the host program says
};

// Written by the server's thread, read by the cores; a version number tells readers that a change is under way.
class AllocationTable {
 public:
  static constexpr std::size_t kEntries = 16384;

  static Result<std::shared_ptr<AllocationTable>> create();

  void add(const AllocationRecord& record);
  void locate(std::uint64_t address, const std::vector<std::string>& at);
  void set_type(std::uint64_t address, const std::string& type);
  void free(std::uint64_t address, const std::vector<std::string>& at);

  std::uint64_t version() const;
  // What the table holds; `complete` is false when there were more live allocations than it has room for.
  struct Contents {
    std::map<std::uint64_t, AllocationRecord> live;  // by address
    std::vector<AllocationRecord> freed;             // latest first
    bool complete = true;
    std::uint64_t version = 0;

    // The live allocation that begins last before or at the address; nullptr: none.
    const AllocationRecord* before(std::uint64_t address) const;
    const AllocationRecord* find(std::uint64_t address) const;        // a live one that holds the address
    const AllocationRecord* find_freed(std::uint64_t address) const;  // the latest freed one that held it
  };
  Contents read() const;

 private:
  struct Entry;
  struct Header;
  class Change;
  explicit AllocationTable(SharedBytes bytes) : bytes_(std::move(bytes)) {}
  Header& header() const;
  Entry* entries() const;
  Entry* find_place();
  Entry* find_live(std::uint64_t address);

  SharedBytes bytes_;
};

}  // namespace softtpu
