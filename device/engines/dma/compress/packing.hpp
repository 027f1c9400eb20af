// The lossless byte code of the compression commands (format: device/engines/dma/README.md). Pure functions on bytes.
#pragma once

#include <cstdint>
#include <optional>

#include "device/engines/dma/compress/command.hpp"
#include "device/isa/packing_size.hpp"

namespace softtpu {

// Codes `count` contiguous elements; returns the number of bytes written to `out` (at most max_packed_bytes).
std::int64_t pack(const std::uint8_t* elements, std::int64_t count, int size, const PackingRule& rule,
                  std::uint8_t* out);

// Bytes that the code of `count` elements takes; nullopt when it does not fit into `limit` bytes or is no such code.
std::optional<std::int64_t> packed_bytes(const std::uint8_t* in, std::int64_t limit, std::int64_t count, int size);

// The reverse of pack(), for a code that packed_bytes() has accepted.
void unpack(const std::uint8_t* in, std::int64_t count, int size, const PackingRule& rule, std::uint8_t* elements);

}  // namespace softtpu
