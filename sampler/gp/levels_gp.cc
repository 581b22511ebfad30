// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/levels_gp.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "sampler/gp/fresh_point.h"
#include "sampler/gp/learnt_model.h"
#include "sampler/gp/level_search.h"
#include "sampler/gp/loss_rows.h"
#include "sampler/gp/trial_ledger.h"
#include "sampler/random.h"
#include "sampler/tpe/tpe.h"

namespace frostline {
namespace {

struct GpOptions {
  std::size_t startup_trials = 0;
  std::size_t max_trials = 0;
};

struct Parts {
  LedgerList all, valued, ended, running;
  bool any_failed = false;
};

Parts PartsOf(LedgerList trials) {
  Parts parts;
  for (const LedgerTrial* trial : trials) {
    if (trial->part == TrialPart::kRunning) {
      parts.running.push_back(trial);
      continue;
    }
    parts.ended.push_back(trial);
    if (trial->part == TrialPart::kValued) parts.valued.push_back(trial);
    parts.any_failed = parts.any_failed || !trial->feasible;
  }
  parts.all = std::move(trials);
  return parts;
}

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
        ledger_(space_, axes_, objective_),
        loss_(axes_),
        failure_(axes_) {}

  absl::StatusOr<Point> Propose(const History& history, std::int64_t number,
                                Rng& rng) override {
    ledger_.CatchUp(history);
    const Parts parts = PartsOf(ledger_.List(number));
    const std::size_t known = parts.valued.size();
    if (known + parts.running.size() > options_.max_trials) {
      return tpe_->Propose(history, number, rng);
    }
    PointSet seen;
    for (const LedgerTrial* trial : parts.all) seen.insert(trial->point);
    const std::size_t told = known + earlier_.rows().targets.size();
    if (told < std::max<std::size_t>(options_.startup_trials, 1)) {
      return FreshPoint(space_, BalancedDraw(space_, axes_, parts.all, rng),
                        seen, rng);
    }
    SearchGoal goal;
    const std::vector<Cells> tried = LearnLosses(parts, goal);
    if (parts.any_failed) LearnFailures(parts.ended, goal);
    LevelSearch search(space_, axes_, goal, seen, rng);
    search.Run(tried);
    if (search.best().has_value()) return *search.best();
    return FreshPoint(space_, DrawPoint(space_, kFrozenShare, rng), seen, rng);
  }

 private:
  // Returns what was tried, the best believed in first.
  std::vector<Cells> LearnLosses(const Parts& parts, SearchGoal& goal) {
    LedgerList sample = parts.valued;
    sample.resize(LastRefresh(sample.size()));
    sample = Pick(sample, LearningSample(sample.size()));
    TargetedRows all = LossRows(earlier_, parts.valued);
    const std::vector<double> targets = all.targets;
    for (const LedgerTrial* trial : parts.running) {
      all.rows.Append(trial->cells, 0, 0.0);
    }
    loss_.Update(LossRows(earlier_, sample), earlier_.Prior(axes_.size()),
                 std::move(all));
    goal.loss = &loss_.posterior();
    return OrderTried(parts, targets, goal.best);
  }

  std::vector<Cells> OrderTried(const Parts& parts,
                                const std::vector<double>& targets,
                                double& best) const {
    const LevelPosterior& posterior = loss_.posterior();
    const std::size_t own = targets.size() - parts.valued.size();
    std::vector<std::pair<double, std::size_t>> means;  // and row
    best = std::numeric_limits<double>::infinity();
    for (std::size_t row = 0; row < posterior.rows().size(); ++row) {
      if (row < own || row >= targets.size()) {
        if (row < own && !parts.valued.empty()) continue;
        means.emplace_back(posterior.MeanAt(posterior.rows().At(row)), row);
        best = std::min(best, means.back().first);
        continue;
      }
      const LedgerTrial& trial = *parts.valued[row - own];
      // A loss that may not be, or is of an early step, is none to beat.
      if (!trial.feasible || trial.pruned) continue;
      means.emplace_back(posterior.MeanOfRow(row, targets[row]), row);
      best = std::min(best, targets[row]);
    }
    if (means.empty()) {
      means.emplace_back(0.0, 0);
      best = 0.0;
    }
    std::sort(means.begin(), means.end());
    std::vector<Cells> tried;
    for (const auto& [mean, row] : means) {
      tried.push_back(posterior.rows().At(row));
    }
    return tried;
  }

  void LearnFailures(const LedgerList& ended, SearchGoal& goal) {
    LedgerList sample = ended;
    sample.resize(LastRefresh(sample.size()));
    sample = Pick(sample, LearningSample(sample.size()));
    FailureRows all = FailureRowsOf(ended);
    goal.failure_rate = all.rate;
    goal.failure_deviation = all.deviation;
    failure_.Update(FailureRowsOf(sample).rows, UsualKernel(axes_.size()),
                    std::move(all.rows));
    goal.failure = &failure_.posterior();
  }

  GpOptions options_;
  Space space_;
  Objective objective_;
  std::vector<LevelAxis> axes_;
  std::unique_ptr<Sampler> tpe_;
  PriorRows earlier_;
  TrialLedger ledger_;
  LearntModel loss_;
  LearntModel failure_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> MakeLevelsGpSampler(
    const SamplerInput& input) {
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler levels-gp",
                      "sampler.options", input.options);
  // Enough to see every module move, and every level about twice.
  const std::int64_t usual_startup = std::clamp(input.space.size() + 1, 10, 16);
  GpOptions options;
  options.startup_trials = static_cast<std::size_t>(
      reader.Int("startup_trials", usual_startup, 0, 10'000));
  options.max_trials =
      static_cast<std::size_t>(reader.Int("max_trials", 1200, 0, 5'000));
  RETURN_IF_ERROR(reader.Finish());
  SamplerInput handed_over = input;
  handed_over.options = {};
  ASSIGN_OR_RETURN(std::unique_ptr<Sampler> tpe, MakeTpeSampler(handed_over));
  std::optional<std::vector<LevelAxis>> axes = MakeLevelAxes(input.space);
  if (!axes.has_value() || input.objectives.size() != 1) return tpe;
  return std::make_unique<LevelsGpSampler>(options, input, *std::move(axes),
                                           std::move(tpe));
}

}  // namespace frostline
