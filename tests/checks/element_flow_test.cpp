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
