// From instructions to commands: what an instruction says that no function of the API does.
#include "device/instruction/translate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "device/command/packing.hpp"
#include "device/memory/memories.hpp"
#include "device/memory/static_tables.hpp"

namespace softtpu::stream::stream_translate_test {
namespace {

using testing::HasSubstr;
using Fields = std::initializer_list<std::pair<Field, std::uint64_t>>;

const Chip& chip() {
  static const Chip loaded = *load_chip("bm1684x");
  return loaded;
}

Instruction instruction(std::string_view format, unsigned function, Fields fields) {
  const Format* found = InstructionSet::bm1684x().find(format);
  EXPECT_NE(found, nullptr) << format;
  Instruction made{found, {}};
  const bool tiu = found->unit == Unit::kTiu;
  made[tiu ? Field::tsk_typ : Field::cmd_type] = found->operation;
  made[tiu ? Field::tsk_eu_typ : Field::cmd_special_function] = function;
  if (found->find(Field::localmem_mask) != nullptr) made[Field::localmem_mask] = ~std::uint64_t{0};
  for (const auto& [field, value] : fields) made[field] = value;
  return made;
}

template <class Cmd>
Cmd command(const Instruction& of) {
  const auto issued = translate(chip(), of);
  if (!issued) {
    ADD_FAILURE() << issued.error().text;
    return {};
  }
  return std::get<Cmd>(issued->command);
}

std::string refusal(const Instruction& of) {
  const auto issued = translate(chip(), of);
  return issued ? "" : issued.error().text;
}

constexpr std::uint64_t kGlobal = 0x104010000, kLocal = 0x8000400;

TEST(StreamTranslate, NpusThatAreLeftOutStayInTheCommand) {
  const Instruction copy = instruction("DMA_tensor", 0,
                                       {{Field::nchw_copy, 1},
                                        {Field::src_data_format, 2},
                                        {Field::src_nsize, 1},
                                        {Field::src_csize, 70},
                                        {Field::src_hsize, 2},
                                        {Field::src_wsize, 3},
                                        {Field::src_addr, kGlobal},
                                        {Field::dst_addr, kLocal},
                                        {Field::localmem_mask, 0xFFFF0000FFFF0001}});
  EXPECT_EQ(command<DmaCopyCmd>(copy).npus, 0xFFFF0000FFFF0001U);
  EXPECT_EQ(command<DmaCopyCmd>(copy).dst.shape, (Dim4{1, 70, 2, 3}));
}

TEST(StreamTranslate, AFillThatSwapsDimensionsHasTheirSizesSwapped) {
  const Instruction fill = instruction("DMA_tensor", 1,
                                       {{Field::fill_constant_en, 1},
                                        {Field::src_data_format, 4},
                                        {Field::src_nsize, 2},
                                        {Field::src_csize, 3},
                                        {Field::src_hsize, 4},
                                        {Field::src_wsize, 5},
                                        {Field::dst_nsize, 9},
                                        {Field::dst_hsize, 3},
                                        {Field::dst_wsize, 7},
                                        {Field::dst_addr, kLocal},
                                        {Field::constant_value, 77}});
  EXPECT_EQ(command<DmaFillCmd>(fill).dst.shape, (Dim4{3, 2, 4, 5}));
  EXPECT_EQ(command<DmaFillCmd>(fill).value.bits, 77U);
  Instruction shorter = fill;
  shorter[Field::dst_wsize] = 6;
  EXPECT_THAT(refusal(shorter),
              HasSubstr("dst_hsize (0x3) and dst_wsize (6) are fewer elements than the source's 4 x 5"));
}

// The indices of a scatter are as many as its rows, and as far apart (golden-bmodel dma_scatter/0006).
TEST(StreamTranslate, EachRowThatIsScatteredHasAnIndex) {
  const Instruction scatter = instruction("DMA_scatter", 0,
                                          {{Field::src_csize, 3},
                                           {Field::src_hsize, 5},
                                           {Field::src_wsize, 5},
                                           {Field::dst_hsize, 6},
                                           {Field::index_csize, 3},
                                           {Field::index_hsize, 4},
                                           {Field::src_addr, kGlobal},
                                           {Field::dst_addr, kLocal},
                                           {Field::index_addr, kGlobal + 0x10000}});
  const auto rows = command<DmaRowsCmd>(scatter);
  EXPECT_EQ(rows.param.shape, (Dim4{1, 3, 5, 5}));
  EXPECT_EQ(rows.index.shape, (Dim4{1, 3, 5, 1}));
  EXPECT_EQ(rows.index.stride.c, 5);
}

Instruction copy_in_local(std::uint64_t w_stride, std::uint64_t rows) {
  return instruction("sAR", 19,
                     {{Field::cmd_short, 1},
                      {Field::tsk_opd_num, 1},
                      {Field::res0_prec, 1},
                      {Field::opd0_prec, 1},
                      {Field::res0_str, 3},
                      {Field::res0_n, 1},
                      {Field::res0_c, 1},
                      {Field::res0_h, rows},
                      {Field::res0_w, 1000},
                      {Field::res0_h_str, 1000},
                      {Field::res0_w_str, w_stride},
                      {Field::opd0_addr, 0x400},
                      {Field::res0_addr, 0x100}});
}

TEST(StreamTranslate, BitsOfFloatsUponEachOtherAreRefused) {
  Instruction bits = copy_in_local(0, 2);
  EXPECT_EQ(refusal(bits), "");
  bits[Field::tsk_eu_typ] = 9;
  bits[Field::tsk_opd_num] = 2;
  bits[Field::opd1_prec] = 1;
  EXPECT_THAT(refusal(bits), HasSubstr("res0_w_str (0x0) lays bits of floats upon each other"));
}

// 120000 bytes of a source that the result overwrites, beside that result and the source itself.
TEST(StreamTranslate, WhatOverwritesItsSourceNeedsRoomForACopy) {
  EXPECT_EQ(refusal(copy_in_local(1, 40)), "");
  EXPECT_THAT(refusal(copy_in_local(1, 120)),
              HasSubstr("dst overlaps src in another layout, and local memory has no room for a copy"));
}

// A table of networks that take whole numbers out of an argument of the exponential.
TEST(StreamTranslate, TheNumbersOfAnExponentialEndAtItsHighestOne) {
  const auto memories = Memories::create(*load_chip("bm1684"));
  ASSERT_TRUE(memories);
  const auto at = [&](int number) {
    float value = 0;
    std::memcpy(&value, (*memories)->static_mem() + okk_static_offset::kExponentTable + 4 * (number & 255),
                sizeof(value));
    return value;
  };
  EXPECT_EQ(at(-89), -89.0F);
  EXPECT_EQ(at(88), 88.0F);
  EXPECT_EQ(at(91), 0.0F);
  EXPECT_EQ(at(125), 0.0F);
}

Instruction broadcast(std::uint64_t source_width) {
  return instruction("DMA_tensor", 3,
                     {{Field::src_data_format, 1},
                      {Field::src_nsize, 1},
                      {Field::src_csize, 65},
                      {Field::src_hsize, 1},
                      {Field::src_wsize, source_width},
                      {Field::dst_nsize, 1},
                      {Field::dst_csize, 64},
                      {Field::dst_hsize, 1},
                      {Field::dst_wsize, 256},
                      {Field::src_addr, kGlobal},
                      {Field::dst_addr, kLocal}});
}

TEST(StreamTranslate, ABroadcastWithSizesOfItsOwnWritesThose) {
  const auto cmd = command<DmaCopyCmd>(broadcast(300));
  EXPECT_EQ(cmd.dst.shape, (Dim4{1, 64, 1, 256}));
  EXPECT_EQ(cmd.src.shape, (Dim4{1, 1, 1, 256}));
  // The source would be read again and again.
  EXPECT_THAT(refusal(broadcast(4)), HasSubstr("the source has sizes 1 x 1 x 4, the destination 1 x 1 x 256"));
  Instruction without = broadcast(300);
  without[Field::localmem_mask] = 5;
  EXPECT_THAT(refusal(without), HasSubstr("localmem_mask (0x5) leaves NPUs out"));
}

TEST(StreamTranslate, TensorsMayBeginAtAnyElement) {
  const auto copy = [](std::uint64_t address) {
    return command<CopyCmd>(instruction("sAR", 19,
                                        {{Field::cmd_short, 1},
                                         {Field::res0_prec, 1},
                                         {Field::opd0_prec, 1},
                                         {Field::res0_n, 1},
                                         {Field::res0_c, 3},
                                         {Field::res0_h, 1},
                                         {Field::res0_w, 4},
                                         {Field::res0_addr, address},
                                         {Field::opd0_addr, 0x1000}}));
  };
  EXPECT_TRUE(copy(0x40).dst.natural);
  EXPECT_FALSE(copy(0x42).dst.natural);
  EXPECT_EQ(copy(0x42).dst.stride, copy(0x40).dst.stride);
}

TEST(StreamTranslate, CollectingAndDistributingSwapChannelsAndWidth) {
  for (const unsigned function : {2U, 4U}) {
    const bool collect = function == 2;
    const auto cmd = command<DmaCopyCmd>(instruction("DMA_tensor", function,
                                                     {{Field::nchw_copy, 1},
                                                      {Field::src_data_format, 2},
                                                      {Field::src_nsize, 2},
                                                      {Field::src_csize, 3},
                                                      {Field::src_hsize, 4},
                                                      {Field::src_wsize, 5},
                                                      {Field::src_addr, collect ? kLocal : kGlobal},
                                                      {Field::dst_addr, collect ? kGlobal : kLocal}}));
    EXPECT_EQ(cmd.order, CopyOrder::kNwhc);
    EXPECT_EQ(cmd.dst.shape, (Dim4{2, 5, 4, 3}));
  }
}

TEST(StreamTranslate, NonzeroLooksAtBitsOfEveryType) {
  for (const auto& [code, type] : {std::pair{2U, Dtype::kUint32}, {1U, Dtype::kUint16}, {0U, Dtype::kUint8}}) {
    const Instruction nonzero = instruction("DMA_nonzero", 0,
                                            {{Field::src_data_format, code},
                                             {Field::src_nsize, 1},
                                             {Field::src_csize, 3},
                                             {Field::src_hsize, 1},
                                             {Field::src_wsize, 5},
                                             {Field::src_addr, kLocal},
                                             {Field::dst_addr, kGlobal}});
    EXPECT_EQ(command<DmaNonzeroCmd>(nonzero).src.dtype, type);
  }
}

Instruction pooling(std::uint64_t result, std::uint64_t down, std::uint64_t pad_mode) {
  return instruction("sPorD", 4,
                     {{Field::cmd_short, 1},
                      {Field::pad_mode, pad_mode},
                      {Field::opd3_const, 1},
                      {Field::opd0_up_pad, 1},
                      {Field::opd0_dn_pad, down},
                      {Field::res_op_x_str, 1},
                      {Field::res_op_y_str, 1},
                      {Field::res0_n, 1},
                      {Field::res0_c, 3},
                      {Field::res0_h, result},
                      {Field::res0_w, 8},
                      {Field::opd0_h, 8},
                      {Field::opd0_w, 8},
                      {Field::opd1_h, 1},
                      {Field::opd1_w, 1},
                      {Field::res0_addr, 0x4000}});
}

TEST(StreamTranslate, TheResultsSizeSaysHowFarWindowsReach) {
  // Nine windows over one row of padding and eight of the input; padding below is not reached.
  const auto same = command<PoolCmd>(pooling(9, 2, 0));
  EXPECT_EQ(same.window.padding.bottom, 0);
  EXPECT_EQ(same.src.shape.h, 8);
  // Fewer see less of the input, more see padding.
  EXPECT_EQ(command<PoolCmd>(pooling(5, 0, 0)).src.shape.h, 4);
  EXPECT_EQ(command<PoolCmd>(pooling(11, 0, 0)).window.padding.bottom, 2);
}

TEST(StreamTranslate, PaddingMayRepeatTheInput) {
  constexpr Beyond kModes[] = {Beyond::kValue, Beyond::kReflected, Beyond::kReplicated, Beyond::kCircular};
  for (unsigned mode = 0; mode < 4; ++mode) {
    Instruction repeats = pooling(8, 0, mode);
    repeats[Field::opd1_h] = 2;
    EXPECT_EQ(command<PoolCmd>(repeats).window.beyond, kModes[mode]) << mode;
  }
}

// golden-bmodel pord/0179
TEST(StreamTranslate, WindowsBesideARepeatedInputAreRefused) {
  Instruction wide = pooling(9, 0, 2);
  wide[Field::opd1_h] = 2;
  wide[Field::res0_h] = 8;
  EXPECT_EQ(refusal(wide), "");
  wide[Field::opd0_up_pad] = 2;
  EXPECT_THAT(refusal(wide), HasSubstr("pad_mode (0x2) repeats the input in windows that lie beside it"));
}

TEST(StreamTranslate, FloatsBesideIntegersAreRefused) {
  const auto mul = [](std::uint64_t first, std::uint64_t second) {
    return instruction("sAR", 0,
                       {{Field::cmd_short, 1},
                        {Field::tsk_opd_num, 2},
                        {Field::res0_prec, 2},
                        {Field::opd0_prec, first},
                        {Field::opd1_prec, second},
                        {Field::res0_n, 1},
                        {Field::res0_c, 1},
                        {Field::res0_h, 1},
                        {Field::res0_w, 4}});
  };
  EXPECT_EQ(refusal(mul(2, 2)), "");
  EXPECT_THAT(refusal(mul(0, 2)), HasSubstr("opd0_prec (0x0) is another type than the result's"));
  EXPECT_THAT(refusal(mul(2, 4)), HasSubstr("opd1_prec (0x4) is another type than the result's"));
}

TEST(StreamTranslate, ARootByItselfKeepsWhatItsStepsGive) {
  const Instruction root = instruction("sSFU", 17,
                                       {{Field::cmd_short, 1},
                                        {Field::res0_prec, 2},
                                        {Field::opd0_prec, 2},
                                        {Field::opd2_n_str, 2},
                                        {Field::res0_n, 1},
                                        {Field::res0_c, 1},
                                        {Field::res0_h, 1},
                                        {Field::res0_w, 4}});
  EXPECT_TRUE(command<RootCmd>(root).steps_only);
  EXPECT_EQ(command<RootCmd>(root).iterations, 3);
}

TEST(StreamTranslate, ShiftsOfChannelsLieAsFarApartAsTheirTypeSays) {
  for (const auto& [code, bytes] : {std::pair{0U, 1}, std::pair{3U, 2}, std::pair{4U, 4}}) {
    const auto cmd = command<IntArithCmd>(instruction("sAR", 2,
                                                      {{Field::cmd_short, 1},
                                                       {Field::tsk_opd_num, 3},
                                                       {Field::res0_prec, 4},
                                                       {Field::opd0_prec, 4},
                                                       {Field::opd1_prec, 4},
                                                       {Field::opd2_prec, code},
                                                       {Field::res0_n, 1},
                                                       {Field::res0_c, 70},
                                                       {Field::res0_h, 1},
                                                       {Field::res0_w, 4},
                                                       {Field::opd2_addr, 0x4000}}));
    const auto& shift = std::get<Tensor>(cmd.shift);
    EXPECT_EQ(shift.dtype, Dtype::kInt8);
    EXPECT_EQ(shift.stride.c, bytes);
  }
}

TEST(StreamTranslate, FromStaticMemoryOneRowGoesToEachChannel) {
  const auto spread = [](unsigned function) {
    return command<CrossCopyCmd>(instruction("sTRANS&sBC", function,
                                             {{Field::cmd_short, 1},
                                              {Field::res0_prec, 2},
                                              {Field::res0_n, 3},
                                              {Field::res0_c, 7},
                                              {Field::res0_h, 2},
                                              {Field::res0_w, 5},
                                              {Field::opd0_addr, 0x9000400}}));
  };
  EXPECT_EQ(spread(4).dst.shape, (Dim4{1, 7, 1, 5}));
  EXPECT_EQ(spread(5).dst.shape, (Dim4{1, 7, 1, 1}));
}

TEST(StreamTranslate, IntegersOf4BitsAreTheBytesThatHoldThem) {
  const auto sum = [](Fields more) {
    Instruction made = instruction("sAR", 16,
                                   {{Field::cmd_short, 1},
                                    {Field::tsk_opd_num, 2},
                                    {Field::opd0_prec, 6},
                                    {Field::res0_n, 1},
                                    {Field::res0_c, 70},
                                    {Field::res0_h, 3},
                                    {Field::res0_w, 5},
                                    {Field::opd0_addr, 0x2000}});
    for (const auto& [field, value] : more) made[field] = value;
    return made;
  };
  const auto cmd = command<IntArithCmd>(sum({}));
  const Packing packing = packing_of(cmd.rounding);
  EXPECT_TRUE(packing.first && !packing.second && !packing.dst);
  const auto& bytes = std::get<Tensor>(cmd.a);
  EXPECT_EQ(bytes.shape, (Dim4{1, 70, 1, 8}));  // 15 halves: rows follow each other without a gap
  EXPECT_EQ(bytes.dtype, Dtype::kUint8);
  EXPECT_EQ(bytes.stride.c, chip().eu_bytes);
  EXPECT_EQ(std::get<Tensor>(command<IntArithCmd>(sum({{Field::opd0_sign, 1}})).a).dtype, Dtype::kInt8);
  EXPECT_THAT(refusal(sum({{Field::opd1_const, 1}})), HasSubstr("makes a constant beside 4-bit integers"));
  EXPECT_THAT(refusal(sum({{Field::opd0_str, 3}, {Field::opd0_w_str, 1}, {Field::opd0_h_str, 7}})),
              HasSubstr("has rows that begin in the middle of a byte"));
  Instruction maximum = sum({});
  maximum[Field::tsk_eu_typ] = 4;
  EXPECT_THAT(refusal(maximum), HasSubstr("opd0_prec (0x6) is no data type of this instruction"));
}

Instruction convolution_of_bm1684(const Fields& more) {
  const Format* format = InstructionSet::find_chip("bm1684")->find("conv_op");
  Instruction convolution{format, {}};
  convolution[Field::tsk_typ] = format->operation;
  const Fields fields = {{Field::res0_n, 1},
                         {Field::res0_c, 32},
                         {Field::res0_h, 1},
                         {Field::res0_w, 1},
                         {Field::opd0_c, 1},
                         {Field::opd0_h, 1},
                         {Field::opd0_w, 1},
                         {Field::opd1_h, 1},
                         {Field::opd1_w, 1},
                         {Field::res0_prec, 2},
                         {Field::opd0_prec, 2},
                         {Field::res_op_x_str, 1},
                         {Field::opd0_str, 3},
                         {Field::res_op_y_str, 1},
                         {Field::res0_addr, 0x8060000},
                         {Field::opd1_const, 1},
                         {Field::opd0_addr, 0x8020000},
                         {Field::opd1_addr, 0x3f800000}};
  for (const auto& [field, value] : fields) convolution[field] = value;
  for (const auto& [field, value] : more) convolution[field] = value;
  return convolution;
}

// Transformers and LPRNet of BM1684 sum and copy with convolutions whose weights are all one.
TEST(StreamTranslate, AConstantStandsForAllWeightsOfAConvolution) {
  const Chip bm1684 = *load_chip("bm1684");
  const auto single = Translator(bm1684).translate(convolution_of_bm1684({}));
  ASSERT_TRUE(single) << single.error().text;
  const auto& floats = std::get<OkkConvCmd>((*single)->command);
  EXPECT_EQ(floats.constant, 1.0F);
  EXPECT_FALSE(floats.has_odd());
  const auto packed = Translator(bm1684).translate(
      convolution_of_bm1684({{Field::res0_prec, 0}, {Field::opd0_prec, 0}, {Field::opd1_addr, 7}}));
  ASSERT_TRUE(packed) << packed.error().text;
  EXPECT_EQ(std::get<Scalar>(std::get<OkkByteConvCmd>((*packed)->command).weight).bits, 7U);
}

// What layers of bytes add to an old result is not recorded.
TEST(StreamTranslate, WhatHasNoKnownResultIsTranslatedForItsTime) {
  const Chip bm1684 = *load_chip("bm1684");
  const Instruction adds = convolution_of_bm1684({{Field::res0_prec, 0}, {Field::opd0_prec, 0}, {Field::res_add, 1}});
  const auto refused = Translator(bm1684).translate(adds);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("layers of bytes do not add to their old result"));
  const auto timed = Translator(bm1684, Purpose::kTime).translate(adds);
  ASSERT_TRUE(timed) << timed.error().text;
  EXPECT_TRUE(std::holds_alternative<OkkByteConvCmd>((*timed)->command));
}

}  // namespace
}  // namespace softtpu::stream::stream_translate_test
