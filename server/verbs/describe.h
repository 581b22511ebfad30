// SPDX-License-Identifier: Apache-2.0
//
// File: describe.h
//
// Shows studies, trials and workers: the loop takes snapshots, and other
// threads describe them.
#ifndef FROSTLINE_SERVER_VERBS_DESCRIBE_H_
#define FROSTLINE_SERVER_VERBS_DESCRIBE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/error.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/ledger/ledger.h"
#include "server/search/proposer.h"
#include "server/wire/filter.h"

namespace frostline::server {

// A study at one moment, to be described on another thread. It costs the same
// for a large spec as for a small one: what never changes is shared, not
// copied.
struct StudySnapshot {
  storage::StudyRow row;  // without spec and settings
  std::shared_ptr<const CheckedStudy> checked;
  std::int64_t revision = 0;
  v1::TrialCounts counts;
  v1::StudyUsage usage;
  std::vector<std::int64_t> best;  // at most so many, the best first
};
StudySnapshot SnapshotOf(const StudyBook& book);
v1::Study DescribeStudy(const StudySnapshot& study);
v1::Study DescribeStudy(const StudyBook& book);
// Describes a trial without its attempts.
v1::Trial DescribeTrial(const StudyBook& book, const storage::TrialRow& row);

// A worker at one moment, to be described on another thread.
struct WorkerSnapshot {
  WorkerEntry entry;
  std::vector<std::string> trials;  // names
  std::string cause = {};           // of the last failure that was its fault
};
WorkerSnapshot SnapshotOf(const WorkerEntry& entry,
                          Ledger& ledger) FROSTLINE_ON_LOOP;
// Returns all workers, sorted by id.
std::vector<WorkerSnapshot> SnapshotOfAll(Ledger& ledger) FROSTLINE_ON_LOOP;
v1::Worker DescribeWorker(const WorkerSnapshot& worker, WallMicros now,
                          Duration lease_ttl);

// Queues trials that people ask for, by CreateStudy or EnqueueTrials.

// Where queued trials are written.
struct EnqueueInto {
  Batch& batch;
  Ledger& ledger;
  Proposer& proposer;
};

// Returns the new trial's number. The error is VALUE_OUT_OF_SPACE at `field`.
absl::StatusOr<std::int64_t> EnqueueOne(
    const EnqueueInto& into, StudyBook& book, const v1::EnqueuedTrial& trial,
    int priority, const std::string& field) FROSTLINE_ON_LOOP;

// Returns a trial's labels as they are stored.
std::string LabelsOf(
    const google::protobuf::Map<std::string, std::string>& labels);

// Makes one page of a list that is wholly in memory.
//
// `add(row, page)` adds one row. Page tokens are valid for this list name only.
template <typename Page, typename Row, typename Request, typename Add>
absl::StatusOr<Page> PageOf(const std::string& list,
                            const std::vector<Row>& rows,
                            const Request& request, Add add) {
  ASSIGN_OR_RETURN(const std::int64_t first,
                   ParsePageToken(list, "", request.page_token()));
  Page page;
  const auto begin = static_cast<std::size_t>(first);
  const auto size = static_cast<std::size_t>(PageSize(request.page_size()));
  for (std::size_t i = begin; i < rows.size() && i < begin + size; ++i) {
    add(rows[i], page);
  }
  if (begin + size < rows.size()) {
    page.set_next_page_token(
        MakePageToken(list, "", static_cast<std::int64_t>(begin + size)));
  }
  return page;
}

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_DESCRIBE_H_
