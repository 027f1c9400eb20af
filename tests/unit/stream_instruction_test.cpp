// Instructions of compiled networks: bytes to fields and back.
#include "device/instruction/instruction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace softtpu::stream::stream_instruction_test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::HasSubstr;

Bytes from_hex(const std::string& digits) {
  Bytes bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

struct Expansion {
  const char* name;
  const char* bytes;
  const char* expanded;
};

// One recorded instruction of each short form, and what the unit expands it to.
constexpr Expansion kExpansions[] = {
    {"sSG", "03000000006c80000100410001008c000100c800c8000100012000000100020003000400000000000000000000000000",
     "03000000006c800000c9000000000000000000000000000000000000000000000100410001008c00000000000100c800"
     "0000c8000000010000000000000000000000000000000000000400000040000000800000000000000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000000000"},
    {"sAR",
     "0300000000c6a10015d00600040002000100460000040000009400000000000000000000c80080000000460000000000"
     "50001000004600100100000000000000",
     "0300000000c68900a015800d000000000000000000000000000000000000000004000200010046000000000000000000"
     "0000000000000000c8008000000046000000000000000000000400000094000000000000000000005000000001000000"
     "4600000001000000000000000000000000000000000000000000000000000000"},
    {"sCONV",
     "0300000000008080a42222220200400000000000010005000400050043000400050003000300000000000000333333bf"
     "00c00100000000000000000000000000",
     "030000000000800001122000000000400000111111000000000000000000000001000500040005000000430004000500"
     "0000000003000300000000000000000000000000000000000000020000000000333333bf00c001000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000000000"},
    {"sMM2", "030000000084a000050023006100230029008000ec3500000000010000000000",
     "0300000000848000010a1000000000000000000000000000000000000000000000000500000023000000000000000000"
     "00006100000023000000000000000000000000000000000000000200ec35000000000100000000000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000000000"},
    {"sMM", "0300000000248000240300000000070003000400030004000000010000000200000000000000010000c0010000000000",
     "030000000024800080240000000000000000000000000000000000000000000000000700000003000400030000000400"
     "00000000000001000000000000000000000000000100000000000200000000000000010000c001000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000000000"},
    {"sTRANS&sBC", "03000000004a8c000100040003000500040005000000000000101c0000a00000",
     "03000000004a800000030000000000000000000000000000000000000000000001000400030005000000040000000500"
     "00000000000000000000000000000000000000000000000000101c0000a0000000000000000000000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000000000"},
    {"sPorD",
     "03000000000280004b000000001100000100010001000100010001000100010000000200000000000000010000000000"
     "00000000000000000000000000000000",
     "030000000002800000124000000000400000000011000000000000000000000001000100010001000000000001000100"
     "000000000100010000000000000000000000000000000000000002000000000000000100000000000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000000000"},
    {"sRQ&sDQ", "030000000028bc800300200000000a00010001000100c800030000000200f9ff",
     "0300000000288000a01b20000000000000000000000000000000000000000000010001000100c8000000000000000000"
     "0000000000000000000000000000000000000000000000000010000000a00000030000000200f9ff0000000000000000"
     "0000000000000000000000000000000000000000000000000000000000000000"},
    {"sLIN", "030000000034a40001000300040005000010000000a000000000803f00400100",
     "030000000034800000022000000000000000000000000000000000000000000001000300040005000000000000000000"
     "0000000000000000000000000000000000000000000000000010000000a000000000803f004001000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000000000"},
    {"sCMP", "0300000000fa820012000000000000800100420002000300000400000000000000c40000002401000084010000e40100",
     "0300000000fa820020100400000000000000000000000000000000000000000001004200020003000000000000000000"
     "0000000000000000000000000000000000000000000000000004000000c4000000240100008401000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000e40100"},
    {"sSFU", "0300000000f28100d200010001000100f4010000001000000080000000000000",
     "0300000000f28100001200000000000000000000000000000000000000000000010001000100f4010000000000000000"
     "000000000000000000000000000000000000000003000000001000000080000000000000000000000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000000000"},
    {"sSGL", "03000000002ca2001a010100010003000500070000040000004000000080000000000000000000000000000000000000",
     "03000000002c820000c20010000000400000000000000000000000000000000001000100030005000000000007000000"
     "000000000000000000000000000000000000000000000000000400000040000000800000000000000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000000000"},
    {"sVC", "03000000005cac0092000800000000000094000000000100040001000400020000240100000000000000000000000000",
     "03000000005c800060920000000000000000000000000000000000000000000000000100000004000000010000000400"
     "000000000000020000000000000000000000000002000000000400000094000000240100000000000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000000000"}};

// A legal instruction of a format: random fields, and the head that says which format it is.
Instruction random_instruction(const Format& format, std::mt19937_64& random) {
  Instruction instruction{&format, {}};
  for (const BitField& place : format.places) {
    if (place.reserved()) continue;
    instruction[place.field] = random() >> (64 - place.width);
  }
  const bool tiu = format.unit == Unit::kTiu;
  const auto& function = format.functions[random() % format.functions.size()];
  if (format.find(Field::cmd_short) != nullptr) instruction[Field::cmd_short] = format.short_form ? 1 : 0;
  instruction[tiu ? Field::tsk_typ : Field::cmd_type] = format.operation;
  instruction[tiu ? Field::tsk_eu_typ : Field::cmd_special_function] = function.code;
  return instruction;
}

TEST(StreamInstruction, EveryBitOfALayoutHasOneMeaning) {
  for (const Format& format : InstructionSet::bm1684x().formats()) {
    unsigned bit = 0;
    for (const BitField& place : format.places) {
      EXPECT_EQ(place.bit, bit) << format.name;
      bit += place.width;
      if (!place.reserved()) {
        EXPECT_EQ(format.find(place.field), &place) << format.name << " " << to_text(place.field);
      }
    }
    EXPECT_EQ(bit, format.bytes * 8U) << format.name;
  }
}

TEST(StreamInstruction, DecodeIsTheInverseOfEncode) {
  std::mt19937_64 random(24);
  for (const Format& format : InstructionSet::bm1684x().formats()) {
    for (int i = 0; i < 200; ++i) {
      const Instruction instruction = random_instruction(format, random);
      const auto bytes = encode(instruction);
      ASSERT_TRUE(bytes) << bytes.error().text;
      const auto again = decode(InstructionSet::bm1684x(), format.unit, *bytes);
      ASSERT_TRUE(again) << again.error().text;
      EXPECT_EQ(again->values, instruction.values) << format.name;
      EXPECT_EQ(again->format->bytes, format.bytes) << format.name;
    }
  }
}

class AllInstructions : public testing::TestWithParam<const char*> {};

TEST_P(AllInstructions, EncodeToTheBytesThatTheyWereDecodedFrom) {
  const InstructionSet* set = InstructionSet::find_chip(GetParam());
  ASSERT_NE(set, nullptr);
  std::mt19937_64 random(41);
  for (const Format& format : set->formats()) {
    const BitField* place = format.find(format.unit == Unit::kTiu ? Field::tsk_eu_typ : Field::cmd_special_function);
    ASSERT_NE(place, nullptr) << format.name;
    EXPECT_GE(format.room, format.bytes);
    for (int i = 0; i < 50; ++i) {
      Instruction instruction = random_instruction(format, random);
      instruction.absent_value = 0;  // a format without an operation of its own
      const unsigned code = format.functions[random() % format.functions.size()].code;
      instruction[place->field] = code & ((1U << place->width) - 1);
      // Of two formats that share a code the first one is read.
      if (set->find(format.unit, format.short_form, format.operation, code) != &format) continue;
      const auto bytes = encode(instruction);
      ASSERT_TRUE(bytes) << bytes.error().text;
      const auto decoded = decode(*set, format.unit, *bytes);
      ASSERT_TRUE(decoded) << format.name << " " << decoded.error().text;
      const auto again = encode(*decoded);
      ASSERT_TRUE(again) << again.error().text;
      EXPECT_TRUE(std::equal(again->begin(), again->begin() + std::min(again->size(), bytes->size()), bytes->begin()))
          << format.name;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Chips, AllInstructions,
                         testing::Values("bm1684x", "bm1688", "cv186x", "bm1690", "bm1684", "bm1684x2", "bm1690e",
                                         "cv184x", "sgtpuv8", "sg2380"));

TEST(StreamInstruction, NumbersAreKeptWherePositionsCount) {
  const InstructionSet& set = *InstructionSet::find_chip("bm1690");
  // A barrier's two halves and the end (bm1690, conv_wide_F16, core 0).
  Instruction wait{.format = set.find("SYS")};
  wait[Field::tsk_typ] = 15;
  wait[Field::tsk_eu_typ] = 9;
  wait[Field::cmd_id_dep] = 2;
  wait[Field::imm] = 0x180001;
  Instruction end{.format = set.find("SYS")};
  end[Field::tsk_typ] = 15;
  end[Field::tsk_eu_typ] = 31;
  Bytes bytes = *encode(wait);
  const Bytes last = *encode(end);
  bytes.insert(bytes.end(), last.begin(), last.end());
  const auto stream = read_stream(set, Unit::kTiu, bytes);
  ASSERT_TRUE(stream) << stream.error().text;
  ASSERT_EQ(stream->size(), 2U);
  EXPECT_EQ((*stream)[0].id(), 1U);
  EXPECT_EQ((*stream)[0].waits_for(), 2U);
  EXPECT_EQ((*stream)[1].id(), 2U);
}

TEST(StreamInstruction, AnyBytesAreDecodedOrRefused) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes(random() % 140);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    const auto instruction = decode(InstructionSet::bm1684x(), i % 2 == 0 ? Unit::kTiu : Unit::kDma, bytes);
    if (!instruction) continue;
    const auto again = encode(*instruction);
    ASSERT_TRUE(again);
    bytes.resize(again->size());
    EXPECT_EQ(*again, bytes);
  }
}

TEST(StreamInstruction, RecordedShortFormsExpandToTheRecordedBytes) {
  const InstructionSet& set = InstructionSet::bm1684x();
  for (const Expansion& row : kExpansions) {
    const auto instruction = decode(set, Unit::kTiu, from_hex(row.bytes));
    ASSERT_TRUE(instruction) << instruction.error().text;
    EXPECT_EQ(instruction->format->name, row.name);
    const auto expanded = expand(set, *instruction);
    ASSERT_TRUE(expanded) << expanded.error().text;
    EXPECT_EQ(*expanded, from_hex(row.expanded)) << row.name;
    const auto bytes = encode(*instruction);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(*bytes, from_hex(row.bytes)) << row.name;
  }
}

Bytes end_of(Unit unit) {
  Instruction end{InstructionSet::bm1684x().find(unit == Unit::kTiu ? "SYSID" : "sDMA_sys"), {}};
  if (unit == Unit::kTiu) {
    end[Field::tsk_typ] = 15;
    end[Field::tsk_eu_typ] = 31;
  } else {
    end[Field::cmd_short] = 1;
    end[Field::cmd_type] = 6;
  }
  return *encode(end);
}

std::string refusal(Unit unit, const Bytes& bytes) {
  const auto stream = read_stream(InstructionSet::bm1684x(), unit, bytes);
  return stream ? "" : stream.error().text;
}

TEST(StreamInstruction, StreamsEndWithTheirEndAndZeros) {
  for (const Unit unit : {Unit::kTiu, Unit::kDma}) {
    Bytes bytes = end_of(unit);
    bytes.resize(128);
    EXPECT_EQ(refusal(unit, bytes), "");
    bytes[100] = 1;
    EXPECT_THAT(refusal(unit, bytes), HasSubstr("offset 100 (bytes 0100000000000000): only zeros follow the end"));
  }
}

TEST(StreamInstruction, AStreamThatStopsSaysWhere) {
  Bytes bytes = from_hex(kExpansions[0].bytes);
  EXPECT_THAT(refusal(Unit::kTiu, bytes), HasSubstr("the stream ends inside an instruction (0 bytes are left)"));
  bytes.resize(bytes.size() - 1);
  EXPECT_THAT(refusal(Unit::kTiu, bytes), HasSubstr("the stream has " + std::to_string(bytes.size()) + " more"));
}

TEST(StreamInstruction, UnknownInstructionsAndReservedBitsAreRefused) {
  EXPECT_THAT(refusal(Unit::kDma, from_hex("00000000090000000000000000000000")),
              HasSubstr("no long instruction has operation 9, function 0"));
  Bytes bytes = end_of(Unit::kTiu);
  bytes[15] |= 0x80;
  EXPECT_THAT(refusal(Unit::kTiu, bytes), HasSubstr("bit 127 of SYSID is reserved, and set"));
}

TEST(StreamInstruction, AFieldThatDoesNotFitIsNamed) {
  auto instruction = decode(InstructionSet::bm1684x(), Unit::kTiu, end_of(Unit::kTiu));
  ASSERT_TRUE(instruction);
  (*instruction)[Field::cmd_id] = 1U << 20;
  EXPECT_EQ(encode(*instruction).error().text, "cmd_id of SYSID is 0x100000: it has 20 bits");
  (*instruction)[Field::cmd_id] = 1;
  (*instruction)[Field::res0_n] = 1;
  EXPECT_EQ(encode(*instruction).error().text, "SYSID has no field res0_n");
}

TEST(StreamInstruction, DisassemblyNamesFunctionIdAndDependency) {
  auto instruction = decode(InstructionSet::bm1684x(), Unit::kTiu, end_of(Unit::kTiu));
  ASSERT_TRUE(instruction);
  (*instruction)[Field::cmd_id] = 12;
  (*instruction)[Field::cmd_id_dep] = 3;
  EXPECT_EQ(disassemble(*instruction), "TIU 12 SYSID.end after DMA 3");
}

}  // namespace
}  // namespace softtpu::stream::stream_instruction_test
