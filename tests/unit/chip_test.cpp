// Chip descriptions: the built-in ones, and the errors of wrong ones.
#include "device/chip/chip.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "device/chip/rules.hpp"

namespace softtpu::chip_test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

Json valid() {
  return Json{{"name", "mine"},
              {"api", "tpukernel"},
              {"mode", "pcie"},
              {"chip_id", "0x1"},
              {"npu_num", 4},
              {"eu_bytes", 64},
              {"cores", 1},
              {"local_mem", {{"start", 0x1000000}, {"bytes_per_npu", 4096}, {"banks", 4}}},
              {"static_mem", {{"start", 0x2000000}, {"bytes", 65536}}},
              {"l2_sram", {{"start", 0x3000000}, {"bytes", 65536}}},
              {"global_mem", {{"start", 0x10000000}, {"bytes", 1048576}, {"reserved_bytes", 4096}}}};
}

std::string complaint(const Json& chip) {
  const Result<Chip> result = parse_chip(chip.dump(), "mine.json");
  return result ? "accepted" : result.error().text;
}

TEST(ChipDescription, BuiltInOnesAreAccepted) {
  EXPECT_GE(builtin_chip_names().size(), 3U);
  for (const std::string& name : builtin_chip_names()) {
    const Result<Chip> chip = load_chip(name);
    ASSERT_TRUE(chip) << chip.error().text;
    // An older revision is called by both; a chip's own name is today's.
    EXPECT_TRUE(name == chip->name || name == chip->full_name()) << name;
  }
}

TEST(ChipDescription, SaysWhatItHolds) {
  const Result<Chip> chip = parse_chip(valid().dump(), "mine.json");
  ASSERT_TRUE(chip) << chip.error().text;
  EXPECT_EQ(chip->npu_num, 4);
  EXPECT_EQ(chip->bank_bytes(), 1024U);
  EXPECT_EQ(chip->local_mem.bytes, 16384U);
  EXPECT_EQ(chip->global_mem.start, 0x10000000U);
}

TEST(ChipDescription, OtherNamesMeanTheSameChip) {
  for (const auto& [other, name] : {std::pair("sg2260e", "bm1690e"), std::pair("mars3", "cv184x")}) {
    const Result<Chip> chip = load_chip(other);
    ASSERT_TRUE(chip) << chip.error().text;
    EXPECT_EQ(chip->name, name);
  }
}

TEST(ChipDescription, NumbersDataTypesItsOwnWay) {
  const Result<Chip> chip = load_chip("bm1684x2");
  ASSERT_TRUE(chip) << chip.error().text;
  EXPECT_EQ(chip->type_numbers.type_of(21), Dtype::kFp16);
  EXPECT_EQ(chip->type_numbers.number_of(Dtype::kBfp16), 23);
  EXPECT_EQ(chip->type_numbers.type_of(11), Dtype::kFp4);
  EXPECT_FALSE(chip->type_numbers.type_of(3));
  EXPECT_EQ(load_chip("bm1690e")->type_numbers.number_of(Dtype::kFp4), -1);
}

TEST(ChipDescription, RulesCanChangeThoseOfTheBase) {
  const Result<Chip> base = load_chip("bm1690");
  const Result<Chip> chip = parse_chip(
      R"({"base": "bm1690", "name": "mine", "rules": {"tpuv7": false, "kernel-zero-points-are-0": true}})", "x");
  ASSERT_TRUE(chip) << chip.error().text;
  EXPECT_EQ(chip->rules.count(), base->rules.count());
  EXPECT_FALSE(chip->has(Quirk::kTpuv7));
  EXPECT_TRUE(chip->has(Quirk::kNoKernelPoints));
}

TEST(ChipDescription, RefusesFunctionsThatBeginAlike) {
  const Result<Chip> chip =
      parse_chip(R"({"base": "bm1690", "name": "mine", "refused": {"tpu_hau_*": "none", "tpu_hau_poll": false}})", "x");
  ASSERT_TRUE(chip) << chip.error().text;
  EXPECT_NE(chip->reason_to_refuse("tpu_hau_sort", ""), nullptr);
  EXPECT_EQ(chip->reason_to_refuse("tpu_hau_poll", ""), nullptr);
}

TEST(ChipDescription, RefusesTypesOfFunctions) {
  const Result<Chip> chip = parse_chip(
      R"({"base": "bm1688", "name": "mine", "refused_types": {"fp16": {"tpu_bdc_*": true, "tpu_bdc_w_*": false}}})",
      "x");
  ASSERT_TRUE(chip) << chip.error().text;
  EXPECT_TRUE(chip->refused.contains("tpu_bdc_fp_add fp16"));
  EXPECT_FALSE(chip->refused.contains("tpu_bdc_w_gather fp16"));
}

TEST(ChipDescription, RefusesTypesOfSingleArguments) {
  const Result<Chip> chip = parse_chip(
      R"json({"base": "bm1688", "name": "mine",
              "refused_types": {"fp16": {"tpu_bdc_fp_exponent_part(dst_dtype)": true}}})json",
      "x");
  ASSERT_TRUE(chip) << chip.error().text;
  EXPECT_TRUE(chip->refused.contains("tpu_bdc_fp_exponent_part(dst_dtype) fp16"));
  EXPECT_FALSE(chip->refused.contains("tpu_bdc_fp_exponent_part fp16"));
}

TEST(ChipDescription, MayTellAnL2ThatItDoesNotHave) {
  const Result<Chip> chip = load_chip("cv184x");
  ASSERT_TRUE(chip) << chip.error().text;
  EXPECT_EQ(chip->l2_sram.bytes, 0U);
  EXPECT_EQ(chip->l2_usable, 2097152U);
}

struct Wrong {
  const char* pointer;  // JSON pointer of the member that changes
  Json value;           // null: the member goes
  const char* text;
};

class WrongChip : public testing::TestWithParam<Wrong> {};

TEST_P(WrongChip, IsRefusedByName) {
  Json chip = valid();
  const Json::json_pointer where(GetParam().pointer);
  if (GetParam().value.is_null())
    chip.at(where.parent_pointer()).erase(where.back());
  else
    chip[where] = GetParam().value;
  EXPECT_THAT(complaint(chip), testing::AllOf(HasSubstr("mine.json"), HasSubstr(GetParam().text)));
}

INSTANTIATE_TEST_SUITE_P(
    Members, WrongChip,
    testing::Values(Wrong{"/npu_num", 0, "\"npu_num\" is 0, outside 1..1024"},
                    Wrong{"/npu_num", "four", "\"npu_num\" is not a whole number"},
                    Wrong{"/npu_num", nullptr, "\"npu_num\" is missing"},
                    Wrong{"/name", "", "\"name\" has 0 characters, outside 1..20"},
                    Wrong{"/name", "a-chip-with-a-long-name", "\"name\" has 23 characters, outside 1..20"},
                    Wrong{"/npu_nun", 4, "\"npu_nun\" is no member of a chip"},
                    Wrong{"/api", "cuda", "\"api\" is neither"}, Wrong{"/mode", 1, "\"mode\" is not a text"},
                    Wrong{"/eu_bytes", 30, "\"eu_bytes\" is 30, no multiple of 4"},
                    Wrong{"/local_mem/banks", 3, "does not divide"},
                    Wrong{"/local_mem/banks", 128, "banks of 32 bytes, no multiple of eu_bytes (64)"},
                    Wrong{"/l2_sram", 7, "is not an object"}, Wrong{"/l2_sram/bytes", 0, "\"bytes\" is 0"},
                    Wrong{"/l2_sram/start", 0x2008000, "\"l2_sram\" starts at 0x2008000, inside static_mem"},
                    Wrong{"/static_mem/start", 0x1003fff, "\"static_mem\" starts at 0x1003fff, inside local_mem"},
                    Wrong{"/global_mem/reserved_bytes", 1048577, "\"reserved_bytes\" is 1048577"},
                    Wrong{"/l2_sram/core_step", 4096, "\"core_step\" is 4096, less than the memory's"},
                    Wrong{"/timing", 3, "\"timing\" is not an object"}));

// BM1688's cores have addresses of their own for local memory and L2; so many cores have no room in its map.
TEST(ChipDescription, WithMoreCoresThanTheMapHasRoomForTellsAllOfCoreZerosPlaces) {
  const auto two = parse_chip(R"({"base": "bm1688", "name": "two"})", "mine.json");
  ASSERT_TRUE(two) << two.error().text;
  EXPECT_EQ(two->local_core_step, 0x400000U);
  EXPECT_EQ(two->l2_core_step, 0x10000000U);
  for (int cores : {4, 8, 64}) {
    const Json text = {{"base", "bm1688"}, {"name", "more"}, {"cores", cores}};
    const auto more = parse_chip(text.dump(), "mine.json");
    ASSERT_TRUE(more) << more.error().text;
    EXPECT_EQ(more->local_core_step, 0U) << cores;
  }
  const auto none = parse_chip(
      R"({"base": "bm1688", "name": "none", "local_mem": {"core_step": 0}, "l2_sram": {"core_step": 0}})", "mine.json");
  ASSERT_TRUE(none) << none.error().text;
  EXPECT_EQ(none->local_core_step, 0U);
  EXPECT_EQ(none->l2_core_step, 0U);
}

TEST(ChipDescription, IsAJsonObject) {
  for (const char* text : {"", "{", "[]", "3", "null", "\"bm1684x\""}) {
    const Result<Chip> chip = parse_chip(text, "mine.json");
    ASSERT_FALSE(chip) << text;
    EXPECT_THAT(chip.error().text, HasSubstr("mine.json"));
  }
}

TEST(ChipDescription, OfMoreThanAMebibyteIsRefused) {
  const std::string path = testing::TempDir() + "long_chip.json";
  std::ofstream(path) << std::string((1U << 20) + 1, ' ');
  const Result<Chip> chip = load_chip(path);
  std::remove(path.c_str());
  ASSERT_FALSE(chip);
  EXPECT_THAT(chip.error().text, HasSubstr("long_chip.json: has more than 1048576 bytes"));
}

TEST(ChipDescription, OfNoEndIsRefused) {
  const Result<Chip> chip = load_chip("/dev/zero");
  ASSERT_FALSE(chip);
  EXPECT_THAT(chip.error().text, HasSubstr("/dev/zero: not a regular file"));
}

}  // namespace
}  // namespace softtpu::chip_test
