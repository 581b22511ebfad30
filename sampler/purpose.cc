// SPDX-License-Identifier: Apache-2.0
#include "sampler/purpose.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sampler/auto.h"
#include "sampler/draw/random.h"
#include "sampler/gp/levels.h"
#include "surrogate/surrogate.h"

namespace frostline::sampler {

bool IsResting(const std::vector<const LedgerTrial*>& trials) {
  double best = std::numeric_limits<double>::infinity();
  std::size_t valued = 0, since = 0;
  for (const LedgerTrial* trial : trials) {
    if (trial->part != TrialPart::kValued) continue;
    ++valued;
    ++since;
    // A loss of an early step is no better value.
    if (trial->pruned || !trial->feasible || trial->loss >= best) continue;
    best = trial->loss;
    since = 0;
  }
  return since >= kRestingTrials &&
         static_cast<double>(since) >=
             kRestingPart * static_cast<double>(valued);
}

bool IsDealt(std::int64_t number, double share, double start) {
  constexpr double kGolden = 0.6180339887498949;
  const double place = start + kGolden * static_cast<double>(number);
  return place - std::floor(place) < share;
}

namespace {

constexpr int kCandidates = 64;
constexpr std::size_t kMostRows = 240;
// Beyond it the variances cost too much; balance is worth nearly as much.
constexpr std::size_t kMostAxes = 64;

PointSet Seen(const TrialList& trials) {
  PointSet seen;
  for (const LedgerTrial* trial : trials) seen.insert(trial->point);
  return seen;
}

// All of them, thinned evenly where there are very many.
std::vector<Cells> Rows(const TrialList& trials) {
  const std::size_t count = std::min(trials.size(), kMostRows);
  std::vector<Cells> rows;
  rows.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(trials[i * trials.size() / count]->cells);
  }
  return rows;
}

}  // namespace

SpreadPoints::SpreadPoints(const Space& space,
                           const std::vector<LevelAxis>& axes)
    : space_(space), axes_(axes) {
  if (axes_.size() > kMostAxes) return;
  measured_ = StudyAxes(space_, axes_);
}

Point SpreadPoints::Design(const TrialList& trials, Rng& rng) const {
  return FreshPoint(space_, SpreadDraw(space_, axes_, trials, rng),
                    Seen(trials), rng);
}

Point SpreadPoints::Telling(const TrialList& trials, Rng& rng) const {
  if (measured_.empty() || trials.empty()) return Design(trials, rng);
  const PointSet seen = Seen(trials);
  std::vector<Point> points;
  std::vector<Cells> cells;
  for (int draw = 0; draw < kCandidates; ++draw) {
    Point point = DrawPoint(space_, kFrozenShare, rng);
    if (seen.contains(point)) continue;
    cells.push_back(CellsOf(axes_, point));
    points.push_back(std::move(point));
  }
  if (points.empty()) {
    return FreshPoint(space_, DrawPoint(space_, kFrozenShare, rng), seen, rng);
  }
  const std::vector<double> told =
      surrogate::Telling(measured_, Rows(trials), cells);
  const auto most = std::max_element(told.begin(), told.end());
  return points[static_cast<std::size_t>(most - told.begin())];
}

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
