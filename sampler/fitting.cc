// SPDX-License-Identifier: Apache-2.0
#include "sampler/fitting.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "sampler/memory.h"

namespace frostline::sampler {
namespace {

// Returns the next lower value of a parameter that lets less be trained or
// computed at once; of a depth the next higher one. Nothing: it has none.
std::optional<double> LessOf(const Space& space, int i, double value) {
  const Parameter& parameter = space.parameters()[static_cast<std::size_t>(i)];
  if (IsAbsent(value)) return std::nullopt;
  if (space.prefix_depth() == i) {
    const auto* const depth = std::get_if<IntRange>(&parameter.domain);
    if (depth == nullptr) return std::nullopt;
    const double next = value + static_cast<double>(depth->step);
    return Contains(parameter.domain, next) ? std::optional(next)
                                            : std::nullopt;
  }
  if (FreezesByValue(parameter.domain)) {
    const auto* const levels = std::get_if<Levels>(&parameter.domain);
    if (value == 0.0) return std::nullopt;
    // A rank may fall; a rate changes nothing until it is 0.
    return levels != nullptr && levels->are_ranks ? value - 1.0 : 0.0;
  }
  if (const auto* const levels = std::get_if<Levels>(&parameter.domain);
      levels != nullptr && levels->are_ranks && value > 0.0) {
    return value - 1.0;
  }
  const bool counts =
      parameter.name == "batch_size" || parameter.name == "max_length";
  if (!counts) return std::nullopt;
  if (const auto* const whole = std::get_if<IntRange>(&parameter.domain)) {
    const double next = value - static_cast<double>(whole->step);
    return Contains(parameter.domain, next) ? std::optional(next)
                                            : std::nullopt;
  }
  const bool listed = std::holds_alternative<Levels>(parameter.domain) ||
                      std::holds_alternative<Categorical>(parameter.domain);
  return listed && value > 0.0 ? std::optional(value - 1.0) : std::nullopt;
}

class FittingSampler final : public Sampler {
 public:
  FittingSampler(const Space& space, double limit,
                 std::unique_ptr<Sampler> wrapped, LooksFor looks_for,
                 SamplerMaker another)
      : space_(space),
        memory_(space_, limit),
        wrapped_(std::move(wrapped)),
        looks_for_(looks_for),
        another_(std::move(another)) {}

  bool MayFit(const History& history, const Point& point) override {
    memory_.CatchUp(history);
    return memory_.Judge(point) != MemoryFit::kCannot;
  }

 private:
  absl::StatusOr<Point> ProposeUntil(const std::stop_token& stop,
                                     const History& history,
                                     std::int64_t number, Rng& rng) override {
    memory_.CatchUp(history);
    if (!memory_.is_bound()) {
      return wrapped_->Propose(history, number, rng, stop);
    }
    // A lessened point of a sequence would pass for a foreign one.
    const bool is_sequence = looks_for_ == LooksFor::kItsSequence;
    ASSIGN_OR_RETURN(Point point,
                     wrapped_->Propose(is_sequence ? History() : history,
                                       number, rng, stop));
    if (looks_for_ != LooksFor::kItsPoints) {
      return Lessened(point, history, rng);
    }
    if (memory_.Judge(point) != MemoryFit::kCannot) return point;
    return NextListed(stop, history, number, rng);
  }

  bool Goes(const Point& point) const {
    const MemoryFit fit = memory_.Judge(point);
    return fit == MemoryFit::kFits ||
           (fit == MemoryFit::kUnknown && memory_.IsNextStep(point));
  }

  // What cannot fit is shown as tried, to a sampler of its own: the other one
  // sees nothing but the history.
  absl::StatusOr<Point> NextListed(const std::stop_token& stop,
                                   const History& history, std::int64_t number,
                                   Rng& rng) const {
    const std::unique_ptr<Sampler> listing = another_();
    History shown = history;
    std::int64_t passed = number + 1;  // beyond the numbers of all trials
    for (const Observation& trial : history.trials()) {
      passed = std::max(passed, trial.number + 1);
    }
    for (;; ++passed) {
      ASSIGN_OR_RETURN(Point point, listing->Propose(shown, number, rng, stop));
      if (memory_.Judge(point) != MemoryFit::kCannot) return point;
      Observation over;
      over.number = passed;
      over.state = TrialState::kInfeasible;
      over.point = std::move(point);
      shown.Put(std::move(over));
    }
  }

  // The points that train or compute one thing less.
  std::vector<Point> OneLess(const Point& point) const {
    std::vector<Point> less;
    for (int i = 0; i < space_.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::optional<double> value = LessOf(space_, i, point[at]);
      if (!value.has_value()) continue;
      Point next = point;
      next[at] = *value;
      next = space_.Canonical(std::move(next));
      if (space_.Check(next).ok()) less.push_back(std::move(next));
    }
    return less;
  }

  absl::StatusOr<Point> Lessened(const Point& wish, const History& history,
                                 Rng& rng) const {
    if (Goes(wish)) return wish;
    Point point = wish;
    Point last = wish;  // the one before the least
    while (!Goes(point)) {
      std::vector<Point> less = OneLess(point);
      if (less.empty()) return Least(point, last, history);
      last = std::exchange(point, std::move(less[rng.Below(less.size())]));
    }
    return Restored(std::move(point), wish, rng);
  }

  // What was taken away and fits after all comes back.
  Point Restored(Point point, const Point& wish, Rng& rng) const {
    std::vector<std::size_t> order(wish.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[rng.Below(i)]);
    }
    for (const std::size_t i : order) {
      if (IsAbsent(wish[i]) || point[i] == wish[i]) continue;
      Point more = point;
      for (std::size_t j = 0; j < more.size(); ++j) {
        if (j == i || IsAbsent(more[j])) more[j] = wish[j];
      }
      more = space_.Canonical(std::move(more));
      if (space_.Check(more).ok() && Goes(more)) point = std::move(more);
    }
    return point;
  }

  // Nothing is known yet to fit, or nothing does. Of trials that begin beside
  // the first one each may train something else.
  absl::StatusOr<Point> Least(const Point& least, const Point& last,
                              const History& history) const {
    if (memory_.Judge(least) != MemoryFit::kCannot) {
      const bool first = history.size() == 0;
      const bool may = memory_.Judge(last) != MemoryFit::kCannot;
      return first || !may ? least : last;
    }
    const std::optional<double> seen = memory_.LeastSeen();
    const std::string bound =
        memory_.limit() < kNoMemoryLimit
            ? absl::StrFormat(" (%s <= %g)", kPeakMemoryMetric, memory_.limit())
            : "";
    const std::string takes =
        seen.has_value()
            ? absl::StrFormat("of those that ran the least took %.0f MiB",
                              *seen)
            : "even with all frozen that can be, a trial ran out of it";
    return MakeError(
        ErrorId::kSpaceTooLarge,
        absl::StrCat("no point fits the memory", bound, ": ", takes),
        "raise the bound or take a larger device; or a smaller "
        "training.batch_size or max_length, or let more modules be frozen",
        "constraints");
  }

  Space space_;
  MemoryModel memory_;
  std::unique_ptr<Sampler> wrapped_;
  LooksFor looks_for_;
  SamplerMaker another_;
};

}  // namespace

std::unique_ptr<Sampler> MakeFittingSampler(const Space& space, double limit,
                                            std::unique_ptr<Sampler> wrapped,
                                            LooksFor looks_for,
                                            SamplerMaker another) {
  return std::make_unique<FittingSampler>(space, limit, std::move(wrapped),
                                          looks_for, std::move(another));
}

}  // namespace frostline::sampler
