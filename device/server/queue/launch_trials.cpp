#include "device/server/queue/launch_trials.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/base/log.hpp"

namespace softtpu {
namespace {

// What all cores share once, and each core's own.
std::vector<MemoryImage> take_images(const std::vector<Memories*>& cores) {
  std::vector<MemoryImage> images;
  for (Memories* core : cores) {
    for (MemoryImage& image : make_images(*core)) {
      if (!images.empty() && core != cores.front() && (image.name() == "global" || image.name() == "l2")) continue;
      image.take();
      images.push_back(std::move(image));
    }
  }
  return images;
}

std::string cores_text(std::size_t count) { return fmt::format("{} core{}", count, count == 1 ? "" : "s"); }

}  // namespace

LaunchTrials::LaunchTrials(const DeviceObservers& observers, const std::vector<Memories*>& cores,
                           const GroupLaunch& launch)
    : observers_(observers), cores_(cores), kernel_(launch.name()), launched_on_(launch.parts().size()) {
  add_numbers(launch);
  add_orders(launch);
  if (!runs_.empty()) before_ = take_images(cores_);
}

// Only where every core is given the same: what another one would be given is not known else.
void LaunchTrials::add_numbers(const GroupLaunch& launch) {
  const msg::Call& first = launch.parts().front().call;
  const auto is_like_first = [&](const msg::LaunchPart& part) { return part.call == first; };
  if (!std::all_of(launch.parts().begin(), launch.parts().end(), is_like_first)) {
    if (!observers_.core_counts.empty())
      log_warning(fmt::format("kernel \"{}\": its cores get different arguments; other numbers of cores are not tried",
                              kernel_));
    return;
  }
  for (const std::uint32_t count : observers_.core_counts) {
    if (count == launch.parts().size() || count > cores_.size()) continue;
    msg::LaunchParts parts;
    for (std::uint32_t core = 0; core < count; ++core) parts.push_back({core, first});
    runs_.push_back(
        {std::make_shared<GroupLaunch>(kernel_, std::move(parts), launch.repetitions()), 0, "on " + cores_text(count)});
  }
}

void LaunchTrials::add_orders(const GroupLaunch& launch) {
  for (std::uint32_t order = 1; order < observers_.schedules; ++order) {
    auto group = std::make_shared<GroupLaunch>(kernel_, launch.parts(), launch.repetitions());
    runs_.push_back({std::move(group), order, fmt::format("with the order \"random:{}\"", order)});
  }
}

void LaunchTrials::launch_ended() {
  if (!runs_.empty()) after_ = take_images(cores_);
}

const LaunchTrials::Run* LaunchTrials::next() {
  const bool more = run_ < runs_.size();
  for (const MemoryImage& image : more ? before_ : after_) image.restore();
  return more ? &runs_[run_++] : nullptr;
}

void LaunchTrials::ended(const Result<void>& outcome) {
  if (!outcome) return report(fmt::format("the launch fails: {}", outcome.error().text), std::nullopt);
  const auto difference = after_.front().compare();
  if (!difference) return;
  const std::uint64_t start = after_.front().start();
  const ReportedRange place{"global", start + difference->first, start + difference->end};
  report(fmt::format("the launch gives other results than {}: {} bytes differ, the first ones at {}",
                     runs_[run_ - 1].order != 0 ? "in program order" : "on its " + cores_text(launched_on_),
                     difference->count, place.text()),
         place);
}

void LaunchTrials::report(const std::string& what, const std::optional<ReportedRange>& place) {
  const Run& run = runs_[run_ - 1];
  Finding finding;
  finding.rule = run.order != 0 ? "schedule/differs" : "cores/number";
  finding.what = run.name + " " + what;
  finding.place = place;
  const auto known = observers_.allocations != nullptr ? observers_.allocations->read() : KnownAllocations();
  const AllocationRecord* const owner = place ? known.find(place->begin) : nullptr;
  if (owner != nullptr) {
    finding.calls = {{"bm_malloc_device",
                      fmt::format("byte {} of an allocation of {} bytes", place->begin - owner->address, owner->bytes),
                      {},
                      owner->allocated_at()}};
  }
  observers_.findings->begin(kernel_, -1);
  observers_.findings->add(finding);
  observers_.findings->report();
}

}  // namespace softtpu
