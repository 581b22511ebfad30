// SPDX-License-Identifier: Apache-2.0
//
// File: why_idle.h
//
// A worker that goes away empty-handed and a person climb one ladder:
//
//   studies/a is paused                PAUSED              resume it
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

struct StudySupply {
  std::string name;
  storage::StudyState state = storage::StudyState::kActive;
  std::string state_reason = {};
  bool at_parallel_limit = false;
  bool is_ramping = false;  // runs as many as its sampler can use; see ramp.h
  bool budget_left = false;
  std::int64_t queued = 0;
  std::int64_t proposing = 0;
  std::int64_t running = 0;
};

// Counts the workers that a study could have, or the one that asks.
struct FleetSupply {
  const char* who = "any live worker";
  std::int64_t live = 0;
  std::int64_t matching = 0;        // with labels and stock, in service
  std::int64_t out_of_service = 0;  // with both, drained or quarantined
  std::int64_t kept = 0;            // with both, kept from it (blame.h)
  std::string why_kept = {};        // one of them
  std::int64_t lacking = 0;         // with its labels, without its files
  std::string what_lacks = {};      // "the data set sst5"; of one of them
  std::int64_t free_slots = 0;      // of the matching ones
};

struct WorkerStanding {
  bool coordinator_drains = false;
  bool is_registered = true;  // with this boot id
  storage::WorkerState state = storage::WorkerState::kActive;
  int failures_in_a_row = 0;
  std::string cause = {};  // of the last; may be empty
};

struct IdleReason {
  v1::NoneReason none = v1::NONE_REASON_UNSPECIFIED;  // for a worker
  std::string code;                                   // for a person
  std::string sentence;
  std::string fix;  // may be empty
};

// Returns reasons in the order in which to look at them. An ended study has one
// reason alone.
std::vector<IdleReason> WhyIdle(const StudySupply& study,
                                const FleetSupply& fleet,
                                const storage::DiskRoom& disk);

// Answers nothing when it may be given trials.
std::optional<IdleReason> WhyNotInService(const WorkerStanding& worker);

IdleReason WhyNothingOf(const StudySupply& study, const FleetSupply& worker,
                        const storage::DiskRoom& disk);

// The later of two is nearer to getting a trial; a worker is told that one.
bool IsNearer(const IdleReason& candidate, const IdleReason& than);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_WHY_IDLE_H_
