// One memory of a device whose changes are to be seen. It is a sparse file: pages that were not touched since clear()
// are holes, and holes need not be cleared, kept or compared.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "tests/fuzz/input.hpp"

namespace softtpu::fuzz {

class WatchedMemory {
 public:
  WatchedMemory(int fd, std::span<std::uint8_t> bytes) : fd_(fd), bytes_(bytes), kept_(bytes.size()) {}

  std::span<std::uint8_t> bytes() const { return bytes_; }
  // Makes all bytes zero.
  void clear() {
    require(::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes_.size())) == 0,
            "memory can be given back");
  }
  // What it holds now is what it should hold.
  void keep() {
    for (const Range& range : ranges_) std::memset(kept_.data() + range.begin, 0, range.bytes);
    ranges_ = touched();
    for (const Range& range : ranges_)
      std::memcpy(kept_.data() + range.begin, bytes_.data() + range.begin, range.bytes);
  }
  bool is_as_kept() const {
    for (const Range& range : touched()) {
      if (std::memcmp(kept_.data() + range.begin, bytes_.data() + range.begin, range.bytes) != 0) return false;
    }
    return true;
  }

 private:
  struct Range {
    std::size_t begin, bytes;
  };
  std::vector<Range> touched() const {
    std::vector<Range> ranges;
    off_t begin = ::lseek(fd_, 0, SEEK_DATA);
    while (begin >= 0 && begin < static_cast<off_t>(bytes_.size())) {
      const off_t end = std::min(::lseek(fd_, begin, SEEK_HOLE), static_cast<off_t>(bytes_.size()));
      ranges.push_back({static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)});
      begin = ::lseek(fd_, end, SEEK_DATA);
    }
    return ranges;
  }

  int fd_;
  std::span<std::uint8_t> bytes_;
  std::vector<std::uint8_t> kept_;  // zeros outside of the ranges
  std::vector<Range> ranges_;
};

}  // namespace softtpu::fuzz
