// EventLoop: what a server waits for, on one thread: readable and writable descriptors, timers, signals. Callbacks run
// in run(), on the thread that called it; all functions but stop() are called from that thread (or before run()).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>

namespace softtpu {

class EventLoop {
 public:
  using Callback = std::function<void()>;

  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void run();
  void stop();

  // One watch per descriptor; the descriptor stays the caller's. After unwatch() no callback of it runs any more.
  void watch(int fd);
  void unwatch(int fd);
  // Called once, when there is something to read (write: when there is room). Ask again for the next time.
  void when_readable(int fd, Callback callback);
  void when_writable(int fd, Callback callback);

  // Called once after the given time.
  void after(std::chrono::milliseconds delay, Callback callback);
  // Called once, as soon as the current callback has returned.
  void soon(Callback callback);
  // A process that waits for a moment only was woken: a core that has work, a client that has its answer.
  void has_woken() { has_woken_ = true; }
  // For work that takes long, between two parts of it: gives the processor to those who were woken since the last time.
  // The system may have put them behind this thread, and would leave them there for milliseconds.
  void let_woken_run();
  // Called at the first of these signals.
  void on_signal(std::initializer_list<int> signals, std::function<void(int)> callback);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  bool has_woken_ = false;
};

}  // namespace softtpu
