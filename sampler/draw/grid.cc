// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/grid.h"

#include <cmath>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "sampler/draw/random.h"

namespace frostline::sampler {

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
