// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/prior_evidence.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/plain/statistics.h"

namespace frostline::sampler {
namespace {

// Kernels of an earlier study's other trials; more say no more.
constexpr std::size_t kRestKernels = 128;
constexpr std::size_t kGoodShare = 7, kMostGood = 25;

}  // namespace

PriorEvidence::PriorEvidence(const Space& space,
                             const std::vector<Objective>& objectives,
                             const std::vector<CellAxis>& axes,
                             KernelCache& kernels, const TpeOptions& options,
                             const PriorStudy& study)
    : objectives_(objectives), given_weight_(study.weight) {
  std::vector<std::optional<SplitKey>> keys;
  keys.reserve(study.trials.size());
  std::vector<KeyedTrial> trials;
  for (const Observation& trial : study.trials) {
    keys.push_back(SplitKeyOf(trial, objectives));
    const bool usable = keys.back().has_value() &&
                        keys.back()->group != SplitGroup::kRunning &&
                        space.Check(trial.point).ok();
    if (!usable) continue;
    const std::size_t i = keys.size() - 1;
    trials.push_back({trial.number, static_cast<std::uint32_t>(i), nullptr});
  }
  for (KeyedTrial& trial : trials) trial.key = &*keys[trial.index];
  // A study that is over is not searched any more: all of its better trials
  // say where to begin.
  const Split split = SplitTrials(
      trials, std::max(CountGood(trials.size()),
                       std::min(trials.size() / kGoodShare, kMostGood)));
  const auto cells_of = [&](std::uint32_t i) {
    std::vector<Cell> cells;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const double value = study.trials[i].point[a];
      cells.push_back(IsAbsent(value) ? kNoCell : axes[a].CellOf(value));
    }
    return cells;
  };
  for (const std::uint32_t i : split.below) good_.push_back(cells_of(i));
  const std::size_t stride = split.above.size() / kRestKernels + 1;
  for (std::size_t i = 0; i < split.above.size(); i += stride) {
    rest_.push_back(cells_of(split.above[i]));
  }
  if (empty()) return;
  std::vector<WeightedCells> good, rest;
  for (const std::vector<Cell>& cells : good_) good.push_back({cells, 1.0});
  for (const std::vector<Cell>& cells : rest_) rest.push_back({cells, 1.0});
  model_ =
      std::make_unique<TpeModel>(FitModel(axes, kernels, good, rest, options));
}

double PriorEvidence::Weight(const History& history, const CellTable& table) {
  if (given_weight_ > 0.0) return std::min(given_weight_, 1.0);
  if (judged_revision_ == history.revision()) return judged_;
  judged_revision_ = history.revision();
  std::vector<double> merits;
  std::vector<std::vector<double>> losses(objectives_.size());
  for (std::uint32_t i = 0; i < history.size() && merits.size() < kJudged;
       ++i) {
    const Observation& trial = history.trials()[i];
    if (table.use(i) != CellTable::Use::kResult ||
        trial.values.size() != objectives_.size()) {
      continue;
    }
    const CellRow cells(table.cells(i).begin(), table.cells(i).end());
    merits.push_back(model_->rest.LogRatio(cells) -
                     model_->good.LogRatio(cells));
    for (std::size_t m = 0; m < objectives_.size(); ++m) {
      losses[m].push_back(AsLoss(objectives_[m], trial.values[m]));
    }
  }
  const double n = static_cast<double>(merits.size());
  judged_ = kUnknownWeight;
  if (n < 4.0) return judged_;
  double rho = 0.0;
  for (const std::vector<double>& loss : losses) {
    rho += RankCorrelation(merits, loss) / static_cast<double>(losses.size());
  }
  judged_ = std::clamp(2.0 * (rho - 2.0 / std::sqrt(n)), 0.0, 1.0);
  return judged_;
}

void PriorEvidence::AddTo(double weight, std::vector<WeightedCells>& good,
                          std::vector<WeightedCells>& rest) const {
  if (weight <= 0.0) return;
  const double each = kGoodTrials / static_cast<double>(good_.size());
  for (const auto& cells : good_) {
    good.push_back({cells, weight * std::min(1.0, each)});
  }
  const double other = kOtherTrials / static_cast<double>(rest_.size());
  for (const auto& cells : rest_) {
    rest.push_back({cells, weight * std::min(1.0, other)});
  }
}

}  // namespace frostline::sampler
