// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/mixture_shares.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

namespace frostline::importance {
MixtureModel::MixtureModel(const LevelEffects& model,
                           const std::vector<FineAxis>& axes,
                           const Mixture& mixture,
                           std::vector<std::vector<int>> groups,
                           std::uint64_t seed, NamedSubsets subsets,
                           int threads, const std::stop_token& stop)
    : model_(model),
      axes_(axes),
      mixture_(mixture),
      groups_(std::move(groups)),
      subsets_(std::move(subsets)),
      kept_(1.0 - mixture.forest_weight) {
  tables_.reserve(model_.terms().size());
  for (std::size_t t = 0; t < model_.terms().size(); ++t) {
    tables_.push_back(model_.Table(t));
    if (model_.terms()[t].size() > 2) higher_terms_.push_back(t);
  }
  for (const std::vector<int>& group : groups_) {
    std::vector<bool>& members = in_group_.emplace_back(axes_.size(), false);
    for (const int axis : group) members[static_cast<std::size_t>(axis)] = true;
  }
  if (!mixture_.trees.empty()) {
    forest_ = FindTreeEffects(axes_, mixture_.trees, PairsOfForest());
  }
  FindPairs();
  asked_ = FindAsked(model_, pairs_, subsets_);
  FindChange(seed, stop);
  if (!stop.stop_requested()) FindSubsetChanges(seed, threads);
}

// Those that level effects have, as the sum of both is squared, and those that
// sets are asked for with, as these are told exactly.
std::vector<AxisPair> MixtureModel::PairsOfForest() const {
  std::vector<AxisPair> always;
  for (const EffectTerm& term : model_.terms()) {
    if (term.size() == 2) always.emplace_back(term[0], term[1]);
  }
  for (std::vector<int> subset : subsets_) {
    std::sort(subset.begin(), subset.end());
    for (std::size_t a = 0; a < subset.size(); ++a) {
      for (std::size_t b = a + 1; b < subset.size(); ++b) {
        always.emplace_back(subset[a], subset[b]);
      }
    }
  }
  return ChoosePairs(FindSplitGains(axes_, mixture_.trees), always);
}

void MixtureModel::FindPairs() {
  std::set<AxisPair> known;
  const auto none = model_.terms().size();
  std::map<AxisPair, std::size_t> entered;
  term_of_axis_.assign(axes_.size(), none);
  for (std::size_t t = 0; t < none; ++t) {
    const EffectTerm& term = model_.terms()[t];
    if (term.size() == 1) term_of_axis_[term[0]] = t;
    if (term.size() == 2) entered[{term[0], term[1]}] = t;
  }
  for (const auto& [pair, t] : entered) known.insert(pair);
  for (const LeftOutTerm& one : model_.left_out()) {
    if (one.term.size() == 2) known.insert({one.term[0], one.term[1]});
  }
  for (const auto& [pair, table] : forest_.pairs) known.insert(pair);
  pairs_.assign(known.begin(), known.end());
  for (const AxisPair& pair : pairs_) {
    const auto found = entered.find(pair);
    term_of_pair_.push_back(found == entered.end() ? none : found->second);
  }
}

MixtureShares MixtureModel::Combine(const EffectShares& levels,
                                    const Change& change) const {
  const bool alone = mixture_.trees.empty();
  const double scale = kept_ * kept_ * levels.variance;
  MixtureShares shares;
  shares.main.assign(axes_.size(), 0.0);
  shares.total.assign(axes_.size(), 0.0);
  shares.pairs.assign(pairs_.size(), 0.0);
  shares.groups.assign(groups_.size(), 0.0);
  // What no forest explains may all the same be there (FindRest of shares).
  double rest = (alone ? scale * levels.rest : 0.0) + change.rest;
  const auto add = [&](std::span<const std::size_t> term, double variance) {
    for (const std::size_t axis : term) shares.total[axis] += variance;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const bool within =
          std::all_of(term.begin(), term.end(),
                      [&](std::size_t axis) { return in_group_[g][axis]; });
      if (within) shares.groups[g] += variance;
    }
    shares.variance += variance;
  };
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    shares.main[i] = std::max(scale * levels.main[i] + change.main[i], 0.0);
    add(std::array{i}, shares.main[i]);
  }
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const std::size_t t = term_of_pair_[p];
    const double own = t < levels.terms.size() ? scale * levels.terms[t] : 0.0;
    shares.pairs[p] = std::max(own + change.pairs[p], 0.0);
    if (shares.pairs[p] > 0.0) {
      add(std::array{pairs_[p].first, pairs_[p].second}, shares.pairs[p]);
    }
  }
  for (std::size_t t = 0; t < levels.terms.size(); ++t) {
    if (model_.terms()[t].size() < 3) continue;
    add(model_.terms()[t], scale * levels.terms[t]);
    shares.unexplained += scale * levels.terms[t];
  }
  rest = std::max(rest, -shares.unexplained);
  shares.variance += rest;
  shares.unexplained += rest;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    // Level effects and the forest may take from each other.
    shares.total[i] =
        std::max(shares.total[i] + change.rest_total[i], shares.main[i]);
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    shares.groups[g] += std::max(change.rest_groups[g], 0.0);
  }
  for (std::size_t s = 0; s < asked_.size(); ++s) {
    shares.subsets.push_back(
        CombineSubset(asked_[s], levels, change.subsets[s], shares));
  }
  if (!(shares.variance > 0.0)) {
    shares.unexplained = 1.0;
    return shares;
  }
  for (SubsetShare& subset : shares.subsets) {
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

MixtureShares MixtureModel::Shares() const {
  return Combine(SharesOf(model_), change_);
}

std::vector<double> MixtureModel::Curve(std::size_t axis) const {
  const FineAxis& fine = axes_[axis];
  const std::size_t t = term_of_axis_[axis];
  std::vector<double> curve(fine.size(), 0.0);
  for (std::size_t k = 0; k < fine.size(); ++k) {
    if (t < tables_.size()) curve[k] += kept_ * tables_[t][fine.effect_cell[k]];
    if (!forest_.main.empty()) {
      curve[k] += mixture_.forest_weight * forest_.main[axis][k];
    }
  }
  return curve;
}

}  // namespace frostline::importance
