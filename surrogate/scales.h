// SPDX-License-Identifier: Apache-2.0
//
// File: scales.h
//
// The scales of a surrogate's kernel: how well a set of them explains the
// values, where their posterior is highest, and draws from it.
#ifndef FROSTLINE_SURROGATE_SCALES_H_
#define FROSTLINE_SURROGATE_SCALES_H_

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <vector>

#include "base/rng.h"
#include "surrogate/rows.h"
#include "surrogate/surrogate.h"

namespace frostline::surrogate {

// The variances of the terms of a kernel, as logarithms, and their usual values
// before any trial (for values of mean 0 and variance 1).
//
//   kernel = Σ_a main_a K_a + e2(joint_a K_a) + triples · e3(joint_a K_a)
//
// e2 and e3 sum products over all pairs and triples of axes (Duvenaud, Nickisch
// and Rasmussen, 2011, eq. 10). Interactions have their own scales, so they can
// be large if main effects are small. The pairs that rows tell most about have
// a factor each.

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using AxisPair = std::pair<std::size_t, std::size_t>;  // rising

// Then come main scales, joint ones, and factors of pairs.
enum SharedScale : Index { kNoise, kLength, kGap, kTriples, kSharedScales };

inline Index MainScale(std::size_t axis) {
  return kSharedScales + static_cast<Index>(axis);
}
inline Index JointScale(std::size_t axis, std::size_t axes) {
  return kSharedScales + static_cast<Index>(axes + axis);
}
inline Index PairScale(std::size_t pair, std::size_t axes) {
  return kSharedScales + static_cast<Index>(2 * axes + pair);
}
inline Index ScaleCount(std::size_t axes, std::size_t pairs) {
  return PairScale(pairs, axes);
}

struct ScalePrior {
  VectorXd mean;
  VectorXd deviation;
};

ScalePrior UsualScales(std::size_t axes, std::size_t pairs,
                       const Usual& usual = {});

// The uncertainty of the mean of a study, in variances of values.
inline constexpr double kMeanVariance = 10.0;

// The kernel of each axis, as a table over pairs of its cells, for one length
// and one gap.
class AxisKernels {
 public:
  AxisKernels(const std::vector<Axis>& axes, double length, double gap);

  const MatrixXd& table(std::size_t axis) const { return tables_[axis]; }
  // Returns K(a_i, c) of one axis, with a column for each of its cells c.
  MatrixXd Beside(std::size_t axis, const std::vector<Cells>& a) const;
  // Returns K(a_i, b_j) of one axis.
  MatrixXd Between(std::size_t axis, const std::vector<Cells>& a,
                   const std::vector<Cells>& b) const;

 private:
  std::vector<MatrixXd> tables_;
};

struct Terms {
  std::size_t axes = 0;
  std::vector<AxisPair> pairs;  // with a factor of their own
};

// Parts stand by order: main effects; e1, e2, e3 of joint scales; what pairs'
// own factors add.
struct GramParts {
  MatrixXd main;
  MatrixXd e1;
  MatrixXd e2;
  MatrixXd e3;
  MatrixXd more;

  // Leaves mean and noise out.
  MatrixXd Sum(double triples) const { return main + e2 + more + triples * e3; }
};

GramParts PartsOf(const AxisKernels& kernels, const Terms& terms,
                  const VectorXd& scales, const std::vector<Cells>& a,
                  const std::vector<Cells>& b);

// The sums of all terms between some points and others, one at a time. It is
// PartsOf(…).Sum(triples), to the bit, without its parts, and what the others
// share is made once.
class TermSums {
 public:
  // Keeps references to kernels and points.
  TermSums(const AxisKernels& kernels, const Terms& terms,
           const VectorXd& scales, const std::vector<Cells>& points);
  ~TermSums();
  TermSums(const TermSums&) = delete;
  TermSums& operator=(const TermSums&) = delete;

  // Writes the sums of all points with this one.
  void With(const Cells& other, Eigen::Ref<VectorXd> sums);

 private:
  struct Columns;
  const std::unique_ptr<Columns> columns_;
};

double VarianceAt(const AxisKernels& kernels, const Terms& terms,
                  const VectorXd& scales, const Cells& at);

struct StandardRows {
  std::vector<Axis> axes;
  Terms terms;
  std::vector<Cells> cells;
  VectorXd values;  // of mean 0 and variance 1
  // The noise of row i is (noise + doubt_i) * spread_i.
  VectorXd doubt;
  VectorXd spread;
};

// What rows say about one set of scales: the log marginal likelihood of the
// values (Rasmussen and Williams, 2006, eq. 5.8), its gradient (eq. 5.9), and
// the expected curvature F_gh = tr(A⁻¹ ∂_g A A⁻¹ ∂_h A) / 2, by random probes
// (Hutchinson, 1990).
class Evidence {
 public:
  // Keeps a reference to the rows.
  Evidence(const StandardRows& rows, VectorXd scales);

  // Returns false if rounding left no positive covariance: nothing else may be
  // asked.
  bool ok() const { return ok_; }
  double value() const { return value_; }
  const VectorXd& scales() const { return scales_; }
  const AxisKernels& kernels() const { return kernels_; }
  const GramParts& parts() const { return parts_; }
  // A = L Lᵀ is the covariance of the values.
  const Eigen::LLT<MatrixXd>& factor() const { return factor_; }
  const VectorXd& weights() const { return weights_; }  // A⁻¹ y
  VectorXd NoiseOfRows() const;

  struct Slopes {
    VectorXd gradient;
    MatrixXd curvature;
  };
  // `probes` are rows x probes, of independent signs or normals.
  Slopes SlopesWith(const MatrixXd& probes, const ForEach& for_each) const;
  // Go by the logarithm of a factor before each pair of axes, in the order (0,
  // 1), (0, 2), ….
  std::vector<double> PairGradients() const;

 private:
  MatrixXd ValueSlopes() const;
  MatrixXd SlopeOf(Index scale) const;
  MatrixXd PairPart(const AxisPair& pair) const;

  const StandardRows& rows_;
  VectorXd scales_;
  AxisKernels kernels_;
  GramParts parts_;
  Eigen::LLT<MatrixXd> factor_;
  VectorXd weights_;
  bool ok_ = false;
  double value_ = 0.0;
};

// Draws sets of scales from their posterior. Fisher scoring finds its mode.
// Draws by the curvature there are weighted by likelihood (importance
// sampling), and the largest weights are cut (Ionides, 2008).

struct Standardised {
  StandardRows rows;
  std::vector<std::size_t> used;  // rising places among the rows given
  double middle = 0.0;            // value = middle + scale * standard value
  double scale = 1.0;
};

// Returns these rows, whose places rise, in standard values.
Standardised Standardise(const Rows& rows, std::vector<std::size_t> used);

// Returns the rows that tell most, the first of all first: each next one is the
// row that the others know least about (pivoted Cholesky; Foster et al., 2009),
// under usual scales. So fewer rows are the first of more. After a stop it
// takes the rows found by then, at least one. All rows come in their own order
// where there are no more.
std::vector<std::size_t> MostTelling(const Rows& rows, std::size_t count,
                                     const std::stop_token& stop = {});

// Returns the first `count` of an order, rising.
std::vector<std::size_t> FirstRising(std::vector<std::size_t> order,
                                     std::size_t count);

// Finds how far off each row is, up to a bound: (nu + r² / noise) / (nu + 1),
// one over its weight under Student-t noise of nu degrees (Lange, Little and
// Taylor, 1989, §3), so that a diverged run is no evidence about its
// neighbours.
void SpreadByResiduals(const Evidence& evidence, StandardRows& rows);

// Returns expected squares of rows' distances to the function; their mean is
// the variance of noise, tails included.
VectorXd SquaresOff(const Evidence& evidence);

VectorXd NormalVector(Index size, Rng& rng);

struct ScaleDraw {
  std::unique_ptr<Evidence> evidence;
  double weight = 0.0;  // they add up to 1
};

// Returns the mode, never null: it ends where no step improves, or if stopped.
std::unique_ptr<Evidence> FindMode(const StandardRows& rows,
                                   const ScalePrior& prior,
                                   const VectorXd& start, int steps,
                                   const std::stop_token& stop = {},
                                   const ForEach& for_each = OneByOne);

// Returns at least one draw; `mode` is among them. A stop leaves the others
// out.
std::vector<ScaleDraw> DrawScales(const StandardRows& rows,
                                  const ScalePrior& prior,
                                  std::unique_ptr<Evidence> mode, int count,
                                  Rng& rng, const std::stop_token& stop = {},
                                  const ForEach& for_each = OneByOne);

struct Surrogate::Parts {
  Rows rows;
  Standardised standard;  // the draws keep references to its rows
  std::vector<ScaleDraw> draws;
  std::vector<double> spread;  // by row
  double noise = 0.0;
};

// The belief about some points under one draw of scales, in standard values.
struct JointBelief {
  VectorXd mean;
  MatrixXd covariance;
};
JointBelief BelieveAt(const Evidence& evidence, const StandardRows& rows,
                      const std::vector<Cells>& points);

// Divides `count` among the sets of scales, by systematic sampling (Kitagawa,
// 1996).
std::vector<int> Share(const std::vector<ScaleDraw>& draws, int count);

std::vector<std::size_t> LikeliestFirst(const std::vector<ScaleDraw>& draws,
                                        std::size_t count);

PointKernel PointKernelOf(const Evidence& evidence, const Terms& terms);

// Returns R with R Rᵀ the covariance, which may be singular.
MatrixXd RootOf(MatrixXd covariance);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SCALES_H_
