// ExplanationQueue: the failed launches of a core that wait for their explanation, and the answers that wait for them:
// what an owner launched later is answered after the report, so that its failures come in order.
//
// Several symbolizers read one after the other. Lives on the server's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/server/crash/symbolizer.hpp"

namespace softtpu {

class EventLoop;
class Memories;
struct DeviceObservers;

class ExplanationQueue {
 public:
  // `settled` is called when answers have been given.
  ExplanationQueue(EventLoop& loop, Memories& memories, const DeviceObservers& observers, std::function<void()> settled)
      : loop_(loop), memories_(memories), observers_(observers), settled_(std::move(settled)) {}

  struct Failed {
    const void* owner = nullptr;
    msg::CoreExplain question;
    std::string said;                                               // stands below the explanation
    std::function<std::string(const msg::CoreExplain&)> otherwise;  // the text when no explanation came
    std::function<void(const std::string&)> answer;
  };
  // Answers later, never during the call. `remains`: what a symbolizer is given; it is asked for only where there is
  // room for one more, and may give nothing.
  void add(Failed failed, const std::function<std::optional<Symbolizer::Remains>()>& remains);
  // Answers when those of the owner's launches that failed earlier are explained: at once if there are none.
  void deliver(const void* owner, std::function<void()> answer) { deliver(owner, last_, std::move(answer)); }

  bool empty() const { return waiting_.empty(); }
  // Answers that have not been given.
  std::size_t withheld() const;

 private:
  struct Explanation {
    std::uint64_t number = 0;
    const void* owner = nullptr;
    std::unique_ptr<Symbolizer> symbolizer;  // nullptr: there is nothing to explain
    std::function<void(const std::string&)> answer;
    std::vector<std::function<void()>> withheld;
  };
  void begin();
  void end(std::uint64_t number, const std::string& text);
  void deliver(const void* owner, std::uint64_t last_before, std::function<void()> answer);

  EventLoop& loop_;
  Memories& memories_;
  const DeviceObservers& observers_;
  const std::function<void()> settled_;
  std::deque<Explanation> waiting_;  // in the order of the failures
  std::uint64_t last_ = 0;           // its number
};

}  // namespace softtpu
