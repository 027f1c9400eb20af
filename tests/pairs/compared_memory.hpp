// A memory of a device in which each call begins with the same bytes, and of which only the pages that a call has
// written to are compared and set back. A call writes to a few of some hundred pages, so this is most of the speed of
// argument_pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace softtpu::pairs {

// The pages that a call has written to, in ascending order, with their bytes.
struct WrittenPages {
  std::vector<std::size_t> offsets;
  std::vector<std::uint8_t> bytes;
};

class ComparedMemory {
 public:
  // Maps a private copy of a file over the memory, which has to begin and end with a page. The image that calls begin
  // with is random, of the seed.
  ComparedMemory(std::span<std::uint8_t> memory, std::uint64_t seed);
  ComparedMemory(const ComparedMemory&) = delete;
  ComparedMemory& operator=(const ComparedMemory&) = delete;
  ~ComparedMemory();

  std::span<const std::uint8_t> image() const { return image_; }
  // Calls begin with the image from a byte on, turned, of each byte only the bits of the mask; until the next call of
  // this function.
  void set_start(std::uint64_t first, std::uint8_t mask);
  // Puts back what calls begin with.
  void reset();
  void read_written(WrittenPages& pages) const;

  // Where the memory first differed after two calls, and the bytes there.
  struct Difference {
    std::size_t offset;
    std::uint8_t one, other;
  };
  std::optional<Difference> first_difference(const WrittenPages& one, const WrittenPages& other) const;
  // Carries out use(offset, bytes of one, bytes of other) for each page that either has.
  template <class Use>
  void each_page(const WrittenPages& one, const WrittenPages& other, const Use& use) const {
    std::size_t i = 0, j = 0;
    while (i < one.offsets.size() || j < other.offsets.size()) {
      const std::size_t offset =
          j == other.offsets.size() || (i < one.offsets.size() && one.offsets[i] < other.offsets[j]) ? one.offsets[i]
                                                                                                     : other.offsets[j];
      const auto bytes = [&](const WrittenPages& pages, std::size_t& at) -> std::span<const std::uint8_t> {
        if (at == pages.offsets.size() || pages.offsets[at] != offset) return start_.subspan(offset, page_);
        return std::span(pages.bytes).subspan(at++ * page_, page_);
      };
      const auto left = bytes(one, i);
      use(offset, left, bytes(other, j));
    }
  }

 private:
  bool can_track();

  std::span<std::uint8_t> memory_;
  std::vector<std::uint8_t> image_;
  std::size_t page_;
  std::span<std::uint8_t> start_;  // the file
  int pagemap_ = -1;
  bool tracked_ = false;  // otherwise each page counts as written
  mutable std::vector<std::uint64_t> entries_;
};

}  // namespace softtpu::pairs
