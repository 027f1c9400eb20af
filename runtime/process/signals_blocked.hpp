// Signals around a fork. A child inherits the handlers of its parent, and one that writes into a pipe of the parent's
// (an event loop's) would pass on to the parent what was meant for the child.
#pragma once

#include <pthread.h>

#include <csignal>

namespace softtpu {

// No signal is taken while this lives. The child of a fork in between sets its handlers and then calls
// take_signals(); what has come before is then handled its way.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

inline void take_signals() {
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace softtpu
