#include "device/server/queue/launch_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/transport/event_loop.hpp"

namespace softtpu {
namespace {

using Clock = std::chrono::steady_clock;

// How many launches a core is given ahead: enough that it does not wait for the server between short kernels ...
constexpr std::size_t kWindow = 256;
// ... and of long ones only the next, so that a newcomer's launch does not stand behind many ...
constexpr std::size_t kNarrowWindow = 2;
// ... or behind much.
constexpr double kAheadSeconds = 1e-3;
// One pause between launches must not count as a kernel that long.
constexpr double kMostSeconds = 2e-3;
// A client without launches for so long is not disturbed by the crash of another.
constexpr std::chrono::seconds kActive{1};
constexpr std::size_t kKeptFaults = 8;
constexpr std::size_t kMostFunctions = 10000;
constexpr std::size_t kForgottenAtOnce = 64;

std::size_t window_of(double seconds) {
  return std::clamp(static_cast<std::size_t>(kAheadSeconds / std::max(seconds, 1e-9)), kNarrowWindow, kWindow);
}

Result<void> without_bytes(const Result<Bytes>& result) { return result ? Result<void>() : result.error(); }

}  // namespace

bool LaunchQueue::Client::forget_streams() {
  active_.clear();
  for (std::size_t i = 0; i < kForgottenAtOnce && !streams_.empty(); ++i) streams_.erase(streams_.begin());
  return streams_.empty();
}

void LaunchQueue::note_active(Client& client, const std::shared_ptr<Stream>& stream) {
  if (std::exchange(stream->active, true)) return;
  stream->active_at = client.active_.size();
  client.active_.push_back(stream);
}

void LaunchQueue::forget_active(Client& client, Stream& stream) {
  if (!std::exchange(stream.active, false)) return;
  const auto last = std::move(client.active_.back());
  client.active_.pop_back();
  if (last.get() == &stream) return;
  last->active_at = stream.active_at;
  client.active_[stream.active_at] = last;
}

// What has come to its end since the last look.
void LaunchQueue::forget_idle(Client& client) {
  for (std::size_t i = client.active_.size(); i > 0; --i) {
    const auto stream = client.active_[i - 1];
    if (stream->finished == stream->submitted && !stream->failure) forget_active(client, *stream);
  }
}

const std::shared_ptr<LaunchQueue::Stream>& LaunchQueue::stream_of(Client& client, std::uint32_t id) {
  auto& stream = client.streams_[id];
  if (!stream) {
    stream = std::make_shared<Stream>();
    stream->id = id;
    stream->timeout_ms = limits_.timeout_ms;
    stream->limit_ms = limits_.limit_ms;
  }
  return stream;
}

LaunchQueue::Key LaunchQueue::key_of(const msg::Launch& launch) {
  const msg::Call& call = launch.parts.front().call;
  if (const auto* kernel = std::get_if<msg::KernelCall>(&call)) return kernel->function;
  return std::hash<std::string>()(launch.name) | Key{1} << 63;
}

// As bits.
std::uint64_t LaunchQueue::cores_of(const msg::Launch& launch) {
  std::uint64_t bits = 0;
  for (const msg::LaunchPart& part : launch.parts) bits |= 1ULL << (part.core & 63);
  return bits;
}

void LaunchQueue::submit(const std::shared_ptr<Client>& client, Queued&& queued) {
  const std::shared_ptr<Stream>& stream = stream_of(*client, queued.launch.stream);
  note_active(*client, stream);
  note_active_client(*client);
  stream->pending.push_back(std::move(queued));
  ++stream->submitted;
  ++client->queued_;
  ++queued_;
  make_ready(client, stream);
  dispatch();
}

void LaunchQueue::make_ready(const std::shared_ptr<Client>& client, const std::shared_ptr<Stream>& stream) {
  if (!stream->ready && !stream->pending.empty()) {
    stream->ready = true;
    client->ready_.push_back(stream);
  }
  if (!client->in_turn_ && !client->ready_.empty()) {
    client->in_turn_ = true;
    turns_.push_back(client);
  }
}

// Gives launches to the cores, one client after the other.
void LaunchQueue::dispatch() {
  if (dispatching_ || trying_) return;
  dispatching_ = true;
  do {
    full_.clear();
    give_turns();
  } while (make_room());
  dispatching_ = false;
}

void LaunchQueue::give_turns() {
  std::size_t idle_turns = 0;
  while (!turns_.empty() && idle_turns < turns_.size()) {
    auto client = std::move(turns_.front());
    turns_.pop_front();
    idle_turns = dispatch_one(client) ? 0 : idle_turns + 1;
    client->in_turn_ = !client->ready_.empty();
    if (client->in_turn_) turns_.push_back(std::move(client));
  }
}

// Cores without room may have more by now. Else they say so before they have nothing more to do. True: one has.
bool LaunchQueue::make_room() {
  bool has_more = false;
  for (const std::uint32_t core : full_) {
    if (cores_[core]->catch_up()) {
      has_more = true;
    } else {
      cores_[core]->request_report_at_half();
    }
  }
  return has_more && !trying_;
}

void LaunchQueue::leave_line(const Client& client) {
  for (auto& [core, first] : first_in_line_) {
    if (first == &client) first = nullptr;
  }
}

void LaunchQueue::note_active_client(const Client& client) {
  if (!client.debt_) return;
  if (last_active_.client != client.debt_.get()) active_before_ = std::exchange(last_active_, {client.debt_.get(), {}});
  last_active_.time = Clock::now();
}

// A program that is alone pays nothing: no other client waits for its cores.
void LaunchQueue::note_crash(const Client& client, std::chrono::nanoseconds cost) {
  if (!client.debt_) return;
  const Activity& other = last_active_.client != client.debt_.get() ? last_active_ : active_before_;
  const auto now = Clock::now();
  if (other.client == nullptr || now - other.time > kActive) return;
  client.debt_->add(now, cost);
}

// Whether the client waits for what its crashes have cost the others.
bool LaunchQueue::is_held(const Client& client) {
  if (!client.debt_ || loop_ == nullptr) return false;
  const auto left = client.debt_->left(Clock::now());
  if (left == left.zero()) return false;
  leave_line(client);
  dispatch_after(left);
  return true;
}

void LaunchQueue::dispatch_after(std::chrono::nanoseconds left) {
  const auto at = Clock::now() + left;
  if (wakes_at_ != Clock::time_point() && wakes_at_ <= at) return;
  wakes_at_ = at;
  // Not before the time: it would only be set again.
  loop_->after(std::chrono::ceil<std::chrono::milliseconds>(left), [this, at] {
    if (wakes_at_ == at) wakes_at_ = {};
    dispatch();
    for (const auto& core : cores_) core->flush();
  });
}

// One launch of one of the client's streams. False: no core has room for any of them.
bool LaunchQueue::dispatch_one(const std::shared_ptr<Client>& client) {
  if (is_held(*client)) return false;
  for (std::size_t i = client->ready_.size(); i > 0; --i) {
    auto stream = std::move(client->ready_.front());
    client->ready_.pop_front();
    const msg::Launch& next = stream->pending.front().launch;
    const std::uint32_t core = next.parts.front().core;
    const bool is_group = next.parts.size() > 1;
    // Two cores work at the same time: a stream's launch on another core starts when those before have finished.
    const std::uint64_t cores = cores_of(next);
    const bool in_order = (stream->sent == 0 || stream->last_cores == cores) && (!is_group || !free_pages_.empty());
    const std::size_t window = window_of(seconds_of(key_of(next)));
    // The first client whose launch finds no room at this core is the next that it serves: a client of short kernels,
    // which may send many ahead, would else take each place that becomes free.
    const Client*& first = first_in_line_[core];
    const bool in_line = first == nullptr || first == client.get();
    if (!in_order || !in_line || sent_[core] >= window + cores_[core]->withheld()) {
      if (in_order && in_line) {
        first = client.get();
        full_.push_back(core);
      }
      client->ready_.push_back(std::move(stream));
      continue;
    }
    first = nullptr;
    std::list<Queued> taken;
    taken.splice(taken.begin(), stream->pending, stream->pending.begin());
    Queued& queued = taken.front();
    stream->ready = !stream->pending.empty();
    if (stream->ready) client->ready_.push_back(stream);
    ++stream->sent;
    ++client->sent_;
    ++sent_[core];
    stream->last_core = core;
    stream->last_cores = cores;
    stream->last_group.reset();
    is_group ? launch_group(client, stream, std::move(queued)) : launch(client, stream, std::move(queued));
    return true;
  }
  return false;
}

msg::CoreLaunch LaunchQueue::to_core(const Client& client, msg::Call call) {
  msg::CoreLaunch what;
  what.client = client.findings_.client;
  what.call = std::move(call);
  return what;
}

CoreTerms LaunchQueue::terms_of(const Client& client, const Stream& stream) {
  return {&client, stream.timeout_ms, stream.limit_ms, stream.id, client.findings_.sink};
}

// Whether a sync ends with the stream's launch of this number.
bool LaunchQueue::is_awaited(const Stream& stream, std::uint64_t launch) {
  return std::ranges::any_of(stream.waiters, [launch](const auto& waiter) { return waiter.until == launch; });
}

void LaunchQueue::launch(const std::shared_ptr<Client>& client, const std::shared_ptr<Stream>& stream,
                         Queued&& queued) {
  const Key key = key_of(queued.launch);
  msg::LaunchPart& part = queued.launch.parts.front();
  msg::CoreLaunch what = to_core(*client, std::move(part.call));
  what.position.groups = static_cast<int>(queued.launch.repetitions);
  what.position.first_core = static_cast<int>(part.core);
  what.flush = queued.answer != nullptr || is_awaited(*stream, stream->finished + stream->sent);
  auto done = [this, client, stream, key, answer = std::move(queued.answer)](const Result<Bytes>& result) {
    finished(client, *stream, key, answer, without_bytes(result), cores_[stream->last_core]->estimated_ns());
  };
  stream->last_item = cores_[part.core]->launch(std::move(what), std::move(queued.launch.name),
                                                terms_of(*client, *stream), nullptr, std::move(done));
}

void LaunchQueue::launch_group(const std::shared_ptr<Client>& client, const std::shared_ptr<Stream>& stream,
                               Queued&& queued) {
  const Key key = key_of(queued.launch);
  const auto group = std::make_shared<GroupLaunch>(std::move(queued.launch.name), std::move(queued.launch.parts),
                                                   queued.launch.repetitions);
  stream->last_group = group;
  const auto running = std::make_shared<const Running>(
      Running{client, stream, group, key, std::move(queued.answer), make_trials(*group)});
  const auto done = [this, running](Result<void> outcome) {
    trying_ = false;
    if (running->stream->last_group == running->group) running->stream->last_group.reset();
    finished(running->client, *running->stream, running->key, running->answer, std::move(outcome),
             running->group->estimated_ns());
  };
  trying_ = running->trials != nullptr;
  run_group(running, group, 0, [this, running, done](Result<void> outcome) {
    if (!running->trials || !outcome) return done(std::move(outcome));
    running->trials->launch_ended();
    try_next(running, [done] { done({}); });
  });
}

// Null: not asked for, or another launch is under way, whose memory a repetition would disturb.
std::shared_ptr<LaunchTrials> LaunchQueue::make_trials(const GroupLaunch& launch) {
  if (observers_ == nullptr || !observers_->compares_runs() || observers_->clients != nullptr) return nullptr;
  std::size_t sent = 0;
  for (const auto& [core, count] : sent_) sent += count;
  if (sent > 1) {
    log_warning(fmt::format("kernel \"{}\": other launches are under way; its runs are not compared", launch.name()));
    return nullptr;
  }
  std::vector<Memories*> memories;
  for (const auto& core : cores_) memories.push_back(&core->memories());
  return std::make_shared<LaunchTrials>(*observers_, memories, launch);
}

void LaunchQueue::try_next(const std::shared_ptr<const Running>& launch, const std::function<void()>& answer) {
  const LaunchTrials::Run* const next = launch->trials->next();
  if (next == nullptr) return answer();
  run_group(launch, next->group, next->order, [this, launch, answer](const Result<void>& outcome) {
    launch->trials->ended(outcome);
    try_next(launch, answer);
  });
  for (const auto& core : cores_) core->flush();
}

// All cores get their parts at once, so that two launches never wait for each other's cores.
void LaunchQueue::run_group(const std::shared_ptr<const Running>& launch, const std::shared_ptr<GroupLaunch>& group,
                            std::uint32_t order, const Answer& answer) {
  Stream& stream = *launch->stream;
  const bool is_trial = group != launch->group;
  const std::uint32_t page = free_pages_.back();
  free_pages_.pop_back();
  const bool awaited = is_trial || launch->answer != nullptr || !stream.waiters.empty();
  group->begin(pages_[page - 1], page, awaited);
  // A trial's failure is no failure of the program.
  if (is_trial) group->set_journalled();
  const auto done = [this, group, answer](Result<void> outcome) {
    free_pages_.push_back(group->page_number());
    answer(std::move(outcome));
  };
  for (std::size_t i = 0; i < group->parts().size(); ++i) {
    const msg::LaunchPart& part = group->parts()[i];
    msg::CoreLaunch what = to_core(*launch->client, part.call);
    what.position = group->position_of(i);
    // Alone in its stream it finds all its cores through with what was before.
    what.start_barrier = stream.sent > 1;
    what.awaited = awaited;
    what.compared = is_trial;
    what.order = order;
    const std::uint64_t item = cores_[part.core]->launch(
        std::move(what), group->name(), terms_of(*launch->client, stream), group,
        [this, group, i, done](const Result<Bytes>& result) { part_ended(group, i, without_bytes(result), done); });
    if (!is_trial) stream.last_item = item;
  }
}

void LaunchQueue::part_ended(const std::shared_ptr<GroupLaunch>& group, std::size_t part, const Result<void>& outcome,
                             const Answer& answer) {
  const auto& parts = group->parts();
  const bool first = group->note_end(part, outcome, cores_[parts[part].core]->estimated_ns());
  if (group->has_ended()) {
    const Result<void> all = group->outcome();
    if (!all && !group->is_journalled()) {
      cores_[parts[part].core]->note_failure(MessageType::kCoreLaunch, group->name(), to_failure_kind(all.error().kind),
                                             all.error().text);
    }
    return answer(all);
  }
  // The others end at about the same time, and say so only when they are asked.
  if (!first) return;
  for (std::size_t i = 0; i < parts.size() && !group->has_ended(); ++i) {
    if (!group->has_ended(i)) cores_[parts[i].core]->poll();
  }
}

// The stream's last launch is waited for.
void LaunchQueue::await_now(Stream& stream) {
  const auto group = stream.last_group;
  if (!group) {
    cores_[stream.last_core]->await_now(stream.last_item);
    return;
  }
  for (std::size_t i = 0; i < group->parts().size() && !group->has_ended(); ++i) {
    if (!group->has_ended(i)) cores_[group->parts()[i].core]->poll();
  }
}

void LaunchQueue::use_pages(std::span<LaunchPage> pages) {
  pages_ = pages;
  for (std::size_t i = pages.size(); i > 0; --i) free_pages_.push_back(static_cast<std::uint32_t>(i));
}

void LaunchQueue::finished(const std::shared_ptr<Client>& client, Stream& stream, Key key, const Answer& answer,
                           Result<void> outcome, std::uint64_t estimate) {
  --stream.sent;
  --sent_[stream.last_core];
  --client->sent_;
  --client->queued_;
  --queued_;
  ++stream.finished;
  ++client->finished_;
  ++launches_;
  if (!outcome) note_fault(outcome.error().text);
  if (outcome && estimate > 0) {
    for (msg::StreamTimeReply* time : {&stream.time, &client->time_}) {
      time->last_ns = estimate;
      time->total_ns += estimate;
    }
  }
  measure(key);
  // Once a client has disconnected, other failures only reflect that and are not logged.
  const bool unreported =
      client->gone_ ? !outcome && outcome.error().kind == ErrorKind::kUsage : !answer && stream.failure;
  if (!outcome && unreported) log_unreported(outcome.error().text);
  if (answer) {
    answer(std::move(outcome));
  } else if (!outcome && (!stream.failure || stream.failed_behind) && !client->gone_) {
    stream.failed_behind = false;
    stream.failure = outcome.error();
    stream.failure_order = ++failure_order_;
  }
  answer_waiters(*client, stream);
  if (stream.closed && stream.finished == stream.submitted) {
    log_unreported(stream);
    forget_active(*client, stream);
    client->streams_.erase(stream.id);
  }
  if (client->gone_ && client->sent_ == 0 && client->on_quiet_) std::exchange(client->on_quiet_, nullptr)();
  if (client->callback_ && client->queued_ <= client->call_at_) std::exchange(client->callback_, nullptr)();
  dispatch();
  // The link that delivered this result flushes itself; dispatch() may have queued items at the others.
  if (cores_.size() > 1) {
    for (const auto& core : cores_) core->flush();
  }
}

void LaunchQueue::note_fault(const std::string& text) {
  ++failures_;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  faults_.push_back({static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count()),
                     text.substr(0, text.find('\n'))});
  if (faults_.size() > kKeptFaults) faults_.pop_front();
}

// A log of all events has the whole text already.
void LaunchQueue::log_unreported(const std::string& text) {
  log_warning("a launch failed whose result was not asked for: " +
              (is_logged(LogLevel::kInfo) ? text.substr(0, text.find('\n')) : text));
}

void LaunchQueue::log_unreported(const Stream& stream) {
  if (stream.failure) log_unreported(stream.failure->text);
}

// Unknown functions count as long: the queue widens when they have shown to be short.
double& LaunchQueue::seconds_of(Key key) {
  if (seconds_.size() > kMostFunctions) seconds_.clear();
  return seconds_.try_emplace(key, kMostSeconds).first->second;
}

// A running mean of the time from one end of a launch to the next.
void LaunchQueue::measure(Key key) {
  const double now = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  double& seconds = seconds_of(key);
  seconds += (std::min(now - last_end_, kMostSeconds) - seconds) / 8;
  last_end_ = now;
}

void LaunchQueue::answer_waiters(Client& client, Stream& stream) {
  while (!stream.waiters.empty() && stream.waiters.front().until <= stream.finished) {
    const auto waiter = std::move(stream.waiters.front());
    stream.waiters.pop_front();
    if (client.gone_) continue;
    auto failure = waiter.takes_failure ? std::exchange(stream.failure, std::nullopt) : std::nullopt;
    failure ? waiter.answer(*failure) : waiter.answer({});
  }
}

}  // namespace softtpu
