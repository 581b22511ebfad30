// SPDX-License-Identifier: Apache-2.0
//
// File: tables_run.h
//
// All studies of all tables, on several threads.
#ifndef FROSTLINE_TESTS_BENCH_TABLES_TABLES_RUN_H_
#define FROSTLINE_TESTS_BENCH_TABLES_TABLES_RUN_H_

#include <vector>

#include "tests/bench/tables/recorded_table.h"
#include "tests/bench/tables/table_figures.h"
#include "tests/bench/tables/table_truth.h"
#include "tests/bench/tables/tables_options.h"

namespace frostline::bench {

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
