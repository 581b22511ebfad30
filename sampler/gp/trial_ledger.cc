// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "sampler/gp/levels.h"

namespace frostline::sampler {
namespace {

constexpr double kNoBest = std::numeric_limits<double>::infinity();
constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

bool IsFeasible(const Observation& trial) {
  return std::all_of(trial.constraints.begin(), trial.constraints.end(),
                     [](double constraint) { return constraint <= 0.0; });
}

// What is no number is broken. A pruned trial keeps what it has not measured,
// but that says nothing of the point.
std::vector<double> ConstraintsOf(const Observation& trial) {
  const bool pruned = trial.state == TrialState::kPruned;
  std::vector<double> constraints = trial.constraints;
  for (double& one : constraints) {
    if (std::isnan(one)) one = kNoBest;
    if (pruned && one == -kNoBest) one = kNotMeasured;
  }
  return constraints;
}

// What a pruned trial reported last; infinite when that is no number.
double LastReport(const Observation& trial, const Objective& objective) {
  if (trial.intermediate.empty()) return kNoBest;
  const double loss = AsLoss(objective, trial.intermediate.back().value);
  return std::isfinite(loss) ? loss : kNoBest;
}

}  // namespace

std::optional<LedgerTrial> LedgerTrialOf(const Observation& trial,
                                         const Space& space,
                                         const std::vector<LevelAxis>& axes,
                                         const Objective& objective) {
  LedgerTrial entry;
  entry.number = trial.number;
  entry.feasible = IsFeasible(trial);
  switch (trial.state) {
    case TrialState::kQueued:
    case TrialState::kRunning:
      break;
    case TrialState::kSucceeded:
      if (trial.values.empty() || !std::isfinite(trial.values[0])) {
        return std::nullopt;
      }
      entry.part = TrialPart::kValued;
      entry.constraints = ConstraintsOf(trial);
      entry.loss = AsLoss(objective, trial.values[0]);
      break;
    case TrialState::kPruned:
      entry.part = TrialPart::kValued;
      entry.constraints = ConstraintsOf(trial);
      entry.pruned = true;
      entry.loss = LastReport(trial, objective);
      break;
    case TrialState::kInfeasible:
    case TrialState::kFailed:
      entry.part = TrialPart::kFailed;
      entry.feasible = false;
      break;
    case TrialState::kCancelled:
      return std::nullopt;
  }
  if (!space.Check(trial.point).ok()) return std::nullopt;
  entry.point = trial.point;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const int cell = axes[d].CellOf(trial.point[d]);
    entry.cells.push_back(static_cast<std::uint8_t>(cell));
    if (axes[d].exact) entry.point[d] = axes[d].ValueOf(cell);
    // A module that is switched off and one that is frozen share a cell.
    if (IsAbsent(trial.point[d])) entry.point[d] = kAbsent;
  }
  return entry;
}

void TrialLedger::CatchUp(const History& history) {
  if (history.revision() < revision_) {
    revision_ = 0;
    trials_.clear();
  }
  trials_.resize(history.size());
  for (; revision_ < history.revision(); ++revision_) {
    const auto i = history.changes()[static_cast<std::size_t>(revision_)];
    trials_[i] = LedgerTrialOf(history.trials()[i], space_, axes_, objective_);
  }
}

std::vector<const LedgerTrial*> TrialLedger::List(std::int64_t own) const {
  std::vector<const LedgerTrial*> list;
  for (const std::optional<LedgerTrial>& trial : trials_) {
    if (trial.has_value() && trial->number != own) list.push_back(&*trial);
  }
  std::sort(list.begin(), list.end(),
            [](const LedgerTrial* a, const LedgerTrial* b) {
              return a->number < b->number;
            });
  return list;
}

}  // namespace frostline::sampler
