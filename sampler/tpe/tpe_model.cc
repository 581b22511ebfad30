// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/tpe_model.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/plain/statistics.h"
#include "sampler/draw/random.h"
#include "sampler/tpe/cells.h"

namespace frostline::sampler {
namespace {

// "off", "avoid" or "replicate:n".
std::optional<std::size_t> ReadTries(const std::string& text) {
  if (text == "off") return 0;
  if (text == "avoid") return 1;
  const std::string prefix = "replicate:";
  if (text.rfind(prefix, 0) != 0) return std::nullopt;
  std::size_t tries = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data() + prefix.size(), end, tries);
  if (error != std::errc() || stop != end || tries < 1 || tries > 1'000) {
    return std::nullopt;
  }
  return tries;
}

}  // namespace

absl::StatusOr<TpeOptions> ReadTpeOptions(const SamplerInput& input) {
  Options options = input.options;
  TpeOptions tpe;
  if (const auto dedup = options.find("dedup"); dedup != options.end()) {
    const auto tries = ReadTries(dedup->second);
    if (!tries.has_value()) {
      return MakeError(ErrorId::kSamplerInvalid,
                       "sampler tpe: dedup is \"" + dedup->second + "\"",
                       "use off, avoid or replicate:n with n in 1 … 1000",
                       "sampler.options.dedup");
    }
    tpe.tries = *tries;
    options.erase(dedup);
  }
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler tpe",
                      "sampler.options", options);
  tpe.startup_trials =
      static_cast<std::size_t>(reader.Int("startup_trials", 10, 0, 1'000'000));
  tpe.spread_startup =
      reader.OneOf("startup", "spread", {"spread", "random"}) == "spread";
  tpe.candidates =
      static_cast<std::size_t>(reader.Int("candidates", 32, 1, 10'000));
  tpe.improve = static_cast<int>(reader.Int("improve", 1, 0, 100));
  tpe.multivariate = reader.Bool("multivariate", input.objectives.size() == 1);
  tpe.ordinal = reader.Bool("ordinal", true);
  tpe.learn_frozen = reader.OneOf("frozen_distance", "learnt",
                                  {"learnt", "level"}) == "learnt";
  tpe.rank_weights = reader.Bool("rank_weights", true);
  tpe.constant_liar = reader.Bool("constant_liar", true);
  tpe.avoid_failures =
      reader.OneOf("failures", "avoid", {"avoid", "ignore"}) == "avoid";
  tpe.cost_aware = reader.Bool("cost_aware", false);
  tpe.warm_start = reader.Bool("warm_start", true);
  tpe.frozen_share = reader.Number("frozen_share", kFrozenShare, 0.0, 1.0);
  tpe.kernels = static_cast<std::size_t>(
      reader.Int("kernels", 256, 1, TrialShortlist::kSample));
  RETURN_IF_ERROR(reader.Finish());
  return tpe;
}

namespace {

// The variance of a uniform variable, in squared boxes.
constexpr double kUniformVariance = 1.0 / 12.0;
// Widths of good kernels are in spreads, those of bad ones in boxes.
constexpr double kGoodWidth = 0.8;
constexpr double kRestWidth = 0.1;
constexpr double kLeastSteps = 0.4;
constexpr double kLeastShare = 0.01;
constexpr std::array kFrozenSteps = {0.5, 1.0, 2.0, 4.0, 8.0};

double LeastWidth(const CellAxis& axis) {
  return axis.exact() ? kLeastSteps * axis.step() : kLeastShare;
}

// Adds the likelihood of the axis' trials, each predicted from the others and
// the prior. `all` trials lie on the axis, `count` of them in each cell.
void AddLogLikelihood(CellKernel& kernel, const std::vector<double>& count,
                      double all, double& log_likelihood) {
  for (std::size_t x = 0; x < count.size(); ++x) {
    if (count[x] == 0.0) continue;
    const CellKernel::Row& row = kernel.RowOf(static_cast<Cell>(x));
    double others = -row.ratio[x];
    for (std::size_t c = 0; c < count.size(); ++c) {
      others += count[c] * row.ratio[c];
    }
    const double density = std::max(0.0, others) * std::exp(row.log_scale);
    log_likelihood += count[x] * std::log((density + 1.0) / all);
  }
}

}  // namespace

// The spread of the good trials' values counts them and one uniform draw.
double GoodWidth(const CellAxis& axis, std::size_t index,
                 const std::vector<WeightedCells>& good) {
  double sum = 0.0, mean = 0.0, square = 0.0, count = 0.0;
  for (const WeightedCells& trial : good) {
    const Cell cell = trial.cells[index];
    if (cell == kNoCell || (axis.frozen() && !axis.exact() && cell == 0)) {
      continue;
    }
    const double place = axis.place(cell);
    sum += trial.weight;
    mean += trial.weight * place;
    square += trial.weight * place * place;
    count += 1.0;
  }
  double variance = kUniformVariance;
  if (count > 0.0) {
    mean /= sum;
    variance += count * std::max(0.0, square / sum - mean * mean);
  }
  const double spread = std::sqrt(variance / (count + 1.0));
  const double width =
      kGoodWidth * spread * std::pow(std::max(1.0, count), -0.2);
  return std::max(width, LeastWidth(axis));
}

double RestWidth(const CellAxis& axis) {
  return std::max(kRestWidth, LeastWidth(axis));
}

double LearnFrozenSteps(const std::vector<CellAxis>& axes, KernelCache& kernels,
                        const std::vector<WeightedCells>& good,
                        const std::vector<double>& widths) {
  std::array<double, kFrozenSteps.size()> log_likelihood{};
  std::vector<double> count;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (!axes[a].frozen()) continue;
    double all = 0.0;
    count.assign(axes[a].cells(), 0.0);
    for (const WeightedCells& trial : good) {
      if (trial.cells[a] == kNoCell) continue;
      count[trial.cells[a]] += 1.0;
      all += 1.0;
    }
    // Nothing was near: nothing to learn.
    if (count[0] == 0.0 && count[1] == 0.0) continue;
    for (std::size_t s = 0; s < kFrozenSteps.size(); ++s) {
      AddLogLikelihood(kernels.Get(a, widths[a], kFrozenSteps[s]), count, all,
                       log_likelihood[s]);
    }
  }
  std::size_t best = 0;
  for (std::size_t s = 0; s < kFrozenSteps.size(); ++s) {
    log_likelihood[s] -= 0.5 * std::abs(std::log2(kFrozenSteps[s] / 2.0));
    if (log_likelihood[s] > log_likelihood[best]) best = s;
  }
  return kFrozenSteps[best];
}

namespace {

// How many trials the priors count as, and which share of each density takes
// the parameters one by one.
constexpr CellDensity::Settings kGoodSettings = {.prior_weight = 0.5,
                                                 .separate_share = 0.5};
constexpr CellDensity::Settings kRestSettings = {.prior_weight = 0.5,
                                                 .separate_share = 0.35};
// Failures say nothing where there are none.
constexpr CellDensity::Settings kFailedSettings = {.prior_weight = 0.1,
                                                   .separate_share = 0.35};
constexpr double kLeastChance = 0.02;
constexpr double kGoodRoots = 0.4;  // good trials by the root of all
constexpr std::size_t kLeastGood = 2, kMostGood = 25;

}  // namespace

std::size_t CountGood(std::size_t n) {
  const double root = kGoodRoots * std::sqrt(static_cast<double>(n));
  return std::min(n, std::clamp(static_cast<std::size_t>(std::ceil(root)),
                                kLeastGood, kMostGood));
}

double LogChanceOfSuccess(const TpeModel& model, double log_good,
                          double log_rest, double log_failed) {
  const double failed = model.failed.mass() * std::exp(log_failed - log_rest);
  const double all =
      model.rest.mass() + model.good.mass() * std::exp(log_good - log_rest);
  return std::log(std::max(kLeastChance, 1.0 - failed / all));
}

std::vector<double> RankWeights(std::size_t m) {
  std::vector<double> weights;
  double sum = 0.0;
  for (std::size_t i = 0; i < m; ++i) {
    weights.push_back(std::log(static_cast<double>(m) + 0.5) -
                      std::log(static_cast<double>(i) + 1.0));
    sum += weights.back();
  }
  for (double& weight : weights) weight *= static_cast<double>(m) / sum;
  return weights;
}

TpeModel FitModel(const std::vector<CellAxis>& axes, KernelCache& kernels,
                  const std::vector<WeightedCells>& good,
                  const std::vector<WeightedCells>& rest,
                  const TpeOptions& options) {
  std::vector<double> widths;
  bool frozen = false;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    widths.push_back(GoodWidth(axes[a], a, good));
    frozen = frozen || axes[a].frozen();
  }
  const double steps = options.learn_frozen && frozen
                           ? LearnFrozenSteps(axes, kernels, good, widths)
                           : 1.0;
  std::vector<CellKernel*> near, wide;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    near.push_back(&kernels.Get(a, widths[a], steps));
    wide.push_back(&kernels.Get(a, RestWidth(axes[a]), steps));
  }
  CellDensity::Settings good_settings = kGoodSettings;
  CellDensity::Settings rest_settings = kRestSettings;
  CellDensity::Settings failed_settings = kFailedSettings;
  if (!options.multivariate) {
    good_settings.separate_share = rest_settings.separate_share =
        failed_settings.separate_share = 1.0;
  }
  TpeModel model{CellDensity(axes, near, good_settings),
                 CellDensity(axes, wide, rest_settings),
                 CellDensity(axes, wide, failed_settings)};
  model.good.Reserve(good.size());
  model.rest.Reserve(rest.size());
  for (const WeightedCells& trial : good) {
    model.good.Add(trial.cells, trial.weight);
  }
  for (const WeightedCells& trial : rest) {
    model.rest.Add(trial.cells, trial.weight);
    if (trial.failed) model.failed.Add(trial.cells, trial.weight);
  }
  model.good.Finish();
  model.rest.Finish();
  model.failed.Finish();
  return model;
}

namespace {

// Kernels of an earlier study's other trials; more say no more.
constexpr std::size_t kRestKernels = 128;
constexpr std::size_t kGoodShare = 7, kMostGoodBefore = 25;

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
                       std::min(trials.size() / kGoodShare, kMostGoodBefore)));
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
