// SPDX-License-Identifier: Apache-2.0
#include "cli/live/running_trials.h"

namespace frostline::cli {

void RunningTrials::TakeEvent(const v1::Trial& trial) {
  since_look_.insert(trial.number());
  if (trial.state() == v1::TRIAL_STATE_RUNNING) {
    running_[trial.number()] = trial;
  } else {
    running_.erase(trial.number());
  }
}

void RunningTrials::EndLook(const std::vector<v1::Trial>& running) {
  std::erase_if(running_, [this](const auto& entry) {
    return !since_look_.contains(entry.first);
  });
  for (const v1::Trial& trial : running) {
    if (since_look_.contains(trial.number())) continue;
    running_[trial.number()] = trial;
  }
  are_all_known_ = true;
}

std::vector<v1::Trial> RunningTrials::All() const {
  std::vector<v1::Trial> all;
  all.reserve(running_.size());
  for (const auto& [number, trial] : running_) all.push_back(trial);
  return all;
}

v1::Study RunningTrials::Counted(v1::Study study) const {
  if (are_all_known_) {
    study.mutable_counts()->set_running(
        static_cast<std::int64_t>(running_.size()));
  }
  return study;
}

}  // namespace frostline::cli
