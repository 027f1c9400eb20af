// Which elements of a result are made of which elements of an operand.
#include "device/footprint/element_flow.hpp"

#include <gmock/gmock.h>

namespace softtpu {
namespace {

using ::testing::ElementsAre;

ElementMarks passed(const Command& command, const Dim4& operand, const Dim4& result, std::size_t marked) {
  ElementMarks from(static_cast<std::size_t>(operand.elements()));
  from[marked] = 7;
  ElementMarks to(static_cast<std::size_t>(result.elements()));
  pass_marks(command, operand, from, result, to);
  return to;
}

DmaCopyCmd copy(CopyOrder order) {
  DmaCopyCmd command;
  command.order = order;
  return command;
}

TEST(ElementFlow, IsOneToOneInElementwiseCommands) {
  EXPECT_THAT(passed(ArithCmd(), {1, 2, 1, 2}, {1, 2, 1, 2}, 1), ElementsAre(0, 7, 0, 0));
}

TEST(ElementFlow, RepeatsOperandsOfOneElement) {
  EXPECT_THAT(passed(ArithCmd(), {1, 2, 1, 1}, {1, 2, 1, 2}, 1), ElementsAre(0, 0, 7, 7));
}

TEST(ElementFlow, FollowsTheOrderOfACopy) {
  EXPECT_THAT(passed(copy(CopyOrder::kNwhc), {1, 3, 1, 2}, {1, 2, 1, 3}, 1), ElementsAre(0, 0, 0, 7, 0, 0));
  EXPECT_THAT(passed(copy(CopyOrder::kCnhw), {3, 2, 1, 1}, {2, 3, 1, 1}, 1), ElementsAre(0, 0, 0, 7, 0, 0));
  EXPECT_THAT(passed(copy(CopyOrder::kReshape), {1, 3, 1, 2}, {1, 1, 2, 3}, 1), ElementsAre(0, 7, 0, 0, 0, 0));
  EXPECT_THAT(passed(copy(CopyOrder::kOneChannel), {1, 1, 1, 2}, {1, 2, 1, 2}, 1), ElementsAre(0, 7, 0, 7));
  EXPECT_THAT(passed(copy(CopyOrder::kReverseW), {1, 1, 1, 3}, {1, 1, 1, 3}, 0), ElementsAre(0, 0, 7));
  EXPECT_THAT(passed(copy(CopyOrder::kReverseC), {1, 3, 1, 1}, {1, 3, 1, 1}, 0), ElementsAre(0, 0, 7));
}

// What becomes of the bytes of one 32-bit word of which all but the first have marks.
ElementMarks bytes_of(const Command& command) {
  Tensor word;
  word.shape = {1, 1, 1, 1};
  word.dtype = Dtype::kUint32;
  EXPECT_TRUE(keeps_bytes(command));
  ElementMarks to(4);
  follow_marks(command, word, {0, 7, 8, 9}, word, to);
  return to;
}
OkkWordCmd words(OkkWordMode mode, std::uint32_t constant) {
  OkkWordCmd command;
  command.mode = mode;
  command.a = Tensor();
  command.b = Scalar{constant, Dtype::kUint32};
  return command;
}

TEST(ElementFlow, FollowsTheBytesOfWords) {
  EXPECT_THAT(bytes_of(copy(CopyOrder::kNchw)), ElementsAre(0, 7, 8, 9));
  EXPECT_THAT(bytes_of(words(OkkWordMode::kXor, 0x80808080)), ElementsAre(0, 7, 8, 9));
  EXPECT_THAT(bytes_of(words(OkkWordMode::kAnd, 0xFF)), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(bytes_of(words(OkkWordMode::kAnd, 0x010000FF)), ElementsAre(0, 0, 0, 9));
  EXPECT_THAT(bytes_of(words(OkkWordMode::kOr, 0xFF00FE00)), ElementsAre(0, 7, 8, 0));
  EXPECT_THAT(bytes_of(words(OkkWordMode::kShiftLogical, 8)), ElementsAre(0, 0, 7, 8));
  EXPECT_THAT(bytes_of(words(OkkWordMode::kShiftLogical, static_cast<std::uint32_t>(-16))), ElementsAre(8, 9, 0, 0));
  EXPECT_THAT(bytes_of(words(OkkWordMode::kShiftLogical, static_cast<std::uint32_t>(-4))), ElementsAre(7, 8, 9, 9));
}

TEST(ElementFlow, KeepsBytesOfOneTypeAndConstantShiftsOnly) {
  DmaCopyCmd converting = copy(CopyOrder::kNchw);
  converting.src.dtype = Dtype::kFp16;
  OkkWordCmd by_tensor = words(OkkWordMode::kShiftLogical, 0);
  by_tensor.b = Tensor();
  for (const Command& command :
       {Command(converting), Command(by_tensor), Command(words(OkkWordMode::kShiftLogical, 32)),
        Command(words(OkkWordMode::kShiftArithmetic, 8)), Command(ArithCmd())})
    EXPECT_FALSE(keeps_bytes(command));
}

TEST(ElementFlow, RepeatsTheBytesOfOneWord) {
  ElementMarks to(8);
  Tensor word;
  word.shape = {1, 1, 1, 1};
  word.dtype = Dtype::kUint32;
  Tensor two = word;
  two.shape.w = 2;
  follow_marks(words(OkkWordMode::kAnd, 0xFFFF), word, {0, 7, 8, 0}, two, to);
  EXPECT_THAT(to, ElementsAre(0, 7, 0, 0, 0, 7, 0, 0));
}

TEST(ElementFlow, EndsWhereElementsAreMixedOrChosen) {
  EXPECT_TRUE(find_elementwise_result(ArithCmd()));
  EXPECT_TRUE(find_elementwise_result(SelectCmd()));
  EXPECT_TRUE(find_elementwise_result(copy(CopyOrder::kNchw)));
  EXPECT_FALSE(find_elementwise_result(MatMulCmd()));
  EXPECT_FALSE(find_elementwise_result(Conv2dCmd()));
  EXPECT_FALSE(find_elementwise_result(PoolCmd()));
  EXPECT_FALSE(find_elementwise_result(GatherCmd()));
}

}  // namespace
}  // namespace softtpu
