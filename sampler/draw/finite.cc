// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/finite.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "sampler/draw/random.h"

namespace frostline::sampler {
namespace {

bool IsMet(const Condition& condition, double parent) {
  if (condition.values.empty()) {
    return parent >= condition.min && parent <= condition.max;
  }
  return std::find(condition.values.begin(), condition.values.end(), parent) !=
         condition.values.end();
}

NumericRange TreeRangeOf(const Domain& domain) {
  const double last = CountValues(domain) - 1.0;
  return NumericRangeOf(domain).value_or(
      NumericRange{.lo = 0.0, .hi = last, .step = 1.0});
}

}  // namespace

FiniteTree::FiniteTree(const Space& space)
    : space_(space),
      children_(static_cast<std::size_t>(space.size())),
      own_(children_.size()),
      counts_(children_.size(), 0.0) {
  for (int i = 0; i < space_.size(); ++i) {
    const Parameter& parameter =
        space_.parameters()[static_cast<std::size_t>(i)];
    ranges_.push_back(TreeRangeOf(parameter.domain));
    branches_.push_back(
        static_cast<std::int32_t>(CountValues(parameter.domain)));
    if (!parameter.condition.has_value()) continue;
    children_[static_cast<std::size_t>(parameter.condition->parent)].push_back(
        i);
  }
  // Children come after their parents, so their counts are there before.
  for (std::size_t i = children_.size(); i-- > 0;) {
    if (children_[i].empty()) {
      counts_[i] = branches_[i];
      continue;
    }
    for (std::int32_t branch = 0; branch < branches_[i]; ++branch) {
      own_[i].push_back(CountWays(i, branch));
      counts_[i] = std::min(counts_[i] + own_[i].back(), kCountlessPoints);
    }
  }
}

double FiniteTree::CountWays(std::size_t parameter, std::int32_t branch) const {
  double ways = 1.0;
  for (const int child : children_[parameter]) {
    const auto index = static_cast<std::size_t>(child);
    if (IsMet(*space_.parameters()[index].condition,
              ValueOf(parameter, branch))) {
      ways = std::min(ways * counts_[index], kCountlessPoints);
    }
  }
  return ways;
}

double FiniteTree::ValueOf(std::size_t parameter, std::int32_t branch) const {
  const NumericRange& range = ranges_[parameter];
  return range.FromBox(range.ToBox(range.lo + branch * range.step));
}

double FiniteTree::CountOwn(std::size_t parameter, std::int32_t branch) const {
  return own_[parameter].empty()
             ? 1.0
             : own_[parameter][static_cast<std::size_t>(branch)];
}

double FiniteTree::CountPending(int last, const Point& point) const {
  double ways = 1.0;
  for (int i = last + 1; i < space_.size() && ways < kCountlessPoints; ++i) {
    const auto index = static_cast<std::size_t>(i);
    // What hangs on a parameter without a value is not active.
    if (!space_.IsActive(i, point)) continue;
    ways = std::min(ways * counts_[index], kCountlessPoints);
  }
  return ways;
}

Path FiniteTree::PathOf(const Point& point) const {
  Path path(point.size(), kNoBranch);
  Point snapped = point;
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (IsAbsent(point[i])) continue;
    const double branch =
        std::nearbyint((point[i] - ranges_[i].lo) / ranges_[i].step);
    path[i] = static_cast<std::int32_t>(
        std::clamp(branch, 0.0, static_cast<double>(branches_[i] - 1)));
    snapped[i] = ValueOf(i, path[i]);
  }
  // Rounding may have decided a condition.
  return space_.Check(snapped).ok() ? path : Path();
}

namespace {

bool ComesBefore(const Path* a, const Path* b) { return *a < *b; }

}  // namespace

void TakenPaths::Put(std::size_t i, const Path& path) {
  if (i >= of_trial_.size()) of_trial_.resize(i + 1, nullptr);
  Leaf* const old = of_trial_[i];
  of_trial_[i] = nullptr;
  if (!path.empty()) {
    const auto [leaf, is_new] = taken_.try_emplace(path, 0);
    ++leaf->second;
    of_trial_[i] = &*leaf;
    if (is_new) {
      const Path* const key = &leaf->first;
      sorted_.insert(
          std::lower_bound(sorted_.begin(), sorted_.end(), key, ComesBefore),
          key);
    }
  }
  if (old != nullptr) Release(old);
}

void TakenPaths::Release(Leaf* leaf) {
  if (--leaf->second > 0) return;
  sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), &leaf->first,
                                 ComesBefore));
  taken_.erase(taken_.find(leaf->first));
}

Path TakenPaths::LeafOf(std::size_t i) const {
  if (i >= of_trial_.size() || of_trial_[i] == nullptr) return {};
  return of_trial_[i]->first;
}

TakenPaths::Range TakenPaths::Below(Range range, std::size_t layer,
                                    std::int32_t branch) const {
  const auto begin = std::partition_point(
      range.begin(), range.end(),
      [&](const Path* path) { return (*path)[layer] < branch; });
  Range rest = range.subspan(static_cast<std::size_t>(begin - range.begin()));
  return SplitFront(rest, layer, branch);
}

TakenPaths::Range TakenPaths::SplitFront(Range& range, std::size_t layer,
                                         std::int32_t branch) const {
  if (range.empty() || (*range.front())[layer] != branch) return {};
  const auto end = std::partition_point(
      range.begin(), range.end(),
      [&](const Path* path) { return (*path)[layer] <= branch; });
  const auto count = static_cast<std::size_t>(end - range.begin());
  const Range front = range.first(count);
  range = range.subspan(count);
  return front;
}

namespace {

class BruteForceSampler final : public Sampler {
 public:
  explicit BruteForceSampler(const Space& space)
      : tree_(space), total_(tree_.CountPoints()) {}

 private:
  absl::StatusOr<Point> ProposeUntil(const std::stop_token& /*stop*/,
                                     const History& history,
                                     std::int64_t number, Rng& rng) override {
    CatchUp(history);
    const Observation* const own = history.Find(number);
    if (own == nullptr) return Draw(rng);
    // A trial does not stand in its own way.
    const auto i = static_cast<std::size_t>(own - history.trials().data());
    const Path path = taken_.LeafOf(i);
    taken_.Put(i, {});
    auto point = Draw(rng);
    taken_.Put(i, path);
    return point;
  }

  void CatchUp(const History& history) {
    if (history.revision() < revision_) {
      taken_ = TakenPaths();
      revision_ = 0;
    }
    for (; revision_ < history.revision(); ++revision_) {
      const auto i = history.changes()[static_cast<std::size_t>(revision_)];
      const Point& point = history.trials()[i].point;
      taken_.Put(
          i, tree_.space().Check(point).ok() ? tree_.PathOf(point) : Path());
    }
  }

  absl::StatusOr<Point> Draw(Rng& rng) const {
    TakenPaths::Range taken = taken_.All();
    if (static_cast<double>(taken.size()) >= total_) {
      return MakeError(ErrorId::kSpaceExhausted,
                       absl::StrCat("all ", total_,
                                    " points of the space have been proposed"),
                       "the study is complete: lower the budget, or add levels "
                       "to search on");
    }
    Point point(static_cast<std::size_t>(tree_.space().size()), kAbsent);
    for (int i = 0; i < tree_.space().size(); ++i) {
      if (!tree_.space().IsActive(i, point)) continue;
      const auto index = static_cast<std::size_t>(i);
      const std::int32_t branch =
          DrawBranch(index, tree_.CountPending(i, point), taken, rng);
      taken = taken_.Below(taken, index, branch);
      point[index] = tree_.ValueOf(index, branch);
    }
    return point;
  }

  // In proportion to the leaves that are left below each branch.
  std::int32_t DrawBranch(std::size_t parameter, double pending,
                          const TakenPaths::Range& taken, Rng& rng) const {
    // So many cannot be used up; and so large a number has lost its ones.
    constexpr double kPlenty = 1e15;
    const bool count_taken = pending < kPlenty;
    std::vector<double> left;
    double sum = 0.0;
    TakenPaths::Range rest = taken;
    for (std::int32_t b = 0; b < tree_.CountBranches(parameter); ++b) {
      const auto used =
          static_cast<double>(taken_.SplitFront(rest, parameter, b).size());
      const double own = tree_.CountOwn(parameter, b);
      left.push_back(count_taken ? own * pending - used : own);
      sum += left.back();
    }
    double place = rng.Uniform() * sum;
    std::int32_t last = 0;  // rounding must not end on a branch used up
    for (std::size_t b = 0; b < left.size(); ++b) {
      if (left[b] <= 0.0) continue;
      last = static_cast<std::int32_t>(b);
      if (place < left[b]) break;
      place -= left[b];
    }
    return last;
  }

  FiniteTree tree_;
  double total_;
  TakenPaths taken_;
  std::int64_t revision_ = 0;
};

absl::Status CheckFits(const Space& space) {
  if (space.size() == 0) {
    return MakeError(ErrorId::kSamplerInvalid,
                     "the space has no parameter, so there is one point only",
                     "give a module levels, or use the sampler random to "
                     "repeat one point",
                     "sampler.name");
  }
  for (const Parameter& parameter : space.parameters()) {
    const double values = CountValues(parameter.domain);
    if (!std::isfinite(values)) {
      return MakeError(
          ErrorId::kSamplerInvalid,
          absl::StrCat("sampler brute cannot count the values of ",
                       parameter.name, ", which is continuous"),
          "give it levels or a step, or use the sampler qmc, tpe or random",
          "sampler.name");
    }
    if (values > static_cast<double>(kMaxBranches)) {
      return MakeError(
          ErrorId::kSpaceTooLarge,
          absl::StrCat("parameter ", parameter.name, " has more than ",
                       kMaxBranches, " values, too many for sampler brute"),
          "give it a coarser step, or use the sampler qmc, tpe or random",
          "sampler.name");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> MakeBruteForceSampler(
    const SamplerInput& input) {
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler brute",
                      "sampler.options", input.options);
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(CheckFits(input.space));
  return std::make_unique<BruteForceSampler>(input.space);
}

GridPoints::GridPoints(const Space& space) : space_(space) {
  for (const Parameter& parameter : space_.parameters()) {
    const double last = CountValues(parameter.domain) - 1.0;
    ranges_.push_back(NumericRangeOf(parameter.domain)
                          .value_or(NumericRange{.lo = 0.0,
                                                 .hi = last,
                                                 .step = 1.0,
                                                 .box_lo = -0.5,
                                                 .box_hi = last + 0.5}));
  }
}

void GridPoints::Reset(int begin, Point& point) const {
  for (int i = begin; i < space_.size(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    point[index] = space_.IsActive(i, point) ? ranges_[index].lo : kAbsent;
  }
}

Point GridPoints::First() const {
  Point point(ranges_.size(), kAbsent);
  Reset(0, point);
  return point;
}

bool GridPoints::Advance(Point& point) const {
  for (int i = space_.size() - 1; i >= 0; --i) {
    const auto index = static_cast<std::size_t>(i);
    double& value = point[index];
    const NumericRange& range = ranges_[index];
    if (IsAbsent(value) || value >= range.hi) continue;
    value = range.FromBox(range.ToBox(value + range.step));
    Reset(i + 1, point);
    return true;
  }
  Reset(0, point);
  return false;
}

Point GridPoints::Snap(Point point) const {
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (IsAbsent(point[i])) continue;
    point[i] = ranges_[i].FromBox(ranges_[i].ToBox(point[i]));
  }
  return point;
}

std::int64_t GridPoints::Count(std::int64_t limit) const {
  // What does not depend on a condition is a lower bound, found at once.
  double always = 1.0;
  for (const Parameter& parameter : space_.parameters()) {
    if (!parameter.condition.has_value()) {
      always *= CountValues(parameter.domain);
    }
  }
  if (always > static_cast<double>(limit)) return limit + 1;
  if (!space_.HasConditions()) return static_cast<std::int64_t>(always);
  std::int64_t count = 1;
  for (Point point = First(); count <= limit && Advance(point);) ++count;
  return count;
}

namespace {

struct PointHash {
  std::size_t operator()(const Point& point) const { return HashPoint(point); }
};
struct PointEqual {
  bool operator()(const Point& a, const Point& b) const {
    return SamePoint(a, b);
  }
};

class GridSampler final : public Sampler {
 public:
  GridSampler(const Space& space, std::int64_t total, bool shuffled)
      : space_(space), points_(space), total_(total), shuffled_(shuffled) {
    cursor_ = points_.First();
  }

 private:
  absl::StatusOr<Point> ProposeUntil(const std::stop_token& /*stop*/,
                                     const History& history,
                                     std::int64_t number, Rng& rng) override {
    CatchUp(history);
    // A trial does not stand in its own way.
    const Observation* const own = history.Find(number);
    own_ = own == nullptr ? nullptr : &KeyOf(history, *own);
    const bool frees_one = own_ != nullptr && !own_->empty() && !IsTaken(*own_);
    if (static_cast<std::int64_t>(taken_.size()) - frees_one >= total_) {
      return MakeError(ErrorId::kSpaceExhausted,
                       absl::StrCat("all ", total_,
                                    " points of the grid have been proposed"),
                       "the study is complete: lower the budget, or add levels "
                       "to search on");
    }
    return shuffled_ ? NextShuffled(rng) : NextListed();
  }

  void CatchUp(const History& history) {
    if (history.revision() < revision_) {
      taken_.clear();
      keys_.clear();
      revision_ = 0;
    }
    keys_.resize(history.size());
    for (; revision_ < history.revision(); ++revision_) {
      const auto i = history.changes()[static_cast<std::size_t>(revision_)];
      const Point& point = history.trials()[i].point;
      Replace(keys_[i],
              space_.Check(point).ok() ? points_.Snap(point) : Point());
    }
  }

  // An empty key: the trial has no point of the grid.
  void Replace(Point& key, Point next) {
    if (SamePoint(key, next)) return;
    if (!key.empty() && --taken_[key] == 0) {
      taken_.erase(key);
      cursor_ = points_.First();
    }
    if (!next.empty()) ++taken_[next];
    key = std::move(next);
  }

  const Point& KeyOf(const History& history, const Observation& trial) const {
    return keys_[static_cast<std::size_t>(&trial - history.trials().data())];
  }

  bool IsTaken(const Point& point) const {
    const auto found = taken_.find(point);
    if (found == taken_.end()) return false;
    const bool is_own = own_ != nullptr && SamePoint(*own_, point);
    return found->second > (is_own ? 1 : 0);
  }

  Point NextListed() {
    if (own_ != nullptr) {
      Point point = points_.First();
      while (IsTaken(point)) points_.Advance(point);
      return point;
    }
    while (IsTaken(cursor_)) points_.Advance(cursor_);
    return cursor_;
  }

  Point NextShuffled(Rng& rng) const {
    constexpr int kDraws = 64;
    Point point = DrawPoint(space_, 0.0, rng);
    for (int i = 1; i < kDraws && IsTaken(point); ++i) {
      point = DrawPoint(space_, 0.0, rng);
    }
    // The grid is nearly covered: take the next free point instead.
    while (IsTaken(point)) points_.Advance(point);
    return point;
  }

  Space space_;
  GridPoints points_;
  std::int64_t total_;
  bool shuffled_;
  std::int64_t revision_ = 0;
  std::vector<Point> keys_;  // of each trial of the history
  std::unordered_map<Point, int, PointHash, PointEqual> taken_;
  Point cursor_;  // all points before this one are taken
  const Point* own_ = nullptr;
};

absl::Status CheckFinite(const Space& space) {
  for (const Parameter& parameter : space.parameters()) {
    if (std::isfinite(CountValues(parameter.domain))) continue;
    return MakeError(
        ErrorId::kSamplerInvalid,
        absl::StrCat("sampler grid cannot list the values of ", parameter.name,
                     ", which is continuous"),
        "give it levels or a step, or use the sampler tpe or random",
        "sampler.name");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> MakeGridSampler(
    const SamplerInput& input) {
  const Space& space = input.space;
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler grid",
                      "sampler.options", input.options);
  const std::string order =
      reader.OneOf("order", "shuffled", {"shuffled", "listed"});
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(CheckFinite(space));
  if (space.size() == 0) {
    return MakeError(ErrorId::kSamplerInvalid,
                     "the space has no parameter, so a grid has no points",
                     "give a module levels, or use the sampler random to "
                     "repeat one point",
                     "sampler.name");
  }
  const std::int64_t total = GridPoints(space).Count(kMaxGridPoints);
  if (total > kMaxGridPoints) {
    return MakeError(
        ErrorId::kSpaceTooLarge,
        absl::StrCat("a grid over this space has more than ", kMaxGridPoints,
                     " points (up to ", space.CountPoints(), ")"),
        "use fewer or coarser levels, or the sampler tpe or random",
        "sampler.name");
  }
  return std::make_unique<GridSampler>(space, total, order == "shuffled");
}

}  // namespace frostline::sampler
