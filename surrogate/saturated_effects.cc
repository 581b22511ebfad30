// SPDX-License-Identifier: Apache-2.0
#include "surrogate/saturated_effects.h"

#include <cmath>
#include <utility>

namespace frostline::surrogate {
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
