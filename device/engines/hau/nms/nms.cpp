// HAU non-maximum suppression (numerics: bm1684x-dma-hau-gather.md section 4).
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "device/command/functions.hpp"
#include "device/engines/hau/nms/command.hpp"
#include "device/engines/hau/nms/four_floats.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/scratch.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

// The lowest bits of up to 64 bytes, the first in bit 0.
std::uint64_t low_bits(const std::uint8_t* bytes, int count) {
  std::uint64_t bits = 0;
  int i = 0;
  for (; i + 16 <= count; i += 16) bits |= std::uint64_t{low_bits_of_16(bytes + i)} << static_cast<unsigned>(i);
  for (; i < count; ++i) bits |= std::uint64_t{bytes[i] & 1U} << static_cast<unsigned>(i);
  return bits;
}

// Box i is bit i % 8 of byte i / 8; `kept` holds 0 or 1 for each.
void store_bitmap(const Memories& mem, const Tensor& dst, const std::uint8_t* kept, int boxes) {
  auto* bytes = TensorView(mem, dst).at<std::uint8_t>(0, 0, 0, 0);
  constexpr int kBits = 64;
  for (int i = 0; i < boxes; i += kBits) {
    const int count = std::min(kBits, boxes - i);
    const std::uint64_t bits = low_bits(kept + i, count);
    std::memcpy(bytes + i / 8, &bits, static_cast<std::size_t>((count + 7) / 8));
  }
}

// Boxes are judged in blocks. Those of a block judge each other in their order, by bits that have been collected from
// the mask; then the rows of those that stay are taken off all boxes behind the block. The latter is nearly all of the
// work: threads share the rows, and each keeps what its own rows have left.
class HardNms {
 public:
  HardNms(const TensorView& mask, int boxes, int keep_num)
      : mask_(mask),
        boxes_(boxes),
        keep_num_(keep_num == 0 ? boxes : keep_num),
        steps_(std::int64_t{std::min(kBlock, boxes)} * boxes / kBytesPerStep),
        parts_(threads_for(steps_)),
        left_(room<std::uint8_t, struct Left>(parts_ * width() + kBlock)),
        bits_(room<Word, struct Bits>(kBlock * kWords)),
        acts_(left_ + parts_ * width()) {
    std::fill_n(left_, parts_ * width(), std::uint8_t{1});
  }
  // 1 for each box that stays, else 0.
  const std::uint8_t* run() {
    Rows stay;
    for (int first = 0; first < boxes_; first += kBlock) {
      share(stay, first);
      judge(first, std::min(first + kBlock, boxes_), stay);
    }
    return left_;
  }

 private:
  static constexpr int kBlock = 256;
  static constexpr int kWordBits = 64;
  static constexpr int kWords = kBlock / kWordBits;
  static constexpr int kBytesPerStep = 4;
  static constexpr int kAhead = 16;
  static constexpr int kCollecting = kBlock * kBlock;  // bytes of rows that take as long to take off as bits to collect
  using Word = std::uint64_t;
  // Rows of the mask of the boxes of a block that stay.
  struct Rows {
    std::array<const std::uint8_t*, kBlock> row;
    int count = 0;
  };

  int width() const { return (boxes_ + kWordBits - 1) / kWordBits * kWordBits; }
  const std::uint8_t* row(int box) const { return mask_.at<std::uint8_t>(0, 0, box, 0); }

  // Takes the rows of one block off the boxes behind it, and collects the bits of the next, which begins with `first`.
  // The first part collects all of them, so that they lie in the cache of the thread that judges, and has fewer rows.
  void share(const Rows& stay, int first) {
    if (kept_ == keep_num_) return;
    parallel_for(parts_, steps_, [&](int part) {
      const int begin = first_row(part, stay.count, first), end = first_row(part + 1, stay.count, first);
      if (part == 0) collect_bits(first);
      take_off(stay.row.data() + begin, end - begin, left_ + part * width(), first, boxes_);
    });
  }
  // The first of `rows` rows, of which boxes from `first` on are left, that belongs to a part.
  int first_row(int part, int rows, int first) const {
    if (part == 0) return 0;
    const int collecting = std::min(rows, kCollecting / (boxes_ - first));  // in rows
    const int own = std::max(0, (rows + collecting) / parts_ - collecting);
    return own + (rows - own) * (part - 1) / std::max(1, parts_ - 1);
  }
  // For each box of a block, what its row leaves of those behind it in the block.
  void collect_bits(int first) {
    const int count = std::min(kBlock, boxes_ - first);
    for (int box = 0; box < count; ++box) {
      // Each row is on a page of its own, which processors do not foresee.
      const std::uint8_t* ahead = row(first + std::min(box + kAhead, count - 1)) + first;
      for (int line = word_of(box) * kWordBits; line < count; line += kWordBits) __builtin_prefetch(ahead + line);
      Word* bits = bits_ + box * kWords;
      store_bits(row(first + box) + first, word_of(box), count, bits);
      bits[word_of(box)] |= ~Word{0} >> static_cast<unsigned>(kWordBits - 1 - box % kWordBits);
      const bool idle = std::all_of(bits + word_of(box), bits + kWords, [](Word left) { return left == ~Word{0}; });
      acts_[box] = static_cast<std::uint8_t>(idle ? 0 : 1);
    }
  }
  static void prefetch(const void* bytes, std::int64_t count) {
    constexpr int kLine = 64;
    for (std::int64_t at = 0; at < count; at += kLine) __builtin_prefetch(static_cast<const std::uint8_t*>(bytes) + at);
  }
  static int word_of(int box) { return box / kWordBits; }
  static void store_bits(const std::uint8_t* bytes, int word, int count, Word* bits) {
    for (int i = word * kWordBits; i < count; i += kWordBits)
      bits[word_of(i)] = low_bits(bytes + i, std::min(kWordBits, count - i));
  }

  void judge(int first, int last, Rows& stay) {
    // What the other parts have left lies in other processors' caches: it is asked for before the first is waited for.
    for (int part = 1; part < parts_; ++part) prefetch(left_ + part * width() + first, kBlock);
    for (int part = 1; part < parts_; ++part) {
      const std::uint8_t* row = left_ + part * width();
      take_off(&row, 1, left_, first, last);
    }
    Word alive[kWords] = {}, acts[kWords] = {};
    store_bits(left_ + first, 0, last - first, alive);
    store_bits(acts_, 0, last - first, acts);
    std::fill(left_ + first, left_ + last, std::uint8_t{0});
    stay.count = 0;
    for (int word = 0; word < kWords && kept_ < keep_num_; ++word) {
      for (Word acting = alive[word] & acts[word]; acting != 0; acting &= alive[word] & (acting - 1)) {
        const Word* bits = bits_ + (word * kWordBits + std::countr_zero(acting)) * kWords;
        for (int behind = word; behind < kWords; ++behind) alive[behind] &= bits[behind];
      }
      for (Word staying = alive[word]; staying != 0 && kept_ < keep_num_; staying &= staying - 1, ++kept_) {
        const int box = first + word * kWordBits + std::countr_zero(staying);
        left_[box] = 1;
        stay.row[static_cast<std::size_t>(stay.count++)] = row(box);
      }
    }
  }
  // Takes `count` rows off what is left of boxes [first, last). Four at a time, the last again where there are fewer,
  // cost a quarter of the loads and stores.
  static void take_off(const std::uint8_t* const* rows, int count, std::uint8_t* boxes, int first, int last) {
    auto* __restrict left = boxes;  // apart from the mask, as the compiler has to know for its vectors
    for (int k = 0; k < count; k += 4) {
      const auto row = [&](int i) { return rows[std::min(i, count - 1)]; };
      const std::uint8_t *a = row(k), *b = row(k + 1), *c = row(k + 2), *d = row(k + 3);
      for (int box = first; box < last; ++box)
        left[box] = static_cast<std::uint8_t>(left[box] & a[box] & b[box] & c[box] & d[box]);
    }
  }

  const TensorView mask_;
  const int boxes_, keep_num_;
  const std::int64_t steps_;
  const int parts_;
  std::uint8_t* const left_;  // of each part, one behind the other; of the judged boxes in the first
  Word* const bits_;          // of each box of a block
  std::uint8_t* const acts_;  // 1: takes a box behind it in its block off
  int kept_ = 0;
};

// The scores of soft NMS, with the largest of each block of them: a round reads them once. A box that is taken is
// marked by a score that is not a number, which is never above anything and stays what it is.
class SoftScores {
 public:
  SoftScores(const float* given, int count, float threshold)
      : count_(count),
        threshold_(threshold),
        scores_(room<float, struct Scores>(count)),
        highest_(room<float, struct Highest>((count + kBlock - 1) / kBlock)) {
    std::transform(given, given + count, scores_, [](float score) { return flush(score); });
    for_each_block([&](int first, int last) {
      return std::accumulate(scores_ + first, scores_ + last, threshold_,
                             [](float most, float score) { return score > most ? score : most; });
    });
  }

  // The first box with the largest score above the threshold, which is taken; -1: there is none.
  int take_best() {
    const auto* block = std::max_element(highest_, highest_ + (count_ + kBlock - 1) / kBlock);
    if (!(*block > threshold_)) return -1;
    const std::int64_t first = (block - highest_) * kBlock;
    float* best = std::find(scores_ + first, scores_ + count_, *block);
    *best = std::numeric_limits<float>::quiet_NaN();
    return static_cast<int>(best - scores_);
  }

  void multiply(const float* coeff) {
    for_each_block([&](int first, int last) {
      if (last - first == kBlock) return multiply_block(scores_ + first, coeff + first, threshold_);
      float most = threshold_;
      for (int i = first; i < last; ++i) {
        scores_[i] = float_product(scores_[i], coeff[i]);
        most = scores_[i] > most ? scores_[i] : most;
      }
      return most;
    });
  }

 private:
  static constexpr int kBlock = 64;

  // The largest product above the threshold, or that.
  static float multiply_block(float* scores, const float* coeff, float threshold) {
    constexpr int kLanes = 4, kChains = 4;
    FourFloats most[kChains];
    for (FourFloats& chain : most) chain = four_times(threshold);
    for (int i = 0; i < kBlock; i += kLanes) {
      const FourFloats score = four_products(load_four(scores + i), load_four(coeff + i));
      store_four(score, scores + i);
      FourFloats& chain = most[i / kLanes % kChains];
      chain = larger_of(score, chain);
    }
    std::array<float, kLanes> last;
    store_four(larger_of(larger_of(most[0], most[1]), larger_of(most[2], most[3])), last.data());
    return *std::max_element(last.begin(), last.end());
  }

  template <class Highest>
  void for_each_block(const Highest& highest) {
    for (int first = 0; first < count_; first += kBlock)
      highest_[first / kBlock] = highest(first, std::min(first + kBlock, count_));
  }

  const int count_;
  const float threshold_;
  float *const scores_, *const highest_;
};

}  // namespace

void execute(Memories& mem, const HauHardNmsCmd& cmd) {
  const int boxes = cmd.mask.shape.w;
  HardNms nms(TensorView(mem, cmd.mask), boxes, cmd.keep_num);
  store_bitmap(mem, cmd.dst, nms.run(), boxes);
}

// Each round depends on the one before, and is too short to be shared.
void execute(Memories& mem, const HauSoftNmsCmd& cmd) {
  const int boxes = cmd.score.shape.w;
  const TensorView coeff(mem, cmd.coeff);
  SoftScores scores(TensorView(mem, cmd.score).at<float>(0, 0, 0, 0), boxes, flush(cmd.threshold));
  auto* kept = room<std::uint8_t, struct Kept>(boxes);
  std::fill_n(kept, boxes, std::uint8_t{0});
  for (int count = 0; cmd.keep_num == 0 || count < cmd.keep_num; ++count) {
    const int best = scores.take_best();
    if (best < 0) break;
    kept[best] = 1;
    scores.multiply(coeff.at<float>(0, 0, best, 0));
  }
  store_bitmap(mem, cmd.dst, kept, boxes);
}

}  // namespace softtpu
