// SPDX-License-Identifier: Apache-2.0
#include "surrogate/surrogate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "surrogate/surrogate_parts.h"

namespace frostline::surrogate {
namespace {

constexpr int kModeSteps = 10;
constexpr std::size_t kPilotRows = 80;
constexpr int kLastSteps = 2;
constexpr int kPairSteps = 3;
constexpr int kSpreadRounds = 2;
constexpr int kSpreadSteps = 1;
// Draws of scales: as many as cost about as much as finding their mode.
constexpr double kDrawWork = 1.5e8;
constexpr std::size_t kMostPairs = 8;
constexpr double kLeastTold = 0.3;  // of a log likelihood, by e times the pair
constexpr int kFewestDraws = 20;
// Of rows that were not learnt from, which are many.
constexpr std::size_t kDrawsOfOthers = 4;
constexpr int kMostDraws = 160;

int DrawsFor(std::size_t rows, std::size_t axes) {
  const double n = static_cast<double>(rows);
  const double work = n * n * (n / 3.0 + 8.0 * static_cast<double>(axes));
  return static_cast<int>(std::clamp(kDrawWork / work,
                                     static_cast<double>(kFewestDraws),
                                     static_cast<double>(kMostDraws)));
}

// Where to look for the mode: of many rows, at that of a few of them.
VectorXd StartOf(const Rows& rows, const ScalePrior& prior,
                 const std::stop_token& stop) {
  if (rows.size() <= kPilotRows) return prior.mean;
  const Standardised pilot = Standardise(rows, kPilotRows, stop);
  return FindMode(pilot.rows, prior, prior.mean, kModeSteps, stop)->scales();
}

// The pairs of which the rows tell most, more or less than their axes say.
void AddTellingPairs(const Evidence& evidence, Terms& terms) {
  const std::vector<double> gradients = evidence.PairGradients();
  std::vector<std::pair<double, AxisPair>> order;
  std::size_t p = 0;
  for (std::size_t a = 0; a < terms.axes; ++a) {
    for (std::size_t b = a + 1; b < terms.axes; ++b, ++p) {
      if (std::abs(gradients[p]) < kLeastTold) continue;
      order.push_back({-std::abs(gradients[p]), {a, b}});
    }
  }
  std::sort(order.begin(), order.end());
  if (order.size() > kMostPairs) order.resize(kMostPairs);
  for (const auto& [told, pair] : order) terms.pairs.push_back(pair);
}

}  // namespace

MatrixXd RootOf(MatrixXd covariance) {
  const double mean = covariance.diagonal().cwiseAbs().mean();
  for (double jitter = 1e-9; jitter < 1.0; jitter *= 30.0) {
    MatrixXd lifted = covariance;
    lifted.diagonal().array() += jitter * mean + 1e-300;
    const Eigen::LLT<MatrixXd> factor(lifted);
    if (factor.info() == Eigen::Success) return factor.matrixL();
  }
  return covariance.diagonal().cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

std::vector<int> Share(const std::vector<ScaleDraw>& draws, int count) {
  std::vector<int> shares(draws.size(), 0);
  double sum = 0.0;
  double next = 0.5;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    sum += draws[i].weight * count;
    while (next < sum && next < count) {
      ++shares[i];
      next += 1.0;
    }
  }
  // Rounding may leave the last one out.
  for (; next < count; next += 1.0) ++shares.back();
  return shares;
}

JointBelief BelieveAt(const Evidence& evidence, const StandardRows& rows,
                      const std::vector<Cells>& points) {
  const double triples = std::exp(evidence.scales()[kTriples]);
  MatrixXd with = PartsOf(evidence.kernels(), rows.terms, evidence.scales(),
                          rows.cells, points)
                      .Sum(triples);
  with.array() += kMeanVariance;
  JointBelief belief;
  belief.covariance =
      PartsOf(evidence.kernels(), rows.terms, evidence.scales(), points, points)
          .Sum(triples);
  belief.covariance.array() += kMeanVariance;
  belief.mean = with.transpose() * evidence.weights();
  evidence.factor().matrixL().solveInPlace(with);
  belief.covariance.noalias() -= with.transpose() * with;
  return belief;
}

Surrogate::Surrogate(Rows rows, const SurrogateOptions& options) {
  auto parts = std::make_unique<Parts>();
  parts->rows = std::move(rows);
  parts->standard = Standardise(parts->rows, options.most_rows, options.stop);
  StandardRows& standard = parts->standard.rows;
  ScalePrior prior = UsualScales(standard.axes.size(), 0, options.usual);
  const std::stop_token& stop = options.stop;
  auto mode = FindMode(
      standard, prior, StartOf(parts->rows, prior, stop),
      parts->standard.used.size() > kPilotRows ? kLastSteps : kModeSteps, stop);
  VectorXd start = mode->scales();
  AddTellingPairs(*mode, standard.terms);
  prior = UsualScales(standard.axes.size(), standard.terms.pairs.size(),
                      options.usual);
  start.conservativeResize(prior.mean.size());
  start.tail(static_cast<Index>(standard.terms.pairs.size())).setZero();
  mode = FindMode(standard, prior, start, kPairSteps, stop);
  for (int round = 0; round < kSpreadRounds; ++round) {
    SpreadByResiduals(*mode, standard);
    mode = FindMode(standard, prior, mode->scales(), kSpreadSteps, stop);
  }
  const int draws =
      options.scale_draws > 0
          ? options.scale_draws
          : DrawsFor(parts->standard.used.size(), standard.axes.size());
  Rng rng(options.seed, 0);
  parts->draws = DrawScales(standard, prior, std::move(mode), draws, rng, stop);
  parts->noise = parts->standard.scale * parts->standard.scale *
                 SquaresOff(*parts->draws.front().evidence).mean();
  parts->spread.assign(parts->rows.size(), 1.0);
  for (std::size_t i = 0; i < parts->standard.used.size(); ++i) {
    parts->spread[parts->standard.used[i]] =
        standard.spread[static_cast<Index>(i)];
  }
  parts_ = std::move(parts);
}

Surrogate::~Surrogate() = default;
Surrogate::Surrogate(Surrogate&&) noexcept = default;
Surrogate& Surrogate::operator=(Surrogate&&) noexcept = default;

const Rows& Surrogate::rows() const { return parts_->rows; }
std::size_t Surrogate::rows_used() const {
  return parts_->standard.used.size();
}
double Surrogate::noise_variance() const { return parts_->noise; }
const std::vector<double>& Surrogate::spread_of_rows() const {
  return parts_->spread;
}

Belief Surrogate::At(const Cells& cells) const {
  return At(std::vector<Cells>{cells})[0];
}

std::vector<Belief> Surrogate::At(const std::vector<Cells>& points) const {
  return Believe(points, parts_->draws.size());
}

// By the mode and the draws next to it, `most` in all.
std::vector<Belief> Surrogate::Believe(const std::vector<Cells>& points,
                                       std::size_t most,
                                       const std::stop_token& stop) const {
  const StandardRows& rows = parts_->standard.rows;
  std::vector<Belief> beliefs(points.size());
  if (points.empty()) return beliefs;
  const std::size_t count = std::min(most, parts_->draws.size());
  double weights = 0.0;
  for (std::size_t d = 0; d < count; ++d) weights += parts_->draws[d].weight;
  for (std::size_t d = 0; d < count && !stop.stop_requested(); ++d) {
    const Evidence& evidence = *parts_->draws[d].evidence;
    const double weight = parts_->draws[d].weight / weights;
    const double triples = std::exp(evidence.scales()[kTriples]);
    MatrixXd with = PartsOf(evidence.kernels(), rows.terms, evidence.scales(),
                            rows.cells, points)
                        .Sum(triples);
    with.array() += kMeanVariance;
    const VectorXd mean = with.transpose() * evidence.weights();
    evidence.factor().matrixL().solveInPlace(with);
    for (std::size_t p = 0; p < points.size(); ++p) {
      const auto column = static_cast<Index>(p);
      const double prior =
          kMeanVariance + VarianceAt(evidence.kernels(), rows.terms,
                                     evidence.scales(), points[p]);
      const double left = std::max(prior - with.col(column).squaredNorm(), 0.0);
      beliefs[p].mean += weight * mean[column];
      beliefs[p].variance += weight * (left + mean[column] * mean[column]);
    }
  }
  const double scale = parts_->standard.scale;
  for (Belief& one : beliefs) {
    one.variance =
        scale * scale * std::max(one.variance - one.mean * one.mean, 0.0);
    one.mean = parts_->standard.middle + scale * one.mean;
  }
  return beliefs;
}

std::vector<std::vector<double>> Surrogate::Draw(
    const std::vector<Cells>& points, int draws, std::uint64_t seed) const {
  std::vector<std::vector<double>> drawn;
  const std::vector<int> shares = Share(parts_->draws, draws);
  Rng rng(seed, 1);
  for (std::size_t s = 0; s < shares.size(); ++s) {
    if (shares[s] == 0) continue;
    const JointBelief belief =
        BelieveAt(*parts_->draws[s].evidence, parts_->standard.rows, points);
    const MatrixXd root = RootOf(belief.covariance);
    for (int k = 0; k < shares[s]; ++k) {
      const VectorXd f =
          belief.mean + root * NormalVector(belief.mean.size(), rng);
      std::vector<double>& one = drawn.emplace_back();
      for (const double value : f) {
        one.push_back(parts_->standard.middle + parts_->standard.scale * value);
      }
    }
  }
  return drawn;
}

std::vector<Belief> Surrogate::LeftOut(const std::stop_token& stop) const {
  const Standardised& standard = parts_->standard;
  const StandardRows& rows = standard.rows;
  const Index n = rows.values.size();
  VectorXd mean = VectorXd::Zero(n);
  VectorXd second = VectorXd::Zero(n);
  for (const ScaleDraw& draw : parts_->draws) {
    if (stop.stop_requested()) break;
    const Evidence& evidence = *draw.evidence;
    MatrixXd inverse = MatrixXd::Identity(n, n);
    evidence.factor().matrixL().solveInPlace(inverse);
    const VectorXd precision = inverse.colwise().squaredNorm();
    const VectorXd noise = evidence.NoiseOfRows();
    const double usual = std::exp(evidence.scales()[kNoise]);
    for (Index i = 0; i < n; ++i) {
      const double m = rows.values[i] - evidence.weights()[i] / precision[i];
      const double v = std::max(1.0 / precision[i] - noise[i], 0.0) + usual;
      mean[i] += draw.weight * m;
      second[i] += draw.weight * (v + m * m);
    }
  }
  std::vector<Belief> left(parts_->rows.size());
  std::vector<bool> is_used(left.size(), false);
  for (Index i = 0; i < n; ++i) {
    const std::size_t row = standard.used[static_cast<std::size_t>(i)];
    is_used[row] = true;
    left[row] = {standard.middle + standard.scale * mean[i],
                 standard.scale * standard.scale *
                     std::max(second[i] - mean[i] * mean[i], 0.0)};
  }
  std::vector<Cells> others;
  std::vector<std::size_t> places;
  for (std::size_t row = 0; row < left.size(); ++row) {
    if (is_used[row]) continue;
    others.push_back(parts_->rows.cells[row]);
    places.push_back(row);
  }
  const std::vector<Belief> seen = Believe(others, kDrawsOfOthers, stop);
  for (std::size_t k = 0; k < places.size(); ++k) {
    left[places[k]] = {seen[k].mean, seen[k].variance + parts_->noise};
  }
  return left;
}

}  // namespace frostline::surrogate
