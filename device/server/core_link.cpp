#include "device/server/core_link.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>

#include "device/observe/observers.hpp"
#include "device/server/core_process.hpp"
#include "device/server/program_core.hpp"
#include "runtime/base/log.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/transport/event_loop.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr std::uint32_t kProgressStepMs = 100;
constexpr int kMaxIdleDeaths = 3;

std::string what_text(MessageType type, const std::string& name) {
  switch (type) {
    case MessageType::kCoreLaunch: return "kernel \"" + name + "\"";
    case MessageType::kCoreLoad: return "loading kernel module " + name;
    case MessageType::kCoreUnload: return "unloading kernel module " + name;
    default: return "looking up function \"" + name + "\"";
  }
}

}  // namespace

CoreLink::CoreLink(EventLoop& loop, Memories& memories, const Tools& tools, int index, bool in_process)
    : loop_(loop), memories_(memories), tools_(tools), index_(index), in_process_(in_process) {}

CoreLink::~CoreLink() {
  if (socket_) loop_.unwatch(socket_.get());
  if (process_) loop_.unwatch(process_.get());
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  // A core thread may still use the page; only a process's page can go.
  if (status_ != nullptr && !in_process_) ::munmap(status_, sizeof(CoreStatus));
}

Result<void> CoreLink::start() {
  if (status_ == nullptr) {
    void* page = ::mmap(nullptr, sizeof(CoreStatus), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return system_error(ErrorKind::kResource, "mmap of a core's status page");
    status_ = new (page) CoreStatus;
  }
  status_->running = status_->launch_commands = status_->commands = status_->flush_through = 0;
  status_->has_fault_address = false;
  status_->completed = last_number_;
  auto pair = make_socket_pair();
  if (!pair) return pair.error();
  socket_ = std::move(pair->first);
  const CoreSetup setup{memories_, index_, *status_, tools_, in_process_};
  if (in_process_) {
    if (auto started = start_core_thread(setup, std::move(pair->second)); !started) return started.error();
  } else {
    auto process = start_core_process(setup, std::move(pair->second));
    if (!process) return process.error();
    pid_ = process->pid;
    process_ = std::move(process->pidfd);
    loop_.watch(process_.get());
    loop_.when_readable(process_.get(), [this] { when_ended(); });
  }
  in_ = FrameBuffer();
  out_.clear();
  loop_.watch(socket_.get());
  loop_.when_readable(socket_.get(), [this] { when_readable(); });
  return {};
}

template <class Message>
CoreLink::Item& CoreLink::add(const Message& message, std::string name, std::function<void(Result<Bytes>)> answer) {
  Item& item = items_.emplace_back();
  item.number = ++last_number_;
  item.type = Message::kType;
  item.name = std::move(name);
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
    out_.push_frame_with_fd(item.frame, item.image.duplicate());
  } else {
    out_.push_frame(item.frame);
  }
  watch_progress();
}

void CoreLink::load(std::uint32_t module, const std::string& name, UniqueFd image, Loaded answer) {
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
  Item& item = add(CoreLoad{module, name}, name, std::move(done));
  item.image = std::move(image);
  send(item);
}

void CoreLink::unload(std::uint32_t module) {
  modules_.erase(module);
  send(add(CoreUnload{module}, std::to_string(module), [](const Result<Bytes>&) {}));
}

void CoreLink::define(std::uint32_t function, std::uint32_t module, const std::string& name, Answered answer) {
  auto done = [this, function, module, name, answer = std::move(answer)](const Result<Bytes>& result) {
    if (!result) return answer(result.error());
    // The module may have been unloaded since.
    if (const auto found = modules_.find(module); found != modules_.end()) found->second.functions[function] = name;
    answer({});
  };
  send(add(CoreDefine{function, module, name}, name, std::move(done)));
}

std::uint64_t CoreLink::launch(const Launch& what) {
  auto done = [answer = what.answer](const Result<Bytes>& result) {
    if (!result) return answer(result.error());
    answer({});
  };
  Item& item = add(CoreLaunch{what.function, what.flush, *what.args}, what.kernel, std::move(done));
  item.timeout_ms = what.timeout_ms;
  item.owner = what.owner;
  const std::uint64_t number = item.number;
  send(item);
  return number;
}

void CoreLink::hurry(std::uint64_t item) {
  if (status_->flush_through < item) status_->flush_through = item;
  // The core may have finished it just before, without a word (CoreRunner::work).
  const std::uint64_t completed = status_->completed;
  if (completed >= item && receive_all()) finish_through(completed);
}

void CoreLink::abandon(const void* owner) {
  bool running = false;
  for (Item& item : items_) {
    if (item.owner != owner) continue;
    item.dropped = true;
    running = running || item.number == status_->running;
  }
  if (!running || pid_ <= 0) return;
  end_reason_ = Error{ErrorKind::kConnection, "its program has gone away"};
  ::kill(pid_, SIGKILL);
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
      if (!frame || !*frame) {
        log_error(fmt::format("core {}: {}", index_, frame ? "no frame" : frame.error().text));
        if (pid_ > 0) ::kill(pid_, SIGKILL);
        return false;
      }
      on_frame(**frame);
    }
  }
}

void CoreLink::on_frame(Frame& frame) {
  // Answers may lead back to receive_all(), which moves the bytes that the payload lies in.
  const Bytes payload(frame.payload.begin(), frame.payload.end());
  // A core works in order: an answer to one item says that those before it succeeded.
  finish_through(frame.type == MessageType::kCoreDone ? frame.request : frame.request - 1);
  if (frame.type == MessageType::kCoreDone || items_.empty() || items_.front().number != frame.request) return;
  if (frame.type == MessageType::kFailure) {
    const auto failure = find_message<Failure>(payload);
    return finish(failure ? Error{failure->kind, failure->text} : Error{ErrorKind::kInternal, "a core's failure message is damaged"});
  }
  finish(payload);
}

void CoreLink::finish_through(std::uint64_t number) {
  while (!items_.empty() && items_.front().number <= number) finish(Bytes());
}

void CoreLink::finish(Result<Bytes> result) {
  Item item = std::move(items_.front());
  items_.pop_front();
  idle_deaths_ = 0;
  if (result && item.type == MessageType::kCoreLoad) {
    if (auto load = find_message<CoreLoad>(std::span(item.frame).subspan(kFrameHeaderBytes))) {
      Module& module = modules_[load->module];
      module.name = load->name;
      module.image = std::move(item.image);
    }
  }
  if (!result) note_failure(item, to_failure_kind(result.error().kind), result.error().text);
  const bool timed = result && item.type == MessageType::kCoreLaunch;
  estimated_ns_ = timed ? status_->estimated_ns[item.number % kEstimates].load() : 0;
  item.answer(std::move(result));
}

// For `softtpu run`, whose exit status says why launches failed.
void CoreLink::note_failure(const Item& item, FailureKind kind, const std::string& text) {
  if (tools_.journal == nullptr || item.type == MessageType::kCoreDefine) return;
  tools_.journal->add(FailureRecord{kind, item.type == MessageType::kCoreLaunch ? item.name : "", text});
}

// ---- A core that ends or hangs ----

void CoreLink::when_ended() {
  receive_all();
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  restart(to_exit_text(status));
}

// The failure of the item that the core was working on, which is the first one left; nullopt when it was working on none.
std::optional<Error> CoreLink::take_victim(const std::string& how_it_ended) {
  finish_through(status_->completed);
  const std::uint64_t running = status_->running;
  const bool blamed = !items_.empty() && (items_.front().number == running || ++idle_deaths_ >= kMaxIdleDeaths);
  if (!blamed) return std::nullopt;
  const std::uint64_t commands = status_->commands - status_->launch_commands;
  std::string text = fmt::format("{} on core {} {}", what_text(items_.front().type, items_.front().name), index_, end_reason_ ? end_reason_->text : how_it_ended);
  if (!end_reason_ && status_->has_fault_address) text += fmt::format(" at address 0x{:x}", status_->fault_address.load());
  text += fmt::format(", after {} command{}.", commands, commands == 1 ? "" : "s");
  return Error{end_reason_ ? end_reason_->kind : ErrorKind::kUsage, text};
}

void CoreLink::restart(const std::string& how_it_ended) {
  const auto victim = take_victim(how_it_ended);
  end_reason_.reset();
  log_warning(victim ? victim->text : fmt::format("core {} {} while it had nothing to do.", index_, how_it_ended));
  loop_.unwatch(socket_.get());
  loop_.unwatch(process_.get());
  socket_.reset();
  process_.reset();
  flushing_ = false;
  ++restarts_;

  std::deque<Item> unfinished = std::move(items_);
  items_.clear();
  std::optional<Item> failed;
  if (victim) {
    failed = std::move(unfinished.front());
    unfinished.pop_front();
  }
  if (auto started = start(); !started) {
    broken_ = fmt::format("core {} cannot be started again: {}", index_, started.error().text);
    log_error(*broken_);
  } else {
    replay_modules();
  }
  std::vector<Item> dropped;
  for (Item& item : unfinished) {
    if (item.dropped) {
      dropped.push_back(std::move(item));
      continue;
    }
    item.number = ++last_number_;
    wire::put_header(item.frame.data(), item.frame.size() - kFrameHeaderBytes, item.type, item.image ? 1 : 0, item.number);
    items_.push_back(std::move(item));
    send(items_.back());
  }
  if (failed) {
    note_failure(*failed, victim->kind == ErrorKind::kUsage ? FailureKind::kCrash : to_failure_kind(victim->kind), victim->text);
    failed->answer(*victim);
  }
  for (Item& item : dropped) item.answer(Error{ErrorKind::kConnection, "its program has gone away"});
  flush();
}

void CoreLink::replay_modules() {
  auto modules = std::move(modules_);
  modules_.clear();
  for (auto& [id, module] : modules) {
    if (module.image) {
      load(id, module.name, std::move(module.image), [this, name = module.name](const Result<std::vector<std::string>>& loaded) {
        if (!loaded) log_error(fmt::format("core {}: after its restart: {}", index_, loaded.error().text));
      });
    }
    for (const auto& [function, name] : module.functions) {
      define(function, id, name, [](const Result<void>&) {});
    }
  }
}

// Looks at the core from time to time while it has work.
void CoreLink::watch_progress() {
  if (watching_) return;
  watching_ = true;
  still_ms_ = 0;
  loop_.after(std::chrono::milliseconds(kProgressStepMs), [this] {
    watching_ = false;
    check_progress();
  });
}

void CoreLink::check_progress() {
  if (items_.empty() || broken_) return;
  const std::uint64_t still = still_ms_;
  const std::uint64_t running = status_->running, commands = status_->commands;
  const bool moved = running != seen_running_ || commands != seen_commands_ || running == 0;
  seen_running_ = running;
  seen_commands_ = commands;
  watch_progress();
  still_ms_ = moved ? 0 : still + kProgressStepMs;
  const Item& item = items_.front();
  // Items before the running one are finished, only not reported yet.
  const auto limit = std::find_if(items_.begin(), items_.end(), [&](const Item& i) { return i.number == running; });
  const std::uint32_t timeout = limit != items_.end() ? limit->timeout_ms : item.timeout_ms;
  if (timeout == 0 || still_ms_ < timeout) return;
  const std::string text = fmt::format("issued no command for {} s (limit: SOFTTPU_TIMEOUT or bm_set_sync_timeout) and was ended",
                                       static_cast<double>(timeout) / 1000);
  if (in_process_) return break_link(fmt::format("{} on core {} {}", what_text(item.type, item.name), index_, text));
  end_reason_ = Error{ErrorKind::kTimeout, text};
  ::kill(pid_, SIGKILL);
}

// A thread cannot be ended: it is left alone, and nothing more is given to it.
void CoreLink::break_link(const std::string& why) {
  finish_through(status_->completed);
  broken_ = "the core thread of this program hangs: " + why;
  log_error(*broken_);
  loop_.unwatch(socket_.get());
  socket_.reset();
  if (!items_.empty()) finish(Error{ErrorKind::kTimeout, why + "."});
  while (!items_.empty()) finish(Error{ErrorKind::kResource, *broken_});
}

}  // namespace softtpu
