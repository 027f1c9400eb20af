#include "device/server/core_process/shared_memory_guard.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

#include "device/memory/shared_ranges.hpp"

namespace softtpu {
namespace {

constexpr char kWarning[] = "softtpu: a page of shared memory was taken away; this process goes on with zeros there.\n";

std::atomic<std::uint64_t> replaced{0};
std::uintptr_t page_bytes = 4096;

bool is_shared(std::uintptr_t address) {
  for (const SharedRange& range : shared_ranges()) {
    const auto begin = reinterpret_cast<std::uintptr_t>(range.data);
    if (address >= begin && address - begin < range.bytes) return true;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  auto* const page = reinterpret_cast<void*>(address / page_bytes * page_bytes);
  const bool healed =
      info->si_code > 0 && is_shared(address) &&
      ::mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  if (!healed) {
    std::signal(signal, SIG_DFL);  // the instruction is tried again, and ends the process
    if (info->si_code <= 0) std::raise(signal);
    return;
  }
  if (replaced++ == 0) static_cast<void>(!::write(STDERR_FILENO, kWarning, std::strlen(kWarning)));
}

}  // namespace

void survive_shared_memory_faults() {
  page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

std::uint64_t replaced_shared_pages() { return replaced; }

}  // namespace softtpu
