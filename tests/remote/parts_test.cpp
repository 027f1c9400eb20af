// The parts of remote access that need no connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/base/endpoint.hpp"
#include "runtime/base/text.hpp"
#include "runtime/remote/rate_limiter.hpp"
#include "runtime/remote/secret.hpp"
#include "runtime/remote/unauthenticated_connections.hpp"

namespace softtpu {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::HasSubstr;

TEST(Endpoint, IsAHostAndAPort) {
  EXPECT_EQ(find_endpoint("host:9000"), (Endpoint{"host", 9000}));
  EXPECT_EQ(find_endpoint("[::1]:0"), (Endpoint{"::1", 0}));
  EXPECT_EQ(to_text(Endpoint{"::1", 5}), "[::1]:5");
  EXPECT_EQ(to_text(Endpoint{"10.0.0.1", 65535}), "10.0.0.1:65535");
  for (const char* bad : {"", ":", ":1", "host", "host:", "host:65536", "host:-1", "::1:5", "[]:1", "host:1 "}) {
    EXPECT_FALSE(find_endpoint(bad)) << bad;
  }
  EXPECT_FALSE(find_endpoint(std::string(300, 'a') + ":1"));
}

TEST(Printable, IsOneShortLine) {
  EXPECT_EQ(to_printable("a\nb\x7F"), "a?b?");
  EXPECT_EQ(to_printable("abcdef", 3), "abc...");
}

TEST(Printable, KeepsControlCharactersFromATerminal) {
  EXPECT_EQ(escape_controls("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(escape_controls("\x1b[31m\x7f\r"), "\\x1b[31m\\x7f\\x0d");
  EXPECT_EQ(escape_controls("\xc2\x9b"
                            "31m"),
            "\\x9b31m");
  EXPECT_EQ(escape_controls("Stra\xc3\x9f"
                            "e \xe2\x82\xac"),
            "Stra\xc3\x9f"
            "e \xe2\x82\xac");
}

TEST(RateLimiter, BlocksAnAddressThatFailsAgainAndAgain) {
  RateLimiter limit;
  RateLimiter::Clock::time_point now{seconds(1000)};
  for (int i = 1; i <= RateLimiter::kMostFailures; ++i) {
    EXPECT_FALSE(limit.blocks("a", now));
    EXPECT_EQ(limit.failed("a", now), i == RateLimiter::kMostFailures);
  }
  EXPECT_TRUE(limit.blocks("a", now));
  EXPECT_FALSE(limit.blocks("b", now));
  EXPECT_TRUE(limit.blocks("a", now + RateLimiter::kMemory - seconds(1)));
  EXPECT_FALSE(limit.blocks("a", now + RateLimiter::kMemory));
}

TEST(RateLimiter, ForgetsSingleFailures) {
  RateLimiter limit;
  RateLimiter::Clock::time_point now{seconds(1000)};
  for (int i = 0; i < 3 * RateLimiter::kMostFailures; ++i) {
    EXPECT_FALSE(limit.failed("a", now));
    now += RateLimiter::kMemory;
    EXPECT_FALSE(limit.blocks("a", now));
  }
}

TEST(UnauthenticatedConnections, MakeRoomForEachOther) {
  UnauthenticatedConnections unauthenticated;
  int visitors[2 * UnauthenticatedConnections::kMost];
  for (std::size_t i = 0; i < UnauthenticatedConnections::kMostOfAddress; ++i) {
    EXPECT_EQ(unauthenticated.next_to_evict("a"), nullptr);
    unauthenticated.add("a", &visitors[i]);
  }
  EXPECT_EQ(unauthenticated.next_to_evict("a"), &visitors[0]);  // the oldest of the same address
  EXPECT_EQ(unauthenticated.next_to_evict("b"), nullptr);
  for (std::size_t i = UnauthenticatedConnections::kMostOfAddress; i < UnauthenticatedConnections::kMost; ++i)
    unauthenticated.add("address " + std::to_string(i), &visitors[i]);
  EXPECT_EQ(unauthenticated.next_to_evict("b"), &visitors[0]);  // of the address that has the most
  unauthenticated.remove("a", &visitors[0]);
  unauthenticated.remove("a", &visitors[0]);
  EXPECT_EQ(unauthenticated.size(), UnauthenticatedConnections::kMost - 1);
  EXPECT_EQ(unauthenticated.next_to_evict("b"), nullptr);
}

TEST(RateLimiter, StaysSmallWhateverComes) {
  RateLimiter limit;
  RateLimiter::Clock::time_point now{seconds(1000)};
  for (int i = 0; i < RateLimiter::kMostFailures; ++i) limit.failed("old", now);
  for (std::size_t i = 0; i < 2 * RateLimiter::kMostAddresses; ++i) {
    limit.failed(std::to_string(i), now + std::chrono::milliseconds(i + 1));
    ASSERT_LE(limit.size(), RateLimiter::kMostAddresses);
  }
  EXPECT_FALSE(limit.blocks("old", now + seconds(1)));
}

class Secrets : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "softtpu-secret-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string make(const std::string& text, mode_t mode) {
    const std::string path = folder_ / ("file" + std::to_string(++files_));
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  fs::path folder_;
  int files_ = 0;
};

TEST_F(Secrets, AreTheirFilesWithoutTheEndOfTheLine) {
  const auto token = read_token(make("0123456789abcdef\r\n", 0600));
  ASSERT_TRUE(token) << token.error().text;
  EXPECT_EQ(std::string(token->begin(), token->end()), "0123456789abcdef");
  EXPECT_TRUE(read_token(make(std::string(kMaxTokenBytes, 'x') + "\n", 0400)));
}

TEST_F(Secrets, AreRefusedWhenOthersCanReadThem) {
  for (const mode_t mode : {0640U, 0604U, 0660U, 0602U}) {
    const auto token = read_token(make("0123456789abcdef", mode));
    ASSERT_FALSE(token);
    EXPECT_THAT(token.error().text, HasSubstr("other users can read it"));
  }
}

TEST_F(Secrets, AreRefusedWhenTheyAreTooShortTooLongOrNoFile) {
  EXPECT_THAT(read_token(make("0123456789abcde\n", 0600)).error().text,
              HasSubstr("a token of 15 bytes is outside 16..1024"));
  EXPECT_FALSE(read_token(make(std::string(kMaxTokenBytes + 1, 'x'), 0600)));
  EXPECT_FALSE(read_token(make("", 0600)));
  EXPECT_THAT(read_token(folder_).error().text, HasSubstr("not a regular file"));
  EXPECT_THAT(read_token(folder_ / "none").error().text, HasSubstr("No such file"));
}

TEST(SecretCompare, SeesEveryDifference) {
  const Bytes a = {1, 2, 3};
  EXPECT_TRUE(is_same_secret(a, Bytes{1, 2, 3}));
  EXPECT_FALSE(is_same_secret(a, Bytes{1, 2, 4}));
  EXPECT_FALSE(is_same_secret(a, Bytes{1, 2}));
  EXPECT_FALSE(is_same_secret(a, Bytes{1, 2, 3, 0}));
  EXPECT_FALSE(is_same_secret(a, Bytes{}));
}

}  // namespace
}  // namespace softtpu
