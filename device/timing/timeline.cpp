#include "device/timing/timeline.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

namespace softtpu {
namespace {

using Json = nlohmann::json;

constexpr std::array<Engine, kQueues> kEngines = {Engine::kBdc, Engine::kGdma, Engine::kSdma, Engine::kHau};
Engine engine_of(Queue queue) { return kEngines[static_cast<std::size_t>(queue)]; }

class Timeline {
 public:
  Timeline(const LaunchTime& launch, const TraceTracks& tracks, double base_us)
      : launch_(launch), tracks_(tracks), base_(base_us) {}

  std::string text() {
    add_launch();
    for (const CommandTime& command : launch_.placed) add(command);
    add_bandwidth();
    add_local_memory();
    return std::move(text_);
  }

 private:
  void append(const Json& event) {
    if (!text_.empty()) text_ += ",\n";
    text_ += event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  void add_launch() {
    append({{"ph", "X"},
            {"name", launch_.kernel},
            {"cat", "launch"},
            {"pid", tracks_.process()},
            {"tid", tracks_.launches()},
            {"ts", base_},
            {"dur", launch_.total_us()},
            {"args", {{"bound by", to_text(launch_.bound())}, {"commands", launch_.commands}}}});
  }

  void add(const CommandTime& command) {
    const EngineSlot& placed = command.placed;
    const CallTime& call = launch_.calls[command.call];
    Json args = {{"issued", base_ + placed.issued_us}, {"bytes", command.ddr_bytes}};
    if (!call.where.empty()) args["at"] = call.where;
    if (placed.waited_us > 0) {
      args["waited_us"] = placed.waited_us;
      args["waited_for"] = to_text(placed.waited_for);
    }
    append({{"ph", "X"},
            {"name", call.name()},
            {"cat", to_text(placed.queue)},
            {"pid", tracks_.process()},
            {"tid", tracks_.engine(engine_of(placed.queue))},
            {"ts", base_ + placed.start_us},
            {"dur", placed.end_us - placed.start_us},
            {"args", std::move(args)}});
  }

  void add_counter(const char* what, const char* unit, double us, double value) {
    append({{"ph", "C"},
            {"name", fmt::format("core {} {}", launch_.core, what)},
            {"pid", tracks_.process()},
            {"ts", base_ + us},
            {"args", {{unit, value}}}});
  }

  // The copy engine works on one command at a time.
  void add_bandwidth() {
    for (const CommandTime& command : launch_.placed) {
      const double us = command.placed.end_us - command.placed.start_us;
      if (command.ddr_bytes <= 0 || us <= 0) continue;
      add_counter("DDR bandwidth", "GB/s", command.placed.start_us, command.ddr_bytes / us / 1e3);
      add_counter("DDR bandwidth", "GB/s", command.placed.end_us, 0);
    }
  }

  void add_local_memory() {
    std::map<double, double> changes;
    for (const LocalBlock& block : launch_.local.blocks()) {
      const auto bytes = static_cast<double>(block.bytes());
      changes[block.from_us] += bytes;
      changes[block.to_us] -= bytes;
    }
    double used = 0;
    for (const auto& [us, change] : changes) {
      used += change;
      add_counter("local memory", "KiB", us, used / 1024);
    }
  }

  const LaunchTime& launch_;
  const TraceTracks& tracks_;
  double base_;
  std::string text_;
};

}  // namespace

std::string to_timeline(const LaunchTime& launch, const TraceTracks& tracks, double base_us) {
  return Timeline(launch, tracks, base_us).text();
}

}  // namespace softtpu
