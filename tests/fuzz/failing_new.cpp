#include "tests/fuzz/failing_new.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>

namespace {

thread_local bool is_main = false;
thread_local long until_failure = -1;  // -1: none fails
thread_local bool goes_on_failing = false;
thread_local bool has_failed = false;
std::string_view running;
std::atomic<unsigned> others_fail{0}, of_others{0};
std::atomic<unsigned long> failed{0};

bool fails() {
  if (!is_main) {
    const unsigned one_of = others_fail.load(std::memory_order_relaxed);
    return one_of != 0 && ++of_others % one_of == 0;
  }
  if (until_failure < 0) return false;
  if (until_failure > 0) {
    --until_failure;
    return false;
  }
  if (!goes_on_failing) until_failure = -1;
  has_failed = true;
  return true;
}

void* allocate(std::size_t bytes) {
  if (fails()) {
    ++failed;
    return nullptr;
  }
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void print_figures() { std::printf("%lu allocations failed\n", failed.load()); }

[[noreturn]] void report_and_abort() {
  until_failure = -1;
  ::dprintf(STDERR_FILENO, "an exception left %.*s\n", static_cast<int>(running.size()), running.data());
  std::abort();
}

struct Row {
  long next = 0;
  bool all = false;
  int sweeps = 0;
};
std::vector<Row>& rows() {
  static auto* const all = new std::vector<Row>;
  return *all;
}

}  // namespace

namespace softtpu::fuzz {

bool FailingNew::is_on() {
  static const bool on = [] {
    const bool wanted = std::getenv("SOFTTPU_FUZZ_NO_MEMORY") != nullptr;
    is_main = true;
    if (wanted) std::set_terminate(report_and_abort);
    if (wanted) std::atexit(print_figures);
    return wanted;
  }();
  return on;
}

void FailingNew::of_other_threads(unsigned one_of) { others_fail = one_of; }

int FailingNew::sweeps(std::size_t row) { return row < rows().size() ? rows()[row].sweeps : 0; }

unsigned long FailingNew::failures() { return failed; }

FailingNew::Armed::Armed(std::size_t row, std::string_view name) : row_(row) {
  if (rows().size() <= row) rows().resize(row + 1);
  running = name;
  has_failed = false;
  goes_on_failing = rows()[row].all;
  until_failure = rows()[row].next;
}

FailingNew::Armed::~Armed() {
  until_failure = -1;
  Row& row = rows()[row_];
  if (has_failed) {
    ++row.next;
  } else {
    row.next = 0;
    row.all = !row.all;
    ++row.sweeps;
  }
}

}  // namespace softtpu::fuzz

void* operator new(std::size_t bytes) {
  void* const made = allocate(bytes);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* made) noexcept { std::free(made); }
void operator delete(void* made, std::size_t) noexcept { std::free(made); }
void operator delete[](void* made) noexcept { std::free(made); }
void operator delete[](void* made, std::size_t) noexcept { std::free(made); }
