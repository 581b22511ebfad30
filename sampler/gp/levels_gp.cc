// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/levels_gp.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "sampler/cost.h"
#include "sampler/draw/random.h"
#include "sampler/gp/beliefs.h"
#include "sampler/gp/levels.h"
#include "sampler/tpe/tpe.h"

namespace frostline::sampler {
namespace {

constexpr int kFewCells = 17;  // all of so many are looked at

}  // namespace

LevelChoices::LevelChoices(const Space& space,
                           const std::vector<LevelAxis>& axes, Rng& rng)
    : space_(space),
      axes_(axes),
      rng_(rng),
      conditional_(space.HasConditions()),
      is_parent_(axes.size(), false) {
  for (const Parameter& parameter : space.parameters()) {
    if (!parameter.condition.has_value()) continue;
    is_parent_[static_cast<std::size_t>(parameter.condition->parent)] = true;
  }
}

std::uint8_t LevelChoices::DrawChoice(const LevelAxis& axis) {
  // On a long line the frozen cell would be drawn too rarely.
  if (axis.frozen_value && !axis.exact && rng_.Uniform() < kFrozenShare) {
    return static_cast<std::uint8_t>(axis.line_cells);
  }
  return static_cast<std::uint8_t>(
      rng_.Below(static_cast<std::uint64_t>(axis.choices())));
}

Cells LevelChoices::Draw() {
  Cells choices;
  for (const LevelAxis& axis : axes_) choices.push_back(DrawChoice(axis));
  return choices;
}

Cells LevelChoices::Vary(Cells from, double share) {
  Complete(from);
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    if (rng_.Uniform() < share) from[d] = DrawChoice(axes_[d]);
  }
  return from;
}

void LevelChoices::Complete(Cells& choices) {
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    if (choices[d] >= axes_[d].choices()) choices[d] = DrawChoice(axes_[d]);
  }
}

Point LevelChoices::MakePoint(const Cells& choices, Rng* any) const {
  Point point(axes_.size(), kAbsent);
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    if (!conditional_ || space_.IsActive(static_cast<int>(d), point)) {
      point[d] = any == nullptr ? axes_[d].ValueOf(choices[d])
                                : axes_[d].DrawValueOf(choices[d], *any);
    }
  }
  return point;
}

Point LevelChoices::PointOf(const Cells& choices) const {
  return MakePoint(choices, nullptr);
}

Point LevelChoices::DrawPointOf(const Cells& choices) {
  return MakePoint(choices, &rng_);
}

Cells LevelChoices::ActiveCells(const Cells& choices,
                                std::vector<bool>& active) const {
  if (!conditional_) return choices;
  Cells cells = choices;
  const Point point = PointOf(choices);
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    active[d] = !IsAbsent(point[d]);
    if (!active[d]) cells[d] = static_cast<std::uint8_t>(axes_[d].line_cells);
  }
  return cells;
}

std::vector<int> LevelChoices::CellsToLook(std::size_t axis, int now) const {
  const int choices = axes_[axis].choices();
  std::vector<int> cells;
  if (choices <= kFewCells || !axes_[axis].ordered) {
    cells.resize(static_cast<std::size_t>(choices));
    std::iota(cells.begin(), cells.end(), 0);
    return cells;
  }
  // A long line is looked at coarsely, and closely around where we are.
  for (int cell = 0; cell < choices; ++cell) {
    if (cell % 4 == 0 || std::abs(cell - now) <= 2 || cell + 1 == choices) {
      cells.push_back(cell);
    }
  }
  return cells;
}

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

namespace {

struct GpOptions {
  std::size_t startup_trials = 0;
  std::size_t max_trials = 0;
  bool cost_aware = false;
};

class LevelsGpSampler final : public Sampler {
 public:
  LevelsGpSampler(const GpOptions& options, const SamplerInput& input,
                  std::vector<LevelAxis> axes, std::unique_ptr<Sampler> tpe)
      : options_(options),
        space_(input.space),
        objective_(input.objectives[0]),
        axes_(std::move(axes)),
        tpe_(std::move(tpe)),
        earlier_(input.prior_studies, space_, axes_, objective_),
        beliefs_(space_, axes_, earlier_),
        ledger_(space_, axes_, objective_),
        cost_(space_) {}

 private:
  absl::StatusOr<Point> ProposeUntil(const std::stop_token& stop,
                                     const History& history,
                                     std::int64_t number, Rng& rng) override {
    ledger_.CatchUp(history);
    const TrialParts parts = PartsOf(ledger_.List(number));
    const std::size_t known = parts.valued.size();
    if (known + parts.running.size() > options_.max_trials) {
      return tpe_->Propose(history, number, rng, stop);
    }
    PointSet seen;
    for (const LedgerTrial* trial : parts.all) seen.insert(trial->point);
    const std::size_t told = known + earlier_.rows().targets.size();
    if (told < std::max<std::size_t>(options_.startup_trials, 1)) {
      return FreshPoint(space_, StartDraw(parts, rng), seen, rng);
    }
    const std::optional<Aim> aim = beliefs_.Learn(parts, stop);
    if (!aim.has_value()) return Stopped();
    LevelSearch search(space_, axes_, aim->goal, CostOf(history), seen, rng,
                       stop);
    search.Run(aim->tried);
    if (stop.stop_requested()) return Stopped();
    if (search.best().has_value()) return *search.best();
    return FreshPoint(space_, DrawPoint(space_, kFrozenShare, rng), seen, rng);
  }

  // What runs beside a trial will not be known when the next is drawn: a batch
  // is worth a design.
  Point StartDraw(const TrialParts& parts, Rng& rng) const {
    return parts.running.empty() ? BalancedDraw(space_, axes_, parts.all, rng)
                                 : SpreadDraw(space_, axes_, parts.all, rng);
  }

  // Answers null while all trials are taken to cost the same.
  const CostModel* CostOf(const History& history) {
    if (!options_.cost_aware) return nullptr;
    cost_.CatchUp(history);
    return cost_.knows() ? &cost_ : nullptr;
  }

  GpOptions options_;
  Space space_;
  Objective objective_;
  std::vector<LevelAxis> axes_;
  std::unique_ptr<Sampler> tpe_;
  PriorRows earlier_;
  StudyBeliefs beliefs_;
  TrialLedger ledger_;
  CostModel cost_;  // as the option says
};

}  // namespace

bool CanServeLevelsGp(const Space& space,
                      const std::vector<Objective>& objectives) {
  // A space without a parameter has nothing to move along.
  return objectives.size() == 1 && space.size() > 0 &&
         space.size() <= kMostParametersOfGp &&
         MakeLevelAxes(space).has_value();
}

// Enough to see every module move, and every level about twice.
std::int64_t UsualStartupOfLevelsGp(const Space& space) {
  return std::clamp(space.size() + 1, 10, 16);
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeLevelsGpSampler(
    const SamplerInput& input) {
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler levels-gp",
                      "sampler.options", input.options);
  GpOptions options;
  options.startup_trials = static_cast<std::size_t>(reader.Int(
      "startup_trials", UsualStartupOfLevelsGp(input.space), 0, 10'000));
  options.max_trials =
      static_cast<std::size_t>(reader.Int("max_trials", 1200, 0, 5'000));
  options.cost_aware = reader.Bool("cost_aware", false);
  RETURN_IF_ERROR(reader.Finish());
  SamplerInput handed_over = input;
  handed_over.options = {};
  if (options.cost_aware) handed_over.options["cost_aware"] = "true";
  ASSIGN_OR_RETURN(std::unique_ptr<Sampler> tpe, MakeTpeSampler(handed_over));
  if (!CanServeLevelsGp(input.space, input.objectives)) return tpe;
  return std::make_unique<LevelsGpSampler>(
      options, input, *MakeLevelAxes(input.space), std::move(tpe));
}

}  // namespace frostline::sampler
