#include "device/server/schedule_runs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "device/core/schedule.hpp"

namespace softtpu {
namespace {

constexpr std::uint64_t kBlockBytes = 64U << 10;

// One shared memory and its contents at some time: only blocks that the file really holds; the others are zero.
class MemoryImage {
 public:
  MemoryImage(std::uint8_t* memory, std::uint64_t bytes, int fd) : memory_(memory), bytes_(bytes), fd_(fd) {}

  void take() {
    for (const std::uint64_t block : present()) {
      blocks_[block].assign(memory_ + block, memory_ + std::min(block + kBlockBytes, bytes_));
    }
  }

  void restore() const {
    for (const std::uint64_t block : present()) {
      if (!blocks_.contains(block)) std::memset(memory_ + block, 0, std::min(kBlockBytes, bytes_ - block));
    }
    for (const auto& [block, contents] : blocks_) std::memcpy(memory_ + block, contents.data(), contents.size());
  }

  struct Difference {
    std::uint64_t first = 0, end = 0;  // offsets of the first run of bytes
    std::uint64_t count = 0;
  };
  // Where the memory now differs from the image.
  std::optional<Difference> compare() const {
    std::set<std::uint64_t> all = present();
    for (const auto& [block, contents] : blocks_) all.insert(block);
    std::optional<Difference> found;
    static const std::vector<std::uint8_t> kZeros(kBlockBytes);
    for (const std::uint64_t block : all) {
      const std::uint64_t bytes = std::min(kBlockBytes, bytes_ - block);
      const auto image = blocks_.find(block);
      const std::uint8_t* was = image == blocks_.end() ? kZeros.data() : image->second.data();
      if (std::memcmp(was, memory_ + block, bytes) == 0) continue;
      for (std::uint64_t i = 0; i < bytes; ++i) {
        if (was[i] == memory_[block + i]) continue;
        if (!found) found = Difference{block + i, block + i, 0};
        if (found->end == block + i) ++found->end;
        ++found->count;
      }
    }
    return found;
  }

 private:
  // Offsets of the blocks that hold data.
  std::set<std::uint64_t> present() const {
    std::set<std::uint64_t> blocks;
    off_t at = 0;
    while (at < static_cast<off_t>(bytes_)) {
      const off_t data = ::lseek(fd_, at, SEEK_DATA);
      if (data < 0) break;
      at = std::min(::lseek(fd_, data, SEEK_HOLE), static_cast<off_t>(bytes_));
      for (auto block = static_cast<std::uint64_t>(data) / kBlockBytes * kBlockBytes;
           block < static_cast<std::uint64_t>(at); block += kBlockBytes) {
        blocks.insert(block);
      }
    }
    return blocks;
  }

  std::uint8_t* memory_;
  std::uint64_t bytes_;
  int fd_;
  std::map<std::uint64_t, std::vector<std::uint8_t>> blocks_;
};

// All memories that a kernel can change; global memory is the first.
std::vector<MemoryImage> take_images(Memories& memories) {
  const Chip& chip = memories.chip();
  const std::vector<int> fds = memories.fds();
  std::vector<MemoryImage> images;
  images.emplace_back(memories.global(), chip.global_mem.bytes, fds[0]);
  images.emplace_back(memories.l2(), chip.l2_sram.bytes, fds[1]);
  images.emplace_back(memories.local(0), chip.local_mem.bytes, fds[3]);
  if (chip.dtcm) images.emplace_back(memories.dtcm(), chip.dtcm->bytes, fds[4]);
  for (MemoryImage& image : images) image.take();
  return images;
}

void report(const Tools& tools, const Chip& chip, const std::string& order, const MemoryImage::Difference& difference) {
  const std::uint64_t begin = chip.global_mem.start + difference.first;
  Finding finding;
  finding.rule = "schedule/differs";
  finding.place = FoundPlace{"global", begin, chip.global_mem.start + difference.end};
  finding.what =
      fmt::format("the order \"{}\" gives other results than program order: {} bytes differ, the first ones at {}",
                  order, difference.count, finding.place->text());
  const auto known = tools.allocations != nullptr ? tools.allocations->read() : AllocationTable::Contents();
  if (const AllocationRecord* owner = known.find(begin)) {
    finding.parties = {{"bm_malloc_device",
                        fmt::format("byte {} of an allocation of {} bytes", begin - owner->address, owner->bytes),
                        {},
                        owner->allocated_at}};
  }
  tools.findings->add(finding);
  tools.findings->report();
}

}  // namespace

LaunchOutcome run_schedules(Core& core, const Tools& tools, const std::function<LaunchOutcome()>& run) {
  const auto before = take_images(core.memories());
  const LaunchOutcome outcome = run();
  if (!outcome.ok) return outcome;
  const auto after = take_images(core.memories());
  core.observe(false);
  for (std::uint32_t i = 1; i < tools.schedules; ++i) {
    for (const MemoryImage& image : before) image.restore();
    const std::string order = i == 1 ? "late" : fmt::format("random:{}", i);
    core.set_schedule(*Schedule::parse(order));
    const LaunchOutcome other = run();
    if (!other.ok) {
      tools.findings->add({"schedule/differs",
                           fmt::format("with the order \"{}\" the launch fails: {}", order, other.text),
                           {},
                           {},
                           "",
                           {}});
    } else if (const auto difference = after.front().compare()) {
      report(tools, core.chip(), order, *difference);
    }
  }
  core.set_schedule(nullptr);
  core.observe(true);
  for (const MemoryImage& image : after) image.restore();
  return outcome;
}

}  // namespace softtpu
