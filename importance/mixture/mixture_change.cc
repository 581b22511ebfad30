// SPDX-License-Identifier: Apache-2.0
//
// What a forest changes in main effects and pairs of level effects.
#include <span>
#include <utility>

#include "importance/mixture/mixture_shares.h"

namespace frostline::importance {
namespace {

constexpr std::size_t kChangedTreesPerBag = 4;

}  // namespace

double MixtureModel::MainChange(std::size_t axis,
                                const std::vector<double>& forest) const {
  const FineAxis& fine = axes_[axis];
  const std::size_t t = term_of_axis_[axis];
  double change = 0.0;
  for (std::size_t k = 0; k < fine.size(); ++k) {
    const double level =
        t < tables_.size() ? kept_ * tables_[t][fine.effect_cell[k]] : 0.0;
    const double both = level + mixture_.forest_weight * forest[k];
    change += fine.masses[k] * (both * both - level * level);
  }
  return change;
}

double MixtureModel::PairChange(std::size_t pair) const {
  const auto found = forest_.pairs.find(pairs_[pair]);
  if (found == forest_.pairs.end()) return 0.0;
  const FineAxis& first = axes_[pairs_[pair].first];
  const FineAxis& second = axes_[pairs_[pair].second];
  const std::size_t t = term_of_pair_[pair];
  const std::size_t width = model_.axes()[pairs_[pair].second].cells();
  double change = 0.0;
  for (std::size_t x = 0; x < first.size(); ++x) {
    for (std::size_t y = 0; y < second.size(); ++y) {
      double level = 0.0;
      if (t < tables_.size()) {
        level =
            kept_ *
            tables_[t][first.effect_cell[x] * width + second.effect_cell[y]];
      }
      const double both =
          level + mixture_.forest_weight * found->second[x * second.size() + y];
      change +=
          first.masses[x] * second.masses[y] * (both * both - level * level);
    }
  }
  return change;
}

void MixtureModel::FindChange(std::uint64_t seed, const std::stop_token& stop) {
  change_.main.assign(axes_.size(), 0.0);
  change_.pairs.assign(pairs_.size(), 0.0);
  change_.rest_total.assign(axes_.size(), 0.0);
  change_.rest_groups.assign(groups_.size(), 0.0);
  if (mixture_.trees.empty()) return;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    change_.main[i] = MainChange(i, forest_.main[i]);
  }
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    change_.pairs[p] = PairChange(p);
  }
  FindRest(seed, stop);
  const std::span<const Tree> trees(mixture_.trees);
  for (std::size_t t = 0; t + kChangedTreesPerBag <= trees.size();
       t += kChangedTreesPerBag) {
    if (stop.stop_requested()) return;
    const TreeEffects bag =
        FindTreeEffects(axes_, trees.subspan(t, kChangedTreesPerBag), {});
    std::vector<double> main;
    main.reserve(axes_.size());
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      main.push_back(MainChange(i, bag.main[i]));
    }
    bags_.push_back(std::move(main));
  }
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    double mean = 0.0;
    for (const auto& bag : bags_) {
      mean += bag[i] / static_cast<double>(bags_.size());
    }
    for (auto& bag : bags_) bag[i] -= mean;
  }
}

}  // namespace frostline::importance
