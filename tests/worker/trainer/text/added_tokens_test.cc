// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/added_tokens.h"

#include "tests/worker/trainer/text/text_fixture.h"

namespace frostline::trainer {
namespace {

AddedToken Token(std::string content, std::int32_t id, bool left = false,
                 bool right = false) {
  AddedToken token;
  token.content = std::move(content);
  token.id = id;
  token.takes_left_space = left;
  token.takes_right_space = right;
  return token;
}

// "a|[M]|b": the sections, joined.
std::string Sections(std::vector<AddedToken> tokens, std::string_view text) {
  std::vector<Section> sections;
  AddedTokens::Make(std::move(tokens)).value().Split(text, sections);
  std::string joined;
  for (const Section& section : sections) {
    if (!joined.empty()) joined += '|';
    joined += text.substr(section.range.begin,
                          section.range.end - section.range.begin);
    if (section.id >= 0) joined += '=' + std::to_string(section.id);
  }
  return joined;
}

TEST(AddedTokens, AreFoundAnywhere) {
  EXPECT_EQ(Sections({Token("[M]", 4)}, "a[M]b[M]"), "a|[M]=4|b|[M]=4");
  EXPECT_EQ(Sections({Token("[M]", 4)}, "[M"), "[M");
  EXPECT_EQ(Sections({Token("[M]", 4)}, ""), "");
  EXPECT_EQ(Sections({}, "a[M]b"), "a[M]b");
}

TEST(AddedTokens, TheLongestOfTheLeftmostWins) {
  EXPECT_EQ(Sections({Token("<a", 1), Token("<ab>", 2), Token("ab>c", 3)},
                     "<ab>c<ab"),
            "<ab>=2|c|<a=1|b");
}

TEST(AddedTokens, TakeTheirSpaceAlong) {
  EXPECT_EQ(Sections({Token("<m>", 1, true)}, "a \t<m> b"), "a| \t<m>=1| b");
  EXPECT_EQ(Sections({Token("<m>", 1, false, true)}, "a <m>\u3000 b"),
            "a |<m>\u3000 =1|b");
}

TEST(AddedTokens, SpaceThatAnotherTookIsGone) {
  EXPECT_EQ(Sections({Token("<m>", 1, true, true)}, "<m> <m>"), "<m> =1|<m>=1");
}

TEST(AddedTokens, MustBeUniqueAndNotEmpty) {
  EXPECT_EQ(KindOfFault(AddedTokens::Make({Token("a", 1), Token("a", 2)})),
            FaultKind::kInconsistent);
  EXPECT_EQ(KindOfFault(AddedTokens::Make({Token("", 1)})),
            FaultKind::kTooLarge);
}

}  // namespace
}  // namespace frostline::trainer
