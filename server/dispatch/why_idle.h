// SPDX-License-Identifier: Apache-2.0
//
// File: why_idle.h
//
// Why nothing, or so little, is running: the one ladder of reasons, climbed for
// a worker that goes away empty-handed and for a person who asks. It looks at a
// snapshot and decides nothing.
//
//   study a is paused                  STUDY_PAUSED        resume it
//   no live worker carries its labels  NO_MATCHING_LABELS  start one that does
#ifndef FROSTLINE_SERVER_DISPATCH_WHY_IDLE_H_
#define FROSTLINE_SERVER_DISPATCH_WHY_IDLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "storage/rows.h"
#include "storage/trial_store.h"

namespace frostline::server {

// One study, as far as it says whether it has trials to give.
struct StudySupply {
  std::string name;
  storage::StudyState state = storage::StudyState::kActive;
  std::string state_reason = {};
  bool at_parallel_limit = false;
  bool budget_left = false;  // trials may still be proposed
  std::int64_t queued = 0;
  std::int64_t proposing = 0;
  std::int64_t running = 0;
};

// The workers that a study could have, or the one that asks.
struct FleetSupply {
  const char* who = "any live worker";
  std::int64_t live = 0;
  std::int64_t matching = 0;        // carry its labels and are in service
  std::int64_t out_of_service = 0;  // carry them, drained or quarantined
  std::int64_t free_slots = 0;      // of the matching ones
};

// The worker that asks.
struct WorkerStanding {
  bool coordinator_drains = false;
  bool is_registered = true;  // with the boot id that it asks with
  storage::WorkerState state = storage::WorkerState::kActive;
  int failures_in_a_row = 0;
};

struct IdleReason {
  v1::NoneReason none = v1::NONE_REASON_UNSPECIFIED;  // as a worker is told it
  std::string code;                                   // as a person is
  std::string sentence;
  std::string fix;  // empty: there is nothing to do
};

// All that keeps the study from running more, in the order in which it should
// be looked at. An ended study has one reason alone.
std::vector<IdleReason> WhyIdle(const StudySupply& study,
                                const FleetSupply& fleet,
                                const storage::DiskRoom& disk);

// Why the worker is given nothing whatever there is; nothing when it may be.
std::optional<IdleReason> WhyNotInService(const WorkerStanding& worker);

// Why the worker gets nothing of this study: the first of the reasons.
IdleReason WhyNothingOf(const StudySupply& study, bool carries_labels,
                        const storage::DiskRoom& disk);

// The later of two is nearer to getting a trial, and is what a worker is told.
bool IsNearer(const IdleReason& candidate, const IdleReason& than);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_WHY_IDLE_H_
