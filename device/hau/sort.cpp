// HAU sort (numerics: bm1684x-dma-hau-gather.md section 4).
#include <algorithm>
#include <cstring>
#include <vector>

#include "device/core/commands.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/formats.hpp"

namespace softtpu {
namespace {

struct Entry {
  std::uint64_t order;  // key, then index: smaller comes first
  std::uint32_t bits, index;
};

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

std::vector<Entry> read_entries(const Memories& mem, const HauSortCmd& cmd) {
  const std::uint32_t* values = words(mem, cmd.src);
  const std::uint32_t* indices = cmd.index == SortIndex::kGiven ? words(mem, cmd.src_index) : nullptr;
  std::vector<Entry> entries(static_cast<std::size_t>(cmd.src.shape.w));
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const std::uint32_t key = key_of(values[i], cmd.src.dtype);
    const std::uint32_t index = indices != nullptr ? indices[i] : i;
    entries[i] = {std::uint64_t{cmd.descending ? ~key : key} << 32 | index, values[i], index};
  }
  return entries;
}

}  // namespace

void execute(Memories& mem, const HauSortCmd& cmd) {
  std::vector<Entry> entries = read_entries(mem, cmd);
  const auto before = [](const Entry& a, const Entry& b) { return a.order < b.order; };
  const auto kept = entries.begin() + cmd.dst.shape.w;
  if (kept != entries.end()) std::nth_element(entries.begin(), kept, entries.end(), before);
  std::sort(entries.begin(), kept, before);
  auto* dst = TensorView(mem, cmd.dst).at<std::uint32_t>(0, 0, 0, 0);
  std::transform(entries.begin(), kept, dst, [](const Entry& entry) { return entry.bits; });
  if (cmd.index == SortIndex::kNone) return;
  auto* dst_index = TensorView(mem, cmd.dst_index).at<std::uint32_t>(0, 0, 0, 0);
  std::transform(entries.begin(), kept, dst_index, [](const Entry& entry) { return entry.index; });
}

}  // namespace softtpu
