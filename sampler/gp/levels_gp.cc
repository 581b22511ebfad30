// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/levels_gp.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "sampler/cost.h"
#include "sampler/draw/random.h"
#include "sampler/gp/beliefs.h"
#include "sampler/gp/fresh_point.h"
#include "sampler/gp/level_search.h"
#include "sampler/gp/levels.h"
#include "sampler/gp/loss_rows.h"
#include "sampler/tpe/tpe.h"

namespace frostline::sampler {
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
