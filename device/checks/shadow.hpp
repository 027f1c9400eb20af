// What is known of each byte of global, L2 and local memory: whether it was written. Global and L2 memory have one byte
// for each. Local memory has one word for each offset, as wide as the chip has lanes, with a bit for each, as
// instructions work on the same offsets of all lanes: of what was written in this launch, and of what was written
// before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/footprint/runs.hpp"
#include "device/memory/shared_bytes.hpp"

namespace softtpu {

class Shadow {
 public:
  // States below kFirstLaunch; the others are numbers of launches, which start again after kLastLaunch.
  static constexpr std::uint8_t kUnknown = 0;    // not allocated (global), never written (local, L2)
  static constexpr std::uint8_t kUnwritten = 1;  // allocated
  static constexpr std::uint8_t kStale = 2;  // of an earlier tensor that a smaller one at the same place has replaced
  // Computed from stale bytes: a number for each call that read them, of the launch that runs.
  static constexpr std::uint8_t kFirstTaint = 3, kLastTaint = 31;
  static constexpr std::uint8_t kFirstLaunch = 32, kLastLaunch = 255;
  static constexpr bool is_taint(std::uint8_t state) { return state >= kFirstTaint && state <= kLastTaint; }

  static Result<std::shared_ptr<Shadow>> create(const Chip& chip);

  // The states of a span's bytes; nullptr: of a memory that is not followed (static memory, DTCM). Those of local
  // memory are a copy, good until more of it is written.
  std::uint8_t* find(const Span& span) const;
  // Of global memory.
  void mark_allocated(std::uint64_t address, std::uint64_t bytes);
  void forget(std::uint64_t address, std::uint64_t bytes);
  void mark_written(std::uint64_t address, std::uint64_t bytes);
  bool is_global(std::uint64_t address, std::uint64_t bytes) const;
  std::uint8_t* global(std::uint64_t address) const { return global_.data() + (address - chip_.global_mem.start); }

  // Of global or L2 memory, in this launch; no other memory is followed.
  void mark_written(const Span& span);

  // Of local memory of the core that this process is: the lanes of a run that were not written as a whole in this
  // launch.
  std::uint64_t unwritten_lanes(const LaneRun& run) const;
  // Calls f(at, end, state) for the bytes of a span that were not, counted from its begin, those of one state together.
  template <class F>
  void for_each_unwritten(const Span& span, F f) const {
    visit_unwritten(span, &f, [](void* call, std::uint64_t at, std::uint64_t end, std::uint8_t state) {
      (*static_cast<F*>(call))(at, end, state);
    });
  }
  // Runs that lie at the same offsets of further lanes wait and are marked as one: kernels take the address of one lane
  // after the other, and each such run goes to the lane's end.
  void mark_written(const LaneRun& run);
  // That bytes of one lane are stale or tainted.
  void mark_bad(const Span& span, std::uint8_t state);

  // Numbers the next launch, in which all bytes count as an earlier launch's until they are written again. The cores of
  // one launch have the same number.
  void begin_launch();
  std::uint8_t launch() const { return own_launch_; }
  void end_launch() { mark_waiting(); }

 private:
  explicit Shadow(const Chip& chip) : chip_(chip), waiting_(static_cast<unsigned>(chip.cores)) {}

  // What is known of one core's local memory, in words of a type.
  template <class Word>
  struct Lanes;

  static std::size_t own_core();
  void make_room();
  void visit_unwritten(const Span& span, void* f,
                       void (*call)(void* f, std::uint64_t at, std::uint64_t end, std::uint8_t state)) const;
  // Calls f(Lanes<Word>) with the chip's.
  template <class F>
  auto with_lanes(F f) const;
  void mark_waiting() const;
  template <class F>
  void for_each_lane_part(const Span& span, F f) const;

  Chip chip_;
  // l2_parts_: which parts of L2 were ever written; lane_bits_, states_, parts_: of one
  // core after the other
  SharedBytes global_, l2_, l2_parts_, lane_bits_, states_, parts_, launch_;
  std::uint8_t own_launch_ = kFirstLaunch;  // that runs here
  mutable std::vector<LaneRun> waiting_;    // of each core: to be marked
};

// The first byte of [begin, begin + bytes) that is not `value`; `bytes` when all are.
std::uint64_t find_other(const std::uint8_t* begin, std::uint64_t bytes, std::uint8_t value);

}  // namespace softtpu
