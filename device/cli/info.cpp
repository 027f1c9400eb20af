// softtpu info: the built-in chips, and what a shared device is doing.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include "device/chip/chip.hpp"
#include "device/cli/command.hpp"
#include "runtime/base/config.hpp"
#include "runtime/base/text.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/transport/rpc_client.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu::cli {
namespace {

void print_chips() {
  fmt::print("chips:\n");
  for (const std::string& name : builtin_chip_names()) {
    const auto chip = load_chip(name);
    if (!chip) continue;
    fmt::print("  {:8} {} NPUs x {} in {} banks, EU {} bytes, global memory {}, {}\n", name, chip->npu_num,
               to_size_text(chip->local_bytes), chip->banks, chip->eu_bytes, to_size_text(chip->global_mem.bytes),
               chip->api == Api::kTpuKernel ? "tpu_*" : "okk_*");
  }
}

Result<UniqueFd> connect(const Settings& settings) {
  return settings.device == DeviceChoice::kRemote ? start_remote_connection(settings)
                                                  : connect_unix(settings.socket_path);
}

Result<void> print_device(const Settings& settings, std::uint32_t device) {
  auto socket = connect(settings);
  if (!socket) return socket.error();
  RpcClient rpc(std::move(*socket));
  auto hello = rpc.call<HelloReply>(Hello{});
  if (!hello) return hello.error();
  auto open = rpc.call<OpenReply>(Open{device, false});
  if (!open) return open.error();
  auto stat = rpc.call<StatReply>(Stat{});
  if (!stat) return stat.error();
  fmt::print("  device {}: {}, server {}, core {}\n", device, open->chip_name, stat->server_pid, stat->core_pid);
  fmt::print("    memory   {} of {} allocated\n", to_size_text(stat->bytes_used), to_size_text(stat->bytes_total));
  fmt::print("    launches {} finished, {} failed, {} waiting or running; core restarted {} times\n", stat->launches,
             stat->failures, stat->queued, stat->core_restarts);
  // The last connection is this command's own.
  fmt::print("    clients  {}\n", stat->clients.size() - 1);
  for (const ClientStat& client : stat->clients) {
    if (client.pid == static_cast<std::uint32_t>(::getpid())) continue;
    fmt::print("      process {}: {} allocated, {} modules, {} launches, {} waiting\n", client.pid,
               to_size_text(client.bytes), client.modules, client.launches, client.queued);
  }
  if (!stat->faults.empty()) fmt::print("    last faults\n");
  const auto now = static_cast<std::uint64_t>(std::time(nullptr));
  for (const FaultStat& fault : stat->faults)
    fmt::print("      {} s ago: {}\n", now - std::min(now, fault.time), fault.text);
  return {};
}

Result<std::uint32_t> device_count(const Settings& settings) {
  auto socket = connect(settings);
  if (!socket) return socket.error();
  RpcClient rpc(std::move(*socket));
  auto hello = rpc.call<HelloReply>(Hello{});
  if (!hello) return hello.error();
  return hello->device_count;
}

int run(const std::string& wanted) {
  auto settings = read_settings();
  if (!settings) return fail(settings.error());
  print_chips();
  const bool named = !wanted.empty() || !shared_device_name(*settings).empty();
  if (!wanted.empty() || !named) {
    settings->device = DeviceChoice::kUnixSocket;
    settings->socket_path = named ? wanted : default_socket_path();
  }
  const std::string name = shared_device_name(*settings);
  const auto count = device_count(*settings);
  if (!count) {
    fmt::print("shared device: none on {}\n", name);
    return named ? fail(count.error()) : 0;
  }
  fmt::print("shared device: {}\n", name);
  for (std::uint32_t device = 0; device < *count; ++device) {
    if (auto printed = print_device(*settings, device); !printed) return fail(printed.error());
  }
  return 0;
}

}  // namespace

Run add_info(CLI::App& app) {
  auto socket = std::make_shared<std::string>();
  app.add_option("--socket", *socket, "socket of the shared device (default: of SOFTTPU_DEVICE, else softtpu serve's)");
  app.footer("Exit status: 0; 1 when the shared device that is named does not answer; 2 when a setting is not usable.");
  return [socket] { return run(*socket); };
}

}  // namespace softtpu::cli
