// softtpu env: every environment variable that softtpu reads, with its value, default and meaning.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "device/chip/chip.hpp"
#include "device/server/startup/check_settings.hpp"
#include "runtime/base/config.hpp"
#include "tools/softtpu/command.hpp"

namespace softtpu::cli {
namespace {

using Json = nlohmann::json;

// Why a value is refused; empty: it is not. Some are read when a device starts.
std::string complaint(const Variable& variable, const std::string& text) {
  Settings scratch;
  auto good = variable.apply(scratch, text);
  if (scratch.chip.empty()) scratch.chip = builtin_chip_names().front();
  if (good) good = check_device_settings(scratch);
  return good ? std::string() : good.error().text;
}

int run_json() {
  int status = 0;
  Json list = Json::array();
  for (const Variable& variable : variables()) {
    const std::string text = variable_text(variable);
    list.push_back({{"name", variable.name},
                    {"value", text},
                    {"default", variable.fallback},
                    {"is_set", text != variable.fallback},
                    {"meaning", variable.meaning}});
    if (const std::string why = complaint(variable, text); !why.empty()) {
      list.back()["not_usable"] = why;
      status = 1;
    }
  }
  print_json({{"format", "softtpu-env"}, {"version", 1}, {"variables", list}});
  return status;
}

// 1 when a variable has a value that softtpu refuses.
int run() {
  int status = 0;
  for (const Variable& variable : variables()) {
    const bool set = variable_text(variable) != variable.fallback;
    print_escaped("{}={}{}\n    {}", variable.name, variable_text(variable), set ? "" : "    (default)",
                  variable.meaning);
    if (set) print_escaped(" [default: {}]", variable.fallback.empty() ? "not set" : variable.fallback);
    print_escaped("\n");
    if (const std::string why = complaint(variable, variable_text(variable)); !why.empty()) {
      print_escaped("    NOT USABLE: {}\n", why);
      status = 1;
    }
  }
  return status;
}

}  // namespace

Run add_env(CLI::App& app) {
  app.footer("Exit status: 0; 1 when a variable has a value that is not usable.");
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "JSON instead of text");
  return [json] { return *json ? run_json() : run(); };
}

}  // namespace softtpu::cli
