// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/beliefs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/plain/statistics.h"
#include "sampler/draw/random.h"
#include "sampler/gp/levels.h"

namespace frostline::sampler {
namespace {

// ln(φ(u) + u Φ(u)).
double LogGain(double u) {
  const double log_density = -u * u / 2.0 - kLogSqrtTwoPi;
  if (u > -1.0) {
    const double below = 0.5 * std::erfc(-u / std::sqrt(2.0));
    return std::log(std::exp(log_density) + u * below);
  }
  // φ(u) / u² with the next term of the series, where the sum would cancel.
  if (u < -1e3) return log_density - 2.0 * std::log(-u) - 3.0 / (u * u);
  return log_density + std::log1p(u * std::exp(LogNormalCdf(u) - log_density));
}

}  // namespace

double LogExpectedImprovement(double mean, double deviation, double best) {
  return std::log(deviation) + LogGain((best - mean) / deviation);
}

namespace {

// How much of the noise counts as a chance to improve. With none of it the
// search goes where it knows least, with all of it where it believes best.
constexpr double kNoiseShare = 0.5;

// The width of the step, at a half, from "will do" to "will fail". A regression
// on 0 and 1 is no probability. Failures by chance stay well below the step.
constexpr double kFailureSlack = 0.1;
// A point more likely to fail than this is proposed only if nothing else is
// left, however little the others improve.
constexpr double kHopeless = 0.75;

}  // namespace

double ScoreOf(const SearchGoal& goal, const PointBeliefs& beliefs) {
  double score = 0.0;
  if (goal.has_best) {
    // What will be seen is noisy, as what it has to beat was.
    const double noise = kNoiseShare * goal.loss->kernel().noise;
    const double deviation =
        std::sqrt(std::max(beliefs.loss.variance, 1e-12) + noise);
    score = LogExpectedImprovement(beliefs.loss.mean, deviation, goal.best);
  }
  for (std::size_t c = 0; c < goal.constraints.size(); ++c) {
    const ConstraintGoal& constraint = goal.constraints[c];
    const surrogate::Belief& value = beliefs.constraints[c];
    const double variance =
        std::max(value.variance, 1e-12) + constraint.value->kernel().noise;
    score +=
        LogNormalCdf((constraint.bound - value.mean) / std::sqrt(variance));
  }
  if (goal.failure != nullptr) {
    const double chance =
        goal.failure_rate + goal.failure_deviation * beliefs.failure.mean;
    score += LogNormalCdf((0.5 - chance) / kFailureSlack);
    if (chance > kHopeless) score -= 1e6 * (chance - kHopeless);
  }
  return score;
}

namespace {

// In deviations from the median: beyond it a trial is just very good or bad.
constexpr double kFurthestBelow = 6.0;
constexpr double kFurthestAbove = 100.0;

// So that the difference of two losses cannot overflow.
constexpr double kScale = 0.25;

void Standardise(std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double square = 0.0;
  for (double& value : values) {
    value -= mean;
    square += value * value;
  }
  const double deviation = std::sqrt(square / n);
  for (double& value : values) {
    value = deviation > 1e-12 ? value / deviation : 0.0;
  }
}

// The least scale, in medians of all distances. Without it a trial on the bound
// would make all others equally far.
constexpr double kLeastScale = 0.01;

double MedianOr(double otherwise, const std::vector<double>& values) {
  return values.empty() ? otherwise : Quantile(values, 0.5);
}

double ConstraintScaleOf(const std::vector<double>& values) {
  std::vector<double> kept, broken, all;
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0.0) continue;
    const double distance = std::abs(value);
    (value > 0.0 ? broken : kept).push_back(distance);
    all.push_back(distance);
  }
  if (all.empty()) return 1.0;
  const double median = Quantile(all, 0.5);
  const double nearer =
      std::min(MedianOr(median, kept), MedianOr(median, broken));
  return std::max(nearer, kLeastScale * median);
}

}  // namespace

std::vector<double> TargetsOf(const std::vector<double>& losses) {
  std::vector<double> sorted;
  for (const double loss : losses) {
    if (std::isfinite(loss)) sorted.push_back(loss * kScale);
  }
  if (sorted.empty()) return std::vector<double>(losses.size(), 0.0);
  std::sort(sorted.begin(), sorted.end());
  const double median = QuantileOfSorted(sorted, 0.5);
  const double upper = QuantileOfSorted(sorted, 0.75);
  // One deviation, were the losses normal, by the better half and, where that
  // is all of a piece, by the upper quarter.
  const double spread = std::max(
      {(median - QuantileOfSorted(sorted, 0.1)) / 1.28,
       0.25 * (upper - median) / 0.674, 1e-12 * std::abs(median), 1e-300});
  std::vector<double> targets;
  for (const double loss : losses) {
    const double scaled = std::isfinite(loss) ? loss * kScale : upper;
    const double distance =
        std::clamp((scaled - median) / spread, -kFurthestBelow, kFurthestAbove);
    targets.push_back(distance > 0.0 ? std::log1p(distance) : distance);
  }
  Standardise(targets);
  return targets;
}

ConstraintTargets ConstraintTargetsOf(const std::vector<double>& values) {
  constexpr double kMost = 1e300;  // so that twice as much is finite
  const double scale = ConstraintScaleOf(values);
  double furthest_kept = 1.0, furthest_broken = 1.0;
  std::vector<double> targets;
  for (const double value : values) {
    targets.push_back(value);
    if (!std::isfinite(value)) continue;
    targets.back() = std::clamp(value / scale, -kMost, kMost);
    furthest_kept = std::max(furthest_kept, -targets.back());
    furthest_broken = std::max(furthest_broken, targets.back());
  }
  for (double& target : targets) {
    target = std::asinh(
        std::clamp(target, -2.0 * furthest_kept, 2.0 * furthest_broken));
  }
  targets.push_back(0.0);  // the bound goes the way of the values
  Standardise(targets);
  ConstraintTargets constraint;
  constraint.bound = targets.back();
  targets.pop_back();
  constraint.targets = std::move(targets);
  return constraint;
}

namespace {

constexpr std::size_t kMostLearntFrom = 200;
// What is usual in a search. Its trials are near the best, where effects add up
// and noise is small beside what the targets (beliefs.h) leave of the others.
constexpr surrogate::Usual kOfSearches{.noise = 0.05,
                                       .length = 2.0,
                                       .length_deviation = 1.0,
                                       .main = 0.7,
                                       .main_deviation = 1.0,
                                       .joint = 0.5};

}  // namespace

std::size_t LastRefresh(std::size_t trials) {
  std::size_t at = std::min<std::size_t>(trials, 1);
  for (std::size_t next = at; next <= trials;) {
    at = next;
    next = at + std::max<std::size_t>(2, at / 8);
  }
  return at;
}

bool LearntModel::Update(TargetedRows sample, TargetedRows all,
                         const std::stop_token& stop) {
  const bool same = sample.rows == learnt_from_.rows &&
                    sample.targets == learnt_from_.targets;
  if (!same) {
    surrogate::Rows rows;
    rows.axes = axes_;
    for (std::size_t row = 0; row < sample.rows.size(); ++row) {
      rows.cells.push_back(sample.rows.At(row));
    }
    rows.values = sample.targets;
    rows.doubt = sample.rows.doubt;
    const bool learnt = posterior_.Learn(
        std::move(rows),
        {.most_rows = kMostLearntFrom, .usual = kOfSearches, .stop = stop});
    if (!learnt) return false;
    learnt_from_ = std::move(sample);
  }
  return posterior_.Condition(std::move(all.rows), all.targets, stop);
}

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

// Returns the noise to add to another study's trial. One that varies with this
// study's by `weight` tells as much as one of this study with that noise.
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
