#include "host/client/stream.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "host/client/interrupt.hpp"

namespace softtpu::host {
namespace {

// How long a thread without work stays for more.
constexpr std::chrono::milliseconds kThreadStays{200};
constexpr std::chrono::milliseconds kAskEvery{100};

thread_local const Stream* own_stream = nullptr;

// Never destroyed: threads of streams outlive the program's main function.
struct AllStreams {
  std::mutex mutex;
  std::vector<std::weak_ptr<Stream>> streams;
};
AllStreams& all_streams() {
  static auto& instance = *new AllStreams;
  return instance;
}

std::vector<std::shared_ptr<Stream>> streams_of(const DeviceClient& device) {
  AllStreams& all = all_streams();
  const std::lock_guard lock(all.mutex);
  std::vector<std::shared_ptr<Stream>> found;
  for (const auto& weak : all.streams) {
    auto stream = weak.lock();
    if (stream && &stream->device() == &device) found.push_back(std::move(stream));
  }
  return found;
}

}  // namespace

Stream::Stream(std::shared_ptr<DeviceClient> device) : device_(std::move(device)), id_(device_->make_stream()) {}
Stream::~Stream() { device_->close_stream(id_); }

std::shared_ptr<Stream> Stream::make(std::shared_ptr<DeviceClient> device) {
  std::shared_ptr<Stream> stream(new Stream(std::move(device)));
  AllStreams& all = all_streams();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.streams, [](const auto& weak) { return weak.expired(); });
  all.streams.push_back(stream);
  return stream;
}

// ---- What the stream is given ----

Result<void> Stream::check_not_captured() const {
  if (!captured_) return {};
  return Error{ErrorKind::kUsage, "the stream is being captured; it cannot be waited for."};
}

Result<void> Stream::launch(msg::Launch what) {
  what.stream = static_cast<std::uint32_t>(id_);
  {
    std::unique_lock lock(mutex_);
    if (auto good = check_not_captured(); !good) return good;
    if (auto waited = wait_until_done(lock); !waited) return waited;
  }
  auto outcome = device_->launch(std::move(what));
  std::uint64_t until = 0;
  {
    const std::lock_guard lock(mutex_);
    until = launched_;
  }
  note_synced(until);
  return outcome;
}

Result<void> Stream::launch_async(msg::Launch what) {
  what.stream = static_cast<std::uint32_t>(id_);
  const std::lock_guard lock(mutex_);
  if (!goes_on()) return push(std::move(what));
  ++launched_;
  return device_->launch_async(std::move(what));
}

Result<void> Stream::add(Step step) {
  const std::lock_guard lock(mutex_);
  return push(std::move(step));
}

Result<void> Stream::add(LaunchingStep step) {
  const std::lock_guard lock(mutex_);
  return push(std::move(step));
}

Result<void> Stream::add(WaitingStep step) {
  const std::lock_guard lock(mutex_);
  return push(std::move(step));
}

Result<void> Stream::push(Item item) {
  if (captured_) {
    captured_->push_back(std::move(item));
    return {};
  }
  if (auto own = device_->check_process(); !own) return own;
  if (auto started = start_thread(); !started) return started;
  const bool waits = std::holds_alternative<WaitingStep>(item);
  const bool launches = !waits && !std::holds_alternative<Step>(item);
  items_.push_back(std::move(item));
  ++items_added_;
  waiting_steps_ += waits ? 1 : 0;
  if (launches && waiting_steps_ == 0) launches_added_ = items_added_;
  added_.notify_one();
  return {};
}

// ---- The thread ----

Result<void> Stream::start_thread() {
  if (has_thread_) return {};
  try {
    std::thread([self = shared_from_this()] { self->work(); }).detach();
  } catch (const std::system_error& error) {
    return Error{ErrorKind::kResource, std::string("a thread for the stream: ") + error.what()};
  }
  has_thread_ = true;
  return {};
}

void Stream::work() {
  own_stream = this;
  std::unique_lock lock(mutex_);
  while (added_.wait_for(lock, kThreadStays, [this] { return !items_.empty(); })) {
    Item item = std::move(items_.front());
    items_.pop_front();
    busy_ = true;
    const bool waits = std::holds_alternative<WaitingStep>(item);
    lock.unlock();
    // What leaves a thread ends the program.
    try {
      carry_out(std::move(item));
    } catch (const std::bad_alloc&) {
      keep(Error{ErrorKind::kResource, "no memory left"});  // a text that needs none
    }
    lock.lock();
    busy_ = false;
    waiting_steps_ -= waits ? 1 : 0;
    ++items_done_;
    done_.notify_all();
  }
  has_thread_ = false;
}

void Stream::carry_out(Item item) {
  const auto* step = std::get_if<Step>(&item);
  if (const auto* launching = std::get_if<LaunchingStep>(&item)) step = &launching->run;
  if (const auto* waiting = std::get_if<WaitingStep>(&item)) step = &waiting->run;
  if (step != nullptr) {
    wait_for_launches();
    keep((*step)());
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ++launched_;
  }
  keep(device_->launch_async(std::get<msg::Launch>(std::move(item))));
}

bool Stream::is_own_thread() const { return own_stream == this; }
bool Stream::is_any_own_thread() { return own_stream != nullptr; }
bool Stream::is_own_thread_of(const Stream* stream) { return own_stream != nullptr && own_stream == stream; }

// ---- Waiting ----

void Stream::keep(const Result<void>& outcome) {
  const std::lock_guard lock(mutex_);
  if (!outcome && !failure_) failure_ = outcome.error();
}

std::optional<Error> Stream::take_failure() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failure_, std::nullopt);
}

// For the first `until` items that were added; more may come meanwhile.
Result<void> Stream::wait_until_done(std::unique_lock<std::mutex>& lock, std::uint64_t until) {
  const auto is_done = [&] { return items_done_ >= until; };
  if (is_done()) return {};
  if (auto own = device_->check_process(); !own) return own;
  if (is_own_thread()) return Error{ErrorKind::kUsage, "a callback cannot wait for the stream that it belongs to."};
  static bool (*const is_wanted)() = find_interrupt();
  if (is_wanted == nullptr) {
    done_.wait(lock, is_done);
    return {};
  }
  while (!done_.wait_for(lock, kAskEvery, is_done)) {
    lock.unlock();
    const bool wanted = is_wanted();
    if (wanted) device_->cancel(id_);
    lock.lock();
    if (wanted) return Error{ErrorKind::kTimeout, "interrupted; the stream goes on with its queue."};
  }
  return {};
}

void Stream::wait_for_launches() {
  std::uint64_t until = 0;
  {
    const std::lock_guard lock(mutex_);
    if (launched_ == waited_for_) return;
    until = launched_;
  }
  const auto outcome = device_->sync(id_);
  keep(outcome);
  const std::lock_guard lock(mutex_);
  waited_for_ = std::max(waited_for_, until);
}

Result<void> Stream::wait_for_all() {
  {
    std::unique_lock lock(mutex_);
    if (auto good = check_not_captured(); !good) return good;
    if (auto waited = wait_until_done(lock); !waited) return waited;
  }
  wait_for_launches();
  return {};
}

Result<void> Stream::wait_in_queue() {
  std::uint64_t until = 0;
  {
    const std::lock_guard lock(mutex_);
    until = launched_;
  }
  if (auto waited = wait_for_all(); !waited) return waited;
  note_synced(until);
  return {};
}

bool Stream::has_unawaited() const {
  const std::lock_guard lock(mutex_);
  return synced_ < launched_;
}

// Launches up to `until` have ended, and the program knows.
void Stream::note_synced(std::uint64_t until) {
  {
    const std::lock_guard lock(mutex_);
    synced_ = std::max(synced_, until);
  }
  device_->note_synced();
}

Result<void> Stream::synchronize() {
  std::uint64_t until = 0;
  {
    std::unique_lock lock(mutex_);
    if (auto good = check_not_captured(); !good) return good;
    if (auto waited = wait_until_done(lock); !waited) return waited;
    until = launched_;
  }
  const auto outcome = device_->sync(id_);
  keep(outcome);
  {
    const std::lock_guard lock(mutex_);
    waited_for_ = std::max(waited_for_, until);
  }
  note_synced(until);
  if (auto failure = take_failure()) return *failure;
  return {};
}

Result<void> Stream::synchronize_all(DeviceClient& device) {
  const auto streams = streams_of(device);
  std::vector<std::uint64_t> launched;
  for (const auto& stream : streams) {
    std::unique_lock lock(stream->mutex_);
    if (auto good = stream->check_not_captured(); !good) return good;
    if (auto waited = stream->wait_until_done(lock); !waited) return waited;
    launched.push_back(stream->launched_);
  }
  Result<void> first = device.sync_device();
  for (std::size_t i = 0; i < streams.size(); ++i) streams[i]->note_synced(launched[i]);
  for (const auto& stream : streams) {
    if (auto failure = stream->take_failure(); failure && first) first = *failure;
  }
  return first;
}

void Stream::wait_for_all_launches(const DeviceClient& device) {
  for (const auto& stream : streams_of(device)) {
    if (!is_any_own_thread()) {
      std::unique_lock lock(stream->mutex_);
      static_cast<void>(stream->wait_until_done(lock, stream->launches_added_));
    }
    stream->wait_for_launches();
  }
}

void Stream::push_all(const DeviceClient& device) {
  if (is_any_own_thread()) return;
  for (const auto& stream : streams_of(device)) {
    std::unique_lock lock(stream->mutex_);
    static_cast<void>(stream->wait_until_done(lock));
  }
}

// ---- Capturing ----

Result<void> Stream::begin_capture() {
  const std::lock_guard lock(mutex_);
  if (captured_) return Error{ErrorKind::kUsage, "the stream is being captured already."};
  captured_.emplace();
  return {};
}

Result<Stream::Graph> Stream::end_capture() {
  const std::lock_guard lock(mutex_);
  if (!captured_) return Error{ErrorKind::kUsage, "the stream is not being captured."};
  return Graph{device_, *std::exchange(captured_, std::nullopt)};
}

bool Stream::is_captured() const {
  const std::lock_guard lock(mutex_);
  return captured_.has_value();
}

Result<void> Stream::launch_graph(const Graph& graph) {
  if (graph.device != device_) {
    return Error{ErrorKind::kUsage, "the graph was captured on device " + std::to_string(graph.device->device_id()) +
                                        ", the stream belongs to device " + std::to_string(device_->device_id()) + "."};
  }
  const std::lock_guard lock(mutex_);
  for (const Item& item : graph.items) {
    Item own = item;
    auto* const launch = std::get_if<msg::Launch>(&own);
    if (launch != nullptr) launch->stream = static_cast<std::uint32_t>(id_);
    if (launch == nullptr || !goes_on()) {
      if (auto kept = push(std::move(own)); !kept) return kept;
      continue;
    }
    ++launched_;
    if (auto sent = device_->launch_async(std::move(*launch)); !sent) return sent;
  }
  return {};
}

}  // namespace softtpu::host
