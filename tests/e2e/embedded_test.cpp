// An embedded device from the outside: it starts, serves, and is gone, whatever the program or the device does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tests/e2e/shared_device.hpp"

namespace softtpu::e2e {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

void expect_success(Program& program) {
  EXPECT_EQ(program.wait(), 0) << program.output();
  EXPECT_THAT(program.output(), HasSubstr("done"));
  EXPECT_TRUE(program.leaves_nothing());
}

TEST(Embedded, ServesAProgramAndLeavesNothing) {
  Program program({kHost, "use", kKernels});
  expect_success(program);
}

TEST(Embedded, StreamsBulkDataThroughTheSocket) {
  Program program({kHost, "use", kKernels}, {{"SOFTTPU_TRANSPORT", "stream"}});
  expect_success(program);
}

TEST(Embedded, ServesManyThreadsWhileKernelsKillTheCore) {
  for (const char* transport : {"shared", "stream"}) {
    Program program({kHost, "threads", kKernels}, {{"SOFTTPU_TRANSPORT", transport}});
    expect_success(program);
  }
}

TEST(Embedded, IsNoChildOfTheProgram) {
  Program program({kHost, "children", kKernels});
  expect_success(program);
}

TEST(Embedded, IsRefusedToAForkOfTheProgram) {
  Program program({kHost, "fork", kKernels});
  expect_success(program);
  EXPECT_THAT(program.output(), HasSubstr("not to its fork"));
}

TEST(Embedded, PrintsOfKernelsComeInOrder) {
  Program program({kHost, "print", kKernels});
  expect_success(program);
  const std::string output = program.output();
  EXPECT_LT(output.find("before"), output.find("a line from the kernel"));
  EXPECT_LT(output.find("a line from the kernel"), output.find("e2e_print 0"));
}

TEST(Embedded, SurvivesKernelsThatKillTheirCore) {
  Program program({kHost, "faults", kKernels});
  expect_success(program);
  const std::string output = program.output();
  EXPECT_THAT(output,
              HasSubstr("kernel \"e2e_segv\" on core 0 was ended by signal 11 (Segmentation fault) at address 0x10"));
  EXPECT_THAT(output, HasSubstr("kernel \"e2e_abort\" on core 0 was ended by signal 6 (Aborted)"));
  EXPECT_THAT(output, HasSubstr("kernel \"e2e_fpe\" on core 0 was ended by signal 8"));
  EXPECT_THAT(output, HasSubstr("kernel \"e2e_exit\" on core 0 called exit(7)"));
  EXPECT_THAT(output, HasSubstr("kernel \"e2e_stack\" on core 0 needs more stack than the 64 MiB"));
  const auto first = output.find("kernel \"e2e_stack\"");
  EXPECT_EQ(output.find("kernel \"e2e_stack\"", first + 1), std::string::npos)
      << "a crash is reported once: " << output;
}

TEST(Embedded, GoesWhenTheProgramIsKilled) {
  Program program({kHost, "hold", kKernels});
  ASSERT_TRUE(program.wait_for_output("holding")) << program.output();
  EXPECT_EQ(program.processes("softtpu-device").size(), 1U);
  EXPECT_EQ(program.processes("softtpu-core0").size(), 1U);
  program.kill(SIGKILL);
  program.wait();
  EXPECT_TRUE(program.leaves_nothing(seconds(1)));
}

// Linux shares the processors out among sessions: a busy program must not push its device aside.
TEST(Embedded, HasASessionOfItsOwn) {
  Program program({kHost, "hold", kKernels});
  ASSERT_TRUE(program.wait_for_output("holding")) << program.output();
  const auto devices = program.processes("softtpu-device");
  const auto cores = program.processes("softtpu-core0");
  ASSERT_EQ(devices.size(), 1U);
  ASSERT_EQ(cores.size(), 1U);
  EXPECT_EQ(::getsid(devices[0]), devices[0]);
  EXPECT_EQ(::getsid(cores[0]), devices[0]);
  program.kill(SIGKILL);
  program.wait();
  EXPECT_TRUE(program.leaves_nothing(seconds(1)));
}

TEST(Embedded, GoesWhenTheProgramIsKilledWhileAKernelHangs) {
  Program program({kHost, "hang", kKernels});
  ASSERT_TRUE(program.wait_for_output("hanging")) << program.output();
  program.kill(SIGKILL);
  program.wait();
  EXPECT_TRUE(program.leaves_nothing(seconds(1)));
}

TEST(Embedded, LeavesSignalsThatTheProgramHandlesToTheProgram) {
  Program program({kHost, "signals", kKernels});
  expect_success(program);
}

TEST(Embedded, EndsAKernelThatIssuesNoCommand) {
  Program program({kHost, "hang", kKernels}, {{"SOFTTPU_TIMEOUT", "1"}});
  expect_success(program);
  EXPECT_THAT(program.output(), HasSubstr("issued no command for 1 s"));
  EXPECT_THAT(program.output(), HasSubstr("e2e_spin 3"));  // BM_ERR_TIMEOUT
}

TEST(Embedded, ReportsADeathOfTheDeviceAndIsReplaced) {
  Program program({kHost, "again", kKernels});
  ASSERT_TRUE(program.wait_for_output("hanging")) << program.output();
  ASSERT_TRUE(eventually([&] { return program.processes("softtpu-device").size() == 1; }));
  ::kill(program.processes("softtpu-device")[0], SIGKILL);
  const auto killed = std::chrono::steady_clock::now();
  expect_success(program);
  print_recovery(killed);  // with the program's end
  EXPECT_THAT(program.output(), HasSubstr("the device process has ended"));
}

TEST(Embedded, ReportsADeathOfTheCore) {
  Program program({kHost, "hang", kKernels});
  ASSERT_TRUE(program.wait_for_output("hanging")) << program.output();
  pause_a_little();
  for (int i = 0; i < 20; ++i) pause_a_little();  // the kernel is running by now
  ::kill(program.processes("softtpu-core0").at(0), SIGKILL);
  expect_success(program);
  EXPECT_THAT(program.output(), HasSubstr("was ended by signal 9 (Killed)"));
}

TEST(Embedded, RefusesBadSettingsWithOneLine) {
  const std::pair<const char*, const char*> kBad[] = {{"SOFTTPU_CHIP", "/nowhere/chip.json"},
                                                      {"SOFTTPU_TIMEOUT", "soon"},
                                                      {"SOFTTPU_DEVICE", "tcp:host:1"},
                                                      {"CMODEL_GLOBAL_MEM_SIZE", "4 GB"},
                                                      {"CMODEL_GLOBAL_MEM_SIZE", "4096"},
                                                      {"SOFTTPU_TRACE", "/nowhere/trace.json"},
                                                      {"SOFTTPU_DEVICE", "unix:/nowhere/s"},
                                                      {"SOFTTPU_DEVICE_BINARY", "/nowhere/device"},
                                                      {"TPUKERNEL_FIRMWARE_PATH", "/nowhere/k.so"}};
  for (const auto& [name, value] : kBad) {
    Program program({kHost, "use", kKernels}, {{name, value}});
    EXPECT_EQ(program.wait(), 2) << name << "=" << value << "\n" << program.output();
    EXPECT_THAT(program.output(), testing::ContainsRegex("\\[error\\] bm_dev_request: .+\nrequest [1-9]"))
        << name << "=" << value;
    EXPECT_TRUE(program.leaves_nothing());
  }
}

// ---- Kernels that come with the program or its environment ----

TEST(Firmware, ComesFromTheEnvironment) {
  Program program({kHost, "firmware"}, {{"TPUKERNEL_FIRMWARE_PATH", kKernels}});
  expect_success(program);
}

TEST(Firmware, IsFoundAsLibcmodelOnTheLibraryPath) {
  const auto folder = std::filesystem::temp_directory_path() / ("softtpu-e2e-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(kKernels, folder / "libcmodel.so");
  Program program({kHost, "firmware"}, {{"LD_LIBRARY_PATH", folder}});
  expect_success(program);
  std::filesystem::remove_all(folder);
}

TEST(InProcess, RunsKernelsThatAreLinkedIn) {
  Program program({kInProcessHost, "firmware"});
  ASSERT_TRUE(program.wait_for_output("done")) << program.output();
  EXPECT_EQ(program.wait(), 0) << program.output();
  EXPECT_TRUE(program.processes().empty());
}

TEST(InProcess, StartsNoProcess) {
  Program program({kInProcessHost, "hold"});
  ASSERT_TRUE(program.wait_for_output("holding")) << program.output();
  EXPECT_TRUE(program.processes().empty());
  program.kill(SIGTERM);
  program.wait();
}

TEST(InProcess, EndsTheProgramWhenAKernelCallsExit) {
  Program program({kInProcessHost, "exit_in_kernel"});
  EXPECT_EQ(program.wait(), 7) << program.output();
}

TEST(InProcess, SaysThatNoThreadCanBeStarted) {
  Program program({kInProcessHost, "no_thread"});
  EXPECT_EQ(program.wait(), 2) << program.output();
  EXPECT_THAT(program.output(), HasSubstr("starting the device's thread: Resource temporarily unavailable"));
}

TEST(InProcess, CanBeChosen) {
  Program program({kHost, "use", kKernels}, {{"SOFTTPU_DEVICE", "inprocess"}});
  EXPECT_EQ(program.wait(), 0) << program.output();
}

}  // namespace
}  // namespace softtpu::e2e
