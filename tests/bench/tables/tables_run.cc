// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/tables_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include "importance/measure/evaluate_options.h"
#include "tests/bench/tables/table_history.h"

namespace frostline::bench {
namespace {

struct Task {
  std::size_t table = 0;
  HistoryKind kind;
  int seed = 0;
};

std::vector<Task> TasksOf(std::size_t tables, const TablesOptions& options) {
  std::vector<Task> tasks;
  for (int seed = 0; seed < options.seeds; ++seed) {
    for (std::size_t t = 0; t < tables; ++t) {
      for (const HistoryKind& kind : options.histories) {
        tasks.push_back({t, kind, seed});
      }
    }
  }
  return tasks;
}

// What one study says at each size, or as far as the study went.
std::map<int, JudgedStudy> JudgeOne(const RecordedTable& table,
                                    const TableTruth& truth, const Task& task,
                                    const TablesOptions& options) {
  const auto seed = static_cast<std::uint64_t>(task.seed) + 1;
  const std::vector<Observation> trials =
      RecordedTrials(table, {task.kind.sampler, task.kind.workers,
                             *std::ranges::max_element(options.sizes), seed});
  const JudgeSetup setup{
      .shares = options.what == "all" || options.what == "shares",
      .plan = options.what == "all" || options.what == "plan",
      .seed = seed};
  std::map<int, JudgedStudy> judged;
  for (const int size : options.sizes) {
    if (static_cast<int>(trials.size()) < size) break;
    const History history = Beginning(trials, size);
    judged[size] = Judge({table, truth, history, setup});
  }
  return judged;
}

}  // namespace

std::vector<RecordedTable> TablesOf(const TablesOptions& options) {
  std::vector<RecordedTable> tables;
  for (const auto& entry :
       std::filesystem::directory_iterator(options.folder)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".table") continue;
    if (!options.table.empty() && path.stem() != options.table) continue;
    tables.push_back(ReadTable(path.string()));
  }
  if (tables.empty()) {
    throw std::runtime_error(options.folder + " has no table " + options.table);
  }
  std::ranges::sort(tables, {}, &RecordedTable::name);
  return tables;
}

void JudgeAll(const std::vector<RecordedTable>& tables,
              const std::vector<TableTruth>& truths,
              const TablesOptions& options, TableFigures& figures) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point last =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(options.minutes * 60));
  const std::vector<Task> tasks = TasksOf(tables.size(), options);
  std::vector<std::map<int, JudgedStudy>> judged(tasks.size());
  importance::ParallelFor(options.threads, tasks.size(), [&](std::size_t i) {
    if (Clock::now() > last) return;
    const std::size_t t = tasks[i].table;
    judged[i] = JudgeOne(tables[t], truths[t], tasks[i], options);
  });
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const RecordedTable& table = tables[tasks[i].table];
    for (const auto& [size, study] : judged[i]) {
      figures.AddStudy(table.name, tasks[i].kind.name, size, study);
    }
  }
}

}  // namespace frostline::bench
