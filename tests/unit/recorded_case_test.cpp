// The reader of recorded cases refuses what it cannot represent, and says which case and why.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tools/golden/case.hpp"
#include "tools/golden/fill.hpp"

namespace softtpu::golden::recorded_case_test {
namespace {

constexpr AddressBases kBases{0x1'0000'0000, 0x1000'0000, 4096, 4, 8192};

class RecordedCase : public ::testing::Test {
 protected:
  ~RecordedCase() override { std::filesystem::remove_all(folder_); }

  // What reading a family with this one region answers: empty when it is taken.
  std::string refusal_of_region(const std::string& region) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "family.bin") << "content";
    std::ofstream(folder_ / "family.json")
        << R"({"chip": "bm1684x", "cases": [{"id": "family/000", "calls": [{"fn": "tpu_initialize", "args": []}], "setup": [)"
        << region << "]}]}";
    const auto family = read_family(folder_ / "family.json", kBases);
    return family ? "" : family.error().text;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("softtpu-recorded-case-" + std::to_string(::getpid()));
};

constexpr const char* kByteFill = R"("fill": {"kind": "byte", "value": 7}})";

TEST_F(RecordedCase, TakesRegionsUpToTheEndOfEachMemory) {
  EXPECT_EQ(
      refusal_of_region(std::string(R"({"space": "lmem", "addr": 4000, "size": 96, "npu": [3, 1], )") + kByteFill), "");
  EXPECT_EQ(refusal_of_region(std::string(R"({"space": "gmem", "addr": 8191, "size": 1, )") + kByteFill), "");
  EXPECT_EQ(refusal_of_region(R"({"space": "gmem", "addr": 0, "size": 7, "fill": {"data": [0, 7]}})"), "");
}

TEST_F(RecordedCase, RefusesRegionsOutsideTheirMemory) {
  const std::pair<const char*, const char*> regions[] = {
      {R"({"space": "lmem", "addr": 4000, "size": 97, )", "outside local memory"},
      {R"({"space": "lmem", "addr": 18446744073709551615, "size": 2, )", "outside local memory"},
      {R"({"space": "lmem", "addr": 0, "size": 1, "npu": [4294967295, 2], )", "outside the NPUs"},
      {R"({"space": "lmem", "addr": 0, "size": 1, "npu": [3, 2], )", "outside the NPUs"},
      {R"({"space": "gmem", "addr": 8192, "size": 1, )", "outside the scratch block"},
      {R"({"space": "l2", "addr": 0, "size": 1099511627776, )", "larger than the scratch block"},
      {R"({"space": "tape", "addr": 0, "size": 1, )", "unknown space"},
  };
  for (const auto& [region, reason] : regions) {
    const std::string text = refusal_of_region(std::string(region) + kByteFill);
    EXPECT_NE(text.find(reason), std::string::npos) << region << ": " << text;
    EXPECT_NE(text.find("family/000"), std::string::npos) << text;
  }
}

TEST_F(RecordedCase, RefusesDataOutsideItsFile) {
  EXPECT_NE(refusal_of_region(R"({"space": "gmem", "addr": 0, "size": 8, "fill": {"data": [0, 8]}})"), "");
  EXPECT_NE(
      refusal_of_region(R"({"space": "gmem", "addr": 0, "size": 7, "fill": {"data": [18446744073709551615, 7]}})"), "");
}

TEST(Fills, RefuseNumbersThatNoElementHolds) {
  Fill byte{.kind = "byte", .value = 330};
  EXPECT_FALSE(evaluate(byte, 4));
  byte.value = -1;
  EXPECT_FALSE(evaluate(byte, 4));
  EXPECT_FALSE(evaluate({.kind = "uniform", .dtype = "i8", .lo = 3, .hi = 2}, 4));
  EXPECT_FALSE(evaluate({.kind = "iota", .dtype = "i32", .start = 1e30}, 4));
  EXPECT_FALSE(evaluate({.kind = "const", .dtype = "f32", .value = 1e300}, 4));
  EXPECT_TRUE(evaluate({.kind = "uniform", .dtype = "f32", .lo = 1e37, .hi = 3.4e38}, 4));
  EXPECT_TRUE(evaluate({.kind = "uniform", .dtype = "i8", .lo = 2, .hi = 2}, 4));
}

}  // namespace
}  // namespace softtpu::golden::recorded_case_test
