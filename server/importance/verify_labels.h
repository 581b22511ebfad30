// SPDX-License-Identifier: Apache-2.0
//
// File: verify_labels.h
//
// The labels say which rival a trial is, and what was predicted of it before it
// ran, since a plan is judged by that.
#ifndef FROSTLINE_SERVER_IMPORTANCE_VERIFY_LABELS_H_
#define FROSTLINE_SERVER_IMPORTANCE_VERIFY_LABELS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "frostline/v1/study.pb.h"
#include "importance/report.h"
#include "storage/rows.h"
#include "study/objective.h"

namespace frostline::server {

struct VerifyMark {
  std::string batch;  // enqueued together
  std::string rival;
  Objective objective;
  std::int64_t total = 0;          // of the batch
  std::uint64_t seed = 0;          // no label
  importance::Interval predicted;  // mean over seeds
  importance::Interval one_run;
};

void MarkToVerify(const VerifyMark& mark, v1::EnqueuedTrial& trial);

// Finds nothing for other trials, and labels that we have not made.
std::optional<VerifyMark> VerifyMarkOf(const storage::TrialRow& row);

// Writes exact numbers: "0.91 0.9 0.92 0.89 0.93".
std::string IntervalText(const importance::Interval& interval);
std::optional<importance::Interval> IntervalFromText(const std::string& text);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_VERIFY_LABELS_H_
