// The report of one launch for people.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "device/timing/launch_time.hpp"

namespace softtpu {
namespace {

constexpr std::size_t kShownCalls = 10;

std::string bytes_text(double bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string spent_line(const LaunchTime& launch) {
  std::vector<std::size_t> order(kSpentKinds);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto& spent = launch.end.spent;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return spent[a] > spent[b]; });
  std::string text;
  for (const std::size_t i : order) {
    if (spent[i] <= 0) continue;
    text += fmt::format("{}{} {:.1f} us ({:.0f} %)", text.empty() ? "" : ", ", to_words(static_cast<Spent>(i)),
                        spent[i], 100 * launch.share(spent[i]));
  }
  return text;
}

std::string queue_line(const LaunchTime& launch, Queue queue) {
  const QueueTime& time = launch.queues[static_cast<std::size_t>(queue)];
  std::string text = fmt::format("{:<5}{:5.1f} % busy", to_text(queue), 100 * launch.share(time.busy_us));
  const double waited = std::accumulate(time.waited_us.begin(), time.waited_us.end(), 0.0);
  if (waited <= 0) return text;
  text += fmt::format(", waited {:.1f} us:", waited);
  const char* comma = " ";
  for (std::size_t i = 0; i < kWaitKinds; ++i) {
    if (time.waited_us[i] <= 0) continue;
    text += fmt::format("{}{:.1f} us for {}", comma, time.waited_us[i], to_text(static_cast<WaitFor>(i)));
    comma = ", ";
  }
  return text;
}

std::string bytes_line(const LaunchTime& launch, const CostModel& model) {
  std::string text;
  for (std::size_t i = 0; i < kBytePaths; ++i) {
    if (launch.bytes[i] <= 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_text(static_cast<BytePath>(i)),
                        bytes_text(launch.bytes[i]));
  }
  if (text.empty()) return "nothing";
  // Bytes per microsecond are megabytes per second.
  const double gbps = launch.total_us() > 0 ? launch.ddr_bytes() / launch.total_us() / 1e3 : 0;
  return text + fmt::format("; DDR {:.1f} GB/s, {:.1f} % of {:.1f} GB/s", gbps, 100 * gbps / model.read_gbps(),
                            model.read_gbps());
}

std::string call_line(const LaunchTime& launch, const CallTime& call) {
  const double bytes = std::accumulate(call.bytes.begin(), call.bytes.end(), 0.0);
  std::string text = fmt::format("{:>10.1f} us {:>3.0f} %  {:>6}x {}", call.engine_us,
                                 100 * launch.share(call.engine_us), call.commands, call.name());
  if (!call.where.empty()) text += ", at " + call.where;
  if (bytes > 0) text += ", " + bytes_text(bytes);
  if (call.waited_us > 0) text += fmt::format(", after waits of {:.1f} us", call.waited_us);
  return text;
}

// Which meeting the core waits at most for the others.
std::string cores_line(const LaunchTime& launch) {
  std::string text =
      fmt::format("   cores     {} of {}, waits {:.1f} us ({:.0f} %) for others", launch.workitem + 1, launch.cores,
                  launch.waited_for_cores_us, 100 * launch.share(launch.waited_for_cores_us));
  const CallTime* longest = nullptr;
  for (const CallTime& call : launch.calls) {
    const bool meeting = info(call.op).engine == Engine::kControl && call.waited_us > 0;
    if (meeting && (longest == nullptr || call.waited_us > longest->waited_us)) longest = &call;
  }
  if (longest != nullptr) {
    text += fmt::format(", {:.0f} % in {}{}", 100 * launch.share(longest->waited_us), longest->name(),
                        longest->where.empty() ? "" : " at " + longest->where);
  }
  return text + "\n";
}

// How much of the estimate is measured: a guess must not be taken for a measurement.
std::string founded_line(const LaunchTime& launch, const CostModel& model) {
  std::string text =
      fmt::format("rests on  {} (parameters of {})", basis_text(launch.end.by_basis), model.chip().full_name());
  if (launch.error) {
    text += fmt::format("\n   error     {}, {}, each left out of the fit", to_text(*launch.error, launch.kernel),
                        launch.precision);
  }
  return text;
}

}  // namespace

std::string basis_text(const ByBasis& by_basis) {
  constexpr std::array<std::string_view, kBases> kWords = {"measured", "fitted", "estimates of the vendor", "guesses"};
  const double all = std::accumulate(by_basis.begin(), by_basis.end(), 0.0);
  std::string text;
  for (std::size_t i = 0; i < kBases; ++i) {
    if (by_basis[i] <= 0 || by_basis[i] < .005 * all) continue;
    text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", 100 * by_basis[i] / all, kWords[i]);
  }
  return text.empty() ? "nothing" : text;
}

Spent LaunchTime::bound() const {
  const auto largest = std::max_element(end.spent.begin(), end.spent.end());
  return static_cast<Spent>(largest - end.spent.begin());
}

std::vector<std::size_t> LaunchTime::costliest() const {
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return calls[a].engine_us > calls[b].engine_us; });
  return order;
}

std::string to_text(const LaunchTime& launch, const CostModel& model) {
  std::string text = fmt::format("softtpu: time: kernel \"{}\" on core {}: {:.1f} us estimated, mostly {}\n",
                                 launch.kernel, launch.core, launch.total_us(), to_words(launch.bound()));
  text += fmt::format("   spent     {}\n", spent_line(launch));
  for (std::size_t i = 0; i < kQueues; ++i) {
    if (launch.queues[i].busy_us > 0)
      text += fmt::format("   engine    {}\n", queue_line(launch, static_cast<Queue>(i)));
  }
  if (launch.cores > 1) text += cores_line(launch);
  text += fmt::format("   moved     {}\n", bytes_line(launch, model));
  if (launch.operations > 0 && launch.total_us() > 0) {
    text += fmt::format("   computed  {:.3g} operations, {:.1f} GOP/s, {:.1f} % of the peak of their types\n",
                        launch.operations, launch.operations / launch.total_us() / 1e3,
                        100 * launch.share(launch.ideal_us));
  }
  const auto order = launch.costliest();
  for (std::size_t i = 0; i < std::min(kShownCalls, order.size()); ++i) {
    text += fmt::format("   {} {}\n", i == 0 ? "costliest" : "         ", call_line(launch, launch.calls[order[i]]));
  }
  for (const Advice& advice : launch.advice) text += fmt::format("   advice    {}\n", advice.text);
  return text + fmt::format("   {}\n", founded_line(launch, model));
}

}  // namespace softtpu
