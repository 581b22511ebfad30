// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/tpe_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sampler/draw/random.h"

namespace frostline::sampler {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();
// Of wider axes the neighbours are not worth their time.
constexpr std::size_t kMostMoves = 64;
// With costs: the share of trials that counts as good. Beyond it better is not
// worth more, and the cheaper one wins.
constexpr double kGamma = 0.25;
}  // namespace

TpeSearch::TpeSearch(const Space& space, const std::vector<CellAxis>& axes,
                     const TpeOptions& options)
    : space_(space), axes_(axes), options_(options), untried_(space, options) {
  for (const CellAxis& axis : axes_) {
    movable_.push_back(axis.exact() && axis.cells() <= kMostMoves);
  }
  for (const Parameter& parameter : space_.parameters()) {
    if (!parameter.condition.has_value()) continue;
    movable_[static_cast<std::size_t>(parameter.condition->parent)] = false;
  }
}

TpeSearch::Candidate TpeSearch::Draw(const CellDensity& good, Rng& rng) const {
  const bool separately = good.DrawSeparately(rng);
  std::size_t kernel = good.DrawKernel(rng);
  Candidate drawn{Point(axes_.size(), kAbsent), CellRow(axes_.size(), kNoCell),
                  0.0};
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    if (!space_.IsActive(static_cast<int>(a), drawn.point)) continue;
    std::size_t own = separately ? good.DrawKernel(rng) : kernel;
    // One that has no value here leaves it to the others.
    for (int again = 0;
         again < 8 && own < good.size() && good.At(a, own) == kNoCell;
         ++again) {
      own = good.DrawKernel(rng);
    }
    if (own >= good.size() || good.At(a, own) == kNoCell) {
      drawn.point[a] =
          DrawValue(space_.parameters()[a].domain, options_.frozen_share, rng);
    } else {
      const Cell cell = good.kernel(a).Draw(good.At(a, own), rng);
      drawn.point[a] = axes_[a].ValueIn(cell, rng);
    }
    drawn.cells[a] = axes_[a].CellOf(drawn.point[a]);
  }
  return drawn;
}

double TpeSearch::Score(const TpeQuestion& question, double good, double rest,
                        double failed, const Point& point) const {
  const TpeModel& model = question.model;
  double score = good - rest;
  if (question.cost != nullptr) {
    score = -std::log(kGamma + (1.0 - kGamma) * std::exp(rest - good)) -
            question.cost->LogCost(point);
  }
  if (model.failed.size() > 0) {
    score += LogChanceOfSuccess(model, good, rest, failed);
  }
  return score >= kNothing ? score : kNothing;  // what is no number is nothing
}

double TpeSearch::ScoreOf(const TpeQuestion& question,
                          const Candidate& x) const {
  TpeModel& model = question.model;
  const double failed =
      model.failed.size() > 0 ? model.failed.LogRatio(x.cells) : 0.0;
  return Score(question, model.good.LogRatio(x.cells),
               model.rest.LogRatio(x.cells), failed, x.point);
}

std::optional<TpeSearch::Candidate> TpeSearch::BestNeighbour(
    const TpeQuestion& question, const Candidate& from, double least,
    Rng& rng) const {
  TpeModel& model = question.model;
  ScoreOf(question, from);  // moves are from the point last asked for
  std::vector<double> l, g, failed;
  Candidate moved = from;
  std::vector<std::pair<double, std::pair<std::size_t, Cell>>> moves;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    if (!movable_[a] || from.cells[a] == kNoCell) continue;
    model.good.LogRatiosOfMoves(from.cells, a, l);
    model.rest.LogRatiosOfMoves(from.cells, a, g);
    failed.assign(l.size(), 0.0);
    if (model.failed.size() > 0) {
      model.failed.LogRatiosOfMoves(from.cells, a, failed);
    }
    for (std::size_t v = 0; v < l.size(); ++v) {
      const auto cell = static_cast<Cell>(v);
      if (cell == from.cells[a]) continue;
      if (question.cost != nullptr)
        moved.point[a] = axes_[a].ValueIn(cell, rng);
      const double score = Score(question, l[v], g[v], failed[v], moved.point);
      if (score > least) moves.push_back({score, {a, cell}});
    }
    moved.point[a] = from.point[a];
  }
  std::stable_sort(
      moves.begin(), moves.end(),
      [](const auto& x, const auto& y) { return x.first > y.first; });
  for (const auto& [score, move] : moves) {
    const auto [a, cell] = move;
    moved.point[a] = axes_[a].ValueIn(cell, rng);
    if (!untried_.IsTried(question.table, question.own, moved.point)) {
      moved.cells[a] = cell;
      moved.score = score;
      return moved;
    }
    moved.point[a] = from.point[a];
  }
  return std::nullopt;
}

Point TpeSearch::Choose(const TpeQuestion& question, Rng& rng) const {
  std::optional<Candidate> best;    // untried
  std::optional<Candidate> anyway;  // tried or not
  for (std::size_t i = 0; i < question.candidates; ++i) {
    Candidate drawn = Draw(question.model.good, rng);
    drawn.score = ScoreOf(question, drawn);
    const bool tried =
        untried_.IsTried(question.table, question.own, drawn.point);
    if (!tried && (!best || drawn.score > best->score)) best = drawn;
    if (!anyway || drawn.score > anyway->score) anyway = std::move(drawn);
    if (question.stop.stop_requested()) return anyway->point;
  }
  for (int round = 0; round < question.improve || (!best && round == 0);
       ++round) {
    auto better = BestNeighbour(question, best ? *best : *anyway,
                                best ? best->score : kNothing, rng);
    if (!better) break;
    best = std::move(better);
  }
  if (best) return best->point;
  return untried_.Find(question.table, question.own, rng)
      .value_or(anyway->point);
}

}  // namespace frostline::sampler
