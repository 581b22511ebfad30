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

// What a desk still owes is answered when it goes, and never under the lock.
void Judges::Reset() {
  std::map<storage::StudyKey, std::shared_ptr<Desk>> closed;
  const MutexLock lock(&mutex_);
  closed.swap(desks_);
}

Judges::Desk::~Desk() {
  for (Early& one : early) {
    if (one.answer) one.answer(sampler::PruneDecision{});
  }
}

bool Judges::Open(storage::StudyKey study, const CheckedStudy& checked,
                  bool waits) {
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
  desk->Post([desk = desk.get(), pruner = *std::move(pruner), waits]() mutable {
    desk->pruner = std::move(pruner);
    desk->waits = desk->waits || waits;
  });
  return is_new;
}

void Judges::Fill(storage::StudyKey study, History history) {
  const auto desk = Find(study);
  if (desk == nullptr) return;
  desk->Post([desk = desk.get(), history = std::move(history)]() mutable {
    desk->history = std::move(history);
    desk->is_filled = true;
    for (Early& one : std::exchange(desk->early, {})) {
      if (one.change) one.change(desk->history);
      if (one.answer) desk->Judge(one.number, std::move(one.answer));
    }
  });
}

void Judges::Close(storage::StudyKey study) {
  std::shared_ptr<Desk> closed;
  const MutexLock lock(&mutex_);
  const auto found = desks_.find(study);
  if (found == desks_.end()) return;
  closed = std::move(found->second);
  desks_.erase(found);
}

void Judges::Tell(storage::StudyKey study, const HistoryChange& change) {
  const auto desk = Find(study);
  if (desk == nullptr) return;
  desk->Post([desk = desk.get(), change] {
    if (desk->is_filled) return change(desk->history);
    desk->early.push_back({change, 0, nullptr});
  });
}

void Judges::Judge(storage::StudyKey study, std::int64_t number,
                   absl::AnyInvocable<void(sampler::PruneDecision)> answer) {
  const auto desk = Find(study);
  if (desk == nullptr) return answer(sampler::PruneDecision{});
  desk->Post([desk = desk.get(), number, answer = std::move(answer)]() mutable {
    if (!desk->is_filled && desk->waits) {
      return desk->early.push_back({nullptr, number, std::move(answer)});
    }
    desk->Judge(number, std::move(answer));
  });
}

void Judges::Desk::Judge(std::int64_t number, Answer answer) {
  const Observation* const trial = history.Find(number);
  const bool runs_again = trial != nullptr && trial->repeat > 0;
  answer(!is_filled || runs_again ? sampler::PruneDecision{}
                                  : pruner->Judge(history, number));
}

}  // namespace frostline::server
