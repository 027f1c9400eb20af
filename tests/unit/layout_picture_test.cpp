// softtpu layout: the pictures show each element once at its place, and impossible requests are refused with the sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/softtpu/layout.hpp"

namespace softtpu::cli::layout_picture_test {
namespace {

using testing::HasSubstr;

LayoutOptions demo(const std::string& shape, const std::string& layout = "aligned", const std::string& dtype = "fp32") {
  LayoutOptions options;
  options.chip = "demo4";
  options.shape = shape;
  options.layout = layout;
  options.dtype = dtype;
  return options;
}

Picture draw(const LayoutOptions& options) {
  const auto picture = make_layout_picture(options);
  EXPECT_TRUE(picture) << picture.error().text;
  return picture ? *picture : Picture{};
}

std::string refusal(const LayoutOptions& options) {
  const auto picture = make_layout_picture(options);
  return picture ? "accepted" : picture.error().text;
}

std::size_t cells_of(const Picture& picture) {
  std::size_t cells = 0;
  for (const Column& column : picture.columns) cells += column.cells.size();
  return cells;
}

TEST(LayoutPicture, TextOfATensorFromNpu2) {
  LayoutOptions options = demo("1,3,1,3");
  options.start_npu = 2;
  EXPECT_EQ(
      to_text(draw(options)),
      "[1, 3, 1, 3] fp32, aligned layout, from NPU 2\n"
      "demo4: 4 NPUs with 1024 bytes (1 KiB) each, aligned layouts count 64 bytes; 2 channels per NPU, 128 bytes per "
      "NPU used.\n"
      "Strides N 32, C 16, H 3, W 1. A cell is 4 bytes; labels are n,c,h,w; grey or dots: padding.\n"
      "\n"
      " offset | NPU 0               | NPU 1               | NPU 2               | NPU 3\n"
      "      0 | .... .... .... .... | .... .... .... .... | 0000 0001 0002 .... | 0100 0101 0102 ....\n"
      "     16 | .... .... .... .... | .... .... .... .... | .... .... .... .... | .... .... .... ....\n"
      "     32 | .... .... .... .... | .... .... .... .... | .... .... .... .... | .... .... .... ....\n"
      "     48 | .... .... .... .... | .... .... .... .... | .... .... .... .... | .... .... .... ....\n"
      "     64 | 0200 0201 0202 .... | .... .... .... .... | .... .... .... .... | .... .... .... ....\n"
      "     80 | .... .... .... .... | .... .... .... .... | .... .... .... .... | .... .... .... ....\n"
      "     96 | .... .... .... .... | .... .... .... .... | .... .... .... .... | .... .... .... ....\n"
      "    112 | .... .... .... .... | .... .... .... .... | .... .... .... .... | .... .... .... ....\n");
}

TEST(LayoutPicture, EveryLayoutAndModeShowsEachElementOnce) {
  const auto with = [](LayoutOptions options, const auto& change) {
    change(options);
    return cells_of(draw(options));
  };
  const auto same = [](LayoutOptions&) {};
  for (const char* layout : {"aligned", "compact", "line-aligned", "continuous"}) {
    for (const char* dtype : {"fp32", "fp16", "bfp16", "int8", "uint8", "int16", "uint16", "int32", "uint32"}) {
      EXPECT_EQ(with(demo("2,5,3,4", layout, dtype), same), 120U) << layout << dtype;
    }
  }
  EXPECT_EQ(with(demo("2,5,3,4", "free"), [](auto& o) { o.stride = "120,56,16,2"; }), 120U);
  EXPECT_EQ(with(demo("4,3,2,2", "system", "int8"), [](auto& o) { o.stride = "24,8,4,1"; }), 48U);
  EXPECT_EQ(with(demo("2,40", "matrix"), [](auto& o) { o.width = 15; }), 80U);
  EXPECT_EQ(with(demo("41", "vector"), [](auto& o) { o.width = 10; }), 41U);
  // A cell is a unit: 2 units of 4N for 6 batches, 3 of 2IC for 5 input channels, 2 of 64IC for 100.
  EXPECT_EQ(with(demo("6,5,4,5", "aligned", "int8"), [](auto& o) { o.mode = "4n"; }), 2U * 100);
  EXPECT_EQ(with(demo("3,5,4,5", "compact", "int16"), [](auto& o) { o.mode = "2n"; }), 2U * 100);
  EXPECT_EQ(with(demo("5,6,2,3", "2ic"), same), 3U * 36);
  EXPECT_EQ(with(demo("5,6,2,3", "1ic"), same), 5U * 36);
  EXPECT_EQ(with(demo("100,6,2,2", "64ic", "int8"), same), 2U * 24);
  EXPECT_EQ(with(demo("50,6,2,2", "32ic", "fp16"), same), 2U * 24);
  EXPECT_EQ(with(demo("2,6,3,3"), [](auto& o) { o.features = true; }), 12U);
}

// BM1684's 2IC is a mode of any layout; the layout 2ic keeps an output channel's weights together.
TEST(LayoutPicture, PairsOfInputChannelsInTheCompactLayout) {
  LayoutOptions options = demo("5,6,2,3", "compact");
  options.mode = "2ic";
  const Picture compact = draw(options);
  EXPECT_EQ(cells_of(compact), 3U * 36);
  EXPECT_EQ(compact.columns[0].cells.at(6).label, "0-1,4,0,0");
  EXPECT_EQ(compact.columns[0].cells.at(12).label, "2-3,0,0,0");
  EXPECT_EQ(draw(demo("5,6,2,3", "2ic")).columns[0].cells.at(6).label, "2-3,0,0,0");
  options.dtype = "int8";
  EXPECT_EQ(refusal(options), "--mode 2ic is for fp32, not for int8");
}

TEST(LayoutPicture, MarksAndBanks) {
  LayoutOptions options;
  options.chip = "demo4";
  options.marks = {"A=340", "B=1472", "C=2300", "D=3088"};
  const Picture picture = draw(options);
  EXPECT_EQ(picture.columns[0].cells.at(340 / 4).label, "A");
  EXPECT_EQ(picture.columns[1].cells.at(448 / 4).label, "B");
  EXPECT_EQ(picture.columns[2].cells.at(252 / 4).label, "C");
  EXPECT_EQ(picture.columns[3].cells.at(16 / 4).label, "D");
  options.marks = {"A=4096"};
  EXPECT_EQ(refusal(options), "--mark A=4096 is outside the local memories (0..4095)");
  options.marks = {"A"};
  EXPECT_EQ(refusal(options), "--mark \"A\" is not NAME=ADDRESS");

  LayoutOptions banks;
  banks.banks = true;
  const Picture map = draw(banks);
  EXPECT_EQ(map.columns.back().name, "NPU 63");
  EXPECT_EQ(map.columns[1].cells.at(0).label, "262144-278527");
  EXPECT_EQ(map.columns.back().cells.at(15).label, "16760832-16777215");
}

TEST(LayoutPicture, BroadcastStridesShareCells) {
  LayoutOptions options = demo("1,1,4,4", "free");
  options.stride = "0,0,4,0";
  const Picture picture = draw(options);
  EXPECT_EQ(cells_of(picture), 4U);
  EXPECT_THAT(to_text(picture), HasSubstr("12 elements lie on a cell that another element has"));
}

TEST(LayoutPicture, DrawsFp8OnChipsThatHaveIt) {
  for (const char* type : {"fp8e4m3", "fp8e5m2"}) {
    LayoutOptions options = demo("1,70,2,3", "aligned", type);
    options.chip = "bm1690";
    EXPECT_THAT(to_text(draw(options)), HasSubstr("A cell is 1 byte"));
    LayoutOptions bytes = options;
    bytes.dtype = "int8";
    EXPECT_EQ(cells_of(draw(options)), cells_of(draw(bytes)));
    options.layout = "64ic";
    options.shape = "70,2,1,1";
    EXPECT_THAT(to_text(draw(options)), HasSubstr(type));
    options.chip = "bm1684x";
    EXPECT_EQ(refusal(options), std::string("--dtype ") + type + " is not a data type of bm1684x");
  }
}

TEST(LayoutPicture, RefusesWhatCannotBe) {
  EXPECT_THAT(refusal(demo("1,5,16,16")), HasSubstr("needs 2048 bytes (2 KiB) per NPU from offset 0; an NPU has 1024"));
  EXPECT_EQ(refusal(demo("2,5,3")), "--shape \"2,5,3\" is not 4 whole numbers separated by commas");
  EXPECT_EQ(refusal(demo("2,5,3,-4")), "--shape \"2,5,3,-4\" is not 4 whole numbers separated by commas");
  EXPECT_EQ(refusal(demo("")), "--shape is missing; for the layout aligned: --shape 1,64,28,28");
  EXPECT_THAT(refusal(demo("2,0,3,4")), HasSubstr("C is 0, outside 1..65535"));
  EXPECT_THAT(refusal(demo("2,99999999999,3,4")), HasSubstr("C is 99999999999, outside 1..65535"));
  EXPECT_THAT(refusal(demo("65535,65535,65535,65535", "continuous")),
              HasSubstr("elements are more than 1099511627776"));
  EXPECT_THAT(refusal(demo("2,1000,1000,10", "continuous")),
              HasSubstr("20000000 elements are too many to draw (at most 4194304)"));
  EXPECT_THAT(refusal(demo("1,1,1,1", "diagonal")), HasSubstr("is not one of aligned, compact"));
  EXPECT_THAT(refusal(demo("1,1,1,1", "aligned", "fp64")), HasSubstr("--dtype \"fp64\""));
  EXPECT_EQ(refusal(demo("1,1,1,1", "64ic", "fp32")), "--layout 64ic does not exist for fp32");
  EXPECT_EQ(refusal(demo("2,40", "matrix")), "--width is missing with --layout matrix");
  EXPECT_EQ(refusal(demo("1,1,1,1", "free")), "--stride is missing with --layout free");
  const auto with = [](const auto& change) {
    LayoutOptions options = demo("1,1,1,1");
    change(options);
    return refusal(options);
  };
  EXPECT_EQ(with([](auto& o) { o.mode = "4n"; }), "--mode 4n is for int8 and uint8, not for fp32");
  EXPECT_EQ(with([](auto& o) { o.mode = "3n"; }), "--mode \"3n\" is not one of none, 2n, 4n, 2ic");
  EXPECT_EQ(with([](auto& o) { o.start_npu = 4; }), "--start-npu 4 is outside 0..3");
  EXPECT_EQ(with([](auto& o) { o.offset = 1024; }), "--offset 1024 is outside an NPU's 1024 bytes (1 KiB)");
  EXPECT_EQ(with([](auto& o) { o.offset = 2; }), "--offset 2 is not divisible by 4, the size of fp32");
  EXPECT_THAT(with([](auto& o) { o.offset = 32; }), HasSubstr("not divisible by 64"));
  EXPECT_THAT(with([](auto& o) { o.stride = "1,1,1,1"; }), HasSubstr("--stride does not go"));
  EXPECT_EQ(with([](auto& o) { o.eu_bytes = 3; }), "--eu-bytes 3 is not a power of two up to 1024");
  EXPECT_EQ(with([](auto& o) { o.eu_bytes = 0; }), "--eu-bytes 0 is not a power of two up to 1024");
  for (const char* extent : {"0", "65536", "1048577", "99999999", "99999999999"}) {
    const std::string shape = std::string("1,2,") + extent + ",1";
    EXPECT_EQ(with([&](auto& o) { o.shape = shape; }), "--shape " + shape + ": H is " + extent + ", outside 1..65535");
  }
  EXPECT_THAT(with([](auto& o) { o.shape = "1,2,65536,1"; }), HasSubstr("H is 65536, outside 1..65535"));
  EXPECT_EQ(with([](auto& o) { o.npus = 0; }), "--npus 0 is less than 1");
  EXPECT_THAT(with([](auto& o) { o.chip = "bm9999"; }), HasSubstr("bm9999"));
}

TEST(LayoutPicture, WritesTheSvg) {
  const auto path =
      std::filesystem::temp_directory_path() / ("softtpu_layout_picture_test_" + std::to_string(::getpid()) + ".svg");
  LayoutOptions options = demo("1,3,1,3");
  options.output = path.string();
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_layout(options), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("NPU 3"));
  std::stringstream svg;
  svg << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  EXPECT_THAT(svg.str(), testing::StartsWith("<svg "));
  EXPECT_THAT(svg.str(), testing::EndsWith("</svg>\n"));
  for (const char* label : {">NPU 0<", ">NPU 3<", ">0,0,0,0<", ">0,2,0,2<"}) EXPECT_THAT(svg.str(), HasSubstr(label));
  options.output = "/nonexistent/x.svg";
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_layout(options), 3);
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "softtpu layout: -o: \"/nonexistent/x.svg\" cannot be written: No such file or directory\n");
}

// One cell is narrower than "NPU 0": the names of neighbours used to run into each other.
TEST(LayoutPicture, NamesOfNarrowColumnsStayApart) {
  LayoutOptions options = demo("2,6,1,1");
  options.features = true;
  const std::string svg = to_svg(draw(options), {options.rows});
  std::vector<int> places;
  for (std::size_t at = svg.find("class=\"npu\" x=\""); at != std::string::npos;
       at = svg.find("class=\"npu\" x=\"", at + 1))
    places.push_back(std::stoi(svg.substr(at + 15)));
  ASSERT_EQ(places.size(), 4U);
  for (std::size_t i = 1; i < places.size(); ++i) EXPECT_GE(places[i] - places[i - 1], 50) << i;
}

// Columns that do not fit beside each other stand below; each is drawn once.
TEST(LayoutPicture, NoSvgIsWiderThanAScreenCanShow) {
  LayoutOptions options = demo("2,64,4,8", "aligned", "fp16");
  options.chip = "bm1684x";
  options.npus = 64;
  const std::string svg = to_svg(draw(options), {options.rows});
  const std::size_t at = svg.find("viewBox=\"0 0 ") + 13;
  EXPECT_LE(std::stoi(svg.substr(at)), 2200);
  for (int npu = 0; npu < 64; ++npu) {
    const std::string name = ">NPU " + std::to_string(npu) + "<";
    const std::size_t first = svg.find(name);
    EXPECT_NE(first, std::string::npos) << name;
    EXPECT_EQ(svg.find(name, first + 1), std::string::npos) << name;
  }
  options = demo("");
  options.marks = {std::string(25, 'A') + "=0"};
  EXPECT_THAT(refusal(options), HasSubstr("the name has 25 characters (limit 24)"));
}

}  // namespace
}  // namespace softtpu::cli::layout_picture_test
