// What a signal handler learns about the code that it has interrupted.
#include "runtime/base/interrupted_code.hpp"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <sys/mman.h>

#include <csignal>
#include <cstdint>
#include <cstring>

namespace softtpu::interrupted_code_test {
namespace {

struct Seen {
  bool write = false;
  const void* place = nullptr;
  std::uintptr_t stack = 0;
};
Seen seen;          // NOLINT: the handler has no other way to it
sigjmp_buf resume;  // NOLINT

void on_fault(int, siginfo_t*, void* context) {
  seen = {failed_to_write(context), interrupted_place(context), interrupted_stack_pointer(context)};
  ::siglongjmp(resume, 1);
}

// Clang's sanitizer looks at what lies before a function that is called.
#ifdef __clang__
__attribute__((no_sanitize("undefined")))
#endif
__attribute__((noinline)) void
call(void* function) {
  reinterpret_cast<void (*)()>(function)();
  seen.write = true;  // not the last thing that happens here, or it would be a jump
}

class InterruptedCode : public testing::Test {
 protected:
  void SetUp() override {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, &former_);
    memory_ = ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory_, MAP_FAILED);
  }
  void TearDown() override {
    ::munmap(memory_, kBytes);
    ::sigaction(SIGSEGV, &former_, nullptr);
  }
  // What is seen of `access`, which touches the closed memory.
  template <class Access>
  static Seen fault_of(Access access) {
    seen = {};
    if (sigsetjmp(resume, 1) == 0) access();
    return seen;
  }
  template <class T>
  void expect_both() {
    auto* const place = static_cast<volatile T*>(memory_);
    const Seen read = fault_of([=] { static_cast<void>(T{place[3]}); });
    ASSERT_NE(read.place, nullptr);
    EXPECT_FALSE(read.write) << sizeof(T);
    const Seen write = fault_of([=] { place[3] = T{}; });
    ASSERT_NE(write.place, nullptr);
    EXPECT_TRUE(write.write) << sizeof(T);
  }

  static constexpr std::size_t kBytes = 1 << 16;
  void* memory_ = nullptr;
  struct sigaction former_ {};
};

TEST_F(InterruptedCode, KnowsReadsFromWrites) {
  expect_both<std::int8_t>();
  expect_both<std::uint16_t>();
  expect_both<std::int32_t>();
  expect_both<std::uint64_t>();
  expect_both<float>();
  expect_both<double>();
  char here[256] = {};
  void* volatile there = memory_;
  EXPECT_FALSE(fault_of([&] { std::memcpy(here, there, sizeof here); }).write);
  EXPECT_TRUE(fault_of([&] { std::memcpy(there, here, sizeof here); }).write);
  EXPECT_TRUE(fault_of([&] { std::memset(there, 1, 4096); }).write);
}

TEST_F(InterruptedCode, HasItsStack) {
  volatile char here = 0;
  auto* const place = static_cast<volatile char*>(memory_);
  const Seen fault = fault_of([=] { *place = 1; });
  const auto local = reinterpret_cast<std::uintptr_t>(&here);
  EXPECT_LT(local > fault.stack ? local - fault.stack : fault.stack - local, 65536U);
}

TEST_F(InterruptedCode, NamesTheCallerOfABadCall) {
  static const void* caller;
  struct sigaction action {};
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    caller = return_of_bad_call(context);
    seen.place = interrupted_place(context);
    ::siglongjmp(resume, 1);
  };
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, nullptr);
  const Seen fault = fault_of([this] { call(memory_); });
  EXPECT_EQ(fault.place, memory_);
  const auto from = reinterpret_cast<std::uintptr_t>(&on_fault), to = reinterpret_cast<std::uintptr_t>(caller);
  EXPECT_LT(from > to ? from - to : to - from, std::uintptr_t{1} << 30) << "not in this program";
}

}  // namespace
}  // namespace softtpu::interrupted_code_test
