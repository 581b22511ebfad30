// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/bench/tables/recorded_table.h"
#include "tests/bench/tables/table_history.h"
#include "tests/bench/tables/table_judge.h"
#include "tests/bench/tables/table_truth.h"

namespace frostline::bench {

// Tables of made-up numbers for the tests of this folder: four modules of three
// levels, three seeds a cell.
struct SmallTable {
  // Value at four levels (0, 1, 2) and a seed (1, 2, 3).
  std::function<double(const int (&levels)[4], int seed)> value;
  // Cells that were not recorded, by the sum of their levels.
  int missing = -1;
};

inline RecordedTable MakeTable(const SmallTable& wanted) {
  std::ostringstream out;
  out << "# frostline-table 1\n# name small\n# metric accuracy maximize\n"
         "# outcomes 200\n";
  for (const char name : {'a', 'b', 'c', 'd'}) {
    out << "# parameter " << name << " 0 1e-4 3e-4\n# module layer."
        << name - 'a' << " " << name << "\n";
  }
  out << "# module head 0.001\na,b,c,d,seed,state,accuracy,train_seconds\n";
  const char* const rates[] = {"0", "0.0001", "0.0003"};
  for (int cell = 0; cell < 81; ++cell) {
    const int levels[4] = {cell / 27, cell / 9 % 3, cell / 3 % 3, cell % 3};
    if (levels[0] + levels[1] + levels[2] + levels[3] == wanted.missing) {
      continue;
    }
    for (int seed = 1; seed <= 3; ++seed) {
      for (const int level : levels) out << rates[level] << ",";
      out << seed << ",succeeded," << wanted.value(levels, seed) << ",2\n";
    }
  }
  std::istringstream in(out.str());
  return ReadTable(in, "small");
}

namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kHeader =
    "# frostline-table 1\n# name one\n# metric accuracy maximize\n"
    "# outcomes 200\n# parameter low 0 1e-4\n# parameter high 0 1e-4\n"
    "# module layer.0 low\n# module layer.1 high\n# module head 0.001\n"
    "low,high,seed,state,accuracy,loss\n";

RecordedTable Read(const std::string& rows) {
  std::istringstream lines(kHeader + rows);
  return ReadTable(lines, "one.csv");
}

std::string ErrorOf(const std::string& rows) {
  try {
    Read(rows);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(RecordedTable, ACellHasItsRunsAndTheirMean) {
  const RecordedTable table =
      Read("0,0.0001,1,succeeded,0.5,1\n0,0.0001,2,succeeded,0.7,1\n");
  const RecordedCell* const cell = table.Find({0, 1});
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->runs.size(), 2U);
  EXPECT_DOUBLE_EQ(cell->Mean(), 0.6);
  EXPECT_EQ(cell->runs[1].metrics.at("loss"), 1.0);
  EXPECT_EQ(table.outcomes, 200);
}

TEST(RecordedTable, ModulesTakeTheirRatesFromParametersOrAreFixed) {
  const RecordedTable table = Read("0,0.0001,1,succeeded,0.5,1\n");
  const auto rates = table.space.Rates({0, 1});
  EXPECT_EQ(rates[0].rate, 0.0);
  EXPECT_EQ(rates[1].rate, 1e-4);
  EXPECT_EQ(rates[2].rate, 1e-3);
}

TEST(RecordedTable, AnAdapterHasItsRankAndItsRate) {
  std::istringstream lines(
      "# frostline-table 1\n# name ranks\n# metric accuracy maximize\n"
      "# outcomes 200\n# parameter rate 1e-3 1e-2\n# ranks low 0 4 8\n"
      "# module layer.0 low rate\n# module head rate\n"
      "rate,low,seed,state,accuracy\n0.01,8,1,succeeded,0.9\n");
  const RecordedTable table = ReadTable(lines, "ranks.table");
  EXPECT_THAT(table.cells[0].point, ElementsAre(1.0, 2.0));
  const ModuleBinding& layer = table.space.modules()[0];
  EXPECT_EQ(layer.adapter->rank_parameter, 1);
  EXPECT_EQ(layer.adapter->rate_parameter, 0);
  EXPECT_FALSE(table.space.modules()[1].adapter.has_value());
  const Domain& ranks = table.space.parameters()[1].domain;
  EXPECT_EQ(FormatValue(ranks, 2.0), "8");
}

TEST(RecordedTable, GapsAreKnown) {
  const RecordedTable table = Read("0,0,1,succeeded,0.5,1\n");
  EXPECT_EQ(table.Find({1, 1}), nullptr);
  EXPECT_FALSE(table.IsComplete());
}

TEST(RecordedTable, ARunThatDivergedIsNoPartOfTheMean) {
  const RecordedTable table =
      Read("0,0,1,infeasible,,\n0,0,2,succeeded,0.9,1\n");
  EXPECT_EQ(table.cells[0].Mean(), 0.9);
  EXPECT_EQ(table.cells[0].runs.size(), 2U);
}

TEST(RecordedTable, AMistakeNamesFileAndLine) {
  EXPECT_THAT(ErrorOf("0,0.5,1,succeeded,0.5,1\n"), HasSubstr("one.csv:11"));
  EXPECT_THAT(ErrorOf("0,0.5,1,succeeded,0.5,1\n"),
              HasSubstr("0.5 is no level of 'high'"));
  EXPECT_THAT(ErrorOf("0,0,1,succeeded,good,1\n"), HasSubstr("'good'"));
  EXPECT_THAT(ErrorOf("0,0,1,succeeded\n"), HasSubstr("4 fields, not 6"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("no runs"));
}

TEST(RecordedTable, EveryTableOfTheRepositoryIsReadAndHasATruth) {
  int tables = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TABLES_DIR)) {
    const RecordedTable table = ReadTable(entry.path().string());
    const TableTruth truth = TruthOf(table);
    double main = 0.0;
    for (const double share : truth.main) main += share;
    EXPECT_GT(main, 0.05) << table.name;
    EXPECT_LT(main, 1.05) << table.name;
    EXPECT_GT(truth.noise.deviation, 0.001) << table.name;
    ++tables;
  }
  EXPECT_GE(tables, 1);
}

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

// Variances over levels: a 2/3, b 1/6, the product of c and d (2/3)^2.
double Surface(const int (&levels)[4]) {
  return 0.1 *
         (levels[0] + 0.5 * levels[1] + (levels[2] - 1.0) * (levels[3] - 1.0));
}

TEST(TableTruth, SharesOfACompleteTableAreExact) {
  const RecordedTable table =
      MakeTable({[](const int(&levels)[4], int) { return Surface(levels); }});
  const TableTruth truth = TruthOf(table);
  const double all = 2.0 / 3.0 + 1.0 / 6.0 + 4.0 / 9.0;
  EXPECT_TRUE(truth.complete);
  EXPECT_NEAR(truth.main[0], 2.0 / 3.0 / all, 1e-9);
  EXPECT_NEAR(truth.main[1], 1.0 / 6.0 / all, 1e-9);
  EXPECT_EQ(truth.pairs[0].first, 2U);
  EXPECT_EQ(truth.pairs[0].second, 3U);
  EXPECT_NEAR(truth.pairs[0].share, 4.0 / 9.0 / all, 1e-9);
  EXPECT_NEAR(truth.rest, 0.0, 1e-9);
  EXPECT_NEAR(truth.best->Mean(), 0.4, 1e-9);
}

TEST(TableTruth, NoiseOfTheMeansIsTakenOff) {
  Rng rng(3);
  const RecordedTable table = MakeTable({[&](const int(&levels)[4], int) {
    return Surface(levels) + 0.1 * rng.Normal();
  }});
  const TableTruth truth = TruthOf(table);
  EXPECT_NEAR(truth.noise.deviation, 0.1, 0.015);
  EXPECT_NEAR(truth.noise.variance_of_mean, 0.01 / 3.0, 0.001);
  EXPECT_LT(truth.main[2] + truth.main[3], 0.03);
  EXPECT_LT(truth.rest, 0.15);  // where noise is a fifth of the variance
  EXPECT_GT(truth.main_errors[0], 0.01);
  EXPECT_LT(truth.main_errors[0], 0.10);
}

TEST(TableTruth, WhatASeedDoesToAllCellsIsNoNoiseOfTheMeans) {
  const RecordedTable table = MakeTable({[](const int(&levels)[4], int seed) {
    return Surface(levels) + 0.05 * seed;
  }});
  const TableTruth truth = TruthOf(table);
  EXPECT_NEAR(truth.noise.deviation, 0.05, 1e-9);
  EXPECT_NEAR(truth.noise.variance_of_mean, 0.0, 1e-12);
}

TEST(TableTruth, MainEffectsOfATableWithGapsAreFitted) {
  const SmallTable all{
      [](const int(&levels)[4], int) { return Surface(levels); }};
  SmallTable some = all;
  some.missing = 3;
  const TableTruth whole = TruthOf(MakeTable(all));
  const TableTruth gaps = TruthOf(MakeTable(some));
  EXPECT_FALSE(gaps.complete);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(gaps.main[i], whole.main[i], 3.0 * gaps.main_errors[i] + 0.03);
  }
  EXPECT_THAT(gaps.pairs, ElementsAre());
  EXPECT_THAT(whole.main_errors, Each(DoubleNear(0.0, 1e-12)));
}

// Points that plans of recorded tables chose and that no table has were run
// with five seeds (docs/measured/tables.md). Plans of old promised .837 and
// .849 for the two of tagging.

// Levels by depth, and the mean accuracy of what was run.
const std::map<Point, double>& TaggingRuns() {
  static const auto* const runs = new std::map<Point, double>{
      {{4, 4, 4, 4, 4, 4, 4}, 0.8121}, {{1, 4, 4, 4, 4, 4, 4}, 0.8082}};
  return *runs;
}

TEST(PlanTruth, PlansOfTaggingHoldWhatWasRun) {
  const RecordedTable table = ReadTable(TABLES_DIR "/tagging-levels.table");
  int run = 0;
  int held = 0;
  for (const std::uint64_t seed : {4, 5, 8, 10, 11}) {  // they choose these
    const History history = Beginning(
        RecordedTrials(table, {.sampler = "random", .seed = seed}), 200);
    importance::PlanOptions options;
    options.evaluate = OptionsFor("default", seed);
    options.tolerance = 1e-9;  // these gave up nothing for freezing
    const auto plan =
        importance::MakePlan(table.space, {table.objective}, history, options);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const auto truth = TaggingRuns().find(plan->point);
    if (truth == TaggingRuns().end()) continue;
    ++run;
    held += Holds80(plan->predicted_score, truth->second, 0.0) ? 1 : 0;
  }
  EXPECT_GE(run, 3);
  EXPECT_GE(held, run - 1);
}

}  // namespace
}  // namespace frostline::bench
