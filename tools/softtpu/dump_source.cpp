#include "tools/softtpu/dump_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "runtime/base/config.hpp"
#include "runtime/base/text.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/transport/rpc_client.hpp"
#include "runtime/transport/socket.hpp"
#include "tools/softtpu/dump.hpp"

namespace softtpu::cli {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The device process behind a socket.
Result<int> find_server(const std::string& wanted) {
  auto settings = read_settings();
  if (!settings) return settings.error();
  const std::string path = !wanted.empty()                                 ? wanted
                           : settings->device == DeviceChoice::kUnixSocket ? settings->socket_path
                                                                           : default_socket_path();
  auto socket = connect_unix(path);
  if (!socket)
    return Error{ErrorKind::kUsage,
                 fmt::format("no shared device on {} ({}); --pid names an embedded one", path, socket.error().text)};
  RpcClient rpc(std::move(*socket));
  if (auto hello = rpc.call<msg::HelloReply>(msg::Hello{}); !hello) return hello.error();
  if (auto open = rpc.call<msg::OpenReply>(msg::Open{0, false, {}}); !open) return open.error();
  auto stat = rpc.call<msg::StatReply>(msg::Stat{});
  if (!stat) return stat.error();
  return static_cast<int>(stat->server_pid);
}

// softtpu0-local.3: of device 0, the local memory after three cores were ended.
void add_file(DumpSource& source, const std::string& name, const std::string& prefix, const std::string& path) {
  if (!name.starts_with(prefix)) return;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot < prefix.size()) return;
  const std::string number = name.substr(dot + 1, name.find(' ', dot) - dot - 1);
  if (const auto generation = find_number(number)) {
    source.files[name.substr(prefix.size(), dot - prefix.size())][static_cast<int>(*generation)] = path;
  }
}

DumpSource files_of_process(int pid, int device) {
  DumpSource source;
  std::error_code failed;
  const std::string prefix = fmt::format("/memfd:softtpu{}-", device);
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", pid), failed)) {
    const fs::path target = fs::read_symlink(entry.path(), failed);
    if (!failed) add_file(source, target, prefix, entry.path());
  }
  return source;
}

// A device process watches the program that it belongs to through a descriptor, which says so in /proc.
bool belongs_to(const fs::path& device_process, int program) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(device_process / "fdinfo", failed)) {
    if (read_text(entry.path()).find(fmt::format("\nPid:\t{}\n", program)) != std::string::npos) return true;
  }
  return false;
}

int parent_of(int pid) {
  constexpr std::string_view kName = "\nPPid:\t";
  const std::string status = read_text(fmt::format("/proc/{}/status", pid));
  const std::size_t at = status.find(kName);
  return at == std::string::npos ? 0 : std::atoi(status.c_str() + at + kName.size());
}

// A core has none of the files: they are its server's, whose child is the core's supervisor.
int server_of(int pid) {
  const bool is_core = read_text(fmt::format("/proc/{}/comm", pid)).starts_with("softtpu-core");
  return is_core ? parent_of(parent_of(pid)) : pid;
}

Result<DumpSource> find_process(int pid, int device) {
  DumpSource own = files_of_process(server_of(pid), device);
  std::error_code failed;
  // A program may have some of the files open itself, but not the chip's name.
  if (own.files.contains("chip")) return own;
  for (const auto& entry : fs::directory_iterator("/proc", failed)) {
    const auto number = find_number(entry.path().filename().string());
    if (!number || read_text(entry.path() / "comm") != "softtpu-device\n" || !belongs_to(entry.path(), pid)) continue;
    DumpSource found = files_of_process(static_cast<int>(*number), 0);
    if (found.files.contains("chip")) return found;
  }
  return Error{ErrorKind::kUsage, fmt::format("process {} has no device {} (or you may not read it)", pid, device)};
}

Result<DumpSource> find_folder(const std::string& folder, int device) {
  DumpSource source;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    add_file(source, entry.path().filename(), fmt::format("softtpu{}-", device), entry.path());
  if (failed) return Error{ErrorKind::kUsage, fmt::format("--from \"{}\": {}", folder, failed.message())};
  if (!source.files.contains("chip"))
    return Error{ErrorKind::kUsage, fmt::format("--from \"{}\" holds no memories of device {}", folder, device)};
  if (!source.files.contains("local"))
    return Error{ErrorKind::kUsage, fmt::format("--from \"{}\": no kernel of device {} has crashed", folder, device)};
  return source;
}

Result<DumpSource> find_running(const DumpOptions& options) {
  Result<int> pid = options.pid;
  if (options.pid == 0) pid = find_server(options.socket);
  if (!pid) return pid.error();
  return find_process(*pid, options.device);
}

}  // namespace

Result<UniqueFd> DumpSource::open(const std::string& memory, bool ended) const {
  const auto found = files.find(memory);
  if (found == files.end())
    return Error{ErrorKind::kUsage, fmt::format("this device has no {} memory to read", memory)};
  auto newest = found->second.rbegin();
  if (ended && ++newest == found->second.rend()) {
    return Error{ErrorKind::kUsage,
                 fmt::format("--ended: no kernel has ended its core yet, so there is no {} memory of one", memory)};
  }
  UniqueFd file(::open(newest->second.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return Error{ErrorKind::kResource, fmt::format("{}: {}", newest->second, std::strerror(errno))};
  return file;
}

Result<DumpSource> find_dump_source(const DumpOptions& options) {
  if (options.device < 0) return Error{ErrorKind::kUsage, fmt::format("--device {} is negative", options.device)};
  auto source = options.folder.empty() ? find_running(options) : find_folder(options.folder, options.device);
  if (!source) return source;
  source->chip = read_text(source->files.at("chip").begin()->second);
  source->chip.resize(std::strlen(source->chip.c_str()));  // the file has whole pages
  return source;
}

}  // namespace softtpu::cli
