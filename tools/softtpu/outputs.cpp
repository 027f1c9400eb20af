#include "tools/softtpu/outputs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "device/server/crash/crash_folder.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu::cli {
namespace {

Error not_writable(const std::string& option, const std::string& path) {
  return Error{ErrorKind::kResource,
               fmt::format("{}: \"{}\" cannot be written: {}", option, path, std::strerror(errno))};
}

void make_absolute(const char* variable, std::string& path) {
  path = std::filesystem::absolute(path).lexically_normal().string();
  ::setenv(variable, path.c_str(), 1);
}

Result<void> prepare_file(const char* variable, std::string& path) {
  if (path.empty()) return {};
  make_absolute(variable, path);
  return check_writable(variable, path);
}

// The launch's file is empty until it is kept, so that an old one is not taken for it. It holds what the program
// computes with: other users cannot read it, also where they could read an older one. Not blocking: a FIFO would wait
// for a reader.
Result<void> prepare_record(Settings& settings) {
  if (settings.record_path.empty()) return {};
  make_absolute("SOFTTPU_RECORD", settings.record_path);
  const UniqueFd file(
      ::open(settings.record_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0600));
  struct stat status {};
  if (file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) ::fchmod(file.get(), 0600);
  return file ? Result<void>() : not_writable("--record", settings.record_path);
}

}  // namespace

Result<void> check_writable(const std::string& option, const std::string& path) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  // Opening and closing a pipe ends it for its reader.
  if (exists && S_ISFIFO(status.st_mode)) {
    return ::access(path.c_str(), W_OK) == 0 ? Result<void>() : not_writable(option, path);
  }
  const int create = exists ? 0 : O_CREAT | O_EXCL;
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | create, 0600));
  if (!file) return not_writable(option, path);
  if (!exists) ::unlink(path.c_str());
  return {};
}

Result<void> prepare_outputs(Settings& settings) {
  auto prepared = prepare_record(settings);
  if (prepared) prepared = prepare_file("SOFTTPU_TRACE", settings.trace_path);
  if (prepared) prepared = prepare_file("SOFTTPU_TIMELINE", settings.timeline_path);
  if (prepared) prepared = prepare_file("SOFTTPU_TIME_RECORD", settings.time_record_path);
  if (!prepared || settings.dump_folder.empty()) return prepared;
  make_absolute("SOFTTPU_DUMP", settings.dump_folder);
  return make_crash_folder(settings.dump_folder);
}

}  // namespace softtpu::cli
