// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/table_figures.h"

#include <cmath>

#include "base/plain/statistics.h"

namespace frostline::bench {
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

}  // namespace frostline::bench
