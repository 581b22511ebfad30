// SPDX-License-Identifier: Apache-2.0
//
// Draws of a mixture's shares: what the trials leave possible.
#include <algorithm>
#include <utility>

#include "importance/mixture/mixture_shares.h"

namespace frostline::importance {
namespace {

// What a few trees differ by, for what the forest would with other trials: by
// this much its intervals hold known cliffs as often as they say.
constexpr double kBagSpread = 2.0;
// Streams of the seed of their own.
constexpr std::uint64_t kDrawStream = std::uint64_t{4} << 32;
constexpr std::uint64_t kSubsetDrawStream = std::uint64_t{6} << 32;

}  // namespace

// One possible change: the weight is uncertain, main effects differ as they do
// between trees, and of what nothing predicts a part may be of many parameters
// together that so few trials do not show.
MixtureModel::Change MixtureModel::DrawChange(Rng& rng) const {
  Change change = change_;
  const double weight = std::clamp(
      mixture_.forest_weight + mixture_.weight_deviation * rng.Normal(), 0.0,
      1.0);
  const double size = weight / mixture_.forest_weight;
  const auto& bag = bags_[static_cast<std::size_t>(
      rng.Below(static_cast<std::uint64_t>(bags_.size())))];
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    change.main[i] = size * change.main[i] + kBagSpread * bag[i];
  }
  for (double& pair : change.pairs) pair *= size;
  change.rest *= size;
  for (double& rest : change.rest_total) rest *= size;
  for (double& rest : change.rest_groups) rest *= size;
  for (SubsetShare& subset : change.subsets) {
    subset.together *= size;
    subset.beyond *= size;
  }
  return change;
}

// Of what nothing predicts a part may be of many parameters together, which so
// few trials do not show; the more is missed, the more of that.
void MixtureModel::AddMissed(Change& change, Rng& rng, Rng& subset_rng) const {
  if (!(mixture_.missed_variance > 0.0)) return;
  const double place = rng.Uniform();
  const double part =
      bags_.empty() ? std::clamp(2.0 * (1.0 - mixture_.r2), 0.0, 1.0) : 1.0;
  const double more = place * part * mixture_.missed_variance;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    // As far as a forest knows whose they are.
    change.rest_total[i] +=
        more * (change_.rest > 0.0 ? change_.rest_total[i] / change_.rest
                                   : rng.Uniform());
  }
  change.rest += more;
  AddMissedToSets(more, change, subset_rng);
}

// Whose the effects are that nothing predicts is known as far as a forest
// knows it; that level effects sought one and found none is known too.
void MixtureModel::AddMissedToSets(double more, Change& change,
                                   Rng& rng) const {
  const double part = rng.Uniform();  // one, however many sets there are
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].size() < 2) continue;
    change.rest_groups[g] +=
        more *
        (change_.rest > 0.0 ? change_.rest_groups[g] / change_.rest : part);
  }
  for (std::size_t s = 0; s < asked_.size(); ++s) {
    if (asked_[s].axes.size() < 3) continue;
    const auto share = [&](double of_forest) {
      if (!(change_.rest > 0.0)) return part;
      return std::clamp(of_forest / change_.rest, 0.0, 1.0);
    };
    change.subsets[s].together += more * share(change_.subsets[s].together);
    if (asked_[s].is_sought && !(change_.rest > 0.0)) continue;
    change.subsets[s].beyond += more * share(change_.subsets[s].beyond);
  }
}

std::vector<MixtureShares> MixtureModel::Draw(
    int count, std::uint64_t seed, const std::stop_token& stop) const {
  std::vector<MixtureShares> drawn;
  Rng rng(seed, kDrawStream);
  // Of its own: what is asked for changes no other number.
  Rng subset_rng(seed, kSubsetDrawStream);
  for (const EffectShares& one :
       DrawShares(model_, mixture_.levels_r2, count, seed, stop)) {
    if (stop.stop_requested()) break;
    Change change = bags_.empty() ? change_ : DrawChange(rng);
    AddMissed(change, rng, subset_rng);
    drawn.push_back(Combine(one, change));
  }
  return drawn;
}

}  // namespace frostline::importance
