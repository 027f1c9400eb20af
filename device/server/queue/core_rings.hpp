// Short items on their way to the cores: one ring of shared memory per core, which the server writes and the core only
// reads, and a doorbell that wakes sleeping cores with one call of the system for all of them. Long items, and those
// with a descriptor, go through the socket of the core. Each item has the next number, so that a core takes both kinds
// in order.
//
// The server trusts nothing in the shared memory; it keeps its own counts.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/memory/memories.hpp"
#include "runtime/base/result.hpp"
#include "runtime/protocol/frame.hpp"

namespace softtpu {

// Counts how often it was rung. Each core sleeps with a bit of its own.
struct alignas(64) Doorbell {
  std::atomic<std::uint32_t> rung{0};
  std::atomic<int> processor{-1};  // on which the server rang it last
};

// The memory of one core's ring: a ring of whole frames, each from a multiple of eight bytes on.
struct SpscRing {
  static constexpr std::size_t kBytes = 32 << 10;
  alignas(64) std::atomic<std::uint64_t> end{0};  // bytes put there since the core began
  std::atomic<std::uint64_t> by_socket{0};        // frames that went the other way since then
  alignas(64) std::array<std::uint8_t, kBytes> ring{};
};

// The core's end.
class RingReader {
 public:
  RingReader(const SpscRing& box, const Doorbell& bell, int core) : box_(box), bell_(bell), core_(core) {}

  // The item with this number, if it is there; valid until take().
  std::optional<Frame> find(std::uint64_t number) const;
  void take(const Frame& frame);
  // Bytes that the server may write over.
  std::uint64_t taken() const { return taken_; }
  // An item with this number is there, or on its way through the socket, from which so many have come.
  bool has_news(std::uint64_t number, std::uint64_t from_socket) const;
  bool has_more_in_socket(std::uint64_t from_socket) const { return box_.by_socket > from_socket; }

  int server_processor() const { return bell_.processor.load(std::memory_order_relaxed); }
  std::uint32_t rung() const { return bell_.rung; }
  // Until the bell is rung once more than that.
  void sleep(std::uint32_t seen) const;

 private:
  std::optional<FrameHeader> next() const;

  const SpscRing& box_;
  const Doorbell& bell_;
  const int core_;
  mutable std::uint64_t taken_ = 0;
};

// The server's end, of all cores of a device.
class CoreRings {
 public:
  static Result<std::unique_ptr<CoreRings>> create(int cores);

  const SpscRing& box(int core) const { return *boxes_[static_cast<std::size_t>(core)].box; }
  const Doorbell& bell() const { return *bell_; }

  // In a core's process, which has the bell and its own ring alone.
  void make_read_only(int core) const;

  // A core begins, and has nothing yet.
  void empty(int core);
  // False: there is no room for it, or it is too long. `taken` is what the core says that it has read.
  bool put(int core, std::span<const std::uint8_t> frame, std::uint64_t taken);
  void note_by_socket(int core);
  // The core may see what was put there. True: that is more than before.
  bool push(int core);
  // Wakes the cores that have been given something since the last time, at once.
  void ring();

 private:
  struct Sent {
    Mapping memory;
    SpscRing* box = nullptr;
    std::uint64_t end = 0, pushed = 0, by_socket = 0;
  };
  Mapping bell_memory_;
  Doorbell* bell_ = nullptr;
  std::vector<Sent> boxes_;
  std::uint32_t rung_ = 0;
  std::uint32_t waking_ = 0;  // bits of cores
};

}  // namespace softtpu
