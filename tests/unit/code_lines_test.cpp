// Source lines of code in this process.
#include "runtime/report/code_lines.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cmath>
#include <memory>

namespace softtpu::code_lines_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

[[gnu::noinline]] const char* return_address() { return static_cast<const char*>(__builtin_return_address(0)); }

[[gnu::always_inline]] inline const char* innermost() {
  const char* address = return_address();
  asm volatile("" : "+r"(address));  // the call is not the last thing that this does
  return address;
}

[[gnu::noinline]] const char* outermost() {
  const char* address = innermost();
  asm volatile("" : "+r"(address));
  return address;
}

[[gnu::noinline]] const char* with_nothing_inlined() {
  const char* address = return_address();
  asm volatile("" : "+r"(address));
  return address;
}

// Clang's debug information of lines alone (the fuzzers' build) leaves such a function out.
TEST(CodeLines, NamesAFunctionIntoWhichNothingIsInlined) {
  const auto lines = lines_at(with_nothing_inlined() - 1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0].function, HasSubstr("with_nothing_inlined"));
  EXPECT_THAT(lines[0].path, EndsWith("code_lines_test.cpp"));
}

TEST(CodeLines, NamesTheFunctionAndThoseThatItIsInlinedInto) {
  const auto lines = lines_at(outermost() - 1);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0].function, HasSubstr("innermost"));
  EXPECT_THAT(lines[1].function, HasSubstr("outermost"));
  EXPECT_LT(lines[0].line, lines[1].line);
  for (const SourceLine& line : lines) EXPECT_THAT(line.path, EndsWith("code_lines_test.cpp"));
}

TEST(CodeLines, SaysNothingOfWhatIsNoCode) {
  const auto heap = std::make_unique<int>();
  EXPECT_TRUE(lines_at(nullptr).empty());
  EXPECT_TRUE(lines_at(heap.get()).empty());
}

// The first line used to take 100 ms: debug information of every library, and of this program, was read for it.
TEST(CodeLines, ReadsOnlyTheObjectThatTheCodeIsIn) {
  double (*const function)(double) = std::cbrt;
  const auto faults = [] {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
  };
  const auto before = faults();
  const auto lines = lines_at(reinterpret_cast<const char*>(function) + 1);
  EXPECT_LT(faults() - before, 4000) << "pages of memory touched";
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.back().function, HasSubstr("cbrt"));
}

}  // namespace
}  // namespace softtpu::code_lines_test
