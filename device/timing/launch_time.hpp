// What the time model has to say about one launch. Reports (text, record, timeline) read this and nothing else.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "device/core/call_site.hpp"
#include "device/footprint/local_map.hpp"
#include "device/timing/command_cost.hpp"
#include "device/timing/engine_times.hpp"
#include "device/timing/fit.hpp"

namespace softtpu {

// A function called from one place of the kernel, all its commands together.
struct CallTime {
  Op op{};
  CallStack stack;
  std::string where;  // "kernel.c:42", a function's name, or empty
  std::uint64_t commands = 0;
  double engine_us = 0, waited_us = 0, operations = 0, ideal_us = 0;
  std::array<double, kBytePaths> bytes{};

  std::string name() const { return call_name(op, stack); }
};

struct CommandTime {
  EngineSlot placed;
  std::size_t call = 0;  // index into calls
  double ddr_bytes = 0;
};

struct QueueTime {
  double busy_us = 0;
  std::array<double, kWaitKinds> waited_us{};
};

// What would make the launch faster (advice.hpp).
struct Advice {
  std::string rule;  // its name, "repeated-work"
  std::string text;  // one sentence, with the saving
  double saves_us = 0;
  std::optional<std::size_t> call;  // index into calls; none: the whole launch
};

struct LaunchTime {
  std::string kernel;
  int core = 0;
  std::uint64_t number = 0;  // launches of this core, from 1
  std::uint64_t commands = 0;
  int cores = 1, workitem = 0;  // of the launch, and which of them this is
  Moment end;
  double last_us = 0;  // when the launch ends on all cores that have ended
  double waited_for_cores_us = 0;
  std::array<QueueTime, kQueues> queues;
  std::array<double, kBytePaths> bytes{};
  double operations = 0, ideal_us = 0;
  std::vector<CallTime> calls;
  std::vector<CommandTime> placed;  // in the order of issue; empty unless single commands were asked for
  LocalMap local;                   // likewise
  std::vector<Advice> advice;
  std::string precision;          // of a network's products
  std::optional<FitError> error;  // that networks of this precision had; none: a kernel, or nothing was compared

  double total_us() const { return end.us; }
  // What the largest part of the launch's critical chain was spent on.
  Spent bound() const;
  double share(double us) const { return end.us > 0 ? us / end.us : 0; }
  double ddr_bytes() const {
    return bytes[static_cast<std::size_t>(BytePath::kDdrRead)] + bytes[static_cast<std::size_t>(BytePath::kDdrWrite)];
  }
  // Indices of calls, the costliest first.
  std::vector<std::size_t> costliest() const;
};

// "83 % fitted, 17 % guesses": what an estimate rests on.
std::string basis_text(const ByBasis& by_basis);
// For people: a block of lines.
std::string to_text(const LaunchTime& launch, const CostModel& model);
// One line of JSON; docs/time.md describes it.
std::string to_record(const LaunchTime& launch, const CostModel& model);

}  // namespace softtpu
