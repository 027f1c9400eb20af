#include "device/server/core_link.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "device/server/closing.hpp"
#include "device/server/crash_folder.hpp"
#include "device/server/fault_handler.hpp"
#include "device/server/group_launch.hpp"
#include "device/server/postmortem.hpp"
#include "device/server/program_core.hpp"
#include "device/server/sanitizer_output.hpp"
#include "device/tools/tools.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/report/finding_message.hpp"
#include "runtime/transport/event_loop.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr std::uint32_t kProgressStepMs = 100;
// So long a kernel that does nothing is left alone, before anybody looks whether it ever can do anything again.
constexpr std::uint64_t kSleepMs = 1000;
// A kernel that has made no call for so long after another core of its launch has failed is ended.
constexpr std::uint64_t kTellMs = 100;
constexpr int kMaxIdleDeaths = 3;
// Crashes that wait for their explanation; those beyond are reported without one.
constexpr std::size_t kMostExplanations = 16;
// A core that does not react to the look signal within this time is ended without a look.
constexpr std::chrono::milliseconds kLookTime{100};

std::string what_text(MessageType type, const std::string& name) {
  switch (type) {
    case MessageType::kCoreLaunch: return "kernel \"" + name + "\"";
    case MessageType::kCoreLoad: return "loading kernel module " + name;
    case MessageType::kCoreUnload: return "unloading kernel module " + name;
    default: return "looking up function \"" + name + "\"";
  }
}

}  // namespace

CoreLink::CoreLink(EventLoop& loop, Memories& memories, const Tools& tools, const Options& options)
    : loop_(loop),
      memories_(memories),
      tools_(tools),
      index_(options.index),
      in_process_(options.in_process),
      sandbox_(options.sandbox && !options.in_process),
      own_namespace_(options.own_namespace),
      dump_folder_(options.dump_folder),
      launches_(options.launches) {}

CoreLink::~CoreLink() {
  if (socket_) loop_.unwatch(socket_.get());
  if (process_.ended() >= 0) loop_.unwatch(process_.ended());
  // A core thread may still use the page; only a process's page can go.
  if (in_process_) static_cast<void>(new StatusPages(std::move(pages_)));
}

Result<void> CoreLink::start() {
  if (pages_.status == nullptr) {
    auto pages = StatusPages::create();
    if (!pages) return pages.error();
    pages_ = std::move(*pages);
  }
  forget_fault(*pages_.status, *pages_.spare);
  if (!reports_) reports_ = make_report_file();
  forget_sanitizer_reports(reports_.get());
  pages_.status->progress.completed = pages_.spare->completed = last_number_;
  auto pair = make_socket_pair();
  if (!pair) return pair.error();
  CoreSetup setup{memories_, index_, *pages_.status, *pages_.spare, tools_, in_process_, sandbox_};
  setup.own_namespace = own_namespace_;
  setup.launches = launches_;
  if (!in_process_) setup.report_file = reports_.get();
  if (in_process_) {
    if (auto started = start_core_thread(setup, std::move(pair->second)); !started) return started.error();
  } else {
    auto process = CoreProcess::start(setup, std::move(pair->second));
    if (!process) return process.error();
    process_ = *std::move(process);
    loop_.watch(process_.ended());
    loop_.when_readable(process_.ended(), [this] { when_ended(); });
  }
  socket_ = std::move(pair->first);
  in_ = FrameBuffer();
  out_.clear();
  loop_.watch(socket_.get());
  loop_.when_readable(socket_.get(), [this] { when_readable(); });
  return {};
}

template <class Message>
CoreLink::Item& CoreLink::add(const Message& message, std::string name, const Terms& terms,
                              std::function<void(Result<Bytes>)> answer) {
  Item& item = items_.emplace_back();
  item.number = ++last_number_;
  item.type = Message::kType;
  item.name = std::move(name);
  item.terms = terms;
  item.answer = std::move(answer);
  append_frame(item.frame, item.number, message, Message::kType == MessageType::kCoreLoad ? 1 : 0);
  return item;
}

void CoreLink::send(Item& item) {
  if (broken_) {
    // Not at once: the caller does not expect its answer during the call.
    loop_.soon([this] {
      while (broken_ && !items_.empty()) finish(Error{ErrorKind::kResource, *broken_});
    });
    return;
  }
  if (item.image) {
    // Without room for a second descriptor the core gets the only one, and a core that follows it has to do without the
    // module.
    UniqueFd copy = item.image.duplicate();
    out_.push_frame_with_fd(item.frame, copy ? std::move(copy) : std::move(item.image));
  } else {
    out_.push_frame(item.frame);
  }
  loop_.has_woken();
  watch_progress();
}

void CoreLink::load(std::uint32_t module, const std::string& name, UniqueFd image, const Terms& terms, Loaded answer) {
  auto done = [this, module, name, answer = std::move(answer)](Result<Bytes> result) {
    if (!result) {
      modules_.erase(module);
      return answer(result.error());
    }
    auto reply = find_message<CoreLoadReply>(*result);
    if (!reply) return answer(Error{ErrorKind::kInternal, "a core's answer to a load is damaged"});
    answer(std::move(reply->kernels));
  };
  // Known from the start: a core that dies before it comes to this item gets it again with the items.
  Item& item = add(CoreLoad{module, name}, name, terms, std::move(done));
  item.image = std::move(image);
  send(item);
}

void CoreLink::unload(std::uint32_t module, const Terms& terms, Answered answer) {
  std::string name = std::to_string(module);
  std::shared_ptr<UniqueFd> image;  // longer than the core has it
  if (auto known = modules_.extract(module)) {
    name = std::move(known.mapped().name);
    if (!in_process_) image = closed_aside(std::move(known.mapped().image));
  }
  // Once more at the end: a load that is under way now, a new core's for example, enters the module again.
  auto done = [this, module, image = std::move(image), answer = std::move(answer)](const Result<Bytes>& result) {
    modules_.erase(module);
    if (!result) return answer(result.error());
    answer({});
  };
  send(add(CoreUnload{module}, std::move(name), terms, std::move(done)));
}

void CoreLink::define(std::uint32_t function, std::uint32_t module, const std::string& name, const Terms& terms,
                      Answered answer) {
  auto done = [answer = std::move(answer)](const Result<Bytes>& result) {
    if (!result) return answer(result.error());
    answer({});
  };
  send(add(CoreDefine{function, module, name}, name, terms, std::move(done)));
}

// A core that could not be started, for want of descriptors or memory, may start now.
void CoreLink::start_again() {
  if (in_process_ || !items_.empty() || !start()) return;
  broken_.reset();
  log_info(fmt::format("core {} works again", index_));
  replay_modules();
}

std::uint64_t CoreLink::launch(const Launch& what) {
  if (broken_) start_again();
  auto done = [answer = what.answer](const Result<Bytes>& result) {
    if (!result) return answer(result.error());
    answer({});
  };
  // Behind other items it ends too late for a look.
  const bool watched = what.flush && items_.empty() && wait_.is_worth_it();
  Item& item = add(CoreLaunch{what.function, what.flush && !watched, what.client, what.place, *what.args}, what.kernel,
                   what.terms, std::move(done));
  if (watched) pages_.status->watched_through = watched_ = item.number;
  item.findings = what.findings;
  item.group = what.group;
  item.workitem = what.place.workitem;
  item.stream = what.stream;
  const std::uint64_t number = item.number;
  send(item);
  return number;
}

void CoreLink::hurry(std::uint64_t item) {
  if (pages_.status->flush_through < item) pages_.status->flush_through = item;
  // The core may have finished it just before, without a word; what fails says so first (CoreRunner::work), so the
  // messages are read after this.
  const std::uint64_t completed = completed_items();
  if (completed >= item && receive_all()) finish_through(completed);
}

void CoreLink::collect() {
  pages_.status->flush_through = last_number_;
  const std::uint64_t completed = completed_items();
  if (items_.empty() || completed < items_.front().number) return;
  // What fails says so before it counts as completed.
  const CoreProgress* known = progress();
  if ((known == nullptr || known->reported > seen_reported_) && !receive_all()) return;
  finish_through(completed);
}

void CoreLink::watch_launch() {
  const std::uint64_t item = std::exchange(watched_, 0);
  if (item == 0 || items_.empty()) return;
  if (!wait_.look([&] { return completed_items() >= item; })) return hurry(item);
  const CoreProgress* known = progress();
  if ((known == nullptr || known->reported > seen_reported_) && !receive_all()) return;
  finish_through(item);
}

void CoreLink::abandon(const void* owner) {
  bool running = false;
  for (Item& item : items_) {
    if (item.terms.owner != owner) continue;
    item.dropped = true;
    running = running || item.number == pages_.status->progress.running;
  }
  if (!running || pid() <= 0) return;
  end_reason_ = Error{ErrorKind::kConnection, "its program has gone away"};
  process_.signal(SIGKILL);
}

// What runs is ended by check_progress(), as if its time were over.
void CoreLink::cancel(const void* owner, std::uint32_t stream) {
  for (Item& item : items_) {
    if (item.terms.owner == owner && (stream == 0 || item.stream == stream)) item.cancelled = true;
  }
}

void CoreLink::flush() {
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
  if (!receive_all()) return;  // the end of the process is reported separately
  flush();
  loop_.when_readable(socket_.get(), [this] { when_readable(); });
}

// Takes everything that has arrived. False: nothing more will.
bool CoreLink::receive_all() {
  for (;;) {
    auto received = receive(socket_.get(), in_, false);
    if (!received || *received == Received::kEnd) return false;
    if (*received == Received::kNothing) return true;
    while (in_.has_frame()) {
      auto frame = in_.next();
      if (!frame) {
        distrust(frame.error().text);
        return false;
      }
      if (const std::uint64_t number = (*frame)->request; number == 0 || number > last_number_) {
        distrust(fmt::format("a report about item {}, where {} is the last", number, last_number_));
        return false;
      }
      on_frame(**frame);
    }
  }
}

// A kernel has damaged its core, or has found its socket: what comes from there means nothing any more.
void CoreLink::distrust(const std::string& why) {
  const std::string text = fmt::format("sent the device what no core sends ({})", why);
  if (in_process_) return break_link(text);
  end_reason_ = Error{ErrorKind::kUsage, text + " and was ended"};
  process_.signal(SIGKILL);
}

void CoreLink::on_frame(Frame& frame) {
  // Answers may lead back to receive_all(), which moves the bytes that the payload lies in.
  const Bytes payload(frame.payload.begin(), frame.payload.end());
  // A finding comes before the end of its launch: that is still to be looked for.
  if (!is_about_findings(frame.type)) seen_reported_ = std::max(seen_reported_, frame.request);
  // A core works in order: an answer to one item says that those before it succeeded.
  finish_through(frame.type == MessageType::kCoreDone ? frame.request : frame.request - 1);
  if (frame.type == MessageType::kCoreDone || items_.empty() || items_.front().number != frame.request) return;
  if (on_finding(frame.type, payload)) return;
  if (frame.type == MessageType::kFailure) {
    const auto failure = find_message<Failure>(payload);
    return finish(failure ? Error{failure->kind, failure->text}
                          : Error{ErrorKind::kInternal, "a core's failure message is damaged"});
  }
  finish(payload);
}

// What the check of a launch has found, for the client that it belongs to. False: the message is about something else.
bool CoreLink::on_finding(MessageType type, const Bytes& payload) {
  if (!is_about_findings(type)) return false;
  FindingSink* sink = items_.front().findings.get();
  if (sink == nullptr) return true;
  // Each process of a core counts its findings anew.
  const auto own_id = [this](std::uint64_t id) { return (static_cast<std::uint64_t>(pid()) << 32) + id; };
  if (const auto note = find_message<FindingNote>(payload); type == MessageType::kFindingNote && note) {
    if (const auto found = find_found(*note)) {
      note->left_out ? sink->add_left_out(*found) : sink->add(*found, own_id(note->id));
    }
  } else if (const auto again = find_message<FindingCount>(payload); type == MessageType::kFindingCount && again) {
    sink->add_count(own_id(again->id), again->count);
  } else if (const auto allowed = find_message<AllowedNote>(payload); type == MessageType::kAllowedNote && allowed) {
    sink->add(AllowedRecord{to_printable(allowed->rule, 64), to_printable(allowed->kernel, 256), allowed->count});
  }
  return true;
}

const CoreProgress* CoreLink::progress() const {
  if (pages_.status->progress.is_whole()) return &pages_.status->progress;
  return pages_.spare->is_whole() ? pages_.spare : nullptr;
}

// What the status page says is finished. A kernel may have written there, so it is believed only where it can be true.
std::uint64_t CoreLink::completed_items() const {
  const CoreProgress* known = progress();
  if (known == nullptr) return 0;
  const std::uint64_t completed = known->completed;
  return completed <= last_number_ ? completed : 0;
}

void CoreLink::finish_through(std::uint64_t number) {
  while (!items_.empty() && items_.front().number <= number) finish(Bytes());
}

void CoreLink::finish(Result<Bytes> result) {
  Item item = std::move(items_.front());
  items_.pop_front();
  idle_deaths_ = 0;
  woken_ = false;
  if (result && item.type == MessageType::kCoreLoad) {
    if (auto load = find_message<CoreLoad>(std::span(item.frame).subspan(kFrameHeaderBytes))) {
      Module& module = modules_[load->module];
      module.name = load->name;
      module.image = std::move(item.image);
      module.terms = item.terms;
    }
  }
  // At once: the answer may have to wait for an explanation, and another core may be needed before.
  if (result && item.type == MessageType::kCoreDefine) {
    const auto define = find_message<CoreDefine>(std::span(item.frame).subspan(kFrameHeaderBytes));
    const auto module = define ? modules_.find(define->module) : modules_.end();
    // The module may have been unloaded since.
    if (module != modules_.end()) module->second.functions[define->function] = define->name;
  }
  if (!result && !item.group)
    note_failure(item.type, item.name, to_failure_kind(result.error().kind), result.error().text);
  const bool timed = result && item.type == MessageType::kCoreLaunch;
  const std::uint64_t estimated_ns = timed ? pages_.status->estimated_ns[item.number % kEstimates].load() : 0;
  estimated_ns_ = estimated_ns;
  if (explanations_.empty()) return item.answer(std::move(result));
  deliver(item.terms.owner, last_explanation_,
          [this, estimated_ns, answer = std::move(item.answer), result = std::move(result)] {
            estimated_ns_ = estimated_ns;
            answer(result);
          });
}

// For `softtpu run`, whose exit status says why launches failed.
void CoreLink::note_failure(MessageType type, const std::string& name, FailureKind kind, const std::string& text) {
  if (tools_.journal == nullptr || type == MessageType::kCoreDefine) return;
  tools_.journal->add(FailureRecord{kind, type == MessageType::kCoreLaunch ? name : "", text});
}

// ---- A core that ends or hangs ----

void CoreLink::when_ended() {
  receive_all();
  loop_.unwatch(process_.ended());
  const int status = process_.finish();
  asks_for_another_ =
      WIFEXITED(status) && WEXITSTATUS(status) == kReplaceStatus && pages_.status->progress.running == 0;
  restart(to_exit_text(status));
}

// The failure of the item that the core was working on, which is the first one left; nullopt when it was working on
// none.
std::optional<CoreLink::Victim> CoreLink::take_victim(const std::string& how_it_ended) {
  finish_through(completed_items());
  if (asks_for_another_) return std::nullopt;
  const CoreProgress* known = progress();
  const std::uint64_t running = known != nullptr ? known->running.load() : 0;
  const bool blamed =
      !items_.empty() && (items_.front().number == running || known == nullptr || ++idle_deaths_ >= kMaxIdleDeaths);
  if (!blamed) return std::nullopt;
  Postmortem found = examine(*pages_.status, memories_, how_it_ended);
  SanitizerReport said = find_sanitizer_report(reports_.get(), pages_.status->fault.signal != 0);
  if (!said.cause.empty()) found.cause = said.cause;
  const Item& item = items_.front();
  std::string text =
      fmt::format("{} on core {} {}, after {} command{}.", what_text(item.type, item.name), index_,
                  end_reason_ ? end_reason_->text : found.cause, found.commands, found.commands == 1 ? "" : "s");
  return Victim{std::move(text), end_reason_ ? end_reason_->kind : ErrorKind::kUsage, std::move(found.question),
                std::move(said.text)};
}

void CoreLink::restart(const std::string& how_it_ended) {
  auto victim = take_victim(how_it_ended);
  end_reason_.reset();
  if (!victim && !asks_for_another_)
    log_warning(fmt::format("core {} {} while it had nothing to do.", index_, how_it_ended));
  loop_.unwatch(socket_.get());
  socket_.reset();
  flushing_ = false;
  ++restarts_;

  std::deque<Item> unfinished = std::move(items_);
  items_.clear();
  std::optional<Item> failed;
  if (victim) {
    failed = std::move(unfinished.front());
    unfinished.pop_front();
  }
  if (failed && failed->group) failed->group->tell_failure(failed->workitem);
  if (failed && failed->type == MessageType::kCoreLaunch) renew_memories();
  // Before the new core starts, so that it does not have the old one's pages.
  if (failed) report(*std::move(failed), *victim);
  if (auto started = start(); !started) {
    broken_ = fmt::format("core {} cannot be started again: {}", index_, started.error().text);
    log_error(*broken_);
  } else {
    replay_modules();
  }
  std::vector<Item> dropped;
  for (Item& item : unfinished) {
    if (item.dropped || item.cancelled) {
      dropped.push_back(std::move(item));
      continue;
    }
    item.number = ++last_number_;
    wire::put_header(item.frame.data(), item.frame.size() - kFrameHeaderBytes, item.type, item.image ? 1 : 0,
                     item.number);
    items_.push_back(std::move(item));
    send(items_.back());
  }
  for (Item& item : dropped) {
    if (item.dropped) {
      item.answer(Error{ErrorKind::kConnection, "its program has gone away"});
    } else {
      const std::string text =
          what_text(item.type, item.name) + " was not launched, because its program was interrupted.";
      deliver(item.terms.owner, last_explanation_, [answer = item.answer, text] {
        answer(Error{ErrorKind::kTimeout, text});
      });
    }
  }
  flush();
}

// The next launch finds clean memories on the chip; those of this one stay readable for "softtpu dump". What cores
// share goes on as it is.
void CoreLink::renew_memories() {
  if (!dump_folder_.empty()) {
    if (auto kept = keep_memories(memories_.fds(), dump_folder_); !kept) log_warning(kept.error().text);
  }
  if (auto renewed = memories_.renew_on_chip(); !renewed) {
    log_warning(
        fmt::format("core {} starts with the local memory of the one that ended: {}", index_, renewed.error().text));
  }
}

// What a process needs to explain the end of the core; nullopt: there is nothing to explain, or not enough descriptors
// and memory for that. The pages go with it, and the new core gets others.
std::optional<Explainer::Remains> CoreLink::take_remains(const CoreExplain& question) {
  if (question.commands == 0 && question.calls.empty()) return std::nullopt;
  Explainer::Remains remains{{}, {}, question};
  for (const CodePlace& place : question.calls) {
    const auto module = modules_.find(place.module);
    const auto is_same = [&](const Explainer::Module& m) { return m.id == place.module; };
    if (module == modules_.end() || std::any_of(remains.modules.begin(), remains.modules.end(), is_same)) continue;
    UniqueFd image = module->second.image.duplicate();
    if (!image) return std::nullopt;
    remains.modules.push_back({place.module, module->second.name, std::move(image)});
  }
  remains.own_namespace = own_namespace_;
  auto pages = StatusPages::create();
  if (!pages) return std::nullopt;
  remains.pages = std::exchange(pages_, std::move(*pages));
  return remains;
}

// The calls without their source: what is known when nobody could explain them.
std::string CoreLink::places_text(const CoreExplain& question) const {
  std::string text;
  for (const CodePlace& place : question.calls) {
    const auto module = modules_.find(place.module);
    if (module == modules_.end()) continue;
    const std::string file = std::filesystem::path(module->second.name).filename().string();
    text += "\n     " + frame_text(fmt::format("{}+0x{:x}", file, place.offset), place);
  }
  if (text.empty()) return text;
  return fmt::format("\n - {} (their source could not be read in time):{}", places_title(question), text);
}

// Answers the failed item, when what can be explained is.
void CoreLink::report(Item failed, const Victim& victim) {
  const std::uint64_t number = ++last_explanation_;
  const bool is_told_by_another = failed.group && !failed.group->is_culprit(failed.workitem);
  if (failed.group && !is_told_by_another) failed.group->set_journalled();
  auto answer = [this, answer = std::move(failed.answer), type = failed.type, name = failed.name, text = victim.text,
                 kind = victim.kind, is_told_by_another](const std::string& explanation) {
    if (is_told_by_another) return answer(Error{kind, text + explanation});
    // The program of a device of its own prints it too; the log of a shared one is for somebody else.
    log(tools_.clients != nullptr ? LogLevel::kWarning : LogLevel::kInfo, text + explanation);
    note_failure(type, name, kind == ErrorKind::kUsage ? FailureKind::kCrash : to_failure_kind(kind),
                 text + explanation);
    answer(Error{kind, text + explanation});
  };
  const auto explained = [this, number, said = victim.said, question = victim.question](const auto& explanation) {
    end_explanation(number, (explanation ? to_text(question, *explanation) : places_text(question)) + said);
  };
  std::unique_ptr<Explainer> explainer;
  if (!failed.dropped && explanations_.size() < kMostExplanations) {
    if (auto remains = take_remains(victim.question)) {
      auto started = Explainer::start(loop_, memories_, tools_, *std::move(remains), explained);
      if (started) explainer = std::move(*started);
    }
  }
  if (!explainer) loop_.soon([explained] { explained(std::optional<CoreExplainReply>()); });
  explanations_.push_back({number, failed.terms.owner, std::move(explainer), std::move(answer), {}});
  begin_explanations();
}

// As many as leave a processor to the cores.
void CoreLink::begin_explanations() {
  std::size_t room = std::max(2U, std::thread::hardware_concurrency()) - 1;
  for (Explanation& explanation : explanations_) {
    if (!explanation.explainer) continue;
    if (!explanation.explainer->has_begun()) explanation.explainer->begin();
    if (--room == 0) return;
  }
}

void CoreLink::end_explanation(std::uint64_t number, const std::string& text) {
  const auto found = std::find_if(explanations_.begin(), explanations_.end(),
                                  [number](const Explanation& e) { return e.number == number; });
  const Explanation ended = std::move(*found);
  explanations_.erase(found);
  begin_explanations();
  deliver(ended.owner, number, [answer = ended.answer, text] { answer(text); });
  for (const auto& answer : ended.withheld) deliver(ended.owner, number, answer);
  flush();
}

// An owner's answers come in the order of its launches: not before the reports of those that failed earlier, which are
// the explanations with numbers up to this one.
void CoreLink::deliver(const void* owner, std::uint64_t last_before, std::function<void()> answer) {
  const auto earlier = std::find_if(explanations_.rbegin(), explanations_.rend(), [&](const Explanation& e) {
    return owner != nullptr && e.owner == owner && e.number <= last_before;
  });
  if (earlier == explanations_.rend()) return answer();
  earlier->withheld.push_back(std::move(answer));
}

std::size_t CoreLink::withheld() const {
  std::size_t count = explanations_.size();
  for (const Explanation& explanation : explanations_) count += explanation.withheld.size();
  return count;
}

void CoreLink::replay_modules() {
  auto modules = std::move(modules_);
  modules_.clear();
  for (auto& [id, module] : modules) {
    if (module.image) {
      load(id, module.name, std::move(module.image), module.terms,
           [this, name = module.name](const Result<std::vector<std::string>>& loaded) {
             if (!loaded) log_error(fmt::format("core {}: after its restart: {}", index_, loaded.error().text));
           });
    }
    for (const auto& [function, name] : module.functions) {
      define(function, id, name, module.terms, [](const Result<void>&) {});
    }
  }
}

// Looks at the core from time to time while it has work.
void CoreLink::watch_progress() {
  if (watching_) return;
  watching_ = true;
  still_ms_ = ran_ms_ = 0;
  loop_.after(std::chrono::milliseconds(kProgressStepMs), [this] {
    watching_ = false;
    check_progress();
  });
}

void CoreLink::check_progress() {
  if (items_.empty() || broken_) return;
  const CoreProgress* known = progress();
  const std::uint64_t running = known != nullptr ? known->running.load() : 0,
                      commands = pages_.status->commands.given();
  const bool same_item = running == seen_running_ && (running != 0 || known == nullptr);
  const bool still = same_item && commands == seen_commands_;
  seen_running_ = running;
  seen_commands_ = commands;
  const std::uint64_t still_ms = still ? still_ms_ + kProgressStepMs : 0,
                      ran_ms = same_item ? ran_ms_ + kProgressStepMs : 0;
  watch_progress();
  still_ms_ = still_ms;
  ran_ms_ = ran_ms;
  const auto is_over = [](std::uint64_t ms, std::uint32_t limit) { return limit != 0 && ms >= limit; };
  const bool begins = running != 0 || items_.front().number != seen_front_;
  seen_front_ = items_.front().number;
  idle_ms_ = begins ? 0 : idle_ms_ + kProgressStepMs;
  if (known != nullptr && running == 0 && (is_stopped() || is_over(idle_ms_, items_.front().terms.timeout_ms)))
    return wake();
  // Items before the running one are finished, only not reported yet.
  auto item = std::find_if(items_.begin(), items_.end(), [&](const Item& i) { return i.number == running; });
  if (item == items_.end()) item = items_.begin();
  const bool in_group = item->group && item->number == running;
  over_ms_ = in_group && same_item && item->group->is_over() ? over_ms_ + kProgressStepMs : 0;
  // Whoever is waited for has the limits.
  const bool waits = in_group && item->group->waits(item->workitem);
  if (waits) still_ms_ = 0;
  std::string text;
  if (!in_process_ && over_ms_ > kTellMs) {
    text = "was ended with the launch's other cores";
  } else if (item->cancelled && item->number == running) {
    text = "was ended, because its program was interrupted";
  } else if (is_over(still_ms_, item->terms.timeout_ms)) {
    text = fmt::format("issued no command for {} s (limit: SOFTTPU_TIMEOUT or bm_set_sync_timeout) and was ended",
                       item->terms.timeout_ms / 1000.0);
  } else if (!waits && is_over(ran_ms_, item->terms.limit_ms)) {
    text = fmt::format("ran for {} s (limit: SOFTTPU_LAUNCH_LIMIT or bm_set_sync_timeout) and was ended",
                       item->terms.limit_ms / 1000.0);
  } else if (!in_process_ && still_ms_ >= kSleepMs && item->terms.timeout_ms != 0) {
    // A look costs some system calls; what it finds is certain.
    if (const std::string verdict = sleep_.look(pid()); !verdict.empty()) text = verdict + " and was ended";
  }
  if (text.empty()) return;
  if (in_process_) return break_link(fmt::format("{} on core {} {}", what_text(item->type, item->name), index_, text));
  end_core({ErrorKind::kTimeout, text});
}

// By SIGSTOP, which anybody of this user can send: a core that runs nothing has no limit that would end it.
bool CoreLink::is_stopped() const { return pid() > 0 && is_process_stopped(pid()); }

// It goes on where it was. One that does not, or is stopped again before it has done anything, is replaced.
void CoreLink::wake() {
  if (pid() <= 0) return;
  log_warning(fmt::format("core {} {}; {}.", index_,
                          is_stopped() ? "was stopped while it had nothing to do" : "does not begin with its work",
                          woken_ ? "a new one takes its place" : "it is told to go on"));
  process_.signal(woken_ ? SIGKILL : SIGCONT);
  woken_ = true;
}

// Asks it for a last look at where it is, then ends it.
void CoreLink::end_core(Error reason) {
  end_reason_ = std::move(reason);
  process_.signal(kLookSignal);
  loop_.after(kLookTime, [this, ended = pid()] {
    if (pid() == ended) process_.signal(SIGKILL);
  });
}

// A thread cannot be ended: it is left alone, and nothing more is given to it.
void CoreLink::break_link(const std::string& why) {
  finish_through(completed_items());
  broken_ = "the core thread of this program hangs: " + why;
  log_error(*broken_);
  loop_.unwatch(socket_.get());
  socket_.reset();
  if (!items_.empty()) finish(Error{ErrorKind::kTimeout, why + "."});
  while (!items_.empty()) finish(Error{ErrorKind::kResource, *broken_});
}

}  // namespace softtpu
