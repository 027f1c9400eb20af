#include "device/server/startup/setting_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "runtime/base/config.hpp"

namespace softtpu {
namespace {

enum class Form {
  kText,
  kFlag,  // the option alone stands for a value
  kList,  // may be repeated; joined with commas, after what the environment says
};

// Whose setting it is: of libbmlib in the program, of the device, or of both.
enum class Side { kHost, kDevice, kBoth };

struct Row {
  const char* option;
  std::string_view variable;
  Side side;
  Form form = Form::kText;
  const char* flag_value = "";
};

constexpr Row kRows[] = {
    {"--device", "SOFTTPU_DEVICE", Side::kHost},
    {"--device-count", "SG_MAX_DEVICE_COUNT", Side::kHost},
    {"--transport", "SOFTTPU_TRANSPORT", Side::kHost},
    {"--copies", "SOFTTPU_COPIES", Side::kHost},
    {"--tls-ca", "SOFTTPU_TLS_CA", Side::kHost},
    {"--token-file", "SOFTTPU_TOKEN_FILE", Side::kHost},
    {"--module", "TPUKERNEL_FIRMWARE_PATH", Side::kHost},
    {"--firmware", "SOFTTPU_FIRMWARE", Side::kHost},
    {"--bmlib-log", "BMLIB_LOG", Side::kHost},
    {"--log", "SOFTTPU_LOG", Side::kBoth},
    {"--log-file", "SOFTTPU_LOG_FILE", Side::kBoth},
    {"--device-binary", "SOFTTPU_DEVICE_BINARY", Side::kBoth},
    {"--preload", "SOFTTPU_PRELOAD", Side::kDevice},
    {"--chip", "SOFTTPU_CHIP", Side::kDevice},
    {"--global-memory", "CMODEL_GLOBAL_MEM_SIZE", Side::kDevice},
    {"--timeout", "SOFTTPU_TIMEOUT", Side::kDevice},
    {"--launch-limit", "SOFTTPU_LAUNCH_LIMIT", Side::kDevice},
    {"--sandbox", "SOFTTPU_SANDBOX", Side::kDevice, Form::kFlag, "on"},
    {"--namespace", "SOFTTPU_NAMESPACE", Side::kDevice},
    {"--fresh", "SOFTTPU_FRESH", Side::kDevice},
    {"--drain", "SOFTTPU_DRAIN", Side::kDevice},
    {"--client-memory", "SOFTTPU_CLIENT_MEMORY", Side::kDevice},
    {"--client-modules", "SOFTTPU_CLIENT_MODULES", Side::kDevice},
    {"--client-connections", "SOFTTPU_CLIENT_CONNECTIONS", Side::kDevice},
    {"--client-descriptors", "SOFTTPU_CLIENT_DESCRIPTORS", Side::kDevice},
    {"--trace", "SOFTTPU_TRACE", Side::kDevice},
    {"--check", "SOFTTPU_CHECK", Side::kDevice},
    {"--allow", "SOFTTPU_ALLOW", Side::kDevice, Form::kList},
    {"--max-findings", "SOFTTPU_MAX_FINDINGS", Side::kDevice},
    {"--portable-to", "SOFTTPU_PORTABLE_TO", Side::kDevice},
    {"--stack-limit", "SOFTTPU_STACK_LIMIT", Side::kDevice},
    {"--schedule", "SOFTTPU_SCHEDULE", Side::kDevice},
    {"--schedules", "SOFTTPU_SCHEDULES", Side::kDevice},
    {"--cores", "SOFTTPU_CORES", Side::kDevice},
    {"--time", "SOFTTPU_TIME", Side::kDevice, Form::kFlag, "on"},
    {"--time-vendor", "SOFTTPU_TIME", Side::kDevice, Form::kFlag, "vendor"},
    {"--time-only", "SOFTTPU_TIME", Side::kDevice, Form::kFlag, "only"},
    {"--timeline", "SOFTTPU_TIMELINE", Side::kDevice},
    {"--time-record", "SOFTTPU_TIME_RECORD", Side::kDevice},
    {"--dump", "SOFTTPU_DUMP", Side::kDevice},
    {"--record", "SOFTTPU_RECORD", Side::kDevice},
    {"--record-launch", "SOFTTPU_RECORD_LAUNCH", Side::kDevice},
    {"--kernels", "SOFTTPU_KERNELS", Side::kDevice},
    {"--simd", "SOFTTPU_SIMD", Side::kDevice},
    {"--threads", "SOFTTPU_THREADS", Side::kDevice},
    {"--parallel-steps", "SOFTTPU_PARALLEL_STEPS", Side::kDevice},
};

bool is_for(const Row& row, SettingUser user) {
  if (user == SettingUser::kServer) return row.side != Side::kHost;
  // What is replayed is compared.
  const auto of_program = [&] {
    return row.side == Side::kHost || row.variable.starts_with("SOFTTPU_RECORD") ||
           std::string_view(row.option) == "--time-only";
  };
  if (user == SettingUser::kReplay && of_program()) return false;
  // A device of one program ends with it, and is not shared out.
  return row.variable != "SOFTTPU_DRAIN" && !row.variable.starts_with("SOFTTPU_CLIENT_");
}

// Of "VALUE: what it means; VALUE: ..." the part of one value.
std::string_view meaning_of(std::string_view meaning, std::string_view value) {
  const std::string start = fmt::format("{}: ", value);
  for (std::string_view rest = meaning;;) {
    const std::size_t end = rest.find("; ");
    if (rest.starts_with(start)) return rest.substr(0, end).substr(start.size());
    if (end == std::string_view::npos) return meaning;
    rest.remove_prefix(end + 2);
  }
}

std::string help_of(const Row& row) {
  const auto known = variables();
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const Variable& v) { return v.name == row.variable; });
  const std::string_view meaning = found != known.end() ? found->meaning : "";
  if (row.form == Form::kFlag)
    return fmt::format("sets {}={}: {}", row.variable, row.flag_value, meaning_of(meaning, row.flag_value));
  return fmt::format("sets {}: {}", row.variable, meaning);
}

void set(const Row& row, const std::string& text, GivenSettings& given) {
  const std::string name(row.variable);
  const char* old = std::getenv(name.c_str());
  const bool joined = row.form == Form::kList && old != nullptr && *old != '\0';
  ::setenv(name.c_str(), (joined ? std::string(old) + "," + text : text).c_str(), 1);
  given.push_back({row.option, row.side == Side::kDevice});
}

}  // namespace

std::shared_ptr<const GivenSettings> add_setting_options(CLI::App& app, SettingUser user) {
  auto given = std::make_shared<GivenSettings>();
  for (const Row& row : kRows) {
    if (!is_for(row, user)) continue;
    if (row.form == Form::kFlag) {
      app.add_flag_callback(
          row.option, [&row, given] { set(row, row.flag_value, *given); }, help_of(row));
    } else if (row.form == Form::kList) {
      const auto set_all = [&row, given](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) set(row, text, *given);
      };
      app.add_option_function<std::vector<std::string>>(row.option, set_all, help_of(row) + "; may be repeated")
          ->allow_extra_args(false);
    } else {
      app.add_option_function<std::string>(
          row.option, [&row, given](const std::string& text) { set(row, text, *given); }, help_of(row));
    }
  }
  return given;
}

}  // namespace softtpu
