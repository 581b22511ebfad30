// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/loss_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sampler/gp/targets.h"

namespace frostline::sampler {
namespace {

// Every earlier trial costs as much time as one of this study.
constexpr std::size_t kMostPriorRows = 300;
constexpr std::size_t kMostPriorStudies = 20;
// The loss of an early step says less than that of the last one.
constexpr double kDoubtOfPruned = 0.25;

void AppendRows(const PriorRows& earlier, const LedgerList& valued,
                std::size_t study, double doubt, TargetedRows& to) {
  std::vector<double> losses;
  for (const LedgerTrial* trial : valued) {
    to.rows.Append(earlier.CellsOf(*trial, study),
                   doubt + (trial->pruned ? kDoubtOfPruned : 0.0));
    losses.push_back(trial->loss);
  }
  const std::vector<double> targets = TargetsOf(losses);
  to.targets.insert(to.targets.end(), targets.begin(), targets.end());
}

// A trial that varies with this study's by `weight` tells as much as one of
// this study with so much more noise.
double DoubtOf(double weight) {
  if (weight <= 0.0) return 0.0;
  const double tie = std::clamp(weight, 0.01, 0.99);
  return 1.0 / (tie * tie) - 1.0;
}

// Evenly thinned to at most `most`.
LedgerList Thin(const LedgerList& trials, std::size_t most) {
  if (trials.size() <= most) return trials;
  LedgerList thinned;
  for (std::size_t i = 0; i < most; ++i) {
    thinned.push_back(trials[i * trials.size() / most]);
  }
  return thinned;
}

}  // namespace

PriorRows::PriorRows(const std::vector<PriorStudy>& studies, const Space& space,
                     const std::vector<LevelAxis>& axes,
                     const Objective& objective) {
  const std::size_t count = std::min(studies.size(), kMostPriorStudies);
  studies_ = count;
  for (std::size_t s = 0; s < count; ++s) {
    std::vector<LedgerTrial> trials;
    for (const Observation& observation : studies[s].trials) {
      auto trial = LedgerTrialOf(observation, space, axes, objective);
      if (trial.has_value() && trial->part == TrialPart::kValued) {
        trials.push_back(*std::move(trial));
      }
    }
    LedgerList list;
    for (const LedgerTrial& trial : trials) list.push_back(&trial);
    AppendRows(*this, Thin(list, kMostPriorRows / count), s + 1,
               DoubtOf(studies[s].weight), rows_);
  }
}

Cells PriorRows::CellsOf(const LedgerTrial& trial, std::size_t study) const {
  Cells cells = trial.cells;
  if (studies_ > 0) cells.push_back(static_cast<std::uint8_t>(study));
  return cells;
}

TargetedRows LossRows(const PriorRows& earlier, const LedgerList& valued) {
  TargetedRows rows = earlier.rows();
  AppendRows(earlier, valued, 0, 0.0, rows);
  return rows;
}

FailureRows FailureRowsOf(const LedgerList& ended) {
  FailureRows failures;
  std::vector<double>& targets = failures.rows.targets;
  double count = 0.0;
  for (const LedgerTrial* trial : ended) {
    failures.rows.rows.Append(trial->cells, 0.0);
    targets.push_back(trial->part == TrialPart::kFailed ? 1.0 : 0.0);
    count += targets.back();
  }
  const double rate = count / static_cast<double>(ended.size());
  failures.rate = rate;
  failures.deviation = std::sqrt(std::max(rate * (1.0 - rate), 1e-4));
  for (double& target : targets) {
    target = (target - rate) / failures.deviation;
  }
  return failures;
}

ConstraintRows ConstraintRowsOf(const LedgerList& measured, std::size_t which) {
  ConstraintRows constraint;
  std::vector<double> values;
  for (const LedgerTrial* trial : measured) {
    constraint.rows.rows.Append(trial->cells, 0.0);
    values.push_back(trial->constraints[which]);
  }
  ConstraintTargets targets = ConstraintTargetsOf(values);
  constraint.rows.targets = std::move(targets.targets);
  constraint.bound = targets.bound;
  return constraint;
}

}  // namespace frostline::sampler
