// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/tables_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#include "base/plain/statistics.h"
#include "importance/measure/evaluate_options.h"
#include "tests/bench/tables/table_history.h"

namespace frostline::bench {
namespace {

constexpr int kQuickSeeds = 5;

std::vector<HistoryKind> AllHistories() {
  std::vector<HistoryKind> kinds = {{"random", "random", 1}};
  for (const std::string sampler : {"tpe", "levels-gp", "auto"}) {
    kinds.push_back({sampler, sampler, 1});
    kinds.push_back({sampler + ".w8", sampler, 8});
  }
  // As a study is that says nothing of it.
  kinds.push_back({"both", "auto", 1, Purpose::kBoth});
  return kinds;
}

[[noreturn]] void Usage(const char* program) {
  std::cerr << "usage: " << program
            << " [--quick] [--data DIR] [--table NAME] [--history NAME]\n"
               "    [--n TRIALS] [--seeds N] [--minutes M] [--threads N]\n"
               "    [--what all|shares|plan|best]\n"
               "histories:";
  for (const HistoryKind& kind : AllHistories()) std::cerr << " " << kind.name;
  std::cerr << "\n";
  std::exit(2);
}

void Take(const std::string& flag, const std::string& value,
          TablesOptions& options, const char* program) {
  if (flag == "--data") {
    options.folder = value;
  } else if (flag == "--table") {
    options.table = value;
  } else if (flag == "--history") {
    std::erase_if(options.histories, [&value](const HistoryKind& kind) {
      return kind.name != value;
    });
  } else if (flag == "--n") {
    options.sizes = {std::atoi(value.c_str())};
  } else if (flag == "--seeds") {
    options.seeds = std::atoi(value.c_str());
  } else if (flag == "--minutes") {
    options.minutes = std::atof(value.c_str());
  } else if (flag == "--threads") {
    options.threads = std::atoi(value.c_str());
  } else if (flag == "--what") {
    options.what = value;
  } else {
    Usage(program);
  }
}

}  // namespace

TablesOptions ReadTablesOptions(int argc, char** argv) {
  TablesOptions options;
  options.folder =
      std::string(FROSTLINE_SOURCE_DIR) + "/tests/bench/tables/data";
  options.histories = AllHistories();
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--quick") {
      options.seeds = kQuickSeeds;
    } else if (i + 1 < argc) {
      Take(flag, argv[++i], options, argv[0]);
    } else {
      Usage(argv[0]);
    }
  }
  const bool known = options.what == "all" || options.what == "shares" ||
                     options.what == "plan" || options.what == "best";
  if (!known || options.histories.empty() || options.sizes[0] < 1 ||
      options.seeds < 1 || options.threads < 1) {
    Usage(argv[0]);
  }
  return options;
}

namespace {

double MeanOf(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double ShareThatContradict(const std::vector<PlanSays>& says) {
  double pairs = 0.0;
  double bad = 0.0;
  for (std::size_t i = 0; i < says.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      pairs += 1.0;
      bad += Contradict(says[i], says[j]) ? 1.0 : 0.0;
    }
  }
  return bad / pairs;
}

}  // namespace

void TableFigures::Add(const std::string& key, double value) {
  if (!std::isnan(value)) values_[key].push_back(value);
}

void TableFigures::AddStudy(const std::string& table,
                            const std::string& history, int trials,
                            const JudgedStudy& study) {
  const std::string size = ".n" + std::to_string(trials);
  for (const JudgedFigure& figure : study.figures) {
    Add(figure.key + "." + table + "." + history + size +
            (figure.end.empty() ? "" : "." + figure.end),
        figure.value);
    if (figure.key == "plan_impossible") Add(figure.key, figure.value);
  }
  Add("best." + table + "." + std::to_string(trials) + ".median." + history,
      study.best);
  Add("runs." + table + "." + history + size, 1.0);
  if (study.planned) says_["." + table + size].push_back(study.says);
}

void TableFigures::Print(const Bench& bench) const {
  for (const auto& [key, values] : values_) {
    if (key.starts_with("runs.")) {
      bench.Figure(key, static_cast<double>(values.size()));
    } else {
      bench.Figure(key, key.starts_with("best.") ? Quantile(values, 0.5)
                                                 : MeanOf(values));
    }
  }
  for (const auto& [end, says] : says_) {
    if (says.size() < 2) continue;
    bench.Figure("contradict" + end, ShareThatContradict(says));
  }
}

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
                             *std::ranges::max_element(options.sizes), seed,
                             task.kind.purpose});
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
