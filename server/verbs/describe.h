// SPDX-License-Identifier: Apache-2.0
//
// File: describe.h
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

// It is a study at one moment, to be described on another thread. Making one
// costs the same for a large spec as for a small one: what never changes is
// shared, not copied.
struct StudySnapshot {
  storage::StudyRow row;  // without spec and settings
  std::shared_ptr<const CheckedStudy> checked;
  std::int64_t revision = 0;
  v1::TrialCounts counts;
  v1::StudyUsage usage;
  std::vector<std::int64_t> best;  // the first of them, the best first
};
StudySnapshot SnapshotOf(const StudyBook& book);
v1::Study DescribeStudy(const StudySnapshot& study);
v1::Study DescribeStudy(const StudyBook& book);
// Leaves its attempts out.
v1::Trial DescribeTrial(const StudyBook& book, const storage::TrialRow& row);

// It is a worker at one moment, to be described on another thread.
struct WorkerSnapshot {
  WorkerEntry entry;
  std::vector<std::string> trials;  // names
  std::string cause = {};           // of its last failure that was blamed on it
};
WorkerSnapshot SnapshotOf(const WorkerEntry& entry,
                          Ledger& ledger) FROSTLINE_ON_LOOP;
// Sorts them by id.
std::vector<WorkerSnapshot> SnapshotOfAll(Ledger& ledger) FROSTLINE_ON_LOOP;
v1::Worker DescribeWorker(const WorkerSnapshot& worker, WallMicros now,
                          Duration lease_ttl);

// People ask for these trials, by CreateStudy or EnqueueTrials.

struct EnqueueInto {
  Batch& batch;
  Ledger& ledger;
  Proposer& proposer;
};

// Returns the new trial's number, or VALUE_OUT_OF_SPACE at `field`.
absl::StatusOr<std::int64_t> EnqueueOne(
    const EnqueueInto& into, StudyBook& book, const v1::EnqueuedTrial& trial,
    int priority, const std::string& field) FROSTLINE_ON_LOOP;

// Returns a trial's labels as they are stored.
std::string LabelsOf(
    const google::protobuf::Map<std::string, std::string>& labels);

// Makes a page of a list that memory has whole.
//
// `add(row, page)` adds one row. The list's name binds its page tokens.
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
