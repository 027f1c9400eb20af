#include "device/instruction/order.hpp"

#include <fmt/format.h>

#include <random>

namespace softtpu::stream {
namespace {

// One unit's stream and how far it has come.
struct Queue {
  Unit unit;
  std::span<const Instruction> instructions;
  std::uint32_t done = 0;

  bool empty() const { return done == instructions.size() || instructions[done].is_end(); }
  bool ready(const Queue& other) const { return !empty() && instructions[done].waits_for() <= other.done; }
};

// Each unit numbers its instructions 1, 2, 3 ...
Result<void> check_numbers(const Queue& queue) {
  for (std::uint32_t i = 0; i < queue.instructions.size() && !queue.instructions[i].is_end(); ++i) {
    if (queue.instructions[i].id() == i + 1) continue;
    return Error{ErrorKind::kUsage, fmt::format("{} stream, {}: instruction {} has the number {}", to_text(queue.unit),
                                                place_in(queue.instructions, i), i + 1, queue.instructions[i].id())};
  }
  return {};
}

Error stuck(const Queue& tiu, const Queue& dma) {
  std::string text = "the streams wait for ever:";
  for (const auto& [queue, other] : {std::pair(&tiu, &dma), std::pair(&dma, &tiu)}) {
    if (queue->empty()) continue;
    text += fmt::format(" {} {} at {} for {} {}, of which there are {};", to_text(queue->unit), queue->done + 1,
                        place_in(queue->instructions, queue->done), to_text(other->unit),
                        queue->instructions[queue->done].waits_for(), other->done);
  }
  text.back() = '.';
  return {ErrorKind::kUsage, text};
}

}  // namespace

Result<std::vector<Step>> order_streams(std::span<const Instruction> tiu, std::span<const Instruction> dma,
                                        std::uint64_t seed) {
  Queue first{Unit::kDma, dma};
  Queue second{Unit::kTiu, tiu};
  for (const Queue* queue : {&first, &second}) {
    if (const auto numbers = check_numbers(*queue); !numbers) return numbers.error();
  }
  std::mt19937_64 lot(seed);
  std::vector<Step> steps;
  steps.reserve(tiu.size() + dma.size());
  while (!first.empty() || !second.empty()) {
    const bool dma_ready = first.ready(second);
    const bool tiu_ready = second.ready(first);
    if (!dma_ready && !tiu_ready) return stuck(second, first);
    const bool both = dma_ready && tiu_ready;
    Queue& next = both && seed != 0 ? (lot() % 2 == 0 ? first : second) : dma_ready ? first : second;
    steps.push_back({next.unit, next.done++});
  }
  return steps;
}

}  // namespace softtpu::stream
