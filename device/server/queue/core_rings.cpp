#include "device/server/queue/core_rings.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace softtpu {
namespace {

constexpr std::size_t kStep = 8;
// Longer frames are rare, and would leave little room for others.
constexpr std::size_t kLongest = SpscRing::kBytes / 8;
// In place of a header: the next frame stands at the beginning of the ring.
constexpr std::uint64_t kNoRoom = ~std::uint64_t{0};

static_assert(kFrameHeaderBytes % kStep == 0 && SpscRing::kBytes % kStep == 0);

std::size_t whole_steps(std::size_t bytes) { return (bytes + kStep - 1) / kStep * kStep; }
std::size_t place(std::uint64_t count) { return static_cast<std::size_t>(count % SpscRing::kBytes); }

// Futexes tell 32 groups of sleepers apart. More cores share them: a core that finds nothing sleeps on.
std::uint32_t bit(int core) { return std::uint32_t{1} << (static_cast<unsigned>(core) % 32); }

}  // namespace

std::optional<FrameHeader> RingReader::next() const {
  for (;;) {
    if (box_.end <= taken_) return std::nullopt;
    const std::size_t at = place(taken_);
    std::uint64_t mark = 0;
    std::memcpy(&mark, box_.ring.data() + at, sizeof mark);
    if (mark != kNoRoom) return wire::get_header(box_.ring.data() + at);
    taken_ += SpscRing::kBytes - at;
  }
}

std::optional<Frame> RingReader::find(std::uint64_t number) const {
  const auto header = next();
  if (!header || header->request != number) return std::nullopt;
  const std::size_t payload = place(taken_) + kFrameHeaderBytes;
  if (header->payload_bytes > SpscRing::kBytes - payload) return std::nullopt;
  return Frame{header->type, number, std::span(box_.ring).subspan(payload, header->payload_bytes), {}};
}

void RingReader::take(const Frame& frame) { taken_ += whole_steps(kFrameHeaderBytes + frame.payload.size()); }

bool RingReader::has_news(std::uint64_t number, std::uint64_t from_socket) const {
  const auto header = next();
  return (header && header->request == number) || has_more_in_socket(from_socket);
}

void RingReader::sleep(std::uint32_t seen) const {
  ::syscall(SYS_futex, &bell_.rung, FUTEX_WAIT_BITSET, seen, nullptr, nullptr, bit(core_));
}

Result<std::unique_ptr<CoreRings>> CoreRings::create(int cores) {
  auto room = std::make_unique<CoreRings>();
  auto bell = Mapping::create("the cores' bell", sizeof(Doorbell), "softtpu-bell");
  if (!bell) return bell.error();
  room->bell_memory_ = *std::move(bell);
  room->bell_ = new (room->bell_memory_.data()) Doorbell;
  for (int core = 0; core < cores; ++core) {
    auto memory = Mapping::create("a core's ring", sizeof(SpscRing), "softtpu-ring");
    if (!memory) return memory.error();
    Sent& sent = room->boxes_.emplace_back();
    sent.memory = *std::move(memory);
    sent.box = new (sent.memory.data()) SpscRing;
  }
  return room;
}

void CoreRings::make_read_only(int core) const {
  const Mapping& rings = boxes_[static_cast<std::size_t>(core)].memory;
  for (const Mapping* memory : {&bell_memory_, &rings}) ::mprotect(memory->data(), memory->bytes(), PROT_READ);
}

void CoreRings::empty(int core) {
  Sent& sent = boxes_[static_cast<std::size_t>(core)];
  sent.end = sent.pushed = sent.by_socket = 0;
  sent.box->end = 0;
  sent.box->by_socket = 0;
}

bool CoreRings::put(int core, std::span<const std::uint8_t> frame, std::uint64_t taken) {
  Sent& sent = boxes_[static_cast<std::size_t>(core)];
  const std::size_t bytes = whole_steps(frame.size()), left = SpscRing::kBytes - place(sent.end);
  const std::size_t skipped = bytes > left ? left : 0;
  if (bytes > kLongest || taken > sent.end || sent.end - taken + skipped + bytes > SpscRing::kBytes) return false;
  std::uint8_t* const ring = sent.box->ring.data();
  if (skipped > 0) std::memcpy(ring + place(sent.end), &kNoRoom, sizeof kNoRoom);
  std::memcpy(ring + place(sent.end + skipped), frame.data(), frame.size());
  sent.end += skipped + bytes;
  return true;
}

bool CoreRings::push(int core) {
  Sent& sent = boxes_[static_cast<std::size_t>(core)];
  if (sent.pushed == sent.end) return false;
  sent.box->end = sent.pushed = sent.end;
  waking_ |= bit(core);
  return true;
}

void CoreRings::note_by_socket(int core) {
  Sent& sent = boxes_[static_cast<std::size_t>(core)];
  sent.box->by_socket = ++sent.by_socket;
  waking_ |= bit(core);
}

void CoreRings::ring() {
  if (waking_ == 0) return;
  bell_->processor.store(::sched_getcpu(), std::memory_order_relaxed);
  // The only core of a chip never sleeps by the bell.
  if (boxes_.size() == 1) waking_ = 0;
  if (waking_ == 0) return;
  bell_->rung = ++rung_;
  ::syscall(SYS_futex, &bell_->rung, FUTEX_WAKE_BITSET, INT_MAX, nullptr, nullptr, std::exchange(waking_, 0));
}

}  // namespace softtpu
