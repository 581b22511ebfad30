// SPDX-License-Identifier: Apache-2.0
//
// What the sum of level effects and a forest has beyond main effects and pairs,
// met at points that are drawn from the space.
#include <utility>

#include "importance/mixture/mixture_shares.h"
#include "importance/mixture/subsets.h"

namespace frostline::importance {
namespace {

// Points at which what is neither main effect nor pair is looked up.
constexpr int kPoints = 512;
// A stream of the seed; the forest has those from 0.
constexpr std::uint64_t kPointStream = std::uint64_t{3} << 32;

// One number for a point, and one for it with each axis moved. What is added to
// all of them is told apart only where it reads the moved axis: so a step costs
// a sweep over plain numbers, not a look into tables for each axis.
class MovedSums {
 public:
  explicit MovedSums(std::size_t axes) : sums_(axes + 1, 0.0) {}

  // To that with this axis moved, at the next AddToOthers.
  void AddWhereMoved(std::size_t axis, double value) {
    apart_.emplace_back(axis, sums_[axis] + value);
  }
  void AddToOthers(double value) {
    for (double& sum : sums_) sum += value;
    for (const auto& [axis, sum] : apart_) sums_[axis] = sum;
    apart_.clear();
  }
  void DivideBy(double count) {
    for (double& sum : sums_) sum /= count;
  }

  double unmoved() const { return sums_.back(); }
  double moved(std::size_t axis) const { return sums_[axis]; }

 private:
  std::vector<double> sums_;  // by axis; the last is of the point itself
  std::vector<std::pair<std::size_t, double>> apart_;
};

}  // namespace

double MixtureModel::LevelsAt(std::size_t term, const FinePoint& point) const {
  std::size_t cell = 0;
  for (const std::size_t axis : model_.terms()[term]) {
    cell = cell * model_.axes()[axis].cells() +
           axes_[axis].effect_cell[point[axis]];
  }
  return kept_ * tables_[term][cell];
}

double MixtureModel::LevelsRest(const FinePoint& point) const {
  double rest = 0.0;
  for (const std::size_t t : higher_terms_) rest += LevelsAt(t, point);
  return rest;
}

double MixtureModel::Predict(const FinePoint& point, double mean_target) const {
  double predicted = kept_ * mean_target;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    predicted += LevelsAt(t, point);
  }
  if (mixture_.trees.empty()) return predicted;
  return predicted +
         mixture_.forest_weight * PredictAt(axes_, mixture_.trees, point);
}

// Both are without mean, main effects and pairs: of level effects alone, and
// with the forest.
MixtureModel::Rest MixtureModel::RestAt(const FinePoint& point) const {
  Rest rest;
  rest.levels = LevelsRest(point);
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

// As RestAt at the point, and with each axis moved to where `other` has it; to
// the bit, as what is added up is added up in the same order.
MixtureModel::MovedRests MixtureModel::RestsAround(
    const FinePoint& point, const FinePoint& other) const {
  FinePoint moved = point;
  MovedSums forest(axes_.size());
  std::vector<std::size_t> way;
  for (const Tree& tree : mixture_.trees) {
    way.clear();
    const double value = PredictAt(axes_, tree, point, &way);
    for (const std::size_t axis : way) {
      moved[axis] = other[axis];
      forest.AddWhereMoved(axis, PredictAt(axes_, tree, moved));
      moved[axis] = point[axis];
    }
    forest.AddToOthers(value);
  }
  forest.DivideBy(static_cast<double>(mixture_.trees.size()));
  forest.AddToOthers(-forest_.mean);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    forest.AddWhereMoved(i, -forest_.main[i][other[i]]);
    forest.AddToOthers(-forest_.main[i][point[i]]);
  }
  for (const auto& [pair, table] : forest_.pairs) {
    const auto [a, b] = pair;
    const std::size_t width = axes_[b].size();
    forest.AddWhereMoved(a, -table[other[a] * width + point[b]]);
    forest.AddWhereMoved(b, -table[point[a] * width + other[b]]);
    forest.AddToOthers(-table[point[a] * width + point[b]]);
  }
  const auto both = [this](double levels, double of_forest) {
    return Rest{levels, levels + mixture_.forest_weight * of_forest};
  };
  MovedRests rests{both(LevelsRest(point), forest.unmoved()), {}};
  rests.moved.reserve(axes_.size());
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    moved[i] = other[i];
    rests.moved.push_back(both(LevelsRest(moved), forest.moved(i)));
    moved[i] = point[i];
  }
  return rests;
}

// Totals by Jansen's formula ("Analysis of variance designs for model output",
// 1999), groups by the product of two points that have the group in common.
void MixtureModel::FindRest(std::uint64_t seed, const std::stop_token& stop) {
  Rng rng(seed, kPointStream);
  for (int n = 0; n < kPoints && !stop.stop_requested(); ++n) {
    FinePoint point, other;
    point.reserve(axes_.size());
    other.reserve(axes_.size());
    for (const FineAxis& axis : axes_) {
      point.push_back(DrawCode(axis, rng));
      other.push_back(DrawCode(axis, rng));
    }
    const MovedRests rests = RestsAround(point, other);
    const Rest& here = rests.unmoved;
    const auto product = [&here](const Rest& there) {
      return (here.both * there.both - here.levels * there.levels) / kPoints;
    };
    change_.rest += product(here);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (other[i] == point[i]) continue;
      const Rest& there = rests.moved[i];
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

}  // namespace frostline::importance
