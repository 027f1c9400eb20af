#include "device/cli/golden.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "device/cli/command.hpp"
#include "device/cli/outputs.hpp"
#include "tests/replay/bmlib_target.hpp"

namespace softtpu::cli {
namespace {

constexpr const char* kKernelFile = "softtpu_replay_kernel.so";

// The module lies beside the libraries, in the build tree and in an installed one.
std::string find_kernel() {
  std::error_code failed;  // without /proc the loader looks for it
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path().parent_path();
  for (const char* place : {"lib/softtpu", "lib"}) {
    const auto path = folder / place / kKernelFile;
    if (std::filesystem::exists(path, failed)) return path.string();
  }
  return kKernelFile;
}

}  // namespace

int run_golden(const GoldenOptions& options) {
  const std::string kernel = options.kernel.empty() ? find_kernel() : options.kernel;
  if (!options.ledger.empty()) {
    if (auto writable = check_writable("--ledger", options.ledger); !writable) {
      fail(writable.error());
      return kNotWritten;
    }
  }
  const auto result = replay::run_session(
      options.session, [&](const std::string& chip) { return replay::make_bmlib_target(chip, kernel); });
  if (!options.ledger.empty() && !replay::write_ledger(options.ledger, result)) return kNotWritten;
  return result.total.failed == 0 ? 0 : 1;
}

}  // namespace softtpu::cli
