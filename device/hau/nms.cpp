// HAU non-maximum suppression (numerics: bm1684x-dma-hau-gather.md section 4).
#include <cstring>
#include <vector>

#include "device/core/commands.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

using Flags = std::vector<std::uint8_t>;

// Box i is bit i % 8 of byte i / 8.
void store_bitmap(const Memories& mem, const Tensor& dst, const Flags& kept) {
  std::vector<std::uint8_t> bytes((kept.size() + 7) / 8);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | kept[i] << (i % 8));
  }
  std::memcpy(TensorView(mem, dst).at<std::uint8_t>(0, 0, 0, 0), bytes.data(), bytes.size());
}

// The alive box with the largest score above the threshold, the first of equals; -1 when there is none.
std::ptrdiff_t find_best(const std::vector<float>& scores, const Flags& alive, float threshold) {
  std::ptrdiff_t best = -1;
  float highest = threshold;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (alive[i] == 0 || !(scores[i] > highest)) continue;
    highest = scores[i];
    best = static_cast<std::ptrdiff_t>(i);
  }
  return best;
}

}  // namespace

void execute(Memories& mem, const HauHardNmsCmd& cmd) {
  const auto boxes = static_cast<std::size_t>(cmd.mask.shape.w);
  const TensorView mask(mem, cmd.mask);
  Flags alive(boxes, 1);
  Flags kept(boxes, 0);
  int count = 0;
  for (std::size_t i = 0; i < boxes; ++i) {
    if (alive[i] == 0) continue;
    if (cmd.keep_num != 0 && count == cmd.keep_num) break;
    kept[i] = 1;
    ++count;
    const auto* row = mask.at<std::uint8_t>(0, 0, static_cast<std::int64_t>(i), 0);
    for (std::size_t j = i + 1; j < boxes; ++j) alive[j] = static_cast<std::uint8_t>(alive[j] & row[j] & 1);
  }
  store_bitmap(mem, cmd.dst, kept);
}

void execute(Memories& mem, const HauSoftNmsCmd& cmd) {
  const auto boxes = static_cast<std::size_t>(cmd.score.shape.w);
  const TensorView coeff(mem, cmd.coeff);
  std::vector<float> scores(boxes);
  std::memcpy(scores.data(), TensorView(mem, cmd.score).at<float>(0, 0, 0, 0), boxes * sizeof(float));
  for (float& score : scores) score = flush(score);
  Flags alive(boxes, 1);
  Flags kept(boxes, 0);
  for (int count = 0; cmd.keep_num == 0 || count < cmd.keep_num; ++count) {
    const std::ptrdiff_t best = find_best(scores, alive, flush(cmd.threshold));
    if (best < 0) break;
    alive[static_cast<std::size_t>(best)] = 0;
    kept[static_cast<std::size_t>(best)] = 1;
    const auto* row = coeff.at<float>(0, 0, best, 0);
    for (std::size_t j = 0; j < boxes; ++j) {
      if (alive[j] != 0) scores[j] = chip_mul(scores[j], flush(row[j]));
    }
  }
  store_bitmap(mem, cmd.dst, kept);
}

}  // namespace softtpu
