// Events: marks in streams, with the time at which everything before them was done.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "host/client/stream.hpp"

#pragma GCC visibility push(default)
namespace softtpu::host {

// One mark. It happens once.
class Mark {
 public:
  void happen(DeviceClient& device);
  void happen_at(std::optional<std::uint64_t> estimated_ns);
  bool has_happened() const;
  void wait() const;
  // From one mark to another; negative when the other was first. The estimate for the chip where the device makes
  // one, else what passed here. Both have happened.
  static double milliseconds(const Mark& from, const Mark& to);

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool happened_ = false;
  std::chrono::steady_clock::time_point at_;
  std::optional<std::uint64_t> estimated_ns_;  // of all launches of this program so far
};

class Event : public std::enable_shared_from_this<Event> {
 public:
  // Marks the stream here. Later uses of the event mean this mark.
  Result<void> record(Stream& stream);
  // The stream goes on when the last mark has happened.
  Result<void> make_wait(Stream& stream);
  // nullptr: never recorded.
  std::shared_ptr<Mark> last() const;
  // The mark is to happen in the stream that this thread takes the steps of, so that it must not wait for it.
  bool is_pending_in_own_stream() const;

 private:
  void set(std::shared_ptr<Mark> mark, const Stream* stream);

  mutable std::mutex mutex_;
  std::shared_ptr<Mark> last_;
  const Stream* stream_ = nullptr;  // compared only
};

}  // namespace softtpu::host
#pragma GCC visibility pop
