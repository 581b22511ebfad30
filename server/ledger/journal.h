// SPDX-License-Identifier: Apache-2.0
//
// File: journal.h
//
// What a group of changes does to memory, and how memory was before.
#ifndef FROSTLINE_SERVER_LEDGER_JOURNAL_H_
#define FROSTLINE_SERVER_LEDGER_JOURNAL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/error.h"
#include "server/ledger/worker_book.h"
#include "server/loop/commit_loop.h"
#include "storage/rows.h"
#include "storage/trial_store.h"

namespace frostline::server {

// What the group at work changed in memory, and how that was before. A write
// through the journal notes what it is about, and memory is changed after it,
// so that what was changed can be undone.
//
//   RETURN_IF_ERROR(journal.WriteWorker(batch, id, entry, write));
//   entry->row = row;
//
// Used on the loop's thread.
class Journal {
 public:
  using Write = absl::FunctionRef<absl::Status(storage::Transaction&)>;

  // Memory as it was before the group, as far as the group changed it.
  struct Worker {
    storage::WorkerRow row;
    std::optional<WallMicros> unheard_since;
  };
  struct Before {
    // Ids; what else there was of a study is read from the store.
    std::map<storage::StudyKey, std::string> studies;
    // Nothing for one that was not there.
    std::map<std::string, std::optional<Worker>> workers;
    std::map<TrialKey, SteadyTime> leases;  // those that the group ended
  };

  // Writes what changes a study. A new one has its key once it is written.
  absl::Status WriteStudy(Batch& batch, const storage::StudyRow& study,
                          Write write) {
    RETURN_IF_ERROR(batch.Write(write));
    NoteStudy(study);
    return absl::OkStatus();
  }
  // Writes what changes a worker. `before` is null for a new one.
  absl::Status WriteWorker(Batch& batch, const std::string& id,
                           const WorkerEntry* before, Write write) {
    RETURN_IF_ERROR(batch.Write(write));
    const auto [noted, is_first] = before_.workers.try_emplace(id);
    if (is_first && before != nullptr) {
      noted->second = Worker{before->row, before->unheard_since};
    }
    return absl::OkStatus();
  }
  void NoteStudy(const storage::StudyRow& study) {
    before_.studies.emplace(study.key, study.id);
  }
  // Notes a lease that ends; nothing for a trial that had none.
  void NoteLease(TrialKey trial, std::optional<SteadyTime> end) {
    if (end.has_value()) before_.leases.emplace(trial, *end);
  }
  const Before& before() const { return before_; }
  // Returns what is to be restored, and begins anew.
  Before TakeBefore() { return std::exchange(before_, {}); }

  // The studies that changed since the last commit, or that are to be looked at
  // after the next one. They stay when a group is undone.
  const std::set<storage::StudyKey>& changed() const { return changed_; }
  void NoteChanged(storage::StudyKey study) { changed_.insert(study); }

  // What was written of attempts, until every reader can see it.
  void NoteAttempt(const storage::AttemptRow& attempt) {
    attempts_[{attempt.study, attempt.number, attempt.attempt}] = attempt;
  }
  const storage::AttemptRow& Freshest(const storage::AttemptRow& stored) const {
    const auto fresh =
        attempts_.find({stored.study, stored.number, stored.attempt});
    return fresh == attempts_.end() ? stored : fresh->second;
  }

  // The group is on disk.
  void Committed() {
    before_ = {};
    unseen_.merge(changed_);
    changed_.clear();
  }
  // Forgets what every reader can see now, and returns the studies of which
  // that is so.
  std::set<storage::StudyKey> TakeSeen() {
    attempts_.clear();
    return std::exchange(unseen_, {});
  }
  // Forgets the study, which is loaded again, but for that it has changed.
  void ForgetStudy(storage::StudyKey study) {
    std::erase_if(attempts_, [study](const auto& entry) {
      return std::get<0>(entry.first) == study;
    });
    unseen_.erase(study);
  }

 private:
  Before before_;
  std::set<storage::StudyKey> changed_;
  std::set<storage::StudyKey> unseen_;  // changed by groups that are on disk
  std::map<std::tuple<storage::StudyKey, std::int64_t, std::int64_t>,
           storage::AttemptRow>
      attempts_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_JOURNAL_H_
