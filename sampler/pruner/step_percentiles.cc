// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/step_percentiles.h"

#include <cmath>

namespace frostline::sampler {

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

}  // namespace frostline::sampler
