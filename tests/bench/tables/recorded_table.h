// SPDX-License-Identifier: Apache-2.0
//
// File: recorded_table.h
//
// A table of real fine-tunings: for each recorded cell of a space of rates its
// runs, one for each training seed. README.md says what a file looks like.
//
//   const RecordedTable table = ReadTable("data/reviews-groups.table");
//   const RecordedCell* cell = table.Find(point);
#ifndef FROSTLINE_TESTS_BENCH_TABLES_RECORDED_TABLE_H_
#define FROSTLINE_TESTS_BENCH_TABLES_RECORDED_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "study/objective.h"
#include "study/space.h"

namespace frostline::bench {

struct RecordedRun {
  std::int64_t seed = 0;
  bool succeeded = false;  // else the loss became infinite or no number
  double value = 0.0;      // of the table's metric
  std::map<std::string, double> metrics;  // all of them
};

struct RecordedCell {
  Point point;
  std::vector<RecordedRun> runs;  // at least one

  int Succeeded() const;
  double Mean() const;  // over the runs that succeeded; NaN: there is none
};

struct RecordedTable {
  std::string name;
  Objective objective;
  std::int64_t outcomes = 0;  // rows, or words, that a value is the mean of
  Space space;
  std::vector<RecordedCell> cells;  // each point once

  // nullptr where nothing was recorded.
  const RecordedCell* Find(const Point& point) const;
  // Every point of the space has a run that succeeded.
  bool IsComplete() const;
  // A value such that greater is better.
  double Score(double value) const;

  // Index into `cells` by HashPoint.
  std::multimap<std::uint64_t, std::size_t> places;
};

// Throws std::runtime_error that names the table and the line.
RecordedTable ReadTable(const std::string& path);
RecordedTable ReadTable(std::istream& lines, const std::string& path);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_TABLES_RECORDED_TABLE_H_
