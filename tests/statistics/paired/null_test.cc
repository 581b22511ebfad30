// SPDX-License-Identifier: Apache-2.0
//
// Where nothing is to be found each p-value is as likely as any other, and one
// in twenty is below 0.05; where something is, it is found as often as
// promised. All of chance has a seed: these counts do not change from run to
// run.
#include <vector>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "statistics/compare.h"
#include "tests/statistics/paired/simulated.h"

namespace frostline::statistics {
namespace {

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
