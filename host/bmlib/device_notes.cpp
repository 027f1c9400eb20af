#include "host/bmlib/device_notes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/process/begun_files.hpp"

namespace softtpu::host {
namespace {

// For processes of this user, while this one lives.
std::string name_of(const UniqueFd& file) { return fmt::format("/proc/{}/fd/{}", ::getpid(), file.get()); }

Error no_file() { return Error{ErrorKind::kResource, fmt::format("notes of the device: {}", std::strerror(errno))}; }

}  // namespace

Result<std::shared_ptr<DeviceNotes>> DeviceNotes::create(Options options) {
  UniqueFd journal(::memfd_create("softtpu-notes", MFD_CLOEXEC));
  if (!journal) return no_file();
  // A descriptor with a place of its own.
  UniqueFd reader(::open(name_of(journal).c_str(), O_RDONLY | O_CLOEXEC));
  if (!reader) return no_file();
  UniqueFd times;
  if (options.times) {
    times = UniqueFd(::memfd_create("softtpu-times", MFD_CLOEXEC));
    if (!times) return no_file();
  }
  return std::shared_ptr<DeviceNotes>(
      new DeviceNotes(std::move(options), std::move(journal), std::move(reader), std::move(times)));
}

DeviceNotes::DeviceNotes(Options options, UniqueFd journal, UniqueFd journal_reader, UniqueFd times)
    : options_(std::move(options)),
      journal_(std::move(journal)),
      follower_(std::move(journal_reader)),
      times_(std::move(times)) {}

// What was not asked for still belongs into the report of `softtpu run`.
DeviceNotes::~DeviceNotes() {
  try {
    take_times();
    if (!options_.also_noted_in.empty()) take();
  } catch (const std::bad_alloc&) {
    log_warning("no memory to take the last notes of the device");
  }
}

std::vector<std::string> DeviceNotes::settings() const {
  std::vector<std::string> settings = {"SOFTTPU_JOURNAL=" + name_of(journal_)};
  if (times_) settings.push_back("SOFTTPU_TIME_RECORD=" + name_of(times_));
  return settings;
}

JournalContents DeviceNotes::take() {
  const std::lock_guard lock(mutex_);
  std::string lines;
  JournalContents contents = follower_.take(&lines);
  if (!options_.also_noted_in.empty()) pass_on(lines);
  return contents;
}

// Opened when there is something to write, and locked as all writers of that journal do.
void DeviceNotes::pass_on(const std::string& lines) {
  if (lines.empty()) return;
  if (!outer_) {
    outer_ = UniqueFd(::open(options_.also_noted_in.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!outer_ || ::flock(outer_.get(), LOCK_SH | LOCK_NB) != 0)
      log_warning(fmt::format("journal \"{}\": {}", options_.also_noted_in, std::strerror(errno)));
  }
  if (outer_) static_cast<void>(!::write(outer_.get(), lines.data(), lines.size()));
}

std::string DeviceNotes::take_times() {
  const std::lock_guard lock(mutex_);
  std::string lines = read_times();
  pass_on_times(lines);
  return lines;
}

// Devices append whole lines with one write each, and so does this.
void DeviceNotes::pass_on_times(const std::string& lines) {
  if (lines.empty()) return;
  if (options_.times_also_in.empty()) {
    if (!options_.also_noted_in.empty()) pass_on(time_entries(lines));
    return;
  }
  if (!outer_times_) {
    begin_file(options_.times_also_in);
    outer_times_ = UniqueFd(::open(options_.times_also_in.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!outer_times_)
      log_warning(fmt::format("SOFTTPU_TIME_RECORD \"{}\": {}", options_.times_also_in, std::strerror(errno)));
  }
  if (outer_times_ && ::write(outer_times_.get(), lines.data(), lines.size()) < static_cast<ssize_t>(lines.size()))
    log_warning(fmt::format("SOFTTPU_TIME_RECORD \"{}\": cannot be written", options_.times_also_in));
}

std::string DeviceNotes::read_times() {
  std::string lines;
  if (!times_) return lines;
  std::array<char, 65536> piece;
  off_t at = times_read_;
  for (ssize_t got = 0; (got = ::pread(times_.get(), piece.data(), piece.size(), at)) > 0; at += got) {
    lines.append(piece.data(), static_cast<std::size_t>(got));
  }
  // The device appends with pwrite, so a line that is not whole yet stays for the next time.
  lines.resize(lines.rfind('\n') + 1);
  times_read_ += static_cast<off_t>(lines.size());
  // What was read is not needed any more, and these lines are long.
  if (times_read_ > 0)
    static_cast<void>(::fallocate(times_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, times_read_));
  return lines;
}

}  // namespace softtpu::host
