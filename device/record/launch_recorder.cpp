#include "device/record/launch_recorder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "device/chip/names.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/text_file.hpp"

namespace softtpu {
namespace {

// More pieces than that count as one: a replay then takes the gaps between them for written as well.
constexpr std::size_t kMostRanges = 4096;
constexpr std::size_t kMostChipBytes = 1 << 20;

// What load_chip() takes anywhere: the name of a built-in chip, or a description itself.
Result<std::string> portable_chip(const std::string& name_or_path) {
  const std::vector<std::string> known = builtin_chip_names();
  if (std::find(known.begin(), known.end(), canonical_chip_name(name_or_path)) != known.end()) return name_or_path;
  if (name_or_path.starts_with('{')) return name_or_path;
  return read_text_file(name_or_path, kMostChipBytes);
}

Result<Bytes> read_image(int fd) {
  struct stat status {};
  if (fd < 0 || ::fstat(fd, &status) != 0)
    return Error{ErrorKind::kUsage, "its kernel is linked into the program, so there is no module to keep"};
  Bytes image(static_cast<std::size_t>(status.st_size));
  if (::pread(fd, image.data(), image.size(), 0) != static_cast<ssize_t>(image.size()))
    return Error{ErrorKind::kResource, fmt::format("its module cannot be read: {}", std::strerror(errno))};
  return image;
}

std::vector<RecordedRange> written_ranges(const std::uint8_t* states, std::uint64_t bytes) {
  std::vector<RecordedRange> ranges;
  for (std::uint64_t at = 0; at < bytes;) {
    if (states[at] != Shadow::kLastLaunch) {
      ++at;
      continue;
    }
    const std::uint64_t end = at + find_other(states + at, bytes - at, Shadow::kLastLaunch);
    if (ranges.size() == kMostRanges)
      ranges.back().end = end;
    else
      ranges.push_back({at, end});
    at = end;
  }
  return ranges;
}

}  // namespace

LaunchRecorder::LaunchRecorder(Options options, UniqueFd file, SharedBytes count)
    : options_(std::move(options)), file_(std::move(file)), count_(std::move(count)), writer_(file_.get()) {}

Result<std::shared_ptr<LaunchRecorder>> LaunchRecorder::create(Options options) {
  auto chip = portable_chip(options.chip);
  if (!chip) return chip.error();
  options.chip = *std::move(chip);
  // Not emptied here: the devices of a program share the file, and one of them may have written it already.
  UniqueFd file(::open(options.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) {
    return Error{ErrorKind::kResource,
                 fmt::format("SOFTTPU_RECORD: \"{}\" cannot be written: {}.", options.path, std::strerror(errno))};
  }
  auto count = SharedBytes::create(sizeof(std::atomic<std::uint64_t>));
  if (!count) return count.error();
  return std::shared_ptr<LaunchRecorder>(new LaunchRecorder(std::move(options), std::move(file), *std::move(count)));
}

void LaunchRecorder::begins(Core& core, const Launch& launch) {
  auto& count = *reinterpret_cast<std::atomic<std::uint64_t>*>(count_.data());
  const std::uint64_t number = ++count;
  if (number != options_.number) return;
  if (auto kept = keep(core, launch, number); !kept) give_up(kept.error());
}

Result<void> LaunchRecorder::keep(Core& core, const Launch& launch, std::uint64_t number) {
  RecordedLaunch record;
  record.chip = options_.chip;
  record.global_bytes = core.chip().global_mem.bytes;
  record.core = static_cast<std::uint32_t>(core.index());
  record.number = number;
  record.kernel = launch.kernel;
  record.module = launch.module;
  record.args.assign(launch.args.begin(), launch.args.end());
  record.allocations = allocations(core.chip());
  auto image = read_image(launch.image);
  if (!image) return image.error();
  record.image = *std::move(image);
  before_ = make_images(core.memories());
  for (MemoryImage& memory : *before_) memory.take();
  return writer_.write_launch(record, *before_);
}

std::vector<RecordedAllocation> LaunchRecorder::allocations(const Chip& chip) const {
  std::vector<RecordedAllocation> list;
  const KnownAllocations known = options_.allocations->read();
  for (const AllocationRecord* record : known.live()) {
    RecordedAllocation& allocation = list.emplace_back();
    allocation.address = record->address;
    allocation.bytes = record->bytes;
    allocation.allocated_at = record->allocated_at();
    if (!chip.global_mem.contains(record->address)) continue;
    allocation.written = written_ranges(options_.shadow->global(record->address), record->bytes);
  }
  return list;
}

void LaunchRecorder::ends(const LaunchOutcome& outcome) {
  if (!before_) return;
  const auto written = writer_.write_outcome({outcome.ok, outcome.text, outcome.commands}, *before_);
  before_.reset();
  if (!written) give_up(written.error());
}

// A part of a record is worse than none.
void LaunchRecorder::give_up(const Error& error) {
  before_.reset();
  const bool emptied = ::ftruncate(file_.get(), 0) == 0;
  log_warning(fmt::format("SOFTTPU_RECORD: launch {} is not kept{}: {}.", options_.number,
                          emptied ? "" : ", and the file is useless", error.text));
}

}  // namespace softtpu
