// Every environment variable that softtpu reads, in one list: name, default, meaning, and how its text becomes a
// setting. A new switch is one row in config.cpp and one field here.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/endpoint.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

enum class DeviceChoice { kEmbedded, kInProcess, kUnixSocket, kRemote };

struct Settings {
  DeviceChoice device = DeviceChoice::kEmbedded;
  bool device_is_default = true;  // SOFTTPU_DEVICE is not set: kernels linked into the program select in-process
  std::string socket_path;        // of kUnixSocket
  Endpoint remote;                // of kRemote
  std::string ca_file;            // of kRemote; empty: the system's
  std::string token_file;         // of kRemote
  std::string chip;
  std::uint32_t timeout_ms = 0;  // 0: no limit
  std::uint32_t limit_ms = 0;    // of a launch in all; 0: no limit
  bool poison = false;           // fresh device memory is filled with a pattern instead of zeros
  bool sandbox = false;          // core processes give up what kernels do not need of the system
  bool own_namespace = true;     // core processes have a PID namespace where the system allows it
  std::uint32_t drain_ms = 0;    // how long a server that ends waits for launches
  // What one client of a shared device may hold.
  std::optional<std::uint64_t> client_bytes;  // of each device; empty: seven eighths
  std::uint32_t client_modules = 0, client_connections = 0, client_descriptors = 0;
  std::string log_file;       // empty: standard error
  bool copies_wait = true;    // those between the program's memory and the device's, for launches of their handle
  bool streaming = false;     // bulk data through the socket even where shared memory is possible
  std::string device_binary;  // empty: beside the library
  std::string preload;        // libraries that a device process loads before all others; colons between them
  std::string trace_path;
  std::string checks;  // names separated by commas
  std::string allow;   // findings that are intended
  std::uint32_t max_findings = 0;
  std::string portable_to;                 // chips, separated by commas
  std::uint64_t stack_limit = 0;           // bytes
  std::string schedule;                    // order of commands in parallel sections
  std::uint32_t schedules = 0;             // runs of each launch that are compared
  std::vector<std::uint32_t> core_counts;  // numbers of cores that each launch on several is run on, and compared
  std::string journal_path;                // of `softtpu run`
  std::string time;                        // "on", "vendor", "only", "only-silent" or empty
  std::string timeline_path, time_record_path;
  std::string gdb_socket;           // of `softtpu run --gdb`; empty: no debugger
  std::string dump_folder;          // gets what a core that ended has left
  std::string record_path;          // file that one launch is kept in
  std::uint64_t record_launch = 1;  // which one
  LogLevel log = LogLevel::kWarning;
  bool plain_kernels = false;
  std::string simd;                             // empty: the best that the machine has
  std::uint32_t threads = 0;                    // 0: all
  std::optional<std::uint32_t> parallel_steps;  // empty: what measurements found best
  std::optional<std::uint64_t> global_bytes;
  std::uint32_t device_count = 2;
  std::vector<std::uint32_t> visible_devices;  // by the program's own numbers; empty: all
  std::uint32_t most_workitems = 0;            // of a launch at a time; 0: one on each core
  std::string kernel_path;                     // module of a tpuDNN handle without one
  std::string firmware_path;
  int bmlib_log = 16;
  std::vector<std::string> given;  // "NAME=value": what counts instead of the environment's, for device processes too
};

// A device that other programs use too: what it is called in SOFTTPU_DEVICE; empty for one of this program's own.
std::string shared_device_name(const Settings& settings);

// A check of what kernels do. "all" stands for those that need not be asked for by name.
struct CheckName {
  std::string_view name;
  bool in_all = true;
};
std::span<const CheckName> check_names();
// Names separated by commas, "all" among them, as in SOFTTPU_CHECK: the checks that they stand for.
Result<std::set<std::string>> parse_checks(std::string_view names);

struct Variable {
  std::string_view name;
  std::string_view fallback;  // the text that stands for "not set"
  std::string_view meaning;
  Result<void> (*apply)(Settings& settings, std::string_view text);
};

std::span<const Variable> variables();

// The variable's text in this process, else its default.
std::string variable_text(const Variable& variable);

// Reads the environment. The first bad value is an error that names variable, value and what is allowed.
Result<Settings> read_settings();
// The same, with values that count instead of the environment's: "NAME=value", an empty value for the default. The last
// one of a name counts.
Result<Settings> read_settings(std::span<const std::string> given);

}  // namespace softtpu
