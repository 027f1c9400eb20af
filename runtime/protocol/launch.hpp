// A launch, as a host program makes it and as the queue of the device keeps it: one type for the host's libraries, for
// the wire and for the server. What a core gets of it is CoreLaunch (core_messages.hpp).
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/protocol/message_type.hpp"

namespace softtpu {

// The limits of any SDK. The host libraries refuse what is above them, and the server whatever comes from elsewhere.
inline constexpr std::size_t kMaxKernelName = 64;     // characters
inline constexpr std::size_t kMaxLaunchArgs = 65536;  // bytes; libbmlib's limit is lower
// Steps of a compiled network in one launch (steps_in); more are several launches, one behind the other.
inline constexpr std::size_t kMaxNetworkSteps = 96;

namespace msg {

// A call of a function of a module.
struct KernelCall {
  std::uint32_t function = 0;  // 0: the launch names it
  std::vector<std::uint8_t> args;
  bool operator==(const KernelCall&) const = default;
};

// Bytes of global memory; 0 bytes: there are none.
struct MemoryRange {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool operator==(const MemoryRange&) const = default;
};

// ---- Compiled networks. Steps are carried out in order; areas hold for the groups behind them. ----

// Within global memory.
struct NetworkCopy {
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;
  bool operator==(const NetworkCopy&) const = default;
};

// The compiled addresses from `begin` to before `end` lie at `at` in this device.
struct NetworkArea {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t at = 0;
  bool contains(std::uint64_t address) const { return address >= begin && address < end; }
  bool operator==(const NetworkArea&) const = default;
};

// Instructions of all units, which wait for each other as the instructions say.
struct NetworkGroup {
  MemoryRange tiu;
  MemoryRange dma;
  MemoryRange sdma;
  MemoryRange layers;              // names of the group's layers, for reports (runtime/bmodel/tensor_map.hpp)
  std::vector<NetworkCopy> keeps;  // each is made when what it copies has been written for the last time
  bool is_check = false;           // the instructions are only read and judged
  bool operator==(const NetworkGroup&) const = default;
};

// Waits for all cores of the launch.
struct NetworkBarrier {
  bool operator==(const NetworkBarrier&) const = default;
};

using NetworkStep = std::variant<NetworkCopy, NetworkArea, NetworkGroup, NetworkBarrier>;

// What a step counts as.
inline std::size_t steps_in(const NetworkStep& step) {
  const auto* group = std::get_if<NetworkGroup>(&step);
  return group == nullptr ? 1 : 1 + group->keeps.size() + (group->sdma.bytes != 0) + (group->layers.bytes != 0);
}

// Part of a compiled network, or all of it.
struct NetworkCall {
  std::string name;
  std::vector<NetworkStep> steps;
  // What messages and reports call it where they name a kernel.
  std::string kernel_name() const { return "network " + name; }
  bool operator==(const NetworkCall&) const = default;
};

// What one core does.
using Call = std::variant<KernelCall, NetworkCall>;

struct LaunchPart {
  std::uint32_t core = 0;
  Call call;
  bool operator==(const LaunchPart&) const = default;
};

// Nearly every launch has one.
using LaunchParts = boost::container::small_vector<LaunchPart, 1>;

// Every part is done by a core of its own, all at the same time. Answered when they are done if `wait`, else not at
// all: Sync reports what happened.
struct Launch {
  static constexpr MessageType kType = MessageType::kLaunch;
  std::uint32_t stream = 0;
  bool wait = true;
  std::string name;               // of a kernel that is looked up in all modules, first registered first
  LaunchParts parts;              // one at least
  std::uint32_t cores = 1;        // the only part is done by so many cores, from its own on
  std::uint32_t repetitions = 1;  // one after the other
};

// A kernel on one core. `name` counts where `function` is 0.
inline Launch make_launch(std::uint32_t stream, std::uint32_t function, std::string name,
                          std::vector<std::uint8_t> args, bool wait = true) {
  Launch launch;
  launch.stream = stream;
  launch.wait = wait;
  launch.name = std::move(name);
  launch.parts.push_back({0, KernelCall{function, std::move(args)}});
  return launch;
}

}  // namespace msg
}  // namespace softtpu
