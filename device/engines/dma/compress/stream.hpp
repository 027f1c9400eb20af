// The header of a compressed stream (format: device/engines/dma/README.md), shared by the command and its rules.
#pragma once

#include <cstdint>

#include "device/engines/dma/compress/command.hpp"
#include "device/isa/packing_size.hpp"

namespace softtpu {

struct StreamHeader {
  std::uint32_t magic = 0;
  std::uint32_t elements = 0;
  std::uint32_t payload = 0;  // bytes behind the header
  std::uint8_t size = 0;      // of an element
  std::uint8_t bias0 = 0, bias1 = 0, zero_guard = 0;
  bool operator==(const StreamHeader&) const = default;
};
static_assert(sizeof(StreamHeader) == kStreamHeaderBytes);

// All of the header but the payload's length.
inline StreamHeader make_stream_header(const DmaCompressCmd& cmd) {
  constexpr std::uint32_t kMagic = 0x314B5053;  // "SPK1"
  return {kMagic,
          static_cast<std::uint32_t>(cmd.plain.shape.elements()),
          0,
          static_cast<std::uint8_t>(size_of(cmd.plain.dtype)),
          cmd.rule.bias0,
          cmd.rule.bias1,
          static_cast<std::uint8_t>(cmd.rule.zero_guard ? 1 : 0)};
}

}  // namespace softtpu
