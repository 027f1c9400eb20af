#include "runtime/base/result.hpp"

#include <gtest/gtest.h>

namespace softtpu::result_test {
namespace {

TEST(Result, CarriesAValueOrAnError) {
  const Result<int> value = 7;
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 7);
  const Result<int> error = Error{ErrorKind::kUsage, "too long"};
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().text, "too long");
  EXPECT_EQ(error.error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace softtpu::result_test
