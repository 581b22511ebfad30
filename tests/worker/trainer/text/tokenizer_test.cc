// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/text/text_fixture.h"
#include "worker/trainer/text/template.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;

TokenRun RunOf(std::vector<std::int32_t> ids) {
  TokenRun run;
  run.ids = std::move(ids);
  run.words.resize(run.ids.size(), 0);
  run.spans.resize(run.ids.size());
  return run;
}

std::pair<std::size_t, std::size_t> Kept(
    std::size_t first, std::size_t second, std::size_t budget,
    Truncation how = Truncation::kLongestFirst) {
  const auto kept = Truncate({first, second}, true, budget, how);
  return {kept.value().first, kept.value().second};
}

TEST(Truncate, LeavesWhatFits) {
  EXPECT_EQ(Kept(3, 4, 7), std::pair(3UL, 4UL));
}

TEST(Truncate, TheShorterStaysWhenItFitsInItsHalf) {
  EXPECT_EQ(Kept(3, 20, 10), std::pair(3UL, 7UL));
  EXPECT_EQ(Kept(20, 3, 10), std::pair(7UL, 3UL));
}

TEST(Truncate, TheOddTokenIsTheLongerOnes) {
  EXPECT_EQ(Kept(10, 12, 15), std::pair(7UL, 8UL));
  EXPECT_EQ(Kept(12, 10, 15), std::pair(8UL, 7UL));
  EXPECT_EQ(Kept(10, 10, 15), std::pair(7UL, 8UL));
}

TEST(Truncate, OnlyOneIsCutWhenAsked) {
  EXPECT_EQ(Kept(9, 4, 10, Truncation::kOnlyFirst), std::pair(6UL, 4UL));
  EXPECT_EQ(Kept(4, 9, 10, Truncation::kOnlySecond), std::pair(4UL, 6UL));
}

TEST(Truncate, RefusesToCutAwayAWholeText) {
  EXPECT_EQ(KindOfFault(Truncate({2, 12}, true, 10, Truncation::kOnlyFirst)),
            FaultKind::kMisuse);
  EXPECT_EQ(KindOfFault(Truncate({12, 0}, false, 10, Truncation::kOnlySecond)),
            FaultKind::kMisuse);
}

TEST(Assemble, PutsBertsTokensAround) {
  const TokenRun first = RunOf({7, 8});
  const TokenRun second = RunOf({9});
  Encoding encoding;
  ASSERT_TRUE(
      Assemble(Template::Bert(1, 2), first, &second, {}, encoding).ok());
  EXPECT_THAT(encoding.ids, ElementsAre(1, 7, 8, 2, 9, 2));
  EXPECT_THAT(encoding.type_ids, ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(encoding.special_mask, ElementsAre(1, 0, 0, 1, 0, 1));
  EXPECT_THAT(encoding.attention_mask, ElementsAre(1, 1, 1, 1, 1, 1));
  EXPECT_THAT(encoding.word_ids, ElementsAre(-1, 0, 0, -1, 0, -1));
}

TEST(Assemble, PutsRobertasFourTokensAround) {
  const TokenRun first = RunOf({7});
  const TokenRun second = RunOf({});
  Encoding encoding;
  ASSERT_TRUE(
      Assemble(Template::Roberta(0, 2), first, &second, {}, encoding).ok());
  EXPECT_THAT(encoding.ids, ElementsAre(0, 7, 2, 2, 2));
  EXPECT_THAT(encoding.type_ids, ElementsAre(0, 0, 0, 0, 0));
}

TEST(Assemble, CountsSpecialTokensInTheLength) {
  const TokenRun first = RunOf({7, 8, 9});
  const Template bert = Template::Bert(1, 2);
  Encoding encoding;
  ASSERT_TRUE(Assemble(bert, first, nullptr, {.max_length = 4}, encoding).ok());
  EXPECT_THAT(encoding.ids, ElementsAre(1, 7, 8, 2));
  ASSERT_TRUE(Assemble(bert, first, nullptr,
                       {.max_length = 2, .add_special_tokens = false}, encoding)
                  .ok());
  EXPECT_THAT(encoding.ids, ElementsAre(7, 8));
}

TEST(Assemble, RefusesALengthBelowTheSpecialTokens) {
  Encoding encoding;
  const TokenRun first = RunOf({7});
  EXPECT_EQ(KindOfFault(Assemble(Template::Bert(1, 2), first, nullptr,
                                 {.max_length = 1}, encoding)),
            FaultKind::kMisuse);
  EXPECT_EQ(encoding.size(), 0U);
}

}  // namespace
}  // namespace frostline::trainer
