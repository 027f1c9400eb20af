// The record of one launch for programs: a line of JSON, described in docs/time.md.
#include <cmath>
#include <nlohmann/json.hpp>

#include "device/timing/launch_time.hpp"
#include "runtime/base/text.hpp"

namespace softtpu {
namespace {

using Json = nlohmann::json;

// Beyond these a page could not show them anyway; the totals count everything.
constexpr std::size_t kMostCommands = 4000;
constexpr std::size_t kMostBlocks = 2000;

// Thousandths are enough for microseconds, and keep the record small.
double short_number(double value) { return std::round(value * 1000) / 1000; }

template <class Kind, std::size_t N>
Json by_name(const std::array<double, N>& values) {
  Json object = Json::object();
  for (std::size_t i = 0; i < N; ++i) {
    if (values[i] > 0) object[std::string(to_text(static_cast<Kind>(i)))] = short_number(values[i]);
  }
  return object;
}

Json to_json(const CallTime& call) {
  return {{"function", call.name()},
          {"engine", to_text(info(call.op).engine)},
          {"where", call.where},
          {"commands", call.commands},
          {"us", short_number(call.engine_us)},
          {"waited_us", short_number(call.waited_us)},
          {"bytes", by_name<BytePath>(call.bytes)},
          {"operations", call.operations},
          {"ideal_us", short_number(call.ideal_us)}};
}

// The file and line of "kernel.c:42" apart; of another text nothing.
void add_place(const std::string& where, Json& json) {
  const std::size_t colon = where.rfind(':');
  const auto line = colon == std::string::npos ? std::nullopt : find_number(std::string_view(where).substr(colon + 1));
  if (!line) return;
  json["file"] = where.substr(0, colon);
  json["line"] = *line;
}

Json advice_of(const LaunchTime& launch) {
  Json list = Json::array();
  for (const Advice& advice : launch.advice) {
    Json json = {{"rule", advice.rule}, {"text", advice.text}, {"saves_us", short_number(advice.saves_us)}};
    if (advice.call) {
      json["function"] = launch.calls[*advice.call].name();
      add_place(launch.calls[*advice.call].where, json);
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json commands_of(const LaunchTime& launch) {
  Json list = Json::array();
  for (const CommandTime& command : launch.placed) {
    if (list.size() == kMostCommands) break;
    const EngineSlot& placed = command.placed;
    list.push_back({static_cast<int>(placed.queue), command.call, short_number(placed.issued_us),
                    short_number(placed.start_us), short_number(placed.end_us), short_number(placed.waited_us),
                    to_text(placed.waited_for), command.ddr_bytes});
  }
  return list;
}

Json blocks_of(const LaunchTime& launch) {
  Json list = Json::array();
  for (const LocalBlock& block : launch.local.blocks()) {
    if (list.size() == kMostBlocks) break;
    list.push_back({{"begin", block.begin},
                    {"end", block.end},
                    {"first_npu", block.first_npu},
                    {"npus", block.npus},
                    {"from_us", short_number(block.from_us)},
                    {"to_us", short_number(block.to_us)},
                    {"call", block.call},
                    {"operand", block.operand},
                    {"overlaps", block.overlaps}});
  }
  return list;
}

Json error_of(const LaunchTime& launch) {
  if (!launch.error) return nullptr;
  return {{"networks", launch.error->networks}, {"error", launch.error->error},
          {"median", launch.error->median},     {"lower", launch.error->lower},
          {"upper", launch.error->upper},       {"text", to_text(*launch.error, launch.kernel)}};
}

Json chip_of(const CostModel& model) {
  const Chip& chip = model.chip();
  std::array<int, 3> founded{};
  for (const auto& [name, parameter] : chip.timing) ++founded[static_cast<std::size_t>(parameter.founded)];
  Json peaks = Json::object();
  for (const Dtype type : {Dtype::kFp32, Dtype::kFp16, Dtype::kInt8}) {
    // Narrow types that are no faster have no line of their own.
    if (type != Dtype::kFp32 && model.peak_per_us(type) <= model.peak_per_us(Dtype::kFp32)) continue;
    peaks[std::string(to_text(type))] = model.peak_per_us(type) / 1e3;
  }
  return {{"name", chip.name},
          {"revision", chip.revision},
          {"npus", chip.npu_num},
          {"local_bytes", chip.local_bytes},
          {"banks", chip.banks},
          {"read_gbps", model.read_gbps()},
          {"peak_gops", peaks},
          {"parameters", {{"measured", founded[0]}, {"vendor", founded[1]}, {"guess", founded[2]}}}};
}

}  // namespace

std::string to_record(const LaunchTime& launch, const CostModel& model) {
  Json engines = Json::array();
  for (std::size_t i = 0; i < kQueues; ++i) {
    engines.push_back({{"name", to_text(static_cast<Queue>(i))},
                       {"busy_us", short_number(launch.queues[i].busy_us)},
                       {"waited_us", by_name<WaitFor>(launch.queues[i].waited_us)}});
  }
  Json calls = Json::array();
  for (const CallTime& call : launch.calls) calls.push_back(to_json(call));
  const Json record = {{"format", "softtpu-time-1"},
                       {"kernel", launch.kernel},
                       {"core", launch.core},
                       {"cores", launch.cores},
                       {"workitem", launch.workitem},
                       {"waited_for_cores_us", short_number(launch.waited_for_cores_us)},
                       {"launch", launch.number},
                       {"chip", chip_of(model)},
                       {"total_us", short_number(launch.total_us())},
                       {"bound", to_text(launch.bound())},
                       {"spent_us", by_name<Spent>(launch.end.spent)},
                       {"rests_on_us", by_name<Basis>(launch.end.by_basis)},
                       {"precision", launch.precision},
                       {"error", error_of(launch)},
                       {"engines", engines},
                       {"bytes", by_name<BytePath>(launch.bytes)},
                       {"operations", launch.operations},
                       {"ideal_us", short_number(launch.ideal_us)},
                       {"calls", calls},
                       {"advice", advice_of(launch)},
                       {"commands_total", launch.commands},
                       {"commands", commands_of(launch)},
                       {"blocks_total", launch.local.blocks().size()},
                       {"blocks", blocks_of(launch)}};
  return record.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace softtpu
