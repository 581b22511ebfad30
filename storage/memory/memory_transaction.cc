// SPDX-License-Identifier: Apache-2.0
//
// How a transaction and its operations end; what it writes is in
// memory_transaction.cc.
#include "storage/memory/memory_transaction.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "storage/backend.h"

namespace frostline::storage {

MemoryTransaction::~MemoryTransaction() {
  if (!over_) store_.writer_.Give();
}

void MemoryTransaction::MergeOperation() {
  ForEachTable([this](auto table) {
    Merge(changes_.*table, std::move(operation_.*table));
  });
}

absl::Status MemoryTransaction::Operation(
    absl::FunctionRef<absl::Status()> body) {
  if (over_) return TransactionIsOver();
  MergeOperation();  // what was written outside of an operation
  const StudyKey next_key = next_key_;
  const absl::Status status = body();
  if (status.ok()) {
    MergeOperation();
  } else {
    operation_ = Tables();
    next_key_ = next_key;
  }
  return status;
}

absl::Status MemoryTransaction::Commit() {
  if (over_) return TransactionIsOver();
  MergeOperation();
  store_.Apply(std::move(changes_), next_key_);
  over_ = true;
  store_.writer_.Give();
  return absl::OkStatus();
}

// What a transaction writes.

template <typename Key, typename Row>
void MemoryTransaction::EraseOfStudy(TableOf<Key, Row> table, StudyKey study,
                                     std::int64_t& most) {
  Key first{};  // {study, lowest, lowest, …}
  std::apply(
      [](auto&... part) {
        ((part = std::numeric_limits<std::int64_t>::min()), ...);
      },
      first);
  std::get<0>(first) = study;
  for (const Tables* layer : Layers()) {
    for (auto it = (layer->*table).lower_bound(first);
         it != (layer->*table).end() && std::get<0>(it->first) == study; ++it) {
      if (Find(table, it->first) == nullptr) continue;
      if (most == 0) return;
      --most;
      (operation_.*table)[it->first] = nullptr;
    }
  }
}

bool MemoryTransaction::IdIsTaken(const std::string& id, StudyKey key) const {
  const auto takes = [&](StudyKey candidate) {
    if (candidate == key) return false;
    const auto row = Find(&Tables::studies, OfStudy{candidate});
    return row != nullptr && row->id == id &&
           row->state != StudyState::kDeleted;
  };
  const auto live = store_.live_ids_.find(id);
  if (live != store_.live_ids_.end() && takes(live->second)) return true;
  for (const Tables* layer : {&changes_, &operation_}) {
    for (const auto& [changed, row] : layer->studies) {
      if (takes(std::get<0>(changed))) return true;
    }
  }
  return false;
}

absl::StatusOr<StudyKey> MemoryTransaction::InsertStudy(const StudyRow& study) {
  if (over_) return TransactionIsOver();
  StudyRow row = study;
  row.key = next_key_;
  if (row.state != StudyState::kDeleted && IdIsTaken(row.id, row.key)) {
    return StudyAlreadyExists(row.id);
  }
  ++next_key_;
  Put(&Tables::studies, OfStudy{row.key}, row);
  return row.key;
}

absl::Status MemoryTransaction::UpdateStudy(const StudyRow& study,
                                            std::int64_t expected_etag) {
  if (over_) return TransactionIsOver();
  const auto stored = Find(&Tables::studies, OfStudy{study.key});
  if (stored == nullptr) return StudyKeyNotFound(study.key);
  if (stored->etag != expected_etag) {
    return EtagMismatch(*stored, expected_etag);
  }
  StudyRow row = study;
  row.id = stored->id;
  row.spec = stored->spec;
  row.seed = stored->seed;
  row.created = stored->created;
  row.owner = stored->owner;
  if (row.state != StudyState::kDeleted && IdIsTaken(row.id, row.key)) {
    return StudyAlreadyExists(row.id);
  }
  Put(&Tables::studies, OfStudy{study.key}, std::move(row));
  return absl::OkStatus();
}

absl::StatusOr<bool> MemoryTransaction::PurgeStudy(StudyKey study,
                                                   std::int64_t most) {
  if (over_) return TransactionIsOver();
  if (Find(&Tables::studies, OfStudy{study}) == nullptr) {
    return StudyKeyNotFound(study);
  }
  EraseOfStudy(&Tables::measurements, study, most);
  EraseOfStudy(&Tables::outcomes, study, most);
  EraseOfStudy(&Tables::logs, study, most);
  EraseOfStudy(&Tables::best, study, most);
  EraseOfStudy(&Tables::summaries, study, most);
  EraseOfStudy(&Tables::attempts, study, most);
  EraseOfStudy(&Tables::trials, study, most);
  EraseOfStudy(&Tables::studies, study, most);
  return Find(&Tables::studies, OfStudy{study}) != nullptr;
}

absl::Status MemoryTransaction::InsertTrial(const TrialRow& trial) {
  if (over_) return TransactionIsOver();
  const std::string name = DescribeTrial(trial.study, trial.number);
  if (Find(&Tables::studies, OfStudy{trial.study}) == nullptr) {
    return RowIsOrphan(name);
  }
  const OfTrial key{trial.study, trial.number};
  if (Find(&Tables::trials, key) != nullptr) return RowExists(name);
  Put(&Tables::trials, key, trial);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::UpdateTrial(const TrialRow& trial,
                                            const TrialGuard& guard) {
  if (over_) return TransactionIsOver();
  const OfTrial key{trial.study, trial.number};
  const auto stored = Find(&Tables::trials, key);
  if (stored == nullptr) return TrialNotFound(trial.number);
  if (stored->state != guard.state || stored->attempt != guard.attempt ||
      (guard.secret.has_value() && !(stored->secret == *guard.secret))) {
    return LeaseLost(*stored);
  }
  TrialRow row = trial;
  row.origin = stored->origin;
  row.point = stored->point;
  row.created = stored->created;
  Put(&Tables::trials, key, std::move(row));
  return absl::OkStatus();
}

bool MemoryTransaction::HasHad(StudyKey study, std::int64_t number,
                               std::int64_t attempt) const {
  const auto trial = Find(&Tables::trials, OfTrial{study, number});
  return trial != nullptr && attempt <= trial->attempt;
}

absl::Status MemoryTransaction::PutAttempt(const AttemptRow& attempt) {
  if (over_) return TransactionIsOver();
  if (!HasHad(attempt.study, attempt.number, attempt.attempt)) {
    return RowIsOrphan(
        absl::StrCat("attempt ", attempt.attempt, " of ",
                     DescribeTrial(attempt.study, attempt.number)));
  }
  Put(&Tables::attempts,
      OfAttempt{attempt.study, attempt.number, attempt.attempt}, attempt);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::AddMeasurements(
    const std::vector<MeasurementRow>& rows) {
  if (over_) return TransactionIsOver();
  for (const MeasurementRow& row : rows) {
    const OfStep key{row.study, row.number, row.attempt, row.measurement.step};
    const auto stored = Find(&Tables::measurements, key);
    if (stored != nullptr) {
      if (SameMetrics(stored->metrics, row.measurement.metrics)) continue;
      return ReportConflict(row);
    }
    if (!HasHad(row.study, row.number, row.attempt)) {
      return RowIsOrphan(absl::StrCat("a measurement of attempt ", row.attempt,
                                      " of ",
                                      DescribeTrial(row.study, row.number)));
    }
    Put(&Tables::measurements, key, row.measurement);
  }
  return absl::OkStatus();
}

absl::Status MemoryTransaction::PutOutcome(const OutcomeRow& outcome) {
  if (over_) return TransactionIsOver();
  const OfTrial key{outcome.study, outcome.number};
  if (Find(&Tables::trials, key) == nullptr) {
    return RowIsOrphan(absl::StrCat(
        "the outcomes of ", DescribeTrial(outcome.study, outcome.number)));
  }
  Put(&Tables::outcomes, key, outcome);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::PutLog(const LogRow& log) {
  if (over_) return TransactionIsOver();
  if (!HasHad(log.study, log.number, log.attempt)) {
    return RowIsOrphan(absl::StrCat("a log of attempt ", log.attempt, " of ",
                                    DescribeTrial(log.study, log.number)));
  }
  Put(&Tables::logs, OfAttempt{log.study, log.number, log.attempt}, log);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::PutSummary(const SummaryRow& summary) {
  if (over_) return TransactionIsOver();
  const OfStudy key{summary.study};
  if (Find(&Tables::studies, key) == nullptr) {
    return RowIsOrphan(absl::StrCat("the summary of study ", summary.study));
  }
  Put(&Tables::summaries, key, summary);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::PutBest(const BestRow& best) {
  if (over_) return TransactionIsOver();
  const OfTrial key{best.study, best.number};
  if (Find(&Tables::trials, key) == nullptr) {
    return RowIsOrphan(
        absl::StrCat("the rank of ", DescribeTrial(best.study, best.number)));
  }
  Put(&Tables::best, key, best);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::PutWorker(const WorkerRow& worker) {
  if (over_) return TransactionIsOver();
  Put(&Tables::workers, worker.id, worker);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::ForgetWorker(const std::string& id) {
  if (over_) return TransactionIsOver();
  operation_.workers[id] = nullptr;
  return absl::OkStatus();
}

absl::Status MemoryTransaction::PutToken(const TokenRow& token) {
  if (over_) return TransactionIsOver();
  Put(&Tables::tokens, token.id, token);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::PutCertificate(
    const CertificateRow& certificate) {
  if (over_) return TransactionIsOver();
  Put(&Tables::certificates, certificate.id, certificate);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::PutAudit(const AuditRow& entries) {
  if (over_) return TransactionIsOver();
  Put(&Tables::audit, entries.first, entries);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::ForgetAuditBefore(std::int64_t first) {
  if (over_) return TransactionIsOver();
  for (const Tables* layer : Layers()) {
    for (const auto& [begin, row] : layer->audit) {
      if (begin < first) operation_.audit[begin] = nullptr;
    }
  }
  return absl::OkStatus();
}

absl::Status MemoryTransaction::PutNotification(
    const NotificationRow& notification) {
  if (over_) return TransactionIsOver();
  Put(&Tables::notifications, notification.id, notification);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::ForgetNotification(const std::string& id) {
  if (over_) return TransactionIsOver();
  operation_.notifications[id] = nullptr;
  return absl::OkStatus();
}

absl::Status MemoryTransaction::RememberReply(const ReplyRow& reply) {
  if (over_) return TransactionIsOver();
  if (Find(&Tables::replies, reply.request_id) != nullptr) {
    return RequestIdReused(reply.request_id);
  }
  Put(&Tables::replies, reply.request_id, reply);
  return absl::OkStatus();
}

absl::StatusOr<bool> MemoryTransaction::ForgetRepliesBefore(WallMicros time,
                                                            std::int64_t most) {
  if (over_) return TransactionIsOver();
  for (const Tables* layer : Layers()) {
    for (const auto& [id, row] : layer->replies) {
      const auto seen = Find(&Tables::replies, id);
      if (seen == nullptr || seen->created >= time) continue;
      if (most-- == 0) return true;
      operation_.replies[id] = nullptr;
    }
  }
  return false;
}

}  // namespace frostline::storage
