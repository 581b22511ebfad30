// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/mixture_model.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace frostline::importance {
namespace {

// The forest changes main effects for other trials as much as a few of its
// trees differ, times this: then intervals hold known cliffs as often as they
// say.
constexpr double kBagSpread = 2.0;
// Streams of the seed (mixture_terms.cc has others).
constexpr std::uint64_t kDrawStream = std::uint64_t{4} << 32;
constexpr std::uint64_t kSubsetDrawStream = std::uint64_t{6} << 32;

// Divides variances by their sum. Rounding takes no share above 1.
MixtureShares DividedByVariance(MixtureShares shares) {
  if (!(shares.variance > 0.0)) {
    shares.unexplained = 1.0;
    return shares;
  }
  for (SubsetVariance& subset : shares.subsets) {
    subset.together = std::min(subset.together / shares.variance, 1.0);
    subset.beyond = std::min(subset.beyond / shares.variance, 1.0);
  }
  for (auto* const list :
       {&shares.main, &shares.total, &shares.pairs, &shares.groups}) {
    for (double& share : *list) {
      share = std::min(share / shares.variance, 1.0);
    }
  }
  shares.unexplained /= shares.variance;
  return shares;
}

}  // namespace

MixtureModel::MixtureModel(const LevelEffects& model,
                           const std::vector<FineAxis>& axes,
                           const Mixture& mixture,
                           std::vector<std::vector<int>> groups,
                           std::uint64_t seed, NamedSubsets subsets,
                           int threads, const std::stop_token& stop)
    : mixture_(mixture),
      groups_(std::move(groups)),
      subsets_(std::move(subsets)),
      terms_(model, axes, mixture, subsets_),
      subset_terms_(FindSubsetTerms(model, terms_.pairs(), subsets_)) {
  for (const std::vector<int>& group : groups_) {
    std::vector<bool>& members = in_group_.emplace_back(axes.size(), false);
    for (const int axis : group) members[static_cast<std::size_t>(axis)] = true;
  }
  change_ =
      FindForestChange(terms_, groups_, subset_terms_, seed, threads, stop);
  bags_ = FindBagChanges(terms_, stop);
}

// A term counts in the totals of its axes, and in the groups that hold it.
void MixtureModel::AddTerm(std::span<const std::size_t> term, double variance,
                           MixtureShares& sums) const {
  for (const std::size_t axis : term) sums.total[axis] += variance;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const bool within =
        std::all_of(term.begin(), term.end(),
                    [&](std::size_t axis) { return in_group_[g][axis]; });
    if (within) sums.groups[g] += variance;
  }
  sums.variance += variance;
}

MixtureShares MixtureModel::SumTerms(const EffectShares& levels,
                                     const ForestChange& change) const {
  const std::size_t axes = terms_.axes().size();
  const std::vector<AxisPair>& pairs = terms_.pairs();
  const double scale = LevelsScale(levels);
  MixtureShares sums;
  sums.main.assign(axes, 0.0);
  sums.total.assign(axes, 0.0);
  sums.pairs.assign(pairs.size(), 0.0);
  sums.groups.assign(groups_.size(), 0.0);
  for (std::size_t i = 0; i < axes; ++i) {
    sums.main[i] = std::max(scale * levels.main[i] + change.main[i], 0.0);
    AddTerm(std::array{i}, sums.main[i], sums);
  }
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const std::size_t t = terms_.TermOfPair(p);
    const double own = t < levels.terms.size() ? scale * levels.terms[t] : 0.0;
    sums.pairs[p] = std::max(own + change.pairs[p], 0.0);
    if (sums.pairs[p] > 0.0) {
      AddTerm(std::array{pairs[p].first, pairs[p].second}, sums.pairs[p], sums);
    }
  }
  for (std::size_t t = 0; t < levels.terms.size(); ++t) {
    const EffectTerm& term = terms_.model().terms()[t];
    if (term.size() < 3) continue;
    AddTerm(term, scale * levels.terms[t], sums);
    sums.unexplained += scale * levels.terms[t];
  }
  return sums;
}

MixtureShares MixtureModel::Combine(const EffectShares& levels,
                                    const ForestChange& change) const {
  MixtureShares sums = SumTerms(levels, change);
  // Level effects guess a rest from residuals. With a forest it is measured.
  const double guessed =
      mixture_.trees.empty() ? LevelsScale(levels) * levels.rest : 0.0;
  const double rest = std::max(guessed + change.rest, -sums.unexplained);
  sums.variance += rest;
  sums.unexplained += rest;
  for (std::size_t i = 0; i < sums.total.size(); ++i) {
    // Level effects and the forest may take from each other.
    sums.total[i] =
        std::max(sums.total[i] + change.rest_total[i], sums.main[i]);
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    sums.groups[g] += std::max(change.rest_groups[g], 0.0);
  }
  for (std::size_t s = 0; s < subset_terms_.size(); ++s) {
    sums.subsets.push_back(
        CombineSubset(subset_terms_[s], levels, change.subsets[s], sums));
  }
  return DividedByVariance(std::move(sums));
}

SubsetVariance MixtureModel::CombineSubset(const SubsetTerms& subset,
                                           const EffectShares& levels,
                                           const SubsetVariance& change,
                                           const MixtureShares& sums) const {
  const double scale = LevelsScale(levels);
  SubsetVariance found;
  for (const std::size_t i : subset.axes) found.together += sums.main[i];
  for (const std::size_t p : subset.pairs) found.together += sums.pairs[p];
  double rest = change.together;
  double own = change.beyond;
  for (const std::size_t t : subset.terms) {
    rest += scale * levels.terms[t];
    if (terms_.model().terms()[t] == subset.axes)
      own += scale * levels.terms[t];
  }
  found.together += std::max(rest, 0.0);
  if (subset.axes.size() == terms_.axes().size())
    found.together = sums.variance;
  if (subset.axes.size() == 1) {
    found.beyond = sums.main[subset.axes[0]];
  } else if (subset.axes.size() > 2) {
    found.beyond = std::max(own, 0.0);
  } else if (!subset.pairs.empty()) {
    found.beyond = sums.pairs[subset.pairs[0]];
  }
  return found;
}

MixtureShares MixtureModel::Shares() const {
  return Combine(SharesOf(terms_.model()), change_);
}

// Draws a change that the trials leave possible: the weight is uncertain, and
// main effects differ as they do between trees.
ForestChange MixtureModel::DrawChange(Rng& rng) const {
  ForestChange change = change_;
  const double weight = std::clamp(
      mixture_.forest_weight + mixture_.weight_deviation * rng.Normal(), 0.0,
      1.0);
  const double size = weight / mixture_.forest_weight;
  const auto& bag = bags_[static_cast<std::size_t>(
      rng.Below(static_cast<std::uint64_t>(bags_.size())))];
  for (std::size_t i = 0; i < change.main.size(); ++i) {
    change.main[i] = size * change.main[i] + kBagSpread * bag[i];
  }
  for (double& pair : change.pairs) pair *= size;
  change.rest *= size;
  for (double& rest : change.rest_total) rest *= size;
  for (double& rest : change.rest_groups) rest *= size;
  for (SubsetVariance& subset : change.subsets) {
    subset.together *= size;
    subset.beyond *= size;
  }
  return change;
}

// Adds a part of the variance that nothing predicts. It may be effects of many
// parameters together that so few trials do not show.
void MixtureModel::AddMissed(ForestChange& change, Rng& rng,
                             Rng& subset_rng) const {
  if (!(mixture_.missed_variance > 0.0)) return;
  const double place = rng.Uniform();
  const double part =
      bags_.empty() ? std::clamp(2.0 * (1.0 - mixture_.r2), 0.0, 1.0) : 1.0;
  const double more = place * part * mixture_.missed_variance;
  for (std::size_t i = 0; i < change.main.size(); ++i) {
    // As far as a forest knows whose they are.
    change.rest_total[i] +=
        more * (change_.rest > 0.0 ? change_.rest_total[i] / change_.rest
                                   : rng.Uniform());
  }
  change.rest += more;
  AddMissedToSets(more, change, subset_rng);
}

// Divides what is missed among groups and subsets: as the forest's rest, and
// without one by chance. Level effects have looked for a subset that
// `is_sought` and found nothing, so it gets none.
void MixtureModel::AddMissedToSets(double more, ForestChange& change,
                                   Rng& rng) const {
  const double part = rng.Uniform();  // one, however many sets there are
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].size() < 2) continue;
    change.rest_groups[g] +=
        more *
        (change_.rest > 0.0 ? change_.rest_groups[g] / change_.rest : part);
  }
  for (std::size_t s = 0; s < subset_terms_.size(); ++s) {
    if (subset_terms_[s].axes.size() < 3) continue;
    const auto share = [&](double of_forest) {
      if (!(change_.rest > 0.0)) return part;
      return std::clamp(of_forest / change_.rest, 0.0, 1.0);
    };
    change.subsets[s].together += more * share(change_.subsets[s].together);
    if (subset_terms_[s].is_sought && !(change_.rest > 0.0)) continue;
    change.subsets[s].beyond += more * share(change_.subsets[s].beyond);
  }
}

std::vector<MixtureShares> MixtureModel::Draw(
    int count, std::uint64_t seed, const std::stop_token& stop) const {
  std::vector<MixtureShares> drawn;
  Rng rng(seed, kDrawStream);
  // A stream of its own, so what is asked for changes no other number.
  Rng subset_rng(seed, kSubsetDrawStream);
  for (const EffectShares& one :
       DrawShares(terms_.model(), mixture_.levels_r2, count, seed, stop)) {
    if (stop.stop_requested()) break;
    ForestChange change = bags_.empty() ? change_ : DrawChange(rng);
    AddMissed(change, rng, subset_rng);
    drawn.push_back(Combine(one, change));
  }
  return drawn;
}

}  // namespace frostline::importance
