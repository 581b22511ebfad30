// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <utility>

#include "importance/mixture/mixture_shares.h"
#include "importance/mixture/subset_rest.h"

namespace frostline {
namespace {

// Points at which what is neither main effect nor pair is looked up.
constexpr int kPoints = 512;
constexpr std::size_t kTreesPerBag = 4;
// A stream of the seed; the forest has those from 0.
constexpr std::uint64_t kPointStream = std::uint64_t{3} << 32;

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

void MixtureModel::FindChange(std::uint64_t seed) {
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
  FindRest(seed);
  const std::span<const Tree> trees(mixture_.trees);
  for (std::size_t t = 0; t + kTreesPerBag <= trees.size(); t += kTreesPerBag) {
    const TreeEffects bag =
        FindTreeEffects(axes_, trees.subspan(t, kTreesPerBag), false);
    std::vector<double> main;
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

// Both are without mean, main effects and pairs: of level effects alone, and
// with the forest.
MixtureModel::Rest MixtureModel::RestAt(const FinePoint& point) const {
  Rest rest;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    if (model_.terms()[t].size() < 3) continue;
    std::size_t cell = 0;
    for (const std::size_t axis : model_.terms()[t]) {
      cell = cell * model_.axes()[axis].cells() +
             axes_[axis].effect_cell[point[axis]];
    }
    rest.levels += kept_ * tables_[t][cell];
  }
  double forest = PredictAt(axes_, mixture_.trees, point) - forest_.mean;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    forest -= forest_.main[i][point[i]];
  }
  for (const auto& [pair, table] : forest_.pairs) {
    forest -= table[point[pair.first] * axes_[pair.second].size() +
                    point[pair.second]];
  }
  rest.both = rest.levels + mixture_.forest_weight * forest;
  return rest;
}

// Totals by Jansen's formula ("Analysis of variance designs for model output",
// 1999), groups by the product of two points that have the group in common.
void MixtureModel::FindRest(std::uint64_t seed) {
  Rng rng(seed, kPointStream);
  for (int n = 0; n < kPoints; ++n) {
    FinePoint point, other;
    for (const FineAxis& axis : axes_) {
      point.push_back(DrawCode(axis, rng));
      other.push_back(DrawCode(axis, rng));
    }
    const Rest here = RestAt(point);
    const auto product = [&here](const Rest& there) {
      return (here.both * there.both - here.levels * there.levels) / kPoints;
    };
    change_.rest += product(here);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      FinePoint moved = point;
      moved[i] = other[i];
      if (moved[i] == point[i]) continue;
      const Rest there = RestAt(moved);
      const double both = here.both - there.both;
      const double levels = here.levels - there.levels;
      change_.rest_total[i] += 0.5 * (both * both - levels * levels) / kPoints;
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      FinePoint shared = other;
      for (const int i : groups_[g]) {
        shared[static_cast<std::size_t>(i)] =
            point[static_cast<std::size_t>(i)];
      }
      change_.rest_groups[g] += product(RestAt(shared));
    }
  }
}

}  // namespace frostline
