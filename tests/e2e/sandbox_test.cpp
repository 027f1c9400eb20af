// SOFTTPU_SANDBOX=on: what a kernel can still ask of the system, and that everything else of the device works as
// without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/e2e/shared_device.hpp"

namespace softtpu::e2e {
namespace {

std::vector<int> attempts(Client& client, int value) {
  auto done = client.launch("fault_attempts", value);
  EXPECT_TRUE(done) << (done ? "" : done.error().text);
  std::vector<int> words = client.words();
  words.resize(12);
  return words;
}

TEST(Sandbox, IsOffUnlessAskedFor) {
  SharedDevice device;
  Client client(device.socket());
  EXPECT_THAT(attempts(client, 0), testing::Each(0));
}

TEST(Sandbox, AllowsNoProgramProcessConnectionOrFile) {
  SharedDevice device(Environment{{"SOFTTPU_SANDBOX", "on"}});
  Client client(device.socket());
  const std::vector<int> errors = attempts(client, 1);
  for (const int i : {0, 1, 2, 3, 4, 5, 6, 7, 11})
    EXPECT_EQ(errors[static_cast<std::size_t>(i)], EPERM) << "attempt " << i;
  for (const int i : {8, 9, 10}) EXPECT_EQ(errors[static_cast<std::size_t>(i)], 0) << "attempt " << i;
}

TEST(Sandbox, LoadsMoreModulesAndKeepsLocalMemory) {
  SharedDevice device(Environment{{"SOFTTPU_SANDBOX", "on"}}, {"--devices", "2"});
  Client client(device.socket());
  ASSERT_TRUE(client.works(5));
  const pid_t core = device.core();
  client.load(kKernels);  // needs files, so a new core
  EXPECT_NE(device.core(), core);
  EXPECT_TRUE(client.launch("e2e_nothing"));
  client.write_words(std::vector<int>(Client::kWords));
  ASSERT_TRUE(client.launch("fault_read_local"));
  EXPECT_EQ(client.words().at(3), 5 + 3);
  EXPECT_EQ(attempts(client, 0).at(0), EPERM);
}

TEST(Sandbox, ReportsCrashesWithSourceLines) {
  SharedDevice device(Environment{{"SOFTTPU_SANDBOX", "on"}});
  Client client(device.socket());
  ASSERT_TRUE(client.works());
  auto done = client.crash("fault_segv");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, testing::ContainsRegex("write_word \\(fault_kernels.c:[0-9]+\\)"));
  EXPECT_TRUE(client.works());
  done = client.launch("fault_thread");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, testing::HasSubstr("1 thread that it started was running"));
}

TEST(Sandbox, IsASettingOfPrograms) {
  Program program({kHost, "use", kKernels}, {{"SOFTTPU_SANDBOX", "on"}});
  EXPECT_EQ(program.wait(), 0) << program.output();
}

}  // namespace
}  // namespace softtpu::e2e
