#include "device/memory/memories.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "device/chip/layout.hpp"
#include "device/chip/rules.hpp"
#include "device/memory/shared_ranges.hpp"
#include "device/memory/static_tables.hpp"
#include "runtime/base/text.hpp"

namespace softtpu {
namespace {

constexpr std::uint64_t kGuardBytes = 65536;
// Otherwise a process with a descriptor of a memory could shorten it, and each process that maps it would crash at its
// next access.
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

Error system_error(const char* name, const char* step, std::uint64_t bytes) {
  return {ErrorKind::kResource,
          fmt::format("{}: {} of {} fails: {}", name, step, to_size_text(bytes), std::strerror(errno))};
}

std::uint64_t page_up(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// A new anonymous file, whose size can still be changed; -1 with errno.
int make_file(const std::string& name) { return memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING); }

// "/memfd:softtpu0-static.0 (deleted)" is softtpu0-static.0.
std::string name_of(int fd) {
  char text[256];
  const ssize_t length = readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), text, sizeof text);
  const std::string target(text, length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::size_t begin = target.find(':') + 1;
  return target.substr(begin, target.find(' ') - begin);
}

}  // namespace

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

// What can no longer be written to in one place can be in none.
Result<Mapping> Mapping::map_again(const char* name) const {
  const int fd = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return system_error(name, "duplicating the file", bytes_);
  const int seals = fcntl(fd, F_GET_SEALS);
  return map(name, fd, bytes_, seals >= 0 && (seals & F_SEAL_FUTURE_WRITE) != 0);
}

void Mapping::unmap() {
  if (data_ == nullptr) return;
  forget_shared_range(data_);
  munmap(data_ - kGuardBytes, page_up(bytes_) + 2 * kGuardBytes);
  data_ = nullptr;
}

Mapping::~Mapping() {
  unmap();
  if (fd_ >= 0) close(fd_);
}

// A mapping that could be written to once can be made so again, and so can one of a file that was opened for writing.
// So the bytes move to a file that is read-only from then on.
void Mapping::make_read_only() {
  const std::uint64_t inner = page_up(bytes_);
  const int fd = make_file(name_of(fd_));
  const bool copied = fd >= 0 && pwrite(fd, data_, inner, 0) == static_cast<ssize_t>(inner) &&
                      fcntl(fd, F_ADD_SEALS, kSizeSeals | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0 &&
                      mmap(data_, inner, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0) != MAP_FAILED;
  if (!copied) {
    if (fd >= 0) close(fd);
    mprotect(data_, inner, PROT_READ);
    return;
  }
  madvise(data_, inner, MADV_DONTDUMP);
  close(std::exchange(fd_, fd));
}

Result<Mapping> Mapping::create(const char* name, std::uint64_t bytes, const std::string& file) {
  const int fd = make_file(file);
  if (fd < 0) return system_error(name, "memfd_create", bytes);
  if (ftruncate(fd, static_cast<off_t>(page_up(bytes))) != 0 || fcntl(fd, F_ADD_SEALS, kSizeSeals | F_SEAL_SEAL) != 0) {
    const Error error = system_error(name, "ftruncate", bytes);
    close(fd);
    return error;
  }
  return map(name, fd, bytes);
}

Result<Mapping> Mapping::map(const char* name, int fd, std::uint64_t bytes, bool read_only) {
  Mapping mapping;
  mapping.fd_ = fd;
  const std::uint64_t inner = page_up(bytes);
  void* reserved =
      mmap(nullptr, inner + 2 * kGuardBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return system_error(name, "mmap", bytes);
  auto* data = static_cast<std::uint8_t*>(reserved) + kGuardBytes;
  const int rights = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  if (mmap(data, inner, rights, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0) == MAP_FAILED) {
    const Error error = system_error(name, "mmap", bytes);
    munmap(reserved, inner + 2 * kGuardBytes);
    return error;
  }
  // A process that dumps core ends only when all of that is written.
  ::madvise(data, inner, MADV_DONTDUMP);
  mapping.data_ = data;
  mapping.bytes_ = bytes;
  note_shared_range({data, inner});
  return mapping;
}

std::vector<Memories::Part> Memories::parts() const {
  return {{&Memories::global_, "global", "global memory", chip_.global_mem.bytes, false, true},
          {&Memories::l2_, "l2", "L2 SRAM", std::max<std::uint64_t>(chip_.l2_sram.bytes, 1), chip_.cores == 1, true},
          {&Memories::static_, "static", "static memory", chip_.static_mem.bytes, false, true},
          {&Memories::local_, "local", "local memory", chip_.local_mem.bytes, true},
          {&Memories::dtcm_, "dtcm", "DTCM", chip_.dtcm ? chip_.dtcm->bytes : 1, true}};
}

Result<Mapping> Memories::make(const Part& part) const {
  return Mapping::create(part.name, part.bytes,
                         fmt::format("{}-{}.{}", label_, part.file, part.on_chip ? generation_ : 0));
}

Result<std::unique_ptr<Memories>> Memories::create(const Chip& chip, const std::string& label) {
  std::unique_ptr<Memories> memories(new Memories(chip));
  memories->label_ = label;
  for (const Part& part : memories->parts()) {
    auto made = memories->make(part);
    if (!made) return made.error();
    (*memories).*part.mapping = std::move(*made);
  }
  memories->fill_static_memory();
  memories->static_.make_read_only();
  return memories;
}

Result<std::unique_ptr<Memories>> Memories::make_for_core(int core) const {
  std::unique_ptr<Memories> memories(new Memories(chip_));
  memories->label_ = fmt::format("{}-core{}", label_, core);
  for (const Part& part : memories->parts()) {
    if (part.shared) {
      auto again = (this->*part.mapping).map_again(part.name);
      if (!again) return again.error();
      (*memories).*part.mapping = std::move(*again);
      continue;
    }
    auto made = memories->make(part);
    if (!made) return made.error();
    (*memories).*part.mapping = std::move(*made);
  }
  return memories;
}

Result<void> Memories::renew_on_chip() {
  ++generation_;
  std::vector<Mapping> made;
  const std::vector<Part> parts = this->parts();
  for (const Part& part : parts) {
    if (!part.on_chip) continue;
    auto mapping = make(part);
    if (!mapping) return mapping.error();
    made.push_back(std::move(*mapping));
  }
  auto next = made.begin();
  for (const Part& part : parts) {
    if (part.on_chip) std::swap(this->*part.mapping, *next++);
  }
  for (Mapping& mapping : made) mapping.unmap();  // out of reach of later kernels
  ended_ = std::move(made);
  return {};
}

std::string Memories::find_neighbour(const std::uint8_t* pointer) const {
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  for (const Part& part : parts()) {
    const Mapping& mapping = this->*part.mapping;
    const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data()), end = begin + mapping.bytes();
    if (at >= begin && at < end) return fmt::format("offset 0x{:x} of {}", at - begin, part.name);
    if (at < begin && at >= begin - kGuardBytes) return fmt::format("{} bytes before {}", begin - at, part.name);
    if (at >= end && at < end + kGuardBytes) return fmt::format("{} bytes past the end of {}", at - end, part.name);
  }
  return {};
}

std::vector<int> Memories::fds() const { return {global_.fd(), l2_.fd(), static_.fd(), local_.fd(), dtcm_.fd()}; }

// As much of L2's window as commands reach.
static MemoryRange reachable_l2(const Chip& chip) {
  if (chip.l2_per_core || chip.has(Quirk::kOpenL2End)) return chip.l2_sram;
  return {chip.l2_sram.start, chip.l2_usable};
}

Memories::Location Memories::find_system(std::uint64_t addr, std::uint64_t bytes) const {
  const auto inside = [&](const MemoryRange& range) {
    return range.contains(addr) && bytes <= range.bytes - (addr - range.start);
  };
  // L2 may lie in the reserved part of global memory.
  if (inside(reachable_l2(chip_))) return {l2_.data() + (addr - chip_.l2_sram.start), "L2 SRAM"};
  // What begins in L2 and ends behind it, or the other way round, is in neither.
  const MemoryRange& l2 = chip_.l2_sram;
  if (l2.contains(addr) || (addr < l2.start && bytes > l2.start - addr)) return {};
  if (inside(chip_.global_mem)) return {global_.data() + (addr - chip_.global_mem.start), "global memory"};
  if (inside(chip_.local_mem)) return {local_.data() + (addr - chip_.local_mem.start), "local memory"};
  if (chip_.dtcm && inside(*chip_.dtcm)) return {dtcm_.data() + (addr - chip_.dtcm->start), "DTCM"};
  return {};
}

void Memories::fill_static_memory() {
  if (const std::uint32_t gap = static_gap(chip_); gap != 0) {
    for (std::uint64_t at = 0; at + sizeof(gap) <= static_.bytes(); at += sizeof(gap))
      std::memcpy(static_.data() + at, &gap, sizeof(gap));
  }
  for (const StaticTable& table : static_tables(chip_)) {
    const std::uint64_t bytes = table.words.size_bytes();
    if (table.offset + bytes <= static_.bytes()) std::memcpy(static_.data() + table.offset, table.words.data(), bytes);
  }
}

}  // namespace softtpu
