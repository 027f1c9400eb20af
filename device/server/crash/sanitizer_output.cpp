#include "device/server/crash/sanitizer_output.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "device/server/crash/fault_handler.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {
namespace {

constexpr std::size_t kMostBytes = 64U << 10;
constexpr std::size_t kMostLines = 40;
constexpr std::string_view kAddressError = "ERROR: AddressSanitizer: ";
constexpr std::string_view kBehaviourError = ": runtime error: ";

// A kernel may have written anything there, and as much as it liked.
std::string read_reports(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || status.st_size <= 0) return {};
  std::string text(std::min(static_cast<std::size_t>(status.st_size), kMostBytes), '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  for (char& c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c != '\n' && (code < 0x20 || code == 0x7f)) c = ' ';
  }
  return text;
}

std::vector<std::string> find_runtimes() {
  std::vector<std::string> paths;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const std::string name = std::filesystem::path(info->dlpi_name).filename().string();
        for (const char* prefix : {"libasan.so", "libubsan.so", "libclang_rt.asan", "libclang_rt.ubsan"}) {
          if (name.starts_with(prefix)) static_cast<std::vector<std::string>*>(data)->push_back(info->dlpi_name);
        }
        return 0;
      },
      &paths);
  return paths;
}

// Lines of the report that say something: its end explains codes of shadow memory, and below the kernel's calls lie the
// core's own.
std::vector<std::string> telling_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  bool in_core = false;
  for (std::string line; std::getline(stream, line) && lines.size() < kMostLines;) {
    if (line.starts_with("SUMMARY:") || line.starts_with("Shadow bytes")) break;
    const bool is_frame = line.starts_with("    #");
    in_core = is_frame && (in_core || line.find(" in softtpu::") != std::string::npos);
    if (!in_core && line.find_first_not_of("= ") != std::string::npos) lines.push_back(line);
  }
  return lines;
}

// UBSan's runtime begins with its first report, and opens standard error then, whatever was set before. So it gets
// one to report that is never shown; not when the environment has it end the process at the first.
void begin_reporting(void* runtime) {
  const char* options = std::getenv("UBSAN_OPTIONS");
  if (options != nullptr && std::string_view(options).find("halt_on_error=1") != std::string_view::npos) return;
  const auto report = reinterpret_cast<void (*)(void*, std::uintptr_t, std::uintptr_t)>(
      ::dlsym(runtime, "__ubsan_handle_pointer_overflow"));
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const UniqueFd before(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  if (report == nullptr || !nowhere || !before) return;
  struct {
    const char* file;
    std::uint32_t line, column;
  } place = {"", 1, 1};
  ::dup2(nowhere.get(), STDERR_FILENO);
  report(&place, 1, 2);
  ::dup2(before.get(), STDERR_FILENO);
}

}  // namespace

UniqueFd make_report_file() { return UniqueFd(::memfd_create("softtpu-reports", MFD_CLOEXEC)); }

SanitizerOutput::SanitizerOutput(int file) : file_(file) {}

void SanitizerOutput::attach() {
  const auto paths = find_runtimes();
  if (!paths.empty() && attached_.empty()) forget_sanitizer_reports(file_);
  std::vector<void*> runtimes;
  for (const std::string& path : paths) {
    void* runtime = ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (runtime == nullptr) continue;
    runtimes.push_back(runtime);
    if (attached_.insert(path).second && path.find("ubsan") != std::string::npos) begin_reporting(runtime);
  }
  // Only now: one runtime's beginning may reach the other's file.
  for (void* runtime : runtimes) {
    const auto set_file = reinterpret_cast<void (*)(void*)>(::dlsym(runtime, "__sanitizer_set_report_fd"));
    const auto at_end = reinterpret_cast<void (*)(void (*)())>(::dlsym(runtime, "__sanitizer_set_death_callback"));
    if (set_file != nullptr) set_file(reinterpret_cast<void*>(static_cast<std::intptr_t>(file_)));
    if (at_end != nullptr) at_end(note_end);
    ::dlclose(runtime);
  }
}

std::string SanitizerOutput::take() {
  std::string text = attached_.empty() ? std::string() : read_reports(file_);
  if (!text.empty()) forget_sanitizer_reports(file_);
  return text;
}

void SanitizerOutput::forget_others() const {
  if (attached_.empty()) forget_sanitizer_reports(file_);
}

void forget_sanitizer_reports(int file) {
  if (::ftruncate(file, 0) == 0) ::lseek(file, 0, SEEK_SET);
}

SanitizerReport find_sanitizer_report(int file, bool crashed) {
  SanitizerReport report;
  const auto lines = telling_lines(read_reports(file));
  if (lines.empty()) return report;
  for (const std::string& line : lines) {
    if (crashed) break;
    if (const auto at = line.find(kAddressError); at != std::string::npos) {
      report.cause = "was ended by AddressSanitizer: " + line.substr(at + kAddressError.size());
      break;
    }
    // The last one: those before have not ended it.
    if (const auto at = line.find(kBehaviourError); at != std::string::npos)
      report.cause = "was ended by UndefinedBehaviorSanitizer: " + line.substr(at + kBehaviourError.size());
  }
  report.text = "\n - What the sanitizer reported:";
  for (const std::string& line : lines) report.text += "\n     " + line;
  return report;
}

}  // namespace softtpu
