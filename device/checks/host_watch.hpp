// What the host program does to device memory, as far as checks have to know it. Lives on the server's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/checks/allocations.hpp"
#include "device/checks/client_findings.hpp"
#include "device/checks/findings.hpp"
#include "device/checks/launch_touches.hpp"
#include "device/checks/shadow.hpp"
#include "device/chip/chip.hpp"

namespace softtpu {

class HostWatch {
 public:
  struct Parts {
    std::shared_ptr<AllocationTable> allocations;
    std::shared_ptr<Shadow> shadow;           // null: writes are not followed
    std::shared_ptr<Findings> findings;       // the server's own
    std::shared_ptr<ClientFindings> clients;  // where they go; null: the device is not shared
    std::shared_ptr<LaunchTouches> touches;   // null: copies beside launches are not checked
    bool memory = false, output = false, symbols = false;
    std::vector<Chip> portable_to;
  };
  explicit HostWatch(Parts parts) : parts_(std::move(parts)) {}

  // What follows is this client's doing, and findings about it go there.
  void turn_to(std::uint64_t client, FindingSink& sink) {
    if (parts_.clients) parts_.clients->turn_to(client, sink);
  }
  void forget(std::uint64_t client) {
    if (parts_.clients) parts_.clients->forget(client);
    synced_.erase(client);
  }

  using Stack = std::vector<std::string>;
  void allocated(std::uint64_t client, std::uint64_t address, std::uint64_t bytes);
  // Where the program made the allocation: known a moment later.
  void located(std::uint64_t address, const Stack& stack);
  // The program says of what type the elements of its allocation are; empty: of several.
  void typed(std::uint64_t address, const std::string& type);
  void freed(std::uint64_t address, std::uint64_t bytes, const Stack& stack);
  void wrote(std::uint64_t address, std::uint64_t bytes);
  void read(std::uint64_t address, std::uint64_t bytes, const Stack& stack);
  // The client has waited for its launches; and copies without having done that, in the call of this name.
  void synced(std::uint64_t client);
  struct HostCopy {
    std::uint64_t address = 0, bytes = 0;
    bool to_device = false;
    std::string function;
  };
  void unordered_copy(std::uint64_t client, const HostCopy& copy, const Stack& stack);
  void refused_copy(const std::string& text, const Stack& stack);
  // A module with these undefined symbols is loaded.
  void loaded(const std::string& module, const std::vector<std::string>& undefined);
  bool wants_symbols() const { return parts_.symbols || !parts_.portable_to.empty(); }
  // The program gives the device back: what it has not freed is a leak.
  void closed(std::uint64_t client, const Stack& stack);

 private:
  Parts parts_;
  std::map<std::uint64_t, std::uint64_t> synced_;  // of each client: what launches touched before it last waited
};

}  // namespace softtpu
