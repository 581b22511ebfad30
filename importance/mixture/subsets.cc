// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/subsets.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "importance/measure/numbers.h"

namespace frostline::importance {
namespace {

constexpr double kParts = 48.0;  // of a range
constexpr double kMostCounted =
    96.0;  // longer lists of values are put together
constexpr double kAbsentCell = -2.0;
constexpr double kFrozen = -1.0;

void AddPart(FineAxis& fine, double code, double mass) {
  if (!(mass > 0.0)) return;
  fine.codes.push_back(code);
  fine.masses.push_back(mass);
}

void CutFineOrdered(const MeasuredAxis& axis, FineAxis& fine) {
  const double absent = axis.MassUpTo(kAbsentCell);
  const double below = axis.MassUpTo(kFrozen);
  AddPart(fine, kAbsentCell, absent);
  AddPart(fine, kFrozen, below - absent);
  if (!axis.is_finite()) {
    for (double part = 0.0; part < kParts; ++part) {
      AddPart(fine, (part + 0.5) / kParts, (1.0 - below) / kParts);
    }
    return;
  }
  // Each part stands where the last of its values does.
  const double values = axis.CountableCodes().back() + 1.0;
  const double parts = std::min(values, kMostCounted);
  double before = below;
  for (double part = 0.0; part < parts; ++part) {
    const double code = std::ceil((part + 1.0) * values / parts) - 1.0;
    AddPart(fine, code, axis.MassUpTo(code) - before);
    before = axis.MassUpTo(code);
  }
}

}  // namespace

std::uint16_t FineAxis::NearestTo(double code) const {
  std::size_t nearest = 0;
  for (std::size_t at = 1; at < codes.size(); ++at) {
    if (std::abs(codes[at] - code) < std::abs(codes[nearest] - code)) {
      nearest = at;
    }
  }
  return static_cast<std::uint16_t>(nearest);
}

bool FineAxis::GoesLeft(const TreeNode& node, std::size_t at) const {
  return is_ordered ? codes[at] <= node.threshold
                    : node.goes_left[static_cast<std::size_t>(codes[at])];
}

EffectAndFineAxis MakeFineAxis(const MeasuredAxis& axis,
                               const std::vector<double>& codes) {
  EffectAndFineAxis both;
  FineAxis& fine = both.fine;
  fine.is_ordered = axis.is_ordered();
  if (fine.is_ordered) {
    CutFineOrdered(axis, fine);
  } else {
    const std::vector<double>& masses = axis.choice_masses();
    for (std::size_t choice = 0; choice < masses.size(); ++choice) {
      AddPart(fine, static_cast<double>(choice), masses[choice]);
    }
  }
  // Cut once for the trials and the parts: one rule, and no part is favoured.
  std::vector<double> all = codes;
  all.insert(all.end(), fine.codes.begin(), fine.codes.end());
  both.effect = MakeEffectAxis(axis, all);
  auto& cells = both.effect.cell_of_row;
  const auto end = cells.begin() + static_cast<std::ptrdiff_t>(codes.size());
  fine.effect_cell.assign(end, cells.end());
  cells.erase(end, cells.end());
  return both;
}

namespace {

class GainWalk {
 public:
  explicit GainWalk(const std::vector<FineAxis>& axes)
      : box_(axes), gains_(axes.size(), 0.0) {}

  // Returns the mean over the node's box, which has this mass.
  double Add(const Tree& tree, std::size_t at, double mass) {
    const TreeNode& node = tree.nodes[at];
    if (node.axis < 0) return node.value;
    double& gain = gains_[static_cast<std::size_t>(node.axis)];
    double mean = 0.0;
    double reached = 0.0;
    box_.EnterChildren(node, [&](std::size_t child, double share) {
      const double value = Add(tree, child, mass * share);
      if (reached > 0.0) {  // the second of both
        const double apart = value - mean / reached;
        gain += mass * share * reached * apart * apart;
      }
      mean += share * value;
      reached += share;
    });
    return mean;
  }

  const std::vector<double>& gains() const { return gains_; }

 private:
  FineBox box_;
  std::vector<double> gains_;
};

}  // namespace

std::vector<double> FindSplitGains(const std::vector<FineAxis>& axes,
                                   std::span<const Tree> trees) {
  GainWalk walk(axes);
  for (const Tree& tree : trees) walk.Add(tree, 0, 1.0);
  return walk.gains();
}

std::vector<AxisPair> ChoosePairs(const std::vector<double>& gains,
                                  const std::vector<AxisPair>& always) {
  const std::vector<int> ranks = RankByFalling(gains);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    if (ranks[i] <= static_cast<int>(kMaxForestPairAxes)) chosen.push_back(i);
  }
  std::vector<AxisPair> pairs = always;
  pairs.reserve(always.size() + chosen.size() * chosen.size() / 2);
  for (std::size_t a = 0; a < chosen.size(); ++a) {
    for (std::size_t b = a + 1; b < chosen.size(); ++b) {
      pairs.emplace_back(chosen[a], chosen[b]);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

double PredictAt(const std::vector<FineAxis>& axes, const Tree& tree,
                 const FinePoint& point, std::vector<std::size_t>* way) {
  std::size_t at = 0;
  while (tree.nodes[at].axis >= 0) {
    const TreeNode& node = tree.nodes[at];
    const auto axis = static_cast<std::size_t>(node.axis);
    if (way != nullptr &&
        std::find(way->begin(), way->end(), axis) == way->end()) {
      way->push_back(axis);
    }
    at = static_cast<std::size_t>(
        axes[axis].GoesLeft(node, point[axis]) ? node.left : node.right);
  }
  return tree.nodes[at].value;
}

double PredictAt(const std::vector<FineAxis>& axes, std::span<const Tree> trees,
                 const FinePoint& point) {
  double sum = 0.0;
  for (const Tree& tree : trees) sum += PredictAt(axes, tree, point);
  return sum / static_cast<double>(trees.size());
}

namespace {

using Run = std::pair<std::size_t, std::size_t>;  // [begin, end)

// Where a leaf lies along an axis that was split on the way to it.
struct Side {
  std::size_t axis = 0;
  double mass = 1.0;
  std::vector<Run> runs;
};

void Centre(std::vector<double>& main, const FineAxis& axis) {
  double mean = 0.0;
  for (std::size_t k = 0; k < axis.size(); ++k) {
    mean += axis.masses[k] * main[k];
  }
  for (double& value : main) value -= mean;
}

std::vector<double> PairEffect(const std::vector<double>& sums,
                               const FineAxis& first, const FineAxis& second) {
  const std::size_t width = second.size();
  std::vector<double> table;
  std::vector<double> running(width, 0.0);
  std::vector<double> mean(width, 0.0);
  for (std::size_t x = 0; x < first.size(); ++x) {
    std::vector<double> row(width);
    double sum = 0.0;
    for (std::size_t y = 0; y < width; ++y) {
      running[y] += sums[x * (width + 1) + y];
      sum += running[y];
      row[y] = sum;
    }
    Centre(row, second);
    for (std::size_t y = 0; y < width; ++y) mean[y] += first.masses[x] * row[y];
    table.insert(table.end(), row.begin(), row.end());
  }
  for (std::size_t at = 0; at < table.size(); at += width) {
    for (std::size_t y = 0; y < width; ++y) table[at + y] -= mean[y];
  }
  return table;
}

// Walks the leaves of trees and adds each to sums that are turned into effects
// at the end. A leaf adds the same to all cells of a rectangle, so only the
// corners are written, and summed up once (a difference array).
class LeafSums {
 public:
  LeafSums(const std::vector<FineAxis>& axes,
           const std::vector<AxisPair>& pairs)
      : axes_(axes), box_(axes), pairs_(pairs), place_(axes.size(), kNone) {
    effects_.main.reserve(axes.size());
    for (const FineAxis& axis : axes) {
      effects_.main.emplace_back(axis.size() + 1, 0.0);
    }
    for (const auto& [first, second] : pairs) {
      for (const std::size_t axis : {first, second}) {
        if (place_[axis] == kNone) place_[axis] = paired_++;
      }
    }
    table_of_.assign(paired_ * paired_, kNone);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      table_of_[CellOf(pairs[p].first, pairs[p].second)] = p;
    }
    tables_.resize(pairs.size());
  }

  void Add(const Tree& tree, double weight) {
    weight_ = weight;
    Visit(tree, 0);
  }

  TreeEffects Finish();

 private:
  void Visit(const Tree& tree, std::size_t at);
  void AddLeaf(double value);
  void AddPair(const Side& a, const Side& b, double value);
  Side SideOf(std::size_t axis) const;

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t CellOf(std::size_t first, std::size_t second) const {
    return place_[first] * paired_ + place_[second];
  }

  const std::vector<FineAxis>& axes_;
  FineBox box_;
  const std::vector<AxisPair>& pairs_;
  double weight_ = 1.0;
  std::vector<std::size_t> split_;           // axes, each once
  std::vector<std::size_t> place_;           // by axis: among those of pairs
  std::size_t paired_ = 0;                   // how many those are
  std::vector<std::size_t> table_of_;        // by place of first, of second
  std::vector<std::vector<double>> tables_;  // by pair; empty: no leaf has both
  TreeEffects effects_;
};

void LeafSums::Visit(const Tree& tree, std::size_t at) {
  const TreeNode& node = tree.nodes[at];
  if (node.axis < 0) return AddLeaf(weight_ * node.value);
  const auto axis = static_cast<std::size_t>(node.axis);
  const bool is_new =
      std::find(split_.begin(), split_.end(), axis) == split_.end();
  if (is_new) split_.push_back(axis);
  box_.EnterChildren(node,
                     [&](std::size_t child, double) { Visit(tree, child); });
  if (is_new) split_.pop_back();
}

Side LeafSums::SideOf(std::size_t axis) const {
  Side side{axis, box_.mass(axis), {}};
  const std::vector<bool>& inside = box_.inside(axis);
  for (std::size_t k = 0; k < inside.size(); ++k) {
    if (!inside[k]) continue;
    if (k == 0 || !inside[k - 1]) side.runs.emplace_back(k, k);
    side.runs.back().second = k + 1;
  }
  return side;
}

void LeafSums::AddLeaf(double value) {
  std::vector<Side> sides;
  double mass = 1.0;
  for (const std::size_t axis : split_) {
    sides.push_back(SideOf(axis));
    mass *= sides.back().mass;
  }
  effects_.mean += value * mass;
  for (std::size_t a = 0; a < sides.size(); ++a) {
    for (const Run& run : sides[a].runs) {
      const double part = value * mass / sides[a].mass;
      effects_.main[sides[a].axis][run.first] += part;
      effects_.main[sides[a].axis][run.second] -= part;
    }
    for (std::size_t b = 0; paired_ > 0 && b < a; ++b) {
      const double part = value * mass / sides[a].mass / sides[b].mass;
      if (sides[a].axis < sides[b].axis) {
        AddPair(sides[a], sides[b], part);
      } else {
        AddPair(sides[b], sides[a], part);
      }
    }
  }
}

void LeafSums::AddPair(const Side& a, const Side& b, double value) {
  if (place_[a.axis] == kNone || place_[b.axis] == kNone) return;
  const std::size_t found = table_of_[CellOf(a.axis, b.axis)];
  if (found == kNone) return;
  const std::size_t width = axes_[b.axis].size() + 1;
  std::vector<double>& table = tables_[found];
  if (table.empty()) table.assign((axes_[a.axis].size() + 1) * width, 0.0);
  for (const Run& x : a.runs) {
    for (const Run& y : b.runs) {
      table[x.first * width + y.first] += value;
      table[x.first * width + y.second] -= value;
      table[x.second * width + y.first] -= value;
      table[x.second * width + y.second] += value;
    }
  }
}

TreeEffects LeafSums::Finish() {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    std::vector<double>& main = effects_.main[i];
    for (std::size_t k = 1; k < main.size(); ++k) main[k] += main[k - 1];
    main.pop_back();
    Centre(main, axes_[i]);
  }
  for (std::size_t p = 0; p < tables_.size(); ++p) {
    // Given back at once: all of them twice would be much.
    const std::vector<double> sums = std::exchange(tables_[p], {});
    if (sums.empty()) continue;
    effects_.pairs[pairs_[p]] =
        PairEffect(sums, axes_[pairs_[p].first], axes_[pairs_[p].second]);
  }
  return std::move(effects_);
}

}  // namespace

TreeEffects FindTreeEffects(const std::vector<FineAxis>& axes,
                            std::span<const Tree> trees,
                            const std::vector<AxisPair>& pairs) {
  LeafSums sums(axes, pairs);
  for (const Tree& tree : trees) {
    sums.Add(tree, 1.0 / static_cast<double>(trees.size()));
  }
  return sums.Finish();
}

namespace {

class LeafWalk {
 public:
  LeafWalk(const std::vector<FineAxis>& axes,
           const std::vector<std::size_t>& subset, const SubsetPoints& points)
      : box_(axes), subset_(subset), points_(points) {
    rest_.together.assign(points_.masses.size(), 0.0);
    rest_.beyond.assign(points_.masses.size(), 0.0);
  }

  void Add(const Tree& tree, double weight) {
    tree_ = &tree;
    splits_subset_ = SplitsOn(tree, subset_);
    Visit(0, weight);
  }

  const SubsetRest& rest() const { return rest_; }

 private:
  // The integral over the node's box; `mass` times the tree's weight.
  double Integral(std::size_t at, double mass) {
    const TreeNode& node = tree_->nodes[at];
    if (node.axis < 0) return mass * node.value;
    double sum = 0.0;
    box_.EnterChildren(node, [&](std::size_t child, double share) {
      sum += Integral(child, mass * share);
    });
    return sum;
  }

  // What the set does not split any further is one leaf.
  void Visit(std::size_t at, double mass) {
    if (!splits_subset_[at]) return AddLeaf(at, mass);
    box_.EnterChildren(tree_->nodes[at], [&](std::size_t child, double share) {
      Visit(child, mass * share);
    });
  }

  void AddLeaf(std::size_t at, double mass) {
    std::vector<const std::uint16_t*> codes;
    std::vector<std::vector<double>> ratios;  // r, by split axis, by code
    for (std::size_t s = 0; s < subset_.size(); ++s) {
      const std::vector<bool>& inside = box_.inside(subset_[s]);
      if (std::find(inside.begin(), inside.end(), false) == inside.end()) {
        continue;
      }
      codes.push_back(points_.codes[s].data());
      std::vector<double>& ratio = ratios.emplace_back(inside.size(), -1.0);
      for (std::size_t k = 0; k < inside.size(); ++k) {
        if (inside[k]) ratio[k] += 1.0 / box_.mass(subset_[s]);
      }
    }
    if (ratios.size() < 3) return;
    const double integral = Integral(at, mass);
    const bool has_all = ratios.size() == subset_.size();
    for (std::size_t n = 0; n < points_.masses.size(); ++n) {
      double sum = 0.0, squares = 0.0, grown = 1.0, product = 1.0;
      for (std::size_t s = 0; s < ratios.size(); ++s) {
        const double ratio = ratios[s][codes[s][n]];
        sum += ratio;
        squares += ratio * ratio;
        grown *= 1.0 + ratio;
        product *= ratio;
      }
      // Less the constant, main effects and pairs.
      rest_.together[n] +=
          integral * (grown - 1.0 - sum - 0.5 * (sum * sum - squares));
      if (has_all) rest_.beyond[n] += integral * product;
    }
  }

  FineBox box_;
  const std::vector<std::size_t>& subset_;
  const SubsetPoints& points_;
  const Tree* tree_ = nullptr;
  std::vector<bool> splits_subset_;  // by node of the tree
  SubsetRest rest_;
};

}  // namespace

std::uint16_t DrawCode(const FineAxis& axis, Rng& rng) {
  double place = rng.Uniform();
  for (std::size_t k = 0; k < axis.size(); ++k) {
    place -= axis.masses[k];
    if (place < 0.0) return static_cast<std::uint16_t>(k);
  }
  return static_cast<std::uint16_t>(axis.size() - 1);
}

SubsetPoints MakeSubsetPoints(const std::vector<FineAxis>& axes,
                              const std::vector<std::size_t>& subset,
                              Rng& rng) {
  std::size_t combinations = 1;
  for (const std::size_t axis : subset) {
    // An axis has fewer codes than this: no overflow.
    combinations =
        std::min(combinations * axes[axis].size(), kMostCombinations + 1);
  }
  const bool all = combinations <= kMostCombinations;
  const std::size_t count = all ? combinations : kDrawnPoints;
  SubsetPoints points;
  points.codes.resize(subset.size());
  points.masses.assign(count, all ? 1.0 : 1.0 / static_cast<double>(count));
  for (std::size_t n = 0; n < count; ++n) {
    std::size_t place = n;
    for (std::size_t s = 0; s < subset.size(); ++s) {
      const FineAxis& axis = axes[subset[s]];
      if (!all) {
        points.codes[s].push_back(DrawCode(axis, rng));
        continue;
      }
      const std::size_t code = place % axis.size();
      place /= axis.size();
      points.codes[s].push_back(static_cast<std::uint16_t>(code));
      points.masses[n] *= axis.masses[code];
    }
  }
  return points;
}

SubsetRest FindSubsetRest(const std::vector<FineAxis>& axes,
                          std::span<const Tree> trees,
                          const std::vector<std::size_t>& subset,
                          const SubsetPoints& points) {
  LeafWalk walk(axes, subset, points);
  for (const Tree& tree : trees) {
    walk.Add(tree, 1.0 / static_cast<double>(trees.size()));
  }
  return walk.rest();
}

namespace {

bool IsWithin(const EffectTerm& term, const std::vector<std::size_t>& axes) {
  return std::includes(axes.begin(), axes.end(), term.begin(), term.end());
}

}  // namespace

std::vector<SubsetTerms> FindSubsetTerms(const LevelEffects& model,
                                         const std::vector<AxisPair>& pairs,
                                         const NamedSubsets& subsets) {
  std::vector<SubsetTerms> found;
  found.reserve(subsets.size());
  for (const std::vector<int>& subset : subsets) {
    SubsetTerms asked;
    asked.axes.assign(subset.begin(), subset.end());
    std::sort(asked.axes.begin(), asked.axes.end());
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      if (IsWithin({pairs[p].first, pairs[p].second}, asked.axes)) {
        asked.pairs.push_back(p);
      }
    }
    for (std::size_t t = 0; t < model.terms().size(); ++t) {
      const EffectTerm& term = model.terms()[t];
      if (term.size() < 3 || !IsWithin(term, asked.axes)) continue;
      asked.terms.push_back(t);
      if (term == asked.axes) asked.is_sought = true;
    }
    for (const LeftOutTerm& one : model.left_out()) {
      if (one.term == asked.axes) asked.is_sought = true;
    }
    found.push_back(std::move(asked));
  }
  return found;
}

LeftOutEvidence LeftOutWithin(const LevelEffects& model,
                              const std::vector<int>& subset, bool own) {
  EffectTerm axes(subset.begin(), subset.end());
  std::sort(axes.begin(), axes.end());
  LeftOutEvidence found;
  double squares = 0.0;
  for (const LeftOutTerm& one : model.left_out()) {
    if (own ? one.term != axes : !IsWithin(one.term, axes)) continue;
    found.evidence.variance += one.evidence.variance;
    squares += one.evidence.deviation * one.evidence.deviation;
    found.functions += static_cast<double>(WidthOf(model.axes(), one.term));
  }
  found.evidence.deviation = std::sqrt(squares);
  return found;
}

}  // namespace frostline::importance
