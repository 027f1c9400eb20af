#include "device/server/queue/explanation_queue.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "device/server/crash/crash_info.hpp"
#include "runtime/transport/event_loop.hpp"

namespace softtpu {
namespace {

// Crashes that wait for their explanation; those beyond are reported without one.
constexpr std::size_t kMostExplanations = 16;

}  // namespace

void ExplanationQueue::add(Failed failed, const std::function<std::optional<Symbolizer::Remains>()>& remains) {
  const std::uint64_t number = ++last_;
  const auto explained = [this, number, said = std::move(failed.said), question = std::move(failed.question),
                          otherwise = std::move(failed.otherwise)](const auto& explanation) {
    end(number, (explanation ? to_text(question, *explanation) : otherwise(question)) + said);
  };
  std::unique_ptr<Symbolizer> symbolizer;
  if (waiting_.size() < kMostExplanations) {
    if (auto left = remains()) {
      auto started = Symbolizer::start(loop_, memories_, observers_, *std::move(left), explained);
      if (started) symbolizer = std::move(*started);
    }
  }
  if (!symbolizer) loop_.soon([explained] { explained(std::optional<msg::CoreExplainReply>()); });
  waiting_.push_back({number, failed.owner, std::move(symbolizer), std::move(failed.answer), {}});
  begin();
}

// As many as leave a processor to the cores.
void ExplanationQueue::begin() {
  std::size_t room = std::max(2U, std::thread::hardware_concurrency()) - 1;
  for (Explanation& explanation : waiting_) {
    if (!explanation.symbolizer) continue;
    if (!explanation.symbolizer->has_begun()) explanation.symbolizer->begin();
    if (--room == 0) return;
  }
}

void ExplanationQueue::end(std::uint64_t number, const std::string& text) {
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [number](const Explanation& e) { return e.number == number; });
  const Explanation ended = std::move(*found);
  waiting_.erase(found);
  begin();
  deliver(ended.owner, number, [answer = ended.answer, text] { answer(text); });
  for (const auto& answer : ended.withheld) deliver(ended.owner, number, answer);
  settled_();
}

// Not before the reports of those that failed earlier, which are the explanations with numbers up to this one.
void ExplanationQueue::deliver(const void* owner, std::uint64_t last_before, std::function<void()> answer) {
  const auto earlier = std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Explanation& e) {
    return owner != nullptr && e.owner == owner && e.number <= last_before;
  });
  if (earlier == waiting_.rend()) return answer();
  earlier->withheld.push_back(std::move(answer));
}

std::size_t ExplanationQueue::withheld() const {
  std::size_t count = waiting_.size();
  for (const Explanation& explanation : waiting_) count += explanation.withheld.size();
  return count;
}

}  // namespace softtpu
