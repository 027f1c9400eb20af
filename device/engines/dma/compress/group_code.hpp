// The chip's code of compressed elements, in groups of 16 (format: device/engines/dma/README.md; golden
// bm1688/new_compress). Pure functions on bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/engines/dma/compress/command.hpp"
#include "device/isa/packing_size.hpp"

namespace softtpu {

struct GroupFormat {
  Dtype type = Dtype::kInt8;  // of 8 or 16 bits
  PackingRule rule;
  // The map has a second byte for each group, with the number of zero symbols of floats. Else it stands in the codes.
  bool zeros_in_map = false;
};

struct GroupCode {
  std::vector<std::uint8_t> map;    // a byte for each group, or two, in whole steps of 16
  std::vector<std::uint8_t> codes;  // in whole steps of 16
};

GroupCode encode_groups(const std::uint8_t* elements, std::int64_t count, const GroupFormat& format);

// The reverse, into `elements`, of `room` bytes of codes with zeros behind them: the bytes that the codes take, in
// whole steps of 16. Nothing when map and codes do not belong together.
std::optional<std::int64_t> decode_groups(const std::uint8_t* map, const std::uint8_t* codes, std::int64_t room,
                                          std::int64_t count, const GroupFormat& format, std::uint8_t* elements);

// Of a unit: how many steps of 16 bytes its codes take (12 bits), and how many it begins before the end of the slots of
// the rows before it.
struct UnitMeta {
  static constexpr unsigned kLengthBits = 12;
  static constexpr std::uint32_t kLengths = (1U << kLengthBits) - 1;
  static constexpr std::uint32_t word(std::int64_t code_bytes, std::int64_t bytes_before) {
    const std::uint32_t length = static_cast<std::uint32_t>(code_bytes / kGroupAlignment) & kLengths;
    return static_cast<std::uint32_t>(bytes_before / kGroupAlignment) << kLengthBits | length;
  }
  // The length that a word gives. A unit that may take more than a word holds says nothing.
  static constexpr std::optional<std::int64_t> code_bytes(std::uint32_t word, std::int64_t most) {
    if (most > std::int64_t{kLengths} * kGroupAlignment) return std::nullopt;
    return std::int64_t{word & kLengths} * kGroupAlignment;
  }
};

}  // namespace softtpu
