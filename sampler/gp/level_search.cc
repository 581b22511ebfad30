// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/level_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sampler/gp/improvement.h"
#include "sampler/random.h"
#include "sampler/tpe/truncated_normal.h"

namespace frostline {
namespace {

// How widely and how often it is climbed.
constexpr double kLooks = 2e6;
constexpr std::size_t kVaried = 5;
constexpr std::size_t kClimbsFromTried = 2;
constexpr std::size_t kClimbsFromDraws = 3;
constexpr int kSweeps = 8;

// How much of the noise counts as a chance to improve. With none of it search
// goes after what it knows least, with all of it after what it believes best.
constexpr double kNoiseShare = 0.5;

// A regression on 0 and 1 is no probability: the step from "will do" to "will
// fail" is at a half, this wide. Chance failures, wherever they fall, stay well
// below it.
constexpr double kFailureSlack = 0.1;
// Beyond this a trial is only made when there is nothing else left, however
// small the improvement elsewhere.
constexpr double kHopeless = 0.75;

}  // namespace

LevelSearch::LevelSearch(const Space& space, const std::vector<LevelAxis>& axes,
                         const SearchGoal& goal, const PointSet& seen, Rng& rng)
    : space_(space),
      axes_(axes),
      goal_(goal),
      seen_(seen),
      rng_(rng),
      conditional_(space.HasConditions()),
      is_parent_(axes.size(), false),
      loss_(*goal.loss, true),
      active_(axes.size(), true) {
  if (goal.failure != nullptr) failure_.emplace(*goal.failure, false);
  for (const Parameter& parameter : space.parameters()) {
    if (!parameter.condition.has_value()) continue;
    is_parent_[static_cast<std::size_t>(parameter.condition->parent)] = true;
  }
}

std::uint8_t LevelSearch::DrawChoice(const LevelAxis& axis) {
  // Of a long line the frozen cell would be drawn too rarely.
  if (axis.frozen_value && !axis.exact && rng_.Uniform() < kFrozenShare) {
    return static_cast<std::uint8_t>(axis.line_cells);
  }
  return static_cast<std::uint8_t>(
      rng_.Below(static_cast<std::uint64_t>(axis.choices())));
}

Cells LevelSearch::Draw() {
  Cells choices;
  for (const LevelAxis& axis : axes_) choices.push_back(DrawChoice(axis));
  return choices;
}

Cells LevelSearch::Vary(Cells from, double share) {
  Complete(from);
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    if (rng_.Uniform() < share) from[d] = DrawChoice(axes_[d]);
  }
  return from;
}

void LevelSearch::Complete(Cells& choices) {
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    if (choices[d] >= axes_[d].choices()) choices[d] = DrawChoice(axes_[d]);
  }
}

Point LevelSearch::PointOf(const Cells& choices, Rng* any) const {
  Point point(axes_.size(), kAbsent);
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    if (!conditional_ || space_.IsActive(static_cast<int>(d), point)) {
      point[d] = any == nullptr ? axes_[d].ValueOf(choices[d])
                                : axes_[d].DrawValueOf(choices[d], *any);
    }
  }
  return point;
}

Cells LevelSearch::ActiveCells(const Cells& choices) {
  if (!conditional_) return choices;
  Cells cells = choices;
  const Point point = PointOf(choices, nullptr);
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    active_[d] = !IsAbsent(point[d]);
    if (!active_[d]) cells[d] = static_cast<std::uint8_t>(axes_[d].line_cells);
  }
  return cells;
}

void LevelSearch::Place(const Cells& choices) {
  choices_ = choices;
  const Cells cells = ActiveCells(choices);
  loss_.Place(cells);
  if (failure_.has_value()) failure_->Place(cells);
  score_ = ScoreHere();
}

double LevelSearch::Score(const Belief& loss, const Belief& failure) const {
  // What will be seen is noisy, as what it has to beat was.
  const double noise = kNoiseShare * goal_.loss->kernel().noise();
  const double deviation = std::sqrt(std::max(loss.variance, 1e-12) + noise);
  double score = LogExpectedImprovement(loss.mean, deviation, goal_.best);
  if (failure_.has_value()) {
    const double chance =
        goal_.failure_rate + goal_.failure_deviation * failure.mean;
    score += LogNormalCdf((0.5 - chance) / kFailureSlack);
    if (chance > kHopeless) score -= 1e6 * (chance - kHopeless);
  }
  return score;
}

double LevelSearch::ScoreHere() const {
  return Score(loss_.Here(),
               failure_.has_value() ? failure_->Here() : Belief{});
}

double LevelSearch::ScoreOf(Cells start) {
  Complete(start);
  Place(start);
  Offer(choices_, 0, choices_[0], score_);
  return score_;
}

void LevelSearch::Offer(Cells choices, std::size_t axis, int cell,
                        double score) {
  if (best_.has_value() && score <= best_score_) return;
  choices[axis] = static_cast<std::uint8_t>(cell);
  Point point = PointOf(choices, nullptr);
  // A cell of many values has others to offer when its middle was tried.
  for (int draw = 0; draw < 8 && seen_.contains(point); ++draw) {
    point = PointOf(choices, &rng_);
  }
  if (seen_.contains(point)) return;
  best_ = std::move(point);
  best_score_ = score;
}

std::vector<int> LevelSearch::CellsToLook(std::size_t axis) const {
  const int choices = axes_[axis].choices();
  std::vector<int> cells;
  if (choices <= 17 || !axes_[axis].ordered) {
    cells.resize(static_cast<std::size_t>(choices));
    std::iota(cells.begin(), cells.end(), 0);
    return cells;
  }
  // A long line is looked at coarsely, and closely around where we are.
  const int now = choices_[axis];
  for (int cell = 0; cell < choices; ++cell) {
    if (cell % 4 == 0 || std::abs(cell - now) <= 2 || cell + 1 == choices) {
      cells.push_back(cell);
    }
  }
  return cells;
}

bool LevelSearch::ImproveAxis(std::size_t axis) {
  const std::vector<int> cells = CellsToLook(axis);
  const std::vector<Belief> losses = loss_.Look(axis, cells);
  std::vector<Belief> failures(cells.size());
  if (failure_.has_value()) failures = failure_->Look(axis, cells);
  int best = choices_[axis];
  double best_score = score_ + 1e-9;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double score = Score(losses[i], failures[i]);
    if (cells[i] == choices_[axis]) continue;
    Offer(choices_, axis, cells[i], score);
    if (score > best_score) {
      best_score = score;
      best = cells[i];
    }
  }
  if (best == choices_[axis]) return false;
  loss_.Step(best);
  if (failure_.has_value()) failure_->Step(best);
  choices_[axis] = static_cast<std::uint8_t>(best);
  score_ = best_score;
  return true;
}

// Switches other axes on and off, so each of its cells is a new place.
bool LevelSearch::ImproveParent(std::size_t axis) {
  const Cells from = choices_;
  Cells best = from;
  double best_score = score_ + 1e-9;
  for (const int cell : CellsToLook(axis)) {
    if (cell == from[axis]) continue;
    Cells choices = from;
    choices[axis] = static_cast<std::uint8_t>(cell);
    Place(choices);
    Offer(choices, axis, cell, score_);
    if (score_ > best_score) {
      best_score = score_;
      best = choices;
    }
  }
  Place(best);
  return best != from;
}

void LevelSearch::Run(const std::vector<Cells>& tried) {
  // A look at a point costs n²: with many trials fewer are looked at.
  const auto rows = static_cast<double>(goal_.loss->rows().size() + 1);
  const int draws =
      static_cast<int>(std::clamp(kLooks / (rows * rows), 16.0, 200.0));
  const double share = std::min(1.0, 2.0 / static_cast<double>(axes_.size()));
  std::vector<std::pair<double, Cells>> starts;
  for (int draw = 0; draw < draws; ++draw) {
    const std::size_t around =
        static_cast<std::size_t>(draw / 2) % std::min(kVaried, tried.size());
    Cells start = draw % 2 == 0 ? Draw() : Vary(tried[around], share);
    const double score = ScoreOf(start);
    starts.emplace_back(score, std::move(start));
  }
  std::stable_sort(
      starts.begin(), starts.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  starts.resize(std::min(starts.size(), kClimbsFromDraws));
  for (std::size_t i = 0; i < std::min(tried.size(), kClimbsFromTried); ++i) {
    Climb(tried[i]);
  }
  for (const auto& [score, start] : starts) Climb(start);
}

void LevelSearch::Climb(Cells start) {
  ScoreOf(std::move(start));
  std::vector<std::size_t> order(axes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[rng_.Below(i)]);
  }
  std::size_t unchanged = 0;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (const std::size_t axis : order) {
      if (unchanged >= order.size()) return;
      ++unchanged;
      if (!active_[axis] || axes_[axis].choices() < 2) continue;
      if (is_parent_[axis] ? ImproveParent(axis) : ImproveAxis(axis)) {
        unchanged = 0;
      }
    }
  }
}

}  // namespace frostline
