// Every way in which a kernel can fail, on a device that another client uses all the time: what the report says, how
// soon it comes, how soon the next launch is through, and that nothing else has changed. Each prints a row of the table
// in tests/README.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <numeric>
#include <thread>

#include "tests/e2e/shared_device.hpp"

namespace softtpu::e2e {
namespace {

using Clock = std::chrono::steady_clock;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr double kFailureMs = 3000;  // a failure is known within a second where nothing else runs

// The words of a client that launches nothing while others' kernels fail.
std::vector<int> some_words() {
  std::vector<int> words(Client::kWords);
  std::iota(words.begin(), words.end(), 4711);
  return words;
}

// Launches all the time; its launches must all succeed.
class Neighbour {
 public:
  explicit Neighbour(const SharedDevice& device) : client_(device.socket()), thread_([this] { run(); }) {}
  ~Neighbour() {
    stop_ = true;
    thread_.join();
    EXPECT_GT(launches_, 0);
  }
  // The longest that one of its launches has taken, from its copy to the device to the one back.
  double longest_ms() const { return longest_ms_; }

 private:
  void run() {
    while (!stop_) {
      const auto start = Clock::now();
      ASSERT_TRUE(client_.works(++launches_ * 7));
      longest_ms_ = std::max(longest_ms_.load(), milliseconds_since(start));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  Client client_;
  std::atomic<bool> stop_{false};
  std::atomic<int> launches_{0};
  std::atomic<double> longest_ms_{0};
  std::thread thread_;
};

struct Fault {
  const char* kernel;
  std::vector<const char*> report;  // regular expressions that the text must match
  int value = 0;
  bool address_is_start = false;       // of global memory
  bool needs_the_systems_own = false;  // allocator or signals, which a sanitizer replaces
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.kernel; }

class KernelFaults : public testing::TestWithParam<Fault> {
 protected:
  static void SetUpTestSuite() { device_ = std::make_unique<SharedDevice>(Environment{{"SOFTTPU_TIMEOUT", "1"}}); }
  static void TearDownTestSuite() { device_.reset(); }
  static std::unique_ptr<SharedDevice> device_;
};
std::unique_ptr<SharedDevice> KernelFaults::device_;

TEST_P(KernelFaults, AreReportedAndHurtNobody) {
  const Fault& fault = GetParam();
  if (kSanitized && fault.needs_the_systems_own) GTEST_SKIP();
  const Neighbour neighbour(*device_);
  Client bystander(device_->socket()), client(device_->socket());
  bystander.write_words(some_words());
  ASSERT_TRUE(client.works());
  client.write_words(some_words());

  const std::uint64_t address = fault.address_is_start ? client.device().global_start : 0;
  double failed_ms = 0;
  const auto done = client.crash(fault.kernel, fault.value, address, &failed_ms);
  ASSERT_FALSE(done) << "the kernel did not fail";
  for (const char* text : fault.report) EXPECT_THAT(done.error().text, ContainsRegex(text));
  EXPECT_THAT(done.error().text, HasSubstr(fault.kernel));

  EXPECT_EQ(client.words(), some_words()) << "the client's memory has changed";
  const auto again = Clock::now();
  EXPECT_TRUE(client.launch("fault_read_local"));
  const double works_ms = milliseconds_since(again);
  EXPECT_TRUE(client.works());
  EXPECT_EQ(bystander.words(), some_words()) << "another client's memory has changed";
  const bool timed = done.error().kind == ErrorKind::kTimeout;
  EXPECT_LT(failed_ms, kFailureMs + (timed ? 1500 : 0));  // the limit is a second, looked at every 100 ms
  std::printf("| %-26s | %7.1f ms | %6.1f ms | %7.1f ms |\n", fault.kernel, failed_ms, works_ms,
              neighbour.longest_ms());
}

const char kAtNull[] = "at address 0x10, after";
const char kLine[] = "\n     write_word \\(fault_kernels.c:[0-9]+\\)";
const char kPage[] = "over the page in which its core reports";

INSTANTIATE_TEST_SUITE_P(
    Each, KernelFaults,
    testing::Values(
        Fault{"fault_segv",
              {"was ended by signal 11 \\(Segmentation fault\\)", kAtNull, "after 0 commands", kLine,
               "\n     fault_segv \\(fault_kernels.c"}},
        Fault{"fault_after_commands",
              {"signal 11", "after 11 commands", kLine, "\n     11 tpu_bdc_set_C .*dst 0x00000280",
               "\n     5 tpu_bdc_set_C"}},
        Fault{"fault_bus", {"was ended by signal 7 \\(Bus error\\)", kLine}},
        Fault{"fault_fpe", {"was ended by signal 8", "\n     fault_fpe \\(fault_kernels.c:"}},
        Fault{"fault_ill", {"was ended by signal (4|5)", "\n     fault_ill \\(fault_kernels.c:"}},
        Fault{"fault_abort", {"was ended by signal 6 \\(Aborted\\)", "\n     fault_abort \\(fault_kernels.c:"}},
        Fault{"fault_exit", {"called exit\\(7\\)", "\n     fault_exit \\(fault_kernels.c:"}},
        Fault{"fault_exit_at_once", {"called exit\\(8\\)"}},
        Fault{"fault_call_null", {"signal 11", "at address 0x0", "\n     fault_call_null \\(fault_kernels.c:"}},
        Fault{"fault_stack",
              {"needs more stack than the 64 MiB that a kernel has \\(6[67][0-9]{6} bytes where it ended\\), after 0",
               "Largest frames of the stack:\n     use_stack \\(fault_kernels.c:[0-9]+\\): 4[0-9]{3} bytes, 1[0-9]{4} "
               "times"}},
        Fault{"fault_stack_array",
              {"needs more stack than the 64 MiB that a kernel has \\(100[0-9]{6} bytes",
               "Largest frames of the stack:\n     fault_stack_array \\(fault_kernels.c:[0-9]+\\): 100[0-9]{6} bytes"}},
        Fault{"fault_deep",
              {"at address 0x10", kLine, "\n     go_down \\(fault_kernels.c:[0-9]+\\)",
               "\n     go_down \\(fault_kernels.c:[0-9]+\\), [0-9]+ times", "\n     fault_deep \\(fault_kernels.c"}},
        Fault{"fault_free_twice", {"signal 6", "\n     fault_free_twice \\(fault_kernels.c:"}, 0, false, true},
        Fault{"fault_heap_overflow", {"signal 6|an exception that nothing caught"}, 0, false, true},
        Fault{"fault_before_local", {"signal 11", "4 bytes before local memory", kLine}},
        Fault{"fault_past_local", {"signal 11", "0 bytes past the end of local memory", kLine}},
        Fault{"fault_before_global", {"signal 11", "4 bytes before global memory", kLine}, 0, true},
        Fault{"fault_static", {"signal 11", "offset 0x0 of static memory", kLine}},
        Fault{"fault_ring", {"signal 11", kLine}},
        Fault{"fault_before_l2", {"signal 11", "4 bytes before L2 SRAM", kLine}},
        Fault{"fault_before_status", {"signal 11", kLine}}, Fault{"fault_over_status", {kPage}, 0},
        Fault{"fault_over_status", {kPage}, 0xFF}, Fault{"fault_over_status_and_segv", {"signal 11", kPage}, 0},
        Fault{"fault_over_status_and_segv", {"signal 11", kPage}, 0x5A},
        Fault{"fault_forged_report",
              {"sent a message that no core may send \\(a report about item 18446744073709551615, where [0-9]+ is the "
               "last"}},
        Fault{"fault_noise", {"sent a message that no core may send \\(a frame of 4294967295 bytes is over the limit"}},
        Fault{"fault_spin",
              {"issued no command for 1 s", "after 2 commands",
               "\n     fault_spin \\(fault_kernels.c:", "2 tpu_bdc_set_C"},
              0,
              false,
              true},
        Fault{"fault_spin_deaf", {"issued no command for 1 s"}}, Fault{"fault_stop", {"issued no command for 1 s"}},
        Fault{"fault_thread", {"has returned while 1 thread that it started was running"}},
        Fault{"fault_child", {"has returned while a process that it started was running"}},
        Fault{"fault_child_and_segv", {"signal 11", kLine}}),
    [](const auto& row) {
      return std::string(row.param.kernel) + (row.param.value == 0 ? "" : "_" + std::to_string(row.param.value));
    });

}  // namespace
}  // namespace softtpu::e2e
