// HAU sort (numerics: bm1684x-dma-hau-gather.md section 4).
//
// Threads share the entries in equal parts. Passes are stable, so how many parts there are cannot be seen in the
// result.
#include <algorithm>
#include <array>
#include <numeric>
#include <type_traits>
#include <utility>

#include "device/command/functions.hpp"
#include "device/engines/hau/sort/command.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/scratch.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/formats.hpp"

namespace softtpu {
namespace {

// What is sorted: the key, then the index, as one number; smaller comes first. Without given indices the index is the
// position in the input, and the number is all there is.
using Positioned = std::uint64_t;
struct Indexed {
  std::uint64_t order;
  std::uint32_t position;
};
std::uint64_t order_of(Positioned entry) { return entry; }
std::uint64_t order_of(const Indexed& entry) { return entry.order; }
std::uint32_t position_of(Positioned entry) { return static_cast<std::uint32_t>(entry); }
std::uint32_t position_of(const Indexed& entry) { return entry.position; }
// Entries start in the order of their positions, so only the key is left to be sorted when that is the index.
constexpr int first_bit(Positioned) { return 32; }
constexpr int first_bit(const Indexed&) { return 0; }

// Maps a value to an unsigned number of the same order. f32: subnormals and zeros are equal, a NaN is above everything.
std::uint32_t key_of(std::uint32_t bits, Dtype type) {
  constexpr std::uint32_t kSign = 0x80000000U;
  if (type == Dtype::kUint32) return bits;
  if (type == Dtype::kInt32) return bits ^ kSign;
  if (is_nan_bits(bits)) return ~0U;
  const std::uint32_t flushed = flush_bits(bits);
  const std::uint32_t number = flushed == kSign ? 0 : flushed;
  return (number & kSign) != 0 ? ~number : number | kSign;
}

std::uint32_t* words(const Memories& mem, const Tensor& tensor) {
  return TensorView(mem, tensor).at<std::uint32_t>(0, 0, 0, 0);
}

// Equal parts of [0, count), one for each thread that shares them.
class Parts {
 public:
  explicit Parts(int count) : count_(count), parts_(std::min(threads_for(count), count)) {}
  int parts() const { return parts_; }
  int count() const { return count_; }
  int first(int part) const { return static_cast<int>(std::int64_t{count_} * part / parts_); }
  // Calls body(part, first, last) for all parts, in parallel.
  template <class Body>
  void each(const Body& body) const {
    parallel_for(parts_, count_, [&](int part) { body(part, first(part), first(part + 1)); });
  }

 private:
  int count_, parts_;
};

// What the input of a command is sorted as.
template <class Entry>
class Input {
 public:
  Input(const HauSortCmd& cmd, const std::uint32_t* values, const std::uint32_t* indices)
      : cmd_(cmd), values_(values), indices_(indices) {}
  int count() const { return cmd_.src.shape.w; }
  Entry operator[](int i) const {
    const auto position = static_cast<std::uint32_t>(i);
    const std::uint32_t key = key_of(values_[i], cmd_.src.dtype);
    const std::uint64_t upper = std::uint64_t{cmd_.descending ? ~key : key} << 32;
    if constexpr (std::is_same_v<Entry, Indexed>) {
      return {upper | indices_[i], position};
    } else {
      return upper | position;
    }
  }
  std::uint32_t value(const Entry& entry) const { return values_[position_of(entry)]; }

 private:
  const HauSortCmd& cmd_;
  const std::uint32_t* values_;
  const std::uint32_t* indices_;
};

constexpr int kDigitBits = 11;
constexpr std::uint64_t kDigits = 1U << kDigitBits;
using Places = std::array<std::uint32_t, kDigits>;  // for each digit

// How often each digit stands in each part.
template <class From, class Digit>
Places* count_digits(const Parts& parts, const From& from, const Digit& digit) {
  auto* counts = room<Places, struct Counts>(parts.parts());
  parts.each([&](int part, int first, int last) {
    Places mine{};
    for (int i = first; i < last; ++i) ++mine[digit(from[i])];
    counts[part] = mine;
  });
  return counts;
}

// One stable pass: entries in the order of one digit. A digit that all entries share moves nothing.
template <class Entry>
bool distribute(const Parts& parts, const Entry* from, Entry* to, int shift) {
  const auto digit = [shift](const Entry& entry) { return order_of(entry) >> shift & (kDigits - 1); };
  Places* next = count_digits(parts, from, digit);
  std::uint32_t place = 0;
  for (std::size_t value = 0; value < kDigits; ++value) {
    const std::uint32_t before = place;
    for (int part = 0; part < parts.parts(); ++part) place += std::exchange(next[part][value], place);
    if (place - before == static_cast<std::uint32_t>(parts.count())) return false;
  }
  parts.each([&](int part, int first, int last) {
    Places mine = next[part];
    for (int i = first; i < last; ++i) to[mine[digit(from[i])]++] = from[i];
  });
  return true;
}

// Entries that may be among the smallest: those whose upper bits are no more than `bound`. Passes move them to `other`.
template <class Entry>
struct Candidates {
  explicit Candidates(int most)
      : entries(room<Entry, struct Entries>(most)), other(room<Entry, struct Other>(most)), count(most) {}
  Entry* entries;
  Entry* other;
  int count;
  std::uint64_t bound = 0;
};

constexpr int kFew = 2048;  // so many are sorted by comparing: faster than counting digits

// Puts those of `from` that may be among the `kept` smallest, by the digit at `shift`, in the candidates' place.
template <class Entry, class From>
void narrow(const From& from, int kept, int shift, Candidates<Entry>& found) {
  const Parts parts(found.count);
  const std::uint64_t lowest = found.bound << kDigitBits;
  const auto digit = [=](const Entry& entry) {
    const std::uint64_t upper = order_of(entry) >> shift;
    return upper < lowest ? 0 : upper - lowest;
  };
  Places* counts = count_digits(parts, from, digit);
  std::uint64_t last_digit = 0;
  for (std::uint32_t enough = 0;; ++last_digit) {
    for (int part = 0; part < parts.parts(); ++part) enough += counts[part][last_digit];
    if (enough >= static_cast<std::uint32_t>(kept)) break;
  }
  int place = 0;
  for (int part = 0; part < parts.parts(); ++part) {
    const auto end = counts[part].begin() + static_cast<std::ptrdiff_t>(last_digit) + 1;
    const auto chosen = std::accumulate(counts[part].begin(), end, 0U);
    counts[part][0] = static_cast<std::uint32_t>(std::exchange(place, place + static_cast<int>(chosen)));
  }
  parts.each([&](int part, int first, int last) {
    Entry* next = found.entries + counts[part][0];
    for (int i = first; i < last; ++i) {
      const Entry entry = from[i];
      if (digit(entry) <= last_digit) *next++ = entry;
    }
  });
  found.count = place;
  found.bound = lowest + last_digit;
}

// Entries that hold the `kept` smallest: all of them, or few more than are kept.
template <class Entry>
Candidates<Entry> find_candidates(const Input<Entry>& input, int kept) {
  const std::int64_t enough = std::int64_t{4} * std::max(kept, kFew);
  Candidates<Entry> found(input.count());
  if (found.count <= enough) {
    Parts(found.count).each([&](int, int first, int last) {
      for (int i = first; i < last; ++i) found.entries[i] = input[i];
    });
    return found;
  }
  int shift = 64 - kDigitBits;
  narrow(input, kept, shift, found);
  while (found.count > enough && shift >= kDigitBits) {
    shift -= kDigitBits;
    std::swap(found.entries, found.other);
    narrow(found.other, kept, shift, found);
  }
  return found;
}

// The `kept` smallest entries, in order.
template <class Entry>
const Entry* sort_front(const Input<Entry>& input, int kept) {
  auto [entries, other, count, bound] = find_candidates(input, kept);
  if (count <= 4 * kFew) {
    const auto before = [](const Entry& a, const Entry& b) {
      return order_of(a) != order_of(b) ? order_of(a) < order_of(b) : position_of(a) < position_of(b);
    };
    if (kept < count) std::nth_element(entries, entries + kept, entries + count, before);
    std::sort(entries, entries + kept, before);
    return entries;
  }
  for (int shift = first_bit(*entries); shift < 64; shift += kDigitBits) {
    if (distribute(Parts(count), entries, other, shift)) std::swap(entries, other);
  }
  return entries;
}

template <class Entry>
void sort(const Memories& mem, const HauSortCmd& cmd, const Input<Entry>& input) {
  const Parts kept(cmd.dst.shape.w);
  const Entry* sorted = sort_front(input, kept.count());
  // All input has been read before the first result is written: they may share memory.
  auto* results = room<std::uint32_t, struct Results>(kept.count());
  kept.each([&](int, int first, int last) {
    for (int i = first; i < last; ++i) results[i] = input.value(sorted[i]);
  });
  auto* dst = words(mem, cmd.dst);
  auto* dst_index = cmd.index == SortIndex::kNone ? nullptr : words(mem, cmd.dst_index);
  kept.each([&](int, int first, int last) {
    std::copy(results + first, results + last, dst + first);
    if (dst_index == nullptr) return;
    for (int i = first; i < last; ++i) dst_index[i] = static_cast<std::uint32_t>(order_of(sorted[i]));
  });
}

}  // namespace

void execute(Memories& mem, const HauSortCmd& cmd) {
  const std::uint32_t* values = words(mem, cmd.src);
  if (cmd.index == SortIndex::kGiven) {
    sort(mem, cmd, Input<Indexed>(cmd, values, words(mem, cmd.src_index)));
  } else {
    sort(mem, cmd, Input<Positioned>(cmd, values, nullptr));
  }
}

}  // namespace softtpu
