// CoreLink: the server's end of one core. Sends items (load, define, launch), matches what comes back, watches for a
// core that died or hangs, and then starts a new one with the same modules and the items that had not begun.
//
// Lives on the server's thread. A core is a forked process; in a program with linked-in kernels it is a thread, which
// can neither be ended nor survive a crash of its kernel.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/memory/memories.hpp"
#include "device/server/core_process.hpp"
#include "device/server/explainer.hpp"
#include "device/server/sleep_check.hpp"
#include "device/server/status_pages.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/core_messages.hpp"
#include "runtime/protocol/frame.hpp"
#include "runtime/report/journal.hpp"
#include "runtime/transport/outbox.hpp"
#include "runtime/transport/short_wait.hpp"

namespace softtpu {

class EventLoop;
class GroupLaunch;
class LaunchPage;
struct Tools;

class CoreLink {
 public:
  struct Options {
    int index = 0;
    bool in_process = false;  // a thread of this process
    bool sandbox = false;
    bool own_namespace = true;       // of the core's process, where the system allows it
    std::string dump_folder;         // gets what a core that ended has left; empty: nobody
    LaunchPage* launches = nullptr;  // of launches on several cores; null: the chip has one
  };
  CoreLink(EventLoop& loop, Memories& memories, const Tools& tools, const Options& options);
  Memories& memories() { return memories_; }
  ~CoreLink();
  CoreLink(const CoreLink&) = delete;
  CoreLink& operator=(const CoreLink&) = delete;

  Result<void> start();

  // The answers come from the event loop, in the order of the calls. They may call back into this object.
  using Loaded = std::function<void(Result<std::vector<std::string>>)>;
  using Answered = std::function<void(Result<void>)>;
  // Whose an item is, and how long it may take: code of a module runs in each of them.
  struct Terms {
    const void* owner = nullptr;   // abandon() finds it by this
    std::uint32_t timeout_ms = 0;  // without a command; 0: no limit
    std::uint32_t limit_ms = 0;    // in all; 0: no limit
  };
  void load(std::uint32_t module, const std::string& name, UniqueFd image, const Terms& terms, Loaded answer);
  void unload(std::uint32_t module, const Terms& terms, Answered answer);
  void define(std::uint32_t function, std::uint32_t module, const std::string& name, const Terms& terms,
              Answered answer);
  struct Launch {
    std::uint32_t function = 0;
    std::string kernel;           // for messages
    const Bytes* args = nullptr;  // read during the call
    Terms terms;
    bool flush = false;                     // somebody waits for it
    std::uint32_t stream = 0;               // cancel() finds it by this and the owner
    std::uint64_t client = 0;               // whose findings come of it; 0: nobody shares the device
    std::shared_ptr<FindingSink> findings;  // gets them before the answer
    std::shared_ptr<GroupLaunch> group;     // on several cores; null: on this one
    CorePlace place;
    Answered answer;
  };
  // The item's number, for hurry().
  std::uint64_t launch(const Launch& what);
  // Somebody waits for this item now: its answer must not wait for later ones.
  void hurry(std::uint64_t item);
  // What the core is through with is answered now, the rest as soon as it is.
  void collect();
  // For the journal of `softtpu run`; where a launch has several cores, whoever knows its outcome says it.
  void note_failure(MessageType type, const std::string& name, FailureKind kind, const std::string& text);
  // Drops the items of an owner that is gone; one that runs is ended.
  void abandon(const void* owner);
  // Ends the launches of an owner's stream, each when it runs. Stream 0: all.
  void cancel(const void* owner, std::uint32_t stream);

  // Sends what the calls above have collected.
  void flush();
  // Answers a launch that somebody waits for during the call, where it ends within microseconds; else later.
  void watch_launch();

  pid_t pid() const { return process_.pid(); }
  std::uint64_t restarts() const { return restarts_; }
  // Launches that the core is through with and that are answered when an explanation has come.
  std::size_t withheld() const;
  // Of the launch whose answer is being given; 0: it failed, or nothing estimates times.
  std::uint64_t estimated_ns() const { return estimated_ns_; }

 private:
  struct Item {
    std::uint64_t number = 0;
    MessageType type{};
    Bytes frame;
    UniqueFd image;    // of a load
    std::string name;  // of the kernel, module or function, for messages
    Terms terms;
    std::shared_ptr<FindingSink> findings;
    std::shared_ptr<GroupLaunch> group;
    std::size_t workitem = 0;
    std::uint32_t stream = 0;
    bool dropped = false;
    bool cancelled = false;
    std::function<void(Result<Bytes>)> answer;
  };
  // What a new core is given before anything else.
  struct Module {
    std::string name;
    UniqueFd image;
    Terms terms;
    std::map<std::uint32_t, std::string> functions;
  };

  // Of a failed launch. What its owner launched later is answered after it.
  struct Explanation {
    std::uint64_t number = 0;
    const void* owner = nullptr;
    std::unique_ptr<Explainer> explainer;  // nullptr: there is nothing to explain
    std::function<void(const std::string&)> answer;
    std::vector<std::function<void()>> withheld;
  };

  template <class Message>
  Item& add(const Message& message, std::string name, const Terms& terms, std::function<void(Result<Bytes>)> answer);
  void send(Item& item);
  void when_readable();
  bool receive_all();
  void distrust(const std::string& why);
  void on_frame(Frame& frame);
  bool on_finding(MessageType type, const Bytes& payload);
  // The copy that is not damaged; nullptr when both are.
  const CoreProgress* progress() const;
  std::uint64_t completed_items() const;
  void finish_through(std::uint64_t number);
  void finish(Result<Bytes> result);
  void when_ended();
  void restart(const std::string& how_it_ended);
  void replay_modules();
  void start_again();
  struct Victim {
    std::string text;
    ErrorKind kind;
    CoreExplain question;
    std::string said;  // by a sanitizer
  };
  std::optional<Victim> take_victim(const std::string& how_it_ended);
  void renew_memories();
  std::optional<Explainer::Remains> take_remains(const CoreExplain& question);
  std::string places_text(const CoreExplain& question) const;
  void report(Item failed, const Victim& victim);
  void begin_explanations();
  void end_explanation(std::uint64_t number, const std::string& text);
  void deliver(const void* owner, std::uint64_t last_before, std::function<void()> answer);
  void end_core(Error reason);
  void break_link(const std::string& why);
  void watch_progress();
  void check_progress();
  bool is_stopped() const;
  void wake();

  EventLoop& loop_;
  Memories& memories_;
  const Tools& tools_;
  const int index_;
  const bool in_process_, sandbox_, own_namespace_;
  const std::string dump_folder_;
  LaunchPage* const launches_;
  StatusPages pages_;  // shared with the core
  UniqueFd reports_;   // gets what sanitizers report
  UniqueFd socket_;
  CoreProcess process_;
  FrameBuffer in_;
  Outbox out_;
  std::deque<Item> items_;  // sent and not answered, in order
  std::map<std::uint32_t, Module> modules_;
  std::deque<Explanation> explanations_;  // that are under way, in the order of the failures
  std::uint64_t last_explanation_ = 0;
  std::uint64_t last_number_ = 0;
  std::uint64_t restarts_ = 0;
  std::uint64_t estimated_ns_ = 0;
  int idle_deaths_ = 0;  // in a row, without an item to blame
  bool woken_ = false;   // has been stopped while it had nothing to do, and was told to go on
  std::optional<Error> end_reason_;
  std::optional<std::string> broken_;
  bool asks_for_another_ = false;  // the core that ended wants to be replaced, and nobody is to blame
  bool flushing_ = false;          // waits for room in the socket
  bool watching_ = false;
  SleepCheck sleep_;
  ShortWait wait_;
  std::uint64_t watched_ = 0;        // the launch that watch_launch() shall look at; 0: none
  std::uint64_t seen_reported_ = 0;  // messages of the core about items up to this one have been received
  std::uint64_t seen_running_ = 0, seen_commands_ = 0, still_ms_ = 0, ran_ms_ = 0, over_ms_ = 0;
  std::uint64_t seen_front_ = 0, idle_ms_ = 0;  // the oldest item, and how long the core has not begun with it
};

}  // namespace softtpu
