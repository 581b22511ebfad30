// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/tpe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "sampler/draw/finite.h"
#include "sampler/draw/random.h"
#include "sampler/optuna/compat.h"

namespace frostline::sampler {
namespace {

constexpr int kBlindDraws = 64;
// Spaces of more points are never nearly covered.
constexpr std::int64_t kSearchedPoints = 1'000'000;

}  // namespace

bool UntriedPoints::IsTried(const CellTable& table, const Point* own,
                            const Point& point) const {
  if (options_.tries == 0) return false;
  std::size_t times = table.TimesTried(point);
  if (times >= options_.tries && own != nullptr &&
      table.IsSamePoint(*own, point)) {
    --times;
  }
  return times >= options_.tries;
}

Point UntriedPoints::Draw(const CellTable& table, const Point* own,
                          Rng& rng) const {
  Point point = DrawPoint(space_, options_.frozen_share, rng);
  if (!IsTried(table, own, point)) return point;
  return Find(table, own, rng).value_or(point);
}

std::optional<Point> UntriedPoints::Find(const CellTable& table,
                                         const Point* own, Rng& rng) const {
  for (int i = 0; i < kBlindDraws; ++i) {
    Point point = DrawPoint(space_, options_.frozen_share, rng);
    if (!IsTried(table, own, point)) return point;
  }
  if (!(space_.CountPoints() <= 1e9)) return std::nullopt;
  const GridPoints points(space_);
  if (points.Count(kSearchedPoints) > kSearchedPoints) return std::nullopt;
  // One of them, each with the same chance.
  std::optional<Point> found;
  std::uint64_t untried = 0;
  Point point = points.First();
  do {
    if (!IsTried(table, own, point) && rng.Below(++untried) == 0) found = point;
  } while (points.Advance(point));
  return found;
}

namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();
// On wider axes the neighbours are not worth their time.
constexpr std::size_t kMostMoves = 64;
// The share of trials that counts as good when costs count. No point is worth
// more than 1 / kGamma, so among the very good ones the cheaper wins.
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

namespace {

// Good trials are drawn from whatever they cost: only moves make them cheap.
constexpr int kThriftyRounds = 8;
constexpr std::size_t kStartupCandidates = 4;

std::vector<CellAxis> MakeAxes(const Space& space, const TpeOptions& options) {
  std::vector<CellAxis> axes;
  for (const Parameter& parameter : space.parameters()) {
    axes.emplace_back(parameter.domain, options.ordinal, options.frozen_share);
  }
  return axes;
}

}  // namespace

NativeTpe::NativeTpe(const TpeOptions& options, const SamplerInput& input)
    : options_(options),
      space_(input.space),
      objectives_(input.objectives),
      axes_(MakeAxes(space_, options_)),
      kernels_(axes_),
      table_(space_, objectives_, axes_),
      keys_(space_, objectives_),
      search_(space_, axes_, options_),
      cost_(space_) {
  if (!options_.warm_start) return;
  for (const PriorStudy& study : input.prior_studies) {
    PriorEvidence evidence(space_, objectives_, axes_, kernels_, options_,
                           study);
    if (!evidence.empty()) priors_.push_back(std::move(evidence));
  }
}

absl::StatusOr<Point> NativeTpe::ProposeUntil(const std::stop_token& stop,
                                              const History& history,
                                              std::int64_t number, Rng& rng) {
  if (space_.size() == 0) return Point();  // there is nothing to choose
  table_.CatchUp(history);
  if (stop.stop_requested()) return Stopped();
  std::size_t results = table_.results();
  const Observation* const own = history.Find(number);
  if (own != nullptr &&
      table_.use(static_cast<std::uint32_t>(own - history.trials().data())) ==
          CellTable::Use::kResult) {
    --results;
  }
  const bool starts =
      results < std::max<std::size_t>(options_.startup_trials, 1);
  Point point = starts ? Startup(history, number, rng, stop)
                       : Informed(history, number, rng, stop);
  if (stop.stop_requested()) return Stopped();
  return point;
}

Point NativeTpe::Informed(const History& history, std::int64_t number, Rng& rng,
                          const std::stop_token& stop) {
  const CostModel* const cost = CostOf(history);
  const Sides sides = SplitSides(history, number, cost);
  TpeModel model = FitModel(axes_, kernels_, sides.good, sides.rest, options_);
  kernels_used_ = model.good.size() + model.rest.size();
  return search_.Choose(
      {.model = model,
       .table = table_,
       .own = PointOf(history, number),
       .cost = cost,
       .candidates = options_.candidates,
       .improve = cost != nullptr ? std::max(options_.improve, kThriftyRounds)
                                  : options_.improve,
       .stop = stop},
      rng);
}

const CostModel* NativeTpe::CostOf(const History& history) {
  if (!options_.cost_aware) return nullptr;
  cost_.CatchUp(history);
  return cost_.knows() ? &cost_ : nullptr;
}

const Point* NativeTpe::PointOf(const History& history,
                                std::int64_t number) const {
  const Observation* const own = history.Find(number);
  if (own == nullptr) return nullptr;
  const auto index = static_cast<std::uint32_t>(own - history.trials().data());
  return table_.use(index) == CellTable::Use::kNone ? nullptr : &own->point;
}

Point NativeTpe::Startup(const History& history, std::int64_t number, Rng& rng,
                         const std::stop_token& stop) {
  const Point* const own = PointOf(history, number);
  Sides sides;
  AddPriors(history, sides);
  bool informed = !sides.good.empty();
  // An earlier study decides as often as it is trusted.
  if (informed) {
    double trust = 0.0;
    for (PriorEvidence& prior : priors_) {
      trust = std::max(trust, prior.Weight(history, table_));
    }
    informed = rng.Uniform() < trust;
  }
  const bool spread = options_.spread_startup ||
                      (options_.avoid_failures && table_.failures() > 0);
  if (!informed && !spread) return search_.DrawUntried(table_, own, rng);
  if (!informed) sides = Sides();
  AddRest(history, number, {}, sides);
  TpeModel model = FitModel(axes_, kernels_, sides.good, sides.rest, options_);
  return search_.Choose({.model = model,
                         .table = table_,
                         .own = own,
                         .candidates = kStartupCandidates,
                         .improve = 0,
                         .stop = stop},
                        rng);
}

namespace {

constexpr std::int64_t kRemembered = 25;  // newest trials that weigh 1
constexpr double kRunningTrials = 8.0;    // what running ones may weigh

// A ramp from nothing to 1 over all but the newest trials.
double RecencyWeight(std::int64_t number, std::int64_t newest) {
  const std::int64_t old = newest - kRemembered;
  if (number >= old) return 1.0;
  return static_cast<double>(number + 1) / static_cast<double>(old + 1);
}

}  // namespace

std::vector<std::uint32_t> NativeTpe::GoodTrials(const History& history,
                                                 std::int64_t number) {
  std::vector<std::uint32_t> good;
  if (objectives_.size() > 1) {
    keys_.CatchUp(history);
    const auto trials = keys_.List(history, number, false);
    return SplitTrials(trials, CountBelow(trials.size(), objectives_.size()))
        .below;
  }
  const std::size_t wanted = CountGood(table_.results());
  const bool feasible = table_.best()[0].group != SplitGroup::kInfeasible;
  for (const RankedTrial& trial : table_.best()) {
    if (trial.number == number) continue;
    if (good.size() == wanted) break;
    if (feasible && trial.group == SplitGroup::kInfeasible) break;
    good.push_back(trial.index);
  }
  return good;
}

NativeTpe::Sides NativeTpe::SplitSides(const History& history,
                                       std::int64_t number,
                                       const CostModel* cost) {
  Sides sides;
  const std::vector<std::uint32_t> good = GoodTrials(history, number);
  const bool ranked = options_.rank_weights && objectives_.size() == 1;
  const std::vector<double> weights =
      ranked ? RankWeights(good.size()) : std::vector<double>(good.size(), 1);
  for (std::size_t i = 0; i < good.size(); ++i) {
    // Good per second: half the seconds are worth a second good trial.
    const double seconds =
        cost == nullptr
            ? 1.0
            : std::exp(cost->LogCost(history.trials()[good[i]].point) -
                       cost->LogCost(history.trials()[good[0]].point));
    sides.good.push_back({table_.cells(good[i]), weights[i] / seconds, false});
  }
  AddRest(history, number, good, sides);
  AddPriors(history, sides);
  return sides;
}

void NativeTpe::AddRest(const History& history, std::int64_t number,
                        const std::vector<std::uint32_t>& good,
                        Sides& sides) const {
  std::vector<std::uint32_t> rest;
  std::size_t all = table_.results();
  if (options_.avoid_failures) all += table_.failures();
  std::int64_t newest = number;
  for (const std::uint32_t i : table_.Sample()) {
    const std::int64_t its_number = history.trials()[i].number;
    const bool failed = table_.use(i) == CellTable::Use::kFailed;
    if (its_number == number || (failed && !options_.avoid_failures) ||
        std::find(good.begin(), good.end(), i) != good.end()) {
      continue;
    }
    if (rest.size() == options_.kernels) break;
    newest = std::max(newest, its_number);
    rest.push_back(i);
  }
  // Each of a sample speaks for several.
  const double share = rest.empty() || all < good.size() + rest.size()
                           ? 1.0
                           : static_cast<double>(all - good.size()) /
                                 static_cast<double>(rest.size());
  for (const std::uint32_t i : rest) {
    const double weight = RecencyWeight(history.trials()[i].number, newest);
    sides.rest.push_back({table_.cells(i), share * weight,
                          table_.use(i) == CellTable::Use::kFailed});
  }
  if (!options_.constant_liar) return;
  // However many run, together they are not more than a few bad trials.
  const double each = std::min(
      1.0, kRunningTrials / static_cast<double>(table_.running().size()));
  for (const auto& [its_number, i] : table_.running()) {
    if (its_number != number) sides.rest.push_back({table_.cells(i), each});
  }
}

void NativeTpe::AddPriors(const History& history, Sides& sides) {
  for (PriorEvidence& prior : priors_) {
    prior.AddTo(prior.Weight(history, table_), sides.good, sides.rest);
  }
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeTpeSampler(
    const SamplerInput& input) {
  if (input.options.contains("compat")) return MakeCompatTpeSampler(input);
  ASSIGN_OR_RETURN(const TpeOptions options, ReadTpeOptions(input));
  return std::make_unique<NativeTpe>(options, input);
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeMotpeSampler(
    const SamplerInput& input) {
  // A wrong option is a mistake under any objectives, so it is told first.
  ASSIGN_OR_RETURN(auto sampler, MakeTpeSampler(input));
  if (input.objectives.size() < 2) {
    return MakeError(ErrorId::kSamplerInvalid,
                     "sampler motpe is for several objectives, and the study "
                     "has one",
                     "name a second objective, or use the sampler tpe",
                     "sampler.name");
  }
  return sampler;
}

}  // namespace frostline::sampler
