#include "runtime/module/instrumentation.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/module/module_symbols.hpp"
#include "runtime/module/this_machine.hpp"

namespace softtpu {
namespace {

using Names = std::vector<std::string>;

// Where Clang has its runtimes, which its modules do not name unless they are linked with -shared-libasan.
constexpr const char* kClangRuntimes[] = {"/usr/lib/llvm-*/lib/clang/*/lib/linux/", "/usr/lib/clang/*/lib/linux/",
                                          "/usr/lib64/clang/*/lib/linux/", "/usr/local/lib/clang/*/lib/linux/"};

bool has_prefix(const Names& names, std::string_view prefix) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name.starts_with(prefix); });
}

std::optional<std::string> find_prefix(const Names& names, std::string_view prefix) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const std::string& name) { return name.starts_with(prefix); });
  return found != names.end() ? std::optional(*found) : std::nullopt;
}

std::optional<std::string> find_clang_runtime(const std::string& file) {
  for (const char* folder : kClangRuntimes) {
    glob_t found{};
    std::optional<std::string> path;
    // Sorted: the last is the newest of those with as many digits.
    if (::glob((folder + file).c_str(), 0, nullptr, &found) == 0) path = found.gl_pathv[found.gl_pathc - 1];
    ::globfree(&found);
    if (path) return path;
  }
  return std::nullopt;
}

Error not_installed(const std::string& file) {
  return {ErrorKind::kUsage,
          fmt::format("it is built with a sanitizer of Clang, whose runtime {} is not installed (on Debian: "
                      "libclang-rt-14-dev)",
                      file)};
}

Result<Instrumentation> find_address_runtime(const Names& libraries) {
  if (const auto gcc = find_prefix(libraries, "libasan.so")) return Instrumentation{*gcc, {}};
  const std::string file = fmt::format("libclang_rt.asan-{}.so", kThisMachineOfClang);
  const auto clang = find_clang_runtime(file);
  if (!clang) return not_installed(file);
  return Instrumentation{*clang, {}};
}

}  // namespace

bool has_address_sanitizer() { return ::dlsym(RTLD_DEFAULT, "__asan_init") != nullptr; }

Result<Instrumentation> find_instrumentation(int fd) {
  const auto symbols = undefined_symbols(fd, {});
  const auto libraries = needed_libraries(fd, {});
  if (!symbols || !libraries) return Instrumentation{};
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"__tsan_", "thread"}, {"__msan_", "memory"}, {"__hwasan_", "hwaddress"}, {"__dfsan_", "dataflow"}};
  for (const auto& [prefix, name] : kOthers) {
    if (!has_prefix(*symbols, prefix)) continue;
    return Error{
        ErrorKind::kUsage,
        fmt::format("it is built with -fsanitize={}, which would have to watch the whole device; kernels can have "
                    "-fsanitize=address and -fsanitize=undefined",
                    name)};
  }
  if (has_prefix(*symbols, "__asan_")) return find_address_runtime(*libraries);
  const bool checks = has_prefix(*symbols, "__ubsan_handle_");
  // GCC's modules name their runtime; the one of AddressSanitizer has these checks as well.
  if (!checks || has_prefix(*libraries, "libubsan.so") || has_prefix(*libraries, "libclang_rt."))
    return Instrumentation{};
  const std::string file = fmt::format("libclang_rt.ubsan_standalone-{}.so", kThisMachineOfClang);
  auto clang = find_clang_runtime(file);
  if (!clang) return not_installed(file);
  return Instrumentation{{}, *std::move(clang)};
}

}  // namespace softtpu
