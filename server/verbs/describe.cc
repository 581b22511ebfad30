// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/describe.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "proto/wire_values.h"
#include "server/search/sampler_choice.h"
#include "server/wire/convert.h"
#include "server/wire/spec.h"

namespace frostline::server {
namespace {

constexpr std::size_t kMostBestNames = 100;

}  // namespace

StudySnapshot SnapshotOf(const StudyBook& book) {
  StudySnapshot study;
  const storage::StudyRow& row = book.row();
  study.row.key = row.key;
  study.row.id = row.id;
  study.row.seed = row.seed;
  study.row.owner = row.owner;
  study.row.state = row.state;
  study.row.state_reason = row.state_reason;
  study.row.etag = row.etag;
  study.row.created = row.created;
  study.row.updated = row.updated;
  study.row.expires = row.expires;
  study.checked = book.shared_checked();
  study.revision = book.revision();
  study.counts = book.Counts();
  study.usage = book.Usage();
  study.best = book.best().Numbers(kMostBestNames);
  return study;
}

v1::Study DescribeStudy(const StudySnapshot& study) {
  v1::Study shown = StudyToProto(study.row);
  *shown.mutable_spec() = study.checked->spec;
  *shown.mutable_settings() = study.checked->settings;
  shown.set_revision(study.revision);
  *shown.mutable_counts() = study.counts;
  if (study.usage.trials() > 0) *shown.mutable_usage() = study.usage;
  shown.set_resolved_sampler(ResolvedSampler(*study.checked));
  if (IsOpen(study.row.state)) {
    shown.set_useful_parallelism(
        UsefulParallelismOf(*study.checked, study.counts));
  }
  if (auto warning = TestObjectiveWarning(study.checked->spec)) {
    shown.add_warnings(*std::move(warning));
  }
  for (const std::int64_t number : study.best) {
    shown.add_best_trials(TrialNameOf(study.row.id, number));
  }
  return shown;
}

v1::Study DescribeStudy(const StudyBook& book) {
  return DescribeStudy(SnapshotOf(book));
}

v1::Trial DescribeTrial(const StudyBook& book, const storage::TrialRow& row) {
  return TrialToProto(row, book.row().id, book.checked().space,
                      v1::TRIAL_VIEW_BASIC, {});
}

WorkerSnapshot SnapshotOf(const WorkerEntry& entry, Ledger& ledger) {
  WorkerSnapshot snapshot{entry, {}, ledger.blame().CauseOf(entry.row.id)};
  for (const TrialKey& trial : entry.holds) {
    if (const StudyBook* const book = ledger.Find(trial.study)) {
      snapshot.trials.push_back(TrialNameOf(book->row().id, trial.number));
    }
  }
  return snapshot;
}

std::vector<WorkerSnapshot> SnapshotOfAll(Ledger& ledger) {
  std::vector<WorkerSnapshot> fleet;
  fleet.reserve(ledger.workers().all().size());
  for (const auto& [id, entry] : ledger.workers().all()) {
    fleet.push_back(SnapshotOf(entry, ledger));
  }
  return fleet;
}

v1::Worker DescribeWorker(const WorkerSnapshot& snapshot, WallMicros now,
                          Duration lease_ttl) {
  const WorkerEntry& entry = snapshot.entry;
  v1::Worker worker = entry.info;
  worker.set_name(WorkerNameOf(entry.row.id));
  worker.set_state(IsGone(entry, now, lease_ttl)
                       ? v1::WORKER_STATE_GONE
                       : static_cast<v1::WorkerState>(entry.row.state));
  *worker.mutable_register_time() =
      proto::TimestampToProto(entry.row.registered);
  *worker.mutable_last_seen_time() =
      proto::TimestampToProto(entry.row.last_seen);
  worker.clear_load();
  if (entry.load != nullptr) *worker.mutable_load() = entry.load->load;
  for (const std::string& trial : snapshot.trials) worker.add_trials(trial);
  worker.set_failures_in_a_row(entry.row.failures_in_a_row);
  if (entry.row.state == storage::WorkerState::kQuarantined) {
    worker.set_state_reason(absl::StrCat(
        entry.row.failures_in_a_row, " failures in a row",
        snapshot.cause.empty() ? "" : "; the last: ", snapshot.cause,
        ": mend the cause, then drain --undo; it is tried again after a "
        "pause"));
  }
  return worker;
}

std::string LabelsOf(
    const google::protobuf::Map<std::string, std::string>& labels) {
  v1::Trial labelled;
  *labelled.mutable_labels() = labels;
  return labelled.SerializeAsString();
}

absl::StatusOr<std::int64_t> EnqueueOne(const EnqueueInto& into,
                                        StudyBook& book,
                                        const v1::EnqueuedTrial& trial,
                                        int priority,
                                        const std::string& field) {
  storage::TrialRow row;
  row.number = book.next_number();
  row.origin = storage::TrialOrigin::kEnqueued;
  row.priority = priority;
  ASSIGN_OR_RETURN(row.point,
                   PointFromEnqueued(book.checked(), trial, field, row.number));
  row.seen_revision = book.revision();
  row.labels = LabelsOf(trial.labels());
  NotedSeed seed{.seed = trial.seed(), .repeat = 0};
  if (seed.seed == 0) {
    seed.seed = TrainingSeed(book.checked().spec, row.number, seed.repeat);
  }
  NoteSeed(seed, row);
  const std::int64_t number = row.number;
  const Point point = row.point;
  RETURN_IF_ERROR(into.ledger.InsertTrial(into.batch, book, std::move(row)));
  into.proposer.Began(book.row().key, number, point, seed);
  FROSTLINE_FAILPOINT(kTrialsEnqueued);
  return number;
}

}  // namespace frostline::server
