#include "device/checks/launch_touches.hpp"

#include <algorithm>
#include <utility>

#include "device/footprint/operand_use.hpp"

namespace softtpu {
namespace {

// A command with more rows is not followed: the hull of its bytes could accuse a right program.
constexpr int kMostPieces = 4096;

class TouchRecorder final : public Observer {
 public:
  explicit TouchRecorder(std::shared_ptr<LaunchTouches> touches) : touches_(std::move(touches)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int) override {
    chip_ = &memories.chip();
    last_ = {};
    last_.kernel = {};
    kernel.copy(last_.kernel.data(), last_.kernel.size() - 1);
  }

  void before(Op op, const Command& command) override {
    for_each_use(command, [&](const OperandUse& use) {
      if (use.tensor.space != Space::kSystem || !chip_->global_mem.contains(use.tensor.addr)) return;
      // Which elements of it depends on data.
      if (!use.role.all || is_too_much(use)) return;
      last_.op = op;
      last_.writes = use.writes;
      last_.begin = last_.end = 0;
      for_each_used_span(*chip_, use, [&](const Span& span) { extend(span); });
      add_last();
    });
  }

 private:
  static bool is_too_much(const OperandUse& use) {
    const Dim4& shape = use.tensor.shape;
    return std::int64_t{shape.n} * shape.c * shape.h * (use.tensor.stride.w == 1 ? 1 : shape.w) > kMostPieces;
  }

  void extend(const Span& span) {
    if (span.begin != last_.end) {
      add_last();
      last_.begin = span.begin;
    }
    last_.end = span.end;
  }

  void add_last() {
    if (last_.end > last_.begin) touches_->add(last_);
  }

  std::shared_ptr<LaunchTouches> touches_;
  const Chip* chip_ = nullptr;
  LaunchTouches::Touch last_;
};

}  // namespace

Result<std::shared_ptr<LaunchTouches>> LaunchTouches::create() {
  static_assert(sizeof(Header) <= sizeof(Touch));
  auto bytes = SharedBytes::create((kMost + 1) * sizeof(Touch));
  if (!bytes) return bytes.error();
  return std::shared_ptr<LaunchTouches>(new LaunchTouches(*std::move(bytes)));
}

void LaunchTouches::add(const Touch& touch) {
  const std::uint64_t number = header().count.fetch_add(1, std::memory_order_acq_rel);
  touches()[number % kMost] = touch;
}

std::optional<LaunchTouches::Touch> LaunchTouches::find(std::uint64_t first, std::uint64_t begin, std::uint64_t end,
                                                        bool writes) const {
  const std::uint64_t all = count();
  const std::uint64_t oldest = std::max(first, all > kMost ? all - kMost : 0);
  for (std::uint64_t number = all; number-- > oldest;) {
    const Touch& touch = touches()[number % kMost];
    if (touch.begin < end && begin < touch.end && (touch.writes || writes)) return touch;
  }
  return std::nullopt;
}

std::shared_ptr<Observer> make_touch_recorder(std::shared_ptr<LaunchTouches> touches) {
  return std::make_shared<TouchRecorder>(std::move(touches));
}

}  // namespace softtpu
