// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/marginal.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace frostline::importance {
namespace {

AxisCells MakeChoiceCells(const MeasuredAxis& axis) {
  AxisCells cells;
  cells.is_ordered = false;
  cells.before = {0.0};
  for (const double mass : axis.choice_masses()) {
    cells.before.push_back(cells.before.back() + mass);
  }
  return cells;
}

}  // namespace

TreeCells MakeCells(const Tree& tree, const std::vector<MeasuredAxis>& axes) {
  TreeCells cells;
  cells.axes.reserve(axes.size());
  for (const MeasuredAxis& axis : axes) {
    cells.axes.push_back(axis.is_ordered() ? AxisCells()
                                           : MakeChoiceCells(axis));
  }
  std::vector<double> places(tree.nodes.size(), 0.0);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].axis < 0) continue;
    const auto axis = static_cast<std::size_t>(tree.nodes[i].axis);
    if (!axes[axis].is_ordered()) continue;
    places[i] = axes[axis].MassUpTo(tree.nodes[i].threshold);
    cells.axes[axis].before.push_back(places[i]);
  }
  for (AxisCells& axis : cells.axes) {
    if (!axis.is_ordered) continue;
    std::sort(axis.before.begin(), axis.before.end());
    axis.before.erase(std::unique(axis.before.begin(), axis.before.end()),
                      axis.before.end());
  }
  cells.cut_of_node.resize(tree.nodes.size(), 0);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].axis < 0) continue;
    const AxisCells& axis =
        cells.axes[static_cast<std::size_t>(tree.nodes[i].axis)];
    if (!axis.is_ordered) continue;
    const auto found =
        std::lower_bound(axis.before.begin(), axis.before.end(), places[i]);
    cells.cut_of_node[i] =
        static_cast<std::uint32_t>(found - axis.before.begin());
  }
  return cells;
}

TreeBox::TreeBox(const Tree& tree, const TreeCells& cells)
    : tree_(tree), cells_(cells) {
  sides_.reserve(cells.axes.size());
  for (const AxisCells& axis : cells.axes) {
    const auto count = static_cast<std::uint32_t>(axis.size());
    Side side{{0, count}, axis.before.back()};
    if (!axis.is_ordered) {
      side.run.first = static_cast<std::uint32_t>(members_.size());
      side.run.second = side.run.first + count;
      members_.resize(side.run.second, true);
    }
    sides_.push_back(side);
  }
}

void TreeBox::CutChoices(const TreeNode& split, bool left, std::size_t axis) {
  const AxisCells& cells = cells_.axes[axis];
  Side& side = sides_[axis];
  side.mass = 0.0;
  for (std::uint32_t c = 0; c < cells.size(); ++c) {
    const std::uint32_t place = side.run.first + c;
    const bool was = members_[place];
    members_before_.push_back(was);
    if (!was) continue;
    members_[place] = split.goes_left[c] == left;
    if (members_[place]) side.mass += cells.MassOf(c, c + 1);
  }
}

void TreeBox::Enter(std::size_t node, bool left) {
  const TreeNode& split = tree_.nodes[node];
  const auto axis = static_cast<std::size_t>(split.axis);
  const AxisCells& cells = cells_.axes[axis];
  Side& side = sides_[axis];
  entered_.push_back({axis, side});
  if (!cells.is_ordered) {
    CutChoices(split, left, axis);
    return;
  }
  const std::uint32_t cut = cells_.cut_of_node[node];
  if (left) {
    side.run.second = std::min(side.run.second, cut);
  } else {
    side.run.first = std::max(side.run.first, cut);
  }
  side.run.second = std::max(side.run.first, side.run.second);
  side.mass = cells.MassOf(side.run.first, side.run.second);
}

void TreeBox::Leave() {
  const auto [axis, before] = entered_.back();
  entered_.pop_back();
  sides_[axis] = before;
  const AxisCells& cells = cells_.axes[axis];
  if (cells.is_ordered) return;
  const std::size_t begin = members_before_.size() - cells.size();
  std::copy(members_before_.begin() + static_cast<std::ptrdiff_t>(begin),
            members_before_.end(),
            members_.begin() + static_cast<std::ptrdiff_t>(before.run.first));
  members_before_.resize(begin);
}

void TreeBox::AppendRuns(std::size_t axis, std::vector<CellRun>& runs) const {
  const Side& side = sides_[axis];
  if (cells_.axes[axis].is_ordered) {
    runs.push_back(side.run);
    return;
  }
  bool is_open = false;
  for (std::uint32_t place = side.run.first; place < side.run.second; ++place) {
    const std::uint32_t c = place - side.run.first;
    if (members_[place] && is_open) {
      ++runs.back().second;
    } else if (members_[place]) {
      runs.push_back({c, c + 1});
    }
    is_open = members_[place];
  }
}

TreeMarginals::TreeMarginals(const Tree& tree,
                             const std::vector<MeasuredAxis>& axes)
    : tree_(tree), cells_(MakeCells(tree, axes)), is_split_(axes.size()) {
  leaves_.reserve(tree.nodes.size() / 2 + 1);
  TreeBox box(tree_, cells_);
  std::vector<std::size_t> splits(axes.size(), 0), split_axes;
  AddLeaves(0, box, splits, split_axes);
  for (const Leaf& leaf : leaves_) mean_ += leaf.mass * leaf.value;
  for (Leaf& leaf : leaves_) {
    leaf.value -= mean_;
    variance_ += leaf.mass * leaf.value * leaf.value;
  }
  FindMainEffects();
}

void TreeMarginals::AddLeaves(std::size_t node, TreeBox& box,
                              std::vector<std::size_t>& splits,
                              std::vector<std::size_t>& split_axes) {
  const TreeNode& here = tree_.nodes[node];
  if (here.axis < 0) {
    AddLeaf(here.value, box, split_axes);
    return;
  }
  const auto axis = static_cast<std::size_t>(here.axis);
  is_split_[axis] = true;
  const auto place =
      std::lower_bound(split_axes.begin(), split_axes.end(), axis);
  const std::ptrdiff_t at = place - split_axes.begin();
  if (++splits[axis] == 1) split_axes.insert(place, axis);
  for (const bool left : {true, false}) {
    box.Enter(node, left);
    // What has no mass counts for nothing.
    if (box.mass(axis) > 0.0) {
      AddLeaves(static_cast<std::size_t>(left ? here.left : here.right), box,
                splits, split_axes);
    }
    box.Leave();
  }
  if (--splits[axis] == 0) split_axes.erase(split_axes.begin() + at);
}

void TreeMarginals::AddLeaf(double value, const TreeBox& box,
                            const std::vector<std::size_t>& split_axes) {
  Leaf leaf{value, 1.0, sides_.size(), 0};
  for (const std::size_t axis : split_axes) {
    LeafSide side{axis, box.mass(axis), runs_.size(), 0};
    box.AppendRuns(axis, runs_);
    side.end_run = runs_.size();
    sides_.push_back(side);
    leaf.mass *= side.mass;
  }
  leaf.end_side = sides_.size();
  leaves_.push_back(leaf);
}

void TreeMarginals::FindMainEffects() {
  std::size_t count = 0;
  for (const AxisCells& axis : cells_.axes) {
    first_of_.push_back(count);
    count += axis.size() + 1;
  }
  // These hold differences at the ends of runs, and are summed up below. A leaf
  // of value v and mass m adds v m (1[x in its side] / (mass of the side) - 1),
  // so one that the axis does not split adds nothing.
  effects_.assign(count, 0.0);
  for (const Leaf& leaf : leaves_) {
    const double share = leaf.value * leaf.mass;
    for (std::size_t s = leaf.first_side; s < leaf.end_side; ++s) {
      double* const effect = effects_.data() + first_of_[sides_[s].axis];
      effect[0] -= share;
      const double rest = share / sides_[s].mass;
      for (std::size_t r = sides_[s].first_run; r < sides_[s].end_run; ++r) {
        effect[runs_[r].first] += rest;
        effect[runs_[r].second] -= rest;
      }
    }
  }
  for (std::size_t a = 0; a < first_of_.size(); ++a) {
    double* const effect = effects_.data() + first_of_[a];
    std::partial_sum(effect, effect + cells_.axes[a].size(), effect);
  }
}

double TreeMarginals::MainVariance(std::size_t axis) const {
  if (!is_split_[axis]) return 0.0;  // and not the rounding of 0
  const AxisCells& cells = cells_.axes[axis];
  double variance = 0.0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const double effect = effects_[first_of_[axis] + c];
    variance += cells.MassOf(c, c + 1) * effect * effect;
  }
  return variance;
}

std::vector<double> TreeMarginals::CurveAt(
    std::size_t axis, const std::vector<double>& places) const {
  const std::vector<double>& before = cells_.axes[axis].before;
  std::vector<double> curve;
  for (const double place : places) {
    const auto found = std::upper_bound(before.begin(), before.end(), place);
    const auto cell = std::clamp<std::ptrdiff_t>(
        found - before.begin() - 1, 0,
        static_cast<std::ptrdiff_t>(cells_.axes[axis].size()) - 1);
    curve.push_back(effects_[first_of_[axis] + static_cast<std::size_t>(cell)]);
  }
  return curve;
}

std::vector<double> TreeMarginals::TotalVariances() const {
  return TotalVariancesOf(tree_, cells_, mean_);
}

// The pairs of marginal.h.

// Memory that is used again from pair to pair.
struct TreeMarginals::Scratch {
  struct Change {
    double by = 0.0;
    const LeafSide* side = nullptr;  // along the second axis
  };
  std::vector<std::size_t> end_of_row;  // of changes
  std::vector<Change> changes;          // by row
  std::vector<double> differences;      // of the row that is swept
  std::vector<double> columns;          // sums over rows
};

std::vector<double> TreeMarginals::PairVariances(
    const std::vector<std::size_t>& axes) const {
  const std::size_t none = axes.size();
  std::vector<std::size_t> position(cells_.axes.size(), none);
  for (std::size_t i = 0; i < none; ++i) position[axes[i]] = i;
  std::vector<std::size_t> before(none + 1, 0);  // pairs with a lower first
  for (std::size_t i = 0; i < none; ++i)
    before[i + 1] = before[i] + none - i - 1;
  // Only a leaf with splits on both axes holds any of a pair's interaction.
  const auto visit = [&](const auto& take) {
    for (const Leaf& leaf : leaves_) {
      for (std::size_t a = leaf.first_side; a < leaf.end_side; ++a) {
        const std::size_t i = position[sides_[a].axis];
        if (i == none) continue;
        for (std::size_t b = a + 1; b < leaf.end_side; ++b) {
          const std::size_t j = position[sides_[b].axis];
          if (j != none) take(leaf, a, b, before[i] + j - i - 1);
        }
      }
    }
  };
  // Counted and then put in place, so that it is one piece of memory.
  std::vector<std::size_t> end(before[none] + 1, 0);
  visit([&end](const Leaf&, std::size_t, std::size_t, std::size_t pair) {
    ++end[pair + 1];
  });
  for (std::size_t p = 1; p < end.size(); ++p) end[p] += end[p - 1];
  std::vector<PairLeaf> leaves(end.back());
  visit([&](const Leaf& leaf, std::size_t a, std::size_t b, std::size_t pair) {
    leaves[end[pair]++] = {
        leaf.value * (leaf.mass / sides_[a].mass / sides_[b].mass),
        static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)};
  });
  Scratch scratch;
  std::vector<double> variances(before[none], 0.0);
  std::size_t begin = 0;
  for (std::size_t p = 0; p < variances.size(); ++p) {
    if (end[p] > begin) {
      variances[p] =
          PairVariance(leaves.data() + begin, leaves.data() + end[p], scratch);
    }
    begin = end[p];
  }
  return variances;
}

double TreeMarginals::PairVariance(const PairLeaf* begin, const PairLeaf* end,
                                   Scratch& scratch) const {
  const AxisCells& rows = cells_.axes[sides_[begin->first].axis];
  const AxisCells& columns = cells_.axes[sides_[begin->second].axis];
  const auto visit = [&](const auto& take) {
    for (const PairLeaf* leaf = begin; leaf != end; ++leaf) {
      const LeafSide& side = sides_[leaf->first];
      for (std::size_t r = side.first_run; r < side.end_run; ++r) {
        take(runs_[r].first, leaf->rest, *leaf);
        take(runs_[r].second, -leaf->rest, *leaf);
      }
    }
  };
  std::vector<std::size_t>& at = scratch.end_of_row;
  at.assign(rows.size() + 2, 0);
  visit([&at](std::uint32_t row, double, const PairLeaf&) { ++at[row + 1]; });
  for (std::size_t r = 1; r < at.size(); ++r) at[r] += at[r - 1];
  scratch.changes.resize(at.back());
  visit([&](std::uint32_t row, double by, const PairLeaf& leaf) {
    scratch.changes[at[row]++] = {by, &sides_[leaf.second]};
  });
  scratch.differences.assign(columns.size() + 1, 0.0);
  scratch.columns.assign(columns.size(), 0.0);
  // The sum of squares less what either axis explains alone.
  double variance = 0.0, mean = 0.0;
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows.size();) {
    for (; next < at[row]; ++next) {
      const Scratch::Change& change = scratch.changes[next];
      for (std::size_t r = change.side->first_run; r < change.side->end_run;
           ++r) {
        scratch.differences[runs_[r].first] += change.by;
        scratch.differences[runs_[r].second] -= change.by;
      }
    }
    std::size_t last = row + 1;  // rows without a change are as this one
    while (last < rows.size() && at[last] == at[row]) ++last;
    const double mass = rows.MassOf(row, last);
    double value = 0.0, sum = 0.0, squares = 0.0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      value += scratch.differences[c];
      const double part = columns.MassOf(c, c + 1) * value;
      sum += part;
      squares += part * value;
      scratch.columns[c] += mass * value;
    }
    variance += mass * (squares - sum * sum);
    mean += mass * sum;
    row = last;
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    variance -=
        columns.MassOf(c, c + 1) * scratch.columns[c] * scratch.columns[c];
  }
  return std::max(variance + mean * mean, 0.0);
}

namespace {

// A set of axes, a bit for each; of more axes than bits several share one.
using Axes = std::uint64_t;
constexpr int kEffectBits = 64;

Axes BitOf(int axis) { return Axes{1} << axis % kEffectBits; }

class PairWalk {
 public:
  PairWalk(const Tree& tree, const TreeCells& cells, double mean)
      : tree_(tree),
        mean_(mean),
        box_(tree, cells),
        has_own_bits_(cells.axes.size() <= kEffectBits),
        below_(tree.nodes.size()),
        totals_(cells.axes.size(), 0.0) {
    Fill(0);
  }

  std::vector<double> Run() {
    Together(0, 1.0);
    return std::move(totals_);
  }

 private:
  // What is below a node, within its box.
  struct Below {
    double share = 0.0;  // of the parent's box that is the node's
    double mean = 0.0;
    double square = 0.0;   // mean of squares
    std::size_t size = 1;  // in nodes
    Axes axes = 0;         // that are split
  };
  // Where one of two points is.
  struct Point {
    std::size_t node = 0;
    Axes split = 0;  // on its way since they parted; not that they differ in
  };

  void Fill(std::size_t node) {
    const TreeNode& here = tree_.nodes[node];
    Below& below = below_[node];
    if (here.axis < 0) {
      below.mean = here.value - mean_;
      below.square = below.mean * below.mean;
      return;
    }
    below.axes = BitOf(here.axis);
    // A child that is not reached has no mass in any box.
    box_.EnterChildren(node, [&](std::size_t child, double share) {
      Fill(child);
      below_[child].share = share;
      below.size += below_[child].size;
      below.axes |= below_[child].axes;
      below.mean += share * below_[child].mean;
      below.square += share * below_[child].square;
    });
  }

  // Both points are in this node, whose box has this mass.
  void Together(std::size_t node, double mass) {
    const TreeNode& here = tree_.nodes[node];
    if (here.axis < 0) return;
    const auto axis = static_cast<std::size_t>(here.axis);
    const auto left = static_cast<std::size_t>(here.left);
    const auto right = static_cast<std::size_t>(here.right);
    axis_ = here.axis;
    others_ = has_own_bits_ ? ~BitOf(axis_) : ~Axes{0};
    // The axis in which they differ counts for each of them.
    const double both =
        below_[left].share * below_[right].share * box_.mass(axis) * mass;
    if (both > 0.0) totals_[axis] += Apart({left, 0}, {right, 0}, both);
    box_.EnterChildren(node, [this, mass](std::size_t child, double share) {
      Together(child, mass * share);
    });
  }

  // They have parted, each in a node of its own; the shared box has this mass.
  double Apart(Point a, Point b, double mass) {
    const Below& first = below_[a.node];
    const Below& second = below_[b.node];
    const Axes in_common =
        (first.axes & (second.axes | b.split)) | (second.axes & a.split);
    // Where neither says anything of the other, moments are enough.
    if ((in_common & others_) == 0) {
      return mass *
             (first.square + second.square - 2.0 * first.mean * second.mean);
    }
    if (first.size < second.size) std::swap(a, b);
    const std::size_t node = a.node;
    if (tree_.nodes[node].axis != axis_)
      a.split |= BitOf(tree_.nodes[node].axis);
    double sum = 0.0;
    VisitChildren(node, [&](std::size_t child, double share) {
      sum += Apart({child, a.split}, b, mass * share);
    });
    return sum;
  }

  // A split in the axis in which they differ says nothing of the other point.
  template <typename Visit>
  void VisitChildren(std::size_t node, const Visit& visit) {
    const TreeNode& here = tree_.nodes[node];
    if (here.axis != axis_) {
      box_.EnterChildren(node, visit);
      return;
    }
    for (const int child : {here.left, here.right}) {
      const auto place = static_cast<std::size_t>(child);
      if (below_[place].share > 0.0) visit(place, below_[place].share);
    }
  }

  const Tree& tree_;
  double mean_;
  TreeBox box_;  // that both points share
  bool has_own_bits_;
  std::vector<Below> below_;  // by node
  int axis_ = -1;             // in which the points differ
  Axes others_ = 0;           // all but that
  std::vector<double> totals_;
};

}  // namespace

std::vector<double> TotalVariancesOf(const Tree& tree, const TreeCells& cells,
                                     double mean) {
  return PairWalk(tree, cells, mean).Run();
}

}  // namespace frostline::importance
