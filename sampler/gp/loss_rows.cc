// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/loss_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sampler/gp/targets.h"

namespace frostline {
namespace {

// Every earlier trial costs as much time as one of this study.
constexpr std::size_t kMostPriorRows = 300;
constexpr std::size_t kMostPriorStudies = 20;
// The loss of an early step says less than that of the last one.
constexpr double kDoubtOfPruned = 0.25;

void AppendRows(const LedgerList& valued, std::uint8_t study,
                TargetedRows& to) {
  std::vector<double> losses;
  for (const LedgerTrial* trial : valued) {
    to.rows.Append(trial->cells, study, trial->pruned ? kDoubtOfPruned : 0.0);
    losses.push_back(trial->loss);
  }
  const std::vector<double> targets = TargetsOf(losses);
  to.targets.insert(to.targets.end(), targets.begin(), targets.end());
}

// Evenly thinned to at most `most`.
LedgerList Thin(const LedgerList& trials, std::size_t most) {
  if (trials.size() <= most) return trials;
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < most; ++i) at.push_back(i * trials.size() / most);
  return Pick(trials, at);
}

}  // namespace

LedgerList Pick(const LedgerList& trials, const std::vector<std::size_t>& at) {
  LedgerList picked;
  for (const std::size_t i : at) picked.push_back(trials[i]);
  return picked;
}

PriorRows::PriorRows(const std::vector<PriorStudy>& studies, const Space& space,
                     const std::vector<LevelAxis>& axes,
                     const Objective& objective) {
  const std::size_t count = std::min(studies.size(), kMostPriorStudies);
  double weights = 0.0, weighted = 0.0;
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
    AppendRows(Thin(list, kMostPriorRows / count),
               static_cast<std::uint8_t>(s + 1), rows_);
    if (studies[s].weight > 0.0) {
      weights += studies[s].weight;
      weighted += 1.0;
    }
  }
  if (weighted > 0.0) weight_ = weights / weighted;
}

KernelPrior PriorRows::Prior(std::size_t axes) const {
  KernelPrior prior = UsualKernel(axes);
  if (rows_.targets.empty()) prior.deviation[kStudyTie] = 0.0;
  if (weight_ > 0.0) {
    const double tie = std::clamp(weight_, 0.01, 0.99);
    prior.mean[kStudyTie] = std::log(tie / (1.0 - tie));
    prior.deviation[kStudyTie] = 0.5;
  }
  return prior;
}

TargetedRows LossRows(const PriorRows& earlier, const LedgerList& valued) {
  TargetedRows rows = earlier.rows();
  AppendRows(valued, 0, rows);
  return rows;
}

FailureRows FailureRowsOf(const LedgerList& ended) {
  FailureRows failures;
  std::vector<double>& targets = failures.rows.targets;
  double count = 0.0;
  for (const LedgerTrial* trial : ended) {
    failures.rows.rows.Append(trial->cells, 0, 0.0);
    targets.push_back(trial->feasible ? 0.0 : 1.0);
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

}  // namespace frostline
