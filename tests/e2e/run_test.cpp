// softtpu run: what its exit status says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/e2e/processes.hpp"

namespace softtpu::e2e {
namespace {

using testing::HasSubstr;

int run(std::vector<std::string> arguments, std::string* output = nullptr) {
  arguments.insert(arguments.begin(), {kSofttpu, "run"});
  Program program(arguments);
  const int status = program.wait();
  if (output != nullptr) *output = program.output();
  EXPECT_TRUE(program.leaves_nothing());
  return status;
}

TEST(RunStatus, IsTheProgramsOwn) {
  EXPECT_EQ(run({"--", "/bin/true"}), 0);
  EXPECT_EQ(run({"--", "/bin/sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(run({"--", "/bin/sh", "-c", "kill -9 $$"}), 128 + SIGKILL);
  EXPECT_EQ(run({"--check=memory,init,race,bank", "--", kHost, "use", kKernels}), 0);
}

TEST(RunStatus, SaysThatAKernelCrashed) {
  std::string output;
  EXPECT_EQ(run({"--", kHost, "exit_in_kernel", kKernels}, &output), 121);
  EXPECT_THAT(output, HasSubstr("softtpu: crash: kernel \"e2e_exit\""));
}

TEST(RunStatus, SaysThatAKernelPassedTheTimeLimit) {
  EXPECT_EQ(run({"--timeout=1", "--", kHost, "hang", kKernels}), 122);
}

TEST(RunStatus, SaysThatTheProgramCouldNotBeStarted) {
  EXPECT_EQ(run({"--", "/no/such/program"}), 125);
  EXPECT_EQ(run({"--timeout=soon", "--", "/bin/true"}), 125);
  EXPECT_EQ(run({"--report=html:x", "--", "/bin/true"}), 125);
  EXPECT_EQ(run({"--report=json:/no/such/folder/x", "--", "/bin/true"}), 125);
  EXPECT_EQ(run({"--check=all", "--device=unix:/tmp/softtpu.sock", "--", "/bin/true"}), 125);
}

TEST(RunStatus, LeavesABadCheckToTheDevice) {
  std::string output;
  run({"--check=luck", "--", kHost, "use", kKernels}, &output);
  EXPECT_THAT(output, HasSubstr("\"luck\" is not one of memory, init, race, constraint, bank, output, all"));
  run({"--schedule=early", "--", kHost, "use", kKernels}, &output);
  EXPECT_THAT(output, HasSubstr("SOFTTPU_SCHEDULE: \"early\" is not one of program, late, random:NUMBER"));
}

TEST(RunStatus, PassesTerminationOn) {
  Program program({kSofttpu, "run", "--", kHost, "hold", kKernels});
  ASSERT_TRUE(program.wait_for_output("holding"));
  program.kill(SIGTERM);
  EXPECT_EQ(program.wait(), 128 + SIGTERM);
  EXPECT_TRUE(program.leaves_nothing());
}

TEST(RunStatus, TheProgramEndsWithTheLauncher) {
  Program program({kSofttpu, "run", "--", kHost, "hold", kKernels});
  ASSERT_TRUE(program.wait_for_output("holding"));
  program.kill(SIGKILL);
  EXPECT_EQ(program.wait(), 128 + SIGKILL);
  EXPECT_TRUE(program.leaves_nothing());
}

}  // namespace
}  // namespace softtpu::e2e
