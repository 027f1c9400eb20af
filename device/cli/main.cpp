// softtpu: the launcher. Each subcommand is a row of the table below and a file of this folder.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "device/cli/api.hpp"
#include "device/cli/command.hpp"
#include "device/cli/dump.hpp"
#include "device/cli/golden.hpp"
#include "device/cli/layout.hpp"
#include "device/cli/version.hpp"
#include "runtime/report/report.hpp"

namespace softtpu::cli {
namespace {

Run add_api(CLI::App& app) {
  auto options = std::make_shared<ApiOptions>();
  app.add_option("--chip", options->chip, "only the functions of this chip");
  app.add_option("name", options->filter,
                 "a function: its manual; any other text: the functions whose name contains it");
  app.add_option("--search", options->search, "functions whose description holds these words");
  app.add_flag("--ledger", options->ledger, "how each function is known to be right, also for a whole name");
  app.add_flag("--json", options->json, "as JSON");
  app.footer("Exit status: 0; 1 when no function has that name or those words; 2 when no chip has that name.");
  return [options] { return run_api(*options); };
}

Run add_layout(CLI::App& app) {
  auto options = std::make_shared<LayoutOptions>();
  app.add_option("--chip", options->chip, "a chip's name, or a file with its description")->capture_default_str();
  app.add_option("--shape", options->shape,
                 "N,C,H,W; ROWS,COLUMNS of a matrix; COLUMNS of a vector; IC,OC,KH,KW of weights");
  app.add_option("--dtype", options->dtype, "fp32, fp16, bfp16, int8, uint8, int16, uint16, int32 or uint32")
      ->capture_default_str();
  app.add_option("--layout", options->layout, kLayoutNames)->capture_default_str();
  app.add_option("--mode", options->mode, "storage mode: none, 2n, 4n or 2ic (shape IC,OC,KH,KW)")
      ->capture_default_str();
  app.add_option("--stride", options->stride, "N,C,H,W in elements, for the layouts free and system");
  app.add_option("--width", options->width, "columns per channel, for matrix and vector");
  app.add_option("--start-npu", options->start_npu, "the NPU of channel 0");
  app.add_option("--offset", options->offset, "bytes from the start of that NPU's memory");
  app.add_option("--eu-bytes", options->eu_bytes, "alignment of the aligned layouts, instead of the chip's");
  app.add_flag("--features", options->features, "one cell for each feature (n, c)");
  app.add_option("--mark", options->marks, "NAME=ADDRESS: show where local addresses are, instead of a tensor");
  app.add_flag("--banks", options->banks, "show the addresses of the banks, instead of a tensor");
  app.add_option("--npus", options->npus, "NPUs drawn at most")->capture_default_str();
  app.add_option("--rows", options->rows, "rows drawn at most")->capture_default_str();
  app.add_option("-o,--output", options->output, "also write an SVG file");
  app.footer("Exit status: 0; 2 when the options make no picture; 3 when the SVG file cannot be written.");
  return [options] { return run_layout(*options); };
}

Run add_golden(CLI::App& app) {
  auto options = std::make_shared<GoldenOptions>();
  app.add_option("path", options->session.paths,
                 "family files (*.json) of calls or of instructions of compiled networks, or folders of them")
      ->required();
  app.add_option("--cases", options->cases,
                 "folder of the recorded calls behind recorded instructions (default: golden/CHIP beside them)");
  app.add_option("--chip", options->session.chip,
                 "chip or chip file to run on (default: the chip and revision that each file was recorded with)");
  app.add_option("-f,--filter", options->session.filter, "only cases whose id contains this text");
  app.add_option("--function", options->session.function, "only cases that call this function");
  app.add_option("--failures", options->session.shown_failures, "failures shown for each function");
  app.add_flag("-v,--verbose", options->session.details,
               "all of a failure: elements with coordinates, expected and got");
  app.add_flag("--skipped", options->session.list_skipped, "list what is skipped");
  app.add_option("--ledger", options->ledger, "write the counts for each function to this file (JSON)");
  auto* kernel = app.add_option("--kernel", options->kernel, "the replay kernel's module");
  auto* cluster =
      app.add_option("--cluster", options->cluster,
                     "replays on the workers of a Dask cluster: the scheduler's address, or local (Python)");
  cluster->excludes(kernel);
  app.add_option("--results", options->results, "SQLite file that keeps what the cluster has replayed")->needs(cluster);
  app.footer(
      "Instructions that are known to be refused or to differ are counted apart; --skipped lists them with reasons.\n"
      "Any other difference fails, and so does an instruction that no longer behaves as the list says.\n\n"
      "Exit status: 0 when every case passes; 1 when one fails; 2 when an option is not usable; 3 when the ledger\n"
      "cannot be written.");
  return [options] { return run_golden(*options); };
}

Run add_dump(CLI::App& app) {
  auto options = std::make_shared<DumpOptions>();
  app.add_option("--socket", options->socket,
                 "socket of a shared device (default: of SOFTTPU_DEVICE, else softtpu serve's)");
  app.add_option("--pid", options->pid,
                 "a device process, or the program that an embedded device belongs to, instead of a socket");
  app.add_option("--from", options->folder,
                 "folder of SOFTTPU_DUMP: the memories after the last crash of a kernel, when the device has ended");
  app.add_option("--device", options->device, "number of the device")->capture_default_str();
  app.add_option("--core", options->core, "number of the core")->capture_default_str();
  app.add_flag("--ended", options->ended, "the memory of the last core that crashed");
  app.add_option("--space", options->space, "local, global, l2, static or dtcm")->capture_default_str();
  app.add_option("--address", options->address,
                 "address of the first byte, as kernels see it (default: the memory's first)");
  app.add_option("--bytes", options->bytes, "size of a region")->capture_default_str();
  app.add_option(
      "--shape", options->tensor.shape,
      "a tensor instead of a region: N,C,H,W; ROWS,COLUMNS of a matrix; COLUMNS of a vector; IC,OC,KH,KW of weights");
  app.add_option("--dtype", options->tensor.dtype, "fp32, fp16, bfp16, int8, uint8, int16, uint16, int32 or uint32")
      ->capture_default_str();
  app.add_option("--layout", options->tensor.layout, kLayoutNames)->capture_default_str();
  app.add_option("--mode", options->tensor.mode, "storage mode: none, 2n, 4n or 2ic (shape IC,OC,KH,KW)")
      ->capture_default_str();
  app.add_option("--stride", options->tensor.stride, "N,C,H,W in elements, for the layouts free and system");
  app.add_option("--width", options->tensor.width, "columns per channel, for matrix and vector");
  app.add_option("-o,--output", options->output, "write a NumPy file (.npy) instead of text");
  app.footer(
      "Exit status: 0; 1 when the device does not answer; 2 when there is no such device, memory or tensor; 3 when a "
      "memory\n"
      "cannot be read or the file cannot be written.");
  return [options] { return run_dump(*options); };
}

struct Row {
  const char* name;
  const char* help;
  Run (*add)(CLI::App& app);
  int usage_status = kUsageError;
};

constexpr int kNotStarted = static_cast<int>(Verdict::kNotStarted);

constexpr Row kCommands[] = {
    {"serve", "Serve devices to all programs of this user on a Unix socket", add_serve},
    {"run", "Run a program with a device set up by options", add_run, kNotStarted},
    {"replay", "Repeat a launch that `softtpu run --record` has kept, and compare the results", add_replay,
     kNotStarted},
    {"report", "Run a program with estimated times and checks, and write an HTML page about it", add_report,
     kNotStarted},
    {"bmodel", "Show, run and compare compiled networks (.bmodel)", add_bmodel},
    {"info", "Show the chips, and the state of a shared device", add_info},
    {"rules", "List the rules of the checks", add_rules},
    {"env", "List every environment variable with its value", add_env},
    {"sdk", "Write the folder tree of a vendor's SDK, for projects that expect it", add_sdk},
    {"dump", "Show a region or tensor of a device's memories, or write it as a NumPy file", add_dump},
    {"layout", "Draw where a tensor's elements lie, as text and SVG", add_layout},
    {"api", "Explain a function, search functions, list how each was verified", add_api},
    {"golden", "Replay recorded cases through host library, device and kernel", add_golden},
};

// What is wrong with the command line, in one line, and where the right options stand.
int refuse(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  std::string command;
  int status = kUsageError;
  for (const Row& row : kCommands) {
    if (!app.got_subcommand(row.name)) continue;
    command = std::string(row.name) + ": ";
    status = row.usage_status;
  }
  const std::string place = command.empty() ? "softtpu" : "softtpu " + command.substr(0, command.size() - 2);
  std::fprintf(stderr, "softtpu: %s%s (%s --help lists what there is)\n", command.c_str(), error.what(), place.c_str());
  return status;
}

}  // namespace

int fail(const char* text) {
  std::fprintf(stderr, "softtpu: %s\n", text);
  return kFailed;
}

int fail(const Error& error) {
  fail(error.text.c_str());
  return error.kind == ErrorKind::kUsage ? kUsageError : kFailed;
}

}  // namespace softtpu::cli

int main(int argc, char** argv) {
  using namespace softtpu::cli;
  CLI::App app("softtpu: an emulator of SOPHGO's BM1684X and BM1684 for TPUKernel and OKKernel programs.", "softtpu");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text(SOFTTPU_VERSION));
  int status = 0;
  for (const Row& row : kCommands) {
    CLI::App* command = app.add_subcommand(row.name, row.help);
    command->callback([&status, run = row.add(*command)] { status = run(); });
  }
  app.footer(
      "Exit status: 0; 1 when the command could not do its work; 2 when an option, argument or setting is not usable;\n"
      "3 when an output file cannot be written. run, replay and report end with the status of their program, or with\n"
      "120 to 125: \"softtpu run --help\".");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return refuse(app, error);
  }
  return status;
}
