// softtpu run: sets the environment that its options stand for and becomes the program.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/cli/command.hpp"
#include "runtime/base/config.hpp"

namespace softtpu::cli {
namespace {

struct Options {
  std::vector<std::pair<std::string, std::string>> variables;  // name, text of the option (empty: not given)
  std::vector<std::string> program;
};

// A program that was built against the SDK finds this softtpu's libraries without a run path of its own.
void add_library_path() {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return;
  std::string path;
  for (const char* folder : {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"}) {
    const auto place = self.parent_path().parent_path() / folder;
    if (std::filesystem::exists(place / "libbmlib.so", failed)) path += place.string() + ":";
  }
  const char* old = std::getenv("LD_LIBRARY_PATH");
  path += old != nullptr ? old : "";
  if (!path.empty() && path.back() == ':') path.pop_back();
  if (!path.empty()) ::setenv("LD_LIBRARY_PATH", path.c_str(), 1);
}

int run(const Options& options) {
  for (const auto& [name, text] : options.variables) {
    if (!text.empty()) ::setenv(name.c_str(), text.c_str(), 1);
  }
  // A bad value is reported here, before the program starts.
  if (auto settings = read_settings(); !settings) return fail(settings.error().text.c_str());
  add_library_path();
  std::vector<char*> arguments;
  for (const std::string& word : options.program) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  return fail((options.program[0] + ": " + std::strerror(errno)).c_str());
}

}  // namespace

Run add_run(CLI::App& app) {
  auto options = std::make_shared<Options>();
  constexpr std::pair<const char*, const char*> kOptions[] = {{"--chip", "SOFTTPU_CHIP"},
                                                              {"--device", "SOFTTPU_DEVICE"},
                                                              {"--timeout", "SOFTTPU_TIMEOUT"},
                                                              {"--trace", "SOFTTPU_TRACE"},
                                                              {"--check", "SOFTTPU_CHECK"},
                                                              {"--log", "SOFTTPU_LOG"},
                                                              {"--kernels", "SOFTTPU_KERNELS"},
                                                              {"--simd", "SOFTTPU_SIMD"},
                                                              {"--threads", "SOFTTPU_THREADS"},
                                                              {"--transport", "SOFTTPU_TRANSPORT"},
                                                              {"--module", "TPUKERNEL_FIRMWARE_PATH"}};
  options->variables.reserve(std::size(kOptions));  // the parser keeps references into it
  for (const auto& [option, name] : kOptions) {
    auto& variable = options->variables.emplace_back(name, "");
    app.add_option(option, variable.second, std::string("sets ") + name);
  }
  app.add_option("program", options->program, "the program and its arguments, after --")->required();
  return [options] { return run(*options); };
}

}  // namespace softtpu::cli
