// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/native_tpe.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sampler/draw/random.h"

namespace frostline::sampler {
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

}  // namespace frostline::sampler
