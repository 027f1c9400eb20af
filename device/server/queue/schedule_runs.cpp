#include "device/server/queue/schedule_runs.hpp"

#include <fmt/format.h>

#include <vector>

#include "device/core/schedule.hpp"
#include "device/record/memory_image.hpp"

namespace softtpu {
namespace {

std::vector<MemoryImage> take_images(Memories& memories) {
  auto images = make_images(memories);
  for (MemoryImage& image : images) image.take();
  return images;
}

void report(const DeviceObservers& observers, const Chip& chip, const std::string& order,
            const MemoryImage::Difference& difference) {
  const std::uint64_t begin = chip.global_mem.start + difference.first;
  Finding finding;
  finding.rule = "schedule/differs";
  finding.place = ReportedRange{"global", begin, chip.global_mem.start + difference.end};
  finding.what =
      fmt::format("the order \"{}\" gives other results than program order: {} bytes differ, the first ones at {}",
                  order, difference.count, finding.place->text());
  const auto known = observers.allocations != nullptr ? observers.allocations->read() : KnownAllocations();
  if (const AllocationRecord* owner = known.find(begin)) {
    finding.calls = {{"bm_malloc_device",
                      fmt::format("byte {} of an allocation of {} bytes", begin - owner->address, owner->bytes),
                      {},
                      owner->allocated_at()}};
  }
  observers.findings->add(finding);
  observers.findings->report();
}

}  // namespace

LaunchOutcome run_schedules(Core& core, const DeviceObservers& observers, const std::function<LaunchOutcome()>& run) {
  const auto before = take_images(core.memories());
  const LaunchOutcome outcome = run();
  if (!outcome.ok) return outcome;
  const auto after = take_images(core.memories());
  core.observe(false);
  for (std::uint32_t i = 1; i < observers.schedules; ++i) {
    for (const MemoryImage& image : before) image.restore();
    const std::string order = i == 1 ? "late" : fmt::format("random:{}", i);
    core.set_schedule(*Schedule::parse(order));
    const LaunchOutcome other = run();
    if (!other.ok) {
      observers.findings->add({"schedule/differs",
                               fmt::format("with the order \"{}\" the launch fails: {}", order, other.text),
                               {},
                               {},
                               "",
                               {}});
    } else if (const auto difference = after.front().compare()) {
      report(observers, core.chip(), order, *difference);
    }
  }
  core.set_schedule(nullptr);
  core.observe(true);
  for (const MemoryImage& image : after) image.restore();
  return outcome;
}

}  // namespace softtpu
