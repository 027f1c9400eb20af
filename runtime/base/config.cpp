#include "runtime/base/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "runtime/base/text.hpp"

namespace softtpu {
namespace {

constexpr std::uint32_t kMostCoreCount = 64;

Error bad(std::string_view text, std::string_view allowed) {
  return Error{ErrorKind::kUsage, fmt::format("\"{}\" is not {}.", text, allowed)};
}

template <class Field>
Result<void> set_number(Field& field, std::string_view text, std::uint64_t min, std::uint64_t max) {
  const auto value = find_number(text);
  if (!value || *value < min || *value > max) return bad(text, fmt::format("a number from {} to {}", min, max));
  field = static_cast<Field>(*value);
  return {};
}

template <class Value, std::size_t N>
Result<void> set_choice(Value& field, std::string_view text,
                        const std::array<std::pair<std::string_view, Value>, N>& choices) {
  std::string allowed;
  for (const auto& [name, value] : choices) {
    if (name == text) {
      field = value;
      return {};
    }
    allowed += allowed.empty() ? "" : ", ";
    allowed += name.empty() ? "empty" : name;
  }
  return bad(text, "one of " + allowed);
}

Result<void> set_device(Settings& settings, std::string_view text) {
  settings.device_is_default = text.empty();
  if (text.empty() || text == "embedded") {
    settings.device = DeviceChoice::kEmbedded;
    return {};
  }
  if (text == "inprocess") {
    settings.device = DeviceChoice::kInProcess;
    return {};
  }
  if (text.starts_with("unix:")) {
    settings.device = DeviceChoice::kUnixSocket;
    settings.socket_path = text.substr(5);
    if (settings.socket_path.empty() || settings.socket_path.size() > 107) {
      return bad(text, "unix: and a path of 1 to 107 characters");
    }
    return {};
  }
  if (text.starts_with("tcp:")) {
    settings.device = DeviceChoice::kRemote;
    const auto endpoint = find_endpoint(text.substr(text.starts_with("tcp://") ? 6 : 4));
    if (!endpoint || endpoint->port == 0) return bad(text, "tcp://HOST:PORT with a port from 1 to 65535");
    settings.remote = *endpoint;
    return {};
  }
  return bad(text, "one of embedded, inprocess, unix:PATH, tcp://HOST:PORT");
}

template <auto Field>
Result<void> set_seconds(Settings& settings, std::string_view text) {
  std::uint32_t seconds = 0;
  if (auto done = set_number(seconds, text, 0, 86400); !done) return done;
  settings.*Field = seconds * 1000;
  return {};
}

Result<void> set_parallel_steps(Settings& settings, std::string_view text) {
  if (text.empty()) return {};
  std::uint32_t steps = 0;
  if (auto done = set_number(steps, text, 0, std::numeric_limits<std::uint32_t>::max()); !done) return done;
  settings.parallel_steps = steps;
  return {};
}

Result<void> set_fresh(Settings& settings, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, bool>, 2> kChoices = {{{"zero", false}, {"poison", true}}};
  return set_choice(settings.poison, text, kChoices);
}

Result<void> set_log(Settings& settings, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, LogLevel>, 6> kLevels = {{{"trace", LogLevel::kTrace},
                                                                                    {"debug", LogLevel::kDebug},
                                                                                    {"info", LogLevel::kInfo},
                                                                                    {"warning", LogLevel::kWarning},
                                                                                    {"error", LogLevel::kError},
                                                                                    {"off", LogLevel::kOff}}};
  return set_choice(settings.log, text, kLevels);
}

template <auto Field>
Result<void> set_memory_bytes(Settings& settings, std::string_view text) {
  (settings.*Field).reset();
  if (text.empty()) return {};
  std::uint64_t bytes = 0;
  // The upper limit keeps addresses within the 40 bits that the chips' descriptors hold.
  if (auto done = set_number(bytes, text, 1, 1ULL << 38); !done) return done;
  settings.*Field = bytes;
  return {};
}

template <auto Field>
Result<void> set_share(Settings& settings, std::string_view text) {
  return set_number(settings.*Field, text, 1, 1000000);
}

template <auto Field>
Result<void> set_text(Settings& settings, std::string_view text) {
  settings.*Field = text;
  return {};
}

constexpr std::array kChecks = {CheckName{"memory"},     CheckName{"init"},   CheckName{"race"},
                                CheckName{"constraint"}, CheckName{"output"}, CheckName{"nan"},
                                CheckName{"bank", false}};

Result<void> set_checks(Settings& settings, std::string_view text) {
  if (auto checks = parse_checks(text); !checks) return checks.error();
  settings.checks = text;
  return {};
}

// "1,2,8": each number once, in the order that is given.
Result<void> set_core_counts(Settings& settings, std::string_view text) {
  settings.core_counts.clear();
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::uint32_t count = 0;
    if (auto good = set_number(count, text.substr(0, comma), 1, kMostCoreCount); !good) return good.error();
    settings.core_counts.push_back(count);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (comma != std::string_view::npos && text.empty())
      return Error{ErrorKind::kUsage, "a number is missing at its end"};
  }
  return {};
}

Result<void> set_kernels(Settings& settings, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, bool>, 2> kChoices = {{{"fast", false}, {"plain", true}}};
  return set_choice(settings.plain_kernels, text, kChoices);
}

Result<void> set_transport(Settings& settings, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, bool>, 2> kChoices = {{{"shared", false}, {"stream", true}}};
  return set_choice(settings.streaming, text, kChoices);
}

Result<void> set_copies(Settings& settings, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, bool>, 2> kChoices = {{{"wait", true}, {"overtake", false}}};
  return set_choice(settings.copies_wait, text, kChoices);
}

Result<void> set_time(Settings& settings, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kChoices = {
      {{"", ""}, {"on", "on"}, {"vendor", "vendor"}, {"only", "only"}, {"only-silent", "only-silent"}}};
  constexpr std::string_view kPace = "on:";
  if (text.starts_with(kPace)) {
    std::uint32_t times = 0;
    if (auto done = set_number(times, text.substr(kPace.size()), 1, 1000000); !done) return done;
    settings.time = text;
    return {};
  }
  std::string_view chosen;
  if (auto done = set_choice(chosen, text, kChoices); !done) return done;
  settings.time = chosen;
  return {};
}

Result<void> set_simd(Settings& settings, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kChoices = {
      {{"", ""}, {"sse4", "sse4"}, {"avx2", "avx2"}, {"avx512", "avx512"}}};
  std::string_view chosen;
  if (auto done = set_choice(chosen, text, kChoices); !done) return done;
  settings.simd = chosen;
  return {};
}

Result<void> set_bmlib_log(Settings& settings, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, int>, 9> kLevels = {
      {{"-8", -8}, {"0", 0}, {"8", 8}, {"16", 16}, {"24", 24}, {"32", 32}, {"40", 40}, {"48", 48}, {"56", 56}}};
  return set_choice(settings.bmlib_log, text, kLevels);
}

Result<void> set_visible_devices(Settings& settings, std::string_view text) {
  settings.visible_devices.clear();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::uint32_t number = 0;
    if (auto done = set_number(number, text.substr(begin, end - begin), 0, 63); !done) return done;
    if (std::ranges::count(settings.visible_devices, number) != 0) return bad(text, "a list without repetitions");
    settings.visible_devices.push_back(number);
    begin = end + 1;
  }
  return {};
}

// Of several variables that name a limit the lowest holds.
Result<void> set_most_workitems(Settings& settings, std::string_view text) {
  if (text.empty()) return {};
  std::uint32_t most = 0;
  if (auto done = set_number(most, text, 1, 1024); !done) return done;
  settings.most_workitems = settings.most_workitems == 0 ? most : std::min(settings.most_workitems, most);
  return {};
}

Result<void> set_chip_of_project(Settings& settings, std::string_view text) {
  if (settings.chip.empty()) settings.chip = text;
  return {};
}

// Of several variables that name a module the first holds.
Result<void> set_kernel_path(Settings& settings, std::string_view text) {
  if (settings.kernel_path.empty()) settings.kernel_path = text;
  return {};
}

constexpr std::array kVariables = {
    Variable{"SOFTTPU_DEVICE", "",
             "embedded: a private device process; inprocess: kernels run inside the program; "
             "unix:PATH: a device shared by \"softtpu serve\"; tcp://HOST:PORT: one shared by \"softtpu serve --tcp\". "
             "Empty: embedded, or inprocess when kernels are linked into the program",
             set_device},
    Variable{
        "SOFTTPU_TLS_CA", "",
        "file with the certificates (PEM) that a remote device's certificate is checked against; empty: the system's",
        set_text<&Settings::ca_file>},
    Variable{"SOFTTPU_TOKEN_FILE", "", "file with the token that a remote device asks for; readable by its owner only",
             set_text<&Settings::token_file>},
    Variable{"SOFTTPU_CHIP", "",
             "name of a built-in chip or path of a chip description (JSON); empty: what CHIP_ARCH names",
             set_text<&Settings::chip>},
    Variable{"SOFTTPU_TIMEOUT", "60",
             "seconds that a kernel may run without issuing a command before it is ended; 0: no limit",
             set_seconds<&Settings::timeout_ms>},
    Variable{"SOFTTPU_LAUNCH_LIMIT", "0", "seconds that a whole launch may run before it is ended; 0: no limit",
             set_seconds<&Settings::limit_ms>},
    Variable{
        "SOFTTPU_SANDBOX", "off",
        "on: after its first launch begins, a core process cannot start processes or open connections or files",
        [](Settings& settings, std::string_view text) {
          static constexpr std::array<std::pair<std::string_view, bool>, 2> kChoices = {{{"off", false}, {"on", true}}};
          return set_choice(settings.sandbox, text, kChoices);
        }},
    Variable{
        "SOFTTPU_NAMESPACE", "on",
        "on: each core process gets a PID namespace of its own where the system allows it, so nothing that a kernel "
        "starts can outlive it; off: processes that are left over are looked for and ended",
        [](Settings& settings, std::string_view text) {
          static constexpr std::array<std::pair<std::string_view, bool>, 2> kChoices = {{{"on", true}, {"off", false}}};
          return set_choice(settings.own_namespace, text, kChoices);
        }},
    Variable{"SOFTTPU_DRAIN", "5", "seconds that a shared device waits for running launches when it is asked to stop",
             set_seconds<&Settings::drain_ms>},
    Variable{"SOFTTPU_CLIENT_MEMORY", "",
             "bytes of device memory that one client of a shared device may have; empty: seven eighths of it",
             set_memory_bytes<&Settings::client_bytes>},
    Variable{"SOFTTPU_CLIENT_MODULES", "256", "kernel modules that one client of a shared device may have loaded",
             set_share<&Settings::client_modules>},
    Variable{"SOFTTPU_CLIENT_CONNECTIONS", "64", "connections that one client may have to a shared device",
             set_share<&Settings::client_connections>},
    Variable{"SOFTTPU_CLIENT_DESCRIPTORS", "512",
             "descriptors that one client's connections and modules may take in a shared device",
             set_share<&Settings::client_descriptors>},
    Variable{"SOFTTPU_LOG_FILE", "", "file that softtpu's own log is appended to; empty: standard error",
             set_text<&Settings::log_file>},
    Variable{"SOFTTPU_FRESH", "zero",
             "zero: memory that a program allocates is filled with 0; poison: with 0xA5, so that reads of unwritten "
             "memory show",
             set_fresh},
    Variable{"SOFTTPU_TRACE", "", "file that gets one event per command (Chrome trace JSON)",
             set_text<&Settings::trace_path>},
    Variable{
        "SOFTTPU_CHECK", "",
        "checks of what kernels do, separated by commas: memory, init, race, constraint, output (results that no "
        "kernel "
        "has written), nan (where NaN and infinities come from), or all of these. all leaves out bank (time lost by "
        "waiting for memory banks), which says nothing about results: all,bank",
        set_checks},
    Variable{"SOFTTPU_PORTABLE_TO", "", "other chips, separated by commas, that kernels should run on (checked)",
             set_text<&Settings::portable_to>},
    Variable{"SOFTTPU_STACK_LIMIT", "32768",
             "bytes of stack that a kernel may use before the constraint check reports it",
             [](Settings& settings, std::string_view text) {
               return set_number(settings.stack_limit, text, 1, 1ULL << 30);
             }},
    Variable{"SOFTTPU_SCHEDULE", "program", "order of commands inside parallel sections: program, late, or random:SEED",
             set_text<&Settings::schedule>},
    Variable{
        "SOFTTPU_SCHEDULES", "0",
        "number of legal orders of its commands in which each launch runs again; the results are compared; 0: none",
        [](Settings& settings, std::string_view text) { return set_number(settings.schedules, text, 0, 1000); }},
    Variable{"SOFTTPU_CORES", "",
             "core counts, separated by commas: each launch on several cores also runs on these core counts, and the "
             "results "
             "are compared; the chip has as many cores as the largest count",
             set_core_counts},
    Variable{"SOFTTPU_ALLOW", "",
             "findings that are intended, separated by commas: RULE[@KERNEL][:MEMORY:BEGIN-END], * and ? allowed",
             set_text<&Settings::allow>},
    Variable{
        "SOFTTPU_MAX_FINDINGS", "100", "number of different findings that are reported, the most severe first",
        [](Settings& settings, std::string_view text) { return set_number(settings.max_findings, text, 1, 1000000); }},
    Variable{"SOFTTPU_JOURNAL", "",
             "file that gets findings and failures as JSON lines instead of stderr; set by \"softtpu run\"",
             set_text<&Settings::journal_path>},
    Variable{
        "SOFTTPU_TIME", "",
        "on: estimates how long each launch takes on the chip, and where the time goes; on:N: and each launch takes "
        "at least N times its estimate, for programs that measure with a clock; vendor: estimates "
        "from the vendor's figures alone, without launch, issue and start-up; only: estimates "
        "without computing anything, which leaves results as they were; only-silent: the same, for records alone; "
        "empty: off. tpuRtEventElapsedTime "
        "returns the estimate if there is one, else the elapsed time",
        set_time},
    Variable{"SOFTTPU_TIMELINE", "", "file that gets the estimated time of every command (Chrome trace JSON)",
             set_text<&Settings::timeline_path>},
    Variable{"SOFTTPU_TIME_RECORD", "", "file that gets one line of JSON per launch, for \"softtpu report\"",
             set_text<&Settings::time_record_path>},
    Variable{
        "SOFTTPU_GDB", "",
        "socket on which a debugger waits for cores; kernels then have no time limits; set by \"softtpu run --gdb\"",
        set_text<&Settings::gdb_socket>},
    Variable{"SOFTTPU_DUMP", "",
             "folder that gets the chip's memories after the last crash of a kernel, for \"softtpu dump --from\"",
             set_text<&Settings::dump_folder>},
    Variable{"SOFTTPU_RECORD", "",
             "file in which a launch is kept, with its module, arguments and memories, for \"softtpu replay\"",
             set_text<&Settings::record_path>},
    Variable{"SOFTTPU_RECORD_LAUNCH", "1",
             "number of the launch that SOFTTPU_RECORD keeps, counted from 1 on each device",
             [](Settings& settings, std::string_view text) {
               return set_number(settings.record_launch, text, 1, UINT32_MAX);
             }},
    Variable{"SOFTTPU_LOG", "warning", "trace, debug, info, warning, error or off: what softtpu's own log prints",
             set_log},
    Variable{"SOFTTPU_TRANSPORT", "shared", "shared: bulk data through shared memory; stream: through the socket",
             set_transport},
    Variable{"SOFTTPU_COPIES", "wait",
             "wait: bm_memcpy_s2d, bm_memcpy_d2s and their relatives wait for what was launched on their handle; "
             "overtake: they do not, as may happen on the chip, which orders them behind no launch",
             set_copies},
    Variable{"SOFTTPU_DEVICE_BINARY", "", "path of softtpu-device; empty: beside the library, then in PATH",
             set_text<&Settings::device_binary>},
    Variable{
        "SOFTTPU_PRELOAD", "",
        "libraries that the device loads first, separated by colons: the runtime of the sanitizer that kernels are "
        "built with; empty: what the first module needs",
        set_text<&Settings::preload>},
    Variable{"SOFTTPU_KERNELS", "fast", "fast, or plain: the simple reference implementation of every command",
             set_kernels},
    Variable{"SOFTTPU_SIMD", "", "sse4, avx2 or avx512: limits the instruction set; empty: the best of the machine",
             set_simd},
    Variable{"SOFTTPU_THREADS", "0", "threads that execute one command; 0: one per processor",
             [](Settings& settings, std::string_view text) { return set_number(settings.threads, text, 0, 1024); }},
    Variable{"SOFTTPU_PARALLEL_STEPS", "",
             "smallest command, in element steps, that several threads share; 0: every command is shared; empty: a "
             "measured default",
             set_parallel_steps},
    Variable{"CMODEL_GLOBAL_MEM_SIZE", "", "bytes of global memory; empty: what the chip description says",
             set_memory_bytes<&Settings::global_bytes>},
    Variable{"SG_MAX_DEVICE_COUNT", "2", "number of devices that a program sees (embedded and inprocess)",
             [](Settings& settings, std::string_view text) { return set_number(settings.device_count, text, 1, 64); }},
    Variable{"TPU_VISIBLE_DEVICES", "",
             "numbers of the devices that a program sees, separated by commas; for the program the first one is device "
             "0; empty: all",
             set_visible_devices},
    Variable{"TPU_RT_CORE_NUM", "", "cores that a launch uses at most; empty: all that the chip has",
             set_most_workitems},
    Variable{"TILELANG_TPU_NUM_CORES", "",
             "the same for programs that TileLang makes; of both numbers the lower one counts", set_most_workitems},
    Variable{
        "CHIP_ARCH", "bm1684x",
        "chip that PPL's projects are built for and run on; SOFTTPU_CHIP comes first. Programs on tpuv7_rt or tpuDNN "
        "run on bm1690 where neither is set",
        set_chip_of_project},
    Variable{"PPL_KERNEL_PATH", "", "kernel module of a tpuDNN handle that its program gives none", set_kernel_path},
    Variable{"TPU_KERNEL_PATH", "", "the same; PPL_KERNEL_PATH comes first", set_kernel_path},
    Variable{"TPUKERNEL_FIRMWARE_PATH", "",
             "kernel module loaded when a program opens a device; empty: libcmodel.so on the library path",
             set_text<&Settings::firmware_path>},
    Variable{
        "SOFTTPU_FIRMWARE", "",
        "who walks the lists of layers of networks' dynamic parts (docs/networks.md): the path of a library with a "
        "chip's firmware; file: the network file's own; none: softtpu's layers alone; empty: these, and the file's "
        "for other layers",
        [](Settings&, std::string_view) { return Result<void>(); }},  // libbmrt reads it for each of its runtimes
    Variable{"BMLIB_LOG", "16", "log level of libbmlib as in bmlib_log_set_level (-8 quiet ... 56 trace)",
             set_bmlib_log},
};

}  // namespace

std::string shared_device_name(const Settings& settings) {
  if (settings.device == DeviceChoice::kUnixSocket) return settings.socket_path;
  if (settings.device == DeviceChoice::kRemote) return "tcp://" + to_text(settings.remote);
  return "";
}

std::span<const CheckName> check_names() { return kChecks; }

Result<std::set<std::string>> parse_checks(std::string_view names) {
  std::set<std::string> checks;
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string_view name = names.substr(begin, end - begin);
    begin = end + 1;
    std::string allowed;
    bool known = false;
    for (const CheckName& check : kChecks) {
      const bool chosen = name == check.name || (name == "all" && check.in_all);
      if (chosen) checks.emplace(check.name);
      known = known || chosen;
      allowed += std::string(check.name) + ", ";
    }
    if (!known) return bad(name, "one of " + allowed + "all");
  }
  return checks;
}

std::span<const Variable> variables() { return kVariables; }

std::string variable_text(const Variable& variable) {
  const char* text = std::getenv(std::string(variable.name).c_str());
  return text != nullptr && *text != '\0' ? text : std::string(variable.fallback);
}

namespace {

std::string_view name_of(std::string_view given) { return given.substr(0, given.find('=')); }

// The variable's text among `given`, else in the environment.
std::string text_of(const Variable& variable, std::span<const std::string> given) {
  for (auto at = given.rbegin(); at != given.rend(); ++at) {
    if (name_of(*at) != variable.name) continue;
    std::string value = at->substr(variable.name.size() + 1);
    return value.empty() ? std::string(variable.fallback) : value;
  }
  return variable_text(variable);
}

Result<void> check_given(std::span<const std::string> given) {
  for (const std::string& text : given) {
    const std::string_view name = name_of(text);
    const auto all = variables();
    const bool known = std::any_of(all.begin(), all.end(), [&](const Variable& v) { return v.name == name; });
    if (known && name.size() < text.size()) continue;
    return Error{ErrorKind::kUsage,
                 fmt::format("\"{}\" is not NAME=VALUE of a setting that `softtpu env` lists.", text)};
  }
  return {};
}

}  // namespace

Result<Settings> read_settings() { return read_settings({}); }

Result<Settings> read_settings(std::span<const std::string> given) {
  if (auto good = check_given(given); !good) return good.error();
  Settings settings;
  for (const Variable& variable : variables()) {
    if (auto done = variable.apply(settings, text_of(variable, given)); !done) {
      return Error{done.error().kind, fmt::format("{}: {}", variable.name, done.error().text)};
    }
  }
  settings.given.assign(given.begin(), given.end());
  return settings;
}

}  // namespace softtpu
