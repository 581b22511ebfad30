// SPDX-License-Identifier: Apache-2.0
//
// File: describe.h
#ifndef FROSTLINE_SERVER_VERBS_DESCRIBE_H_
#define FROSTLINE_SERVER_VERBS_DESCRIBE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/ledger/ledger.h"

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_DESCRIBE_H_
