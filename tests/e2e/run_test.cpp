// softtpu run: what its exit status says, and what its options set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "runtime/base/config.hpp"
#include "tests/e2e/shared_device.hpp"

namespace softtpu::e2e {
namespace {

namespace fs = std::filesystem;
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

// The program does not begin: it would have run for nothing.
TEST(RunStatus, RefusesBadValuesBeforeTheProgramStarts) {
  const std::pair<const char*, const char*> kBad[] = {
      {"--check=luck", "SOFTTPU_CHECK: \"luck\" is not one of memory, init, race, constraint, output, nan, bank, all"},
      {"--check=race,,init", "SOFTTPU_CHECK: \"\" is not one of"},
      {"--schedule=early", "SOFTTPU_SCHEDULE: \"early\" is not one of program, late, random:NUMBER"},
      {"--chip=bm1", "SOFTTPU_CHIP: "},
      {"--portable-to=bm1684,bm1", "SOFTTPU_PORTABLE_TO: "},
      {"--allow=luck/*", "SOFTTPU_ALLOW: allow rule \"luck/*\": no rule has that name"}};
  for (const auto& [option, text] : kBad) {
    std::string output;
    EXPECT_EQ(run({option, "--", "/bin/echo", "begun"}, &output), 125) << option;
    EXPECT_THAT(output, HasSubstr(text));
    EXPECT_THAT(output, testing::Not(HasSubstr("begun")));
  }
  Program serve({kSofttpu, "serve", "--check=luck"});
  EXPECT_EQ(serve.wait(), 2);
  EXPECT_THAT(serve.output(), HasSubstr("SOFTTPU_CHECK: \"luck\" is not one of"));
  Program report({kSofttpu, "report", "--check=luck", "--", "/bin/echo", "begun"});
  EXPECT_EQ(report.wait(), 125);
  EXPECT_THAT(report.output(), testing::AllOf(HasSubstr("SOFTTPU_CHECK: \"luck\""), testing::Not(HasSubstr("begun"))));
  Program alone({kHost, "use", kKernels}, {{"SOFTTPU_CHECK", "luck"}});
  EXPECT_EQ(alone.wait(), 2);
  EXPECT_THAT(alone.output(), HasSubstr("SOFTTPU_CHECK: \"luck\" is not one of"));
}

TEST(RunStatus, FindsAFileThatCannotBeWrittenBeforeTheProgramStarts) {
  const char* const kOptions[] = {"--report=json:", "--report=sarif:", "--report=junit:", "--trace=", "--timeline=",
                                  "--time-record=", "--record=",       "--log-file=",     "--dump="};
  for (const char* option : kOptions) {
    std::string output;
    EXPECT_EQ(run({option + std::string("/dev/null/out"), "--", "/bin/echo", "begun"}, &output), 125) << option;
    EXPECT_THAT(output, HasSubstr("\"/dev/null/out\""));
    EXPECT_THAT(output, testing::Not(HasSubstr("begun")));
  }
  const auto folder = std::filesystem::temp_directory_path() / ("softtpu-out-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  Program report({kSofttpu, "report", "-o", folder, "--", "/bin/echo", "begun"});
  EXPECT_EQ(report.wait(), 125);
  EXPECT_THAT(report.output(),
              testing::AllOf(HasSubstr("cannot be written: Is a directory"), testing::Not(HasSubstr("begun"))));
  // Looking leaves nothing, and changes nothing.
  std::ofstream(folder / "old") << "old";
  EXPECT_EQ(run({"--trace=" + (folder / "new").string(), "--timeline=" + (folder / "old").string(), "--", "/bin/true"}),
            0);
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  EXPECT_EQ(read_text(folder / "old"), "old");
  std::filesystem::remove_all(folder);
}

TEST(RunStatus, OfUsageErrorsIsTheOneThatHelpNames) {
  const std::pair<std::vector<std::string>, int> kErrors[] = {{{}, 2},
                                                              {{"bogus"}, 2},
                                                              {{"layout", "--bogus"}, 2},
                                                              {{"layout", "--npus=many"}, 2},
                                                              {{"dump", "x"}, 2},
                                                              {{"api", "--chip=bm1"}, 2},
                                                              {{"info", "--bogus"}, 2},
                                                              {{"sdk", "caffe", "/tmp"}, 2},
                                                              {{"run"}, 125},
                                                              {{"run", "--bogus", "--", "/bin/true"}, 125},
                                                              {{"replay"}, 125},
                                                              {{"report"}, 125},
                                                              {{"report", "--bogus"}, 125},
                                                              {{"serve", "--devices=0"}, 2},
                                                              {{"env", "x"}, 2}};
  for (const auto& [words, status] : kErrors) {
    std::vector<std::string> command = words;
    command.insert(command.begin(), kSofttpu);
    Program program(command);
    EXPECT_EQ(program.wait(), status) << testing::PrintToString(words);
    EXPECT_THAT(program.output(), testing::StartsWith("softtpu")) << testing::PrintToString(words);
  }
  for (const char* command :
       {"serve", "run", "replay", "report", "info", "rules", "env", "sdk", "dump", "layout", "api"}) {
    Program help({kSofttpu, command, "--help"});
    EXPECT_EQ(help.wait(), 0);
    EXPECT_THAT(help.output(), HasSubstr("Exit status:")) << command;
  }
}

TEST(RunStatus, PassesTerminationOn) {
  Program program({kSofttpu, "run", "--", kHost, "hold", kKernels});
  ASSERT_TRUE(program.wait_for_output("holding"));
  program.kill(SIGTERM);
  EXPECT_EQ(program.wait(), 128 + SIGTERM);
  EXPECT_TRUE(program.leaves_nothing());
}

TEST(RunStatus, TheProgramEndsWithTheLauncherAndNoFileIsLeft) {
  const auto folder = std::filesystem::temp_directory_path() / ("softtpu-run-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  Program program({kSofttpu, "run", "--", kHost, "hold", kKernels}, {{"TMPDIR", folder.string()}});
  ASSERT_TRUE(program.wait_for_output("holding"));
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "the journal has no name";
  const auto killed = std::chrono::steady_clock::now();
  program.kill(SIGKILL);
  EXPECT_EQ(program.wait(), 128 + SIGKILL);
  EXPECT_TRUE(program.leaves_nothing());
  std::printf("| softtpu run killed | nothing is left after %.1f ms |\n", milliseconds_since(killed));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

// ---- Options that stand for environment variables ----

struct Setting {
  const char* option;
  const char* text;  // "": the option is a flag
  const char* line;  // of `softtpu env`
};

// One value of each, other than the default and than every other's.
constexpr Setting kSettings[] = {
    {"--device", "inprocess", "SOFTTPU_DEVICE=inprocess"},
    {"--device-count", "7", "SG_MAX_DEVICE_COUNT=7"},
    {"--transport", "stream", "SOFTTPU_TRANSPORT=stream"},
    {"--copies", "overtake", "SOFTTPU_COPIES=overtake"},
    {"--firmware", "none", "SOFTTPU_FIRMWARE=none"},
    {"--tls-ca", "ca.pem", "SOFTTPU_TLS_CA=ca.pem"},
    {"--token-file", "t.txt", "SOFTTPU_TOKEN_FILE=t.txt"},
    {"--module", "m.so", "TPUKERNEL_FIRMWARE_PATH=m.so"},
    {"--bmlib-log", "-8", "BMLIB_LOG=-8"},
    {"--log", "debug", "SOFTTPU_LOG=debug"},
    {"--log-file", "/tmp/softtpu-l.txt", "SOFTTPU_LOG_FILE=/tmp/softtpu-l.txt"},
    {"--device-binary", "d", "SOFTTPU_DEVICE_BINARY=d"},
    {"--chip", "bm1684", "SOFTTPU_CHIP=bm1684"},
    {"--global-memory", "268435456", "CMODEL_GLOBAL_MEM_SIZE=268435456"},
    {"--timeout", "11", "SOFTTPU_TIMEOUT=11"},
    {"--launch-limit", "12", "SOFTTPU_LAUNCH_LIMIT=12"},
    {"--sandbox", "", "SOFTTPU_SANDBOX=on"},
    {"--namespace", "off", "SOFTTPU_NAMESPACE=off"},
    {"--fresh", "poison", "SOFTTPU_FRESH=poison"},
    {"--drain", "13", "SOFTTPU_DRAIN=13"},
    {"--client-memory", "4096", "SOFTTPU_CLIENT_MEMORY=4096"},
    {"--client-modules", "19", "SOFTTPU_CLIENT_MODULES=19"},
    {"--client-connections", "20", "SOFTTPU_CLIENT_CONNECTIONS=20"},
    {"--client-descriptors", "21", "SOFTTPU_CLIENT_DESCRIPTORS=21"},
    {"--preload", "libmine.so", "SOFTTPU_PRELOAD=libmine.so"},
    {"--trace", "/tmp/softtpu-t.json", "SOFTTPU_TRACE=/tmp/softtpu-t.json"},
    {"--check", "race", "SOFTTPU_CHECK=race"},
    {"--allow", "race/raw,init/*", "SOFTTPU_ALLOW=race/raw,init/*"},
    {"--max-findings", "14", "SOFTTPU_MAX_FINDINGS=14"},
    {"--portable-to", "bm1684x", "SOFTTPU_PORTABLE_TO=bm1684x"},
    {"--stack-limit", "4096", "SOFTTPU_STACK_LIMIT=4096"},
    {"--schedule", "late", "SOFTTPU_SCHEDULE=late"},
    {"--schedules", "15", "SOFTTPU_SCHEDULES=15"},
    {"--cores", "1,2", "SOFTTPU_CORES=1,2"},
    {"--time", "", "SOFTTPU_TIME=on"},
    {"--time-vendor", "", "SOFTTPU_TIME=vendor"},
    {"--time-only", "", "SOFTTPU_TIME=only"},
    {"--timeline", "/tmp/softtpu-l.json", "SOFTTPU_TIMELINE=/tmp/softtpu-l.json"},
    {"--time-record", "/tmp/softtpu-r.txt", "SOFTTPU_TIME_RECORD=/tmp/softtpu-r.txt"},
    {"--dump", "/tmp", "SOFTTPU_DUMP=/tmp"},
    {"--record", "/dev/null", "SOFTTPU_RECORD=/dev/null"},
    {"--record-launch", "17", "SOFTTPU_RECORD_LAUNCH=17"},
    {"--kernels", "plain", "SOFTTPU_KERNELS=plain"},
    {"--simd", "sse4", "SOFTTPU_SIMD=sse4"},
    {"--threads", "16", "SOFTTPU_THREADS=16"},
    {"--parallel-steps", "18", "SOFTTPU_PARALLEL_STEPS=18"},
};

// Set by `softtpu run` itself.
// Those of other runtimes keep the names that their programs know.
const std::set<std::string> kNoOption = {
    "SOFTTPU_JOURNAL",        "SOFTTPU_GDB",     "TPU_VISIBLE_DEVICES", "TPU_RT_CORE_NUM",
    "TILELANG_TPU_NUM_CORES", "PPL_KERNEL_PATH", "TPU_KERNEL_PATH",     "CHIP_ARCH"};

bool is_of_servers(const std::string& option) { return option == "--drain" || option.starts_with("--client-"); }

// ---- Files that are none ----

TEST(OddFiles, AFifoIsNoChip) {
  const fs::path fifo = fs::temp_directory_path() / ("softtpu-fifo-" + std::to_string(::getpid()));
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  Program run({kSofttpu, "run", "--chip", fifo, "--", kHost, "use", kKernels});
  EXPECT_NE(run.wait(), -1);
  EXPECT_THAT(run.output(), HasSubstr(fifo.string() + ": not a regular file"));
  fs::remove(fifo);
}

TEST(OddFiles, AFileThatCannotBeReadIsNoRecordedCase) {
  Program golden({kSofttpu, "golden", "/proc/self/mem"});
  EXPECT_EQ(golden.wait(), 1);
  EXPECT_THAT(golden.output(), HasSubstr("/proc/self/mem: Input/output error"));
}

TEST(OddFiles, AFolderIsNoArray) {
  const fs::path folder = fs::temp_directory_path() / ("softtpu-folder-" + std::to_string(::getpid()) + ".npy");
  fs::create_directories(folder);
  Program run({kSofttpu, "bmodel", "run", SOFTTPU_E2E_NETWORK, "--input", folder});
  EXPECT_EQ(run.wait(), 2);
  EXPECT_THAT(run.output(), HasSubstr(folder.string() + ": not a regular file"));
  fs::remove(folder);
}

TEST(OddFiles, ARecordedCaseWithoutCallsIsRefused) {
  const fs::path folder = fs::temp_directory_path() / ("softtpu-case-" + std::to_string(::getpid()));
  fs::create_directories(folder / "bm1684x");
  std::ofstream(folder / "bm1684x" / "x.json")
      << R"({"chip": "bm1684x", "source": "", "cases": [{"id": "x/0", "setup": [], "calls": []}]})";
  std::ofstream(folder / "bm1684x" / "x.bin");
  Program golden({kSofttpu, "golden", folder});
  EXPECT_EQ(golden.wait(), 1);
  EXPECT_THAT(golden.output(), HasSubstr("has no calls"));
  fs::remove_all(folder);
}

TEST(OddFiles, ARecordIsForItsOwnerOnly) {
  const fs::path record = fs::temp_directory_path() / ("softtpu-record-" + std::to_string(::getpid()));
  std::ofstream(record) << "an older one";
  fs::permissions(record, fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
  Program run({kSofttpu, "run", "--record", record, "--", kHost, "use", kKernels});
  EXPECT_EQ(run.wait(), 0) << run.output();
  EXPECT_EQ(fs::status(record).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::remove(record);
}

TEST(OddFiles, TooFewDescriptorsAreTheReasonThatIsGiven) {
  for (const int count : {8, 10, 20}) {
    Program program(
        {"/bin/sh", "-c", "ulimit -n " + std::to_string(count) + "; exec '" + kHost + "' use '" + kKernels + "'"});
    EXPECT_NE(program.wait(), 0);
    EXPECT_THAT(program.output(), HasSubstr("Too many open files")) << count;
  }
}

TEST(OddFiles, AMachineWithoutProcIsTheReasonThatIsGiven) {
  const auto without_proc = [](const std::string& command) {
    return std::vector<std::string>{"/usr/bin/unshare", ::geteuid() == 0 ? "-m" : "-Urm", "/bin/sh", "-c",
                                    "mount -t tmpfs none /proc && exec " + command};
  };
  if (Program(without_proc("true")).wait() != 0 || kSanitized) GTEST_SKIP() << "no namespaces of mounts here";
  Program host(without_proc("'" + kHost + "' use '" + kKernels + "'"));
  EXPECT_NE(host.wait(), 0);
  EXPECT_THAT(host.output(), HasSubstr("modules are loaded through /proc, which is not mounted"));
  Program golden(without_proc("'" + kSofttpu + "' golden /no/such/case"));
  EXPECT_EQ(golden.wait(), 1) << golden.output();
  EXPECT_THAT(golden.output(), HasSubstr("/no/such/case"));
}

// A terminal obeys them. Networks, cases and records have tests of their own.
TEST(OddFiles, NamesReachATerminalWithoutControlCharacters) {
  const std::string name =
      "/proc/nowhere/\x1b[31mred\xc2\x9b"
      "31m";
  const std::vector<std::vector<std::string>> commands = {
      {"golden", name},
      {"bmodel", "info", name},
      {"bmodel", "run", name},
      {"replay", name},
      {"report", "-o", name, "--", "/bin/true"},
      {"dump", name, "0", "4"},
      {"layout", name},
      {"layout", "[1,64,8,8]", "-o", name},
      {"api", name},
      {"sdk", "ppl", name},
      {"serve", "--socket", name},
      {"serve", "--chip", name},
      {"run", "--chip", name, "--", "/bin/true"},
      {"run", "--", name},
      {"try", name},
      {"info", name},
      {name},
  };
  for (std::vector<std::string> command : commands) {
    command.insert(command.begin(), kSofttpu);
    Program program(command);
    static_cast<void>(program.wait());
    EXPECT_THAT(program.output(), testing::Not(HasSubstr("\x1b"))) << command[1];
    EXPECT_THAT(program.output(), testing::Not(HasSubstr("\xc2\x9b"))) << command[1];
  }
  for (const char* variable : {"SOFTTPU_CHIP", "SOFTTPU_DEVICE", "SOFTTPU_LOG", "SOFTTPU_TRACE"}) {
    Program program({kSofttpu, "env"}, {{variable, name}});
    static_cast<void>(program.wait());
    EXPECT_THAT(program.output(), testing::Not(HasSubstr("\x1b"))) << variable;
    EXPECT_THAT(program.output(), HasSubstr("\\x1b[31mred")) << variable;
  }
}

// A command where nothing lies in /dev.
std::vector<std::string> without_null(const std::string& command) {
  return {"/usr/bin/unshare", ::geteuid() == 0 ? "-m" : "-Urm", "/bin/sh", "-c",
          "mount -t tmpfs none /dev && exec " + command};
}

TEST(OddFiles, AMachineWithoutDevNullIsTheReasonThatIsGiven) {
  if (Program(without_null("true")).wait() != 0 || kSanitized) GTEST_SKIP() << "no namespaces of mounts here";
  Program host(without_null("'" + kHost + "' use '" + kKernels + "'"));
  EXPECT_NE(host.wait(), 0);
  EXPECT_THAT(host.output(), HasSubstr("/dev/null cannot be read (No such file or directory)"));
}

// It would keep its caller's output, and $(softtpu serve --daemon) would wait forever.
TEST(OddFiles, ADaemonWithoutDevNullIsRefused) {
  if (Program(without_null("true")).wait() != 0 || kSanitized) GTEST_SKIP() << "no namespaces of mounts here";
  const fs::path folder = fs::temp_directory_path() / ("softtpu-no-null-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  const std::string socket = folder / "device.sock";
  Program server(without_null("'" + kSofttpu + "' serve --daemon --socket '" + socket + "'"));
  EXPECT_EQ(server.wait(), 1);
  EXPECT_THAT(server.output(), HasSubstr("/dev/null cannot be opened: No such file or directory. A daemon needs it"));
  EXPECT_THAT(server.output(), HasSubstr("a container or chroot has to have it"));
  EXPECT_TRUE(server.leaves_nothing());
  EXPECT_FALSE(fs::exists(socket));
  fs::remove_all(folder);
}

TEST(OddLimits, AStackThatIsTooSmallIsTheReasonThatIsGiven) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs a stack as well";
  const std::string limited = "ulimit -s 64; exec ";
  for (const std::string& command : {"'" + kHost + "' use '" + kKernels + "'", "'" + kSofttpu + "' serve"}) {
    Program program({"/bin/sh", "-c", limited + command}, {{"XDG_RUNTIME_DIR", "/proc/nowhere"}});
    EXPECT_NE(program.wait(), 0) << command;
    EXPECT_THAT(program.output(), HasSubstr("stacks are limited to 64 KiB (ulimit -H -s)")) << command;
  }
}

TEST(SettingOptions, SetTheVariablesOfTheProgram) {
  for (const Setting& setting : kSettings) {
    if (is_of_servers(setting.option)) continue;
    std::vector<std::string> words = {setting.option};
    if (*setting.text != '\0') words.back() += "=" + std::string(setting.text);
    words.insert(words.end(), {"--", kSofttpu, "env"});
    std::string output;
    EXPECT_EQ(run(words, &output), 0) << setting.option;
    EXPECT_THAT(output, testing::AnyOf(HasSubstr(std::string("\n") + setting.line + "\n"),
                                       testing::StartsWith(std::string(setting.line) + "\n")));
  }
}

TEST(SettingOptions, ExistForEveryVariable) {
  std::set<std::string> with_option, known;
  for (const Setting& setting : kSettings) {
    const std::string line = setting.line;
    with_option.insert(line.substr(0, line.find('=')));
  }
  for (const Variable& variable : variables()) {
    if (!kNoOption.contains(std::string(variable.name))) known.emplace(variable.name);
  }
  EXPECT_EQ(with_option, known);
}

TEST(SettingOptions, AreWhatHelpLists) {
  for (const char* command : {"run", "serve"}) {
    Program help({kSofttpu, command, "--help"});
    EXPECT_EQ(help.wait(), 0);
    const std::string text = help.output();
    std::set<std::string> listed, expected;
    for (std::size_t at = 0; (at = text.find("\n  --", at)) != std::string::npos; ++at) {
      const std::string option = text.substr(at + 3, text.find(' ', at + 3) - at - 3);
      const std::size_t end = text.find('\n', at + 1);
      if (text.substr(at, end - at).find("sets ") != std::string::npos) listed.insert(option);
    }
    const bool serves = std::string(command) == "serve";
    const std::set<std::string> of_programs = {"--device",     "--device-count", "--transport", "--copies",  "--tls-ca",
                                               "--token-file", "--module",       "--bmlib-log", "--firmware"};
    for (const Setting& setting : kSettings) {
      const std::string option = setting.option;
      if (serves ? !of_programs.contains(option) : !is_of_servers(option)) expected.insert(option);
    }
    EXPECT_EQ(listed, expected) << command;
  }
}

TEST(SettingOptions, OfAListAreJoined) {
  Program program({kSofttpu, "run", "--allow", "race/raw", "--allow=race/war", "--", kSofttpu, "env"},
                  {{"SOFTTPU_ALLOW", "init/*"}});
  EXPECT_EQ(program.wait(), 0);
  EXPECT_THAT(program.output(), HasSubstr("SOFTTPU_ALLOW=init/*,race/raw,race/war\n"));
}

TEST(SettingOptions, OfADeviceAreRefusedForASharedOne) {
  std::string output;
  EXPECT_EQ(run({"--device=unix:/tmp/softtpu.sock", "--sandbox", "--", "/bin/true"}, &output), 125);
  EXPECT_THAT(output, HasSubstr("--sandbox sets up a private device, and SOFTTPU_DEVICE is /tmp/softtpu.sock"));
  EXPECT_EQ(run({"--device=unix:/tmp/softtpu.sock", "--log=debug", "--transport=stream", "--", "/bin/true"}), 0);
}

TEST(SettingOptions, OfAServerReachIt) {
  SharedDevice device({}, {"--sandbox", "--fresh", "poison", "--launch-limit=1", "--chip=bm1684x"});
  Client client(device.socket());
  EXPECT_THAT(client.words(), testing::Each(static_cast<int>(0xA5A5A5A5)));
  EXPECT_TRUE(client.launch("fault_attempts", 0));
  EXPECT_EQ(client.words().front(), EPERM);
  const auto busy = client.launch("fault_busy", 1000);
  ASSERT_FALSE(busy);
  EXPECT_THAT(busy.error().text, HasSubstr("SOFTTPU_LAUNCH_LIMIT"));
  Program bad({kSofttpu, "serve", "--drain=soon"}, device.environment());
  EXPECT_EQ(bad.wait(), 2);
  EXPECT_THAT(bad.output(), HasSubstr("SOFTTPU_DRAIN: \"soon\" is not a number from 0 to 86400"));
}

}  // namespace
}  // namespace softtpu::e2e
