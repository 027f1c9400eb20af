// softtpu info: the built-in chips, and what a shared device is doing.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/chip/names.hpp"
#include "device/chip/rules.hpp"
#include "runtime/base/config.hpp"
#include "runtime/base/text.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/transport/rpc_client.hpp"
#include "runtime/transport/socket.hpp"
#include "tools/softtpu/command.hpp"

namespace softtpu::cli {
namespace {

using Json = nlohmann::json;

// A chip may tell kernels of an L2 that it does not have.
bool has_l2(const Chip& chip) { return chip.l2_sram.bytes > 0; }

// As short as it can be said: these stand side by side.
std::string size_cell(std::uint64_t bytes) {
  for (const auto& [unit, shift] : {std::pair("GiB", 30), {"MiB", 20}, {"KiB", 10}}) {
    if (bytes >> shift != 0 && (bytes & ((1ULL << shift) - 1)) == 0) return fmt::format("{} {}", bytes >> shift, unit);
  }
  return std::to_string(bytes);
}

Json to_json(const Chip& chip, const std::string& name) {
  Json rules = Json::array(), types = Json::array();
  for (const QuirkInfo& rule : all_chip_rules()) {
    if (chip.has(rule.rule)) rules.push_back(rule.name);
  }
  for (unsigned code = 0; code < 64; ++code) {  // bits of a TypeSet
    const auto type = static_cast<Dtype>(code);
    if (contains(kAllTypes | chip.extra_types, type)) types.push_back(to_text(type));
  }
  Json json = {{"name", name},
               {"also_called", other_names(name)},
               {"revision", chip.revision},
               {"functions", chip.api == Api::kTpuKernel ? "tpu_*" : "okk_*"},
               {"cores", chip.cores},
               {"npus", chip.npu_num},
               {"local_bytes", chip.local_bytes},
               {"banks", chip.banks},
               {"eu_bytes", chip.eu_bytes},
               {"l2_bytes", has_l2(chip) ? chip.l2_usable : 0},
               {"l2_bytes_told", chip.l2_usable},
               {"l2_per_core", chip.l2_per_core},
               {"global_bytes", chip.global_mem.bytes},
               {"dtcm_bytes", chip.dtcm ? chip.dtcm->bytes : 0},
               {"types", types},
               {"rules", rules},
               {"refused", chip.refused},
               {"estimates_times", !chip.timing.empty()}};
  return json;
}

Result<Json> chips_json() {
  Json list = Json::array();
  for (const std::string& name : builtin_chip_names()) {
    const auto chip = load_chip(name);
    if (!chip) return chip.error();
    list.push_back(to_json(*chip, name));
  }
  return list;
}

void print_chips() {
  print_escaped("chips:\n");
  for (const std::string& name : builtin_chip_names()) {
    const auto chip = load_chip(name);
    if (!chip) continue;
    print_escaped("  {:13} {} NPUs x {} in {} banks, EU {} bytes, global memory {}, {}\n", name, chip->npu_num,
                  to_size_text(chip->local_bytes), chip->banks, chip->eu_bytes, to_size_text(chip->global_mem.bytes),
                  chip->api == Api::kTpuKernel ? "tpu_*" : "okk_*");
    if (const auto others = other_names(name); !others.empty())
      print_escaped("  {:13} also called {}\n", "", fmt::join(others, ", "));
  }
}

// One row of the comparison: what each chip has.
void print_row(const std::string& title, const std::vector<Chip>& chips,
               const std::function<std::string(const Chip&)>& cell) {
  print_escaped("{:26}", title);
  for (const Chip& chip : chips) print_escaped(" {:>13}", cell(chip));
  print_escaped("\n");
}

// All built-in chips side by side: geometry, then the rules by which they differ.
int compare_chips() {
  std::vector<std::string> names = builtin_chip_names();
  std::vector<Chip> chips;
  for (const std::string& name : names) {
    auto chip = load_chip(name);
    if (!chip) return fail(chip.error());
    chips.push_back(*std::move(chip));
  }
  print_escaped("{:26}", "");
  for (const std::string& name : names) print_escaped(" {:>13}", name);
  print_escaped("\n");
  const auto number = [](auto value) { return std::to_string(value); };
  print_row("revision", chips, [](const Chip& c) { return c.revision.empty() ? std::string("-") : c.revision; });
  print_row("functions", chips, [](const Chip& c) { return c.api == Api::kTpuKernel ? "tpu_*" : "okk_*"; });
  print_row("cores", chips, [&](const Chip& c) { return number(c.cores); });
  print_row("NPUs of a core", chips, [&](const Chip& c) { return number(c.npu_num); });
  print_row("local memory of an NPU", chips, [&](const Chip& c) { return size_cell(c.local_bytes); });
  print_row("banks", chips, [&](const Chip& c) { return number(c.banks); });
  print_row("bytes of the EUs", chips, [&](const Chip& c) { return number(c.eu_bytes); });
  print_row("L2 (as a query says)", chips, [&](const Chip& c) {
    return has_l2(c) ? size_cell(c.l2_usable) + (c.l2_per_core ? "/core" : "") : "0 (" + size_cell(c.l2_usable) + ")";
  });
  print_row("global memory", chips, [&](const Chip& c) { return size_cell(c.global_mem.bytes); });
  print_row("DTCM", chips, [&](const Chip& c) { return c.dtcm ? size_cell(c.dtcm->bytes) : std::string("-"); });
  print_row("16-bit products in a sum", chips, [&](const Chip& c) { return number(c.sum_group); });
  print_row("8-bit weights in a block", chips, [&](const Chip& c) { return number(c.weight_block); });
  print_row("functions refused", chips, [&](const Chip& c) { return number(c.refused.size()); });
  print_row("times", chips, [](const Chip& c) { return c.timing.empty() ? "-" : "estimated"; });
  print_escaped("rules:\n");
  for (const QuirkInfo& rule : all_chip_rules())
    print_row("  " + std::string(rule.name), chips, [&](const Chip& c) { return c.has(rule.rule) ? "x" : "-"; });
  print_escaped("\n");
  for (const QuirkInfo& rule : all_chip_rules()) print_escaped("{}: {}. [{}]\n", rule.name, rule.meaning, rule.source);
  return 0;
}

Result<UniqueFd> connect(const Settings& settings) {
  return settings.device == DeviceChoice::kRemote ? start_remote_connection(settings)
                                                  : connect_unix(settings.socket_path);
}

struct DeviceState {
  std::string chip_name;
  msg::StatReply stat;
};

Result<DeviceState> ask_device(const Settings& settings, std::uint32_t device) {
  auto socket = connect(settings);
  if (!socket) return socket.error();
  RpcClient rpc(std::move(*socket));
  auto hello = rpc.call<msg::HelloReply>(msg::Hello{});
  if (!hello) return hello.error();
  auto open = rpc.call<msg::OpenReply>(msg::Open{device, false, {}});
  if (!open) return open.error();
  auto stat = rpc.call<msg::StatReply>(msg::Stat{});
  if (!stat) return stat.error();
  return DeviceState{open->chip_name, *std::move(stat)};
}

Json to_json(const DeviceState& state) {
  const msg::StatReply& stat = state.stat;
  Json clients = Json::array(), faults = Json::array();
  for (const msg::ClientStat& client : stat.clients) {
    if (client.pid == static_cast<std::uint32_t>(::getpid())) continue;
    clients.push_back({{"pid", client.pid},
                       {"bytes", client.bytes},
                       {"modules", client.modules},
                       {"launches", client.launches},
                       {"waiting", client.queued}});
  }
  for (const msg::FaultStat& fault : stat.faults) faults.push_back({{"time", fault.time}, {"text", fault.text}});
  return {{"chip", state.chip_name},
          {"server_pid", stat.server_pid},
          {"core_pid", stat.core_pid},
          {"bytes_used", stat.bytes_used},
          {"bytes_total", stat.bytes_total},
          {"launches", stat.launches},
          {"failures", stat.failures},
          {"waiting", stat.queued},
          {"core_restarts", stat.core_restarts},
          {"clients", clients},
          {"faults", faults}};
}

Result<void> print_device(const Settings& settings, std::uint32_t device) {
  const auto state = ask_device(settings, device);
  if (!state) return state.error();
  const msg::StatReply* const stat = &state->stat;
  print_escaped("  device {}: {}, server {}, core {}\n", device, state->chip_name, stat->server_pid, stat->core_pid);
  print_escaped("    memory   {} of {} allocated\n", to_size_text(stat->bytes_used), to_size_text(stat->bytes_total));
  print_escaped("    launches {} finished, {} failed, {} waiting or running; core restarted {} times\n", stat->launches,
                stat->failures, stat->queued, stat->core_restarts);
  // The last connection is this command's own.
  print_escaped("    clients  {}\n", stat->clients.size() - 1);
  for (const msg::ClientStat& client : stat->clients) {
    if (client.pid == static_cast<std::uint32_t>(::getpid())) continue;
    print_escaped("      process {}: {} allocated, {} modules, {} launches, {} waiting\n", client.pid,
                  to_size_text(client.bytes), client.modules, client.launches, client.queued);
  }
  if (!stat->faults.empty()) print_escaped("    last faults\n");
  const auto now = static_cast<std::uint64_t>(std::time(nullptr));
  for (const msg::FaultStat& fault : stat->faults)
    print_escaped("      {} s ago: {}\n", now - std::min(now, fault.time), fault.text);
  return {};
}

Result<std::uint32_t> device_count(const Settings& settings) {
  auto socket = connect(settings);
  if (!socket) return socket.error();
  RpcClient rpc(std::move(*socket));
  auto hello = rpc.call<msg::HelloReply>(msg::Hello{});
  if (!hello) return hello.error();
  return hello->device_count;
}

// The settings for the shared device that is asked about, and whether it was named.
Result<std::pair<Settings, bool>> shared_settings(const std::string& wanted) {
  auto settings = read_settings();
  if (!settings) return settings.error();
  const bool named = !wanted.empty() || !shared_device_name(*settings).empty();
  if (!wanted.empty() || !named) {
    settings->device = DeviceChoice::kUnixSocket;
    settings->socket_path = named ? wanted : default_socket_path();
  }
  return std::pair(*std::move(settings), named);
}

int run_json(const std::string& wanted, bool only_chips) {
  const auto chips = chips_json();
  if (!chips) return fail(chips.error());
  Json json = {{"format", "softtpu-info"}, {"version", 1}, {"chips", *chips}};
  if (only_chips) {
    json["rules"] = Json::array();
    for (const QuirkInfo& rule : all_chip_rules())
      json["rules"].push_back({{"name", rule.name}, {"meaning", rule.meaning}, {"source", rule.source}});
    print_json(json);
    return 0;
  }
  const auto shared = shared_settings(wanted);
  if (!shared) return fail(shared.error());
  const auto& [settings, named] = *shared;
  const auto count = device_count(settings);
  json["shared_device"] = nullptr;
  if (count) {
    Json devices = Json::array();
    for (std::uint32_t device = 0; device < *count; ++device) {
      const auto state = ask_device(settings, device);
      if (!state) return fail(state.error());
      devices.push_back(to_json(*state));
    }
    json["shared_device"] = {{"name", shared_device_name(settings)}, {"devices", devices}};
  } else if (named) {
    return fail(count.error());
  }
  print_json(json);
  return 0;
}

int run(const std::string& wanted) {
  const auto shared = shared_settings(wanted);
  if (!shared) return fail(shared.error());
  const Settings* const settings = &shared->first;
  const bool named = shared->second;
  print_chips();
  const std::string name = shared_device_name(*settings);
  const auto count = device_count(*settings);
  if (!count) {
    print_escaped("shared device: none on {}\n", name);
    return named ? fail(count.error()) : 0;
  }
  print_escaped("shared device: {}\n", name);
  for (std::uint32_t device = 0; device < *count; ++device) {
    if (auto printed = print_device(*settings, device); !printed) return fail(printed.error());
  }
  return 0;
}

}  // namespace

Run add_info(CLI::App& app) {
  auto socket = std::make_shared<std::string>();
  app.add_option("--socket", *socket, "socket of the shared device (default: of SOFTTPU_DEVICE, else softtpu serve's)");
  auto chips = std::make_shared<bool>(false);
  app.add_flag("--chips", *chips, "only the built-in chips, side by side, with the rules by which they differ");
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "JSON instead of text");
  app.footer("Exit status: 0; 1 when the shared device that is named does not answer; 2 when a setting is not usable.");
  return [socket, chips, json] {
    if (*json) return run_json(*socket, *chips);
    return *chips ? compare_chips() : run(*socket);
  };
}

}  // namespace softtpu::cli
