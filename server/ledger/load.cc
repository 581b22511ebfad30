// SPDX-License-Identifier: Apache-2.0
//
// Memory from the store, at the start and after a group that could not be
// written.
#include <utility>

#include "base/failpoint.h"
#include "base/log.h"
#include "server/coordinator_impl.h"
#include "server/search/observation.h"
#include "server/search/prior_studies.h"
#include "server/wire/stored_study.h"
#include "storage/scan.h"

namespace frostline {
absl::Status Coordinator::Impl::Load(Duration grace) {
  FROSTLINE_FAILPOINT(kLoadBefore);
  studies_.clear();
  key_of_study_.clear();
  workers_.Clear();
  prune_wanted_.clear();
  progress_.clear();
  fresh_replies_.clear();
  fresh_attempts_.clear();
  changed_.clear();
  expected_.clear();
  proposer_.Reset(++epoch_);
  std::string after_worker;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<WorkerRow> page,
                     store_.ListWorkers(after_worker, kScanPage));
    for (const WorkerRow& row : page) workers_.Absorb(row);
    if (page.size() < kScanPage) break;
    after_worker = page.back().id;
  }
  // Leases that were known keep their end: a failed write does not shorten
  // them.
  const LeaseBook known = std::exchange(leases_, LeaseBook());
  RETURN_IF_ERROR(ForEachStudy(store_, {}, [&](const StudyRow& row) {
    return LoadStudy(row, known, grace);
  }));
  FROSTLINE_FAILPOINT(kLoadAfter);
  return absl::OkStatus();
}

// A study that is gone by now is done without: there is no way back to it.
std::vector<PriorStudy> Coordinator::Impl::PriorStudiesLeft(
    const StudyRow& row, const CheckedStudy& checked) const {
  std::vector<PriorStudy> priors;
  for (int i = 0; i < checked.spec.warm_start_size(); ++i) {
    auto prior = LoadPriorStudy(checked, i, row.created, store_);
    if (prior.ok()) {
      priors.push_back(*std::move(prior));
      continue;
    }
    Log(LogLevel::kWarning, "prior_study_not_loaded",
        {{"study", row.id},
         {"prior", checked.spec.warm_start(i).study()},
         {"error", std::string(prior.status().message())}});
  }
  return priors;
}

absl::Status Coordinator::Impl::LoadStudy(const StudyRow& row,
                                          const LeaseBook& known,
                                          Duration grace) {
  absl::StatusOr<CheckedStudy> stored = CheckStored(row, DefaultLease());
  if (!stored.ok()) {
    // One study that this version cannot read must not keep the others down.
    Log(LogLevel::kError, "study_not_loaded",
        {{"study", row.id}, {"error", std::string(stored.status().message())}});
    return absl::OkStatus();
  }
  const auto checked = std::make_shared<const CheckedStudy>(*std::move(stored));
  StudyBook book(row, checked);
  History history;
  RETURN_IF_ERROR(ForEachTrial(
      store_, {.study = row.key}, [&](const TrialRow& trial) -> absl::Status {
        std::optional<AttemptRow> newest;
        if (!IsTerminal(trial.state)) {
          ASSIGN_OR_RETURN(std::vector<AttemptRow> attempts,
                           store_.ListAttempts(row.key, trial.number));
          if (!attempts.empty()) newest = std::move(attempts.back());
        }
        book.Absorb(trial, newest);
        ASSIGN_OR_RETURN(Observation seen,
                         ObservationOf(trial, *checked, store_));
        history.Put(std::move(seen));
        if (trial.state != TrialState::kRunning) return absl::OkStatus();
        const TrialKey key{row.key, trial.number};
        leases_.Set(key, known.Find(key).value_or(clock_.Steady() +
                                                  checked->lease.ttl + grace));
        workers_.Holds(trial.worker, key);
        return absl::OkStatus();
      }));
  book.Committed();
  proposer_.Open(row.key, checked, std::move(history),
                 PriorStudiesLeft(row, *checked));
  key_of_study_[row.id] = row.key;
  studies_.emplace(row.key, std::move(book));
  return absl::OkStatus();
}

}  // namespace frostline
