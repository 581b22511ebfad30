// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/level_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace frostline::sampler {
namespace {

// How widely and how often it is climbed.
constexpr double kLooks = 2e6;
constexpr std::size_t kVaried = 5;
constexpr std::size_t kClimbsFromTried = 2;
constexpr std::size_t kClimbsFromDraws = 3;
constexpr int kSweeps = 8;

}  // namespace

LevelSearch::LevelSearch(const Space& space, const std::vector<LevelAxis>& axes,
                         const SearchGoal& goal, const CostModel* cost,
                         const PointSet& seen, Rng& rng, std::stop_token stop)
    : axes_(axes),
      goal_(goal),
      cost_(cost),
      seen_(seen),
      rng_(rng),
      stop_(std::move(stop)),
      levels_(space, axes, rng),
      loss_(*goal.loss, true),
      active_(axes.size(), true) {
  if (goal.failure != nullptr) failure_.emplace(*goal.failure, false);
  for (const ConstraintGoal& constraint : goal.constraints) {
    constraints_.emplace_back(*constraint.value, true);
  }
}

void LevelSearch::Place(const Cells& choices) {
  choices_ = choices;
  const Cells cells = levels_.ActiveCells(choices, active_);
  loss_.Place(cells);
  if (failure_.has_value()) failure_->Place(cells);
  for (surrogate::PointWalk& constraint : constraints_) constraint.Place(cells);
  score_ = ScoreAt(0, choices_[0], Here());
}

double LevelSearch::ScoreAt(std::size_t axis, int cell,
                            const PointBeliefs& beliefs) const {
  const double score = ScoreOf(goal_, beliefs);
  if (cost_ == nullptr) return score;
  Cells choices = choices_;
  choices[axis] = static_cast<std::uint8_t>(cell);
  return score - cost_->LogCost(levels_.PointOf(choices));
}

PointBeliefs LevelSearch::Here() const {
  PointBeliefs here{.loss = loss_.Here(), .failure = {}, .constraints = {}};
  if (failure_.has_value()) here.failure = failure_->Here();
  for (const surrogate::PointWalk& constraint : constraints_) {
    here.constraints.push_back(constraint.Here());
  }
  return here;
}

std::vector<PointBeliefs> LevelSearch::Look(std::size_t axis,
                                            const std::vector<int>& cells) {
  std::vector<PointBeliefs> beliefs(cells.size());
  const std::vector<surrogate::Belief> losses = loss_.Look(axis, cells);
  for (std::size_t i = 0; i < cells.size(); ++i) beliefs[i].loss = losses[i];
  if (failure_.has_value()) {
    const auto failures = failure_->Look(axis, cells);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      beliefs[i].failure = failures[i];
    }
  }
  for (surrogate::PointWalk& constraint : constraints_) {
    const auto values = constraint.Look(axis, cells);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      beliefs[i].constraints.push_back(values[i]);
    }
  }
  return beliefs;
}

double LevelSearch::Begin(Cells start) {
  levels_.Complete(start);
  Place(start);
  Offer(choices_, 0, choices_[0], score_);
  return score_;
}

void LevelSearch::Offer(Cells choices, std::size_t axis, int cell,
                        double score) {
  if (best_.has_value() && score <= best_score_) return;
  choices[axis] = static_cast<std::uint8_t>(cell);
  Point point = levels_.PointOf(choices);
  // A cell of many values has others to offer when its middle was tried.
  for (int draw = 0; draw < 8 && seen_.contains(point); ++draw) {
    point = levels_.DrawPointOf(choices);
  }
  if (seen_.contains(point)) return;
  best_ = std::move(point);
  best_score_ = score;
}

bool LevelSearch::ImproveAxis(std::size_t axis) {
  const std::vector<int> cells = levels_.CellsToLook(axis, choices_[axis]);
  const std::vector<PointBeliefs> beliefs = Look(axis, cells);
  int best = choices_[axis];
  double best_score = score_ + 1e-9;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double score = ScoreAt(axis, cells[i], beliefs[i]);
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
  for (surrogate::PointWalk& constraint : constraints_) constraint.Step(best);
  choices_[axis] = static_cast<std::uint8_t>(best);
  score_ = best_score;
  return true;
}

// Switches other axes on and off, so each of its cells is a new place.
bool LevelSearch::ImproveParent(std::size_t axis) {
  const Cells from = choices_;
  Cells best = from;
  double best_score = score_ + 1e-9;
  for (const int cell : levels_.CellsToLook(axis, choices_[axis])) {
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

std::vector<LevelSearch::Start> LevelSearch::DrawStarts(
    const std::vector<Cells>& tried) {
  // A look at a point costs n²: with many trials fewer are looked at.
  const auto rows = static_cast<double>(goal_.loss->rows().size() + 1);
  const int draws =
      static_cast<int>(std::clamp(kLooks / (rows * rows), 16.0, 200.0));
  const double share = std::min(1.0, 2.0 / static_cast<double>(axes_.size()));
  std::vector<Start> starts;
  for (int draw = 0; draw < draws && !stop_.stop_requested(); ++draw) {
    const std::size_t around =
        static_cast<std::size_t>(draw / 2) % std::min(kVaried, tried.size());
    Cells start =
        draw % 2 == 0 ? levels_.Draw() : levels_.Vary(tried[around], share);
    const double score = Begin(start);
    starts.push_back({score, std::move(start)});
  }
  std::stable_sort(
      starts.begin(), starts.end(),
      [](const Start& a, const Start& b) { return a.score > b.score; });
  starts.resize(std::min(starts.size(), kClimbsFromDraws));
  return starts;
}

void LevelSearch::Run(const std::vector<Cells>& tried) {
  const std::vector<Start> starts = DrawStarts(tried);
  for (std::size_t i = 0; i < std::min(tried.size(), kClimbsFromTried); ++i) {
    Climb(tried[i]);
  }
  for (const Start& start : starts) Climb(start.choices);
}

void LevelSearch::Climb(Cells start) {
  Begin(std::move(start));
  std::vector<std::size_t> order(axes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[rng_.Below(i)]);
  }
  std::size_t unchanged = 0;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (const std::size_t axis : order) {
      if (unchanged >= order.size() || stop_.stop_requested()) return;
      ++unchanged;
      if (!active_[axis] || axes_[axis].choices() < 2) continue;
      if (levels_.IsParent(axis) ? ImproveParent(axis) : ImproveAxis(axis)) {
        unchanged = 0;
      }
    }
  }
}

}  // namespace frostline::sampler
