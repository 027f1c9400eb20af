#include "device/memory/static_tables.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "device/chip/rules.hpp"
#include "device/isa/limits.hpp"
#include "device/numeric/formats.hpp"

namespace softtpu {
namespace {

// IEEE single values as bits.
// clang-format off
constexpr std::uint32_t kExpTable[] = {
    0x00000001, 0x00000004, 0x0000000a, 0x0000001b, 0x00000048, 0x000000c4, 0x00000215, 0x000005a9,
    0x00000f64, 0x000029d6, 0x000071b9, 0x00013521, 0x0003484b, 0x0008ec28, 0x001840fc, 0x0041edc4,
    0x00b33687, 0x01739362, 0x022586e0, 0x02e0f96d, 0x0398e2cb, 0x044fcb22, 0x050d35d7, 0x05bfecba,
    0x06826d27, 0x07314490, 0x07f0ee94, 0x08a3baf0, 0x095e884f, 0x0a1739fb, 0x0acd89c1, 0x0b8bad78,
    0x0c3dd771, 0x0d0102bf, 0x0daf5800, 0x0e6e511e, 0x0f21f3fe, 0x0fdc1df9, 0x109595c7, 0x114b4ea4,
    0x120a295c, 0x12bbc7f1, 0x137f388b, 0x142d70c9, 0x14ebbaec, 0x15a031fc, 0x1659ba5a, 0x1713f623,
    0x17c919b9, 0x1888a975, 0x1939be2b, 0x19fc7361, 0x1aab8edc, 0x1b692beb, 0x1c1e74dd, 0x1cd75d5d,
    0x1d925b02, 0x1e46eaf1, 0x1f072dba, 0x1fb7ba0f, 0x2079b5ea, 0x2129b229, 0x21e6a405, 0x229cbc92,
    0x235506f2, 0x2410c457, 0x24c4c239, 0x2585b61d, 0x2635bb8d, 0x26f7000f, 0x27a7daa4, 0x28642328,
    0x291b090f, 0x29d2b706, 0x2a8f3216, 0x2b429f81, 0x2c044295, 0x2cb3c295, 0x2d7451bd, 0x2e26083c,
    0x2ee1a93f, 0x2f995a46, 0x30506d87, 0x310da433, 0x31c082b8, 0x3282d314, 0x3331cf19, 0x33f1aade,
    0x34a43ae5, 0x355f3638, 0x3617b02a, 0x36ce2a62, 0x378c1aa1, 0x383e6bce, 0x39016791, 0x39afe108,
    0x3a6f0b5d, 0x3b227290, 0x3bdcc9ff, 0x3c960aae, 0x3d4bed86, 0x3e0a9555, 0x3ebc5ab2, 0x3f800000,
    0x402df854, 0x40ec7326, 0x41a0af2e, 0x425a6481, 0x431469c5, 0x43c9b6e3, 0x44891443, 0x453a4f54,
    0x45fd38ac, 0x46ac14ee, 0x4769e224, 0x481ef0b3, 0x48d805ad, 0x4992cd62, 0x4a478665, 0x4b07975f,
    0x4bb849a4, 0x4c7a7910, 0x4d2a36c8, 0x4de75844, 0x4e9d3710, 0x4f55ad6e, 0x5011357a, 0x50c55bfe,
    0x51861e9d, 0x52364993, 0x52f7c118, 0x53a85dd2, 0x5464d572, 0x551b8238, 0x55d35bb3, 0x568fa1fe,
    0x5743379a, 0x5804a9f1, 0x58b44f11, 0x597510ad, 0x5a2689fe, 0x5ae2599a, 0x5b99d21f, 0x5c51106a,
    0x5d0e12e4, 0x5dc1192b, 0x5e833952, 0x5f325a0e, 0x5ff267bb, 0x60a4bb3e, 0x615fe4a9, 0x621826b5,
    0x62cecb81, 0x638c881f, 0x643f009e, 0x6501ccb3, 0x65b06a7b, 0x666fc62d, 0x6722f184, 0x67dd768b,
    0x68967ff0, 0x694c8ce5, 0x6a0b01a3, 0x6abcede5, 0x6b806408, 0x6c2e804a, 0x6ced2bef, 0x6da12cc1,
    0x6e5b0f2e, 0x6f14ddc1, 0x6fca5487, 0x70897f64, 0x713ae0ee, 0x71fdfe91, 0x72ac9b6a, 0x736a98ec,
    0x741f6ce9, 0x74d8ae7f, 0x7593401c, 0x76482254, 0x77080156, 0x77b8d9aa, 0x787b3ccf, 0x792abbce,
    0x79e80d11, 0x7a9db1ed, 0x7b56546b, 0x7c11a6f5, 0x7cc5f63b, 0x7d86876d, 0x7e36d809, 0x7ef882b7,
};
constexpr std::uint32_t kExpCoeff[] = {
    0x3f800000, 0x3f800000, 0x3f000000, 0x3e2aaaab, 0x3d2aaaab, 0x3c088889, 0x3ab60b61, 0x39500d01,
    0x37d00d01, 0x3638ef1d, 0x3493f27e, 0x32d7322b, 0x310f76c7, 0x2f309231, 0x2d49cba5, 0x2b573f9f,
    0x29573f9f, 0x274a963c, 0x253413c3, 0x2317a4da, 0x20f2a15d, 0x1eb8dc78, 0x1c8671cb, 0x1a3b0da1,
    0x17f96781, 0x159f9e67, 0x13447430, 0x10e8d58e, 0x0e850c51, 0x0c12cfcc, 0x099c9963, 0x0721a697,
};
constexpr std::uint32_t kLogCoeff[] = {
    0x00000000, 0x3f800000, 0xbf000000, 0x3eaaaaab, 0xbe800000, 0x3e4ccccd, 0xbe2aaaab, 0x3e124925,
    0xbe000000, 0x3de38e39, 0xbdcccccd, 0x3dba2e8c, 0xbdaaaaab, 0x3d9d89d9, 0xbd924925, 0x3d888889,
    0xbd800000, 0x3d70f0f1, 0xbd638e39, 0x3d579436, 0xbd4ccccd, 0x3d430c31, 0xbd3a2e8c, 0x3d321643,
    0xbd2aaaab, 0x3d23d70a, 0xbd1d89d9, 0x3d17b426, 0xbd124925, 0x3d0d3dcb, 0xbd088889, 0x3d042108,
    0xbd000000, 0x3cf83e10, 0xbcf0f0f1, 0x3cea0ea1, 0xbce38e39, 0x3cdd67c9, 0xbcd79436, 0x3cd20d21,
    0xbccccccd, 0x3cc7ce0c, 0xbcc30c31, 0x3cbe82fa, 0xbcba2e8c, 0x3cb60b61, 0xbcb21643, 0x3cae4c41,
    0xbcaaaaab, 0x3ca72f05, 0xbca3d70a, 0x3ca0a0a1, 0xbc9d89d9, 0x3c9a90e8, 0xbc97b426, 0x3c94f209,
    0xbc924925, 0x3c8fb824, 0xbc8d3dcb, 0x3c8ad8f3, 0xbc888889, 0x3c864b8a, 0xbc842108, 0x3c820821,
};
constexpr std::uint32_t kErfCoeff[] = {
    0xbfa1fc4e, 0x3f8000c7, 0x3ebf88fb, 0x3dc636c9, 0xbe3ec24c, 0x3e8ec7cc, 0xbf914e5d, 0x3fbe87b0,
    0xbf527892, 0x3e2ef945,
};
constexpr std::uint32_t kSinCoeff[] = {
    0x40c90fdb, 0xc2255de7, 0x42a335e3, 0xc2996966, 0x42283c1a, 0xc17183a8, 0x40747a1a, 0xbf37d6dd,
    0x3dd57619, 0xbc452021, 0x3a943b81, 0xb8b90afc, 0x36c2ce2d, 0xb4af48d5, 0x32885a92, 0xb03938fd,
    0x2ddd95af, 0xab6b3c3e, 0x28df1ab6, 0xa63e2e9b, 0x23927fcf, 0xa0ccf457, 0x1e02c4a4, 0x9b18d26f,
    0x18242afd, 0x9522a9a3, 0x12151fd0, 0x8efdb95a, 0x0bc8d5a5, 0x8894490a, 0x054cbb84, 0x82046eb1,
};
constexpr std::uint32_t kCosCoeff[] = {
    0x3f800000, 0xc19de9e6, 0x4281e0f8, 0xc2aae9e4, 0x4270fa83, 0xc1d368f9, 0x40fce9c5, 0xbfdb7128,
    0x3e906316, 0xbd15062d, 0x3b77b718, 0xb9a95721, 0x37c1c6c8, 0xb5bc4eb3, 0x339d55c3, 0xb1647685,
    0x2f117937, 0xaca3cb87, 0x2a2439a9, 0xa7938efb, 0x24eefd65, 0xa22f5474, 0x1f6a23b1, 0x9c8ee4dc,
    0x19a008eb, 0x96a50a23, 0x139d3ca3, 0x908acfa9, 0x0d63bdfe, 0x8a2e0d71, 0x06f87455, 0x83a5fbc7,
};
constexpr std::uint32_t kArcsinCoeff[] = {
    0x3f800000, 0x3e2aaaab, 0x3d99999a, 0x3d36db6e, 0x3cf8e38e, 0x3cb745d1, 0x3c8e2762, 0x3c64cccd,
    0x3c3d43c4, 0x3c1fef28, 0x3c09779e, 0x3bef9dea, 0x3bd3431f, 0x3bbc16ed, 0x3ba8dd18, 0x3b98b41e,
    0x3b8af74f, 0x3b7e57c8, 0x3b69e954, 0x3b58137b, 0x3b4865bc, 0x3b3a86f3, 0x3b2e2fab, 0x3b232605,
    0x3b193aac, 0x3b10469b, 0x3b08295e, 0x3b00c7cb, 0x3af415f3, 0x3ae7bef5, 0x3adc6973, 0x3ad1f8f8,
    0x3ac854fc, 0x3abf683d, 0x3ab7203d, 0x3aaf6cd0, 0x3aa83fca, 0x3aa18cae, 0x3a9b4873, 0x3a956950,
    0x3a8fe693, 0x3a8ab879, 0x3a85d810, 0x3a813f20, 0x3a79d01b, 0x3a719b9a, 0x3a69d79e, 0x3a627be4,
    0x3a5b80ed, 0x3a54dfe7, 0x3a4e929b, 0x3a48935f, 0x3a42dd01, 0x3a3d6ac2, 0x3a383845, 0x3a334188,
    0x3a2e82da, 0x3a29f8d4, 0x3a25a052, 0x3a21766c, 0x3a1d7873, 0x3a19a3e8, 0x3a15f67a, 0x3a126e04,
};
constexpr std::uint32_t kTanCoeff[] = {
    0x40490fdb, 0x41255de7, 0x422335e3, 0x4322fffd, 0x4422fa39, 0x4522f998, 0x4622f986, 0x4722f984,
    0x4822f983, 0x4922f983, 0x4a22f983, 0x4b22f983, 0x4c22f983, 0x4d22f983, 0x4e22f983, 0x4f22f983,
    0x5022f983, 0x5122f983, 0x5222f983, 0x5322f983, 0x5422f983, 0x5522f983, 0x5622f983, 0x5722f983,
    0x5822f983, 0x5922f983, 0x5a22f983, 0x5b22f983, 0x5c22f983, 0x5d22f983, 0x5e22f983, 0x5f22f983,
};
// clang-format on

constexpr auto kSequence = [] {
  std::array<std::uint32_t, 64> words{};
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i;
  return words;
}();

// The first coefficients of a series rounded to 16 bits, two in each word.
template <auto kRound>
constexpr auto rounded(std::span<const std::uint32_t> series) {
  constexpr std::size_t kTerms = 16;
  std::array<std::uint32_t, kTerms / 2> words{};
  for (std::size_t i = 0; i < std::min(kTerms, series.size()); ++i) {
    words[i / 2] |= std::uint32_t{kRound(std::bit_cast<float>(series[i]))} << i % 2 * 16;
  }
  return words;
}
constexpr auto kExpFp16Coeff = rounded<round_f16>(kExpCoeff);
constexpr auto kExpBf16Coeff = rounded<round_bf16>(kExpCoeff);
constexpr auto kLogFp16Coeff = rounded<round_f16>(kLogCoeff);
constexpr auto kLogBf16Coeff = rounded<round_bf16>(kLogCoeff);
constexpr auto kSinFp16Coeff = rounded<round_f16>(kSinCoeff);
constexpr auto kSinBf16Coeff = rounded<round_bf16>(kSinCoeff);
constexpr auto kCosFp16Coeff = rounded<round_f16>(kCosCoeff);
constexpr auto kCosBf16Coeff = rounded<round_bf16>(kCosCoeff);

// The series of the arc tangent: 1, -1/3, 1/5 ...
constexpr auto kArctanCoeff = [] {
  std::array<std::uint32_t, 32> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const float term = 1.0F / static_cast<float>(2 * i + 1);
    words[i] = std::bit_cast<std::uint32_t>(i % 2 == 0 ? term : -term);
  }
  return words;
}();

constexpr StaticTable kTpuTables[] = {
    {"exp_table", static_offset::kExpTable, kExpTable},
    {"exp_coeff", static_offset::kExpCoeff, kExpCoeff},
    {"log_coeff", static_offset::kLogCoeff, kLogCoeff},
    {"erf_coeff", static_offset::kErfCoeff, kErfCoeff},
    {"sin_coeff", static_offset::kSinCoeff, kSinCoeff},
    {"cos_coeff", static_offset::kCosCoeff, kCosCoeff},
    {"arcsin_coeff", static_offset::kArcsinCoeff, kArcsinCoeff},
    {"tan_coeff", static_offset::kTanCoeff, kTanCoeff},
    {"exp_fp16_coeff", static_offset::kExpFp16Coeff, kExpFp16Coeff},
    {"exp_bf16_coeff", static_offset::kExpBf16Coeff, kExpBf16Coeff},
    {"log_fp16_coeff", static_offset::kLogFp16Coeff, kLogFp16Coeff},
    {"log_bf16_coeff", static_offset::kLogBf16Coeff, kLogBf16Coeff},
    {"sin_fp16_coeff", static_offset::kSinFp16Coeff, kSinFp16Coeff},
    {"sin_bf16_coeff", static_offset::kSinBf16Coeff, kSinBf16Coeff},
    {"cos_fp16_coeff", static_offset::kCosFp16Coeff, kCosFp16Coeff},
    {"cos_bf16_coeff", static_offset::kCosBf16Coeff, kCosBf16Coeff},
    {"arctan_coeff", static_offset::kArctanCoeff, kArctanCoeff},
    {"sequence", static_offset::kSequence, kSequence},
};

constexpr auto kErfFp16Coeff = rounded<round_f16>(kErfCoeff);
constexpr auto kErfBf16Coeff = rounded<round_bf16>(kErfCoeff);

// Without the table of e^k everything lies that much lower; the 16-bit series of the exponential and from the second
// logarithm on lie 32 bytes closer, and those of the error function between them (golden bm1688/static_seq,
// bdc_move_misc; golden-bmodel/bm1688/static-memory.bin).
constexpr std::uint32_t kClosed = static_offset::kExpCoeff, kCloser = 32;
constexpr std::uint32_t closed(std::uint32_t offset) {
  const bool closer = offset == static_offset::kExpBf16Coeff || offset >= static_offset::kLogBf16Coeff;
  return offset - kClosed - (closer ? kCloser : 0);
}
constexpr auto kClosedTables = [] {
  constexpr std::size_t kLeftOut = 1;
  constexpr std::size_t kCount = std::size(kTpuTables) - kLeftOut;
  std::array<StaticTable, kCount + 2> tables{};
  for (std::size_t i = 0; i < kCount; ++i) {
    tables[i] = kTpuTables[i + kLeftOut];
    tables[i].offset = closed(tables[i].offset);
  }
  tables[kCount] = {"erf_fp16_coeff", 0x580, kErfFp16Coeff};
  tables[kCount + 1] = {"erf_bf16_coeff", 0x5A0, kErfBf16Coeff};
  return tables;
}();

// At multiples of 128 bytes, behind the last logarithm of 64, without the table of e^k (golden bm1690/static_seq,
// bdc_move_misc; golden-bmodel/bm1690/static-memory.bin).
constexpr std::uint32_t kApart = 128, kLaterApart = 64, kBetween = 0xDEADBEEF;
constexpr StaticTable kTablesInTurn[] = {
    {"exp_coeff", static_offset::kExpCoeff, kExpCoeff},
    {"log_coeff", static_offset::kLogCoeff, kLogCoeff},
    {"erf_coeff", static_offset::kErfCoeff, kErfCoeff},
    {"sequence", static_offset::kSequence, kSequence},
    {"sin_coeff", static_offset::kSinCoeff, kSinCoeff},
    {"cos_coeff", static_offset::kCosCoeff, kCosCoeff},
    {"arcsin_coeff", static_offset::kArcsinCoeff, kArcsinCoeff},
    {"tan_coeff", static_offset::kTanCoeff, kTanCoeff},
    {"exp_fp16_coeff", static_offset::kExpFp16Coeff, kExpFp16Coeff},
    {"exp_bf16_coeff", static_offset::kExpBf16Coeff, kExpBf16Coeff},
    {"erf_fp16_coeff", static_offset::kNone, kErfFp16Coeff},
    {"erf_bf16_coeff", static_offset::kNone, kErfBf16Coeff},
    {"log_fp16_coeff", static_offset::kLogFp16Coeff, kLogFp16Coeff},
    {"log_bf16_coeff", static_offset::kLogBf16Coeff, kLogBf16Coeff},
    {"sin_fp16_coeff", static_offset::kSinFp16Coeff, kSinFp16Coeff},
    {"sin_bf16_coeff", static_offset::kSinBf16Coeff, kSinBf16Coeff},
    {"cos_fp16_coeff", static_offset::kCosFp16Coeff, kCosFp16Coeff},
    {"cos_bf16_coeff", static_offset::kCosBf16Coeff, kCosBf16Coeff},
    {"arctan_coeff", static_offset::kArctanCoeff, kArctanCoeff},
};
constexpr auto kApartTables = [] {
  std::array<StaticTable, std::size(kTablesInTurn)> tables{};
  std::uint32_t next = 0, step = kApart;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    tables[i] = kTablesInTurn[i];
    tables[i].offset = next;
    if (tables[i].words.data() == kLogBf16Coeff.data()) step = kLaterApart;
    next += static_cast<std::uint32_t>(tables[i].words.size_bytes() + step - 1) / step * step;
  }
  return tables;
}();
constexpr std::uint32_t apart(std::uint32_t offset) {
  for (std::size_t i = 0; i < kApartTables.size(); ++i) {
    if (kTablesInTurn[i].offset == offset) return kApartTables[i].offset;
  }
  return 0;  // that of e^k, which nothing loads
}
static_assert(apart(static_offset::kArcsinCoeff) == 0x400 && apart(static_offset::kExpBf16Coeff) == 0x600);
static_assert(apart(static_offset::kSinFp16Coeff) == 0x840 && apart(static_offset::kArctanCoeff) == 0x940);

// Those of a chip whose functions take bf16: few, rounded, the exponential's f32 series beside them. All bytes are
// known (static memory of CV184X; golden cv184x/static_seq, bdc_move_misc).
constexpr auto kSequence16 = [] {
  std::array<std::uint32_t, 32> words{};
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = 2 * i | (2 * i + 1) << 16;
  return words;
}();
constexpr auto kArcsinBf16Coeff = [] {
  std::array<std::uint32_t, 26> words{};
  for (std::size_t i = 0; i < 2 * words.size(); ++i)
    words[i / 2] |= std::uint32_t{round_bf16(std::bit_cast<float>(kArcsinCoeff[i]))} << i % 2 * 16;
  return words;
}();
// 1 / (1 + i / 128).
constexpr auto kReciprocalBf16 = [] {
  constexpr std::size_t kSteps = 128;
  std::array<std::uint32_t, kSteps / 2> words{};
  for (std::size_t i = 0; i < kSteps; ++i)
    words[i / 2] |= std::uint32_t{round_bf16(1.0F / (1.0F + static_cast<float>(i) / kSteps))} << i % 2 * 16;
  return words;
}();
constexpr StaticTable kBf16Tables[] = {
    {"exp_bf16_coeff", 0, kExpBf16Coeff},      {"log_bf16_coeff", 32, kLogBf16Coeff},
    {"erf_bf16_coeff", 64, kErfBf16Coeff},     {"sequence", 96, kSequence},
    {"sequence_16", 352, kSequence16},         {"sin_bf16_coeff", 480, kSinBf16Coeff},
    {"cos_bf16_coeff", 544, kCosBf16Coeff},    {"arcsin_bf16_coeff", 608, kArcsinBf16Coeff},
    {"reciprocal_bf16", 736, kReciprocalBf16}, {"exp_coeff", 992, std::span(kExpCoeff).first<10>()},
};
constexpr std::uint32_t bf16_place(std::uint32_t offset) {
  switch (offset) {
    case static_offset::kExpBf16Coeff: return 0;
    case static_offset::kLogBf16Coeff: return 32;
    case static_offset::kErfBf16Coeff: return 64;
    case static_offset::kSequence: return 96;
    case static_offset::kSinBf16Coeff: return 480;
    case static_offset::kCosBf16Coeff: return 544;
    case static_offset::kExpCoeff: return 992;
    default: return 0;  // no function that the chip has loads it
  }
}

// The tables of BM1684 are indexed by the low 8 bits of a signed number.
constexpr int kLowestExp = -103;
constexpr int kHighestExp = 88;

constexpr auto kOkkIntTable = [] {
  std::array<std::uint32_t, 256> words{};
  for (int i = -128; i < 128; ++i) {
    words[static_cast<std::size_t>(i & 255)] = std::bit_cast<std::uint32_t>(static_cast<float>(i));
  }
  return words;
}();

// The numbers that networks take out of an argument before they look its exponential up: above the highest one that has
// an f32 stands 0 (golden-bmodel bm1684 lut_op/0002). Those below the lowest one are not recorded.
constexpr auto kOkkExponentTable = [] {
  std::array<std::uint32_t, 256> words = kOkkIntTable;
  for (int i = kHighestExp + 1; i < 128; ++i) words[static_cast<std::size_t>(i)] = 0;
  return words;
}();

constexpr auto kOkkExpTable = [] {
  static_assert(std::size(kExpTable) == kHighestExp - kLowestExp + 1);
  std::array<std::uint32_t, 256> words{};
  for (int i = kLowestExp; i <= kHighestExp; ++i) words[static_cast<std::size_t>(i & 255)] = kExpTable[i - kLowestExp];
  return words;
}();

// Each coefficient comes from the one before by a rounded division; subnormal ones are zero.
constexpr auto kOkkExpSeries = [] {
  std::array<std::uint32_t, kMaxOkkSeries + 1> words{};
  float coefficient = 1.0F;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (k > 0) coefficient = flush(coefficient / static_cast<float>(k));
    words[k] = std::bit_cast<std::uint32_t>(coefficient);
  }
  return words;
}();

template <std::size_t kCount>
constexpr std::array<std::uint32_t, kCount> counted() {
  std::array<std::uint32_t, kCount> words{};
  for (std::size_t i = 0; i < kCount; ++i) words[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i));
  return words;
}
constexpr auto kOkkByteTable = counted<256>();
constexpr auto kOkkSequence = counted<okk_static_offset::kSequenceWords>();

constexpr StaticTable kOkkTables[] = {
    {"int_table", okk_static_offset::kIntTable, kOkkIntTable},
    {"exp_table", okk_static_offset::kExpTable, kOkkExpTable},
    {"exp_series", okk_static_offset::kExpSeries, kOkkExpSeries},
    {"byte_table", okk_static_offset::kByteTable, kOkkByteTable},
    {"sequence", okk_static_offset::kSequence, kOkkSequence},
    {"exponent_table", okk_static_offset::kExponentTable, kOkkExponentTable},
};

}  // namespace

std::span<const StaticTable> static_tables(const Chip& chip) {
  if (chip.api != Api::kTpuKernel) return kOkkTables;
  if (chip.has(Quirk::kStaticBf16)) return kBf16Tables;
  if (chip.has(Quirk::kStaticApart)) return kApartTables;
  if (chip.has(Quirk::kNoExpTable)) return kClosedTables;
  return kTpuTables;
}

std::uint32_t static_gap(const Chip& chip) { return chip.has(Quirk::kStaticApart) ? kBetween : 0; }

std::uint32_t static_place(const Chip& chip, std::uint32_t offset) {
  if (chip.has(Quirk::kStaticBf16)) return bf16_place(offset);
  if (chip.has(Quirk::kStaticApart)) return apart(offset);
  return chip.has(Quirk::kNoExpTable) && offset >= kClosed ? closed(offset) : offset;
}

}  // namespace softtpu
