// The constants that the chip holds in static memory: coefficient tables of the special functions
// (numerics: bm1684x-sfu-tables.json, recorded from the chip's emulator; golden bm1684x/sfu_load). Those of 16 bits and
// the arc tangent's are as the newer emulator has them (bmodel: static-memory-bm1684x.bin).
#pragma once

#include <cstdint>
#include <span>

#include "device/chip/chip.hpp"

namespace softtpu {

// One table: where it starts in static memory (bytes) and its 32-bit words.
struct StaticTable {
  const char* name;
  std::uint32_t offset;
  std::span<const std::uint32_t> words;
};

std::span<const StaticTable> static_tables(const Chip& chip);
// The word that fills static memory where no table lies.
std::uint32_t static_gap(const Chip& chip);
// Where a chip has what others have at one of the offsets below.
std::uint32_t static_place(const Chip& chip, std::uint32_t offset);

// Offsets that functions load from.
namespace static_offset {
inline constexpr std::uint32_t kExpTable = 0x0;
inline constexpr std::uint32_t kExpCoeff = 0x400;
inline constexpr std::uint32_t kLogCoeff = 0x480;
inline constexpr std::uint32_t kErfCoeff = 0x580;
inline constexpr std::uint32_t kSequence = 0x5C0;
inline constexpr std::uint32_t kSinCoeff = 0x6C0;
inline constexpr std::uint32_t kCosCoeff = 0x740;
inline constexpr std::uint32_t kArcsinCoeff = 0x7C0;
inline constexpr std::uint32_t kTanCoeff = 0x8C0;
inline constexpr std::uint32_t kExpFp16Coeff = 0x940;
inline constexpr std::uint32_t kExpBf16Coeff = 0x980;
inline constexpr std::uint32_t kLogFp16Coeff = 0x9C0;
inline constexpr std::uint32_t kLogBf16Coeff = 0xA00;
inline constexpr std::uint32_t kSinFp16Coeff = 0xA40;
inline constexpr std::uint32_t kSinBf16Coeff = 0xA80;
inline constexpr std::uint32_t kCosFp16Coeff = 0xAC0;
inline constexpr std::uint32_t kCosBf16Coeff = 0xB00;
inline constexpr std::uint32_t kArctanCoeff = 0xB40;
// Of a table that is loaded on some chips only.
inline constexpr std::uint32_t kErfBf16Coeff = 0xFFFFFFFE;
// Of tables that only some chips have, and no function loads.
inline constexpr std::uint32_t kNone = 0xFFFFFFFF;
}  // namespace static_offset

// BM1684 keeps other tables in its lookup table memory.
namespace okk_static_offset {
inline constexpr std::uint32_t kIntTable = 0x0;     // f32 of the index as int8
inline constexpr std::uint32_t kExpTable = 0x400;   // e to the index as int8
inline constexpr std::uint32_t kExpSeries = 0x800;  // 1 / k!, one more than kMaxOkkSeries
// Those that compiled networks alone use.
inline constexpr std::uint32_t kByteTable = 0x1000;  // f32 of the index as uint8
inline constexpr std::uint32_t kSequence = 0x1400;   // 0, 1, 2 ... as f32
inline constexpr std::uint32_t kSequenceWords = 4096;
inline constexpr std::uint32_t kExponentTable = 0x5400;  // f32 of the index as int8, 0 where kExpTable has no number
}  // namespace okk_static_offset

}  // namespace softtpu
