#include "tests/pairs/compared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>

namespace softtpu::pairs {
namespace {

[[noreturn]] void fail(const char* step) { throw std::system_error(errno, std::generic_category(), step); }

}  // namespace

ComparedMemory::ComparedMemory(std::span<std::uint8_t> memory, std::uint64_t seed)
    : memory_(memory), image_(memory.size()), page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i + 8 <= image_.size(); i += 8) {
    const std::uint64_t word = random();
    std::memcpy(image_.data() + i, &word, sizeof(word));
  }
  const int file = memfd_create("argument_pairs", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(memory.size())) != 0) fail("the file that a memory begins with");
  void* start = mmap(nullptr, memory.size(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (start == MAP_FAILED ||
      mmap(memory.data(), memory.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED)
    fail("mapping what a memory begins with");
  close(file);
  start_ = {static_cast<std::uint8_t*>(start), memory.size()};
  pagemap_ = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  tracked_ = can_track();
  set_start(0, 0xFF);
}

ComparedMemory::~ComparedMemory() {
  munmap(start_.data(), start_.size());
  if (pagemap_ >= 0) close(pagemap_);
}

// Emulators of processors and some containers have no pagemap, or one of other addresses.
bool ComparedMemory::can_track() {
  if (pagemap_ < 0) return false;
  tracked_ = true;
  WrittenPages none, one;
  read_written(none);
  const std::size_t at = memory_.size() / 2 / page_ * page_;
  memory_[at] = 1;
  read_written(one);
  reset();
  return none.offsets.empty() && one.offsets == std::vector{at} && memory_[at] == 0;
}

void ComparedMemory::set_start(std::uint64_t first, std::uint8_t mask) {
  std::rotate_copy(image_.begin(), image_.begin() + static_cast<std::ptrdiff_t>(first), image_.end(), start_.begin());
  if (mask != 0xFF)
    for (std::uint8_t& byte : start_) byte &= mask;
  reset();
}

void ComparedMemory::reset() {
  if (!tracked_)
    std::ranges::copy(start_, memory_.begin());
  else if (madvise(memory_.data(), memory_.size(), MADV_DONTNEED) != 0)
    fail("giving up what a call has written");
}

void ComparedMemory::read_written(WrittenPages& pages) const {
  pages.offsets.clear();
  const std::size_t count = memory_.size() / page_;
  if (!tracked_) {
    for (std::size_t i = 0; i < count; ++i) pages.offsets.push_back(i * page_);
    pages.bytes.assign(memory_.begin(), memory_.end());
    return;
  }
  entries_.resize(count);
  const auto first = reinterpret_cast<std::uintptr_t>(memory_.data()) / page_ * sizeof(std::uint64_t);
  const std::size_t bytes = count * sizeof(std::uint64_t);
  if (pread(pagemap_, entries_.data(), bytes, static_cast<off_t>(first)) != static_cast<ssize_t>(bytes))
    fail("reading which pages were written");
  // There, or swapped out, and no longer the file's.
  constexpr std::uint64_t kThere = std::uint64_t{3} << 62, kOfFile = std::uint64_t{1} << 61;
  for (std::size_t i = 0; i < count; ++i)
    if ((entries_[i] & kThere) != 0 && (entries_[i] & kOfFile) == 0) pages.offsets.push_back(i * page_);
  pages.bytes.resize(pages.offsets.size() * page_);
  for (std::size_t i = 0; i < pages.offsets.size(); ++i)
    std::memcpy(pages.bytes.data() + i * page_, memory_.data() + pages.offsets[i], page_);
}

std::optional<ComparedMemory::Difference> ComparedMemory::first_difference(const WrittenPages& one,
                                                                           const WrittenPages& other) const {
  std::optional<Difference> found;
  each_page(one, other, [&](std::size_t offset, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
    if (found || std::memcmp(a.data(), b.data(), page_) == 0) return;
    const auto at = std::ranges::mismatch(a, b);
    found = {offset + static_cast<std::size_t>(at.in1 - a.begin()), *at.in1, *at.in2};
  });
  return found;
}

}  // namespace softtpu::pairs
