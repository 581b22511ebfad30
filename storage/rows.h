// SPDX-License-Identifier: Apache-2.0
//
// File: rows.h
//
// What is stored, as plain structs. The server serialises some things into
// strings, which a store never interprets: spec, settings, info, usage, labels,
// checkpoint, outcome, data, evaluations and reply.
#ifndef FROSTLINE_STORAGE_ROWS_H_
#define FROSTLINE_STORAGE_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/secret.h"
#include "study/history.h"
#include "study/space.h"

namespace frostline::storage {

using StudyKey = std::int64_t;  // the store's number for a study, from 1

// How often a coordinator has taken the lead, counted from 0.
using Epoch = std::int64_t;

// The states of a study. The numbers are stored: never change one.
enum class StudyState {
  kActive = 1,
  kPaused = 2,     // nothing is leased; running trials go on
  kStopped = 3,    // by a person
  kCompleted = 4,  // budget, time or space is used up
  kDeleted = 5,    // hidden; purged after its expiry
};

// A study.
struct StudyRow {
  StudyKey key = 0;
  std::string id;  // unique among studies that are not deleted
  StudyState state = StudyState::kActive;
  std::string spec;      // immutable
  std::string settings;  // what UpdateStudy may change
  std::uint64_t seed = 0;
  std::int64_t etag = 1;      // rises with each change
  std::int64_t revision = 0;  // of the last change
  WallMicros created = 0;
  WallMicros updated = 0;
  WallMicros expires = 0;  // for a deleted study; else 0
  std::string state_reason;
  std::string owner = {};  // who created it; empty: nobody that had a name
};

// Where a trial comes from. The numbers are stored: never change one.
enum class TrialOrigin {
  kSampled = 1,
  kEnqueued = 2,
  kImported = 3,  // does not use the budget
  kRetry = 4,     // runs an ended trial again; does not use the budget
};

// A trial, with its last attempt and its result.
struct TrialRow {
  StudyKey study = 0;
  std::int64_t number = 0;  // from 0, within the study
  TrialState state = TrialState::kQueued;
  TrialOrigin origin = TrialOrigin::kSampled;
  Point point;
  // The fence: the attempt that holds the trial or held it last (0: none yet),
  // and the secret that its worker has to show.
  std::int64_t attempt = 0;
  SecretString secret;
  std::string worker;  // kept after the end
  int trial_faults = 0;
  int infrastructure_faults = 0;
  int priority = 0;           // higher first
  std::int64_t revision = 0;  // the study's, at this row's last change
  WallMicros created = 0;
  WallMicros started = 0;  // the current or last attempt
  WallMicros ended = 0;
  std::int64_t last_step = -1;
  Metrics metrics;             // final
  std::vector<double> values;  // one per objective, if there is a result
  FailureClass failure = FailureClass::kNone;
  std::string cause;   // of a failure, pruning or cancellation; for people
  std::string usage;   // seconds, parameters, semantics
  std::string labels;  // with the note and the training seed
  // For replays: the sampler that proposed this trial had seen every trial with
  // a lower number, and every end up to this revision.
  std::int64_t seen_revision = 0;
  // The revision of this trial's own end, or 0 before it has ended.
  std::int64_t ended_revision = 0;
};

// An attempt of a trial on a worker.
struct AttemptRow {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::int64_t attempt = 0;
  AttemptState state = AttemptState::kRunning;
  SecretString secret;  // to judge a late result of this attempt
  std::string worker;
  std::string boot_id;
  WallMicros started = 0;
  WallMicros ended = 0;
  FailureClass failure = FailureClass::kNone;
  std::string cause;
  std::string checkpoint;  // id and SHA-256, or empty
  std::string outcome;     // delivered by a superseded attempt
  std::string request_id;  // the Acquire that it answered
};

// The sums over a study's ended trials, so that nobody has to read them all.
struct SummaryRow {
  StudyKey study = 0;
  std::int64_t succeeded = 0;
  std::int64_t pruned = 0;
  std::int64_t infeasible = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
  std::int64_t budget_used = 0;
  std::int64_t train_us = 0;     // microseconds of training
  std::int64_t next_number = 0;  // above all of their numbers
  std::int64_t revision = 0;     // the study's, at their last change
  // The trials that ran here and said what they cost (v1.Usage).
  std::int64_t costed = 0;
  std::int64_t total_us = 0;
  std::int64_t mega_flops_spent = 0;
  std::int64_t mega_flops_skipped = 0;
  std::int64_t mega_flops_shared = 0;
  std::int64_t prefix_hits = 0;
  std::int64_t prefix_misses = 0;
  std::int64_t prefix_bytes = 0;
  std::int64_t fastest_mega_flops = 0;  // per second, of the fastest trial
};

// A trial that was among the best when it ended; others may have become better
// since.
struct BestRow {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::vector<double> values;  // one per objective
};

// What an attempt measured at one step.
struct MeasurementRow {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::int64_t attempt = 0;
  Measurement measurement;
};

// What a trial said about single examples. Those of the validation set have
// columns of their own; the rest, also for other sets, is a v1.Outcome.
struct OutcomeRow {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::string data_fingerprint;
  int encoding = 0;  // of v1.ExampleOutcomes
  std::int64_t count = 0;
  std::string data;
  std::string evaluations = {};
};

// The last lines that an attempt wrote.
struct LogRow {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::int64_t attempt = 0;
  std::string tail;
  WallMicros written = 0;
  std::string place;  // of the whole log, or empty
};

// The states of a worker. The numbers are stored: never change one.
enum class WorkerState {
  kActive = 1,
  kDraining = 2,     // gets no new trials
  kQuarantined = 3,  // failed too many trials in a row
  kGone = 4,         // said good-bye
};

// A worker, as it registered last.
struct WorkerRow {
  std::string id;
  std::string boot_id;
  WorkerState state = WorkerState::kActive;
  std::string info;  // labels, slots, hardware
  int failures_in_a_row = 0;
  WallMicros registered = 0;
  WallMicros last_seen = 0;
};

// The reply that a repeated request gets again.
struct ReplyRow {
  std::string request_id;
  std::string method;
  std::uint64_t request_hash = 0;
  std::string reply;
  WallMicros created = 0;
};

// A token, which proves who calls. Only the hash of its secret is kept.
struct TokenRow {
  std::string id;
  int role = 0;  // of v1.Role
  std::string subject;
  std::string note;
  std::string secret_sha256;      // in hexadecimal digits
  std::string old_secret_sha256;  // empty: none
  WallMicros created = 0;
  WallMicros expires = 0;
  WallMicros old_secret_expires = 0;
  WallMicros last_used = 0;  // 0: never
  WallMicros revoked = 0;    // 0: not revoked
  std::string request_id;    // of the request that made its secret
  // Labels that a study needs for the token's bearer to see it, as a v1.Token.
  // Empty: all studies.
  std::string study_labels = {};
  int single_use = 0;  // 1: a worker trades it for a certificate
};

// A certificate that was issued or seen. When all certificates of a subject are
// revoked, a row with the id "subject:" and its name says so.
struct CertificateRow {
  std::string id;  // SHA-256 in hexadecimal digits
  std::string subject;
  int role = 0;  // of v1.Role
  WallMicros created = 0;
  WallMicros expires = 0;
  WallMicros last_used = 0;  // 0: never
  WallMicros revoked = 0;    // 0: not revoked
};

// Entries of the audit that were committed together, as lines of JSON.
struct AuditRow {
  std::int64_t first = 0;  // entries count from 1, without a gap
  std::int64_t last = 0;
  std::string lines;
};

// The key of a row without entries. Its `last` is the newest entry that the
// audit's files have on disk, so that one sees when their end was cut off.
inline constexpr std::int64_t kAuditMoved = 0;

// What a database has of the audit's end.
struct AuditEnd {
  std::int64_t moved = 0;  // the newest entry that the files have; 0: unknown
  std::vector<AuditRow> rows;  // in rising order
};

// A message about the end of a study that has not been delivered yet.
struct NotificationRow {
  std::string id;    // of this delivery
  std::string name;  // the receiver, as the operator calls it
  std::string study;
  std::string body;  // what is said
  WallMicros created = 0;
};

// Who leads. It is the only row of its table, and absent until a coordinator
// has taken the lead.
struct LeadRow {
  std::int64_t id = 1;
  Epoch epoch = 0;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_ROWS_H_
