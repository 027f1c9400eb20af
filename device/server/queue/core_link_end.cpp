// CoreLink, when its core ends or hangs: which item fails, and what becomes of the others.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/observers/device_observers.hpp"
#include "device/server/queue/core_link.hpp"
#include "device/server/queue/group_launch.hpp"
#include "runtime/base/log.hpp"
#include "runtime/transport/event_loop.hpp"

namespace softtpu {

void CoreLink::when_ended() {
  const auto ended = std::chrono::steady_clock::now();
  receive_all();
  restart(child_.finish(), ended);
}

// The failure of the item that the core was working on, which is the first one left; nullopt when it was working on
// none.
std::optional<CoreLink::FailedItem> CoreLink::take_failed_item(const CoreChild::End& end) {
  finish_through(completed_items());
  if (end.asks_for_another || items_.empty()) return std::nullopt;
  const bool blamed = items_.front().number == child_.running() || child_.progress() == nullptr || child_.is_unlucky();
  if (!blamed) return std::nullopt;
  CoreChild::Remnant found = child_.examine(end.text);
  const CoreItem& item = items_.front();
  const std::optional<Error>& reason = child_.end_reason();
  std::string text = fmt::format("{} on core {} {}, after {} command{}.", what_text(item), child_.index(),
                                 reason ? reason->text : found.cause, found.commands, found.commands == 1 ? "" : "s");
  return FailedItem{std::move(text), reason ? reason->kind : ErrorKind::kUsage, std::move(found.question),
                    std::move(found.said)};
}

void CoreLink::restart(const CoreChild::End& end, std::chrono::steady_clock::time_point ended) {
  auto failure = take_failed_item(end);
  // Before the failure is reported: they have ended before it.
  deliver();
  child_.forget_end_reason();
  if (!failure && !end.asks_for_another)
    log_warning(fmt::format("core {} {} while it had nothing to do.", child_.index(), end.text));
  loop_.unwatch(socket_.get());
  socket_.reset();
  flushing_ = false;
  ++restarts_;

  BlockQueue<CoreItem> unfinished = std::move(items_);
  items_.clear();
  std::optional<CoreItem> failed;
  if (failure) {
    failed = std::move(unfinished.front());
    unfinished.pop_front();
  }
  if (failed && failed->group) failed->group->note_failure(failed->workitem);
  // The queue knows it as long as the launch has no answer, which it gets later.
  const bool is_launch = failed && failed->type == MessageType::kCoreLaunch;
  const void* const owner = is_launch ? failed->terms.owner : nullptr;
  if (is_launch) child_.renew_memories();
  if (!failed) {
    modules_.begin_again();
  } else if (failed->restores) {
    modules_.begin_again();
    log_warning(failure->text);
    modules_.note_failure(failed->module, failure->text, true);
  } else {
    // Before the new core starts, so that it does not have the old one's pages.
    report(*std::move(failed), *std::move(failure));
    modules_.begin_again();
  }
  if (auto started = start(); !started) {
    broken_ = fmt::format("core {} cannot be started again: {}", child_.index(), started.error().text);
    log_error(*broken_);
  } else if (end.asks_for_another) {
    restore_all();
  }
  if (owner != nullptr && when_lost_) when_lost_(owner, std::chrono::steady_clock::now() - ended);
  send_again(std::move(unfinished));
  flush();
}

// The items that had not begun, except those whose client has disconnected.
void CoreLink::send_again(BlockQueue<CoreItem> unfinished) {
  std::vector<CoreItem> dropped;
  for (CoreItem& item : unfinished) {
    if (item.restores) continue;  // it is asked for again by what needs it
    if (item.dropped || item.cancelled) {
      dropped.push_back(std::move(item));
      continue;
    }
    restore_for(item);
    item.number = ++last_number_;
    wire::put_header(item.frame.data(), item.frame.size() - kFrameHeaderBytes, item.type, item.image ? 1 : 0,
                     item.number);
    items_.push_back(std::move(item));
    send(items_.back());
  }
  // A caller that waits for one of them has its old number.
  child_.status().flush_through = last_number_;
  for (CoreItem& item : dropped) {
    if (item.dropped) {
      item.answer(Error{ErrorKind::kConnection, "its program has gone away"});
    } else {
      const std::string text = what_text(item) + " was not launched, because its program was interrupted.";
      explanations_.deliver(item.terms.owner, [answer = item.answer, text] {
        answer(Error{ErrorKind::kTimeout, text});
      });
    }
  }
}

// What a process needs to explain the end of the core; nullopt: there is nothing to explain, or not enough descriptors
// and memory for that. The pages go with it, and the new core gets others.
std::optional<Symbolizer::Remains> CoreLink::take_remains(const msg::CoreExplain& question) {
  if (question.commands == 0 && question.calls.empty()) return std::nullopt;
  auto images = modules_.images_of(question);
  if (!images) return std::nullopt;
  auto pages = child_.take_pages();
  if (!pages) return std::nullopt;
  return Symbolizer::Remains{*std::move(pages), *std::move(images), question, child_.has_own_namespace()};
}

// Answers the failed item, when what can be explained is.
void CoreLink::report(CoreItem failed, FailedItem failure) {
  const bool is_reported_by_another = failed.group && !failed.group->is_culprit(failed.workitem);
  if (failed.group && !is_reported_by_another) failed.group->set_journalled();
  auto answer = [this, answer = std::move(failed.answer), type = failed.type, name = failed.name, text = failure.text,
                 kind = failure.kind, is_reported_by_another](const std::string& explanation) {
    if (is_reported_by_another) return answer(Error{kind, text + explanation});
    // The program of a device of its own prints it too; the log of a shared one has other readers.
    log(observers_.clients != nullptr ? LogLevel::kWarning : LogLevel::kInfo, text + explanation);
    note_failure(type, name, kind == ErrorKind::kUsage ? FailureKind::kCrash : to_failure_kind(kind),
                 text + explanation);
    answer(Error{kind, text + explanation});
  };
  const auto remains = [this, &failed, &failure]() -> std::optional<Symbolizer::Remains> {
    if (failed.dropped) return std::nullopt;
    return take_remains(failure.question);
  };
  explanations_.add(
      {failed.terms.owner, failure.question, failure.said,
       [this](const msg::CoreExplain& question) { return modules_.places_text(question); }, std::move(answer)},
      remains);
}

// Looks at the core from time to time while it has work.
void CoreLink::check_progress() {
  if (items_.empty() || broken_) return;
  const CoreProgress* known = child_.progress();
  const std::uint64_t running = child_.running();
  watchdog_.note({known != nullptr, running, child_.status().commands.given(), items_.front().number});
  const bool idle = known != nullptr && running == 0;
  if (idle && (child_.is_stopped() || watchdog_.is_idle_for(items_.front().terms.timeout_ms))) return child_.wake();
  // Items before the running one are finished, only not reported yet.
  auto item = std::find_if(items_.begin(), items_.end(), [&](const CoreItem& i) { return i.number == running; });
  if (item == items_.end()) item = items_.begin();
  const std::string text = watchdog_.judge(*item, child_.is_thread() ? 0 : pid());
  if (text.empty()) return;
  if (child_.is_thread()) return break_link(fmt::format("{} on core {} {}", what_text(*item), child_.index(), text));
  child_.end({ErrorKind::kTimeout, text});
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
  deliver();
}

}  // namespace softtpu
