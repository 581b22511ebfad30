// SPDX-License-Identifier: Apache-2.0
//
// The sets of parameters that were asked for, as the mixture has them.
#include <algorithm>

#include "importance/measure/parallel.h"
#include "importance/mixture/mixture_shares.h"
#include "importance/mixture/subsets.h"

namespace frostline::importance {
namespace {

// A stream of the seed; one for all sets, so that the answer to one does not
// depend on what else is asked.
constexpr std::uint64_t kSubsetStream = std::uint64_t{5} << 32;

}  // namespace

SubsetShare MixtureModel::SubsetChange(const AskedSubset& asked,
                                       std::uint64_t seed) const {
  SubsetShare change;
  if (asked.axes.size() < 3) return change;
  Rng rng(seed, kSubsetStream);
  const SubsetPoints points = MakeSubsetPoints(axes_, asked.axes, rng);
  const SubsetRest forest =
      FindSubsetRest(axes_, mixture_.trees, asked.axes, points);
  for (std::size_t n = 0; n < points.masses.size(); ++n) {
    double within = 0.0;  // of level effects
    double own = 0.0;
    for (const std::size_t t : asked.terms) {
      const EffectTerm& term = model_.terms()[t];
      std::size_t cell = 0;
      for (std::size_t s = 0; s < asked.axes.size(); ++s) {
        const std::size_t axis = asked.axes[s];
        if (std::find(term.begin(), term.end(), axis) == term.end()) continue;
        cell = cell * model_.axes()[axis].cells() +
               axes_[axis].effect_cell[points.codes[s][n]];
      }
      within += kept_ * tables_[t][cell];
      if (term == asked.axes) own += kept_ * tables_[t][cell];
    }
    const double weight = mixture_.forest_weight;
    const auto add = [mass = points.masses[n]](double& sum, double levels,
                                               double more) {
      const double both = levels + more;
      sum += mass * (both * both - levels * levels);
    };
    add(change.together, within, weight * forest.together[n]);
    add(change.beyond, own, weight * forest.beyond[n]);
  }
  return change;
}

void MixtureModel::FindSubsetChanges(std::uint64_t seed, int threads) {
  change_.subsets.resize(asked_.size());
  if (mixture_.trees.empty()) return;
  ParallelFor(threads, asked_.size(), [&](std::size_t s) {
    change_.subsets[s] = SubsetChange(asked_[s], seed);
  });
}

// `shares` are still variances.
SubsetShare MixtureModel::CombineSubset(const AskedSubset& asked,
                                        const EffectShares& levels,
                                        const SubsetShare& change,
                                        const MixtureShares& shares) const {
  const double scale = kept_ * kept_ * levels.variance;
  SubsetShare found;
  for (const std::size_t i : asked.axes) found.together += shares.main[i];
  for (const std::size_t p : asked.pairs) found.together += shares.pairs[p];
  double rest = change.together;
  double own = change.beyond;
  for (const std::size_t t : asked.terms) {
    rest += scale * levels.terms[t];
    if (model_.terms()[t] == asked.axes) own += scale * levels.terms[t];
  }
  found.together += std::max(rest, 0.0);
  if (asked.axes.size() == axes_.size()) found.together = shares.variance;
  if (asked.axes.size() == 1) {
    found.beyond = shares.main[asked.axes[0]];
  } else if (asked.axes.size() > 2) {
    found.beyond = std::max(own, 0.0);
  } else if (!asked.pairs.empty()) {
    found.beyond = shares.pairs[asked.pairs[0]];
  }
  return found;
}

}  // namespace frostline::importance
