// SPDX-License-Identifier: Apache-2.0
//
// File: tables_options.h
//
// What `./dev bench tables` is asked for.
#ifndef FROSTLINE_TESTS_BENCH_TABLES_TABLES_OPTIONS_H_
#define FROSTLINE_TESTS_BENCH_TABLES_TABLES_OPTIONS_H_

#include <string>
#include <vector>

namespace frostline::bench {

// A sampler one trial after the other, or ".w8" eight at a time.
struct HistoryKind {
  std::string name;
  std::string sampler;
  int workers = 1;
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

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_TABLES_TABLES_OPTIONS_H_
