#include "device/server/queue/core_link.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/observers/device_observers.hpp"
#include "device/server/queue/core_rings.hpp"
#include "device/server/queue/group_launch.hpp"
#include "device/server/session/deferred_close.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "runtime/module/emulator.hpp"
#include "runtime/report/finding_message.hpp"
#include "runtime/transport/event_loop.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {

CoreLink::CoreLink(EventLoop& loop, Memories& memories, const DeviceObservers& observers, const Options& options)
    : loop_(loop),
      observers_(observers),
      child_(loop, memories, observers, options),
      watchdog_(loop, [this] { check_progress(); }),
      explanations_(loop, memories, observers, [this] { flush(); }) {}

CoreLink::~CoreLink() {
  if (socket_) loop_.unwatch(socket_.get());
}

Result<void> CoreLink::start() {
  auto socket = child_.start(last_number_, [this] { when_ended(); });
  if (!socket) return socket.error();
  socket_ = std::move(*socket);
  in_ = FrameBuffer();
  out_.clear();
  loop_.watch(socket_.get());
  loop_.when_readable(socket_.get(), [this] { when_readable(); });
  return {};
}

template <class Message>
CoreItem& CoreLink::add(const Message& message, std::string name, const Terms& terms, CoreItem::Answer answer) {
  CoreItem& item = items_.emplace_back();
  item.number = ++last_number_;
  item.type = Message::kType;
  item.name = std::move(name);
  item.terms = terms;
  item.answer = std::move(answer);
  append_frame(item.frame, item.number, message, Message::kType == MessageType::kCoreLoad ? 1 : 0);
  return item;
}

void CoreLink::send(CoreItem& item) {
  if (broken_) {
    // Not at once: the caller does not expect its answer during the call.
    loop_.soon([this] {
      while (broken_ && !items_.empty()) finish(Error{ErrorKind::kResource, *broken_});
      deliver();
    });
    return;
  }
  if (by_ring(item)) {
    // It is there.
  } else if (item.image) {
    // Without room for a second descriptor the core gets the only one, and a core that follows it has to do without the
    // module.
    UniqueFd copy = item.image.duplicate();
    std::vector<UniqueFd> fds;
    fds.push_back(copy ? std::move(copy) : std::move(item.image));
    if (is_for_emulated_processor(fds.front().get())) add_memories(fds);
    wire::put_header(item.frame.data(), item.frame.size() - kFrameHeaderBytes, item.type,
                     static_cast<std::uint16_t>(fds.size()), item.number);
    out_.push_frame_with_fds(item.frame, std::move(fds));
  } else {
    out_.push_frame(item.frame);
  }
  loop_.has_woken();
  watchdog_.begin();
}

// A module's process beside the core has memory of its own, and gets the device's by its files. Without room for their
// descriptors the core reports an error.
void CoreLink::add_memories(std::vector<UniqueFd>& fds) const {
  const std::vector<int> all = child_.memories().fds();
  for (const std::size_t reached : {0U, 1U, 3U}) {  // global, L2 and local memory: those that kernels have pointers to
    UniqueFd copy(::fcntl(all[reached], F_DUPFD_CLOEXEC, 0));
    if (!copy) return fds.resize(1);
    fds.push_back(std::move(copy));
  }
}

// Whether the core finds the item in its ring; else it has to go through the socket.
bool CoreLink::by_ring(const CoreItem& item) {
  CoreRings* const rings = child_.rings();
  if (rings == nullptr) return false;
  const CoreStatus& status = child_.status();
  if (!item.image && !status.listens && rings->put(child_.index(), item.frame, status.ring_taken)) return true;
  rings->note_by_socket(child_.index());
  return false;
}

void CoreLink::load(std::uint32_t module, const std::string& name, UniqueFd image, const Terms& terms, Loaded answer) {
  // A program that loads its module first would never come to a launch.
  if (broken_) start_again();
  auto done = [this, module, name, answer = std::move(answer)](Result<Bytes> result) {
    if (!result) {
      modules_.forget(module);
      return answer(result.error());
    }
    auto reply = find_message<msg::CoreLoadReply>(*result);
    if (!reply) return answer(Error{ErrorKind::kInternal, "a core's answer to a load is damaged"});
    answer(std::move(reply->kernels));
  };
  // Known from the start: a core that dies before it comes to this item gets it again with the items.
  CoreItem& item = add(msg::CoreLoad{module, name}, name, terms, std::move(done));
  item.module = module;
  item.image = std::move(image);
  send(item);
}

void CoreLink::unload(std::uint32_t module, const Terms& terms, Answered answer) {
  std::string name = std::to_string(module);
  std::shared_ptr<UniqueFd> image;  // longer than the core has it
  if (auto known = modules_.take(module)) {
    name = std::move(known->name);
    if (!child_.is_thread()) image = deferred_close(std::move(known->image));
  }
  // Once more at the end: a load that is under way now, a new core's for example, enters the module again.
  auto done = [this, module, image = std::move(image), answer = std::move(answer)](const Result<Bytes>& result) {
    modules_.forget(module);
    if (!result) return answer(result.error());
    answer({});
  };
  send(add(msg::CoreUnload{module}, std::move(name), terms, std::move(done)));
}

void CoreLink::define(std::uint32_t function, std::uint32_t module, const std::string& name, const Terms& terms,
                      Answered answer) {
  restore(module);
  add_definition(function, module, name, terms, false, std::move(answer));
}

void CoreLink::add_definition(std::uint32_t function, std::uint32_t module, const std::string& name, const Terms& terms,
                              bool restores, Answered answer) {
  auto done = [answer = std::move(answer)](const Result<Bytes>& result) {
    if (!result) return answer(result.error());
    answer({});
  };
  CoreItem& item = add(msg::CoreDefine{function, module, name}, name, terms, std::move(done));
  item.module = module;
  item.restores = restores;
  send(item);
}

// Tries to start a core again that lacked descriptors or memory.
void CoreLink::start_again() {
  if (child_.is_thread() || !items_.empty() || !start()) return;
  broken_.reset();
  log_info(fmt::format("core {} works again", child_.index()));
}

std::uint64_t CoreLink::launch(msg::CoreLaunch&& what, std::string name, const Terms& terms,
                               std::shared_ptr<GroupLaunch> group, CoreItem::Answer answer) {
  if (broken_) start_again();
  const auto* const kernel = std::get_if<msg::KernelCall>(&what.call);
  const std::uint32_t function = kernel != nullptr ? kernel->function : 0;
  if (!modules_.are_all_there()) {
    if (const auto module = modules_.module_of(function)) restore(*module);
  }
  // Behind other items it ends too late for a look.
  const bool watched = what.flush && items_.empty() && wait_.is_worth_it();
  what.flush = what.flush && !watched;
  CoreItem& item = add(what, std::move(name), terms, std::move(answer));
  if (watched) child_.status().watched_through = watched_ = item.number;
  item.group = std::move(group);
  item.workitem = static_cast<std::size_t>(what.position.workitem);
  item.function = function;
  const std::uint64_t number = item.number;
  send(item);
  return number;
}

// Requests an immediate report. The item may already be complete, so the caller must check `completed` afterwards.
void CoreLink::await(std::uint64_t item) {
  std::atomic<std::uint64_t>& place = child_.status().awaited[item % kEstimates];
  const std::uint64_t before = place.load();
  if (before > completed_items() && before != item) {
    // Another one is waited for at the same place.
    child_.status().flush_through = last_number_;
  } else {
    place = item;
  }
}

bool CoreLink::await_now(std::uint64_t item) {
  await(item);
  return completed_items() >= item && catch_up();
}

bool CoreLink::catch_up() {
  const std::uint64_t completed = completed_items();
  if (items_.empty() || completed < items_.front().number) return false;
  // What fails says so before it counts as completed.
  const CoreProgress* known = child_.progress();
  const bool has_more = known == nullptr || known->reported > seen_reported_;
  const bool goes_on = !has_more || receive_all();
  if (goes_on) finish_through(completed);
  deliver();
  return goes_on;
}

void CoreLink::poll() {
  child_.status().flush_through = last_number_;
  catch_up();
}

void CoreLink::request_report_at_half() {
  if (items_.empty() || half_ >= items_.front().number) return;
  half_ = items_.back().number - items_.size() / 2;
  await(half_);
  if (completed_items() >= half_)
    loop_.soon([this] {
      if (catch_up()) flush();
    });
}

bool CoreLink::watch_launch() {
  const std::uint64_t item = std::exchange(watched_, 0);
  if (item == 0 || items_.empty()) return false;
  return wait_.look([&] { return completed_items() >= item; }) ? catch_up() : await_now(item);
}

void CoreLink::abandon(const void* owner) {
  bool running = false;
  for (CoreItem& item : items_) {
    if (item.terms.owner != owner) continue;
    item.dropped = true;
    running = running || item.number == child_.status().progress.running;
  }
  if (running && pid() > 0) child_.kill({ErrorKind::kConnection, "its program has gone away"});
}

// What runs is ended by check_progress(), as if its time were over.
void CoreLink::cancel(const void* owner, std::uint32_t stream) {
  for (CoreItem& item : items_) {
    if (item.terms.owner == owner && (stream == 0 || item.terms.stream == stream)) item.cancelled = true;
  }
}

void CoreLink::flush() {
  for (;;) {
    push();
    if (child_.rings() != nullptr) child_.rings()->ring();
    // A launch that should have been looked for. Answers may lead to more launches.
    if (watched_ == 0 || !await_now(std::exchange(watched_, 0))) return;
  }
}

void CoreLink::push() {
  // The core may have gone to sleep. Either it saw the item first, or `listens` is seen here and it is woken.
  const bool pushed = child_.rings() != nullptr && child_.rings()->push(child_.index());
  if (pushed && child_.status().listens) out_.push(0, msg::CoreWakeup{});
  if (broken_ || flushing_ || out_.empty()) return;
  const auto sent = out_.flush(socket_.get());
  // A failed send means a core that has ended; its end is reported separately.
  if (!sent || *sent) return;
  flushing_ = true;
  loop_.when_writable(socket_.get(), [this] {
    flushing_ = false;
    flush();
  });
}

void CoreLink::when_readable() {
  const bool goes_on = receive_all();
  deliver();
  if (!goes_on) return;  // the end of the process is reported separately
  flush();
  loop_.when_readable(socket_.get(), [this] { when_readable(); });
}

// Takes everything that has arrived. False: nothing more will. Afterwards the caller delivers the answers: one of them
// may read what is completed, or restart this core, which must not happen between two messages.
bool CoreLink::receive_all() {
  for (;;) {
    auto received = receive(socket_.get(), in_, false);
    if (!received || *received == Received::kEnd) return false;
    if (*received == Received::kNothing) break;
    while (in_.has_frame()) {
      auto frame = in_.next();
      if (!frame) {
        end_misbehaving(frame.error().text);
        return false;
      }
      if (const std::uint64_t number = (*frame)->request; number == 0 || number > last_number_) {
        end_misbehaving(fmt::format("a report about item {}, where {} is the last", number, last_number_));
        return false;
      }
      on_frame(**frame);
    }
  }
  return true;
}

// A kernel has damaged its core, or has found its socket: what comes from there means nothing any more.
void CoreLink::end_misbehaving(const std::string& why) {
  const std::string text = fmt::format("sent a message that no core may send ({})", why);
  if (child_.is_thread()) return break_link(text);
  child_.kill({ErrorKind::kUsage, text + " and was ended"});
}

void CoreLink::on_frame(Frame& frame) {
  // A finding comes before the end of its launch: that is still to be looked for.
  if (!is_about_findings(frame.type)) seen_reported_ = std::max(seen_reported_, frame.request);
  // A core works in order: an answer to one item says that those before it succeeded.
  finish_through(frame.type == MessageType::kCoreDone ? frame.request : frame.request - 1);
  if (frame.type == MessageType::kCoreDone || items_.empty() || items_.front().number != frame.request) return;
  if (on_finding(frame)) return;
  if (frame.type == MessageType::kFailure) {
    const auto failure = find_message<msg::Failure>(frame.payload);
    return finish(failure ? Error{failure->kind, failure->text}
                          : Error{ErrorKind::kInternal, "a core's failure message is damaged"});
  }
  finish(Bytes(frame.payload.begin(), frame.payload.end()));
}

// What the check of a launch has found, for the client that it belongs to. False: the message is about something else.
bool CoreLink::on_finding(const Frame& frame) {
  const MessageType type = frame.type;
  const std::span<const std::uint8_t> payload = frame.payload;
  if (!is_about_findings(type)) return false;
  FindingSink* sink = items_.front().terms.findings.get();
  if (sink == nullptr) return true;
  // Each process of a core counts its findings anew.
  const auto own_id = [this](std::uint64_t id) { return (static_cast<std::uint64_t>(pid()) << 32) + id; };
  if (const auto note = find_message<msg::FindingNote>(payload); type == MessageType::kFindingNote && note) {
    if (const auto found = to_limited(note->finding)) {
      note->left_out ? sink->add_left_out(*found) : sink->add(*found, own_id(note->id));
    }
  } else if (const auto again = find_message<msg::FindingCount>(payload); type == MessageType::kFindingCount && again) {
    const auto now = find_latest(*again);
    sink->add_count(own_id(again->id), again->count, now ? &*now : nullptr);
  } else if (const auto allowed = find_message<msg::AllowedNote>(payload);
             type == MessageType::kAllowedNote && allowed) {
    sink->add(AllowedRecord{to_printable(allowed->rule, 64), to_printable(allowed->kernel, 256), allowed->count});
  }
  return true;
}

// What is finished, by the status page. A kernel may have written there: a number that cannot be true counts as none.
std::uint64_t CoreLink::completed_items() const {
  const CoreProgress* known = child_.progress();
  if (known == nullptr) return 0;
  const std::uint64_t completed = known->completed;
  return completed <= last_number_ ? completed : 0;
}

void CoreLink::finish_through(std::uint64_t number) {
  while (!items_.empty() && items_.front().number <= number) finish(Bytes());
}

// The oldest item has ended. Its answer waits for deliver().
void CoreLink::finish(Result<Bytes> result) {
  CoreItem item = std::move(items_.front());
  items_.pop_front();
  child_.note_work();
  // At once: the answer may have to wait for an explanation, and another core may be needed before.
  if (result) modules_.note_success(item);
  // Records whether the module is loaded, before the items that need it.
  if (item.restores) return item.answer(std::move(result));
  if (!result && item.type == MessageType::kCoreLaunch) result = explain_absence(item, result.error());
  if (!result && !item.group)
    note_failure(item.type, item.name, to_failure_kind(result.error().kind), result.error().text);
  const bool timed = result && item.type == MessageType::kCoreLaunch;
  const std::uint64_t estimated_ns = timed ? child_.status().estimated_ns[item.number % kEstimates].load() : 0;
  answers_.push_back({item.terms.owner, estimated_ns, std::move(item.answer), std::move(result)});
}

// Gives the answers of all items that have ended, in order. An answer may lead to more of them, which are given during
// the call as well.
void CoreLink::deliver() {
  while (!answers_.empty()) {
    Ended ended = std::move(answers_.front());
    answers_.pop_front();
    if (explanations_.empty()) {
      estimated_ns_ = ended.estimated_ns;
      ended.answer(std::move(ended.result));
      continue;
    }
    const auto owner = ended.owner;
    explanations_.deliver(owner, [this, ended = std::move(ended)] {
      estimated_ns_ = ended.estimated_ns;
      ended.answer(ended.result);
    });
  }
}

// A launch that failed because its module could not be loaded again says why.
Error CoreLink::explain_absence(const CoreItem& item, const Error& error) {
  const auto id = modules_.module_of(item.function);
  const CoreModules::Module* const module = id ? modules_.find_absent(*id) : nullptr;
  if (module == nullptr) return error;
  return {ErrorKind::kResource,
          fmt::format("{} on core {} was not launched: kernel module {} could not be loaded again after the core had "
                      "ended ({}). The next launch tries it once more.",
                      what_text(item), child_.index(), module->name, module->problem)};
}

// For `softtpu run`, whose exit status says why launches failed.
void CoreLink::note_failure(MessageType type, const std::string& name, FailureKind kind, const std::string& text) {
  if (observers_.journal == nullptr || type == MessageType::kCoreDefine) return;
  observers_.journal->add(FailureRecord{kind, type == MessageType::kCoreLaunch ? name : "", text});
}

// Gives the present process a module that an earlier one had, with its functions.
void CoreLink::restore(std::uint32_t id) {
  CoreModules::Module* const module = modules_.find_absent(id);
  if (module == nullptr) return;
  modules_.note_restored(*module);
  UniqueFd image = module->image.duplicate();
  if (!image) {
    const char* const why = module->image ? "there was no descriptor for its file" : "its file could not be kept";
    return modules_.note_failure(id, why, false);
  }
  auto done = [this, id](const Result<Bytes>& loaded) {
    if (loaded) return;
    log_error(fmt::format("core {}: after its restart: {}", child_.index(), loaded.error().text));
    modules_.note_failure(id, loaded.error().text, false);
  };
  CoreItem& item = add(msg::CoreLoad{id, module->name}, module->name, module->terms, std::move(done));
  item.module = id;
  item.image = std::move(image);
  item.restores = true;
  send(item);
  for (const auto& [function, name] : module->functions)
    add_definition(function, id, name, module->terms, true, [](const Result<void>&) {});
}

// Before an item of an earlier process is sent again. A module whose loading has ended several processes is left to the
// next launch, so that the item ends.
void CoreLink::restore_for(const CoreItem& item) {
  const bool is_definition = item.type == MessageType::kCoreDefine;
  if (!is_definition && item.type != MessageType::kCoreLaunch) return;
  const std::optional<std::uint32_t> id = is_definition ? item.module : modules_.module_of(item.function);
  const CoreModules::Module* const module = id ? modules_.find_absent(*id) : nullptr;
  if (module != nullptr && module->deaths < CoreModules::kMostDeaths) restore(*id);
}

// In the sandbox a core can load nothing: it is replaced by one that has all modules.
void CoreLink::restore_all() {
  for (const std::uint32_t id : modules_.absent()) {
    const CoreModules::Module* const module = modules_.find_absent(id);
    if (module != nullptr && module->deaths < CoreModules::kMostDeaths) restore(id);
  }
}

}  // namespace softtpu
