// SPDX-License-Identifier: Apache-2.0
#include "storage/trial_store.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::storage {
namespace {

// Visits page by page: `list` returns the page after the query's place, `move`
// moves the place past a row.
template <typename Query, typename Row, typename List, typename Move>
absl::Status Walk(Query query, List list, Move move,
                  absl::FunctionRef<absl::Status(const Row&)> visit) {
  if constexpr (requires { query.limit; }) query.limit = kScanPage;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<Row> page, list(query));
    for (const Row& row : page) RETURN_IF_ERROR(visit(row));
    if (page.size() < kScanPage) return absl::OkStatus();
    move(query, page.back());
  }
}

}  // namespace

absl::Status ForEachStudy(
    const TrialStore& store, StudyQuery query,
    absl::FunctionRef<absl::Status(const StudyRow&)> visit) {
  return Walk<StudyQuery, StudyRow>(
      query, [&store](const StudyQuery& q) { return store.ListStudies(q); },
      [](StudyQuery& q, const StudyRow& last) { q.after = last.key; }, visit);
}

absl::Status ForEachTrial(
    const TrialStore& store, TrialQuery query,
    absl::FunctionRef<absl::Status(const TrialRow&)> visit) {
  return Walk<TrialQuery, TrialRow>(
      query, [&store](const TrialQuery& q) { return store.ListTrials(q); },
      [](TrialQuery& q, const TrialRow& last) {
        const bool by_number = q.order == TrialQuery::Order::kNumber;
        q.after = by_number ? last.number : last.revision;
      },
      visit);
}

absl::Status ForEachMeasurement(
    const TrialStore& store, MeasurementQuery query,
    absl::FunctionRef<absl::Status(const Measurement&)> visit) {
  return Walk<MeasurementQuery, Measurement>(
      query,
      [&store](const MeasurementQuery& q) { return store.ListMeasurements(q); },
      [](MeasurementQuery& q, const Measurement& last) {
        q.after_step = last.step;
      },
      visit);
}

absl::Status ForEachSummary(
    const TrialStore& store,
    absl::FunctionRef<absl::Status(const SummaryRow&)> visit) {
  return Walk<StudyKey, SummaryRow>(
      0,
      [&store](StudyKey after) {
        return store.ListSummaries(after, kScanPage);
      },
      [](StudyKey& after, const SummaryRow& last) { after = last.study; },
      visit);
}

absl::Status ForEachBest(
    const TrialStore& store, StudyKey study,
    absl::FunctionRef<absl::Status(const BestRow&)> visit) {
  return Walk<std::int64_t, BestRow>(
      -1,
      [&store, study](std::int64_t after) {
        return store.ListBest(study, after, kScanPage);
      },
      [](std::int64_t& after, const BestRow& last) { after = last.number; },
      visit);
}

namespace {

constexpr char kReportBug[] =
    "this is a bug in Frostline: report it with the coordinator's log";

bool SameValue(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

absl::Status StudyNotFound(const std::string& id) {
  return MakeError(ErrorId::kStudyNotFound,
                   absl::StrCat("there is no study ", id),
                   "list the studies to see their names");
}

absl::Status StudyKeyNotFound(StudyKey key) {
  return MakeError(ErrorId::kStudyNotFound,
                   absl::StrCat("there is no study with the key ", key),
                   "it may have been purged: list the studies");
}

absl::Status StudyAlreadyExists(const std::string& id) {
  return MakeError(ErrorId::kStudyAlreadyExists,
                   absl::StrCat("study ", id, " exists"),
                   "choose another name, or delete that study first");
}

absl::Status EtagMismatch(const StudyRow& stored, std::int64_t expected_etag) {
  return MakeError(ErrorId::kEtagMismatch,
                   absl::StrCat("study ", stored.id, " has etag ", stored.etag,
                                ", not ", expected_etag),
                   "read the study again and repeat the change", "etag");
}

absl::Status TrialNotFound(std::int64_t number) {
  return MakeError(ErrorId::kTrialNotFound,
                   absl::StrCat("the study has no trial ", number),
                   "list the study's trials to see their numbers");
}

absl::Status LeaseLost(const TrialRow& stored) {
  return MakeError(
      ErrorId::kLeaseLost,
      absl::StrCat("trial ", stored.number, " is ", NameOf(stored.state),
                   " at attempt ", stored.attempt),
      "stop this attempt; ask for new work");
}

absl::Status ReportConflict(const MeasurementRow& row) {
  return MakeError(
      ErrorId::kReportConflict,
      absl::StrCat("step ", row.measurement.step, " of trial ", row.number,
                   ", attempt ", row.attempt,
                   " was reported before with other values"),
      "report every step once; a repeated report must carry the same values");
}

absl::Status RequestIdReused(const std::string& request_id) {
  return MakeError(ErrorId::kRequestIdReused,
                   absl::StrCat("request id ", request_id, " is taken"),
                   "draw a new request id for every new request", "request_id");
}

absl::Status NotLeader(Epoch stored, Epoch shown) {
  return MakeError(ErrorId::kNotLeader,
                   absl::StrCat("epoch ", stored,
                                " of the store began, this "
                                "coordinator leads in epoch ",
                                shown),
                   "let one coordinator use the store: stop the other, or "
                   "start this one again to take the lead");
}

bool IsDeferrable(const absl::Status& refusal) {
  return HasErrorId(refusal, ErrorId::kLeaseLost) ||
         HasErrorId(refusal, ErrorId::kTrialNotFound) ||
         HasErrorId(refusal, ErrorId::kStudyNotFound) ||
         HasErrorId(refusal, ErrorId::kEtagMismatch) ||
         HasErrorId(refusal, ErrorId::kRequestIdReused);
}

absl::Status GroupUndone(const absl::Status& refusal) {
  return MakeError(ErrorId::kStoreBusy,
                   absl::StrCat("the requests that were to be stored together "
                                "were undone, because of one of them: ",
                                refusal.message()),
                   "try again: nothing of the request was stored");
}

absl::Status StoreFull(const std::string& cause) {
  return MakeError(ErrorId::kStoreFull, cause,
                   "make room on the disk; nothing of what was stored is lost");
}

absl::Status StoreCorrupt(const std::string& cause) {
  return MakeError(ErrorId::kStoreCorrupt, cause,
                   "keep a copy of the data folder and restore the latest "
                   "backup");
}

absl::Status StoreIo(const std::string& cause) {
  return MakeError(ErrorId::kStoreIo, cause,
                   "look at the kernel's log, and start again on a healthy "
                   "disk");
}

bool IsStoreFailure(const absl::Status& status) {
  return IsFatal(status) || HasErrorId(status, ErrorId::kStoreFull) ||
         HasErrorId(status, ErrorId::kStoreBusy);
}

bool IsFatal(const absl::Status& status) {
  return HasErrorId(status, ErrorId::kStoreIo) ||
         HasErrorId(status, ErrorId::kStoreCorrupt) ||
         HasErrorId(status, ErrorId::kStoreUnwritable) ||
         HasErrorId(status, ErrorId::kStoreRemoved);
}

absl::Status RowExists(const std::string& row) {
  return MakeError(ErrorId::kInternal, absl::StrCat(row, " is stored already"),
                   kReportBug);
}

absl::Status RowIsOrphan(const std::string& row) {
  return MakeError(ErrorId::kInternal,
                   absl::StrCat(row, " belongs to nothing that is stored"),
                   kReportBug);
}

absl::Status TransactionIsOver() {
  return MakeError(ErrorId::kInternal,
                   "a transaction was used after its commit", kReportBug);
}

std::string DescribeTrial(StudyKey study, std::int64_t number) {
  return absl::StrCat("trial ", number, " of study ", study);
}

bool SameMetrics(const Metrics& a, const Metrics& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& left, const auto& right) {
                      return left.first == right.first &&
                             SameValue(left.second, right.second);
                    });
}

}  // namespace frostline::storage
