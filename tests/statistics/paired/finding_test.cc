// SPDX-License-Identifier: Apache-2.0
#include "statistics/paired/finding.h"

#include "gmock/gmock.h"
#include "tests/statistics/paired/simulated.h"

namespace frostline::statistics {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

Told About(const std::string& metric) {
  return {.metric = metric,
          .first = "a",
          .second = "b",
          .examples = "100 examples",
          .in_points = metric != "rmse"};
}

TEST(Finding, SaysByHowMuchAndHowSurely) {
  const Judged judged =
      Compare({Bits("a", {{0, 50}}), Bits("b", {{2, 60}})}, {});
  EXPECT_EQ(FindingSentence(About("accuracy"), judged.pairs[0]),
            "b is better than a by 8.0 points of accuracy (95 %: 1.4 to 15.8), "
            "p = 0.039");
}

TEST(Finding, SaysWhatCouldNotBeSeen) {
  const Judged judged =
      Compare({Bits("a", {{0, 50}}), Bits("b", {{2, 53}})}, {});
  const std::string said = FindingSentence(About("accuracy"), judged.pairs[0]);
  EXPECT_THAT(said, HasSubstr("b and a cannot be told apart in accuracy: "
                              "1.0 points (95 %: "));
  EXPECT_THAT(said, EndsWith("100 examples cannot show less than 7.7 points"));
}

TEST(Finding, OfCostsLessIsBetter) {
  const Judged judged =
      Compare({Seeded("a", {1.0, 1.1, 1.2}), Seeded("b", {0.7, 0.82, 0.9})},
              {.more_is_better = false, .margin = 0.1});
  Told told = About("rmse");
  told.more_is_better = false;
  told.margin = 0.1;
  const std::string said = FindingSentence(told, judged.pairs[0]);
  EXPECT_THAT(said, HasSubstr("b is better than a by 0.2933 rmse"));
  EXPECT_TRUE(judged.pairs[0].not_worse);
  EXPECT_THAT(said, Not(HasSubstr("not worse")));
}

// Of ten examples fewer, where `margin` may be given up.
std::string SaidOfWhoIsWorse(double margin) {
  Told told = About("accuracy");
  told.margin = margin;
  const Judged judged =
      Compare({Bits("a", {{0, 60}}), Bits("b", {{2, 50}})}, {.margin = margin});
  return FindingSentence(told, judged.pairs[0]);
}

TEST(Finding, WhoIsWorseIsNotSaidToBeMaybeNotWorse) {
  EXPECT_THAT(SaidOfWhoIsWorse(0.01), AllOf(HasSubstr("b is worse than a by "),
                                            Not(HasSubstr("not worse"))));
}

TEST(Finding, OfWhoIsWorseItSaysThatItIsSoByLessThanTheMargin) {
  EXPECT_THAT(SaidOfWhoIsWorse(0.3),
              AllOf(HasSubstr("b is worse than a by "),
                    HasSubstr("less than 30.0 points apart, p < 0.001")));
}

TEST(Finding, AMarginThatIsNotShownIsNotDenied) {
  const Question question = {.margin = 0.01};
  const Judged judged =
      Compare({Bits("a", {{0, 50}}), Bits("b", {{2, 53}})}, question);
  Told told = About("accuracy");
  told.margin = 0.01;
  EXPECT_THAT(FindingSentence(told, judged.pairs[0]),
              HasSubstr("; that b is not worse by 1.0 points or more is not "
                        "shown, p = "));
}

TEST(Finding, WhereNothingCanBeTestedItSaysSo) {
  const Judged judged = Compare({Seeded("a", {0.5}), Seeded("b", {0.6})}, {});
  EXPECT_THAT(FindingSentence(About("f1"), judged.pairs[0]),
              HasSubstr("cannot be compared by a test"));
  const Contender same = Guesser("a", "f1", 1, 0.7);
  EXPECT_THAT(FindingSentence(About("f1"), Compare({same, same}, {}).pairs[0]),
              HasSubstr("come to the same on all of 100 examples"));
}

}  // namespace
}  // namespace frostline::statistics
