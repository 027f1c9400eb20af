#include "device/record/memory_image.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace softtpu {

void MemoryImage::take() {
  for (const std::uint64_t block : present()) {
    blocks_[block].assign(memory_ + block, memory_ + block + size_of_block(block));
  }
}

void MemoryImage::restore() const {
  for (const std::uint64_t block : present()) {
    if (!blocks_.contains(block)) std::memset(memory_ + block, 0, size_of_block(block));
  }
  for (const auto& [block, contents] : blocks_) std::memcpy(memory_ + block, contents.data(), contents.size());
}

std::optional<MemoryImage::Difference> MemoryImage::compare() const {
  std::optional<Difference> found;
  for (const std::uint64_t block : all()) {
    const std::uint64_t bytes = size_of_block(block);
    const std::uint8_t* was = contents_of(block);
    if (std::memcmp(was, memory_ + block, bytes) == 0) continue;
    for (std::uint64_t i = 0; i < bytes; ++i) {
      if (was[i] == memory_[block + i]) continue;
      if (!found) found = Difference{block + i, block + i, 0};
      if (found->end == block + i) ++found->end;
      ++found->count;
    }
  }
  return found;
}

std::map<std::uint64_t, MemoryImage::Block> MemoryImage::changes() const {
  std::map<std::uint64_t, Block> changed;
  for (const std::uint64_t block : all()) {
    const std::uint64_t bytes = size_of_block(block);
    if (std::memcmp(contents_of(block), memory_ + block, bytes) == 0) continue;
    changed.emplace(block, Block(memory_ + block, memory_ + block + bytes));
  }
  return changed;
}

std::uint64_t MemoryImage::size_of_block(std::uint64_t block) const { return std::min(kBlockBytes, bytes_ - block); }

const std::uint8_t* MemoryImage::contents_of(std::uint64_t block) const {
  static const Block kZeros(kBlockBytes);
  const auto found = blocks_.find(block);
  return found == blocks_.end() ? kZeros.data() : found->second.data();
}

std::set<std::uint64_t> MemoryImage::all() const {
  std::set<std::uint64_t> blocks = present();
  for (const auto& [block, contents] : blocks_) blocks.insert(block);
  return blocks;
}

// Offsets of the blocks that hold data.
std::set<std::uint64_t> MemoryImage::present() const {
  std::set<std::uint64_t> blocks;
  off_t at = 0;
  while (at < static_cast<off_t>(bytes_)) {
    const off_t data = ::lseek(fd_, at, SEEK_DATA);
    if (data < 0 || data >= static_cast<off_t>(bytes_)) break;
    at = std::min(::lseek(fd_, data, SEEK_HOLE), static_cast<off_t>(bytes_));
    for (auto block = static_cast<std::uint64_t>(data) / kBlockBytes * kBlockBytes;
         block < static_cast<std::uint64_t>(at); block += kBlockBytes) {
      blocks.insert(block);
    }
  }
  return blocks;
}

std::vector<MemoryImage> make_images(Memories& memories) {
  const Chip& chip = memories.chip();
  const std::vector<int> fds = memories.fds();
  std::vector<MemoryImage> images;
  images.emplace_back("global", chip.global_mem.start, memories.global(), chip.global_mem.bytes, fds[0]);
  images.emplace_back("l2", chip.l2_sram.start, memories.l2(), chip.l2_sram.bytes, fds[1]);
  images.emplace_back("local", 0, memories.local(0), chip.local_mem.bytes, fds[3]);
  if (chip.dtcm) images.emplace_back("dtcm", chip.dtcm->start, memories.dtcm(), chip.dtcm->bytes, fds[4]);
  return images;
}

}  // namespace softtpu
