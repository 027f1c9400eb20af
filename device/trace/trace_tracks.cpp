#include "device/trace/trace_tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace softtpu {
namespace {

using Json = nlohmann::json;

std::string metadata(const char* what, int process, int track, Json args) {
  return Json{{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", track}, {"args", std::move(args)}}.dump();
}

}  // namespace

int TraceTracks::engine(Engine engine) const {
  const auto place = std::find(kEngines.begin(), kEngines.end(), engine);
  return launches() + 1 + static_cast<int>(place - kEngines.begin());
}

std::string TraceTracks::names(const Chip& chip) const {
  std::string events = metadata("process_name", process(), launches(), {{"name", fmt::format("device {}", device_)}});
  events += ",\n" + metadata("process_labels", process(), launches(), {{"labels", chip.full_name()}});
  const auto name = [&](int track, std::string_view what) {
    events += ",\n" + metadata("thread_name", process(), track, {{"name", fmt::format("core {} {}", core_, what)}});
    events += ",\n" + metadata("thread_sort_index", process(), track, {{"sort_index", track}});
  };
  name(launches(), "launch");
  for (const Engine each : kEngines) name(engine(each), to_text(each));
  return events;
}

}  // namespace softtpu
