// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/importance/weighted_levels.h"

#include <cmath>
#include <utility>

#include "importance/effects/level_effects.h"
#include "importance/measure/numbers.h"
#include "importance/mixture/subsets.h"

namespace frostline::bench {
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

}  // namespace frostline::bench
