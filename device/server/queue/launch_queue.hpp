// Streams and the order of launches. A stream's launches run in order; clients take turns, and the streams of one
// client take turns among themselves, so that no client waits for another's queue. Lives on the server's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/server/queue/core_link.hpp"
#include "device/server/queue/crash_debt.hpp"
#include "device/server/queue/group_launch.hpp"
#include "device/server/queue/launch_trials.hpp"
#include "runtime/base/result.hpp"
#include "runtime/protocol/wire.hpp"

namespace softtpu {

class LaunchQueue {
 public:
  using Answer = std::function<void(Result<void>)>;

  // A launch whose parts are complete: as many as it has cores, each kernel with its function.
  struct Queued {
    msg::Launch launch;
    Answer answer;  // null: nothing waits for it alone, and the outcome is kept for the next sync
  };

  // The streams of one connection.
  class Client {
   public:
    // Launches waiting or running.
    std::size_t queued() const { return queued_; }
    std::uint64_t finished() const { return finished_; }
    // Streams that a sync of all of them looks at.
    std::size_t active() const { return active_.size(); }
    // Forgets some of the streams of a client that is gone. True: there are no more.
    bool forget_streams();
    bool has_room_for(std::uint32_t stream, std::size_t most) const {
      return streams_.size() < most || streams_.contains(stream);
    }
    // Calls back once, when no more than `queued` launches are left.
    void call_at(std::size_t queued, std::function<void()> callback) {
      call_at_ = queued;
      callback_ = std::move(callback);
    }

    // Gets the findings of its launches; null: the device is not shared.
    struct Findings {
      std::uint64_t client = 0;
      std::shared_ptr<FindingSink> sink;
    };
    void report_to(Findings findings) { findings_ = std::move(findings); }

   private:
    friend class LaunchQueue;
    struct Waiter {
      std::uint64_t until;
      Answer answer;
      bool takes_failure;
    };
    struct Stream {
      std::uint32_t id = 0;
      std::uint32_t timeout_ms = 0, limit_ms = 0;
      std::list<Queued> pending;  // a list: most of many streams are empty
      std::uint64_t submitted = 0, finished = 0;
      std::uint64_t last_item = 0;  // on core `last_core`
      std::uint32_t last_core = 0;
      std::uint64_t last_cores = 0;             // all of that launch, as bits
      std::shared_ptr<GroupLaunch> last_group;  // null: it had one core
      std::uint32_t sent = 0;                   // given to a core and not finished
      msg::StreamTimeReply time;
      bool ready = false;  // in ready_
      bool active = false;
      std::size_t active_at = 0;  // in active_
      bool closed = false;
      std::optional<Error> failure;
      std::uint64_t failure_order = 0;
      bool failed_behind = false;  // the failure is of a launch behind those that run: what they say counts more
      std::list<Waiter> waiters;
    };
    std::map<std::uint32_t, std::shared_ptr<Stream>> streams_;
    // Those that may have a launch, or a failure that is not reported yet: looking at them takes no longer than what
    // the client has asked for.
    std::vector<std::shared_ptr<Stream>> active_;
    std::deque<std::shared_ptr<Stream>> ready_;
    Findings findings_;
    std::shared_ptr<CrashDebt> debt_;  // null: its crashes cost no other client anything
    std::size_t queued_ = 0, sent_ = 0;
    std::uint64_t finished_ = 0;
    msg::StreamTimeReply time_;  // of all streams
    bool in_turn_ = false;
    bool gone_ = false;
    std::function<void()> on_quiet_;
    std::size_t call_at_ = 0;
    std::function<void()> callback_;
  };

  // Limits of a launch in milliseconds, without a command and in all; 0: none.
  struct Limits {
    std::uint32_t timeout_ms = 0, limit_ms = 0;
    bool fixed = false;  // clients cannot change them
    bool most = false;   // clients can make them shorter only
  };
  LaunchQueue(std::vector<std::unique_ptr<CoreLink>>& cores, const Limits& limits) : cores_(cores), limits_(limits) {}

  // Launches on several cores are run again and compared, where the tools say so.
  void use_observers(const DeviceObservers& observers) { observers_ = &observers; }
  // Launches of clients whose crashes have kept others waiting begin later.
  void use_loop(EventLoop& loop) { loop_ = &loop; }
  // Where launches on several cores meet.
  void use_pages(std::span<LaunchPage> pages);
  std::shared_ptr<Client> make_client(std::shared_ptr<CrashDebt> debt = nullptr) {
    auto client = std::make_shared<Client>();
    client->debt_ = std::move(debt);
    return client;
  }
  // A launch of this client has ended its core, and the server had to work so long for a new one.
  void note_crash(const Client& client, std::chrono::nanoseconds cost);
  void submit(const std::shared_ptr<Client>& client, Queued&& queued);
  // Answers when everything submitted so far has finished: with the first failure since the last sync. Stream 0: all
  // streams.
  void sync(const std::shared_ptr<Client>& client, std::uint32_t stream, Answer answer);
  // Both limits of the stream's later launches.
  void set_timeout(const std::shared_ptr<Client>& client, std::uint32_t stream, std::uint32_t milliseconds);
  // Estimated times of the stream's launches so far. Stream 0: of all streams.
  msg::StreamTimeReply time(const std::shared_ptr<Client>& client, std::uint32_t stream);
  void close_stream(const std::shared_ptr<Client>& client, std::uint32_t stream);
  // Launches of the stream that wait fail, those that run are ended. Stream 0: of all streams.
  void cancel(const std::shared_ptr<Client>& client, std::uint32_t stream);
  // The client is gone: what waits is dropped; on_quiet is called when nothing of it runs any more.
  void drop(const std::shared_ptr<Client>& client, std::function<void()> on_quiet);
  // Keeps a failure of a launch that was not accepted for the stream's next sync.
  void reject(const std::shared_ptr<Client>& client, std::uint32_t stream, const Error& error);
  // Calls back when everything that the client has submitted so far has finished. Failures stay for the syncs.
  void when_finished(const std::shared_ptr<Client>& client, std::function<void()> callback);

  struct Fault {
    std::uint64_t time;  // seconds since 1970
    std::string text;    // its first line
  };
  // The last failures, oldest first.
  const std::deque<Fault>& last_faults() const { return faults_; }

  std::uint64_t launches() const { return launches_; }
  std::uint64_t failures() const { return failures_; }
  std::size_t queued() const { return queued_; }

 private:
  using Stream = Client::Stream;
  // What launches that take about the same time have in common: the function, or the name of a network.
  using Key = std::uint64_t;

  const std::shared_ptr<Stream>& stream_of(Client& client, std::uint32_t id);
  static Key key_of(const msg::Launch& launch);
  static std::uint64_t cores_of(const msg::Launch& launch);
  static void note_active(Client& client, const std::shared_ptr<Stream>& stream);
  static void forget_active(Client& client, Stream& stream);
  static void forget_idle(Client& client);
  void make_ready(const std::shared_ptr<Client>& client, const std::shared_ptr<Stream>& stream);
  void dispatch();
  void give_turns();
  bool make_room();
  bool dispatch_one(const std::shared_ptr<Client>& client);
  void leave_line(const Client& client);
  void note_active_client(const Client& client);
  bool is_held(const Client& client);
  void dispatch_after(std::chrono::nanoseconds left);
  static msg::CoreLaunch to_core(const Client& client, msg::Call call);
  static CoreTerms terms_of(const Client& client, const Stream& stream);
  static bool is_awaited(const Stream& stream, std::uint64_t launch);
  void launch(const std::shared_ptr<Client>& client, const std::shared_ptr<Stream>& stream, Queued&& queued);
  // A launch on several cores while it runs, with the runs that are compared with it.
  struct Running {
    std::shared_ptr<Client> client;
    std::shared_ptr<Stream> stream;
    std::shared_ptr<GroupLaunch> group;
    Key key;
    Answer answer;
    std::shared_ptr<LaunchTrials> trials;  // a trial's failure is a finding, no failure of the program
  };
  void launch_group(const std::shared_ptr<Client>& client, const std::shared_ptr<Stream>& stream, Queued&& queued);
  std::shared_ptr<LaunchTrials> make_trials(const GroupLaunch& launch);
  void run_group(const std::shared_ptr<const Running>& launch, const std::shared_ptr<GroupLaunch>& group,
                 std::uint32_t order, const Answer& answer);
  void try_next(const std::shared_ptr<const Running>& launch, const std::function<void()>& answer);
  void part_ended(const std::shared_ptr<GroupLaunch>& group, std::size_t part, const Result<void>& outcome,
                  const Answer& answer);
  void await_now(Stream& stream);
  void finished(const std::shared_ptr<Client>& client, Stream& stream, Key key, const Answer& answer,
                Result<void> outcome, std::uint64_t estimated_ns);
  void cancel_stream(const std::shared_ptr<Client>& client, const std::shared_ptr<Stream>& stream);
  void note_fault(const std::string& text);
  // This failure can no longer be reported to its client: it goes to the log.
  static void log_unreported(const std::string& text);
  static void log_unreported(const Stream& stream);
  void answer_waiters(Client& client, Stream& stream);
  double& seconds_of(Key key);
  void measure(Key key);
  void wait(const std::shared_ptr<Client>& client, std::uint32_t stream, Answer answer, bool takes_failure);
  void sync_all(const std::shared_ptr<Client>& client, Answer answer);

  std::vector<std::unique_ptr<CoreLink>>& cores_;
  const Limits limits_;
  std::map<std::uint32_t, std::size_t> sent_;             // launches that each core has been given and not finished
  std::map<std::uint32_t, const Client*> first_in_line_;  // whose launch each core is given before all others'; or none
  std::span<LaunchPage> pages_;
  std::vector<std::uint32_t> free_pages_;  // counted from 1
  std::deque<std::shared_ptr<Client>> turns_;
  std::vector<std::uint32_t> full_;  // cores for which a launch has found no room, in this round
  std::uint64_t launches_ = 0, failures_ = 0, failure_order_ = 0;
  std::deque<Fault> faults_;
  std::size_t queued_ = 0;
  bool dispatching_ = false;
  const DeviceObservers* observers_ = nullptr;
  EventLoop* loop_ = nullptr;
  CrashDebt::Clock::time_point wakes_at_{};  // dispatches then, for clients that are held
  struct Activity {
    const CrashDebt* client = nullptr;
    CrashDebt::Clock::time_point time{};
  };
  Activity last_active_,
      active_before_;    // the last two clients that have launched something, each with its last launch
  bool trying_ = false;  // a launch is being repeated, and nothing else may touch the memories
  std::unordered_map<Key, double> seconds_;  // how long a launch takes, as far as is known
  double last_end_ = 0;
};

}  // namespace softtpu
