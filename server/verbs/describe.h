// SPDX-License-Identifier: Apache-2.0
//
// File: describe.h
//
// Studies, trials and workers as callers see them: rows, and what memory knows
// besides.
#ifndef FROSTLINE_SERVER_VERBS_DESCRIBE_H_
#define FROSTLINE_SERVER_VERBS_DESCRIBE_H_

#include <string>
#include <vector>

#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/ledger/ledger.h"

namespace frostline::server {

v1::Study DescribeStudy(const StudyBook& book);
// In short, without its attempts.
v1::Trial DescribeTrial(const StudyBook& book, const storage::TrialRow& row);

// A worker as it was at one moment, to be described on another thread.
struct WorkerSnapshot {
  WorkerEntry entry;
  std::vector<std::string> trials;  // names of those it holds
};
WorkerSnapshot SnapshotOf(const WorkerEntry& entry,
                          Ledger& ledger) FROSTLINE_ON_LOOP;
// By id.
std::vector<WorkerSnapshot> SnapshotOfAll(Ledger& ledger) FROSTLINE_ON_LOOP;
// Whether it holds nothing, and has been silent for longer than any lease
// lasts: gone, until it is heard again.
bool IsGone(const WorkerEntry& entry, WallMicros now, Duration lease_ttl);
v1::Worker DescribeWorker(const WorkerSnapshot& worker, WallMicros now,
                          Duration lease_ttl);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_DESCRIBE_H_
