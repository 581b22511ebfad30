// SPDX-License-Identifier: Apache-2.0
//
// File: tables_run.h
//
// What `./dev bench tables` is asked for.
#ifndef FROSTLINE_TESTS_BENCH_TABLES_TABLES_RUN_H_
#define FROSTLINE_TESTS_BENCH_TABLES_TABLES_RUN_H_

#include <map>
#include <string>
#include <vector>

#include "tests/bench/bench_main.h"
#include "tests/bench/tables/recorded_table.h"
#include "tests/bench/tables/table_judge.h"
#include "tests/bench/tables/table_truth.h"

namespace frostline::bench {

// A sampler one trial after the other, or ".w8" eight at a time.
struct HistoryKind {
  std::string name;
  std::string sampler;
  int workers = 1;
  Purpose purpose = Purpose::kBest;
};

struct TablesOptions {
  std::string folder;  // of the tables
  std::string table;   // empty: all of them
  std::vector<HistoryKind> histories;
  std::vector<int> sizes = {36, 100, 200};
  int seeds = 30;
  double minutes = 20.0;  // no run begins later
  int threads = 2;
  std::string what = "all";  // or shares, plan, best
};

// Ends the program with exit code 2 on what it does not know.
TablesOptions ReadTablesOptions(int argc, char** argv);

// Figures of many studies, by key: means, medians of what begins with "best.",
// and how often two studies of a table contradict each other.

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

// All studies of all tables, on several threads.

// Those of the folder by name, or the one asked for. Throws
// std::runtime_error: there is none.
std::vector<RecordedTable> TablesOf(const TablesOptions& options);

// One seed of every table and history after the other, so that all of them have
// about equally many when the time is used up. Every size of a study is a
// beginning of the same one.
void JudgeAll(const std::vector<RecordedTable>& tables,
              const std::vector<TableTruth>& truths,
              const TablesOptions& options, TableFigures& figures);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_TABLES_TABLES_RUN_H_
