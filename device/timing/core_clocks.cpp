#include "device/timing/core_clocks.hpp"

#include <algorithm>
#include <thread>

namespace softtpu {
namespace {

constexpr int kPages = 65;  // as launches count them, from 1

std::size_t at(int number, int count) { return number >= 0 && number < count ? static_cast<std::size_t>(number) : 0; }

}  // namespace

class CoreClocks::Lock {
 public:
  explicit Lock(Board& board) : board_(board) {
    // A core that was ended here ends its launch too: no core waits long.
    for (int i = 0; board_.lock.exchange(1) != 0 && i < 200'000; ++i) std::this_thread::yield();
  }
  ~Lock() { board_.lock = 0; }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Board& board_;
};

Result<std::shared_ptr<CoreClocks>> CoreClocks::create() {
  auto boards = SharedBytes::create(kPages * sizeof(Board));
  if (!boards) return boards.error();
  return std::shared_ptr<CoreClocks>(new CoreClocks(*std::move(boards)));
}

double CoreClocks::begin(const RunningLaunch& launch, double now_us) {
  launch_ = launch;
  board_ = nullptr;
  last_met_us_ = 0;
  arrivals_.clear();
  if (launch.page == nullptr || launch.page_number < 1 || launch.page_number >= kPages) return now_us;
  board_ = reinterpret_cast<Board*>(boards_.data()) + launch.page_number;
  const Lock lock(*board_);
  // Of a second group the meetings are others.
  group_ = static_cast<std::uint32_t>(launch.group) << 20;
  // The first core of the launch clears the board.
  if (board_->serial == launch.page->serial()) return board_->begin_us;
  board_->serial = launch.page->serial();
  board_->begin_us = std::max(now_us, device().end_us);
  board_->end = {};
  for (auto& both : board_->meetings) both = {};
  board_->sent.fill(0);
  return board_->begin_us;
}

CoreClocks::Point& CoreClocks::point_of(int barrier) {
  // Of two meetings at one place one after the other: no core is further ahead.
  return board_->meetings[at(barrier, LaunchPage::kBarriers)][arrivals_[barrier] % 2];
}

double CoreClocks::time_of(const Point& point) const {
  return point.all ? std::max(point.us, last_met_us_ + point.ddr_us) : point.us;
}

void CoreClocks::arrive(int barrier, int count, double us, double ddr_us) {
  const std::uint32_t generation = group_ + ++arrivals_[barrier];
  const Lock lock(*board_);
  Point& point = point_of(barrier);
  if (point.generation != generation) point = {generation, 0, 0, count == launch_.workitems};
  point.us = std::max(point.us, us);
  point.ddr_us += ddr_us;
}

double CoreClocks::barrier(int barrier) {
  const Lock lock(*board_);
  const Point& point = point_of(barrier);
  const double us = time_of(point);
  if (point.all) last_met_us_ = us;
  return us;
}

void CoreClocks::send(int message, double us) {
  const Lock lock(*board_);
  double& sent = board_->sent[at(message, kMostMessages)];
  sent = std::max(sent, us);
}

double CoreClocks::received(int message) {
  const Lock lock(*board_);
  return board_->sent[at(message, kMostMessages)];
}

double CoreClocks::end(double us, double ddr_us) {
  const Lock lock(*board_);
  board_->end.all = true;
  board_->end.us = std::max(board_->end.us, us);
  board_->end.ddr_us += ddr_us;
  const double last = time_of(board_->end);
  device().end_us = std::max(device().end_us, board_->begin_us + last);
  return last;
}

}  // namespace softtpu
