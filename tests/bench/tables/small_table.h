// SPDX-License-Identifier: Apache-2.0
//
// File: small_table.h
//
// Tables of made-up numbers for the tests of this folder: four modules of three
// levels, three seeds a cell.
#ifndef FROSTLINE_TESTS_BENCH_TABLES_SMALL_TABLE_H_
#define FROSTLINE_TESTS_BENCH_TABLES_SMALL_TABLE_H_

#include <functional>
#include <sstream>
#include <string>

#include "tests/bench/tables/recorded_table.h"

namespace frostline::bench {

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

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_TABLES_SMALL_TABLE_H_
