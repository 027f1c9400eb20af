// HAU sort (numerics: bm1684x-dma-hau-gather.md section 4).
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "device/core/commands.hpp"
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

const std::uint32_t* words(const Memories& mem, const Tensor& tensor) {
  return TensorView(mem, tensor).at<std::uint32_t>(0, 0, 0, 0);
}

std::vector<Positioned> positioned_entries(const HauSortCmd& cmd, const std::uint32_t* values) {
  std::vector<Positioned> entries(static_cast<std::size_t>(cmd.src.shape.w));
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const std::uint32_t key = key_of(values[i], cmd.src.dtype);
    entries[i] = std::uint64_t{cmd.descending ? ~key : key} << 32 | i;
  }
  return entries;
}

std::vector<Indexed> indexed_entries(const HauSortCmd& cmd, const std::uint32_t* values, const std::uint32_t* indices) {
  std::vector<Indexed> entries(static_cast<std::size_t>(cmd.src.shape.w));
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const std::uint32_t key = key_of(values[i], cmd.src.dtype);
    entries[i] = {std::uint64_t{cmd.descending ? ~key : key} << 32 | indices[i], i};
  }
  return entries;
}

constexpr int kDigitBits = 11;
constexpr std::uint64_t kDigitMask = (1U << kDigitBits) - 1;

// One stable pass: entries in the order of one digit. A digit that all entries share moves nothing.
template <class Entry>
bool distribute(const std::vector<Entry>& from, std::vector<Entry>& to, int shift) {
  const auto digit = [shift](const Entry& entry) { return order_of(entry) >> shift & kDigitMask; };
  std::array<std::uint32_t, kDigitMask + 1> next{};
  for (const Entry& entry : from) ++next[digit(entry)];
  if (next[digit(from.front())] == from.size()) return false;
  std::exclusive_scan(next.begin(), next.end(), next.begin(), 0U);
  for (const Entry& entry : from) to[next[digit(entry)]++] = entry;
  return true;
}

// Brings the `kept` smallest entries to the front, in order. Many are sorted digit by digit; a few are selected first.
template <class Entry>
void sort_front(std::vector<Entry>& entries, std::size_t kept) {
  constexpr std::size_t kFew = 2048;  // up to here comparing is faster than counting digits
  const auto before = [](const Entry& a, const Entry& b) { return order_of(a) < order_of(b); };
  if (kept <= kFew) {
    const auto end = entries.begin() + static_cast<std::ptrdiff_t>(kept);
    if (end != entries.end()) std::nth_element(entries.begin(), end, entries.end(), before);
    std::sort(entries.begin(), end, before);
    return;
  }
  std::vector<Entry> other(entries.size());
  for (int shift = first_bit(entries.front()); shift < 64; shift += kDigitBits) {
    if (distribute(entries, other, shift)) entries.swap(other);
  }
}

// All input has been read before the first result is written: they may share memory.
template <class Entry>
void write_results(const Memories& mem, const HauSortCmd& cmd, std::vector<Entry> entries,
                   const std::uint32_t* values) {
  const auto kept = static_cast<std::size_t>(cmd.dst.shape.w);
  sort_front(entries, kept);
  std::vector<std::uint32_t> results(kept);
  for (std::size_t i = 0; i < kept; ++i) results[i] = values[position_of(entries[i])];
  std::memcpy(TensorView(mem, cmd.dst).at<std::uint32_t>(0, 0, 0, 0), results.data(), kept * sizeof(std::uint32_t));
  if (cmd.index == SortIndex::kNone) return;
  auto* dst_index = TensorView(mem, cmd.dst_index).at<std::uint32_t>(0, 0, 0, 0);
  for (std::size_t i = 0; i < kept; ++i) dst_index[i] = static_cast<std::uint32_t>(order_of(entries[i]));
}

}  // namespace

void execute(Memories& mem, const HauSortCmd& cmd) {
  const std::uint32_t* values = words(mem, cmd.src);
  if (cmd.index == SortIndex::kGiven)
    return write_results(mem, cmd, indexed_entries(cmd, values, words(mem, cmd.src_index)), values);
  write_results(mem, cmd, positioned_entries(cmd, values), values);
}

}  // namespace softtpu
