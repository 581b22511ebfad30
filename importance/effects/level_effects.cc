// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/level_effects.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "importance/effects/candidate_terms.h"

namespace frostline::importance {
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

}  // namespace frostline::importance
