// What a kernel can do to the server, to other devices and to later launches: nothing. With cores in a PID namespace
// and without.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "runtime/transport/socket.hpp"
#include "tests/e2e/shared_device.hpp"

namespace softtpu::e2e {
namespace {

using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

// Whether this machine lets this user have PID namespaces.
bool has_namespaces() {
  static const bool has = Program({"/usr/bin/unshare", ::geteuid() == 0 ? "-pf" : "-Urpf", "true"}).wait() == 0;
  return has;
}

// The parameter: SOFTTPU_NAMESPACE.
class Isolation : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (namespaces() && (!has_namespaces() || kSanitized)) GTEST_SKIP() << "no PID namespaces here";
  }
  static bool namespaces() { return std::strcmp(GetParam(), "on") == 0; }
  static Environment settings(Environment more = {}) {
    more["SOFTTPU_NAMESPACE"] = GetParam();
    return more;
  }
};

class Attacker : public Client {
 public:
  explicit Attacker(const SharedDevice& device, const std::string& module = kAttackKernels) : Client(device.socket()) {
    load(module);
  }
  // The words that the kernel has left; it must succeed.
  std::vector<int> attack(const std::string& kernel, int value = 0) {
    auto done = launch(kernel, value);
    EXPECT_TRUE(done) << kernel << " " << value << ": " << (done ? "" : done.error().text);
    return words();
  }
};

// ---- Memories that others have too ----

TEST_P(Isolation, AKernelCannotShortenTheDevicesMemories) {
  SharedDevice device(settings(), {"--devices", "2"});
  Client witness(device.socket());
  Attacker attacker(device);
  EXPECT_EQ(attacker.attack("attack_truncate")[0], 0);
  EXPECT_TRUE(witness.works());
  EXPECT_TRUE(attacker.works());
}

TEST_P(Isolation, AKernelHasNoFilesOfTheServer) {
  SharedDevice device(settings(), {"--devices", "2"});
  Attacker attacker(device);
  const std::vector<int> words = attacker.attack("attack_files");
  EXPECT_EQ(words[0], 0) << "anonymous files of the server";
  EXPECT_EQ(words[1], 0) << "modules that can be changed";
}

TEST_P(Isolation, WhatAKernelWritesToTheFileOfReportsIsNotToldOfAnothersCrash) {
  SharedDevice device(settings());
  Client victim(device.socket());
  Attacker attacker(device);
  EXPECT_EQ(attacker.attack("attack_report")[0], 1);
  const auto done = victim.launch("fault_segv");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, HasSubstr("signal 11"));
  EXPECT_THAT(done.error().text, testing::Not(HasSubstr("planted")));
  EXPECT_THAT(done.error().text, testing::Not(HasSubstr("anitizer")));
}

// Files that a kernel has opened stay open, so the next module's descriptor does not arrive.
TEST_P(Isolation, ALoadThatAUsedCoreCannotMakeIsTriedOnceMoreInANewOne) {
  SharedDevice device(settings());
  Attacker attacker(device);
  Client other(device.socket());
  const pid_t used = device.core();
  EXPECT_GT(attacker.attack("attack_take_descriptors")[0], 0);
  EXPECT_EQ(device.core(), used);
  other.load(kStateKernels);
  EXPECT_NE(device.core(), used);
  EXPECT_TRUE(other.launch("state_look"));
  EXPECT_TRUE(other.works());
  EXPECT_TRUE(attacker.works());
}

TEST_P(Isolation, AKernelHasNoMemoriesOfOtherDevices) {
  SharedDevice device(settings(), {"--devices", "2"});
  Attacker attacker(device);
  EXPECT_FALSE(attacker.launch("fault_segv"));  // a new core comes from a server that has everything
  EXPECT_EQ(attacker.attack("attack_mappings")[0], 0);
}

TEST_P(Isolation, AKernelCannotWriteStaticMemory) {
  SharedDevice device(settings());
  Attacker attacker(device);
  EXPECT_EQ(attacker.attack("attack_mappings")[1], EACCES);
}

TEST_P(Isolation, AKernelThatUnmapsItsStatusFailsAlone) {
  SharedDevice device(settings());
  Client witness(device.socket());
  Attacker attacker(device);
  for (const int copy : {0, 1, 0, 1}) {
    const auto done = attacker.launch("attack_unmap_status", copy);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().text, HasSubstr("attack_unmap_status"));
    EXPECT_TRUE(witness.works());
  }
}

// What the reply to an open hands out.
TEST_P(Isolation, AClientCannotShortenGlobalMemory) {
  SharedDevice device(settings());
  Client witness(device.socket());
  auto socket = connect_unix(device.socket());
  ASSERT_TRUE(socket);
  RpcClient rpc(std::move(*socket));
  ASSERT_TRUE(rpc.call<msg::HelloReply>(msg::Hello{}));
  std::vector<UniqueFd> files;
  const auto opened = rpc.call<msg::OpenReply>(msg::Open{0, true, {}}, {}, &files);
  ASSERT_TRUE(opened);
  ASSERT_EQ(files.size(), 1U);
  const int memory = files[0].get();
  EXPECT_NE(::ftruncate(memory, 0), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(::ftruncate(memory, static_cast<off_t>(opened->global_bytes) * 2), 0);
  EXPECT_NE(::fcntl(memory, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0) << "others could not map it any more";
  const std::string path = "/proc/self/fd/" + std::to_string(memory);
  EXPECT_NE(::truncate(path.c_str(), 0), 0);
  EXPECT_TRUE(witness.works());
}

// ---- Processes ----

TEST_P(Isolation, AKernelCannotNameTheServer) {
  SharedDevice device(settings());
  if (!namespaces()) GTEST_SKIP() << "only a namespace keeps a kernel from it (docs/threat-model.md)";
  Client witness(device.socket());
  Attacker attacker(device);
  const std::vector<int> words = attacker.attack("attack_process", device.server().pid());
  for (const std::size_t i : {0, 1, 2, 3}) EXPECT_EQ(words[i], ESRCH) << "attempt " << i;
  EXPECT_TRUE(witness.works());
  EXPECT_TRUE(device.core() > 0);
}

TEST_P(Isolation, AProcessThatEscapesIsEndedAndReported) {
  SharedDevice device(settings());
  Client witness(device.socket());
  Attacker attacker(device);
  for (const char* kernel : {"attack_escape", "attack_escape_deep"}) {
    const auto done = attacker.launch(kernel);
    ASSERT_FALSE(done) << kernel;
    EXPECT_THAT(done.error().text, HasSubstr("has returned while a process that it started was running")) << kernel;
    EXPECT_TRUE(witness.works());
    EXPECT_EQ(device.server().processes("softtpu-core0").size(), 1U) << kernel;
    const std::vector<int> then = attacker.words();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(attacker.words()[1], then[1]) << "a process still writes";
  }
}

TEST_P(Isolation, AProcessThatEscapesFromACrashIsEnded) {
  SharedDevice device(settings());
  Attacker attacker(device);
  EXPECT_FALSE(attacker.launch("attack_escape_deep", 1));
  EXPECT_TRUE(attacker.works());
  EXPECT_EQ(device.server().processes("softtpu-core0").size(), 1U);
}

TEST_P(Isolation, AProcessThatEscapesEndsWithTheServer) {
  SharedDevice device(settings());
  Attacker attacker(device);
  std::thread launch([&] { EXPECT_FALSE(attacker.launch("attack_escape", 1)); });
  EXPECT_TRUE(eventually([&] { return device.server().processes("softtpu-core0").size() >= 2; }));
  device.kill_server();  // leaves nothing within a second
  launch.join();
  device.restart();
}

TEST_P(Isolation, AProcessThatARawCallStartsIsEndedAndReported) {
#ifndef __x86_64__
  GTEST_SKIP();
#endif
  SharedDevice device(settings());
  Attacker attacker(device, kRawCalls);
  const auto done = attacker.launch("raw_spoil", 1);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, HasSubstr("has returned while a process that it started was running"));
  EXPECT_TRUE(attacker.works());
}

// ---- Kernels that can never come back ----

TEST_P(Isolation, AKernelThatNeverComesBackIsEndedAfterASecond) {
  SharedDevice device(settings({{"SOFTTPU_TIMEOUT", "30"}}));
  Client witness(device.socket());
  Attacker attacker(device);
  const std::pair<const char*, const char*> kinds[] = {
      {"attack_end_thread", "can never return: its thread has ended (pthread_exit) and was ended"},
      {"attack_deadlock", "waits for ever: none of its threads can be woken and was ended"},
      {"attack_exit_handler", "waits for ever: none of its threads can be woken and was ended"}};
  for (const auto& [kernel, text] : kinds) {
    const auto start = Clock::now();
    const auto done = attacker.launch(kernel);
    const double waited = milliseconds_since(start);
    ASSERT_FALSE(done) << kernel;
    EXPECT_THAT(done.error().text, HasSubstr(text)) << kernel;
    EXPECT_LT(waited, 10000) << kernel;  // and not 30 seconds
    std::printf("| %s | ended after %.0f ms |\n", kernel, waited);
    EXPECT_TRUE(witness.works());
  }
}

TEST_P(Isolation, AKernelThatWaitsForAnotherThreadIsNotEnded) {
  SharedDevice device(settings({{"SOFTTPU_TIMEOUT", "30"}}));
  Attacker attacker(device);
  EXPECT_EQ(attacker.attack("attack_slow_lock")[0], 1);
}

// ---- Unwinding ----

// The processes and the name that the server owns; none of them is a kernel's to end.
struct Owned {
  explicit Owned(const SharedDevice& device) : device_(device) {}
  std::vector<pid_t> cores() const {
    std::vector<pid_t> all;
    for (const char* core : {"softtpu-core1", "softtpu-core2", "softtpu-core3"}) {
      const std::vector<pid_t> of_devices = const_cast<SharedDevice&>(device_).server().processes(core);
      all.insert(all.end(), of_devices.begin(), of_devices.end());
    }
    return all;
  }
  ino_t name() const {
    struct stat status {};
    return ::lstat(device_.socket().c_str(), &status) == 0 ? status.st_ino : 0;
  }

 private:
  const SharedDevice& device_;
};

TEST_P(Isolation, AKernelThatEndsItsThreadReachesNothingOutside) {
  SharedDevice device(settings({{"SOFTTPU_CHIP", "bm1690"}}), {"--devices", "2"});
  Client witness(device.socket());
  Attacker attacker(device);
  const Owned owned(device);
  const auto cores = owned.cores();
  const ino_t name = owned.name();
  ASSERT_GE(cores.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    const auto done = attacker.launch("attack_pthread_exit");
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().text, HasSubstr("ended the thread of its core (pthread_exit)"));
    EXPECT_EQ(owned.cores(), cores);
    EXPECT_EQ(owned.name(), name);
    EXPECT_TRUE(witness.works());
  }
}

TEST_P(Isolation, AnExceptionThatNothingCatchesEndsItsLaunchWithTypeTextAndLine) {
  SharedDevice device(settings({{"SOFTTPU_CHIP", "bm1690"}}), {"--devices", "2"});
  Client witness(device.socket());
  Attacker attacker(device, kThrowingKernels);
  const Owned owned(device);
  const auto cores = owned.cores();
  const ino_t name = owned.name();
  const char* const texts[] = {
      "threw an exception that nothing caught (std::runtime_error: out of range?[31m), after 0",
      "threw an exception that nothing caught ((anonymous namespace)::Own)",
      "threw an exception that nothing caught (int)"};
  for (int what = 0; what < 3; ++what) {
    const auto done = attacker.crash("e2e_throw", what);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().text, HasSubstr(texts[what]));
    EXPECT_THAT(done.error().text, testing::ContainsRegex("throw_one.*throwing_kernels.cpp:[0-9]+"));
    EXPECT_TRUE(witness.works());
  }
  const auto done = attacker.launch("e2e_throw_in_a_thread");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, HasSubstr("std::runtime_error"));
  EXPECT_TRUE(attacker.launch("e2e_throw_and_catch"));
  EXPECT_EQ(owned.cores(), cores);
  EXPECT_EQ(owned.name(), name);
}

// One function in so many: each one that fails takes its core along.
TEST_P(Isolation, AKernelWithoutMemoryFailsAloneWhateverItCalls) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer ends the process where memory is missing";
  constexpr int kFunctions = 0
#define OP(...) +1
#include "device/isa/ops.def"
      ;
  constexpr int kStep = 24;
  SharedDevice device(settings({{"SOFTTPU_CHIP", "bm1690"}}));
  Client witness(device.socket());
  Attacker attacker(device, kThrowingKernels);
  int failed = 0;
  for (int function = 0; function < kFunctions; function += kStep) {
    const auto done = attacker.launch("e2e_call_without_memory", function);
    if (done) continue;
    ++failed;
    EXPECT_FALSE(done.error().text.empty());
    EXPECT_NE(done.error().kind, ErrorKind::kConnection) << done.error().text;
  }
  EXPECT_GT(failed, kFunctions / kStep / 4);
  EXPECT_TRUE(witness.works());
  EXPECT_TRUE(attacker.launch("e2e_throw_and_catch"));
}

// ---- What a kernel leaves its core set to ----

std::vector<int> look(Client& client, const std::string& kernel) {
  auto done = client.launch(kernel);
  EXPECT_TRUE(done) << kernel << ": " << (done ? "" : done.error().text);
  std::vector<int> words = client.words();
  words.resize(32);
  return words;
}

// Each client loads its own copy of the kernels, which ran in a fresh core before.
TEST_P(Isolation, EveryLaunchBeginsWithTheProcessorOfAFreshCore) {
  SharedDevice device(settings());
  Attacker spoiler(device, kStateKernels), other(device, kStateKernels);
  const std::vector<int> fresh = look(other, "state_arithmetic");
  float product = 0, third = 0;
  std::memcpy(&product, &fresh[0], sizeof product);
  std::memcpy(&third, &fresh[1], sizeof third);
  EXPECT_EQ(product, 1.00000022e-39F);
  EXPECT_EQ(third, 1.0F / 3);
  for (int what = 0; what < 7; ++what) {
    static_cast<void>(spoiler.launch("state_spoil_processor", what));  // some of it ends the kernel itself
    EXPECT_EQ(look(other, "state_arithmetic"), fresh) << "after " << what;
  }
}

TEST_P(Isolation, EveryLaunchBeginsWithTheStateOfAFreshCore) {
  SharedDevice device(settings());
  Attacker spoiler(device, kStateKernels), other(device, kStateKernels);
  const std::vector<int> fresh = look(other, "state_look");
  constexpr int kWays = 25;
  for (int what = 0; what < kWays; ++what) {
    const auto done = spoiler.launch("state_spoil", what);
    const bool fails_itself = what == 21 || what == 22;  // memories that its own launch needs
    EXPECT_TRUE(done || fails_itself) << what << ": " << done.error().text;
    EXPECT_EQ(look(other, "state_look"), fresh) << "after " << what;
    EXPECT_TRUE(other.works(what)) << "after " << what;
    Attacker newcomer(device);  // a core can load modules
    EXPECT_TRUE(newcomer.works(what)) << "after " << what;
  }
}

// A launch does not fail for an alarm of another process.
TEST_P(Isolation, NobodyIsBlamedForAnothersTimer) {
  SharedDevice device(settings());
  Attacker spoiler(device, kStateKernels), raw(device, kRawCalls);
  Client other(device.socket());
  const auto end = Clock::now() + std::chrono::milliseconds(2500);
  EXPECT_TRUE(spoiler.launch("state_spoil", 3));
  EXPECT_TRUE(spoiler.launch("state_spoil", 4));
  EXPECT_TRUE(raw.launch("raw_spoil", 0));
  while (Clock::now() < end) ASSERT_TRUE(other.works());
}

TEST_P(Isolation, AModuleThatSetsTheProcessorWhenItIsLoadedChangesNothing) {
  SharedDevice device(settings());
  Attacker other(device, kStateKernels);
  const std::vector<int> fresh = look(other, "state_arithmetic");
  const std::vector<int> process = look(other, "state_look");
  Attacker fast_math(device, built("lib/e2e_loads_changed_1.so"));
  EXPECT_EQ(look(other, "state_arithmetic"), fresh);
  Attacker changing(device, built("lib/e2e_loads_changed_2.so"));
  EXPECT_EQ(look(other, "state_look"), process);
  EXPECT_TRUE(changing.launch("changed_nothing"));
}

TEST_P(Isolation, AModuleThatChangesItsCoreForGoodIsRefused) {
  SharedDevice device(settings());
  Attacker other(device, kStateKernels);
  const std::vector<int> process = look(other, "state_look");
  try {
    other.load(built("lib/e2e_loads_changed_3.so"));
    FAIL() << "it was loaded";
  } catch (const std::exception& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("while it was loaded it changed priority of its core, which others use too"));
  }
  EXPECT_EQ(look(other, "state_look"), process);
}

INSTANTIATE_TEST_SUITE_P(Namespace, Isolation, testing::Values("on", "off"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace softtpu::e2e
