// SPDX-License-Identifier: Apache-2.0
#include "surrogate/scale_draws.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace frostline::surrogate {
namespace {

constexpr double kStudentFreedom = 10.0;
constexpr double kMostSpread = 400.0;

std::vector<std::size_t> All(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

std::vector<std::size_t> SpreadRows(const Rows& rows, std::size_t count,
                                    const std::stop_token& stop) {
  if (rows.size() <= count) return All(rows.size());
  const VectorXd scales = UsualScales(rows.axes.size(), 0).mean;
  const AxisKernels kernels(rows.axes, std::exp(scales[kLength]),
                            std::exp(scales[kGap]));
  const auto n = static_cast<Index>(rows.size());
  const auto m = static_cast<Index>(count);
  const double noise = std::exp(scales[kNoise]);
  const Terms terms{rows.axes.size(), {}};
  const auto with = [&](std::size_t row) -> VectorXd {
    return PartsOf(kernels, terms, scales, rows.cells, {rows.cells[row]})
        .Sum(std::exp(scales[kTriples]));
  };
  VectorXd left(n);
  for (Index i = 0; i < n; ++i) {
    left[i] = VarianceAt(kernels, terms, scales,
                         rows.cells[static_cast<std::size_t>(i)]);
  }
  MatrixXd factor = MatrixXd::Zero(n, m);
  std::vector<std::size_t> chosen;
  for (Index k = 0; k < m; ++k) {
    if (stop.stop_requested() && k > 0) break;
    Index at = 0;
    left.maxCoeff(&at);
    chosen.push_back(static_cast<std::size_t>(at));
    const double pivot = std::sqrt(std::max(left[at], 0.0) + noise);
    VectorXd column = with(static_cast<std::size_t>(at));
    column.noalias() -= factor.leftCols(k) * factor.row(at).head(k).transpose();
    factor.col(k) = column / pivot;
    left.array() -= factor.col(k).array().square();
    left[at] = -1.0;
    for (const std::size_t one : chosen) left[static_cast<Index>(one)] = -1.0;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Standardised Standardise(const Rows& rows, std::size_t most_rows,
                         const std::stop_token& stop) {
  Standardised made;
  made.used = SpreadRows(rows, most_rows, stop);
  const auto n = static_cast<Index>(made.used.size());
  VectorXd values(n);
  VectorXd doubt = VectorXd::Zero(n);
  made.rows.axes = rows.axes;
  made.rows.terms.axes = rows.axes.size();
  for (Index i = 0; i < n; ++i) {
    const std::size_t row = made.used[static_cast<std::size_t>(i)];
    values[i] = rows.values[row];
    if (!rows.doubt.empty()) doubt[i] = rows.doubt[row];
    made.rows.cells.push_back(rows.cells[row]);
  }
  made.middle = values.mean();
  values.array() -= made.middle;
  const double variance = values.squaredNorm() / static_cast<double>(n);
  made.scale = variance > 0.0 ? std::sqrt(variance) : 1.0;
  made.rows.values = values / made.scale;
  made.rows.doubt = doubt / (made.scale * made.scale);
  made.rows.spread = VectorXd::Ones(n);
  return made;
}

VectorXd SquaresOff(const Evidence& evidence) {
  const VectorXd noise = evidence.NoiseOfRows();
  MatrixXd inverse = MatrixXd::Identity(noise.size(), noise.size());
  evidence.factor().matrixL().solveInPlace(inverse);
  const VectorXd precision = inverse.colwise().squaredNorm();
  const VectorXd residual = noise.cwiseProduct(evidence.weights());
  const VectorXd unsure = noise - noise.cwiseAbs2().cwiseProduct(precision);
  return residual.cwiseAbs2() + unsure.cwiseMax(0.0);
}

void SpreadByResiduals(const Evidence& evidence, StandardRows& rows) {
  const VectorXd squares = SquaresOff(evidence);
  const double usual = std::exp(evidence.scales()[kNoise]);
  for (Index i = 0; i < squares.size(); ++i) {
    rows.spread[i] =
        std::min((kStudentFreedom + squares[i] / (usual + rows.doubt[i])) /
                     (kStudentFreedom + 1.0),
                 kMostSpread);
  }
}

namespace {

constexpr Index kProbes = 10;
constexpr std::uint64_t kProbeSeed = 20061;
constexpr double kLongestStep = 2.0;  // of a logarithm
constexpr double kEnough = 0.02;      // of the log posterior
constexpr int kHalvings = 5;
// Draws are spread a little wider than the curvature says.
constexpr double kWider = 1.3;
// Weights are tempered: of dozens of scales few draws would carry everything,
// and intervals would be those of a handful.
constexpr double kTempered = 0.3;

double LogPrior(const ScalePrior& prior, const VectorXd& at) {
  return -0.5 *
         ((at - prior.mean).array() / prior.deviation.array()).square().sum();
}

double LogPosterior(const ScalePrior& prior, const Evidence& evidence) {
  return evidence.value() + LogPrior(prior, evidence.scales());
}

// Probes are the same for every set of scales, so that steps agree.
MatrixXd MakeProbes(Index rows) {
  Rng rng(kProbeSeed);
  MatrixXd probes(rows, kProbes);
  for (Index j = 0; j < kProbes; ++j) probes.col(j) = NormalVector(rows, rng);
  return probes;
}

struct Slope {
  VectorXd gradient;
  Eigen::LLT<MatrixXd> curvature;
};

Slope SlopeAt(const ScalePrior& prior, const Evidence& evidence,
              const MatrixXd& probes) {
  Evidence::Slopes slopes = evidence.SlopesWith(probes);
  const VectorXd precision = prior.deviation.array().square().inverse();
  slopes.gradient -= precision.cwiseProduct(evidence.scales() - prior.mean);
  slopes.curvature.diagonal() += precision;
  return {std::move(slopes.gradient), Eigen::LLT<MatrixXd>(slopes.curvature)};
}

// One step up; nullptr when none was found.
std::unique_ptr<Evidence> Climb(const StandardRows& rows,
                                const ScalePrior& prior, const Evidence& from,
                                const MatrixXd& probes) {
  const Slope slope = SlopeAt(prior, from, probes);
  VectorXd step = slope.curvature.solve(slope.gradient);
  if (slope.gradient.dot(step) < kEnough) return nullptr;
  step *= std::min(1.0, kLongestStep / step.cwiseAbs().maxCoeff());
  const double before = LogPosterior(prior, from);
  for (int half = 0; half < kHalvings; ++half, step *= 0.4) {
    auto next = std::make_unique<Evidence>(rows, from.scales() + step);
    if (next->ok() && LogPosterior(prior, *next) > before) return next;
  }
  return nullptr;
}

void CutWeights(std::vector<ScaleDraw>& draws,
                const std::vector<double>& log_weights) {
  const double most = *std::max_element(log_weights.begin(), log_weights.end());
  double sum = 0.0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    draws[i].weight = std::exp(kTempered * (log_weights[i] - most));
    sum += draws[i].weight;
  }
  const double n = static_cast<double>(draws.size());
  const double cap = sum / n * std::sqrt(n);
  double kept = 0.0;
  for (ScaleDraw& one : draws) {
    one.weight = std::min(one.weight, cap);
    kept += one.weight;
  }
  for (ScaleDraw& one : draws) one.weight /= kept;
}

}  // namespace

VectorXd NormalVector(Index size, Rng& rng) {
  VectorXd v(size);
  for (Index i = 0; i < size; ++i) v[i] = rng.Normal();
  return v;
}

std::unique_ptr<Evidence> FindMode(const StandardRows& rows,
                                   const ScalePrior& prior,
                                   const VectorXd& start, int steps,
                                   const std::stop_token& stop) {
  auto at = std::make_unique<Evidence>(rows, start);
  const MatrixXd probes = MakeProbes(rows.values.size());
  for (int step = 0; step < steps && !stop.stop_requested(); ++step) {
    auto next = Climb(rows, prior, *at, probes);
    if (next == nullptr) break;
    at = std::move(next);
  }
  return at;
}

std::vector<ScaleDraw> DrawScales(const StandardRows& rows,
                                  const ScalePrior& prior,
                                  std::unique_ptr<Evidence> mode, int count,
                                  Rng& rng, const std::stop_token& stop) {
  std::vector<ScaleDraw> draws;
  if (count <= 1 || stop.stop_requested()) {
    draws.push_back({std::move(mode), 1.0});
    return draws;
  }
  const Slope slope = SlopeAt(prior, *mode, MakeProbes(rows.values.size()));
  const VectorXd middle = mode->scales();
  std::vector<double> log_weights;
  log_weights.push_back(LogPosterior(prior, *mode));
  draws.push_back({std::move(mode), 0.0});
  for (int i = 1; i < count && !stop.stop_requested(); ++i) {
    const VectorXd z = NormalVector(middle.size(), rng);
    const VectorXd way = kWider * slope.curvature.matrixU().solve(z);
    auto evidence = std::make_unique<Evidence>(rows, middle + way);
    if (!evidence->ok()) continue;
    log_weights.push_back(LogPosterior(prior, *evidence) +
                          0.5 * z.squaredNorm());
    draws.push_back({std::move(evidence), 0.0});
  }
  CutWeights(draws, log_weights);
  return draws;
}

}  // namespace frostline::surrogate
