// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include "gtest/gtest.h"

namespace frostline {
namespace {

TEST(Nearest, CountsTypingMistakes) {
  EXPECT_EQ(TypingDistance("seed", "seed"), 0);
  EXPECT_EQ(TypingDistance("sead", "seed"), 1);
  EXPECT_EQ(TypingDistance("sede", "seed"), 1);  // two swapped
  EXPECT_EQ(TypingDistance("", "seed"), 4);
}

TEST(Nearest, FindsWhatIsNearAndOnlyThat) {
  const std::vector<std::string> words = {"seed", "space", "sampler", "k"};
  EXPECT_EQ(Nearest("sampller", words), "sampler");
  EXPECT_EQ(Nearest("zebra", words), "");
  EXPECT_EQ(Nearest("", words), "");
  EXPECT_EQ(Nearest(std::string(10'000, 's'), words), "");
}

TEST(Nearest, ListsTheWordsWhenNoneIsNear) {
  EXPECT_EQ(Suggest("lst", {"list", "show"}), "did you mean 'list'?");
  EXPECT_EQ(Suggest("zebra", {"list", "show"}), "use one of list, show");
}

}  // namespace
}  // namespace frostline
