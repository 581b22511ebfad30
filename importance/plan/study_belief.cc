// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/study_belief.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/statistics.h"
#include "base/rng.h"
#include "importance/measure/dataset.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/mixture/fanova_evaluator.h"
#include "importance/plan/study_plan.h"
#include "importance/report.h"

namespace frostline::importance {
namespace {

// Sets of scales that a search looks through.
constexpr std::size_t kSearchDraws = 6;
// The scale's end is never nearer than this. A plan is one point near the end,
// where the scale is steepest: on recorded tables a nearer end made opposite
// advice twice as frequent.
constexpr double kNearestEnd = 1.0;
constexpr std::uint64_t kDrawSeed = 14;
// More rows teach a surrogate nothing: it learns from a few hundred.
constexpr std::size_t kMostRows = 1000;

std::vector<ReportWarning> WarningsOf(const StudyBelief& belief) {
  const Selection& selection = belief.selection();
  std::vector<ReportWarning> warnings = FindWarnings(
      belief.space(), MakeDataset(MeasureSpace(belief.space()),
                                  selection.points, selection.losses));
  if (belief.survival().has_value()) {
    warnings.insert(warnings.begin(), {"DECIDES_SURVIVAL",
                                       belief.survival()->sentence,
                                       {belief.survival()->parameter}});
  }
  warnings.insert(warnings.end(), belief.warnings().begin(),
                  belief.warnings().end());
  for (ReportWarning& off : FindOffScaleWarnings(selection)) {
    warnings.push_back(std::move(off));
  }
  if (auto diverged = FindDiverged(selection, /*informs=*/true)) {
    warnings.push_back(*std::move(diverged));
  }
  const std::size_t left_out = belief.rows().left_out.size();
  if (left_out > 0) {
    warnings.push_back(
        {"PARAMETERS_LEFT_OUT",
         absl::StrCat(left_out, " of ", belief.space().size(),
                      " parameters are left out: the trials' values differ "
                      "least along them"),
         {}});
  }
  return warnings;
}

}  // namespace

double StudyBelief::WorthOf(double score) const {
  return -saturation_.Forward(AsLoss(objective_, score));
}

double StudyBelief::ScoreOf(double worth) const {
  return range_.Clamp(AsLoss(objective_, saturation_.Back(-worth)));
}

double StudyBelief::SeenScore(std::size_t trial) const {
  // AsLoss is its own inverse.
  return AsLoss(objective_, selection_.losses[trial]);
}

double StudyBelief::EvenScore(std::size_t trial) const {
  return Clamp(
      AsLoss(objective_, selection_.losses[trial] - luck_.of_run[trial]));
}

bool StudyBelief::IsShare() const {
  return range_.lo == 0.0 && range_.hi == 1.0;
}

void StudyBelief::Thin() {
  const std::size_t step = (trials() + kMostRows - 1) / kMostRows;
  learnt_ = (trials() + step - 1) / step;
  surrogate::Rows& rows = rows_.rows;
  trial_of_row_.resize(rows.size());
  std::iota(trial_of_row_.begin(), trial_of_row_.end(), std::size_t{0});
  if (step < 2) return;
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row < trials() && row % step != 0) continue;
    std::swap(rows.cells[next], rows.cells[row]);
    rows.values[next] = rows.values[row];
    trial_of_row_[next] = row;
    if (!rows.doubt.empty()) rows.doubt[next] = rows.doubt[row];
    ++next;
  }
  rows.cells.resize(next);
  rows.values.resize(next);
  trial_of_row_.resize(next);
  if (!rows.doubt.empty()) rows.doubt.resize(next);
}

std::size_t StudyBelief::BestTrial() const {
  const std::vector<double>& losses = selection_.losses;
  return static_cast<std::size_t>(
      std::min_element(losses.begin(), losses.end()) - losses.begin());
}

std::int64_t StudyBelief::NumberOf(std::size_t trial) const {
  return trial < trials() ? selection_.trials[trial]->number
                          : selection_.diverged[trial - trials()]->number;
}

PlanChoice StudyBelief::ChoiceOf(std::size_t trial) const {
  PlanChoice choice;
  choice.reserve(rows_.choices.size());
  for (const ParameterValues& parameter : rows_.choices) {
    choice.push_back(parameter.value_of_row[trial]);
  }
  return choice;
}

WorthDraws StudyBelief::Draw(const std::vector<PlanChoice>& points,
                             int draws) const {
  // Points of the same cells are drawn as one: rounding tells copies apart.
  std::vector<surrogate::Cells> cells;
  std::vector<std::size_t> place_of_point;
  place_of_point.reserve(points.size());
  for (const PlanChoice& point : points) {
    surrogate::Cells own = rows_.CellsOf(point);
    const auto found = std::find(cells.begin(), cells.end(), own);
    place_of_point.push_back(static_cast<std::size_t>(found - cells.begin()));
    if (found == cells.end()) cells.push_back(std::move(own));
  }
  WorthDraws drawn = surrogate_->Draw(cells, draws, kDrawSeed);
  if (cells.size() == points.size()) return drawn;
  WorthDraws all;
  all.reserve(drawn.size());
  for (const std::vector<double>& draw : drawn) {
    std::vector<double>& one = all.emplace_back();
    one.reserve(points.size());
    for (const std::size_t place : place_of_point) one.push_back(draw[place]);
  }
  return all;
}

void StudyBelief::FindRange() {
  std::vector<double> scores;
  scores.reserve(trials());
  for (std::size_t row = 0; row < trials(); ++row) {
    scores.push_back(SeenScore(row));
  }
  const RangeInForce in_force = EffectiveRange(objective_, scores);
  range_ = in_force.range;
  if (in_force.broken_by.has_value()) {
    const std::int64_t number = selection_.trials[*in_force.broken_by]->number;
    warnings_.push_back({"METRIC_OUT_OF_RANGE",
                         OutOfRangeSentence(objective_, in_force, number),
                         {}});
  }
}

void StudyBelief::FindSaturation(const std::stop_token& stop) {
  std::vector<double> losses;
  losses.reserve(trials());
  for (std::size_t row = 0; row < trials(); ++row) {
    losses.push_back(AsLoss(objective_, EvenScore(row)));
  }
  const StudyRows study = MakeStudyRows(*space_, selection_.points, losses, {});
  saturation_ = surrogate::FindSaturation(
      study.rows, {.bound = std::min(AsLoss(objective_, range_.lo),
                                     AsLoss(objective_, range_.hi)),
                   .nearest = kNearestEnd,
                   .stop = stop});
}

void StudyBelief::AddHopeless(std::vector<const Point*>& points,
                              std::vector<double>& worths,
                              std::vector<double>& doubt) const {
  const double worst = *std::min_element(worths.begin(), worths.end());
  const double hopeless = surrogate::DoubtOfHopeless(worths);
  for (const Observation* const trial : selection_.diverged) {
    doubt.resize(points.size(), 0.0);
    points.push_back(&trial->point);
    worths.push_back(worst);
    doubt.push_back(hopeless);
  }
}

absl::Status StudyBelief::FindAnyTold(const EvaluateOptions& options) {
  EvaluateOptions alone = options;
  alone.bootstraps = 0;
  alone.pairs = false;
  alone.subsets.clear();
  Selection even = selection_;
  TakeOff(luck_, even);
  ASSIGN_OR_RETURN(const Report levels, EvaluateLevels(*space_, even, alone));
  is_any_told_ =
      std::any_of(levels.parameters.begin(), levels.parameters.end(),
                  [](const auto& one) { return one.distinguishable; });
  return absl::OkStatus();
}

absl::StatusOr<StudyBelief> Believe(const Space& space,
                                    const std::vector<Objective>& objectives,
                                    const History& history,
                                    const EvaluateOptions& options) {
  RETURN_IF_ERROR(CheckTopQuantile(options.top_quantile));
  StudyBelief belief;
  belief.space_ = &space;
  ASSIGN_OR_RETURN(belief.selection_,
                   SelectTrials(space, objectives, history, options));
  belief.objective_ = *belief.selection_.target;
  belief.luck_ = FindSharedLuck(belief.selection_);
  belief.survival_ = FindSurvivalSplit(space, belief.selection_);
  RETURN_IF_ERROR(belief.FindAnyTold(options));
  belief.FindRange();
  belief.FindSaturation(options.stop);
  RETURN_IF_ERROR(CheckStop(options.stop));
  std::vector<double> worths;
  worths.reserve(belief.trials());
  for (std::size_t row = 0; row < belief.trials(); ++row) {
    worths.push_back(belief.WorthOf(belief.EvenScore(row)));
  }
  std::vector<const Point*> points = belief.selection_.points;
  std::vector<double> doubt;
  belief.AddHopeless(points, worths, doubt);
  belief.rows_ =
      MakeStudyRows(space, points, std::move(worths), std::move(doubt));
  belief.Thin();
  belief.surrogate_ = std::make_unique<surrogate::Surrogate>(
      belief.rows_.rows,
      surrogate::SurrogateOptions{
          .seed = options.seed,
          .stop = options.stop,
          .for_each = [&options](std::size_t count, const auto& body) {
            ParallelFor(options.threads, count, body, options.stop);
          }});
  RETURN_IF_ERROR(CheckStop(options.stop));
  belief.walk_ =
      std::make_unique<surrogate::AxisWalk>(*belief.surrogate_, kSearchDraws);
  belief.warnings_ = WarningsOf(belief);
  return belief;
}

namespace {

// The rounding of a worth: equal points are equally good despite it.
constexpr double kWorthRounding = 1e-6;

bool IsSame(double a, double b) {
  return std::abs(a - b) <= kWorthRounding * (std::abs(a) + std::abs(b));
}

}  // namespace

double MeanOf(const WorthDraws& draws, std::size_t point) {
  double sum = 0.0;
  for (const std::vector<double>& draw : draws) sum += draw[point];
  return sum / static_cast<double>(draws.size());
}

double DeviationOf(const WorthDraws& draws, std::size_t point) {
  const double mean = MeanOf(draws, point);
  double sum = 0.0;
  for (const std::vector<double>& draw : draws) {
    sum += (draw[point] - mean) * (draw[point] - mean);
  }
  return std::sqrt(sum / static_cast<double>(draws.size()));
}

double ChanceOf(const WorthDraws& draws, std::size_t point, std::size_t other) {
  std::size_t count = 0;
  for (const std::vector<double>& draw : draws) {
    const bool is_as_good =
        draw[point] >= draw[other] || IsSame(draw[point], draw[other]);
    count += is_as_good ? 1 : 0;
  }
  return static_cast<double>(count) / static_cast<double>(draws.size());
}

std::vector<double> LossesOf(const StudyBelief& belief, const WorthDraws& draws,
                             std::size_t from, std::size_t to) {
  std::vector<double> losses;
  losses.reserve(draws.size());
  for (const std::vector<double>& draw : draws) {
    if (IsSame(draw[from], draw[to])) {
      losses.push_back(0.0);
      continue;
    }
    losses.push_back(AsLoss(belief.objective(), belief.ScoreOf(draw[to])) -
                     AsLoss(belief.objective(), belief.ScoreOf(draw[from])));
  }
  return losses;
}

double ShareWithin(const std::vector<double>& losses, double tolerance) {
  const auto count =
      std::count_if(losses.begin(), losses.end(),
                    [tolerance](double loss) { return loss <= tolerance; });
  return static_cast<double>(count) / static_cast<double>(losses.size());
}

double ChanceOfLoss(const StudyBelief& belief, const WorthDraws& draws,
                    std::size_t from, std::size_t to, double tolerance) {
  return ShareWithin(LossesOf(belief, draws, from, to), tolerance);
}

Interval QuantilesOf(std::vector<double> draws) {
  std::sort(draws.begin(), draws.end());
  const auto at = [&draws](double q) { return QuantileOfSorted(draws, q); };
  return {at(0.5), at(0.1), at(0.9), at(0.025), at(0.975)};
}

std::vector<SeenModule> SeenModules(const StudyBelief& belief) {
  std::vector<SeenModule> seen(belief.space().modules().size());
  for (const Point* const point : belief.selection().points) {
    for (std::size_t m = 0; m < seen.size(); ++m) {
      (belief.space().IsFrozen(m, *point) ? seen[m].frozen : seen[m].trained) =
          true;
    }
  }
  return seen;
}

namespace {

// Measured on histories of recorded tables (docs/measured/tables.md): .3 to 1.0
// with 36 to 200 trials.
constexpr double kUsualPart = 0.7;
constexpr double kUsualPartError = 0.3;

double MeanOfWorths(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

}  // namespace

// Ridge regression towards the usual part: the posterior of a slope.
Reach FindReach(const std::vector<double>& predicted,
                const std::vector<double>& seen) {
  Reach reach;
  reach.usual = MeanOfWorths(predicted);
  reach.furthest = *std::max_element(predicted.begin(), predicted.end());
  const double middle = MeanOfWorths(seen);
  double across = 0.0;
  double both = 0.0;
  double up = 0.0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double x = predicted[i] - reach.usual;
    const double y = seen[i] - middle;
    across += x * x;
    both += x * y;
    up += y * y;
  }
  const double prior = 1.0 / (kUsualPartError * kUsualPartError);
  double told = 0.0;  // how precisely the trials tell the slope
  if (across > 0.0 && predicted.size() > 2) {
    const double off = std::max(up - both * both / across, 0.0);
    const double freedom = static_cast<double>(predicted.size() - 2);
    told = across / std::max(off / freedom, 1e-12);
    reach.part = both / across;
  }
  reach.part = (told * reach.part + prior * kUsualPart) / (told + prior);
  reach.part_error = 1.0 / std::sqrt(told + prior);
  return reach;
}

double Reached(const Reach& reach, double predicted, double part) {
  if (predicted <= reach.usual) return predicted;
  const double seen = std::min(predicted, reach.furthest) - reach.usual;
  const double beyond = std::max(predicted - reach.furthest, 0.0);
  return reach.usual + part * seen + part * part * beyond;
}

namespace {

constexpr int kPredictionDraws = 600;
constexpr double kBestShare = 0.25;  // of the trials, by what was predicted
constexpr std::size_t kFewestBest = 6;
// Trials that believe in no optimism, beside those that were seen.
constexpr double kSober = 6.0;
constexpr double kMostLift = 1.6;
// Measured on points picked on recorded tables (docs/measured/tables.md): .6 to
// 1.4 with any sampler. The best of trials is partly luck, and scales are
// learnt from the same trials.
constexpr double kUsualLift = 0.65;
constexpr double kMostWiden = 2.0;
constexpr double kLeastPredicted = 0.1;
constexpr std::uint64_t kMeanSeed = 40;
constexpr std::uint64_t kRunSeed = 41;
constexpr std::uint64_t kPartSeed = 42;
constexpr double kMostPart = 1.1;
constexpr int kRunsOfDraw = 4;

std::vector<double> PartsByDraw(const Optimism& optimism, std::size_t draws) {
  const Reach& reach = optimism.reach;
  Rng rng(kPartSeed);
  std::vector<double> parts(draws);
  for (double& part : parts) {
    part = std::clamp(reach.part + reach.part_error * rng.Normal(), 0.0,
                      kMostPart);
  }
  return parts;
}

// Calls `worth` with the point's sober mean, how far its draw is off that mean,
// and which part of what is beyond the usual is real. Each draw has one such
// part for all points.
template <typename Worth>
std::vector<double> ByDraw(const WorthDraws& draws, std::size_t point,
                           const Optimism& optimism, const Worth& worth) {
  const double mean = MeanOf(draws, point);
  const double sober = mean - optimism.lift * DeviationOf(draws, point);
  const std::vector<double> parts = PartsByDraw(optimism, draws.size());
  std::vector<double> worths;
  worths.reserve(draws.size());
  for (std::size_t k = 0; k < draws.size(); ++k) {
    worths.push_back(
        worth(sober, optimism.widen * (draws[k][point] - mean), parts[k]));
  }
  return worths;
}

std::vector<std::size_t> BestPredicted(
    const std::vector<surrogate::Belief>& left, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&left](std::size_t a, std::size_t b) {
                     return left[a].mean > left[b].mean;
                   });
  const auto share =
      static_cast<std::size_t>(kBestShare * static_cast<double>(count));
  order.resize(std::min(count, std::max(kFewestBest, share)));
  return order;
}

// The deviation of the mean of so many runs of a worth.
double NoiseOfMean(const StudyBelief& belief, const Optimism& optimism,
                   double worth, double runs) {
  return optimism.widen * std::sqrt(belief.surrogate().noise_variance() *
                                    NoiseFactor(optimism.noise, worth) / runs);
}

// A score with the luck of `runs` new seeds.
double WithLuck(const StudyBelief& belief, double score, double runs,
                Rng& rng) {
  return belief.Clamp(score + DrawLuck(belief.luck(), runs, rng));
}

constexpr double kSlopeDeviation = 0.5;  // before a trial
constexpr double kSteepest = 2.0;
constexpr double kSlopeStep = 0.02;
constexpr double kTailFreedom = 8.0;  // single runs that diverged tell nothing

double MeanFactor(double slope, const std::vector<double>& z) {
  double sum = 0.0;
  for (const double one : z) sum += std::exp(slope * one);
  return sum / static_cast<double>(z.size());
}

// What is not known of the function is no noise: it stays as it is.
double LogLikelihood(double slope, const std::vector<double>& z,
                     const std::vector<surrogate::Belief>& left_out,
                     const std::vector<double>& seen, double noise) {
  const double usual = MeanFactor(slope, z);
  double sum = -0.5 * slope * slope / (kSlopeDeviation * kSlopeDeviation);
  for (std::size_t k = 0; k < z.size(); ++k) {
    const double variance = std::max(left_out[k].variance - noise, 0.0) +
                            noise * std::exp(slope * z[k]) / usual;
    const double off = seen[k] - left_out[k].mean;
    sum -= 0.5 * std::log(variance) +
           0.5 * (kTailFreedom + 1.0) *
               std::log1p(off * off / variance / (kTailFreedom - 2.0));
  }
  return sum;
}

}  // namespace

NoiseTrend FindNoiseTrend(const std::vector<surrogate::Belief>& left_out,
                          const std::vector<double>& seen,
                          double noise_variance) {
  NoiseTrend trend;
  std::vector<double> z;
  z.reserve(left_out.size());
  for (const surrogate::Belief& one : left_out) z.push_back(one.mean);
  if (z.size() < 2 || noise_variance <= 0.0) return trend;
  trend.centre = MeanOfWorths(z);
  double square = 0.0;
  for (double& one : z) {
    one -= trend.centre;
    square += one * one;
  }
  trend.spread = std::sqrt(square / static_cast<double>(z.size()));
  if (trend.spread <= 0.0) return {};
  for (double& one : z) one /= trend.spread;
  double best = -std::numeric_limits<double>::infinity();
  for (double slope = -kSteepest; slope <= kSteepest; slope += kSlopeStep) {
    const double likely =
        LogLikelihood(slope, z, left_out, seen, noise_variance);
    if (likely <= best) continue;
    best = likely;
    trend.slope = slope;
  }
  const auto [least, most] = std::minmax_element(z.begin(), z.end());
  trend.least = *least;
  trend.most = *most;
  trend.usual = MeanFactor(trend.slope, z);
  return trend;
}

double NoiseFactor(const NoiseTrend& trend, double worth) {
  const double z = (worth - trend.centre) / trend.spread;
  return std::exp(trend.slope * std::clamp(z, trend.least, trend.most)) /
         trend.usual;
}

Optimism FindOptimism(const StudyBelief& belief,
                      const std::vector<surrogate::Belief>& left) {
  const std::vector<double>& seen = belief.rows().rows.values;
  const std::vector<std::size_t> best = BestPredicted(left, belief.learnt());
  const double noise = belief.surrogate().noise_variance();
  double lift = 0.0;
  double square = 0.0;
  std::vector<double> predicted_best;
  std::vector<double> seen_best;
  for (const std::size_t row : best) {
    predicted_best.push_back(left[row].mean);
    seen_best.push_back(seen[row]);
    const double variance = std::max(left[row].variance, 1e-300);
    const double off = std::clamp(
        (left[row].mean - seen[row]) / std::sqrt(variance), -3.0, 3.0);
    // As a part of what is not known of the function, its noise left out.
    const double known = std::max(1.0 - noise / variance, kLeastPredicted);
    lift += off / std::sqrt(known);
    square += off * off;
  }
  const double n = static_cast<double>(best.size());
  Optimism optimism;
  optimism.reach = FindReach(predicted_best, seen_best);
  optimism.lift = std::clamp(kUsualLift + lift / (n + kSober), 0.0, kMostLift);
  optimism.widen =
      std::clamp(std::sqrt((square + kSober) / (n + kSober)), 1.0, kMostWiden);
  optimism.noise = FindNoiseTrend(left, seen, noise);
  return optimism;
}

std::vector<double> WithoutOptimism(const WorthDraws& draws, std::size_t point,
                                    const Optimism& optimism) {
  return ByDraw(draws, point, optimism,
                [&](double sober, double off, double part) {
                  return Reached(optimism.reach, sober, part) + off;
                });
}

std::vector<double> InContest(const WorthDraws& draws, std::size_t point,
                              const Optimism& optimism) {
  return ByDraw(draws, point, optimism,
                [&](double sober, double off, double part) {
                  return Reached(optimism.reach, sober + off, part);
                });
}

void FlattenBeside(std::size_t point, const Optimism& optimism,
                   WorthDraws& draws) {
  const double lifted = optimism.lift * DeviationOf(draws, point);
  const std::vector<double> parts = PartsByDraw(optimism, draws.size());
  for (std::size_t k = 0; k < draws.size(); ++k) {
    for (double& worth : draws[k]) {
      worth = Reached(optimism.reach, worth - lifted, parts[k]);
    }
  }
}

WorthDraws DrawBesideBest(const StudyBelief& belief, const PlanChoice& choice) {
  return belief.Draw({choice, belief.ChoiceOf(belief.BestTrial())},
                     kPredictionDraws);
}

Interval PredictMean(const StudyBelief& belief,
                     const std::vector<double>& worths,
                     const Optimism& optimism) {
  Rng rng(kMeanSeed);
  std::vector<double> scores;
  scores.reserve(worths.size());
  for (const double worth : worths) {
    const double noise = NoiseOfMean(belief, optimism, worth, kSeedsOfMean);
    const double score = belief.ScoreOf(worth + noise * rng.Normal());
    scores.push_back(WithLuck(belief, score, kSeedsOfMean, rng));
  }
  return QuantilesOf(std::move(scores));
}

Interval PredictRun(const StudyBelief& belief,
                    const std::vector<double>& worths,
                    const Optimism& optimism) {
  Rng rng(kRunSeed);
  std::vector<double> scores;
  for (const double worth : worths) {
    const double noise = NoiseOfMean(belief, optimism, worth, 1.0);
    for (int run = 0; run < kRunsOfDraw; ++run) {
      const double score = belief.ScoreOf(worth + noise * rng.Normal());
      scores.push_back(WithLuck(belief, score, 1.0, rng));
    }
  }
  return QuantilesOf(std::move(scores));
}

double UnnoticedLoss(const StudyBelief& belief, double worth,
                     const Optimism& optimism, std::int64_t evaluation_rows) {
  const double noise =
      optimism.widen * std::sqrt(belief.surrogate().noise_variance());
  const double score = belief.ScoreOf(worth);
  const double run = std::abs(score - belief.ScoreOf(worth - noise));
  if (evaluation_rows == 0 || !belief.IsShare()) return run;
  const double rows = static_cast<double>(evaluation_rows);
  return std::max(run, std::sqrt(score * (1.0 - score) / rows));
}

}  // namespace frostline::importance
