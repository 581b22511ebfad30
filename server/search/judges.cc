// SPDX-License-Identifier: Apache-2.0
#include "server/search/judges.h"

#include <utility>

#include "base/log.h"

namespace frostline::server {

std::shared_ptr<Judges::Desk> Judges::Find(storage::StudyKey study) {
  const MutexLock lock(&mutex_);
  const auto found = desks_.find(study);
  return found == desks_.end() ? nullptr : found->second;
}

void Judges::Reset() {
  const MutexLock lock(&mutex_);
  desks_.clear();
}

bool Judges::Open(storage::StudyKey study, const CheckedStudy& checked) {
  if (checked.pruner.name == "none") {
    Close(study);
    return false;
  }
  // It was made once when the study was checked, so it can be made.
  auto pruner = sampler::MakePruner(checked.pruner, checked.objectives);
  if (!pruner.ok()) {
    Log(LogLevel::kError, "pruner_not_made",
        {{"study", std::to_string(study)},
         {"error", std::string(pruner.status().message())}});
    return false;
  }
  bool is_new = false;
  std::shared_ptr<Desk> desk;
  {
    const MutexLock lock(&mutex_);
    std::shared_ptr<Desk>& place = desks_[study];
    is_new = place == nullptr;
    if (is_new) place = std::make_shared<Desk>(thread_);
    desk = place;
  }
  desk->Post([desk = desk.get(), pruner = *std::move(pruner)]() mutable {
    desk->pruner = std::move(pruner);
  });
  return is_new;
}

void Judges::Fill(storage::StudyKey study, History history) {
  const auto desk = Find(study);
  if (desk == nullptr) return;
  desk->Post([desk = desk.get(), history = std::move(history)]() mutable {
    desk->history = std::move(history);
    for (const HistoryChange& change : std::exchange(desk->early, {})) {
      change(desk->history);
    }
    desk->is_filled = true;
  });
}

void Judges::Close(storage::StudyKey study) {
  const MutexLock lock(&mutex_);
  desks_.erase(study);
}

void Judges::Tell(storage::StudyKey study, const HistoryChange& change) {
  const auto desk = Find(study);
  if (desk == nullptr) return;
  desk->Post([desk = desk.get(), change] {
    if (desk->is_filled) return change(desk->history);
    desk->early.push_back(change);
  });
}

void Judges::Judge(storage::StudyKey study, std::int64_t number,
                   absl::AnyInvocable<void(sampler::PruneDecision)> answer) {
  const auto desk = Find(study);
  if (desk == nullptr) return answer(sampler::PruneDecision{});
  desk->Post([desk = desk.get(), number, answer = std::move(answer)]() mutable {
    const Observation* const trial = desk->history.Find(number);
    const bool runs_again = trial != nullptr && trial->repeat > 0;
    answer(!desk->is_filled || runs_again
               ? sampler::PruneDecision{}
               : desk->pruner->Judge(desk->history, number));
  });
}

}  // namespace frostline::server
