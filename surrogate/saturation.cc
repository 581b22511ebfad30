// SPDX-License-Identifier: Apache-2.0
#include "surrogate/saturation.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "surrogate/scales.h"

namespace frostline::surrogate {
namespace {

constexpr std::size_t kSaturationPilotRows = 60;
constexpr int kPilotSteps = 5;
// How far the end may lie below the best value, in deviations of the values;
// so far as the first, the scale is as good as straight.
constexpr double kDistances[] = {10.0, 3.0, 1.0, 0.3};
// A value at its bound is so far above the end, in deviations too.
constexpr double kMargin = 0.05;

double LogDensity(Rows rows, const Saturation& saturation, VectorXd& start,
                  const std::stop_token& stop) {
  double density = 0.0;
  for (double& value : rows.values) {
    density += saturation.LogSlope(value);
    value = saturation.Forward(value);
  }
  const Standardised pilot = Standardise(rows, rows.size());
  const ScalePrior prior = UsualScales(rows.axes.size(), 0);
  const auto mode = FindMode(pilot.rows, prior, start, kPilotSteps, stop);
  start = mode->scales();
  const VectorXd off = (start - prior.mean).cwiseQuotient(prior.deviation);
  return density + mode->value() - 0.5 * off.squaredNorm() -
         static_cast<double>(rows.size()) * std::log(pilot.scale);
}

Rows PilotOf(const Rows& rows, const std::stop_token& stop) {
  Rows pilot;
  pilot.axes = rows.axes;
  for (const std::size_t row : SpreadRows(rows, kSaturationPilotRows, stop)) {
    pilot.cells.push_back(rows.cells[row]);
    pilot.values.push_back(rows.values[row]);
    if (!rows.doubt.empty()) pilot.doubt.push_back(rows.doubt[row]);
  }
  return pilot;
}

}  // namespace

double Saturation::Forward(double value) const {
  return std::log(value - end_);
}

double Saturation::Back(double number) const { return end_ + std::exp(number); }

double Saturation::MeanBack(double mean, double variance) const {
  return end_ + std::exp(mean + variance / 2.0);
}

double Saturation::SquareSlope(const std::vector<double>& values) const {
  double sum = 0.0;
  for (const double value : values) sum += (value - end_) * (value - end_);
  return sum / static_cast<double>(values.size());
}

double Saturation::LogSlope(double value) const {
  return -std::log(value - end_);
}

// The mean of the distances' logarithms, each as likely as the values are under
// it: a choice of one would jump from history to history.
Saturation FindSaturation(const Rows& rows, const SaturationOptions& options) {
  const Rows pilot = PilotOf(rows, options.stop);
  const double best = *std::min_element(rows.values.begin(), rows.values.end());
  const double scale = Standardise(pilot, pilot.size()).scale;
  // Nobody comes nearer to the bound than a small part of the usual way there.
  const double most = best - options.bound + kMargin * scale;
  VectorXd start = UsualScales(rows.axes.size(), 0).mean;
  std::vector<double> distances;
  std::vector<double> densities;
  for (const double part : kDistances) {
    const double distance =
        std::min(std::max(part, options.nearest) * scale, most);
    if (!distances.empty() && distance == distances.back()) continue;
    distances.push_back(distance);
    densities.push_back(
        LogDensity(pilot, Saturation(best - distance), start, options.stop));
  }
  const double likeliest =
      *std::max_element(densities.begin(), densities.end());
  double weights = 0.0;
  double logs = 0.0;
  for (std::size_t k = 0; k < densities.size(); ++k) {
    const double weight = std::exp(densities[k] - likeliest);
    weights += weight;
    logs += weight * std::log(distances[k]);
  }
  return Saturation(best - std::exp(logs / weights));
}

namespace {

// What the ANOVA needs of one pair of axes.
struct PairTable {
  std::size_t a = 0;
  std::size_t b = 0;
  MatrixXd factors;  // 1 + e_ab
  MatrixXd times;    // t_ab
  VectorXd rows;     // E_b t_ab
  VectorXd columns;  // E_a t_ab
  double mean = 0.0;
};

// The function by its level P: a product over axes and pairs.
class Product {
 public:
  Product(const std::vector<VectorXd>& masses, const DrawnTerms& terms)
      : level_(std::exp(terms.mean)), with_(masses.size(), 0.0) {
    u_.reserve(masses.size());
    for (std::size_t a = 0; a < masses.size(); ++a) {
      const VectorXd h = terms.main[a].array().exp();
      const double mean = h.dot(masses[a]);
      level_ *= mean;
      u_.emplace_back(h / mean);
      sums_.emplace_back(VectorXd::Zero(h.size()));
    }
    pairs_.reserve(terms.joint.size());
    for (std::size_t a = 0; a < masses.size(); ++a) {
      for (std::size_t b = a + 1; b < masses.size(); ++b) {
        AddPair(a, b, terms.joint[pairs_.size()], masses);
      }
    }
  }

  double level() const { return level_; }
  double mean() const { return mean_; }
  const std::vector<PairTable>& pairs() const { return pairs_; }

  double At(const Cells& cells) const {
    double product = 1.0;
    for (std::size_t a = 0; a < u_.size(); ++a) product *= u_[a][cells[a]];
    for (const PairTable& one : pairs_) {
      product *= one.factors(cells[one.a], cells[one.b]);
    }
    return product;
  }

  VectorXd Main(std::size_t a) const {
    return (u_[a] * (mean_ - with_[a]) + sums_[a]).array() - mean_;
  }

  MatrixXd Joint(const PairTable& one) const {
    const VectorXd& ua = u_[one.a];
    const VectorXd& ub = u_[one.b];
    const double apart = mean_ - with_[one.a] - with_[one.b] + one.mean;
    MatrixXd table = apart * ua * ub.transpose() + one.times +
                     (sums_[one.a] - one.rows) * ub.transpose() +
                     ua * (sums_[one.b] - one.columns).transpose();
    table.colwise() -= Main(one.a);
    table.rowwise() -= Main(one.b).transpose();
    return table.array() - mean_;
  }

 private:
  void AddPair(std::size_t a, std::size_t b, const MatrixXd& joint,
               const std::vector<VectorXd>& masses) {
    PairTable one;
    one.a = a;
    one.b = b;
    one.factors = joint.array().exp();
    one.times =
        (u_[a] * u_[b].transpose()).array() * (one.factors.array() - 1.0);
    one.rows = one.times * masses[b];
    one.columns = one.times.transpose() * masses[a];
    one.mean = one.rows.dot(masses[a]);
    sums_[a] += one.rows;
    sums_[b] += one.columns;
    with_[a] += one.mean;
    with_[b] += one.mean;
    mean_ += one.mean;
    pairs_.push_back(std::move(one));
  }

  double level_;
  double mean_ = 1.0;  // 1 + T
  std::vector<VectorXd> u_;
  std::vector<VectorXd> sums_;  // Σ_b E_b t_ab
  std::vector<double> with_;    // T_a
  std::vector<PairTable> pairs_;
};

// What is left of the function at one point.
double LeftAt(const Product& product, const DrawnTerms& effects,
              const Cells& cells, double higher) {
  double left = product.At(cells) * std::exp(higher) - product.mean();
  for (std::size_t a = 0; a < effects.main.size(); ++a) {
    left -= effects.main[a][cells[a]];
  }
  for (std::size_t p = 0; p < product.pairs().size(); ++p) {
    const PairTable& one = product.pairs()[p];
    left -= effects.joint[p](cells[one.a], cells[one.b]);
  }
  return left;
}

}  // namespace

void ToOwnScale(const std::vector<VectorXd>& masses,
                const std::vector<Cells>& points, DrawnTerms& terms) {
  const Product product(masses, terms);
  for (std::size_t a = 0; a < masses.size(); ++a) {
    terms.main[a] = product.Main(a);
  }
  for (std::size_t p = 0; p < terms.joint.size(); ++p) {
    terms.joint[p] = product.Joint(product.pairs()[p]);
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    double& higher = terms.higher[static_cast<Index>(i)];
    higher = product.level() * LeftAt(product, terms, points[i], higher);
  }
  for (VectorXd& one : terms.main) one *= product.level();
  for (MatrixXd& one : terms.joint) one *= product.level();
  terms.mean = product.level() * product.mean();
}

}  // namespace frostline::surrogate
