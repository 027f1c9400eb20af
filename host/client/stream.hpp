// A stream: a queue of launches on a device, with steps of the program's own between them (copies, events, callbacks).
//
// Launches go to the device's queue at once, where they run in order; nothing is kept here. Only when the program adds
// a step does a thread of the stream come into being: it waits for the launches before the step, takes the step, and
// passes on the launches behind it. All functions may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "host/client/device_client.hpp"

#pragma GCC visibility push(default)
namespace softtpu::host {

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // An error is kept for the next synchronize().
  using Step = std::function<Result<void>()>;
  // A step that launches, as those of compiled networks do.
  struct LaunchingStep {
    Step run;
  };
  // A step that may wait for the program or for another stream: a callback, an event.
  struct WaitingStep {
    Step run;
  };
  // A launch that waits for its turn, or a step.
  using Item = std::variant<Step, LaunchingStep, WaitingStep, msg::Launch>;
  // What a stream was given while it was captured, in order. Launches name kernels of the stream's device.
  struct Graph {
    std::shared_ptr<DeviceClient> device;
    std::vector<Item> items;
  };

  static std::shared_ptr<Stream> make(std::shared_ptr<DeviceClient> device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  DeviceClient& device() const { return *device_; }
  const std::shared_ptr<DeviceClient>& shared_device() const { return device_; }
  StreamId id() const { return id_; }

  // Both put their own stream in the launch. The first waits for the kernel and returns its outcome.
  Result<void> launch(msg::Launch what);
  Result<void> launch_async(msg::Launch what);
  // Runs on the stream's own thread, when everything before it is done, whatever became of that.
  Result<void> add(Step step);
  Result<void> add(LaunchingStep step);
  Result<void> add(WaitingStep step);

  // Waits for everything so far, and returns the first failure since the last time.
  Result<void> synchronize();
  // Waits for the launches that the device was given. Failures stay for synchronize().
  void wait_for_launches();
  // Waits for everything so far; failures stay as well.
  Result<void> wait_for_all();
  // The same for an operation that stands in the chip's queue behind the launches, and that the program waits for: what
  // was launched before counts as waited for.
  Result<void> wait_in_queue();
  // Whether there are launches that the program itself has not waited for.
  bool has_unawaited() const;
  // This is called by one of the stream's own steps, which must not wait for the stream.
  bool is_own_thread() const;

  // Between the two, what the stream is given is kept instead of done.
  Result<void> begin_capture();
  Result<Graph> end_capture();
  bool is_captured() const;
  // Gives all of it in one piece: what other threads give meanwhile comes before or behind it.
  Result<void> launch_graph(const Graph& graph);

  // Of all streams of the device that this process has.
  static Result<void> synchronize_all(DeviceClient& device);
  // For all launches that the streams were given so far, but for those behind a step that may itself wait for the
  // caller; from a step, for those only that the device was given.
  static void wait_for_all_launches(const DeviceClient& device);
  // Waits until nothing that the streams were given so far waits in this process. Not from a step: that may be what
  // another stream waits for.
  static void push_all(const DeviceClient& device);
  static bool is_any_own_thread();
  static bool is_own_thread_of(const Stream* stream);

 private:
  explicit Stream(std::shared_ptr<DeviceClient> device);
  // A launch can go to the device at once.
  bool goes_on() const { return !captured_ && items_.empty() && !busy_; }
  Result<void> check_not_captured() const;
  Result<void> push(Item item);
  Result<void> start_thread();
  void work();
  void carry_out(Item item);
  void keep(const Result<void>& outcome);
  void note_synced(std::uint64_t until);
  std::optional<Error> take_failure();
  Result<void> wait_until_done(std::unique_lock<std::mutex>& lock) { return wait_until_done(lock, items_added_); }
  Result<void> wait_until_done(std::unique_lock<std::mutex>& lock, std::uint64_t until);

  const std::shared_ptr<DeviceClient> device_;
  const StreamId id_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable added_, done_;
  std::deque<Item> items_;
  std::uint64_t items_added_ = 0, items_done_ = 0;
  std::uint64_t launches_added_ = 0;  // items up to the last launch that stood behind no waiting step
  std::uint64_t waiting_steps_ = 0;   // not done yet
  bool busy_ = false;                 // the thread is at an item
  bool has_thread_ = false;
  std::optional<Error> failure_;
  std::optional<std::vector<Item>> captured_;
  std::uint64_t launched_ = 0;    // asynchronous launches that the device was given ...
  std::uint64_t waited_for_ = 0;  // ... how many of them have been waited for ...
  std::uint64_t synced_ = 0;      // ... and how many of them by the program
};

}  // namespace softtpu::host
#pragma GCC visibility pop
