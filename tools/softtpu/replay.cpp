// softtpu replay: runs a recorded launch again, under the options of `softtpu run`, or shows what a record holds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string>

#include "device/chip/chip.hpp"
#include "device/record/launch_record.hpp"
#include "runtime/base/config.hpp"
#include "runtime/base/text.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/report/finding.hpp"
#include "runtime/report/report.hpp"
#include "tools/softtpu/command.hpp"
#include "tools/softtpu/run.hpp"

namespace softtpu::cli {
namespace {

struct ReplayOptions {
  RunOptions run;
  std::string file;
  bool show = false;
};

int not_run(const std::string& text) {
  fail(("replay: " + text).c_str());
  return static_cast<int>(Verdict::kNotStarted);
}

std::uint64_t bytes_of(const RecordedMemory& memory) {
  std::uint64_t bytes = 0;
  for (const RecordedBlock& block : memory.blocks) bytes += block.bytes.size();
  return bytes;
}

void describe(const LaunchRecord& record) {
  const RecordedLaunch& launch = record.launch;
  const auto chip = load_chip(launch.chip);
  print_escaped("kernel     {}\nmodule     {} ({} bytes)\nlaunch     {}, on core {} of chip {}\narguments  {} bytes:",
                launch.kernel, launch.module, launch.image.size(), launch.number, launch.core, chip ? chip->name : "?",
                launch.args.size());
  for (const std::uint8_t byte : launch.args) print_escaped(" {:02x}", byte);
  print_escaped("\n");
  for (const RecordedAllocation& allocation : launch.allocations) {
    print_escaped("allocation 0x{:x}, {} bytes{}\n", allocation.address, allocation.bytes,
                  allocation.allocated_at.empty() ? "" : ", at " + short_frame(allocation.allocated_at.front()));
  }
  for (const RecordedMemory& memory : record.before)
    print_escaped("before     {} of {} memory in use\n", to_size_text(bytes_of(memory)), memory.name);
  if (!record.outcome) return print_escaped("outcome    the kernel did not return\n");
  print_escaped("outcome    {}, after {} commands\n", record.outcome->ok ? "success" : record.outcome->text,
                record.outcome->commands);
  for (const RecordedMemory& memory : record.changed)
    print_escaped("changed    {} of {} memory (whole blocks)\n", to_size_text(bytes_of(memory)), memory.name);
}

// The program of the run is the device itself.
int replay(ReplayOptions& options) {
  const auto record = read_launch_record(options.file);
  if (!record) return not_run(record.error().text);
  if (options.show) {
    describe(*record);
    return 0;
  }
  const auto settings = read_settings();
  if (!settings) return not_run(settings.error().text);
  const auto device = find_device_binary(*settings);
  if (!device) return not_run(device.error().text);
  // What the environment and the options do not say is as it was.
  ::setenv("SOFTTPU_CHIP", record->launch.chip.c_str(), 0);
  ::setenv("CMODEL_GLOBAL_MEM_SIZE", std::to_string(record->launch.global_bytes).c_str(), 0);
  options.run.program = {*device, "--replay", options.file};
  return run_with_options(options.run);
}

}  // namespace

Run add_replay(CLI::App& app) {
  auto options = std::make_shared<ReplayOptions>();
  app.add_option("file", options->file, "what `softtpu run --record FILE` has kept")->required();
  app.add_flag("--show", options->show, "prints what the record holds, and runs nothing");
  add_run_options(app, options->run, SettingUser::kReplay);
  app.footer(
      std::string("Exit status:\n"
                  "    0  the launch ended as recorded and left the same bytes\n"
                  "    1  it ended otherwise, or left other bytes\n") +
      kGraveStatuses +
      "  125  the record is damaged, an option has a bad value, or the chip has no room where the launch's memories "
      "lie");
  return [options] { return replay(*options); };
}

}  // namespace softtpu::cli
