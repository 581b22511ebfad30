// SPDX-License-Identifier: Apache-2.0
//
// File: enqueue.h
//
// People ask for these trials, by CreateStudy or EnqueueTrials.
#ifndef FROSTLINE_SERVER_VERBS_ENQUEUE_H_
#define FROSTLINE_SERVER_VERBS_ENQUEUE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "frostline/v1/trial.pb.h"
#include "server/ledger/ledger.h"
#include "server/search/proposer.h"

namespace frostline::server {

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_ENQUEUE_H_
