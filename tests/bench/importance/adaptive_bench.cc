// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/rng.h"
#include "importance/effects/level_effects.h"
#include "importance/forest/fanova.h"
#include "importance/forest/forest.h"
#include "importance/measure/dataset.h"
#include "importance/measure/numbers.h"
#include "importance/mixture/subsets.h"
#include "sampler/factory.h"
#include "study/history.h"
#include "study/space.h"
#include "tests/bench/importance/truth_trials.h"
#include "tests/importance/trials.h"

namespace frostline::bench {

// What could be done about trials that a sampler chose, to be measured beside
// what importance does: forests in which trials count by how seldom their like
// was tried, and trees whose leaves are filled by trials that had no say in the
// splits (Wager and Athey, "Estimation and Inference of
// Heterogeneous Treatment Effects using Random Forests", 2018, procedure 1).

// Returns the data of trials whose levels are counted; their one target is
// maximised.
importance::Dataset DatasetOf(const Space& space, const History& history);

// Density of the space by that of the trials, by trial, on average 1. Of the
// trials it is a product over axes of how often each level was tried, half a
// trial added to each; no weight is above ten times the median.
std::vector<double> SamplingWeights(const importance::Dataset& data);

// (Σw)² / Σw²: how many trials of equal weight tell as much (Kish, "Survey
// Sampling", 1965, §11.7).
double EffectiveTrials(const std::vector<double>& weights);

struct ForestKind {
  bool weighted = false;
  bool honest = false;
};

// By axis, as the evaluator `forest` has them: 64 trees; equal to its own
// where the forest is of neither kind.
std::vector<double> ForestMain(const importance::Dataset& data,
                               const ForestKind& kind, std::uint64_t seed);

// Truths that are known, and trials of them that samplers chose.
struct AdaptiveCase {
  std::string name;
  std::string kind;  // "additive", "inter", "cliff"
  Space space;
  PointTarget target;
  double noise = kTruthNoise;
  std::vector<double> shares;  // main, of the whole variance
};

// Those with 7 modules, and cliffs. Keeps references to the truths.
std::vector<AdaptiveCase> AdaptiveCases(const std::vector<test::Truth>& truths,
                                        const std::string& kind);

// "uniform", a sampler's name, or "tpe-random": tpe, the last third at random.
// Throws std::runtime_error.
History AdaptiveTrials(const AdaptiveCase& one, const std::string& sort,
                       int trials, int seed);

// Level effects in which trials count by how seldom their like was tried.
struct EffectsMain {
  std::vector<double> plain;     // as LevelEffects::Variance has them
  std::vector<double> weighted;  // the same terms by weighted least squares
};

// By axis.
EffectsMain FitEffects(const importance::Dataset& data,
                       const std::vector<double>& weights);

namespace {

constexpr int kTrees = 64;
constexpr double kAdded = 0.5;  // trials to every level
constexpr double kMostByMedian = 10.0;

// Rows of `among`, as many as there are of them, by their weights.
importance::RowWeights DrawWeighted(const std::vector<std::uint32_t>& among,
                                    const std::vector<double>& weights,
                                    std::size_t rows, Rng& rng) {
  std::vector<double> up_to;
  up_to.reserve(among.size());
  double sum = 0.0;
  for (const std::uint32_t row : among) up_to.push_back(sum += weights[row]);
  importance::RowWeights drawn(rows, 0);
  for (std::size_t i = 0; i < among.size(); ++i) {
    const auto found =
        std::upper_bound(up_to.begin(), up_to.end(), rng.Uniform() * sum);
    const auto at = std::min(static_cast<std::size_t>(found - up_to.begin()),
                             among.size() - 1);
    ++drawn[among[at]];
  }
  return drawn;
}

// Leaves take the weighted mean of these rows; one that none of them reaches
// that of the nearest node above it which some do.
void FillLeaves(const importance::Dataset& data,
                const std::vector<std::uint32_t>& rows,
                const std::vector<double>& weights, importance::Tree& tree) {
  std::vector<double> sums(tree.nodes.size(), 0.0);
  std::vector<double> counts(tree.nodes.size(), 0.0);
  for (const std::uint32_t row : rows) {
    std::size_t at = 0;
    while (true) {
      sums[at] += weights[row] * data.targets[row];
      counts[at] += weights[row];
      const importance::TreeNode& node = tree.nodes[at];
      if (node.axis < 0) break;
      const double code = data.codes[static_cast<std::size_t>(node.axis)][row];
      at = static_cast<std::size_t>(code <= node.threshold ? node.left
                                                           : node.right);
    }
  }
  std::vector<double> means(tree.nodes.size(), 0.0);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (counts[i] > 0.0) means[i] = sums[i] / counts[i];
    importance::TreeNode& node = tree.nodes[i];
    node.value = means[i];
    if (node.axis < 0) continue;
    means[static_cast<std::size_t>(node.left)] = means[i];
    means[static_cast<std::size_t>(node.right)] = means[i];
  }
}

}  // namespace

importance::Dataset DatasetOf(const Space& space, const History& history) {
  std::vector<const Point*> points;
  std::vector<double> losses;
  for (const Observation& trial : history.trials()) {
    points.push_back(&trial.point);
    losses.push_back(-trial.values[0]);
  }
  return importance::MakeDataset(importance::MeasureSpace(space), points,
                                 losses);
}

std::vector<double> SamplingWeights(const importance::Dataset& data) {
  std::vector<double> weights(data.rows(), 1.0);
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    const std::vector<double> levels = data.axes[i].CountableCodes();
    std::vector<double> tried(levels.size(), kAdded);
    for (const double code : data.codes[i]) {
      tried[static_cast<std::size_t>(code)] += 1.0;
    }
    for (std::size_t row = 0; row < data.rows(); ++row) {
      weights[row] /= tried[static_cast<std::size_t>(data.codes[i][row])];
    }
  }
  std::vector<double> sorted = weights;
  std::sort(sorted.begin(), sorted.end());
  const double most = kMostByMedian * sorted[sorted.size() / 2];
  double sum = 0.0;
  for (double& weight : weights) sum += weight = std::min(weight, most);
  for (double& weight : weights) {
    weight *= static_cast<double>(data.rows()) / sum;
  }
  return weights;
}

double EffectiveTrials(const std::vector<double>& weights) {
  double sum = 0.0;
  double squares = 0.0;
  for (const double weight : weights) {
    sum += weight;
    squares += weight * weight;
  }
  return sum * sum / squares;
}

std::vector<double> ForestMain(const importance::Dataset& data,
                               const ForestKind& kind, std::uint64_t seed) {
  const std::vector<double> weights =
      kind.weighted ? SamplingWeights(data)
                    : std::vector<double>(data.rows(), 1.0);
  std::vector<importance::Tree> trees;
  for (int t = 0; t < kTrees; ++t) {
    Rng rng(seed, static_cast<std::uint64_t>(t));
    std::vector<std::uint32_t> splitting, filling;
    for (std::uint32_t row = 0; row < data.rows(); ++row) {
      const bool fills = kind.honest && rng.Uniform() < 0.5;
      (fills ? filling : splitting).push_back(row);
    }
    // Without weights as FitForest draws them.
    const importance::RowWeights drawn =
        kind.weighted || kind.honest
            ? DrawWeighted(splitting, weights, data.rows(), rng)
            : importance::DrawRows(importance::RowWeights(data.rows(), 1), rng);
    trees.push_back(importance::FitTree(data, data.targets, drawn, rng));
    if (kind.honest) FillLeaves(data, filling, weights, trees.back());
  }
  return importance::ForestMainShares(trees, data.axes);
}

namespace {

// As the sampler proposes them, those from `random_from` on drawn at random.
History Searched(const AdaptiveCase& one, const std::string& sampler,
                 int trials, int random_from, std::uint64_t seed) {
  std::map<bool, std::unique_ptr<sampler::Sampler>> samplers;
  for (const bool random : {false, true}) {
    auto made = sampler::MakeSampler(
        {.name = random ? "random" : sampler, .options = {}}, one.space,
        {{"score", Direction::kMaximize}});
    if (!made.ok())
      throw std::runtime_error(std::string(made.status().message()));
    samplers[random] = *std::move(made);
  }
  Rng noise(seed, std::uint64_t{1} << 40);
  History history;
  for (int i = 0; i < trials; ++i) {
    Rng rng(seed, static_cast<std::uint64_t>(i));
    auto point = samplers[i >= random_from]->Propose(history, i, rng);
    if (!point.ok())
      throw std::runtime_error(std::string(point.status().message()));
    const double value = one.target(*point) + one.noise * noise.Normal();
    history.Put(importance::Succeeded(i, *std::move(point), value));
  }
  return history;
}

}  // namespace

std::vector<AdaptiveCase> AdaptiveCases(const std::vector<test::Truth>& truths,
                                        const std::string& kind) {
  std::vector<AdaptiveCase> cases;
  for (const test::Truth& truth : truths) {
    if (truth.modules != 7) continue;
    cases.push_back({truth.name, IsAdditive(truth) ? "additive" : "inter",
                     truth.MakeSpace(),
                     [&truth](const Point& p) { return truth.Target(p); },
                     kTruthNoise, MainShares(truth)});
  }
  for (const Cliff& cliff : Cliffs()) {
    cases.push_back({cliff.name, "cliff",
                     test::Truth{"", kCliffModules, 7, {}}.MakeSpace(),
                     cliff.target, kTruthNoise * cliff.deviation, cliff.main});
  }
  std::erase_if(cases,
                [&kind](const AdaptiveCase& one) { return one.kind != kind; });
  return cases;
}

History AdaptiveTrials(const AdaptiveCase& one, const std::string& sort,
                       int trials, int seed) {
  const std::uint64_t own = SeedOf(one.name, 9000 + seed);
  if (sort == "uniform") {
    return NoisyTrials(one.space, trials, own, one.target, one.noise);
  }
  if (sort == "tpe-random") {
    return Searched(one, "tpe", trials, trials - trials / 3, own);
  }
  return Searched(one, sort, trials, trials, own);
}

namespace {

// The reflection that takes the direction of `roots` to that of equal numbers:
// what is orthogonal to the one is then orthogonal to the other (Householder).
class Reflection {
 public:
  explicit Reflection(const std::vector<double>& roots) : normal_(roots) {
    const double length =
        std::sqrt(importance::Dot(roots.data(), roots.data(), Rows()));
    const double equal = 1.0 / std::sqrt(static_cast<double>(Rows()));
    for (double& value : normal_) value = value / length - equal;
    squares_ = importance::Dot(normal_.data(), normal_.data(), Rows());
  }

  void Apply(double* values) const {
    if (!(squares_ > 1e-12)) return;
    const double factor =
        2.0 * importance::Dot(normal_.data(), values, Rows()) / squares_;
    for (std::size_t i = 0; i < Rows(); ++i) values[i] -= factor * normal_[i];
  }

 private:
  std::size_t Rows() const { return normal_.size(); }

  std::vector<double> normal_;
  double squares_ = 0.0;
};

// Less its weighted mean, times the roots of the weights, reflected: least
// squares of these, each with mean 0, are weighted least squares of those.
void Weigh(const std::vector<double>& weights, const Reflection& reflection,
           double* values) {
  double mean = 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    mean += weights[i] * values[i];
    sum += weights[i];
  }
  mean /= sum;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    values[i] = (values[i] - mean) * std::sqrt(weights[i]);
  }
  reflection.Apply(values);
}

// The terms of `model`, by weighted least squares.
importance::GroupedRidge Refit(const importance::LevelEffects& model,
                               std::vector<double> targets,
                               const std::vector<double>& weights) {
  std::vector<double> roots = weights;
  for (double& root : roots) root = std::sqrt(root);
  const Reflection reflection(roots);
  Weigh(weights, reflection, targets.data());
  const std::size_t rows = targets.size();
  importance::GroupedRidge ridge(std::move(targets));
  for (std::size_t t = 0; t < model.terms().size(); ++t) {
    std::vector<double> columns =
        importance::CentredColumns(model.axes(), model.terms()[t]);
    for (std::size_t k = 0; k < columns.size(); k += rows) {
      Weigh(weights, reflection, &columns[k]);
    }
    ridge.AddGroup(std::move(columns));
    std::vector<double> graded(model.ridge().WidthOfGroup(t));
    for (std::size_t k = 0; k < graded.size(); ++k) {
      graded[k] = model.ridge().WeightAt(model.ridge().BeginOfGroup(t) + k);
    }
    ridge.SetWeights(t, graded);
  }
  ridge.Fit(60);
  return ridge;
}

}  // namespace

EffectsMain FitEffects(const importance::Dataset& data,
                       const std::vector<double>& weights) {
  std::vector<importance::EffectAxis> axes;
  axes.reserve(data.axes.size());
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    axes.push_back(
        importance::MakeFineAxis(data.axes[i], data.codes[i]).effect);
  }
  const importance::LevelEffects model(axes, data.targets);
  const importance::GroupedRidge ridge = Refit(model, data.targets, weights);
  EffectsMain main;
  main.plain.assign(axes.size(), 0.0);
  main.weighted = main.plain;
  for (std::size_t t = 0; t < model.terms().size(); ++t) {
    const importance::EffectTerm& term = model.terms()[t];
    if (term.size() > 1) continue;
    main.plain[term[0]] = model.Variance(t);
    main.weighted[term[0]] =
        ridge.ExpectedSquares(t, importance::PriorOf(axes, term));
  }
  return main;
}

namespace {

// What it costs importance that a sampler chose the trials, and whether
// anything takes it away: histories of our own samplers, which maximise the
// truths' targets under noise of 0.3 of their deviation, beside uniform ones.
// Cases with 7 modules in turn, 48 runs at 100 trials and 24 at 300 (with
// --quick 12 and 6).
//
//   mae.K.nN.H.E        main effects in parts of their sum: mean |difference|
//                       from the truth over modules, K additive, inter, cliff
//   strongest.K.nN.H.E  found less true share of the strongest module …
//   weakest.K.nN.H.E    … and of the weakest
//   better.K.nN.H.C     mae of what C corrects less that of C, by the standard
//                       error of that mean over runs: above 0, C is better
//   kish.K.nN.H         effective part of the trials by their weights
//   coverage95.K.nN.H   95 % intervals of the default that hold a main effect
//                       of at least .01
//   warned.K.nN.H       runs whose report warns of adaptive sampling
//
// H: uniform, tpe, levels-gp; tpe-random is tpe with a last third at random.
// E: default, effects, effects_weighted, forest, forest_weighted,
// forest_honest, forest_both (adaptive_bench.cc, adaptive_bench.cc).

constexpr std::uint64_t kSeed = 0;  // of forests
constexpr double kLeastCovered = 0.01;

using MainByEstimator = std::map<std::string, std::vector<double>>;

MainByEstimator Estimate(const importance::Dataset& data,
                         const std::vector<double>& weights,
                         const importance::Report& report) {
  const EffectsMain effects = FitEffects(data, weights);
  return {{"default", MainOf(report)},
          {"effects", effects.plain},
          {"effects_weighted", effects.weighted},
          {"forest", ForestMain(data, {}, kSeed)},
          {"forest_weighted", ForestMain(data, {.weighted = true}, kSeed)},
          {"forest_honest", ForestMain(data, {.honest = true}, kSeed)},
          {"forest_both", ForestMain(data, {true, true}, kSeed)}};
}

bool WarnsOfSampling(const importance::Report& report) {
  return std::any_of(report.warnings.begin(), report.warnings.end(),
                     [](const importance::ReportWarning& w) {
                       return w.code == "ADAPTIVE_SAMPLING";
                     });
}

// What was measured on histories of one kind, size and sort.
class Cell {
 public:
  explicit Cell(std::string name) : name_(std::move(name)) {}

  void Add(const AdaptiveCase& one, const History& history) {
    const importance::Dataset data = DatasetOf(one.space, history);
    const std::vector<double> weights = SamplingWeights(data);
    const importance::Report report =
        Evaluated(one.space, history, "default", true);
    AddCoverage(one, report);
    means_.Add("warned." + name_, WarnsOfSampling(report));
    means_.Add("kish." + name_,
               EffectiveTrials(weights) / static_cast<double>(data.rows()));
    const std::vector<double> truth = InPartsOfSum(one.shares);
    const auto strongest = static_cast<std::size_t>(
        std::max_element(truth.begin(), truth.end()) - truth.begin());
    const auto weakest = static_cast<std::size_t>(
        std::min_element(truth.begin(), truth.end()) - truth.begin());
    for (auto& [estimator, main] : Estimate(data, weights, report)) {
      const std::vector<double> found = InPartsOfSum(main);
      const std::string end = name_ + "." + estimator;
      runs_[estimator].push_back(MeanDifference(truth, found));
      means_.Add("mae." + end, runs_[estimator].back());
      means_.Add("strongest." + end, found[strongest] - truth[strongest]);
      means_.Add("weakest." + end, found[weakest] - truth[weakest]);
    }
  }

  void Print(const Bench& bench) const {
    means_.Print(bench);
    bench.Figure("better." + name_ + ".effects_weighted",
                 Better("effects", "effects_weighted"));
    for (const std::string forest :
         {"forest_weighted", "forest_honest", "forest_both"}) {
      bench.Figure("better." + name_ + "." + forest, Better("forest", forest));
    }
  }

 private:
  void AddCoverage(const AdaptiveCase& one, const importance::Report& report) {
    for (std::size_t i = 0; i < one.shares.size(); ++i) {
      if (one.shares[i] < kLeastCovered - 1e-9) continue;
      const importance::Interval& main = report.parameters[i].main;
      means_.Add("coverage95." + name_,
                 one.shares[i] >= main.lo95 && one.shares[i] <= main.hi95);
    }
  }

  double Better(const std::string& plain, const std::string& corrected) const {
    const std::vector<double>& before = runs_.at(plain);
    const std::vector<double>& after = runs_.at(corrected);
    const auto n = static_cast<double>(before.size());
    double mean = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      mean += (before[i] - after[i]) / n;
      squares += (before[i] - after[i]) * (before[i] - after[i]);
    }
    return mean / std::sqrt((squares - n * mean * mean) / (n - 1.0) / n);
  }

  std::string name_;
  Means means_;
  std::map<std::string, std::vector<double>> runs_;  // mae, by estimator
};

void Run(const Bench& bench) {
  const std::vector<test::Truth> truths = BenchTruths(bench);
  for (const int trials : {100, 300}) {
    const int runs = (trials == 100 ? 48 : 24) / (bench.quick() ? 4 : 1);
    for (const std::string kind : {"additive", "inter", "cliff"}) {
      const std::vector<AdaptiveCase> cases = AdaptiveCases(truths, kind);
      for (const std::string sort :
           {"uniform", "tpe", "tpe-random", "levels-gp"}) {
        Cell cell(absl::StrCat(kind, ".n", trials, ".", sort));
        for (int run = 0; run < runs; ++run) {
          const auto number = static_cast<std::size_t>(run);
          const AdaptiveCase& one = cases[number % cases.size()];
          const int seed = static_cast<int>(number / cases.size());
          cell.Add(one, AdaptiveTrials(one, sort, trials, seed));
        }
        cell.Print(bench);
      }
    }
  }
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(argc, argv, "--truths",
                                    frostline::bench::Run);
}
