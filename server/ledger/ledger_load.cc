// SPDX-License-Identifier: Apache-2.0
//
// One study of the ledger as it is loaded: what is open from its rows, what has
// ended from its summary.
#include "base/error.h"
#include "base/log.h"
#include "server/ledger/ledger.h"
#include "server/wire/stored_study.h"
#include "storage/trial_store.h"

namespace frostline::server {
namespace {

absl::Status FillBook(const storage::TrialStore& store,
                      const storage::SummaryRow* summary, StudyBook& book) {
  const storage::StudyKey study = book.row().key;
  storage::TrialQuery query{.study = study};
  if (summary != nullptr) {
    query.states = {TrialState::kQueued, TrialState::kRunning};
    std::vector<storage::BestRow> best;
    RETURN_IF_ERROR(storage::ForEachBest(store, study,
                                         [&best](const storage::BestRow& row) {
                                           best.push_back(row);
                                           return absl::OkStatus();
                                         }));
    book.AbsorbSummary(*summary, best);
  }
  // An older version wrote no summary: then all is read, and counted.
  RETURN_IF_ERROR(storage::ForEachTrial(
      store, query, [&](const storage::TrialRow& trial) -> absl::Status {
        std::optional<storage::AttemptRow> newest;
        if (!IsTerminal(trial.state)) {
          ASSIGN_OR_RETURN(std::vector<storage::AttemptRow> attempts,
                           store.ListAttempts(study, trial.number));
          if (!attempts.empty()) newest = std::move(attempts.back());
        }
        book.Absorb(trial, newest);
        book.Committed();
        return absl::OkStatus();
      }));
  return absl::OkStatus();
}

}  // namespace

// One study that this version cannot read must not keep the others down.
absl::Status Ledger::LoadStudy(const storage::StudyRow& row,
                               const Summaries& summaries,
                               const LeaseBook& known, Duration grace) {
  const auto cannot = [&](const absl::Status& why) FROSTLINE_ON_LOOP {
    Log(LogLevel::kError, "study_not_loaded",
        {{"study", row.id}, {"error", std::string(why.message())}});
    unreadable_[row.id] = {row.key, std::string(why.message())};
    return absl::OkStatus();
  };
  absl::StatusOr<CheckedStudy> stored = CheckStored(row, default_lease_);
  if (!stored.ok()) return cannot(stored.status());
  StudyBook book(row, std::make_shared<const CheckedStudy>(*std::move(stored)));
  const auto summary = summaries.find(row.key);
  const absl::Status filled = FillBook(
      store_, summary == summaries.end() ? nullptr : &summary->second, book);
  if (HasErrorId(filled, ErrorId::kStoreCorrupt)) return cannot(filled);
  RETURN_IF_ERROR(filled);
  for (const auto& [number, trial] : book.open()) {
    if (trial.row.state != TrialState::kRunning) continue;
    const TrialKey key{row.key, number};
    running_.LeaseUntil(
        key, known.Find(key).value_or(clock_.Steady() +
                                      AllowanceOf(book, trial.row, grace)));
    NoteRun(trial.row);
  }
  if (summary == summaries.end()) unsummarised_.insert(row.key);
  key_of_study_[row.id] = row.key;
  studies_.emplace(row.key, std::move(book));
  return absl::OkStatus();
}

}  // namespace frostline::server
