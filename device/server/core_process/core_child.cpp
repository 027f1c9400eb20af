#include "device/server/core_process/core_child.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <utility>

#include "device/server/core_process/program_core.hpp"
#include "device/server/core_process/sleep_check.hpp"
#include "device/server/crash/crash_folder.hpp"
#include "device/server/crash/fault_handler.hpp"
#include "device/server/crash/sanitizer_output.hpp"
#include "device/server/queue/core_rings.hpp"
#include "runtime/base/log.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/transport/event_loop.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr int kMaxIdleDeaths = 3;
// A core that does not react to the look signal within this time is ended without a look.
constexpr std::chrono::milliseconds kLookTime{100};

}  // namespace

CoreChild::CoreChild(EventLoop& loop, Memories& memories, const DeviceObservers& observers, const Options& options)
    : loop_(loop), memories_(memories), observers_(observers), options_(options) {}

CoreChild::~CoreChild() {
  if (process_.ended() >= 0) loop_.unwatch(process_.ended());
  // A core thread may still use the page; only a process's page can go.
  if (is_thread()) static_cast<void>(new StatusPages(std::move(pages_)));
}

Result<UniqueFd> CoreChild::start(std::uint64_t last_number, std::function<void()> ended) {
  if (pages_.status == nullptr) {
    auto pages = StatusPages::create();
    if (!pages) return pages.error();
    pages_ = std::move(*pages);
  }
  forget_fault(*pages_.status, *pages_.spare);
  if (!reports_) reports_ = make_report_file();
  forget_sanitizer_reports(reports_.get());
  pages_.status->progress.completed = pages_.spare->completed = last_number;
  pages_.status->ring_taken = 0;
  pages_.status->listens = false;
  if (options_.rings != nullptr) options_.rings->empty(index());
  auto pair = make_socket_pair();
  if (!pair) return pair.error();
  CoreSetup setup{memories_,
                  options_.index,
                  *pages_.status,
                  *pages_.spare,
                  observers_,
                  is_thread(),
                  options_.sandbox && !is_thread()};
  setup.own_namespace = options_.own_namespace;
  setup.launches = options_.launches;
  setup.rings = options_.rings;
  if (!is_thread()) setup.report_file = reports_.get();
  if (is_thread()) {
    if (auto started = start_core_thread(setup, std::move(pair->second)); !started) return started.error();
  } else {
    auto process = CoreProcess::start(setup, std::move(pair->second));
    if (!process) return process.error();
    process_ = *std::move(process);
    loop_.watch(process_.ended());
    loop_.when_readable(process_.ended(), std::move(ended));
  }
  return std::move(pair->first);
}

const CoreProgress* CoreChild::progress() const {
  if (pages_.status->progress.is_whole()) return &pages_.status->progress;
  return pages_.spare->is_whole() ? pages_.spare : nullptr;
}

std::uint64_t CoreChild::running() const {
  const CoreProgress* known = progress();
  return known != nullptr ? known->running.load() : 0;
}

std::optional<StatusPages> CoreChild::take_pages() {
  auto pages = StatusPages::create();
  if (!pages) return std::nullopt;
  return std::exchange(pages_, std::move(*pages));
}

void CoreChild::kill(Error reason) {
  end_reason_ = std::move(reason);
  process_.signal(SIGKILL);
}

void CoreChild::end(Error reason) {
  end_reason_ = std::move(reason);
  process_.signal(kLookSignal);
  loop_.after(kLookTime, [this, ended = pid()] {
    if (pid() == ended) process_.signal(SIGKILL);
  });
}

bool CoreChild::is_stopped() const { return pid() > 0 && is_process_stopped(pid()); }

void CoreChild::wake() {
  if (pid() <= 0) return;
  log_warning(fmt::format("core {} {}; {}.", index(),
                          is_stopped() ? "was stopped while it had nothing to do" : "does not begin with its work",
                          woken_ ? "a new one takes its place" : "it is sent SIGCONT"));
  process_.signal(woken_ ? SIGKILL : SIGCONT);
  woken_ = true;
}

void CoreChild::note_work() {
  idle_deaths_ = 0;
  woken_ = false;
}

bool CoreChild::is_unlucky() { return ++idle_deaths_ >= kMaxIdleDeaths; }

CoreChild::End CoreChild::finish() {
  loop_.unwatch(process_.ended());
  const int status = process_.finish();
  const bool asks = WIFEXITED(status) && WEXITSTATUS(status) == kReplaceStatus && pages_.status->progress.running == 0;
  return {to_exit_text(status), asks};
}

CoreChild::Remnant CoreChild::examine(const std::string& how_it_ended) {
  CrashInfo found = softtpu::examine(*pages_.status, memories_, how_it_ended);
  SanitizerReport said = find_sanitizer_report(reports_.get(), pages_.status->fault.signal != 0);
  if (!said.cause.empty()) found.cause = std::move(said.cause);
  return {std::move(found.cause), found.commands, std::move(found.question), std::move(said.text)};
}

void CoreChild::renew_memories() {
  if (!options_.dump_folder.empty()) {
    if (auto kept = keep_memories(memories_.fds(), options_.dump_folder); !kept) log_warning(kept.error().text);
  }
  if (auto renewed = memories_.renew_on_chip(); !renewed) {
    log_warning(
        fmt::format("core {} starts with the local memory of the one that ended: {}", index(), renewed.error().text));
  }
}

}  // namespace softtpu
