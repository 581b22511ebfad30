// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/enqueue.h"

#include <utility>

#include "base/error.h"
#include "base/failpoint.h"
#include "server/wire/training_seed.h"

namespace frostline::server {

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
