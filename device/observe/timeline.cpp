#include "device/observe/timeline.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

namespace softtpu {
namespace {

using Json = nlohmann::json;

constexpr std::array kTracks = {"BDC", "GDMA", "HAU", "launch"};
constexpr int kLaunchTrack = 3;

class Timeline {
 public:
  Timeline(const LaunchTime& launch, double base_us) : launch_(launch), base_(base_us) {}

  std::string text() {
    name_tracks();
    add_launch();
    for (const CommandTime& command : launch_.placed) add(command);
    add_bandwidth();
    add_local_memory();
    return std::move(text_);
  }

 private:
  int track(int engine) const { return launch_.core * 10 + engine; }

  void append(const Json& event) {
    if (!text_.empty()) text_ += ",\n";
    text_ += event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  void name_tracks() {
    for (std::size_t i = 0; i < kTracks.size(); ++i) {
      const std::string name = fmt::format("core {} {}", launch_.core, kTracks[i]);
      append({{"ph", "M"},
              {"name", "thread_name"},
              {"pid", 1},
              {"tid", track(static_cast<int>(i))},
              {"args", {{"name", name}}}});
    }
  }

  void add_launch() {
    append({{"ph", "X"},
            {"name", launch_.kernel},
            {"cat", "launch"},
            {"pid", 1},
            {"tid", track(kLaunchTrack)},
            {"ts", base_},
            {"dur", launch_.total_us()},
            {"args", {{"bound by", to_text(launch_.bound())}, {"commands", launch_.commands}}}});
  }

  void add(const CommandTime& command) {
    const Placed& placed = command.placed;
    const CallTime& call = launch_.calls[command.call];
    Json args = {{"issued", base_ + placed.issued_us}, {"bytes", command.ddr_bytes}};
    if (!call.where.empty()) args["at"] = call.where;
    if (placed.waited_us > 0) {
      args["waited_us"] = placed.waited_us;
      args["waited_for"] = to_text(placed.waited_for);
    }
    append({{"ph", "X"},
            {"name", info(call.op).name},
            {"cat", to_text(placed.queue)},
            {"pid", 1},
            {"tid", track(static_cast<int>(placed.queue))},
            {"ts", base_ + placed.start_us},
            {"dur", placed.end_us - placed.start_us},
            {"args", std::move(args)}});
  }

  void add_counter(const char* what, const char* unit, double us, double value) {
    append({{"ph", "C"},
            {"name", fmt::format("core {} {}", launch_.core, what)},
            {"pid", 1},
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
  double base_;
  std::string text_;
};

}  // namespace

std::string to_timeline(const LaunchTime& launch, double base_us) { return Timeline(launch, base_us).text(); }

}  // namespace softtpu
