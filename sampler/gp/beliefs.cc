// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/beliefs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sampler/gp/study_axes.h"

namespace frostline::sampler {
namespace {

// Those of the trials that a kernel is learnt from.
LedgerList SampleOf(LedgerList trials) {
  trials.resize(LastRefresh(trials.size()));
  return trials;
}

bool HasMeasured(const LedgerTrial& trial, std::size_t which) {
  return which < trial.constraints.size() &&
         !std::isnan(trial.constraints[which]);
}

// Those that have a value for the constraint; none when nobody broke it.
LedgerList MeasuredIfBroken(const LedgerList& valued, std::size_t which) {
  LedgerList measured;
  bool is_broken = false;
  for (const LedgerTrial* trial : valued) {
    if (!HasMeasured(*trial, which)) continue;
    measured.push_back(trial);
    is_broken = is_broken || trial->constraints[which] > 0.0;
  }
  return is_broken ? measured : LedgerList();
}

// By how much, in all; what a pruned trial has not measured adds nothing.
double BelievedViolationOf(const LedgerTrial& trial) {
  double violation = 0.0;
  for (const double one : trial.constraints) {
    if (one > 0.0) violation += one;
  }
  return violation;
}

}  // namespace

TrialParts PartsOf(LedgerList trials) {
  TrialParts parts;
  std::size_t constraints = 0;
  for (const LedgerTrial* trial : trials) {
    if (trial->part == TrialPart::kRunning) {
      parts.running.push_back(trial);
      continue;
    }
    parts.ended.push_back(trial);
    if (trial->part == TrialPart::kValued) parts.valued.push_back(trial);
    parts.any_failed |= trial->part == TrialPart::kFailed;
    constraints = std::max(constraints, trial->constraints.size());
  }
  for (std::size_t which = 0; which < constraints; ++which) {
    LedgerList measured = MeasuredIfBroken(parts.valued, which);
    if (!measured.empty())
      parts.broken.emplace_back(which, std::move(measured));
  }
  parts.all = std::move(trials);
  return parts;
}

StudyBeliefs::StudyBeliefs(const Space& space,
                           const std::vector<LevelAxis>& axes,
                           const PriorRows& earlier)
    : axes_(axes.size()),
      earlier_(earlier),
      loss_(SearchAxes(space, axes, earlier.studies())),
      failure_(SearchAxes(space, axes, 0)),
      own_axes_(SearchAxes(space, axes, 0)) {}

std::optional<Aim> StudyBeliefs::Learn(const TrialParts& parts,
                                       const std::stop_token& stop) {
  Aim aim;
  std::vector<double> targets;
  if (!LearnLosses(parts, targets, stop)) return std::nullopt;
  aim.goal.loss = &loss_.posterior();
  OrderTried(parts, targets, aim);
  if (parts.any_failed && !LearnFailures(parts.ended, aim.goal, stop)) {
    return std::nullopt;
  }
  if (!LearnConstraints(parts, aim.goal, stop)) return std::nullopt;
  return aim;
}

bool StudyBeliefs::LearnLosses(const TrialParts& parts,
                               std::vector<double>& targets,
                               const std::stop_token& stop) {
  TargetedRows all = LossRows(earlier_, parts.valued);
  targets = all.targets;
  for (const LedgerTrial* trial : parts.running) {
    all.rows.Append(earlier_.CellsOf(*trial, 0), 0.0);
  }
  return loss_.Update(LossRows(earlier_, SampleOf(parts.valued)),
                      std::move(all), stop);
}

void StudyBeliefs::OrderTried(const TrialParts& parts,
                              const std::vector<double>& targets,
                              Aim& aim) const {
  const surrogate::GrowingSurrogate& posterior = loss_.posterior();
  const std::size_t own = targets.size() - parts.valued.size();
  std::vector<std::pair<double, std::size_t>> means;  // and row
  bool kept = false;  // all constraints, by some trial
  double& best = aim.goal.best;
  best = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < posterior.rows().size(); ++row) {
    if (row < own || row >= targets.size()) {
      if (row < own && !parts.valued.empty()) continue;
      Cells here = posterior.rows().At(row);
      here.resize(axes_);
      here.resize(posterior.kernel().axes(), 0);
      means.emplace_back(posterior.MeanAt(here), row);
      // Whether it keeps the constraints is not known yet.
      if (parts.broken.empty()) best = std::min(best, means.back().first);
      continue;
    }
    const LedgerTrial& trial = *parts.valued[row - own];
    // A loss that may not be, or is of an early step, is none to beat.
    if (!trial.feasible || trial.pruned) continue;
    kept = true;
    means.emplace_back(posterior.MeanOfRow(row, targets[row]), row);
    best = std::min(best, targets[row]);
  }
  aim.goal.has_best = kept || parts.broken.empty();
  if (!aim.goal.has_best) {
    means.clear();
    for (std::size_t i = 0; i < parts.valued.size(); ++i) {
      means.emplace_back(BelievedViolationOf(*parts.valued[i]), own + i);
    }
  }
  if (means.empty()) {
    means.emplace_back(0.0, 0);
    best = 0.0;
  }
  std::sort(means.begin(), means.end());
  for (const auto& [mean, row] : means) {
    aim.tried.push_back(posterior.rows().At(row));
    aim.tried.back().resize(axes_);
  }
}

bool StudyBeliefs::LearnFailures(const LedgerList& ended, SearchGoal& goal,
                                 const std::stop_token& stop) {
  FailureRows all = FailureRowsOf(ended);
  goal.failure_rate = all.rate;
  goal.failure_deviation = all.deviation;
  goal.failure = &failure_.posterior();
  return failure_.Update(FailureRowsOf(SampleOf(ended)).rows,
                         std::move(all.rows), stop);
}

bool StudyBeliefs::LearnConstraints(const TrialParts& parts, SearchGoal& goal,
                                    const std::stop_token& stop) {
  for (const auto& [which, measured] : parts.broken) {
    LearntModel& model =
        constraints_.try_emplace(which, own_axes_).first->second;
    ConstraintRows all = ConstraintRowsOf(measured, which);
    for (const LedgerTrial* trial : parts.running) {
      all.rows.rows.Append(trial->cells, 0.0);
    }
    const bool learnt =
        model.Update(ConstraintRowsOf(SampleOf(measured), which).rows,
                     std::move(all.rows), stop);
    if (!learnt) return false;
    goal.constraints.push_back({&model.posterior(), all.bound});
  }
  return true;
}

}  // namespace frostline::sampler
