// SPDX-License-Identifier: Apache-2.0
#include "sampler/purpose.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sampler/auto.h"
#include "sampler/purpose/purpose_sampler.h"
#include "sampler/purpose/spread_points.h"

namespace frostline::sampler {
namespace {

// Trials have the streams that count up from 0.
constexpr std::uint64_t kDealStream = ~(std::uint64_t{1} << 32);

class PurposeSampler final : public Sampler {
 public:
  PurposeSampler(Purpose purpose, const SamplerInput& input,
                 std::unique_ptr<Sampler> wrapped)
      : purpose_(purpose),
        space_(input.space),
        objective_(input.objectives[0]),
        axes_(*MakeLevelAxes(space_)),
        points_(space_, axes_),
        ledger_(space_, axes_, objective_),
        wrapped_(std::move(wrapped)),
        start_(Rng(input.study_seed, kDealStream).Uniform()) {
    const bool earlier = std::any_of(
        input.prior_studies.begin(), input.prior_studies.end(),
        [](const PriorStudy& study) { return !study.trials.empty(); });
    design_ = earlier ? 0 : kDesignTrials;
  }

 private:
  absl::StatusOr<Point> ProposeUntil(const std::stop_token& stop,
                                     const History& history,
                                     std::int64_t number, Rng& rng) override {
    if (purpose_ == Purpose::kBoth && number >= kMostTelling) {
      return wrapped_->Propose(history, number, rng, stop);
    }
    ledger_.CatchUp(history);
    const TrialList trials = ledger_.List(number);
    switch (RoleOf(number, trials)) {
      case TrialRole::kDesign:
        return points_.Design(trials, rng);
      case TrialRole::kTelling:
        return points_.Telling(trials, rng);
      case TrialRole::kBest:
        break;
    }
    return wrapped_->Propose(history, number, rng, stop);
  }

  TrialRole RoleOf(std::int64_t number, const TrialList& trials) const {
    if (number < design_) return TrialRole::kDesign;
    if (purpose_ == Purpose::kUnderstand) return TrialRole::kTelling;
    const bool tells =
        IsDealt(number, kTellingShare, start_) && IsResting(trials);
    return tells ? TrialRole::kTelling : TrialRole::kBest;
  }

  Purpose purpose_;
  Space space_;
  Objective objective_;
  std::vector<LevelAxis> axes_;
  SpreadPoints points_;
  TrialLedger ledger_;
  std::unique_ptr<Sampler> wrapped_;
  double start_;  // of what is dealt out
  std::int64_t design_ = 0;
};

}  // namespace

bool CanServePurpose(const std::string& sampler, const SamplerInput& input) {
  if (input.objectives.size() != 1) return false;
  const std::string name =
      ResolveSampler(sampler, input.options, input.space, input.objectives);
  if (name != "tpe" && name != "levels-gp") return false;
  if (input.options.contains("compat")) return false;
  const auto axes = MakeLevelAxes(input.space);
  return axes.has_value() && !axes->empty();
}

std::unique_ptr<Sampler> MakePurposeSampler(Purpose purpose,
                                            const SamplerInput& input,
                                            std::unique_ptr<Sampler> wrapped) {
  if (purpose == Purpose::kBest) return wrapped;
  return std::make_unique<PurposeSampler>(purpose, input, std::move(wrapped));
}

}  // namespace frostline::sampler
