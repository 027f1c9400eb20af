// CoreLink: the server's end of one core. Sends items (load, define, launch), matches what comes back, and gives a core
// that takes the place of one that died or was ended the items that had not begun, and each module before its next
// launch.
//
// Lives on the server's thread. The process itself is CoreChild's, CoreWatchdog sees that it hangs, and
// ExplanationQueue tells why it died.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/memory/memories.hpp"
#include "device/server/core_process/core_child.hpp"
#include "device/server/queue/core_items.hpp"
#include "device/server/queue/core_modules.hpp"
#include "device/server/queue/core_watchdog.hpp"
#include "device/server/queue/explanation_queue.hpp"
#include "runtime/base/block_queue.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/core_messages.hpp"
#include "runtime/protocol/frame.hpp"
#include "runtime/report/journal.hpp"
#include "runtime/transport/adaptive_spin.hpp"
#include "runtime/transport/outbox.hpp"

namespace softtpu {

class EventLoop;
class GroupLaunch;
struct DeviceObservers;

class CoreLink {
 public:
  using Options = CoreChild::Options;
  CoreLink(EventLoop& loop, Memories& memories, const DeviceObservers& observers, const Options& options);
  Memories& memories() { return child_.memories(); }
  ~CoreLink();
  CoreLink(const CoreLink&) = delete;
  CoreLink& operator=(const CoreLink&) = delete;

  Result<void> start();
  // Called for each launch that has ended its core, with its owner and how long the server has worked for a new core.
  void when_lost(std::function<void(const void* owner, std::chrono::nanoseconds cost)> callback) {
    when_lost_ = std::move(callback);
  }

  // The answers come from the event loop, in the order of the calls. They may call back into this object.
  using Loaded = std::function<void(Result<std::vector<std::string>>)>;
  using Answered = std::function<void(Result<void>)>;
  using Terms = CoreTerms;
  void load(std::uint32_t module, const std::string& name, UniqueFd image, const Terms& terms, Loaded answer);
  void unload(std::uint32_t module, const Terms& terms, Answered answer);
  void define(std::uint32_t function, std::uint32_t module, const std::string& name, const Terms& terms,
              Answered answer);
  // `name` is for messages; `group` is null where the launch has one core; the answer gets no bytes. The item's number,
  // for await_now().
  std::uint64_t launch(msg::CoreLaunch&& what, std::string name, const Terms& terms, std::shared_ptr<GroupLaunch> group,
                       CoreItem::Answer answer);
  // Answers may lead to more launches, which wait for the next flush(). These say true when they have answered items.
  // What the core is through with is answered now.
  bool catch_up();
  // This item is waited for from now on: its answer must not wait for later ones.
  bool await_now(std::uint64_t item);
  // What the core is through with is answered now, the rest as soon as it is.
  void poll();
  // The core has been given enough: half of that shall be answered as soon as it is done.
  void request_report_at_half();
  // For the journal of `softtpu run`; the outcome of a launch on several cores is written by its GroupLaunch.
  void note_failure(MessageType type, const std::string& name, FailureKind kind, const std::string& text);
  // Drops the items of an owner that is gone; one that runs is ended.
  void abandon(const void* owner);
  // Ends the launches of an owner's stream, each when it runs. Stream 0: all.
  void cancel(const void* owner, std::uint32_t stream);

  // Sends what the calls above have collected.
  void flush();
  // The same for several links, of which the last has to ring.
  void push();
  // Answers a launch that is waited for during the call, where it ends within microseconds; else later. True: as
  // for catch_up().
  bool watch_launch();

  pid_t pid() const { return child_.pid(); }
  std::uint64_t restarts() const { return restarts_; }
  // Launches that the core is through with and that are answered when an explanation has come.
  std::size_t withheld() const { return explanations_.withheld(); }
  // Of the launch whose answer is being given; 0: it failed, or nothing estimates times.
  std::uint64_t estimated_ns() const { return estimated_ns_; }

 private:
  void await(std::uint64_t item);
  template <class Message>
  CoreItem& add(const Message& message, std::string name, const Terms& terms, CoreItem::Answer answer);
  void add_definition(std::uint32_t function, std::uint32_t module, const std::string& name, const Terms& terms,
                      bool restores, Answered answer);
  void send(CoreItem& item);
  bool by_ring(const CoreItem& item);
  void add_memories(std::vector<UniqueFd>& fds) const;
  void when_readable();
  bool receive_all();
  void end_misbehaving(const std::string& why);
  void on_frame(Frame& frame);
  bool on_finding(const Frame& frame);
  std::uint64_t completed_items() const;
  void finish_through(std::uint64_t number);
  void finish(Result<Bytes> result);
  void deliver();
  Error explain_absence(const CoreItem& item, const Error& error);
  void when_ended();
  void restart(const CoreChild::End& end, std::chrono::steady_clock::time_point ended);
  void send_again(BlockQueue<CoreItem> unfinished);
  void restore(std::uint32_t module);
  void restore_for(const CoreItem& item);
  void restore_all();
  void start_again();
  struct FailedItem {
    std::string text;
    ErrorKind kind;
    msg::CoreExplain question;
    std::string said;  // by a sanitizer
  };
  std::optional<FailedItem> take_failed_item(const CoreChild::End& end);
  std::optional<Symbolizer::Remains> take_remains(const msg::CoreExplain& question);
  void report(CoreItem failed, FailedItem failure);
  void break_link(const std::string& why);
  void check_progress();

  EventLoop& loop_;
  const DeviceObservers& observers_;
  CoreChild child_;
  CoreWatchdog watchdog_;
  CoreModules modules_;
  ExplanationQueue explanations_;
  UniqueFd socket_;
  FrameBuffer in_;
  Outbox out_;
  bool flushing_ = false;       // waits for room in the socket
  BlockQueue<CoreItem> items_;  // sent and not ended, in order
  struct Ended {
    const void* owner = nullptr;
    std::uint64_t estimated_ns = 0;
    CoreItem::Answer answer;
    Result<Bytes> result;
  };
  BlockQueue<Ended> answers_;  // of items that have ended, until deliver()
  std::uint64_t last_number_ = 0;
  std::uint64_t seen_reported_ = 0;  // messages of the core about items up to this one have been received
  std::uint64_t restarts_ = 0;
  std::uint64_t estimated_ns_ = 0;
  std::optional<std::string> broken_;
  std::function<void(const void*, std::chrono::nanoseconds)> when_lost_;
  AdaptiveSpin wait_;
  std::uint64_t watched_ = 0;  // the launch that watch_launch() shall look at; 0: none
  std::uint64_t half_ = 0;     // the item that request_report_at_half() waits for
};

}  // namespace softtpu
