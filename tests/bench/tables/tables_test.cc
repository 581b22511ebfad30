// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>

#include "gmock/gmock.h"
#include "tests/bench/tables/recorded_table.h"
#include "tests/bench/tables/table_truth.h"

namespace frostline::bench {
namespace {

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

}  // namespace
}  // namespace frostline::bench
