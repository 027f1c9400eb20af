#include "host/client/event.hpp"

#include <new>
#include <utility>

namespace softtpu::host {

void Mark::happen(DeviceClient& device) {
  std::optional<std::uint64_t> estimated_ns;
  try {
    if (const auto estimate = device.estimated_time(StreamId{0}); estimate && *estimate)
      estimated_ns = (*estimate)->total_ns;
  } catch (const std::bad_alloc&) {  // the mark counts more than its time: others wait for it
  }
  happen_at(estimated_ns);
}

void Mark::happen_at(std::optional<std::uint64_t> estimated_ns) {
  const std::lock_guard lock(mutex_);
  estimated_ns_ = estimated_ns;
  at_ = std::chrono::steady_clock::now();
  happened_ = true;
  changed_.notify_all();
}

bool Mark::has_happened() const {
  const std::lock_guard lock(mutex_);
  return happened_;
}

void Mark::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return happened_; });
}

double Mark::milliseconds(const Mark& from, const Mark& to) {
  const std::optional<std::uint64_t> begin = from.estimated_ns_, end = to.estimated_ns_;
  if (begin || end) {
    // Before the first launch there is no estimate yet.
    return (static_cast<double>(end.value_or(0)) - static_cast<double>(begin.value_or(0))) / 1e6;
  }
  return std::chrono::duration<double, std::milli>(to.at_ - from.at_).count();
}

namespace {

// A mark in a stream. Others wait for it, so it happens at the latest when its step is gone: without memory a step may
// never be taken.
class PromisedMark {
 public:
  explicit PromisedMark(std::shared_ptr<Mark> mark) : mark_(std::move(mark)) {}
  ~PromisedMark() {
    if (!mark_->has_happened()) mark_->happen_at(std::nullopt);
  }
  PromisedMark(const PromisedMark&) = delete;
  PromisedMark& operator=(const PromisedMark&) = delete;
  Mark& operator*() const { return *mark_; }

 private:
  std::shared_ptr<Mark> mark_;
};

}  // namespace

Result<void> Event::record(Stream& stream) {
  if (stream.is_captured()) {
    // Each launch of the graph makes a mark of its own.
    return stream.add([self = shared_from_this(), device = stream.shared_device(), in = &stream]() -> Result<void> {
      const auto mark = std::make_shared<Mark>();
      const PromisedMark promised(mark);
      self->set(mark, in);
      mark->happen(*device);
      return {};
    });
  }
  const auto mark = std::make_shared<Mark>();
  const auto promised = std::make_shared<PromisedMark>(mark);
  auto added = stream.add([promised, device = stream.shared_device()]() -> Result<void> {
    (**promised).happen(*device);
    return {};
  });
  if (added) set(mark, &stream);
  return added;
}

Result<void> Event::make_wait(Stream& stream) {
  if (stream.is_captured()) {
    return stream.add(Stream::WaitingStep{[self = shared_from_this()]() -> Result<void> {
      // A mark behind this in the stream waits for this.
      if (const auto mark = self->last(); mark && !self->is_pending_in_own_stream()) mark->wait();
      return {};
    }});
  }
  const auto mark = last();
  if (mark == nullptr) return Error{ErrorKind::kUsage, "the event was never recorded."};
  return stream.add(Stream::WaitingStep{[mark]() -> Result<void> {
    mark->wait();
    return {};
  }});
}

std::shared_ptr<Mark> Event::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

bool Event::is_pending_in_own_stream() const {
  const std::lock_guard lock(mutex_);
  return last_ != nullptr && Stream::is_own_thread_of(stream_) && !last_->has_happened();
}

void Event::set(std::shared_ptr<Mark> mark, const Stream* stream) {
  const std::lock_guard lock(mutex_);
  last_ = std::move(mark);
  stream_ = stream;
}

}  // namespace softtpu::host
