#include "device/server/core_process/sandbox.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <seccomp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace softtpu {
namespace {

// What the C library, oneTBB, the trace and the connection to the server need.
constexpr int kAllowed[] = {
    // memory
    SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise), SCMP_SYS(brk),
    SCMP_SYS(mincore),
    // threads
    SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_setaffinity), SCMP_SYS(gettid), SCMP_SYS(getpid), SCMP_SYS(exit), SCMP_SYS(exit_group),
    SCMP_SYS(membarrier), SCMP_SYS(restart_syscall), SCMP_SYS(wait4), SCMP_SYS(getrlimit), SCMP_SYS(getrusage),
    SCMP_SYS(sysinfo), SCMP_SYS(uname),
    // signals of its own
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    // time
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getrandom),
    // what is open already
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64), SCMP_SYS(pwrite64),
    SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(close), SCMP_SYS(ftruncate), SCMP_SYS(getdents64),
    SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(recvfrom), SCMP_SYS(sendto), SCMP_SYS(poll), SCMP_SYS(ppoll)};

struct Filter {
  Filter() : context(::seccomp_init(SCMP_ACT_ERRNO(EPERM))) {}
  ~Filter() { ::seccomp_release(context); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  // Keeps the first failure; a system call that this machine does not have needs no rule.
  void add(int failed) {
    if (failed != 0 && failed != -EDOM && first_failure == 0) first_failure = failed;
  }
  // A call allowed when its first argument compares so. The library's macros for this are C, not C++.
  void allow_if_first(int call, scmp_compare compare, scmp_datum_t a, scmp_datum_t b = 0) {
    const scmp_arg_cmp rule = {0, compare, a, b};
    add(::seccomp_rule_add_array(context, SCMP_ACT_ALLOW, call, 1, &rule));
  }
  scmp_filter_ctx context;
  int first_failure = 0;
};

}  // namespace

Result<void> enter_sandbox() {
  Filter filter;
  if (filter.context == nullptr) return Error{ErrorKind::kResource, "the sandbox: no memory for its rules."};
  for (const int call : kAllowed) filter.add(::seccomp_rule_add(filter.context, SCMP_ACT_ALLOW, call, 0));
  // A thread, but no process. The C library tries clone3 first, whose flags a filter cannot see, and then clone.
  filter.add(::seccomp_rule_add(filter.context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0));
  filter.allow_if_first(SCMP_SYS(clone), SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
  const auto self = static_cast<scmp_datum_t>(::getpid());
  filter.allow_if_first(SCMP_SYS(tgkill), SCMP_CMP_EQ, self);
  filter.allow_if_first(SCMP_SYS(kill), SCMP_CMP_EQ, self);
  // Threads that run already are held to it as well.
  filter.add(::seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_TSYNC, 1));
  if (filter.first_failure == 0) filter.add(::seccomp_load(filter.context));
  if (filter.first_failure == 0) return {};
  return Error{ErrorKind::kResource,
               fmt::format("the sandbox cannot be entered: {}.", std::strerror(-filter.first_failure))};
}

}  // namespace softtpu
