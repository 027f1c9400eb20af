// Options of a command line that stand for environment variables: one table for `softtpu run`, `softtpu serve`,
// `softtpu replay` and softtpu-device. An option sets its variable in this process, from where programs and devices
// inherit it, so a script or a debugger can say whatever a command line can.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace softtpu {

enum class SettingUser {
  kProgram,  // a program and the device of its own
  kServer,   // a device that others share
  kReplay,   // the device of a recorded launch
};

// The options that were given, as they are written ("--sandbox"), and whether they set up a device rather than a
// program.
struct GivenSetting {
  std::string option;
  bool of_device = false;
};
using GivenSettings = std::vector<GivenSetting>;

// Declares the user's options. What was given is known when the parser is through.
std::shared_ptr<const GivenSettings> add_setting_options(CLI::App& app, SettingUser user);

}  // namespace softtpu
