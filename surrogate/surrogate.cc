// SPDX-License-Identifier: Apache-2.0
#include "surrogate/surrogate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "surrogate/saturated_effects.h"
#include "surrogate/saturation.h"
#include "surrogate/scales.h"

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
// Draws used for rows that were not learnt from, which are many.
constexpr std::size_t kDrawsOfOthers = 4;
// Of many points as many at a time as stay in the processor's cache.
constexpr std::size_t kPointsAtATime = 128;
constexpr int kMostDraws = 160;

int DrawsFor(std::size_t rows, std::size_t axes) {
  const double n = static_cast<double>(rows);
  const double work = n * n * (n / 3.0 + 8.0 * static_cast<double>(axes));
  return static_cast<int>(std::clamp(kDrawWork / work,
                                     static_cast<double>(kFewestDraws),
                                     static_cast<double>(kMostDraws)));
}

// Where to look for the mode: of many rows, at that of a few of them. `telling`
// are those that are learnt from, the first of all first.
VectorXd StartOf(const Rows& rows, const std::vector<std::size_t>& telling,
                 const ScalePrior& prior, const SurrogateOptions& options) {
  if (rows.size() <= kPilotRows) return prior.mean;
  const bool is_ordered =
      telling.size() < rows.size() && telling.size() >= kPilotRows;
  const Standardised pilot = Standardise(
      rows,
      FirstRising(
          is_ordered ? telling : MostTelling(rows, kPilotRows, options.stop),
          kPilotRows));
  return FindMode(pilot.rows, prior, prior.mean, kModeSteps, options.stop,
                  options.for_each)
      ->scales();
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
  const std::vector<std::size_t> telling =
      MostTelling(parts->rows, options.most_rows, options.stop);
  parts->standard =
      Standardise(parts->rows, FirstRising(telling, telling.size()));
  StandardRows& standard = parts->standard.rows;
  ScalePrior prior = UsualScales(standard.axes.size(), 0, options.usual);
  const std::stop_token& stop = options.stop;
  const ForEach& for_each = options.for_each;
  auto mode = FindMode(
      standard, prior, StartOf(parts->rows, telling, prior, options),
      parts->standard.used.size() > kPilotRows ? kLastSteps : kModeSteps, stop,
      for_each);
  VectorXd start = mode->scales();
  AddTellingPairs(*mode, standard.terms);
  prior = UsualScales(standard.axes.size(), standard.terms.pairs.size(),
                      options.usual);
  start.conservativeResize(prior.mean.size());
  start.tail(static_cast<Index>(standard.terms.pairs.size())).setZero();
  mode = FindMode(standard, prior, start, kPairSteps, stop, for_each);
  for (int round = 0; round < kSpreadRounds; ++round) {
    SpreadByResiduals(*mode, standard);
    mode =
        FindMode(standard, prior, mode->scales(), kSpreadSteps, stop, for_each);
  }
  const int draws =
      options.scale_draws > 0
          ? options.scale_draws
          : DrawsFor(parts->standard.used.size(), standard.axes.size());
  Rng rng(options.seed, 0);
  parts->draws =
      DrawScales(standard, prior, std::move(mode), draws, rng, stop, for_each);
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
                                       const std::stop_token& stop,
                                       const ForEach& for_each) const {
  const StandardRows& rows = parts_->standard.rows;
  std::vector<Belief> beliefs(points.size());
  if (points.empty()) return beliefs;
  const std::size_t count = std::min(most, parts_->draws.size());
  double weights = 0.0;
  for (std::size_t d = 0; d < count; ++d) weights += parts_->draws[d].weight;
  const std::size_t parts =
      (points.size() + kPointsAtATime - 1) / kPointsAtATime;
  for_each(parts, [&](std::size_t part) {
    const std::size_t begin = part * kPointsAtATime;
    const std::size_t end = std::min(begin + kPointsAtATime, points.size());
    const std::vector<Cells> some(
        points.begin() + static_cast<std::ptrdiff_t>(begin),
        points.begin() + static_cast<std::ptrdiff_t>(end));
    for (std::size_t d = 0; d < count && !stop.stop_requested(); ++d) {
      const Evidence& evidence = *parts_->draws[d].evidence;
      const double weight = parts_->draws[d].weight / weights;
      TermSums sums(evidence.kernels(), rows.terms, evidence.scales(),
                    rows.cells);
      MatrixXd with(static_cast<Index>(rows.cells.size()),
                    static_cast<Index>(some.size()));
      for (std::size_t p = 0; p < some.size(); ++p) {
        sums.With(some[p], with.col(static_cast<Index>(p)));
      }
      with.array() += kMeanVariance;
      const VectorXd mean = with.transpose() * evidence.weights();
      evidence.factor().matrixL().solveInPlace(with);
      for (std::size_t p = 0; p < some.size(); ++p) {
        const auto column = static_cast<Index>(p);
        const double prior =
            kMeanVariance + VarianceAt(evidence.kernels(), rows.terms,
                                       evidence.scales(), some[p]);
        const double left =
            std::max(prior - with.col(column).squaredNorm(), 0.0);
        Belief& one = beliefs[begin + p];
        one.mean += weight * mean[column];
        one.variance += weight * (left + mean[column] * mean[column]);
      }
    }
  });
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

void OneByOne(std::size_t count, const std::function<void(std::size_t)>& body) {
  for (std::size_t k = 0; k < count; ++k) body(k);
}

std::vector<Belief> Surrogate::LeftOut(const std::stop_token& stop,
                                       const ForEach& for_each) const {
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
  const std::vector<Belief> seen =
      Believe(others, kDrawsOfOthers, stop, for_each);
  for (std::size_t k = 0; k < places.size(); ++k) {
    left[places[k]] = {seen[k].mean, seen[k].variance + parts_->noise};
  }
  return left;
}

// Draws every ANOVA term by Matheron's rule (Wilson et al., "Pathwise
// Conditioning of Gaussian Processes", 2021, eq. 13): draws all terms and the
// values that they would give, then corrects them by the real values. Kernels
// of terms have mean 0, so a term's draw is its effect.

namespace {

constexpr Index kHigherPoints = 64;

// Roots of the axes' kernels: columns for all cells.
std::vector<MatrixXd> RootsOf(const AxisKernels& kernels, std::size_t axes) {
  std::vector<MatrixXd> roots;
  roots.reserve(axes);
  for (std::size_t a = 0; a < axes; ++a) {
    roots.push_back(RootOf(kernels.table(a)));
  }
  return roots;
}

MatrixXd NormalTable(Index rows, Index columns, Rng& rng) {
  MatrixXd table(rows, columns);
  for (double& one : table.reshaped()) one = rng.Normal();
  return table;
}

std::vector<Cells> PointsOf(const std::vector<Axis>& axes, Rng& rng) {
  std::vector<Cells> points;
  for (Index p = 0; p < kHigherPoints; ++p) {
    Cells& cells = points.emplace_back();
    for (const Axis& axis : axes) {
      double left = rng.Uniform();
      std::size_t cell = 0;
      while (cell + 1 < axis.cells() && left >= axis.masses[cell]) {
        left -= axis.masses[cell++];
      }
      cells.push_back(static_cast<std::uint8_t>(cell));
    }
  }
  return points;
}

// Weights of cells that say how much trained is above frozen.
VectorXd TrainedAgainstFrozen(const Axis& axis) {
  VectorXd weights = VectorXd::Zero(static_cast<Index>(axis.cells()));
  double frozen = 0.0;
  double trained = 0.0;
  for (std::size_t c = 0; c < axis.cells(); ++c) {
    if (axis.kinds[c] == CellKind::kFrozen) frozen += axis.masses[c];
    if (axis.kinds[c] == CellKind::kOrdered) trained += axis.masses[c];
  }
  if (!(frozen > 0.0) || !(trained > 0.0)) return weights;
  for (std::size_t c = 0; c < axis.cells(); ++c) {
    const auto at = static_cast<Index>(c);
    if (axis.kinds[c] == CellKind::kFrozen) {
      weights[at] = -axis.masses[c] / frozen;
    } else if (axis.kinds[c] == CellKind::kOrdered) {
      weights[at] = axis.masses[c] / trained;
    }
  }
  return weights;
}

// All effects under one draw of scales.
class TermDraws {
 public:
  // `rest_root` is RestRootOf the evidence.
  TermDraws(const Evidence& evidence, const StandardRows& rows,
            MatrixXd rest_root, Rng& rng)
      : evidence_(evidence),
        rows_(rows),
        axes_(rows.axes.size()),
        roots_(RootsOf(evidence.kernels(), axes_)),
        rest_root_(std::move(rest_root)) {
    for (std::size_t a = 0; a < axes_; ++a) {
      contrasts_.push_back(TrainedAgainstFrozen(rows.axes[a]));
      masses_.emplace_back(
          Eigen::Map<const VectorXd>(rows.axes[a].masses.data(),
                                     static_cast<Index>(rows.axes[a].cells())));
    }
    BelieveHigher(std::exp(evidence.scales()[kTriples]), rng);
  }

  // Of what is drawn at the rows alone: triples and noise.
  static MatrixXd RestRootOf(const Evidence& evidence) {
    MatrixXd rest = std::exp(evidence.scales()[kTriples]) * evidence.parts().e3;
    rest.diagonal() += evidence.NoiseOfRows();
    return RootOf(std::move(rest));
  }

  void Draw(const Standardised& standard, bool saturates, EffectDraws& draws,
            Rng& rng) {
    DrawPrior(rng);
    Correct();
    drawn_terms_.higher =
        higher_mean_ + higher_root_ * NormalVector(kHigherPoints, rng);
    ToValues(standard);
    if (saturates) ToOwnScale(masses_, points_, drawn_terms_);
    std::vector<double>& main = draws.main.emplace_back();
    auto& curves = draws.curves.emplace_back();
    for (std::size_t a = 0; a < axes_; ++a) {
      const VectorXd& curve = drawn_terms_.main[a];
      main.push_back(curve.cwiseAbs2().dot(masses_[a]));
      curves.emplace_back(curve.begin(), curve.end());
    }
    std::vector<double>& joint = draws.joint.emplace_back();
    std::vector<double>& both = draws.both.emplace_back();
    for (std::size_t p = 0; p < draws.pairs.size(); ++p) {
      const auto [a, b] = draws.pairs[p];
      const MatrixXd& table = drawn_terms_.joint[p];
      joint.push_back(masses_[a].dot(table.cwiseAbs2() * masses_[b]));
      both.push_back(contrasts_[a].dot(table * contrasts_[b]));
    }
    draws.higher.push_back(drawn_terms_.higher.squaredNorm() /
                           static_cast<double>(kHigherPoints));
  }

 private:
  double MainVariance(std::size_t a) const {
    return std::exp(evidence_.scales()[MainScale(a)]);
  }
  double PairVariance(std::size_t a, std::size_t b) const {
    double log_variance = evidence_.scales()[JointScale(a, axes_)] +
                          evidence_.scales()[JointScale(b, axes_)];
    for (std::size_t p = 0; p < rows_.terms.pairs.size(); ++p) {
      if (rows_.terms.pairs[p] != AxisPair{a, b}) continue;
      log_variance += evidence_.scales()[PairScale(p, axes_)];
    }
    return std::exp(log_variance);
  }

  void BelieveHigher(double triples, Rng& rng) {
    points_ = PointsOf(rows_.axes, rng);
    MatrixXd with = triples * PartsOf(evidence_.kernels(), rows_.terms,
                                      evidence_.scales(), rows_.cells, points_)
                                  .e3;
    MatrixXd covariance =
        triples * PartsOf(evidence_.kernels(), rows_.terms, evidence_.scales(),
                          points_, points_)
                      .e3;
    higher_mean_ = with.transpose() * evidence_.weights();
    evidence_.factor().matrixL().solveInPlace(with);
    covariance.noalias() -= with.transpose() * with;
    higher_root_ = RootOf(std::move(covariance));
  }

  void DrawPrior(Rng& rng) {
    drawn_terms_.mean = std::sqrt(kMeanVariance) * rng.Normal();
    drawn_ = rest_root_ * NormalVector(rows_.values.size(), rng);
    drawn_.array() += drawn_terms_.mean;
    drawn_terms_.main.clear();
    drawn_terms_.joint.clear();
    for (std::size_t a = 0; a < axes_; ++a) {
      drawn_terms_.main.emplace_back(std::sqrt(MainVariance(a)) * roots_[a] *
                                     NormalVector(roots_[a].cols(), rng));
      for (Index i = 0; i < drawn_.size(); ++i) {
        drawn_[i] +=
            drawn_terms_.main[a][rows_.cells[static_cast<std::size_t>(i)][a]];
      }
    }
    for (std::size_t a = 0; a < axes_; ++a) {
      for (std::size_t b = a + 1; b < axes_; ++b) {
        drawn_terms_.joint.emplace_back(
            std::sqrt(PairVariance(a, b)) * roots_[a] *
            NormalTable(roots_[a].cols(), roots_[b].cols(), rng) *
            roots_[b].transpose());
        const MatrixXd& table = drawn_terms_.joint.back();
        for (Index i = 0; i < drawn_.size(); ++i) {
          const Cells& cells = rows_.cells[static_cast<std::size_t>(i)];
          drawn_[i] += table(cells[a], cells[b]);
        }
      }
    }
  }

  // Adds to every term its covariance with the rows times A⁻¹ (y - drawn).
  void Correct() {
    const VectorXd off = evidence_.factor().solve(rows_.values - drawn_);
    drawn_terms_.mean += kMeanVariance * off.sum();
    std::size_t p = 0;
    for (std::size_t a = 0; a < axes_; ++a) {
      const MatrixXd& k = evidence_.kernels().table(a);
      VectorXd sums = VectorXd::Zero(k.rows());
      for (Index i = 0; i < off.size(); ++i) {
        sums[rows_.cells[static_cast<std::size_t>(i)][a]] += off[i];
      }
      drawn_terms_.main[a] += MainVariance(a) * (k * sums);
      for (std::size_t b = a + 1; b < axes_; ++b, ++p) {
        const MatrixXd& other = evidence_.kernels().table(b);
        MatrixXd pair_sums = MatrixXd::Zero(k.rows(), other.rows());
        for (Index i = 0; i < off.size(); ++i) {
          const Cells& cells = rows_.cells[static_cast<std::size_t>(i)];
          pair_sums(cells[a], cells[b]) += off[i];
        }
        drawn_terms_.joint[p] += PairVariance(a, b) * (k * pair_sums * other);
      }
    }
  }

  // From standard values to those that the process was told.
  void ToValues(const Standardised& standard) {
    drawn_terms_.mean = standard.middle + standard.scale * drawn_terms_.mean;
    for (VectorXd& one : drawn_terms_.main) one *= standard.scale;
    for (MatrixXd& one : drawn_terms_.joint) one *= standard.scale;
    drawn_terms_.higher *= standard.scale;
  }

  const Evidence& evidence_;
  const StandardRows& rows_;
  std::size_t axes_;
  std::vector<MatrixXd> roots_;
  std::vector<VectorXd> masses_;
  std::vector<VectorXd> contrasts_;
  MatrixXd rest_root_;
  std::vector<Cells> points_;
  VectorXd higher_mean_;
  MatrixXd higher_root_;
  // What belongs to the current draw.
  VectorXd drawn_;
  DrawnTerms drawn_terms_;
};

// How large interactions with each axis are, on average over the scales.
std::vector<double> JointScales(const std::vector<ScaleDraw>& draws,
                                std::size_t axes) {
  std::vector<double> scales(axes, 0.0);
  for (const ScaleDraw& draw : draws) {
    for (std::size_t a = 0; a < axes; ++a) {
      scales[a] +=
          draw.weight * std::exp(draw.evidence->scales()[JointScale(a, axes)]);
    }
  }
  return scales;
}

// Returns for each axis the part of e3 that the axis is in.
std::vector<double> HigherParts(const std::vector<double>& scales) {
  double e1 = 0.0, e2 = 0.0, e3 = 0.0;
  for (const double v : scales) {
    e3 += v * e2;
    e2 += v * e1;
    e1 += v;
  }
  std::vector<double> parts;
  parts.reserve(scales.size());
  for (const double v : scales) {
    parts.push_back(e3 > 0.0 ? v * (e2 - v * (e1 - v)) / e3 : 0.0);
  }
  return parts;
}

}  // namespace

EffectDraws Surrogate::DrawEffects(int draws, std::uint64_t seed,
                                   bool saturates, const std::stop_token& stop,
                                   const ForEach& for_each) const {
  EffectDraws drawn;
  const std::size_t axes = parts_->rows.axes.size();
  for (std::size_t a = 0; a < axes; ++a) {
    for (std::size_t b = a + 1; b < axes; ++b) drawn.pairs.emplace_back(a, b);
  }
  drawn.joint_scale = JointScales(parts_->draws, axes);
  drawn.higher_part = HigherParts(drawn.joint_scale);
  const std::vector<int> shares = Share(parts_->draws, draws);
  // Chance has no part in these, and they take long.
  std::vector<MatrixXd> rest_roots(shares.size());
  for_each(shares.size(), [&](std::size_t s) {
    if (shares[s] == 0) return;
    rest_roots[s] = TermDraws::RestRootOf(*parts_->draws[s].evidence);
  });
  Rng rng(seed, 2);
  for (std::size_t s = 0; s < shares.size(); ++s) {
    if (shares[s] == 0) continue;
    if (stop.stop_requested() && !drawn.main.empty()) break;
    // Who stops the computation may have stopped that, too.
    if (rest_roots[s].size() == 0) {
      rest_roots[s] = TermDraws::RestRootOf(*parts_->draws[s].evidence);
    }
    TermDraws terms(*parts_->draws[s].evidence, parts_->standard.rows,
                    std::move(rest_roots[s]), rng);
    for (int k = 0; k < shares[s]; ++k) {
      if (stop.stop_requested() && !drawn.main.empty()) break;
      terms.Draw(parts_->standard, saturates, drawn, rng);
    }
  }
  return drawn;
}

std::vector<double> CovarianceAt(const Surrogate& surrogate,
                                 const std::vector<Cells>& points,
                                 std::size_t draws) {
  const Surrogate::Parts& parts = surrogate.parts();
  const auto size = static_cast<Index>(points.size());
  MatrixXd sum = MatrixXd::Zero(size, size);
  double whole = 0.0;
  for (const std::size_t s : LikeliestFirst(parts.draws, draws)) {
    const ScaleDraw& draw = parts.draws[s];
    const JointBelief belief =
        BelieveAt(*draw.evidence, parts.standard.rows, points);
    sum += draw.weight * belief.covariance;
    whole += draw.weight;
  }
  sum *= parts.standard.scale * parts.standard.scale / whole;
  return {sum.data(), sum.data() + sum.size()};
}

std::vector<std::size_t> LikeliestFirst(const std::vector<ScaleDraw>& draws,
                                        std::size_t count) {
  std::vector<std::size_t> order(draws.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&draws](std::size_t a, std::size_t b) {
                     return draws[a].weight > draws[b].weight;
                   });
  order.resize(std::min(count, order.size()));
  return order;
}

AxisWalk::AxisWalk(const Surrogate& surrogate, std::size_t draws) {
  const Surrogate::Parts& parts = surrogate.parts();
  const StandardRows& rows = parts.standard.rows;
  rows_ = rows.cells;
  const std::vector<std::size_t> order = LikeliestFirst(parts.draws, draws);
  double whole = 0.0;
  for (const std::size_t s : order) whole += parts.draws[s].weight;
  for (const std::size_t s : order) {
    const Evidence& evidence = *parts.draws[s].evidence;
    const double share = parts.draws[s].weight / whole;
    Draw& draw = draws_.emplace_back();
    draw.kernel = PointKernelOf(evidence, rows.terms);
    const double unit = share * parts.standard.scale;
    draw.base = share * parts.standard.middle +
                unit * kMeanVariance * evidence.weights().sum();
    for (const double weight : evidence.weights()) {
      draw.weights.push_back(unit * weight);
    }
  }
}

std::vector<double> AxisWalk::Along(std::size_t axis,
                                    const Cells& cells) const {
  const std::size_t axes = draws_.front().kernel.axes();
  const std::size_t count = draws_.front().kernel.cells[axis];
  std::vector<double> means(count, 0.0);
  std::vector<const double*> kernel(axes);
  std::vector<double> joint(axes);  // of the row at hand
  for (const Draw& draw : draws_) {
    const PointKernel& of = draw.kernel;
    for (std::size_t a = 0; a < axes; ++a) kernel[a] = of.Row(a, cells);
    double still = draw.base;                // of the other axes alone
    std::vector<double> moving(count, 0.0);  // times the axis' own kernel
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      double main = 0.0, e1 = 0.0, e2 = 0.0, e3 = 0.0;
      for (std::size_t a = 0; a < axes; ++a) {
        if (a == axis) continue;
        const double k = kernel[a][rows_[r][a]];
        const double z = of.joint[a] * k;
        joint[a] = z;
        main += of.main[a] * k;
        e3 += z * e2;
        e2 += z * e1;
        e1 += z;
      }
      joint[axis] = 0.0;
      double more = 0.0;    // of pairs of the others
      double beside = 0.0;  // of pairs with the axis
      for (const PointKernel::PairTerm& pair : of.pairs) {
        more += pair.more * joint[pair.first] * joint[pair.second];
      }
      for (const PointKernel::PairTerm& pair : of.pairs) {
        if (pair.first == axis) beside += pair.more * joint[pair.second];
        if (pair.second == axis) beside += pair.more * joint[pair.first];
      }
      const double weight = draw.weights[r];
      still += weight * (main + e2 + more + of.triples * e3);
      moving[rows_[r][axis]] +=
          weight *
          (of.main[axis] + of.joint[axis] * (e1 + beside + of.triples * e2));
    }
    for (std::size_t c = 0; c < count; ++c) {
      const double* const own = of.tables[axis].data() + c * count;
      means[c] += std::inner_product(moving.begin(), moving.end(), own, still);
    }
  }
  return means;
}

double AxisWalk::At(const Cells& cells) const {
  return Along(0, cells)[cells[0]];
}

namespace {

StandardRows RowsWithoutValues(const std::vector<Axis>& axes,
                               const std::vector<Cells>& taken) {
  const auto n = static_cast<Index>(taken.size());
  return {.axes = axes,
          .terms = {.axes = axes.size(), .pairs = {}},
          .cells = taken,
          .values = VectorXd::Zero(n),
          .doubt = VectorXd::Zero(n),
          .spread = VectorXd::Ones(n)};
}

// Covariances of one axis' effect, at its cells, with runs.
MatrixXd EffectWith(const MatrixXd& kernel, double variance, std::size_t axis,
                    const std::vector<Cells>& runs) {
  MatrixXd with(static_cast<Index>(runs.size()), kernel.cols());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    with.row(static_cast<Index>(i)) = variance * kernel.row(runs[i][axis]);
  }
  return with;
}

}  // namespace

std::vector<double> Telling(const std::vector<Axis>& axes,
                            const std::vector<Cells>& taken,
                            const std::vector<Cells>& candidates) {
  const VectorXd scales = UsualScales(axes.size(), 0).mean;
  const double triples = std::exp(scales[kTriples]);
  const StandardRows rows = RowsWithoutValues(axes, taken);
  const Evidence evidence(rows, scales);
  const auto lower = evidence.factor().matrixL();
  MatrixXd with =
      PartsOf(evidence.kernels(), rows.terms, scales, taken, candidates)
          .Sum(triples);
  with.array() += kMeanVariance;
  lower.solveInPlace(with);
  // What a run at a candidate would show varies by so much.
  VectorXd spread(with.cols());
  for (Index c = 0; c < with.cols(); ++c) {
    const std::vector<Cells> own = {candidates[static_cast<std::size_t>(c)]};
    const GramParts at =
        PartsOf(evidence.kernels(), rows.terms, scales, own, own);
    spread[c] = std::max(kMeanVariance + at.Sum(triples)(0, 0) -
                             with.col(c).squaredNorm(),
                         0.0) +
                std::exp(scales[kNoise]);
  }
  VectorXd told = VectorXd::Zero(with.cols());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const MatrixXd& kernel = evidence.kernels().table(a);
    const double variance = std::exp(scales[MainScale(a)]);
    MatrixXd shared = EffectWith(kernel, variance, a, candidates);
    MatrixXd known = EffectWith(kernel, variance, a, taken);
    lower.solveInPlace(known);
    shared.noalias() -= with.transpose() * known;
    const Eigen::Map<const VectorXd> masses(axes[a].masses.data(),
                                            kernel.cols());
    told += shared.cwiseAbs2() * masses;
  }
  told.array() /= spread.array();
  return {told.begin(), told.end()};
}

}  // namespace frostline::surrogate
