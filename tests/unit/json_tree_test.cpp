#include "runtime/base/json_tree.hpp"

#include <gtest/gtest.h>

#include <string>

namespace softtpu::json_tree_test {
namespace {

TEST(JsonTree, ReadsWhatTheLibraryReads) {
  for (const char* text : {R"({"a":[1,-2,3.5,true,null,"x"],"b":{"c":{},"d":[]}})", "[]", "7", R"("text")",
                           R"([[["deep"]]])", R"({"twice":{"old":[1]},"twice":2})"}) {
    EXPECT_EQ(*JsonTree::parse(text), nlohmann::json::parse(text)) << text;
  }
}

TEST(JsonTree, DiscardsWhatIsNoJson) {
  for (const char* text : {"", "{", R"({"a":[1,2})", "[1,]", "x", R"({"a":1} more)"})
    EXPECT_TRUE((*JsonTree::parse(text)).is_discarded()) << text;
}

TEST(JsonTree, DiscardsWhatIsTooDeep) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_FALSE((*JsonTree::parse(nested(JsonTree::kMostDepth))).is_discarded());
  EXPECT_TRUE((*JsonTree::parse(nested(JsonTree::kMostDepth + 1))).is_discarded());
  EXPECT_TRUE((*JsonTree::parse(nested(1'000'000))).is_discarded());
}

TEST(JsonTree, ErasesAMemberWithWhatItHolds) {
  JsonTree tree = JsonTree::parse(R"({"a":[[1],{"b":2}],"c":3})");
  tree.erase("a");
  tree.erase("nothing");
  EXPECT_EQ(tree.text(), R"({"c":3})");
}

}  // namespace
}  // namespace softtpu::json_tree_test
