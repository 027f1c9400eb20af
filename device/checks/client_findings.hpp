// The findings of a device that several clients share: each client has a list and a limit of its own, and what is found
// goes to the connection of the client that caused it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "device/checks/findings.hpp"

namespace softtpu {

// Threads: one at a time (the core's own, or the server's).
class ClientFindings {
 public:
  // The options' sink is replaced by the clients' own.
  explicit ClientFindings(Findings::Options options);

  // What checks add to; it stays the same object for the turns of all clients.
  const std::shared_ptr<Findings>& list() const { return list_; }
  // Findings that follow are this client's. The sink is used until the next turn.
  void turn_to(std::uint64_t client, FindingSink& sink);
  // The client is gone.
  void forget(std::uint64_t client);

 private:
  class Switch;
  struct Kept {
    std::uint64_t turn = 0;  // when it was put aside
    Findings findings;
  };
  void put_aside();

  std::shared_ptr<Switch> switch_;
  Findings::Options options_;
  std::shared_ptr<Findings> list_;
  std::uint64_t client_ = 0, turns_ = 0;
  std::map<std::uint64_t, Kept> others_;  // clients that have findings and not the turn
};

}  // namespace softtpu
