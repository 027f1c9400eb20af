// Which command owns which bytes of local memory, and when: a block is what one command writes, alive from that write
// to its last use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// Bytes [begin, end) on each NPU of [first_npu, first_npu + npus): the smallest box round a tensor.
struct LocalBox {
  std::uint32_t begin = 0, end = 0;
  int first_npu = 0, npus = 0;

  bool meets(const LocalBox& other) const {
    return begin < other.end && other.begin < end && first_npu < other.first_npu + other.npus &&
           other.first_npu < first_npu + npus;
  }
  bool covers(const LocalBox& other) const {
    return begin <= other.begin && other.end <= end && first_npu <= other.first_npu &&
           other.first_npu + other.npus <= first_npu + npus;
  }
  std::uint64_t bytes() const { return std::uint64_t{end - begin} * static_cast<unsigned>(npus); }
};

struct LocalBlock : LocalBox {
  double from_us = 0, to_us = 0;
  std::size_t call = 0;   // that wrote it first: an index into the launch's calls
  std::string operand;    // "dst [1, 64, 28, 28] fp16"
  bool overlaps = false;  // another block took some of its bytes before its last use
};

// The place of a tensor in local memory alone; nullopt: it lies elsewhere, or has no elements.
std::optional<LocalBox> box_of(const Chip& chip, const Tensor& tensor);

// Thread: the core's own. A write inside a living block is part of it (a padded tensor that is filled in pieces); one
// that takes some of a block's bytes and others marks both, if the older block is read again afterwards.
class LocalMap {
 public:
  void clear() { blocks_.clear(), open_.clear(); }
  void write(const Chip& chip, const Tensor& tensor, double start_us, double end_us, std::size_t call,
             const char* operand);
  void read(const Chip& chip, const Tensor& tensor, double end_us);
  const std::vector<LocalBlock>& blocks() const { return blocks_; }

 private:
  struct Open {
    std::size_t block = 0;
    std::vector<std::size_t> taken_by;  // blocks that were written over a part of it
  };
  std::vector<LocalBlock> blocks_;
  std::vector<Open> open_;
};

}  // namespace softtpu
