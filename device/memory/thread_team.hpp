// ThreadTeam: the threads that share one command. The calling thread and oneTBB's workers each take chunks of their own
// part of the indices, then what is left of the others'. The same indices go to the same thread from command to
// command, so its lanes stay in its caches, and every second command goes through them backwards: it begins with what
// the one before has touched last, where going forwards again would find that nothing has stayed of data larger than
// the cache.
//
// A worker that is through looks for the next command for a while before it sleeps: waking a thread on a sleeping
// processor takes longer than most commands. It sleeps at once while other processes want its processor (SpinBudget). A
// worker on the calling thread's own processor would only take its time: it goes to another one, and stays away from
// that one.
#pragma once

#include <tbb/task_arena.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace softtpu {

// Never destroyed once it has run something: its workers stay.
class ThreadTeam {
 public:
  using Call = void (*)(const void* body, int first, int last);

  // Of `threads` threads with the calling one; tbb::task_arena::automatic: one per processor.
  explicit ThreadTeam(int threads);

  int threads() const { return static_cast<int>(shares_.size()); }
  // call(body, first, last) for parts that cover [0, count). Calls at the same time, and from within a call, are
  // carried out by their own thread alone. `call` must not throw.
  void run(int count, const void* body, Call call);

 private:
  // One thread's part, and how much of it is taken.
  struct alignas(64) Share {
    std::atomic<int> taken{0};
    int begin = 0, end = 0;
  };

  void open(int count, const void* body, Call call);
  void close();
  void start_workers();
  void serve(std::size_t share);
  void sleep_until_changed(int job);
  void wait_for_workers();
  void join(std::size_t share, int job);
  void work(std::size_t share);

  tbb::task_arena arena_;
  std::vector<Share> shares_;
  bool started_ = false;
  std::atomic_flag taken_;  // by the thread whose command it is

  const void* body_ = nullptr;
  Call call_ = nullptr;
  int chunk_ = 1;
  bool backwards_ = false;
  std::atomic<int> processor_{-1};  // that the calling thread was on
  // Even: no command is open. A worker counts itself in before it checks that the command it has seen is still open;
  // the thread that closes it waits for those counted.
  alignas(64) std::atomic<int> job_{0};
  std::atomic<int> sleepers_{0};  // workers that have to be woken for a command
  alignas(64) std::atomic<int> inside_{0};
  std::atomic<bool> awaited_{false};  // the calling thread sleeps until no worker is inside
};

}  // namespace softtpu
