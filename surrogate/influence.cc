// SPDX-License-Identifier: Apache-2.0
#include "surrogate/influence.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "surrogate/scales.h"

namespace frostline::surrogate {
namespace {

// Repeats of one point are one loss up to a tenth of all rows. In a space of a
// few points each is most of what there is to know.
constexpr std::size_t kMostOfRows = 10;

// Covariances of all cells' main effects with rows, axis by axis.
MatrixXd MainsWithRows(const Evidence& evidence, const StandardRows& rows) {
  Index cells = 0;
  for (const Axis& axis : rows.axes) cells += static_cast<Index>(axis.cells());
  MatrixXd with(cells, rows.values.size());
  Index begin = 0;
  for (std::size_t a = 0; a < rows.axes.size(); ++a) {
    const MatrixXd& kernel = evidence.kernels().table(a);
    const double variance = std::exp(evidence.scales()[MainScale(a)]);
    for (std::size_t r = 0; r < rows.cells.size(); ++r) {
      with.col(static_cast<Index>(r)).segment(begin, kernel.rows()) =
          variance * kernel.col(rows.cells[r][a]);
    }
    begin += kernel.rows();
  }
  return with;
}

MatrixXd PointsWithRows(const Evidence& evidence, const StandardRows& rows,
                        const std::vector<Cells>& points) {
  if (points.empty()) return MatrixXd(0, rows.values.size());
  MatrixXd with = PartsOf(evidence.kernels(), rows.terms, evidence.scales(),
                          points, rows.cells)
                      .Sum(std::exp(evidence.scales()[kTriples]));
  with.array() += kMeanVariance;
  return with;
}

// Values that are linear in the weights of rows, and what a loss takes off
// them.
struct View {
  VectorXd values;
  MatrixXd of_losses;  // values x rows
};

View MakeView(const MatrixXd& of_weights, const VectorXd& weights,
              const MatrixXd& inverse) {
  return {of_weights * weights, of_weights * inverse};
}

}  // namespace

struct Influence::Parts {
  std::vector<std::size_t> row_of_place;
  std::vector<Loss> repeats;  // of points that ran more than twice
  double middle = 0.0;
  double scale = 1.0;
  std::vector<std::vector<double>> masses;  // by axis and cell
  VectorXd weights;                         // α
  MatrixXd inverse;                         // Q
  View points;
  View mains;  // all cells of the first axis, then of the second, …

  VectorXd ValuesWithout(const View& view, const Loss& lost) const;
};

VectorXd Influence::Parts::ValuesWithout(const View& view,
                                         const Loss& lost) const {
  VectorXd values = view.values;
  const auto count = static_cast<Index>(lost.size());
  if (count == 0) return values;
  const auto at = [&lost](Index i) {
    return static_cast<Index>(lost[static_cast<std::size_t>(i)]);
  };
  MatrixXd among(count, count);
  VectorXd gone(count);
  for (Index i = 0; i < count; ++i) {
    gone[i] = weights[at(i)];
    for (Index j = 0; j < count; ++j) among(i, j) = inverse(at(i), at(j));
  }
  among.llt().solveInPlace(gone);
  for (Index i = 0; i < count; ++i)
    values -= gone[i] * view.of_losses.col(at(i));
  return values;
}

Influence::Influence(const Surrogate& surrogate,
                     const std::vector<Cells>& points) {
  const Surrogate::Parts& from = surrogate.parts();
  const StandardRows& rows = from.standard.rows;
  const Evidence& evidence =
      *from.draws[LikeliestFirst(from.draws, 1)[0]].evidence;
  auto parts = std::make_unique<Parts>();
  parts->row_of_place = from.standard.used;
  parts->middle = from.standard.middle;
  parts->scale = from.standard.scale;
  parts->weights = evidence.weights();
  parts->inverse = evidence.factor().solve(
      MatrixXd::Identity(rows.values.size(), rows.values.size()));
  for (const Axis& axis : rows.axes) parts->masses.push_back(axis.masses);
  parts->points = MakeView(PointsWithRows(evidence, rows, points),
                           parts->weights, parts->inverse);
  parts->mains =
      MakeView(MainsWithRows(evidence, rows), parts->weights, parts->inverse);
  std::map<Cells, Loss> places;
  for (std::size_t i = 0; i < rows.cells.size(); ++i) {
    places[rows.cells[i]].push_back(i);
  }
  for (auto& [cells, same] : places) {
    const bool is_few = kMostOfRows * same.size() <= rows.cells.size();
    if (same.size() > 2 && is_few) parts->repeats.push_back(std::move(same));
  }
  parts_ = std::move(parts);
}

Influence::~Influence() = default;
Influence::Influence(Influence&&) noexcept = default;
Influence& Influence::operator=(Influence&&) noexcept = default;

std::vector<double> Influence::MeansWithout(const Loss& lost) const {
  const VectorXd means = parts_->ValuesWithout(parts_->points, lost);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(means.size()));
  for (const double mean : means) {
    values.push_back(parts_->middle + parts_->scale * mean);
  }
  return values;
}

std::vector<double> Influence::MainVariancesWithout(const Loss& lost) const {
  const VectorXd curves = parts_->ValuesWithout(parts_->mains, lost);
  const double unit = parts_->scale * parts_->scale;
  std::vector<double> variances;
  variances.reserve(parts_->masses.size());
  Index at = 0;
  for (const std::vector<double>& masses : parts_->masses) {
    double variance = 0.0;
    for (const double mass : masses) {
      variance += mass * curves[at] * curves[at];
      ++at;
    }
    variances.push_back(unit * variance);
  }
  return variances;
}

std::optional<std::vector<std::size_t>> Influence::FindBreaking(
    const std::function<double(const Loss&)>& margin,
    const std::stop_token& stop) const {
  const std::size_t count = parts_->row_of_place.size();
  Loss worst;
  double lowest = 0.0;
  const auto look = [&](const Loss& lost) {
    const double left = margin(lost);
    if (!(left < lowest)) return;
    lowest = left;
    worst = lost;
  };
  for (std::size_t i = 0; i < count; ++i) look({i});
  if (worst.empty()) {
    for (const Loss& same : parts_->repeats) look(same);
  }
  for (std::size_t i = 0; i < count && worst.size() != 1; ++i) {
    if (stop.stop_requested()) return std::nullopt;
    if (worst.size() > 2) break;
    for (std::size_t j = 0; j < i; ++j) look({j, i});
  }
  if (worst.empty()) return std::nullopt;
  std::vector<std::size_t> rows;
  rows.reserve(worst.size());
  for (const std::size_t place : worst) {
    rows.push_back(parts_->row_of_place[place]);
  }
  return rows;
}

}  // namespace frostline::surrogate
