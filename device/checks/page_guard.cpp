#include "device/checks/page_guard.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "runtime/base/interrupted_code.hpp"

namespace softtpu {
namespace {

const auto kPageBytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));

std::atomic<PageGuard*> active{nullptr};  // NOLINT: the handler has no other way to it
struct sigaction former {};

void set_access(std::uintptr_t begin, std::uintptr_t end, int access) {
  ::mprotect(reinterpret_cast<void*>(begin), end - begin, access);
}

void pass_on(int signal, siginfo_t* info, void* context) {
  if ((former.sa_flags & SA_SIGINFO) != 0 && former.sa_sigaction != nullptr)
    return former.sa_sigaction(signal, info, context);
  if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) return former.sa_handler(signal);
  ::sigaction(signal, &former, nullptr);  // the access is tried again
  if (info->si_code <= 0) ::raise(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  PageGuard* guard = active;
  if (guard != nullptr && info->si_code > 0 &&
      guard->take(reinterpret_cast<std::uintptr_t>(info->si_addr), failed_to_write(context),
                  interrupted_place(context))) {
    return;
  }
  pass_on(signal, info, context);
}

void install_handler() {
  struct sigaction now {};
  ::sigaction(SIGSEGV, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault) return;
  former = now;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, nullptr);
}

// From the interrupted instruction outwards. A return address is looked up one byte before it, so this one gets one.
CallStack calls_from(const void* code) {
  const CallStack all = capture_call_stack();
  const auto* first = std::find(all.frames.begin(), all.frames.begin() + all.count, code);
  CallStack stack;
  for (const auto* frame = first; frame != all.frames.begin() + all.count; ++frame) {
    stack.frames[static_cast<std::size_t>(stack.count++)] = *frame;
  }
  if (stack.count > 0) stack.frames[0] = static_cast<const char*>(stack.frames[0]) + 1;
  return stack;
}

}  // namespace

void PageGuard::close(const std::uint8_t* begin, std::uint64_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin) / kPageBytes * kPageBytes;
  const auto last = (reinterpret_cast<std::uintptr_t>(begin) + bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  const auto end = closed_.begin() + static_cast<std::ptrdiff_t>(closed_count_);
  const bool known =
      std::any_of(closed_.begin(), end, [&](const Pages& p) { return p.begin <= first && last <= p.end; });
  if (known || bytes == 0 || closed_count_ == closed_.size()) return;
  if (closed_count_ == 0) install_handler();
  closed_[closed_count_++] = {first, last};
  active = this;
  set_access(first, last, PROT_NONE);
}

void PageGuard::open() {
  for (std::size_t i = 0; i < closed_count_; ++i) set_access(closed_[i].begin, closed_[i].end, PROT_READ | PROT_WRITE);
  closed_count_ = 0;
  if (active == this) active = nullptr;
}

void PageGuard::open_page(std::size_t index, std::uintptr_t page) {
  const Pages whole = closed_[index];
  const bool split = whole.begin < page && page + kPageBytes < whole.end;
  if (split && closed_count_ == closed_.size()) {
    set_access(whole.begin, whole.end, PROT_READ | PROT_WRITE);
    closed_[index] = closed_[--closed_count_];
    return;
  }
  set_access(page, page + kPageBytes, PROT_READ | PROT_WRITE);
  if (split) closed_[closed_count_++] = {page + kPageBytes, whole.end};
  closed_[index] = whole.begin < page ? Pages{whole.begin, page} : Pages{page + kPageBytes, whole.end};
  if (closed_[index].begin >= closed_[index].end) closed_[index] = closed_[--closed_count_];
}

bool PageGuard::take(std::uintptr_t address, bool writes, const void* code) {
  const std::uintptr_t page = address / kPageBytes * kPageBytes;
  bool mine = false;
  // Ranges may overlap.
  for (std::size_t i = closed_count_; i-- > 0;) {
    if (address < closed_[i].begin || address >= closed_[i].end) continue;
    open_page(i, page);
    mine = true;
  }
  if (!mine) return false;
  if (touch_count_ < touches_.size()) {
    touches_[touch_count_++] = {reinterpret_cast<const std::uint8_t*>(address), writes, calls_from(code)};
  }
  if (touch_count_ == touches_.size()) open();
  return true;
}

}  // namespace softtpu
