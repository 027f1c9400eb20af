// Findings on their way into reports: journal, folding, verdicts, formats, allow rules.
#include "runtime/report/report.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "device/checks/allow.hpp"
#include "device/checks/client_findings.hpp"
#include "device/checks/findings.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/frame.hpp"
#include "runtime/report/fault_location.hpp"
#include "runtime/report/finding_message.hpp"
#include "runtime/report/rules.hpp"
#include "runtime/report/source_root.hpp"

namespace softtpu {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class JournalFile : public ::testing::Test {
 protected:
  ~JournalFile() override { std::remove(path_.c_str()); }
  JournalContents contents() {
    auto read = read_journal(path_, 0);
    EXPECT_TRUE(read) << read.error().text;
    return read ? *std::move(read) : JournalContents();
  }
  const std::string path_ = ::testing::TempDir() + "softtpu_journal_" + std::to_string(::getpid());
};

ReportedFinding race(const std::string& function, int line) {
  ReportedFinding found;
  found.rule = "race/raw";
  found.kernel = "add";
  found.core = 0;
  found.what = "two <engines> & \"bytes\"";
  found.place = ReportedRange{"local", 0x400, 0x480, 3, 0};
  found.parties = {{function, function + " writes", {"/src/add.c", line, "add"}, {}}};
  return found;
}

TEST_F(JournalFile, FoldsTheSameCallsAndAddsUp) {
  auto journal = Journal::open(path_);
  ASSERT_TRUE(journal);
  (*journal)->add(race("tpu_gdma_cpy_S2L", 7), 0);
  (*journal)->add_count(0, 4, nullptr);
  (*journal)->add(race("tpu_gdma_cpy_S2L", 7), 1);  // seen by another launch
  (*journal)->add(race("tpu_gdma_cpy_S2L", 9), 2);
  (*journal)->add(AllowedRecord{"race/war", "add", 2});
  (*journal)->add(AllowedRecord{"race/war", "add", 3});
  (*journal)->add(FailureRecord{FailureKind::kTimeout, "add", "hangs"});
  const JournalContents read = contents();
  ASSERT_THAT(read.found, SizeIs(2));
  ReportedFinding expected = race("tpu_gdma_cpy_S2L", 7);
  expected.count = 6;
  EXPECT_EQ(read.found[0], expected);
  ASSERT_THAT(read.allowed, SizeIs(1));
  EXPECT_EQ(read.allowed[0].count, 5U);
  ASSERT_THAT(read.failures, SizeIs(1));
  EXPECT_EQ(read.failures[0].kind, FailureKind::kTimeout);
}

TEST_F(JournalFile, SkipsDamagedLines) {
  std::ofstream(path_)
      << "{\"found\":{\"rule\":\"no/such\",\"parties\":[]},\"id\":\"1:1\"}\n"
      << "{\"found\":{\"rule\":7}}\n[1,2]\nnot json\n{\"count\":3,\"id\":\"9:9\"}\n"
      << "{\"count\":3,\"id\":9}\n{\"failure\":7}\n{\"failure\":{\"kind\":7}}\n{\"allowed\":{\"count\":[]}}\n{\"fou";
  const JournalContents read = contents();
  EXPECT_TRUE(read.found.empty() && read.allowed.empty() && read.failures.empty());
}

TEST_F(JournalFile, IsFollowedWhileItIsWritten) {
  auto journal = Journal::open(path_);
  ASSERT_TRUE(journal);
  JournalFollower follower(UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)));
  EXPECT_TRUE(follower.take().found.empty());
  (*journal)->add(race("tpu_gdma_cpy_S2L", 7), 1);
  std::string lines;
  const JournalContents first = follower.take(&lines);
  ASSERT_THAT(first.found, SizeIs(1));
  EXPECT_EQ(first.found[0].count, 1U);
  EXPECT_THAT(lines, HasSubstr("tpu_gdma_cpy_S2L"));
  // It came again: the same finding with the count of this time.
  (*journal)->add_count(1, 5, nullptr);
  (*journal)->add(FailureRecord{FailureKind::kCrash, "add", "it crashed"});
  const JournalContents second = follower.take();
  ASSERT_THAT(second.found, SizeIs(1));
  EXPECT_EQ(second.found[0].rule, first.found[0].rule);
  EXPECT_EQ(second.found[0].count, 5U);
  ASSERT_THAT(second.failures, SizeIs(1));
  // A line that is not whole yet waits.
  std::ofstream(path_, std::ios::app) << R"({"failure": {"kind": "usage", "ker)";
  EXPECT_TRUE(follower.take().failures.empty());
  std::ofstream(path_, std::ios::app) << "nel\": \"late\", \"text\": \"t\"}}\n";
  const JournalContents third = follower.take();
  ASSERT_THAT(third.failures, SizeIs(1));
  EXPECT_EQ(third.failures[0].kernel, "late");
  EXPECT_TRUE(third.found.empty());
}

TEST_F(JournalFile, RefusesAPathThatCannotBeWritten) {
  const auto journal = Journal::open("/nonexistent-folder/journal");
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().text, HasSubstr("/nonexistent-folder/journal"));
}

TEST(RunReport, NamesTheGravestOfWhatHappened) {
  RunReport report;
  EXPECT_EQ(report.exit_status(), 0);
  report.contents.found = {race("a", 1)};
  report.contents.found[0].rule = "bank/operands";
  EXPECT_EQ(report.exit_status(), 0) << "notes do not fail a run";
  report.contents.found.push_back(race("a", 1));
  EXPECT_EQ(report.exit_status(), 120);
  report.program_status = 3;
  EXPECT_EQ(report.exit_status(), 3);
  constexpr std::pair<FailureKind, int> kGraver[] = {{FailureKind::kUnsupported, 123},
                                                     {FailureKind::kTimeout, 122},
                                                     {FailureKind::kCrash, 121},
                                                     {FailureKind::kInternal, 124}};
  for (const auto& [kind, status] : kGraver) {
    report.contents.failures.push_back({kind, "k", "text"});
    EXPECT_EQ(report.exit_status(), status);
  }
}

TEST(RunReport, WritesAllFormats) {
  RunReport report{{"./program", "x"}, "bm1684x", "all", 0, {}};
  report.contents.found = {race("tpu_gdma_cpy_S2L", 7)};
  report.contents.failures = {{FailureKind::kUsage, "k", "a < b"}};
  const auto json = nlohmann::json::parse(to_json_text(report));
  EXPECT_EQ(json["verdict"], "launch failed");
  EXPECT_EQ(json["exit_status"], 120);
  EXPECT_EQ(parse_finding(json["findings"][0]), report.contents.found[0]);
  EXPECT_EQ(json["findings"][0]["page"], "docs/rules/race-raw.md");
  const auto sarif = nlohmann::json::parse(to_sarif_text(report));
  EXPECT_EQ(sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
  EXPECT_EQ(sarif["runs"][0]["tool"]["driver"]["rules"].size(), rules().size());
  const std::string junit = to_junit_text(report);
  EXPECT_THAT(junit, HasSubstr("tests=\"3\" failures=\"2\""));
  EXPECT_THAT(junit, HasSubstr("two &lt;engines&gt; &amp; &quot;bytes&quot;"));
  EXPECT_THAT(junit, HasSubstr("a &lt; b"));
}

// The verdict was "success".
TEST(RunReport, SaysThatALaunchFailedThoughTheProgramWentOn) {
  RunReport report{{"./program"}, "bm1684x", "", 0, {}};
  report.contents.failures = {{FailureKind::kUsage, "k", "it is refused"}};
  EXPECT_EQ(report.verdict(), Verdict::kLaunchFailed);
  EXPECT_EQ(report.exit_status(), 0);
  EXPECT_THAT(to_summary(report), HasSubstr("1 launch (or loading) failed, and the program went on"));
  const auto run = nlohmann::json::parse(to_sarif_text(report))["runs"][0]["invocations"][0];
  EXPECT_EQ(run["executionSuccessful"], false);
  EXPECT_EQ(run["exitCode"], 0);
  EXPECT_EQ(run["toolExecutionNotifications"][0]["message"]["text"], "it is refused");
}

ReportedFinding leak(const std::string& frame) {
  ReportedFinding found;
  found.rule = "memory/leak";
  found.what = "4096 bytes are still allocated";
  found.parties = {{"bm_dev_free", "the device is given back", {}, {"main"}},
                   {"bm_malloc_device", "allocation of 4096 bytes", {}, {"wrapper", frame}}};
  return found;
}

// Code hosts show a result only at a file of the repository.
TEST(RunReport, GivesEveryResultALocationRelativeToTheSources) {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / ("softtpu sources " + std::to_string(::getpid()));
  fs::create_directories(root / ".git");
  fs::create_directories(root / "build");
  const fs::path before = fs::current_path();
  fs::current_path(root / "build");
  ReportedFinding kernel = race("tpu_gdma_cpy_S2L", 7);
  kernel.parties[0].at.path = (root / "src" / "add 1.c").string();
  ReportedFinding elsewhere = race("tpu_gdma_cpy_S2L", 7);
  elsewhere.parties[0].at.path = "/usr/include/x.h";
  ReportedFinding nowhere = race("tpu_gdma_cpy_S2L", 0);
  nowhere.parties[0].at = {};
  nowhere.parties.push_back(kernel.parties[0]);
  std::swap(nowhere.parties[0], nowhere.parties[1]);
  ReportedFinding unknown;
  unknown.rule = "race/raw";
  unknown.what = "somewhere";
  RunReport report{{"./program"}, "bm1684x", "all", 0, {}};
  report.contents.found = {kernel,      leak((root / "host.c").string() + ":12 (main)"), elsewhere, nowhere, unknown,
                           leak("main")};
  const auto sarif = nlohmann::json::parse(to_sarif_text(report));
  fs::current_path(before);
  fs::remove_all(root);
  const auto& run = sarif["runs"][0];
  EXPECT_THAT(run["originalUriBaseIds"]["%SRCROOT%"]["uri"].get<std::string>(), ::testing::EndsWith("/"));
  const std::pair<const char*, int> kExpected[] = {{"src/add%201.c", 7},           {"host.c", 12},
                                                   {"file:///usr/include/x.h", 7}, {"src/add%201.c", 7},
                                                   {"build/program", 0},           {"build/program", 0}};
  ASSERT_EQ(run["results"].size(), std::size(kExpected));
  for (std::size_t i = 0; i < std::size(kExpected); ++i) {
    const auto& place = run["results"][i]["locations"][0]["physicalLocation"];
    EXPECT_EQ(place["artifactLocation"]["uri"], kExpected[i].first);
    EXPECT_EQ(place.value("region", nlohmann::json::object()).value("startLine", 0), kExpected[i].second);
    EXPECT_EQ(place["artifactLocation"].value("uriBaseId", ""), i == 2 ? "" : "%SRCROOT%");
  }
}

// Without a repository the deepest folder with all sources stands for it.
TEST(SourceRoot, HoldsTheWorkingFolderAndTheSources) {
  namespace fs = std::filesystem;
  const fs::path root = fs::canonical(fs::temp_directory_path()) / ("softtpu-root-" + std::to_string(::getpid()));
  fs::create_directories(root / "a" / "build");
  const fs::path before = fs::current_path();
  fs::current_path(root / "a" / "build");
  EXPECT_EQ(SourceRoot({}).uri(), "file://" + (root / "a" / "build").string() + "/");
  const SourceRoot all({(root / "a" / "src" / "k.c").string(), "main.c", "/usr/include/x.h"});
  EXPECT_EQ(all.uri(), "file://" + (root / "a").string() + "/");
  EXPECT_EQ(all.uri_of((root / "a" / "src" / "k.c").string()), "src/k.c");
  EXPECT_EQ(all.uri_of("main.c"), "build/main.c");
  EXPECT_EQ(all.uri_of("/usr/include/x.h"), "file:///usr/include/x.h");
  fs::current_path(before);
  fs::remove_all(root);
}

TEST(RunReport, NamesEveryTestCaseOfJUnit) {
  RunReport report{{"./program"}, "bm1684x", "all", 0, {}};
  report.contents.found = {leak("main"), leak("/src/host.c:12 (main)"), race("tpu_gdma_cpy_S2L", 7)};
  report.contents.found[2].what = "no \xFF UTF-8";
  report.contents.failures = {{FailureKind::kResource, "", "a module"}};
  const std::string junit = to_junit_text(report);
  EXPECT_THAT(junit, HasSubstr("classname=\"memory/leak\" name=\"./program\""));
  EXPECT_THAT(junit, HasSubstr("classname=\"memory/leak\" name=\"./program host.c:12\""));
  EXPECT_THAT(junit, HasSubstr("classname=\"race/raw\" name=\"add add.c:7\""));
  EXPECT_THAT(junit, HasSubstr("classname=\"launch\" name=\"./program\""));
  EXPECT_THAT(junit, ::testing::Not(HasSubstr("\xFF")));
}

// The text of a leak names its kernel only when there is one, and folders only where they matter.
TEST(RunReport, SaysNothingOfAKernelOutsideOfLaunches) {
  const ReportedFinding found = leak("/src/host.c:12 (main)");
  EXPECT_EQ(to_again_text(found, 2), "softtpu: memory/leak 2 more times: 4096 bytes are still allocated\n");
  EXPECT_THAT(to_text(found, false), HasSubstr("\n      host.c:12 (main)\n"));
  RunReport report;
  report.contents.allowed = {{"memory/leak", "", 1}, {"race/raw", "add", 2}};
  EXPECT_EQ(to_summary(report),
            "softtpu: memory/leak was allowed 1 time\nsofttpu: race/raw in kernel \"add\" was allowed 2 times\n");
}

TEST(RunReport, SaysOnceWhatFailedAgainAndAgain) {
  RunReport report;
  for (int i = 0; i < 3; ++i) {
    report.contents.failures.push_back(
        {FailureKind::kCrash, "k", "kernel \"k\" crashed.\n - Calls, innermost first:\n     k"});
  }
  report.contents.failures.push_back({FailureKind::kUsage, "k", "a rule"});
  EXPECT_EQ(to_summary(report), "softtpu: crash: kernel \"k\" crashed. (3 times)\nsofttpu: usage: a rule\n");
}

TEST(LaunchPlaces, AreReadFromTheTextThatTellsThem) {
  const auto fault =
      parse_fault_location("tpu_bdc_fp_add: a rule." + fault_location_text("add", 3, 17, "add_kernel.c:12") +
                           "\n - The launch passed 4 bytes");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kernel, "add");
  EXPECT_EQ(fault->core, 3U);
  EXPECT_EQ(fault->command, 17U);
  EXPECT_EQ(fault->file, "add_kernel.c");
  EXPECT_EQ(fault->line, 12U);
  const auto bare = parse_fault_location("a rule." + fault_location_text("add", 0, 0, ""));
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->command, 0U);
  EXPECT_TRUE(bare->file.empty());
  // The site may be a function without a line.
  EXPECT_TRUE(parse_fault_location("a rule." + fault_location_text("add", 0, 0, "add"))->file.empty());
}

TEST(LaunchPlaces, OfACrashAreItsInnermostCallWithALine) {
  const auto crash = parse_fault_location(
      "kernel \"heap\" on core 1 was ended by signal 6 (Aborted), after 11 commands.\n - Calls, innermost first:\n     "
      "abort\n     write_at (kernel.c:16): 32 bytes, 2 times\n     heap (kernel.c:19)\n - Last commands:\n     x "
      "(no.c:1)");
  ASSERT_TRUE(crash);
  EXPECT_EQ(crash->kernel, "heap");
  EXPECT_EQ(crash->core, 1U);
  EXPECT_EQ(crash->command, 11U);
  EXPECT_EQ(crash->file, "kernel.c");
  EXPECT_EQ(crash->line, 16U);
  const auto no_lines = parse_fault_location("kernel \"k\" on core 0 called exit(3), after 1 command.");
  ASSERT_TRUE(no_lines);
  EXPECT_EQ(no_lines->command, 1U);
  EXPECT_TRUE(no_lines->file.empty());
  EXPECT_FALSE(parse_fault_location("bm_malloc_device_byte: out of memory"));
  EXPECT_FALSE(parse_fault_location("kernel \"x\" is unknown"));
  EXPECT_FALSE(parse_fault_location(""));
}

std::optional<ReportedFinding> sent(const ReportedFinding& found) {
  Bytes bytes;
  wire::append(bytes, msg::FindingNote{5, false, found});
  const auto note = find_message<msg::FindingNote>(bytes);
  return note && note->id == 5 ? to_limited(note->finding) : std::nullopt;
}

TEST(FindingMessages, CarryAFindingWhole) {
  ReportedFinding found = race("tpu_gdma_cpy_S2L", 7);
  found.cost = 127.5;
  found.nearest = "0x440";
  found.count = 3;
  found.parties.push_back(leak("/src/host.c:12 (main)").parties[1]);
  EXPECT_EQ(sent(found), found);
  ReportedFinding bare;
  bare.rule = "race/raw";
  EXPECT_EQ(sent(bare), bare);
}

// They come from a process that runs a user's kernel.
TEST(FindingMessages, AreCutAndMadePrintable) {
  ReportedFinding note = race("tpu_gdma_cpy_S2L", 7);
  note.rule = "no/such";
  EXPECT_FALSE(to_limited(note));
  note.rule = "race/raw";
  note.what = "\x1b[2J" + std::string(100000, 'x');
  note.parties.resize(1000, note.parties[0]);
  note.parties[0].stack.resize(1000, "frame\n");
  note.parties[0].at.line = -1;
  note.cost = std::numeric_limits<double>::quiet_NaN();
  const auto found = to_limited(note);
  ASSERT_TRUE(found);
  EXPECT_LT(found->what.size(), 1100U);
  EXPECT_EQ(found->what.find('\x1b'), std::string::npos);
  EXPECT_THAT(found->parties, SizeIs(8));
  EXPECT_THAT(found->parties[0].stack, SizeIs(16));
  EXPECT_EQ(found->parties[0].stack[0], "frame?");
  EXPECT_EQ(found->parties[0].at.line, 0);
  EXPECT_FALSE(found->cost);
}

struct KeptFindings final : FindingSink {
  std::vector<std::string> what, now;
  std::uint64_t more = 0;
  void add(const ReportedFinding& found, std::uint64_t) override { what.push_back(found.what); }
  void add_count(std::uint64_t, std::uint64_t count, const ReportedFinding* found) override {
    more += count;
    if (found != nullptr) now.push_back(found->what);
  }
  void add(const AllowedRecord&) override {}
};

// A later launch was reported with the words of the first one: shapes and NPUs that it does not have.
TEST(Findings, SpeakOfTheLaunchThatTheyCameFrom) {
  const auto sink = std::make_shared<KeptFindings>();
  Findings findings(Findings::Options{10, {}, sink});
  const Party party{"tpu_bdc_abs", "tpu_bdc_abs reads", {}, {}};
  for (const char* what : {"[1, 3, 1, 4]", "[1, 11, 1, 4]", "[1, 3, 1, 4]", "[1, 5, 1, 4]"}) {
    findings.begin("k", 0);
    findings.add({"race/raw", what, {party}, {}, "", {}});
    findings.add({"race/raw", "the same in a loop", {party}, {}, "", {}});
    findings.report();
  }
  EXPECT_THAT(sink->what, ::testing::ElementsAre("[1, 3, 1, 4]"));
  EXPECT_THAT(sink->now, ::testing::ElementsAre("[1, 11, 1, 4]", "[1, 5, 1, 4]"));
  EXPECT_EQ(sink->more, 7U);
}

// Exchanged types gave a finding for each command that the wrong bytes reached.
TEST(Findings, WhatFollowsIsCountedWithItsCause) {
  const auto sink = std::make_shared<KeptFindings>();
  Findings findings(Findings::Options{10, {}, sink});
  const Party party{"tpu_bdc_fp_mul", "tpu_bdc_fp_mul reads", {}, {}};
  const auto find = [&](const char* rule, const char* what, bool follows) {
    findings.set_follows(follows);
    findings.add({rule, what, {party}, {}, "", {}});
  };
  for (int launch = 0; launch < 2; ++launch) {
    findings.begin("k", 0);
    find("init/global", "before the cause", true);
    findings.add_cause({"constraint/operand-type", "cause", {party}, {}, "", {}});
    for (const char* rule : {"init/stale-tail", "nan/nan", "nan/nan"}) find(rule, "follows", true);
    find("race/raw", "another defect", true);
    find("init/local", "of a command that computes with other bytes", false);
    findings.report();
  }
  EXPECT_THAT(sink->what, ::testing::ElementsAre("before the cause", "cause", "another defect",
                                                 "of a command that computes with other bytes"));
  const std::string folded = "cause; with it, and perhaps because of it: init/stale-tail 1, nan/nan 2";
  EXPECT_THAT(sink->now, ::testing::ElementsAre(folded, folded));
  EXPECT_EQ(sink->more, 4U) << "the second launch";
}

TEST(Findings, AnAllowedCauseHidesNothing) {
  const auto sink = std::make_shared<KeptFindings>();
  Findings findings(Findings::Options{10, *parse_allow_rules("constraint/operand-type"), sink});
  findings.begin("k", 0);
  findings.set_follows(true);
  findings.add_cause({"constraint/operand-type", "cause", {}, {}, "", {}});
  findings.add({"init/local", "follows", {}, {}, "", {}});
  EXPECT_THAT(sink->what, ::testing::ElementsAre("follows"));
}

TEST_F(JournalFile, TakesATextThatHasGrown) {
  {
    auto journal = *Journal::open(path_);
    ReportedFinding found = race("tpu_bdc_fp_mul", 7);
    found.what = "cause";
    journal->add(found, 7);
    found.what = "cause; with it, and perhaps because of it: nan/nan 2";
    journal->add_count(7, 0, &found);
  }
  const JournalContents read = contents();
  ASSERT_EQ(read.found.size(), 1U);
  EXPECT_EQ(read.found[0].what, "cause; with it, and perhaps because of it: nan/nan 2");
  EXPECT_EQ(read.found[0].count, 1U);
}

TEST(ClientFindings, KeepAListForEachClient) {
  ClientFindings clients(Findings::Options{1, {}, nullptr});
  KeptFindings first, second;
  const auto find = [&](const char* what) {
    clients.list()->begin("k", 0);
    clients.list()->add({"race/raw", what, {}, {}, "", {}});
    clients.list()->report();
  };
  for (int round = 0; round < 3; ++round) {
    clients.turn_to(1, first);
    find("one");
    clients.turn_to(2, second);
    find("two");
  }
  EXPECT_EQ(first.what, std::vector<std::string>{"one"});
  EXPECT_EQ(second.what, std::vector<std::string>{"two"}) << "the first client has not used up the second one's limit";
  EXPECT_EQ(first.more, 2U);
  EXPECT_EQ(second.more, 2U);
  clients.forget(2);
  find("nobody's");
  clients.turn_to(3, second);
  find("two");
  EXPECT_THAT(second.what, SizeIs(2));
}

TEST(RunReport, RefusesAnUnknownFormat) {
  for (const char* text : {"", "json", "json:", "html:x", ":x"}) {
    const auto file = parse_report_file(text);
    ASSERT_FALSE(file) << text;
    EXPECT_THAT(file.error().text, HasSubstr("json:FILE, sarif:FILE, junit:FILE"));
  }
}

TEST(AllowRules, CoverRuleKernelAndBytes) {
  const auto list = parse_allow_rules("race/*@add*:local:0x400-0x47f,memory/leak");
  ASSERT_TRUE(list) << list.error().text;
  ASSERT_THAT(*list, SizeIs(2));
  const AllowRule& first = (*list)[0];
  EXPECT_TRUE(first.covers("race/war", "add2", ReportedRange{"local", 0x400, 0x480, 1, 0}));
  EXPECT_FALSE(first.covers("race/war", "add2", ReportedRange{"local", 0x400, 0x481, 1, 0}));
  EXPECT_FALSE(first.covers("race/war", "add2", ReportedRange{"global", 0x400, 0x480}));
  EXPECT_FALSE(first.covers("race/war", "sub", ReportedRange{"local", 0x400, 0x480, 1, 0}));
  EXPECT_FALSE(first.covers("init/local", "add", ReportedRange{"local", 0x400, 0x480, 1, 0}));
  EXPECT_FALSE(first.covers("race/war", "add", std::nullopt));
  EXPECT_TRUE((*list)[1].covers("memory/leak", "", std::nullopt));
}

TEST(AllowRules, RefuseWhatTheyCannotMean) {
  for (const char* text : {"race", "race/raw:local", "race/raw:disk:0-1", "race/raw:local:5-4", "race/raw:local:a-b"}) {
    const auto list = parse_allow_rules(text);
    ASSERT_FALSE(list) << text;
    EXPECT_THAT(list.error().text, HasSubstr(text));
  }
}

TEST(FindingsList, CountsWhatIsAllowedAndWhatIsOverTheLimit) {
  const auto allow = parse_allow_rules("race/war");
  ASSERT_TRUE(allow);
  Findings findings(Findings::Options{1, *allow, nullptr});
  findings.begin("k", 0);
  ::testing::internal::CaptureStderr();
  findings.add({"race/war", "allowed", {}, {}, "", {}});
  findings.add({"race/raw", "first", {}, {}, "", {}});
  findings.add({"race/raw", "first", {}, {}, "", {}});
  findings.add({"race/raw", "second", {}, {}, "", {}});
  findings.report();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(findings.count(), 3U);
  ASSERT_THAT(findings.all(), SizeIs(1));
  EXPECT_EQ(findings.all()[0].count, 2U);
  EXPECT_THAT(text, HasSubstr("error race/raw in kernel \"k\": first"));
  EXPECT_THAT(text, HasSubstr("1 further finding is left out (SOFTTPU_MAX_FINDINGS=1): 1 error"));
  EXPECT_THAT(text, HasSubstr("1 more time: first"));
}

TEST(FindingsList, AnErrorThatComesLateFindsRoom) {
  Findings findings(2);
  findings.begin("k", 0);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 5; ++i) findings.add({"bank/operands", "note " + std::to_string(i), {}, {}, "", {}});
  findings.add({"constraint/stack", "warning", {}, {}, "", {}});
  for (int i = 0; i < 3; ++i) findings.add({"race/raw", "error " + std::to_string(i), {}, {}, "", {}});
  findings.report();
  const std::string text = ::testing::internal::GetCapturedStderr();
  std::vector<std::string> kept;
  for (const ReportedFinding& found : findings.all()) kept.push_back(found.what);
  EXPECT_THAT(kept, ::testing::ElementsAre("note 0", "note 1", "warning", "error 0", "error 1"));
  EXPECT_THAT(text, HasSubstr("4 further findings are left out (SOFTTPU_MAX_FINDINGS=2): 1 error, 3 notes"));
}

TEST_F(JournalFile, KeepsTheGravestAndCountsWhatIsLeftOut) {
  auto journal = Journal::open(path_);
  ASSERT_TRUE(journal);
  Findings findings(Findings::Options{3, {}, *journal});
  findings.begin("k", 0);
  for (int i = 0; i < 10; ++i) findings.add({"bank/operands", "note " + std::to_string(i), {}, {}, "", {}});
  for (int i = 0; i < 2; ++i) findings.add({"race/raw", "error " + std::to_string(i), {}, {}, "", {}});
  findings.add({"bank/operands", "note 9", {}, {}, "", {}});
  findings.report();
  // The same finding in another process is no further one.
  Findings others(Findings::Options{3, {}, *journal});
  others.begin("k", 1);
  for (int i = 9; i >= 0; --i) others.add({"bank/operands", "note " + std::to_string(i), {}, {}, "", {}});
  others.report();
  JournalContents read = contents();
  EXPECT_EQ(read.found.size(), 3U + 2U + 3U);
  EXPECT_EQ(read.left_out.total(), 4U);
  read.keep_most_severe(3);
  ASSERT_THAT(read.found, SizeIs(3));
  EXPECT_EQ(read.found[0].what, "note 0");
  EXPECT_EQ(read.found[1].what, "error 0");
  EXPECT_EQ(read.found[2].what, "error 1");
  EXPECT_EQ(read.left_out.of(Severity::kNote), 9U);
  EXPECT_EQ(read.left_out.of(Severity::kError), 0U);
  const RunReport report{{"./program"}, "bm1684x", "all", 0, read};
  EXPECT_THAT(to_summary(report), HasSubstr("9 less severe or later findings are left out (--max-findings): 9 notes"));
  EXPECT_EQ(nlohmann::json::parse(to_json_text(report))["left_out"]["note"], 9);
}

TEST(RunReport, ErrorsThatAreLeftOutFailARun) {
  RunReport report;
  report.contents.left_out.counts = {0, 0, 5};
  EXPECT_EQ(report.exit_status(), 0);
  report.contents.left_out.counts = {1, 0, 0};
  EXPECT_EQ(report.exit_status(), 120);
}

TEST(RunReport, SaysOnceThatLinesAreMissing) {
  RunReport report;
  report.contents.found = {race("a", 1), race("b", 2)};
  EXPECT_EQ(to_summary(report).find("-g"), std::string::npos);
  for (ReportedFinding& found : report.contents.found) found.parties[0].at = {"", 0, "add"};
  const std::string text = to_summary(report);
  EXPECT_THAT(text, HasSubstr("compiled with -g"));
  EXPECT_EQ(text.find("-g"), text.rfind("-g"));
}

}  // namespace
}  // namespace softtpu
