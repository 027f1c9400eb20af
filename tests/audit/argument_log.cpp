#include "tests/audit/argument_log.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "device/core/core.hpp"

namespace softtpu::audit {
namespace {

constexpr std::size_t kMostCases = 2000;  // distinct ones of a function: enough to tell arguments apart

// The bytes of an NPU's local memory, by which addresses are understood, and what a function was called with.
using Case = std::pair<std::int64_t, std::vector<std::int64_t>>;

class Log {
 public:
  static Log& instance() {
    static Log log;
    return log;
  }
  bool is_on() const { return path_ != nullptr; }

  void add(const char* function, Case given) {
    const std::lock_guard guard(mutex_);
    auto& cases = cases_[function];
    if (cases.size() < kMostCases) cases.insert(std::move(given));
  }

 private:
  Log() : path_(std::getenv("SOFTTPU_ARGUMENT_LOG")) {}
  ~Log() {
    if (path_ == nullptr) return;
    std::FILE* file = std::fopen(path_, "w");
    if (file == nullptr) {
      std::perror(path_);
      return;
    }
    // One line for each case: function, bytes of an NPU, values; "-" for a member behind NULL.
    for (const auto& [function, cases] : cases_) {
      for (const auto& [npu_bytes, values] : cases) {
        std::fprintf(file, "%s %lld", function.c_str(), static_cast<long long>(npu_bytes));
        for (const std::int64_t value : values) {
          if (value == Call::kNull) std::fputs(" -", file);
          if (value != Call::kNull) std::fprintf(file, " %lld", static_cast<long long>(value));
        }
        std::fputc('\n', file);
      }
    }
    std::fclose(file);
  }

  const char* path_;
  std::mutex mutex_;
  std::map<std::string, std::set<Case>> cases_;
};

thread_local int depth = 0;

// A function that the chip refuses ends its launch at once, and its call here with it.
class EndsCallsWithTests : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { depth = 0; }
};
[[maybe_unused]] const bool listens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new EndsCallsWithTests);
  return true;
}();

}  // namespace

Call::Call(const char* function)
    : function_(function), wanted_(depth++ == 0 && Log::instance().is_on() && Core::current() != nullptr) {}

Call::~Call() {
  --depth;
  // After a fault the core does nothing.
  if (wanted_ && !Core::current()->faulted())
    Log::instance().add(function_, {Core::current()->chip().local_bytes, std::move(values_)});
}

}  // namespace softtpu::audit
