// The interface of tools that watch commands (trace, checks, timing). The core knows nothing else about them.
#pragma once

#include <cstdint>
#include <string>

#include "device/command/refusal.hpp"
#include "device/engines/command.hpp"
#include "device/isa/op.hpp"

namespace softtpu {

class Memories;
struct LaunchOutcome;

// Called on the core's own thread, around each command. Must not change the device.
struct Observer {
  virtual ~Observer() = default;
  virtual bool wants(Op) const { return true; }  // asked once per function and launch: no interest, no cost
  virtual void launch_begins(const Memories&, const std::string& /*kernel*/, int /*core*/) {}
  virtual void before(Op, const Command&) {}
  virtual void after(Op, const Command&) {}
  // The command breaks a rule and is not executed.
  virtual void refused(Op, const Command&, const Refusal&) {}
  // The kernel's own code got a pointer to this address (unified local, or of the system map).
  virtual void pointer(Op, Space, std::uint64_t /*address*/) {}
  // The kernel asks whether it may read, or else write, all of these bytes of a system memory.
  virtual void asked(Op, const Tensor&, bool /*reads*/) {}
  virtual void launch_ends(const std::string& /*fault; empty when the launch succeeded*/) {}
  // Adds this tool's results (e.g. the estimated time) to the outcome of the finished launch.
  virtual void add_to(LaunchOutcome&) const {}
};

}  // namespace softtpu
