// SPDX-License-Identifier: Apache-2.0
//
// Draws of every ANOVA term, by Matheron's rule (Wilson et al., "Pathwise
// Conditioning of Gaussian Processes", 2021, eq. 13): a draw of all terms and
// of the values they would have given is corrected by what the real values say.
// Because the kernels of terms have mean 0, a term's draw is its effect.
#include <cmath>
#include <utility>

#include "surrogate/saturated_effects.h"
#include "surrogate/surrogate_parts.h"

namespace frostline::surrogate {
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
  TermDraws(const Evidence& evidence, const StandardRows& rows, Rng& rng)
      : evidence_(evidence),
        rows_(rows),
        axes_(rows.axes.size()),
        roots_(RootsOf(evidence.kernels(), axes_)) {
    for (std::size_t a = 0; a < axes_; ++a) {
      contrasts_.push_back(TrainedAgainstFrozen(rows.axes[a]));
      masses_.emplace_back(
          Eigen::Map<const VectorXd>(rows.axes[a].masses.data(),
                                     static_cast<Index>(rows.axes[a].cells())));
    }
    // What is drawn at the rows alone: triples and noise.
    const double triples = std::exp(evidence.scales()[kTriples]);
    MatrixXd rest = triples * evidence.parts().e3;
    rest.diagonal() += evidence.NoiseOfRows();
    rest_root_ = RootOf(std::move(rest));
    BelieveHigher(triples, rng);
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
  // Of the draw at hand.
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

// Of e3: the part that has axis a in it.
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
                                   bool saturates,
                                   const std::stop_token& stop) const {
  EffectDraws drawn;
  const std::size_t axes = parts_->rows.axes.size();
  for (std::size_t a = 0; a < axes; ++a) {
    for (std::size_t b = a + 1; b < axes; ++b) drawn.pairs.emplace_back(a, b);
  }
  drawn.joint_scale = JointScales(parts_->draws, axes);
  drawn.higher_part = HigherParts(drawn.joint_scale);
  const std::vector<int> shares = Share(parts_->draws, draws);
  Rng rng(seed, 2);
  for (std::size_t s = 0; s < shares.size(); ++s) {
    if (shares[s] == 0) continue;
    if (stop.stop_requested() && !drawn.main.empty()) break;
    TermDraws terms(*parts_->draws[s].evidence, parts_->standard.rows, rng);
    for (int k = 0; k < shares[s]; ++k) {
      if (stop.stop_requested() && !drawn.main.empty()) break;
      terms.Draw(parts_->standard, saturates, drawn, rng);
    }
  }
  return drawn;
}

}  // namespace frostline::surrogate
