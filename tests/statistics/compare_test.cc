// SPDX-License-Identifier: Apache-2.0
#include "statistics/compare.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "statistics/law.h"
#include "tests/statistics/reference.h"

namespace frostline::statistics {

// Contenders for tests.

inline Run RunOf(std::uint64_t seed, const std::string& metric,
                 const Outcomes& outcomes) {
  Run run{seed, 0.0, MakeRunScore(metric, outcomes)};
  run.value = run.score->At({});
  return run;
}

// A contender on 100 examples. Its n-th pair says which are right with seed n:
// from the first number on, before the second.
inline Contender Bits(const std::string& name,
                      const std::vector<std::pair<int, int>>& right) {
  Contender contender{name, {}};
  for (const auto& [from, to] : right) {
    Outcomes outcomes;
    outcomes.right_or_wrong = true;
    for (int i = 0; i < 100; ++i) {
      outcomes.marks.push_back(i >= from && i < to ? 1.0F : 0.0F);
    }
    contender.runs.push_back(
        RunOf(contender.runs.size() + 1, "accuracy", outcomes));
  }
  return contender;
}

// Runs with values alone, by seed from 1 on.
inline Contender Seeded(const std::string& name,
                        const std::vector<double>& values) {
  Contender contender{name, {}};
  for (const double value : values) {
    contender.runs.push_back({contender.runs.size() + 1, value, nullptr});
  }
  return contender;
}

// Two classes; a share of the 200 guesses is right, which ones goes by `dice`.
inline Contender Guesser(const std::string& name, const std::string& metric,
                         std::uint64_t dice, double right) {
  Rng rng(dice);
  Outcomes outcomes;
  outcomes.classes = {"no", "yes"};
  for (int i = 0; i < 200; ++i) {
    const std::int32_t truth = i % 2;
    outcomes.true_class.push_back(truth);
    outcomes.predicted_class.push_back(rng.Uniform() < right ? truth
                                                             : 1 - truth);
  }
  return {name, {RunOf(1, metric, outcomes)}};
}

inline Contender Recorded(const std::string& name, const nlohmann::json& row,
                          const char* run, const std::string& metric) {
  Outcomes outcomes;
  if (row["kind"] == "classes") {
    outcomes.true_class = row["truth"].get<std::vector<std::int32_t>>();
    outcomes.predicted_class = row[run].get<std::vector<std::int32_t>>();
    outcomes.classes = {"no", "yes"};
  } else {
    outcomes.true_value = row["truth"].get<std::vector<double>>();
    outcomes.predicted_value = row[run].get<std::vector<double>>();
  }
  return {name, {RunOf(1, metric, outcomes)}};
}

namespace {

TEST(Compare, OnePairOfAccuraciesIsMcNemarAndTango) {
  const Judged judged =
      Compare({Bits("a", {{0, 50}}), Bits("b", {{2, 60}})}, {.margin = 0.02});
  const PairJudged& pair = judged.pairs[0];
  EXPECT_EQ(pair.method, Method::kMcNemar);
  EXPECT_NEAR(pair.difference, 0.08, 1e-12);
  EXPECT_EQ(pair.p, McNemarP(10, 2));
  const Range range = TangoInterval({100, 10, 2}, 1.959963984540054);
  EXPECT_NEAR(pair.interval.low, range.low, 1e-9);
  EXPECT_NEAR(pair.interval.high, range.high, 1e-9);
  EXPECT_TRUE(pair.differs);
  EXPECT_TRUE(pair.not_worse);
  EXPECT_FALSE(pair.equivalent);
  EXPECT_TRUE(std::isnan(pair.seed_p));
}

TEST(Compare, ASentenceWeighsAsManyWordsAsItTurns) {
  // Three sentences of 40, 30 and 30 words: 3 gained, 1 lost, 2 gained.
  Contender a{"a", {}}, b{"b", {}};
  Outcomes one, other;
  one.right_or_wrong = other.right_or_wrong = true;
  one.sentence_ends = other.sentence_ends = {40, 70, 100};
  one.marks.assign(100, 0.0F);
  other.marks = one.marks;
  for (const std::size_t gained : {0u, 1u, 2u, 70u, 71u}) {
    other.marks[gained] = 1.0F;
  }
  one.marks[50] = 1.0F;
  a.runs = {RunOf(1, "accuracy", one)};
  b.runs = {RunOf(1, "accuracy", other)};
  const PairJudged pair = Compare({a, b}, {}).pairs[0];
  EXPECT_EQ(pair.method, Method::kSigns);
  const std::vector<std::int64_t> sums = {3, -1, 2};
  EXPECT_EQ(pair.p, SignsP(sums));  // 0.5: as far as 4 are four of eight
}

TEST(Compare, TheBootstrapFindsWhatNumpysFinds) {
  for (const auto& row : Reference("runs")) {
    for (const auto& [metric, found] : row["metrics"].items()) {
      const Judged judged = Compare({Recorded("a", row, "first", metric),
                                     Recorded("b", row, "second", metric)},
                                    {.chance = 3});
      const PairJudged& pair = judged.pairs[0];
      const double deviation = found["deviation"];
      EXPECT_EQ(pair.method, Method::kBootstrap) << metric;
      EXPECT_EQ(judged.draws, 10'000u);
      // Ends of 10,000 and of 20,000 draws: five of their own deviations.
      EXPECT_NEAR(pair.interval.low, found["low"].get<double>(),
                  0.17 * deviation)
          << metric;
      EXPECT_NEAR(pair.interval.high, found["high"].get<double>(),
                  0.17 * deviation)
          << metric;
      EXPECT_NEAR(pair.example_noise, 1.96 * deviation, 0.1 * deviation);
    }
  }
}

TEST(Compare, SeedsAreBlocks) {
  for (const auto& row : Reference("blocks")) {
    const std::vector<std::vector<double>> values = row["values"];
    std::vector<Contender> contenders;
    for (const std::vector<double>& of : values) {
      contenders.push_back(Seeded("c", of));
    }
    const Judged judged = Compare(contenders, {});
    EXPECT_NEAR(judged.within.squares, row["squares"].get<double>(), 1e-12);
    EXPECT_EQ(judged.within.freedom, row["freedom"].get<double>());
    if (!row.contains("p")) continue;
    EXPECT_EQ(judged.pairs[0].method, Method::kSeeds);
    EXPECT_NEAR(judged.pairs[0].p, row["p"].get<double>(), 1e-10);
  }
}

TEST(Compare, WhoIsFirstOnlyTurnsTheSign) {
  for (const char* const metric : {"accuracy", "f1", "mcc"}) {
    const Contender a = Guesser("a", metric, 1, 0.7);
    const Contender b = Guesser("b", metric, 2, 0.8);
    const Question question = {.margin = 0.05, .chance = 9};
    const PairJudged one = Compare({a, b}, question).pairs[0];
    const PairJudged other = Compare({b, a}, question).pairs[0];
    EXPECT_NEAR(one.difference, -other.difference, 1e-12);
    EXPECT_NEAR(one.p, other.p, 1e-12) << metric;
    EXPECT_NEAR(one.interval.low, -other.interval.high, 1e-9) << metric;
    EXPECT_NEAR(one.apart_p, other.apart_p, 1e-9) << metric;
    EXPECT_NEAR(one.smallest, other.smallest, 1e-9) << metric;
  }
}

TEST(Compare, OfCostsLessIsBetter) {
  const Question question = {.more_is_better = false, .margin = 0.5};
  const PairJudged pair =
      Compare({Seeded("a", {1.0, 1.1, 1.2}), Seeded("b", {0.7, 0.82, 0.9})},
              question)
          .pairs[0];
  EXPECT_LT(pair.difference, 0.0);
  EXPECT_TRUE(pair.not_worse);
}

TEST(Compare, AFamilyIsHolms) {
  const std::vector<Contender> three = {
      Bits("a", {{0, 50}}), Bits("b", {{2, 60}}), Bits("c", {{1, 52}})};
  const Judged judged = Compare(three, {});
  ASSERT_EQ(judged.pairs.size(), 2u);
  EXPECT_NEAR(judged.pairs[0].adjusted_p, 2.0 * McNemarP(10, 2), 1e-12);
  EXPECT_FALSE(judged.pairs[0].differs);  // it would alone
  EXPECT_GT(judged.pairs[0].smallest,
            Compare({three[0], three[1]}, {}).pairs[0].smallest);
  Question all;
  all.all_pairs = true;
  EXPECT_EQ(Compare(three, all).pairs.size(), 3u);
}

TEST(Compare, ExamplesAndSeedsAreAddedUp) {
  const std::vector<Contender> two = {Bits("a", {{0, 50}, {0, 51}, {0, 49}}),
                                      Bits("b", {{1, 55}, {1, 56}, {1, 55}})};
  const PairJudged pair = Compare(two, {}).pairs[0];
  EXPECT_EQ(pair.pairs, 3u);
  EXPECT_EQ(pair.method, Method::kSigns);
  EXPECT_LT(pair.seed_p, 0.01);
  EXPECT_GT(pair.p, pair.seed_p);
  const double half = (pair.interval.high - pair.interval.low) / 2.0;
  EXPECT_GT(half, pair.example_noise);
  EXPECT_GT(half, pair.seed_noise);
}

TEST(Compare, WithoutACommonSeedNothingIsPaired) {
  Contender b = Seeded("b", {0.6, 0.7});
  for (statistics::Run& run : b.runs) run.seed += 10;
  const PairJudged pair = Compare({Seeded("a", {0.5, 0.6}), b}, {}).pairs[0];
  EXPECT_EQ(pair.pairs, 0u);
  EXPECT_TRUE(std::isnan(pair.p));
  EXPECT_FALSE(pair.differs);
}

TEST(Compare, TheSameRunTwiceIsNotCertainToStayTheSame) {
  const Question question = {.margin = 0.001};
  const PairJudged bits =
      Compare({Bits("a", {{0, 50}}), Bits("b", {{0, 50}})}, question).pairs[0];
  EXPECT_EQ(bits.p, 1.0);
  EXPECT_FALSE(bits.equivalent);
  const Contender a = Guesser("a", "f1", 1, 0.7);
  const PairJudged drawn = Compare({a, a}, question).pairs[0];
  EXPECT_EQ(drawn.p, 1.0);
  EXPECT_TRUE(std::isnan(drawn.interval.low));
  EXPECT_FALSE(drawn.equivalent);
}

TEST(Compare, AStopEndsTheDrawing) {
  std::stop_source stop;
  stop.request_stop();
  Question question;
  question.stop = stop.get_token();
  EXPECT_TRUE(Compare({Guesser("a", "f1", 1, 0.7), Guesser("b", "f1", 2, 0.7)},
                      question)
                  .pairs.empty());
}

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

// Returns what is said of a run with ten examples fewer right, where `margin`
// may be given up.
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

// Where nothing is to be found each p-value is as likely as any other, and one
// in twenty is below 0.05; where something is, it is found as often as
// promised. All of chance has a seed: these counts do not change from run to
// run.

constexpr int kRounds = 400;

// Words of one sentence are right or wrong together, the more so the longer it
// is on the same subject.
Outcomes Tagger(Rng& rng, const std::vector<double>& ease) {
  Outcomes outcomes;
  outcomes.right_or_wrong = true;
  for (const double easy : ease) {
    const bool lucky = rng.Uniform() < easy;
    for (int word = 0; word < 8; ++word) {
      const double chance = lucky ? 0.95 : 0.3;
      outcomes.marks.push_back(rng.Uniform() < chance ? 1.0F : 0.0F);
    }
    outcomes.sentence_ends.push_back(
        static_cast<std::uint32_t>(outcomes.marks.size()));
  }
  return outcomes;
}

struct Found {
  int below_5 = 0;
  int below_half = 0;
};

template <typename Make>
Found CountUnderNull(Make make) {
  Found found;
  for (int round = 0; round < kRounds; ++round) {
    Question question;
    question.chance = static_cast<std::uint64_t>(round);
    question.most_draws = 400;
    const double p = Compare(make(round), question).pairs[0].p;
    found.below_5 += p < 0.05;
    found.below_half += p < 0.5;
  }
  return found;
}

std::uint64_t Dice(int round, int run) {
  return static_cast<std::uint64_t>(1000 * (run + 1) + round);
}

// Three deviations of 400 throws lie around 20, and around 200.
TEST(UnderTheNull, TheBootstrapKeepsItsLevel) {
  const Found found = CountUnderNull([](int round) {
    return std::vector<Contender>{Guesser("a", "mcc", Dice(round, 0), 0.75),
                                  Guesser("b", "mcc", Dice(round, 1), 0.75)};
  });
  EXPECT_GT(found.below_5, 6);
  EXPECT_LT(found.below_5, 34);
  EXPECT_GT(found.below_half, 170);
  EXPECT_LT(found.below_half, 230);
}

TEST(UnderTheNull, TheExactTestIsNeverAboveItsLevel) {
  const Found found = CountUnderNull([](int round) {
    return std::vector<Contender>{
        Guesser("a", "accuracy", Dice(round, 0), 0.75),
        Guesser("b", "accuracy", Dice(round, 1), 0.75)};
  });
  EXPECT_LT(found.below_5, 30);
  EXPECT_LT(found.below_half, 215);
}

TEST(UnderTheNull, WordsOfASentenceAreNoIndependentWitnesses) {
  Found by_sentence, by_word;
  for (int round = 0; round < kRounds; ++round) {
    Rng rng(Dice(round, 7));
    const std::vector<double> ease(60, 0.7);
    Outcomes a = Tagger(rng, ease), b = Tagger(rng, ease);
    for (Found* found : {&by_sentence, &by_word}) {
      const double p = Compare({{"a", {RunOf(1, "accuracy", a)}},
                                {"b", {RunOf(1, "accuracy", b)}}},
                               {})
                           .pairs[0]
                           .p;
      found->below_5 += p < 0.05;
      a.sentence_ends.clear();
      b.sentence_ends.clear();
    }
  }
  EXPECT_LT(by_sentence.below_5, 34);
  EXPECT_GT(by_word.below_5, 60);
}

TEST(UnderTheNull, NeitherSeedsNorExamplesAloneMakeADifference) {
  // Equal settings: of each the seed and the examples move the score alike.
  const Found found = CountUnderNull([](int round) {
    Rng rng(Dice(round, 3));
    std::vector<double> hard(300);
    std::vector<Contender> two = {{"a", {}}, {"b", {}}};
    // What each setting finds hard stays so for all of its seeds.
    for (Contender& contender : two) {
      for (double& h : hard) h = rng.Uniform();
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const double good = 0.8 + 0.03 * rng.Normal();
        Outcomes outcomes;
        outcomes.right_or_wrong = true;
        for (const double h : hard) {
          outcomes.marks.push_back(h < good ? 1.0F : 0.0F);
        }
        contender.runs.push_back(RunOf(seed, "accuracy", outcomes));
      }
    }
    return two;
  });
  EXPECT_LT(found.below_5, 34);
  EXPECT_GT(found.below_half, 120);
}

TEST(Power, WhatCouldBeSeenIsSeenFourTimesInFive) {
  int seen = 0;
  for (int round = 0; round < kRounds; ++round) {
    Rng rng(Dice(round, 5));
    Outcomes a, b;
    a.right_or_wrong = b.right_or_wrong = true;
    // One in ten differs, as many more for the second as should be visible.
    const double d = SmallestProportion({500, 25, 25}, kLevel, kPower);
    for (int i = 0; i < 500; ++i) {
      const double u = rng.Uniform();
      a.marks.push_back(u < 0.05 - d / 2.0 || u > 0.5 ? 1.0F : 0.0F);
      b.marks.push_back((u >= 0.05 - d / 2.0 && u < 0.1) || u > 0.5 ? 1.0F
                                                                    : 0.0F);
    }
    seen += Compare({{"a", {RunOf(1, "accuracy", a)}},
                     {"b", {RunOf(1, "accuracy", b)}}},
                    {})
                .pairs[0]
                .differs;
  }
  // The exact test is a little behind the formula.
  EXPECT_GT(seen, 290);
  EXPECT_LT(seen, 345);
}

}  // namespace
}  // namespace frostline::statistics
