// SPDX-License-Identifier: Apache-2.0
//
// File: rows.h
//
// A store never interprets what the server serialises into strings: spec,
// settings, info, usage, labels, checkpoint, outcome, data, evaluations and
// reply.
#ifndef FROSTLINE_STORAGE_ROWS_H_
#define FROSTLINE_STORAGE_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/secret.h"
#include "study/history.h"
#include "study/point.h"

namespace frostline::storage {

using StudyKey = std::int64_t;  // the store's number for a study, from 1

// It counts how often the lead was taken, from 0.
using Epoch = std::int64_t;

// The numbers are stored: never change one.
enum class StudyState {
  kActive = 1,
  kPaused = 2,     // nothing is leased; running trials go on
  kStopped = 3,    // by a person
  kCompleted = 4,  // budget, time or space is used up
  kDeleted = 5,    // hidden; purged after its expiry
};

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
  WallMicros expires = 0;  // of a deleted study; else 0
  std::string state_reason;
  std::string owner = {};  // who created it; empty: nobody that had a name
};

enum class TrialOrigin {
  kSampled = 1,
  kEnqueued = 2,
  kImported = 3,  // outside of the budget
  kRetry = 4,     // of an ended trial; outside of the budget
};

struct TrialRow {
  StudyKey study = 0;
  std::int64_t number = 0;  // from 0, within the study
  TrialState state = TrialState::kQueued;
  TrialOrigin origin = TrialOrigin::kSampled;
  Point point;
  // The fence is the attempt that holds or last held the trial (0: none yet),
  // and the secret its worker must show.
  std::int64_t attempt = 0;
  SecretString secret;
  std::string worker;  // kept after the end
  int trial_faults = 0;
  int infrastructure_faults = 0;
  int priority = 0;           // higher first
  std::int64_t revision = 0;  // the study's, at this row's last change
  WallMicros created = 0;
  WallMicros started = 0;  // of the current or last attempt
  WallMicros ended = 0;
  std::int64_t last_step = -1;
  Metrics metrics;             // final
  std::vector<double> values;  // one per objective, where there is a result
  FailureClass failure = FailureClass::kNone;
  std::string cause;   // of a failure, pruning or cancellation; for people
  std::string usage;   // seconds, parameters, semantics
  std::string labels;  // and note and training seed
  // For replays: the sampler that proposed this trial had seen every trial with
  // a lower number, and every end up to this revision.
  std::int64_t seen_revision = 0;
  // It is the revision of this trial's own end, or 0 before it.
  std::int64_t ended_revision = 0;
};

struct AttemptRow {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::int64_t attempt = 0;
  AttemptState state = AttemptState::kRunning;
  SecretString secret;  // judges a late result of this attempt
  std::string worker;
  std::string boot_id;
  WallMicros started = 0;
  WallMicros ended = 0;
  FailureClass failure = FailureClass::kNone;
  std::string cause;
  std::string checkpoint;  // id and SHA-256; or empty
  std::string outcome;     // what a superseded attempt delivered
  std::string request_id;  // of the Acquire that it answered
};

// What a study's ended trials come to, so that nobody has to read them.
struct SummaryRow {
  StudyKey study = 0;
  std::int64_t succeeded = 0;
  std::int64_t pruned = 0;
  std::int64_t infeasible = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
  std::int64_t budget_used = 0;
  std::int64_t train_us = 0;     // microseconds of training
  std::int64_t next_number = 0;  // above each of them
  std::int64_t revision = 0;     // the study's, at their last change
  // Of those that ran here and said what they cost (v1.Usage).
  std::int64_t costed = 0;
  std::int64_t total_us = 0;
  std::int64_t mega_flops_spent = 0;
  std::int64_t mega_flops_skipped = 0;
  std::int64_t mega_flops_shared = 0;
  std::int64_t prefix_hits = 0;
  std::int64_t prefix_misses = 0;
  std::int64_t prefix_bytes = 0;
  std::int64_t fastest_mega_flops = 0;  // a second, of the fastest trial
};

// A trial that was among the best when it ended; perhaps others beat it since.
struct BestRow {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::vector<double> values;  // one per objective
};

struct MeasurementRow {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::int64_t attempt = 0;
  Measurement measurement;
};

// Outcomes are per example: of the validation set in columns, and what a trial
// said of it besides, and of other sets, as a v1.Outcome.
struct OutcomeRow {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::string data_fingerprint;
  int encoding = 0;  // of v1.ExampleOutcomes
  std::int64_t count = 0;
  std::string data;
  std::string evaluations = {};
};

// The tail is the last lines that an attempt wrote.
struct LogRow {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::int64_t attempt = 0;
  std::string tail;
  WallMicros written = 0;
  std::string place;  // of the whole log; or empty
};

enum class WorkerState {
  kActive = 1,
  kDraining = 2,     // gets no new trials
  kQuarantined = 3,  // failed too many trials in a row
  kGone = 4,         // said good-bye
};

struct WorkerRow {
  std::string id;
  std::string boot_id;
  WorkerState state = WorkerState::kActive;
  std::string info;  // labels, slots, hardware
  int failures_in_a_row = 0;
  WallMicros registered = 0;
  WallMicros last_seen = 0;
};

// A repeated request gets this reply again.
struct ReplyRow {
  std::string request_id;
  std::string method;
  std::uint64_t request_hash = 0;
  std::string reply;
  WallMicros created = 0;
};

// What proves who calls. No secret is kept, only what it hashes to.
struct TokenRow {
  std::string id;
  int role = 0;  // of v1.Role
  std::string subject;
  std::string note;
  std::string secret_sha256;      // in hexadecimal digits
  std::string old_secret_sha256;  // empty: there is none
  WallMicros created = 0;
  WallMicros expires = 0;
  WallMicros old_secret_expires = 0;
  WallMicros last_used = 0;  // 0: never
  WallMicros revoked = 0;    // 0: it was not
  std::string request_id;    // of what gave it its secret
  // Labels that a study of its bearer carries, as a v1.Token; empty: any.
  std::string study_labels = {};
  int single_use = 0;  // 1: a worker trades it for a certificate
};

// A certificate that was issued or seen. Of a subject whose certificates were
// all revoked there is one, too, whose id is "subject:" and its name.
struct CertificateRow {
  std::string id;  // SHA-256 in hexadecimal digits
  std::string subject;
  int role = 0;  // of v1.Role
  WallMicros created = 0;
  WallMicros expires = 0;
  WallMicros last_used = 0;  // 0: never
  WallMicros revoked = 0;    // 0: it was not
};

// Entries of the audit that were committed together: lines of JSON.
struct AuditRow {
  std::int64_t first = 0;  // entries count from 1, without a gap
  std::int64_t last = 0;
  std::string lines;
};

// The row that begins here has no entries: its `last` is the newest that the
// audit's files have on disk, so that an end which was cut off shows.
inline constexpr std::int64_t kAuditMoved = 0;

// What a database has of the audit.
struct AuditEnd {
  std::int64_t moved = 0;  // the newest entry that the files have; 0: unknown
  std::vector<AuditRow> rows;  // they rise
};

// The end of a study that somebody is still to be told of.
struct NotificationRow {
  std::string id;    // of this delivery
  std::string name;  // whom it goes to, as the operator calls it
  std::string study;
  std::string body;  // what is said
  WallMicros created = 0;
};

// It is the only row; there is none before the first lead.
struct LeadRow {
  std::int64_t id = 1;
  Epoch epoch = 0;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_ROWS_H_
