// The file of a kept launch: what goes in comes out, and what is damaged is refused.
#include "device/record/launch_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "device/chip/chip.hpp"

namespace softtpu::launch_record_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr std::size_t kHeaderBytes = 8 + 4 + 1 + 8 + 8 + (4 + 32) + (4 + 32) + 32;

class Record : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() / ("softtpu-record-" + std::to_string(::getpid()))).string();
    file_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    ASSERT_TRUE(file_);
    auto memories = Memories::create(*load_chip("demo4"));
    ASSERT_TRUE(memories) << memories.error().text;
    memories_ = std::move(*memories);
    launch_.chip = "demo4";
    launch_.global_bytes = memories_->chip().global_mem.bytes;
    launch_.number = 3;
    launch_.kernel = "add";
    launch_.module = "add.so";
    launch_.image = {1, 2, 3};
    launch_.args = {4, 5};
    launch_.allocations = {{0x105100000, 100, {{0, 10}, {20, 100}}, {"main (host.c:1)"}}};
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void write(bool with_outcome) {
    LaunchRecordWriter writer(file_.get());
    std::memset(memories_->global() + 100000, 1, 10);
    auto images = make_images(*memories_);
    for (MemoryImage& image : images) image.take();
    ASSERT_TRUE(writer.write_launch(launch_, images));
    std::memset(memories_->global() + 200000, 2, 10);
    memories_->local(1)[7] = 9;
    if (with_outcome) {
      ASSERT_TRUE(writer.write_outcome({false, "why", 7}, images));
    }
  }

  std::string contents() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }

  // The reader's error about these bytes; empty: it takes them.
  std::string complaint(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    const auto record = read_launch_record(path_);
    return record ? "" : record.error().text;
  }

  std::string path_;
  UniqueFd file_;
  std::unique_ptr<Memories> memories_;
  RecordedLaunch launch_;
};

const RecordedMemory& memory(const std::vector<RecordedMemory>& list, const std::string& name) {
  for (const RecordedMemory& item : list) {
    if (item.name == name) return item;
  }
  throw std::runtime_error(name);
}

TEST_F(Record, HoldsTheLaunchAndWhatItChanged) {
  write(true);
  const auto record = read_launch_record(path_);
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_EQ(record->launch.chip, "demo4");
  EXPECT_EQ(record->launch.number, 3U);
  EXPECT_EQ(record->launch.kernel, "add");
  EXPECT_EQ(record->launch.image, (Bytes{1, 2, 3}));
  EXPECT_EQ(record->launch.args, (Bytes{4, 5}));
  ASSERT_EQ(record->launch.allocations.size(), 1U);
  EXPECT_EQ(record->launch.allocations[0].written[1].end, 100U);
  const RecordedMemory& before = memory(record->before, "global");
  ASSERT_EQ(before.blocks.size(), 1U);
  EXPECT_EQ(before.blocks[0].offset, 65536U);
  EXPECT_EQ(before.blocks[0].bytes[100000 - 65536], 1);
  ASSERT_TRUE(record->outcome);
  EXPECT_EQ(record->outcome->text, "why");
  EXPECT_EQ(record->outcome->commands, 7U);
  const RecordedMemory& changed = memory(record->changed, "global");
  ASSERT_EQ(changed.blocks.size(), 1U);
  EXPECT_EQ(changed.blocks[0].offset, 3U * 65536U);
  EXPECT_EQ(changed.blocks[0].bytes[200000 - 3 * 65536], 2);
  ASSERT_EQ(memory(record->changed, "local").blocks.size(), 1U);
}

TEST_F(Record, OfALaunchThatDidNotReturnHasNoOutcome) {
  write(false);
  const auto record = read_launch_record(path_);
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_FALSE(record->outcome);
  EXPECT_TRUE(record->changed.empty());
}

TEST_F(Record, ThatIsCutAnywhereIsRefused) {
  write(true);
  const std::string whole = contents();
  ASSERT_EQ(complaint(whole), "");
  for (std::size_t bytes = 0; bytes < kHeaderBytes; ++bytes)
    EXPECT_THAT(complaint(whole.substr(0, bytes)), HasSubstr("are not a record of a launch")) << bytes;
  for (std::size_t bytes = kHeaderBytes; bytes < whole.size(); bytes += 1 + bytes / 10)
    EXPECT_THAT(complaint(whole.substr(0, bytes)),
                HasSubstr("truncated: " + std::to_string(bytes) + " bytes of " + std::to_string(whole.size())))
        << bytes;
  EXPECT_THAT(complaint(whole.substr(0, whole.size() - 1)), HasSubstr("truncated"));
  EXPECT_THAT(complaint(whole + "x"), HasSubstr("1 bytes stand behind the record's end"));
}

TEST_F(Record, WithAnyOtherBitIsRefused) {
  write(true);
  const std::string whole = contents();
  for (std::size_t at = 0; at < whole.size(); at += at < 700 ? 1 : 19997) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    const std::string text = complaint(damaged);
    if (at < 8)
      EXPECT_THAT(text, HasSubstr("not a record")) << at;
    else if (at < 12)
      EXPECT_THAT(text, HasSubstr("this softtpu reads version 1")) << at;
    else if (at < kHeaderBytes)
      EXPECT_THAT(text, HasSubstr("the record's header is damaged")) << at;
    else
      EXPECT_THAT(text, AnyOf(HasSubstr("launch is damaged"), HasSubstr("outcome is damaged"))) << at;
  }
}

// Nothing is read that the header does not speak of.
TEST_F(Record, WithATerabyteBehindItIsRefused) {
  write(true);
  const std::string whole = contents();
  std::filesystem::resize_file(path_, 1ULL << 40);
  const auto record = read_launch_record(path_);
  ASSERT_FALSE(record);
  EXPECT_THAT(record.error().text,
              HasSubstr(std::to_string((1ULL << 40) - whole.size()) + " bytes stand behind the record's end"));
}

TEST_F(Record, ThatWasNotFinishedIsRefused) {
  write(true);
  EXPECT_THAT(complaint(std::string(kHeaderBytes, '\0') + contents().substr(kHeaderBytes)),
              HasSubstr("was not finished"));
}

TEST_F(Record, WithImpossibleContentsIsRefused) {
  LaunchRecordWriter writer(file_.get());
  const auto refused = [&](const RecordedLaunch& launch, const std::vector<MemoryImage>& memories) {
    EXPECT_TRUE(writer.write_launch(launch, memories));
    const auto record = read_launch_record(path_);
    return record ? "" : record.error().text;
  };
  RecordedLaunch launch = launch_;
  launch.args.resize(70000);
  EXPECT_THAT(refused(launch, {}), HasSubstr("its arguments have 70000 bytes, of 65536 at most"));
  launch = launch_;
  launch.kernel.clear();
  EXPECT_THAT(refused(launch, {}), HasSubstr("its kernel has no possible name"));
  launch = launch_;
  launch.allocations[0].bytes = ~0ULL;
  EXPECT_THAT(refused(launch, {}), HasSubstr("an allocation has an impossible size"));
  launch = launch_;
  launch.allocations[0].written = {{0, 101}};
  EXPECT_THAT(refused(launch, {}), HasSubstr("outside of an allocation"));
  MemoryImage image("l3", 0, nullptr, 1000, -1);
  EXPECT_THAT(refused(launch_, {image}), HasSubstr("names a memory that no chip has"));
  image = MemoryImage("l2", 0, nullptr, 1000, -1);
  image.set_block(65536, {1});
  EXPECT_THAT(refused(launch_, {image}), HasSubstr("a block of its l2 memory lies where none can be"));
  image = MemoryImage("l2", 0, nullptr, 1000, -1);
  image.set_block(0, MemoryImage::Block(1001));
  EXPECT_THAT(refused(launch_, {image}), HasSubstr("a block of its l2 memory lies where none can be"));
  image = MemoryImage("l2", 5, nullptr, ~0ULL, -1);
  EXPECT_THAT(refused(launch_, {image}), HasSubstr("its l2 memory has an impossible size"));
}

TEST(RecordFile, OfAnotherKindIsRefused) {
  EXPECT_THAT(read_launch_record("/no/such/file").error().text, HasSubstr("No such file"));
  EXPECT_THAT(read_launch_record("/dev/null").error().text, HasSubstr("is not a file"));
  EXPECT_THAT(read_launch_record("/bin/sh").error().text, HasSubstr("not a record of a launch"));
}

}  // namespace
}  // namespace softtpu::launch_record_test
