// The estimated times of the cores of one launch, which they tell each other where they meet: no core goes on before
// the last has come, nor before DDR, which all share, can have moved what they moved since they met last.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>

#include "device/core/launch_page.hpp"
#include "device/memory/shared_bytes.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

// To be made before the cores, which share it.
class CoreClocks {
 public:
  static Result<std::shared_ptr<CoreClocks>> create();

  // The launch that begins on this core; without a page it has no other cores. `now_us` is the time of this core on the
  // device's timeline; the answer that of the whole launch.
  double begin(const RunningLaunch& launch, double now_us);
  bool has_others() const { return board_ != nullptr; }

  // The core comes to a meeting at `us`, and has used DDR for `ddr_us` since the last meeting of all cores.
  void arrive(int barrier, int count, double us, double ddr_us);
  // When the cores that have met go on.
  double barrier(int barrier);
  void send(int message, double us);
  double received(int message);
  // When the launch ends, as far as the cores that have ended know.
  double end(double us, double ddr_us);

 private:
  struct Point {
    std::uint32_t generation = 0;
    double us = 0, ddr_us = 0;
    bool all = false;  // the launch's cores, and not some of them
  };
  struct Board {
    std::atomic<int> lock{0};
    std::uint32_t serial = 0;         // of the launch
    double begin_us = 0, end_us = 0;  // on the device's timeline
    Point end;
    std::array<std::array<Point, 2>, LaunchPage::kBarriers> meetings;
    std::array<double, kMostMessages> sent;
  };
  class Lock;

  explicit CoreClocks(SharedBytes boards) : boards_(std::move(boards)) {}
  Board& device() const { return *reinterpret_cast<Board*>(boards_.data()); }
  Point& point_of(int barrier);
  double time_of(const Point& point) const;

  SharedBytes boards_;
  RunningLaunch launch_;
  Board* board_ = nullptr;
  std::uint32_t group_ = 0;
  double last_met_us_ = 0;  // of all cores
  std::map<int, std::uint32_t> arrivals_;
};

}  // namespace softtpu
