// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/percentile.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/error.h"
#include "sampler/pruner/pruner.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

double BestLoss(const Objective& objective, const Observation& trial,
                std::size_t begin, std::size_t end, double best) {
  for (std::size_t i = begin; i < end; ++i) {
    best = std::fmin(best, AsLoss(objective, trial.intermediate[i].value));
  }
  return best;
}

void BestSoFar::CatchUp(const History& history) {
  if (history.revision() < revision_) {
    revision_ = 0;
    trials_.clear();
  }
  for (; revision_ < history.revision(); ++revision_) {
    const std::uint32_t index =
        history.changes()[static_cast<std::size_t>(revision_)];
    const Observation& trial = history.trials()[index];
    const auto found = trials_.find(trial.number);
    if (found == trials_.end()) continue;
    const bool begun_again =
        found->second.curves_before != history.CurvesBefore(index);
    if (begun_again || IsTerminal(trial.state)) trials_.erase(found);
  }
}

double BestSoFar::Of(const History& history, const Observation& trial,
                     std::size_t count) {
  CatchUp(history);
  const auto index = static_cast<std::size_t>(&trial - history.trials().data());
  const auto [place, is_new] = trials_.try_emplace(trial.number);
  Best& best = place->second;
  if (is_new) best.curves_before = history.CurvesBefore(index);
  // Asked for fewer than before, it begins again.
  if (best.count > count) best = {.curves_before = best.curves_before};
  best.loss = BestLoss(objective_, trial, best.count, count, best.loss);
  best.count = count;
  return best.loss;
}

namespace {

template <typename Order>
void Push(std::vector<double>& heap, double value, Order order) {
  heap.push_back(value);
  std::push_heap(heap.begin(), heap.end(), order);
}

template <typename Order>
double Pop(std::vector<double>& heap, Order order) {
  std::pop_heap(heap.begin(), heap.end(), order);
  const double top = heap.back();
  heap.pop_back();
  return top;
}

constexpr std::less<> kLargestOnTop;
constexpr std::greater<> kSmallestOnTop;

}  // namespace

void RunningPercentile::Add(double value) {
  if (!low_.empty() && value < low_.front()) {
    Push(low_, value, kLargestOnTop);
  } else {
    Push(high_, value, kSmallestOnTop);
  }
  const std::size_t wanted = static_cast<std::size_t>(Place()) + 1;
  while (low_.size() > wanted) {
    Push(high_, Pop(low_, kLargestOnTop), kSmallestOnTop);
  }
  while (low_.size() < wanted) {
    Push(low_, Pop(high_, kSmallestOnTop), kLargestOnTop);
  }
}

double RunningPercentile::Value() const {
  const double place = Place();
  const double share = place - std::floor(place);
  const double a = low_.front();
  const double b = high_.empty() ? a : high_.front();
  if (share == 0.0 || a == b) return a;
  // Where the distance is too large for a number, each end has its own part.
  if (!std::isfinite(b - a)) return a * (1.0 - share) + b * share;
  // From the nearer end, as it was recorded: rounding can decide.
  return share < 0.5 ? a + (b - a) * share : b - (b - a) * (1.0 - share);
}

void StepPercentiles::CatchUp(const History& history) {
  if (history.revision() < revision_) Forget();
  taken_.resize(history.size());
  for (; revision_ < history.revision(); ++revision_) {
    const std::uint32_t index =
        history.changes()[static_cast<std::size_t>(revision_)];
    if (!Take(history, index)) return ReadAll(history);
  }
}

bool StepPercentiles::Take(const History& history, std::size_t index) {
  const Observation& trial = history.trials()[index];
  const bool succeeded = trial.state == TrialState::kSucceeded;
  Taken& taken = taken_[index];
  if (taken.is_counted) {
    const bool is_same = taken.curves_before == history.CurvesBefore(index);
    if (!succeeded || !is_same) return false;
  }
  if (!succeeded) return true;
  if (!taken.is_counted) {
    taken = {.is_counted = true, .curves_before = history.CurvesBefore(index)};
    ++succeeded_;
  }
  while (taken.values < trial.intermediate.size()) {
    const auto [step, value] = trial.intermediate[taken.values++];
    ++values_read_;
    if (step < first_step_) continue;
    Step& at =
        steps_.try_emplace(step, Step{.values = RunningPercentile(percentile_)})
            .first->second;
    ++at.reported;
    if (!std::isnan(value)) at.values.Add(value);
  }
  return true;
}

void StepPercentiles::Forget() {
  revision_ = 0;
  succeeded_ = 0;
  taken_.clear();
  steps_.clear();
}

void StepPercentiles::ReadAll(const History& history) {
  Forget();
  taken_.resize(history.size());
  for (std::size_t i = 0; i < history.size(); ++i) Take(history, i);
  revision_ = history.revision();
}

const StepPercentiles::Step* StepPercentiles::Find(std::int64_t step) const {
  const auto found = steps_.find(step);
  return found == steps_.end() ? nullptr : &found->second;
}

namespace {

class PercentileRule final : public Pruner {
 public:
  PercentileRule(const PercentileOptions& options, std::string name,
                 const Objective& objective)
      : options_(options),
        name_(std::move(name)),
        objective_(objective),
        others_(objective.direction == Direction::kMaximize
                    ? 100.0 - options.percentile
                    : options.percentile,
                options.warmup_steps),
        best_(objective) {}

  PruneDecision Judge(const History& history, std::int64_t number) override {
    others_.CatchUp(history);
    const Observation* const trial = history.Find(number);
    if (trial == nullptr || IsTerminal(trial->state) ||
        trial->intermediate.empty() ||
        !IsDue(trial->intermediate, options_.warmup_steps, options_.interval) ||
        others_.succeeded() <
            std::max<std::int64_t>(options_.startup_trials, 1)) {
      return {};
    }
    return Compare(best_.Of(history, *trial, trial->intermediate.size()),
                   trial->intermediate.back().step);
  }

 private:
  // `loss` is NaN when there is nothing but NaN.
  PruneDecision Compare(double loss, std::int64_t step) const {
    if (std::isnan(loss)) {
      return {true, absl::StrFormat("nothing but NaN up to step %d", step)};
    }
    const StepPercentiles::Step* const others = others_.Find(step);
    if (others == nullptr || others->reported < options_.min_trials ||
        others->values.count() == 0) {
      return {};
    }
    const double bound = others->values.Value();
    if (!(loss > AsLoss(objective_, bound))) return {};
    return {true, absl::StrFormat(
                      "best %s up to step %d is %g, %s of %d trials is %g",
                      objective_.metric, step, AsLoss(objective_, loss), name_,
                      others->values.count(), bound)};
  }

  PercentileOptions options_;
  std::string name_;
  Objective objective_;
  StepPercentiles others_;
  BestSoFar best_;
};

}  // namespace

PercentileOptions ReadPercentileOptions(OptionReader& reader) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  PercentileOptions options;
  options.startup_trials = reader.Int("startup_trials", 5, 0, kMost);
  options.warmup_steps = reader.Int("warmup_steps", 0, 0, kMost);
  options.interval = reader.Int("interval", 1, 1, kMost);
  options.min_trials = reader.Int("min_trials", 1, 1, kMost);
  return options;
}

std::unique_ptr<Pruner> MakePercentileRule(const PercentileOptions& options,
                                           std::string name,
                                           const Objective& objective) {
  return std::make_unique<PercentileRule>(options, std::move(name), objective);
}

absl::StatusOr<std::unique_ptr<Pruner>> MakePercentilePruner(
    const PrunerSpec& spec, const Objective& objective) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner percentile", spec.field,
                      spec.options);
  PercentileOptions options = ReadPercentileOptions(reader);
  options.percentile = reader.Number("percentile", 25.0, 0.0, 100.0);
  RETURN_IF_ERROR(reader.Finish());
  return MakePercentileRule(
      options, absl::StrFormat("percentile %g", options.percentile), objective);
}

absl::StatusOr<std::unique_ptr<Pruner>> MakeMedianPruner(
    const PrunerSpec& spec, const Objective& objective) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner median", spec.field,
                      spec.options);
  PercentileOptions median = ReadPercentileOptions(reader);
  median.percentile = 50.0;
  RETURN_IF_ERROR(reader.Finish());
  return MakePercentileRule(median, "median", objective);
}

}  // namespace frostline::sampler
