// Findings on their way into reports: journal, folding, verdicts, formats, allow rules.
#include "runtime/report/report.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "device/observe/allow.hpp"
#include "device/observe/findings.hpp"
#include "runtime/report/rules.hpp"

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

Found race(const std::string& function, int line) {
  Found found;
  found.rule = "race/raw";
  found.kernel = "add";
  found.core = 0;
  found.what = "two <engines> & \"bytes\"";
  found.place = FoundPlace{"local", 0x400, 0x480, 3, 0};
  found.parties = {{function, function + " writes", {"/src/add.c", line, "add"}, {}}};
  return found;
}

TEST_F(JournalFile, FoldsTheSameCallsAndAddsUp) {
  auto journal = Journal::open(path_);
  ASSERT_TRUE(journal);
  (*journal)->add(race("tpu_gdma_cpy_S2L", 7), 0);
  (*journal)->add_count(0, 4);
  (*journal)->add(race("tpu_gdma_cpy_S2L", 7), 1);  // seen by another launch
  (*journal)->add(race("tpu_gdma_cpy_S2L", 9), 2);
  (*journal)->add(AllowedRecord{"race/war", "add", 2});
  (*journal)->add(AllowedRecord{"race/war", "add", 3});
  (*journal)->add(FailureRecord{FailureKind::kTimeout, "add", "hangs"});
  const JournalContents read = contents();
  ASSERT_THAT(read.found, SizeIs(2));
  Found expected = race("tpu_gdma_cpy_S2L", 7);
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
  EXPECT_EQ(json["verdict"], "findings");
  EXPECT_EQ(find_found(json["findings"][0]), report.contents.found[0]);
  EXPECT_EQ(json["findings"][0]["page"], "docs/rules/race-raw.md");
  const auto sarif = nlohmann::json::parse(to_sarif_text(report));
  EXPECT_EQ(sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
  EXPECT_EQ(sarif["runs"][0]["tool"]["driver"]["rules"].size(), rules().size());
  const std::string junit = to_junit_text(report);
  EXPECT_THAT(junit, HasSubstr("tests=\"3\" failures=\"2\""));
  EXPECT_THAT(junit, HasSubstr("two &lt;engines&gt; &amp; &quot;bytes&quot;"));
  EXPECT_THAT(junit, HasSubstr("a &lt; b"));
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
  EXPECT_TRUE(first.covers("race/war", "add2", FoundPlace{"local", 0x400, 0x480, 1, 0}));
  EXPECT_FALSE(first.covers("race/war", "add2", FoundPlace{"local", 0x400, 0x481, 1, 0}));
  EXPECT_FALSE(first.covers("race/war", "add2", FoundPlace{"global", 0x400, 0x480}));
  EXPECT_FALSE(first.covers("race/war", "sub", FoundPlace{"local", 0x400, 0x480, 1, 0}));
  EXPECT_FALSE(first.covers("init/local", "add", FoundPlace{"local", 0x400, 0x480, 1, 0}));
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
  EXPECT_THAT(text, HasSubstr("more than 1 findings"));
  EXPECT_THAT(text, HasSubstr("1 more time: first"));
}

}  // namespace
}  // namespace softtpu
