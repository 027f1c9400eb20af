// One shared memory and its contents at some time: only blocks that its file really holds; the others are zero.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "device/memory/memories.hpp"

namespace softtpu {

class MemoryImage {
 public:
  static constexpr std::uint64_t kBlockBytes = 64U << 10;
  using Block = std::vector<std::uint8_t>;

  // `name` is the memory's in records: global, l2, local or dtcm. `start` is its address for kernels.
  MemoryImage(std::string name, std::uint64_t start, std::uint8_t* memory, std::uint64_t bytes, int fd)
      : name_(std::move(name)), start_(start), memory_(memory), bytes_(bytes), fd_(fd) {}

  const std::string& name() const { return name_; }
  std::uint64_t start() const { return start_; }
  std::uint64_t bytes() const { return bytes_; }

  void take();
  void restore() const;

  struct Difference {
    std::uint64_t first = 0, end = 0;  // offsets of the first run of bytes
    std::uint64_t count = 0;
  };
  // Where the memory now differs from the image.
  std::optional<Difference> compare() const;
  // What the memory now holds in the blocks where it differs from the image, by offset.
  std::map<std::uint64_t, Block> changes() const;

  // The contents by offset; the offset of a block is a multiple of kBlockBytes, and only the memory's last may be
  // shorter than that.
  const std::map<std::uint64_t, Block>& blocks() const { return blocks_; }
  void set_block(std::uint64_t offset, Block contents) { blocks_[offset] = std::move(contents); }

 private:
  std::set<std::uint64_t> present() const;
  std::set<std::uint64_t> all() const;
  const std::uint8_t* contents_of(std::uint64_t block) const;
  std::uint64_t size_of_block(std::uint64_t block) const;

  std::string name_;
  std::uint64_t start_;
  std::uint8_t* memory_;
  std::uint64_t bytes_;
  int fd_;
  std::map<std::uint64_t, Block> blocks_;
};

// All memories that a kernel can change, without contents; global memory is the first.
std::vector<MemoryImage> make_images(Memories& memories);

}  // namespace softtpu
