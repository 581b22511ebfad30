// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/level_effects.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "importance/measure/numbers.h"
#include "statistics/law.h"

namespace frostline::importance {
namespace {

// Multiplies numbers by cell of a term, the last axis fastest, with the kernel
// of every axis in turn; with `squared`, with the kernel's elements squared.
std::vector<double> TimesKernels(const std::vector<EffectAxis>& axes,
                                 const EffectTerm& term,
                                 std::vector<double> table, bool squared) {
  std::size_t inner = table.size();
  for (const std::size_t axis : term) {
    const std::size_t n = axes[axis].cells();
    inner /= n;
    std::vector<double> next(table.size(), 0.0);
    for (std::size_t outer = 0; outer < table.size(); outer += n * inner) {
      for (std::size_t a = 0; a < n; ++a) {
        double* const to = &next[outer + a * inner];
        for (std::size_t b = 0; b < n; ++b) {
          const double k = axes[axis].kernel[a * n + b];
          const double factor = squared ? k * k : k;
          const double* const from = &table[outer + b * inner];
          for (std::size_t i = 0; i < inner; ++i) to[i] += factor * from[i];
        }
      }
    }
    table = std::move(next);
  }
  return table;
}

// Sum over the trials of the prior variance where they lie.
double KernelTrace(const std::vector<EffectAxis>& axes, const EffectTerm& term,
                   const std::vector<double>& counts) {
  double trace = 0.0;
  for (std::size_t cell = 0; cell < counts.size(); ++cell) {
    double variance = counts[cell];
    std::size_t rest = cell;
    for (std::size_t i = term.size(); i-- > 0;) {
      const std::size_t n = axes[term[i]].cells();
      variance *= axes[term[i]].kernel[(rest % n) * (n + 1)];
      rest /= n;
    }
    trace += variance;
  }
  return trace;
}

std::size_t CellsOf(const std::vector<EffectAxis>& axes,
                    const EffectTerm& term) {
  std::size_t cells = 1;
  for (const std::size_t axis : term) cells *= axes[axis].cells();
  return cells;
}

std::size_t CellOfRow(const std::vector<EffectAxis>& axes,
                      const EffectTerm& term, std::size_t row) {
  std::size_t cell = 0;
  for (const std::size_t axis : term) {
    cell = cell * axes[axis].cells() + axes[axis].cell_of_row[row];
  }
  return cell;
}

}  // namespace

std::size_t WidthOf(const std::vector<EffectAxis>& axes,
                    const EffectTerm& term) {
  std::size_t width = 1;
  for (const std::size_t axis : term) width *= axes[axis].functions;
  return width;
}

std::vector<double> CentredColumns(const std::vector<EffectAxis>& axes,
                                   const EffectTerm& term) {
  const std::size_t rows = axes[term[0]].cell_of_row.size();
  const std::size_t width = WidthOf(axes, term);
  std::vector<double> columns(rows * width, 1.0);
  for (std::size_t column = 0; column < width; ++column) {
    double* const values = &columns[column * rows];
    std::size_t rest = column;
    for (std::size_t i = term.size(); i-- > 0;) {
      const EffectAxis& axis = axes[term[i]];
      const std::size_t f = rest % axis.functions;
      rest /= axis.functions;
      for (std::size_t row = 0; row < rows; ++row) {
        values[row] *= axis.basis[axis.cell_of_row[row] * axis.functions + f];
      }
    }
    double mean = 0.0;
    for (std::size_t row = 0; row < rows; ++row) mean += values[row];
    mean /= static_cast<double>(rows);
    for (std::size_t row = 0; row < rows; ++row) values[row] -= mean;
  }
  return columns;
}

std::vector<double> PriorOf(const std::vector<EffectAxis>& axes,
                            const EffectTerm& term) {
  std::vector<double> prior = {1.0};
  for (const std::size_t axis : term) {
    std::vector<double> finer;
    for (const double outer : prior) {
      for (const double own : axes[axis].prior) finer.push_back(outer * own);
    }
    prior = std::move(finer);
  }
  return prior;
}

TermDesign DesignOf(const std::vector<EffectAxis>& axes,
                    const EffectTerm& term) {
  const std::size_t rows = axes[term[0]].cell_of_row.size();
  std::vector<double> counts(CellsOf(axes, term), 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    counts[CellOfRow(axes, term, row)] += 1.0;
  }
  TermDesign design;
  design.trace = KernelTrace(axes, term, counts);
  const double squares =
      Dot(counts.data(), TimesKernels(axes, term, counts, true).data(),
          counts.size());
  const double freedom =
      squares - design.trace * design.trace / static_cast<double>(rows);
  if (freedom > 1e-9 * squares && design.trace > 0.0) design.freedom = freedom;
  return design;
}

TermEvidence WeighTerm(const std::vector<EffectAxis>& axes,
                       const EffectTerm& term, const TermDesign& design,
                       const std::vector<double>& residuals, double variance) {
  TermEvidence evidence;
  if (!(design.freedom > 0.0) || !(variance > 0.0)) return evidence;
  std::vector<double> sums(CellsOf(axes, term), 0.0);
  for (std::size_t row = 0; row < residuals.size(); ++row) {
    sums[CellOfRow(axes, term, row)] += residuals[row];
  }
  const double quadratic = Dot(
      sums.data(), TimesKernels(axes, term, sums, false).data(), sums.size());
  evidence.variance = (quadratic - variance * design.trace) / design.freedom;
  evidence.deviation = variance * std::sqrt(2.0 / design.freedom);
  // A chi-squared with the quadratic form's own mean and variance.
  const double scale = design.freedom / design.trace;
  evidence.log_p = statistics::LogChiSquaredTail(quadratic / variance / scale,
                                                 design.trace / scale);
  return evidence;
}

namespace {

// Pairs, and triples, are sought among so many axes of the largest effect.
constexpr std::size_t kMaxPairAxes = 64;
constexpr std::size_t kMaxTripleAxes = 14;
constexpr std::size_t kMaxTripleCells = 1000;
constexpr std::size_t kMinTrialsForPairs = 20;
constexpr std::size_t kMinTrialsForTriples = 60;

// The first so many axes by falling `weight`, in their own order.
std::vector<std::size_t> Heaviest(const std::vector<EffectAxis>& axes,
                                  const std::vector<double>& weight,
                                  std::size_t most) {
  const std::vector<int> ranks = RankByFalling(weight);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].functions > 0 && ranks[i] <= static_cast<int>(most)) {
      kept.push_back(i);
    }
  }
  return kept;
}

}  // namespace

std::vector<EffectTerm> CandidateTerms(const std::vector<EffectAxis>& axes,
                                       const std::vector<double>& weight,
                                       std::size_t rows) {
  std::vector<EffectTerm> terms;
  if (rows < kMinTrialsForPairs) return terms;
  const auto paired = Heaviest(axes, weight, kMaxPairAxes);
  for (std::size_t a = 0; a < paired.size(); ++a) {
    for (std::size_t b = a + 1; b < paired.size(); ++b) {
      terms.push_back({paired[a], paired[b]});
    }
  }
  if (rows < kMinTrialsForTriples) return terms;
  const auto tripled = Heaviest(axes, weight, kMaxTripleAxes);
  for (std::size_t a = 0; a < tripled.size(); ++a) {
    for (std::size_t b = a + 1; b < tripled.size(); ++b) {
      for (std::size_t c = b + 1; c < tripled.size(); ++c) {
        const std::size_t cells = axes[tripled[a]].cells() *
                                  axes[tripled[b]].cells() *
                                  axes[tripled[c]].cells();
        if (cells > kMaxTripleCells) continue;
        terms.push_back({tripled[a], tripled[b], tripled[c]});
      }
    }
  }
  return terms;
}

namespace {

// Columns of the model: the work grows with the cube.
constexpr std::size_t kMaxColumns = 512;
constexpr std::size_t kMaxMainColumns = 384;
// How many terms may enter by chance where there is nothing.
constexpr double kFalsePairs = 0.25;
constexpr double kFalseTriples = 0.1;
constexpr int kRounds = 8;
constexpr std::size_t kTermsPerRound = 4;
constexpr int kRoundIterations = 6;
constexpr int kLastIterations = 60;

}  // namespace

LevelEffects::LevelEffects(std::vector<EffectAxis> axes,
                           std::vector<double> targets,
                           const std::stop_token& stop)
    : axes_(std::move(axes)),
      ridge_(std::move(targets)),
      rows_(ridge_.residuals().size()) {
  AddMainEffects(stop);
  ridge_.Fit(kRoundIterations, stop);
  ChooseGrading();
  ridge_.Fit(kRoundIterations, stop);
  std::vector<double> weight(axes_.size(), 0.0);
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    weight[terms_[t][0]] = Variance(t);
  }
  for (const EffectTerm& term : CandidateTerms(axes_, weight, rows_)) {
    if (stop.stop_requested()) return;
    left_out_.push_back({term, {}, DesignOf(axes_, term)});
  }
  for (int round = 0; round < kRounds && AddStrongest(stop); ++round) {
    ridge_.Fit(kRoundIterations, stop);
  }
  ChooseGrading();
  ridge_.Fit(kLastIterations, stop);
  Weigh(stop);
}

// All, or where they are too many those that alone tell most.
void LevelEffects::AddMainEffects(const std::stop_token& stop) {
  const double variance = ridge_.ResidualVariance();
  std::vector<double> evidence;
  evidence.reserve(axes_.size());
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    evidence.push_back(-WeighTerm(axes_, {i}, DesignOf(axes_, {i}),
                                  ridge_.residuals(), variance)
                            .log_p);
  }
  std::vector<std::size_t> order(axes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return evidence[a] > evidence[b]; });
  std::size_t columns = 0;
  std::vector<bool> enters(axes_.size(), false);
  for (const std::size_t i : order) {
    columns += axes_[i].functions;
    enters[i] = axes_[i].functions > 0 && columns <= kMaxMainColumns;
  }
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (enters[i] && !stop.stop_requested()) AddTerm({i});
  }
}

void LevelEffects::Weigh(const std::stop_token& stop) {
  const double variance = ridge_.ResidualVariance();
  for (LeftOutTerm& one : left_out_) {
    if (stop.stop_requested()) return;
    one.evidence =
        WeighTerm(axes_, one.term, one.design, ridge_.residuals(), variance);
  }
}

// Whether any entered.
bool LevelEffects::AddStrongest(const std::stop_token& stop) {
  Weigh(stop);
  if (stop.stop_requested()) return false;
  double pairs = 0.0;
  for (const LeftOutTerm& one : left_out_) {
    pairs += one.term.size() == 2 ? 1.0 : 0.0;
  }
  const double triples = static_cast<double>(left_out_.size()) - pairs;
  std::stable_sort(left_out_.begin(), left_out_.end(),
                   [](const LeftOutTerm& a, const LeftOutTerm& b) {
                     return a.evidence.log_p < b.evidence.log_p;
                   });
  std::size_t added = 0;
  std::vector<LeftOutTerm> still_out;
  for (LeftOutTerm& one : left_out_) {
    const double chance =
        one.term.size() == 2 ? kFalsePairs / pairs : kFalseTriples / triples;
    if (added < kTermsPerRound && one.evidence.deviation > 0.0 &&
        one.evidence.log_p < std::log(chance) &&
        ridge_.columns() + WidthOf(axes_, one.term) <= kMaxColumns) {
      AddTerm(one.term);
      ++added;
    } else {
      still_out.push_back(std::move(one));
    }
  }
  left_out_ = std::move(still_out);
  return added > 0;
}

void LevelEffects::AddTerm(const EffectTerm& term) {
  ridge_.AddGroup(CentredColumns(axes_, term));
  terms_.push_back(term);
}

double LevelEffects::Variance(std::size_t t) const {
  return ridge_.ExpectedSquares(t, PriorOf(axes_, terms_[t]));
}

std::vector<double> LevelEffects::Table(std::size_t t) const {
  const bool live = ridge_.variance(t) > 0.0;
  // Coefficients turned into values axis by axis, functions into cells.
  std::vector<double> table =
      live ? ridge_.Coefficients(t)
           : std::vector<double>(WidthOf(axes_, terms_[t]), 0.0);
  std::size_t outer = 1;
  for (const std::size_t axis : terms_[t]) {
    const EffectAxis& cut = axes_[axis];
    const std::size_t inner = table.size() / outer / cut.functions;
    std::vector<double> next(outer * cut.cells() * inner, 0.0);
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t c = 0; c < cut.cells(); ++c) {
        for (std::size_t f = 0; f < cut.functions; ++f) {
          const double factor = cut.basis[c * cut.functions + f];
          for (std::size_t i = 0; i < inner; ++i) {
            next[(o * cut.cells() + c) * inner + i] +=
                factor * table[(o * cut.functions + f) * inner + i];
          }
        }
      }
    }
    table = std::move(next);
    outer *= cut.cells();
  }
  return table;
}

double LevelEffects::AmplitudeVariance() const {
  const double left = static_cast<double>(rows_) - ridge_.degrees_of_freedom();
  return ridge_.noise() / std::max(left, 1.0);
}

namespace {

// What of a main effect's prior variance may be graded.
constexpr std::array kGradedParts = {0.0, 0.5, 0.8, 0.95};
constexpr int kGradedSteps = 24;

// Returns twice the logarithm of the likelihood of coefficients with these
// prior variances, up to a constant.
double LogLikelihood(const std::vector<double>& precision,
                     const std::vector<double>& pull,
                     const std::vector<double>& weights, double variance) {
  double log = 0.0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double own = variance * weights[k];
    const double known = 1.0 + own * precision[k];
    log += pull[k] * pull[k] * own / known - std::log(known);
  }
  return log;
}

}  // namespace

// Chooses for each main effect which part of its prior variance is graded: the
// part of largest likelihood, with functions taken for uncorrelated.
void LevelEffects::ChooseGrading() {
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const std::vector<double>& graded = axes_[terms_[t][0]].graded;
    const double variance = ridge_.variance(t);
    if (terms_[t].size() > 1 || graded.empty() || !(variance > 0.0)) continue;
    const std::vector<double> mean = ridge_.Coefficients(t);
    const std::vector<double> unsure = ridge_.Uncertainty(t);
    const std::size_t n = graded.size();
    std::vector<double> precision(n), pull(n), best(n, 1.0);
    for (std::size_t k = 0; k < n; ++k) {
      const double left = unsure[k];
      const double prior = ridge_.PriorVariance(ridge_.BeginOfGroup(t) + k, t);
      precision[k] = std::max(1.0 / left - 1.0 / prior, 0.0);
      pull[k] = mean[k] / left;
    }
    double highest = -1e300;
    for (const double part : kGradedParts) {
      std::vector<double> weights;
      weights.reserve(graded.size());
      for (const double g : graded) weights.push_back(1.0 - part + part * g);
      for (int step = 0; step < kGradedSteps; ++step) {
        const double log = LogLikelihood(
            precision, pull, weights,
            variance * std::pow(2.0, 0.5 * step - 0.25 * kGradedSteps));
        if (log <= highest) continue;
        highest = log;
        best = weights;
      }
    }
    ridge_.SetWeights(t, best);
  }
}

}  // namespace frostline::importance
