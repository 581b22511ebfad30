// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/table_history.h"

#include <set>

#include "gmock/gmock.h"
#include "tests/bench/tables/small_table.h"
#include "tests/bench/tables/table_judge.h"

namespace frostline::bench {
namespace {

RecordedTable Table(int missing = -1) {
  return MakeTable({[](const int(&levels)[4], int seed) {
                      return 0.5 + 0.05 * levels[0] +
                             0.04 * levels[1] * levels[2] + 0.003 * seed;
                    },
                    missing});
}

bool IsRecorded(const RecordedTable& table, const Observation& trial) {
  const RecordedCell* const cell = table.Find(trial.point);
  if (cell == nullptr) return false;
  for (const RecordedRun& run : cell->runs) {
    if (run.value == trial.values.at(0)) return true;
  }
  return false;
}

TEST(TableHistory, TrialsShowWhatWasRecorded) {
  for (const int missing : {-1, 4}) {
    const RecordedTable table = Table(missing);
    for (const char* sampler : {"random", "tpe", "levels-gp", "auto"}) {
      const auto trials = RecordedTrials(table, {sampler, 1, 30, 5});
      ASSERT_EQ(trials.size(), 30U) << sampler;
      for (const Observation& trial : trials) {
        EXPECT_TRUE(IsRecorded(table, trial)) << sampler;
      }
    }
  }
}

TEST(TableHistory, TheSameSeedGivesTheSameHistory) {
  const RecordedTable table = Table();
  const auto one = RecordedTrials(table, {"tpe", 8, 40, 7});
  const auto two = RecordedTrials(table, {"tpe", 8, 40, 7});
  const auto other = RecordedTrials(table, {"tpe", 8, 40, 8});
  std::size_t differ = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].number, two[i].number);
    EXPECT_TRUE(SamePoint(one[i].point, two[i].point));
    EXPECT_EQ(one[i].values, two[i].values);
    if (!SamePoint(one[i].point, other[i].point)) ++differ;
  }
  EXPECT_GT(differ, 10U);
}

TEST(TableHistory, RandomDrawsNoCellTwiceWhereThereAreGaps) {
  const RecordedTable table = Table(4);
  const auto trials = RecordedTrials(table, {"random", 1, 500, 1});
  EXPECT_EQ(trials.size(), table.cells.size());
}

TEST(TableJudge, ATableWithGapsIsJudged) {
  const RecordedTable table = Table(4);
  const auto trials = RecordedTrials(table, {"tpe", 1, 40, 2});
  const JudgedStudy judged =
      Judge({table, TruthOf(table), Beginning(trials, 40), JudgeSetup{}});
  std::set<std::string> keys;
  for (const JudgedFigure& figure : judged.figures) keys.insert(figure.key);
  EXPECT_TRUE(keys.contains("mae"));
  EXPECT_TRUE(keys.contains("cover95"));
  EXPECT_TRUE(keys.contains("advice"));
  EXPECT_TRUE(keys.contains("frontier_named"));
  EXPECT_TRUE(judged.planned);
}

TEST(TableJudge, WhoFreezesWhatTheOtherTrainsContradictsIt) {
  EXPECT_TRUE(
      Contradict({.freeze = 0b010, .train = 0}, {.freeze = 0, .train = 0b110}));
  EXPECT_FALSE(Contradict({.freeze = 0b010, .train = 0b100},
                          {.freeze = 0b001, .train = 0b100}));
}

}  // namespace
}  // namespace frostline::bench
