#include "runtime/module/missing_symbols.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "runtime/module/module_symbols.hpp"

namespace softtpu {
namespace {

constexpr std::size_t kMostNames = 5;

struct Origin {
  std::string_view prefix;
  std::string_view text;  // goes on after "they"
};

constexpr std::string_view kClosedKernels =
    "belong to the vendor's library of finished kernels (the closed backend of TPU-MLIR and BMRuntime). Build the "
    "module "
    "with the sources that define them, or call tpu_* functions instead";
constexpr std::string_view kCommands =
    "write commands of the chip and belong to the vendor's closed firmware, below the public interface. Call tpu_* or "
    "okk_* functions instead";
constexpr Origin kOrigins[] = {
    {"nodechip_", kClosedKernels},
    {"sgdnn_", kClosedKernels},
    {"backend_", kClosedKernels},
    {"atomic_", kCommands},
    {"bmcv_", "are called by host programs, not by kernels (libbmcv)"},
    {"bmrt_", "are called by host programs, not by kernels (libbmrt)"},
    {"bm_", "are called by host programs, not by kernels (libbmlib)"},
};

std::string listed(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNames);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// The names with the prefix that are not defined in this process.
std::vector<std::string> missing_with(int fd, std::string_view prefix, const std::string& first) {
  std::vector<std::string> names;
  if (const auto symbols = undefined_symbols(fd, {})) {
    std::copy_if(symbols->begin(), symbols->end(), std::back_inserter(names), [&](const std::string& name) {
      return name.starts_with(prefix) && ::dlsym(RTLD_DEFAULT, name.c_str()) == nullptr;
    });
  }
  if (std::find(names.begin(), names.end(), first) == names.end()) names.insert(names.begin(), first);
  return names;
}

}  // namespace

std::string explain_missing(int fd, const std::string& first) {
  if (first.starts_with("tpu_") || first.starts_with("okk_")) {
    const auto names = missing_with(fd, first.substr(0, 4), first);
    return fmt::format("it needs {}, which this softtpu does not have (`softtpu api` lists what it has)",
                       listed(names));
  }
  for (const Origin& origin : kOrigins) {
    if (!first.starts_with(origin.prefix)) continue;
    return fmt::format("it needs {}. {}* are not TPUKernel or OKKernel functions; they {}",
                       listed(missing_with(fd, origin.prefix, first)), origin.prefix, origin.text);
  }
  return {};
}

}  // namespace softtpu
