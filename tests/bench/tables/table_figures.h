// SPDX-License-Identifier: Apache-2.0
//
// File: table_figures.h
//
// Figures of many studies, by key: means, medians of what begins with "best.",
// and how often two studies of a table contradict each other.
#ifndef FROSTLINE_TESTS_BENCH_TABLES_TABLE_FIGURES_H_
#define FROSTLINE_TESTS_BENCH_TABLES_TABLE_FIGURES_H_

#include <map>
#include <string>
#include <vector>

#include "tests/bench/bench_main.h"
#include "tests/bench/tables/table_judge.h"

namespace frostline::bench {

// Not thread-safe.
class TableFigures {
 public:
  void Add(const std::string& key, double value);
  // Every figure of a study of table T: "mae" becomes "mae.T.H.nN.default".
  void AddStudy(const std::string& table, const std::string& history,
                int trials, const JudgedStudy& study);
  void Print(const Bench& bench) const;

 private:
  std::map<std::string, std::vector<double>> values_;
  std::map<std::string, std::vector<PlanSays>> says_;  // by ".T.nN"
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_TABLES_TABLE_FIGURES_H_
