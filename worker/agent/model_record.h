// SPDX-License-Identifier: Apache-2.0
//
// File: model_record.h
//
// Where a study exports its best trial's model alone, a record stands beside
// each attempt's folder (DIR/trials/STUDY/17/2.model). It says what the trial
// came to, so that whoever looks knows which models may go:
//
//   begun     the attempt runs, or its agent died: the model is nobody's yet
//   scored    it has a result, which the coordinator has not taken yet
//   settled   the coordinator has taken it, at a revision of the study
//
// Better is what the coordinator takes for better: a trial that breaks the
// study's constraints less; among equals one that dominates; of one objective
// the earlier of equals.
#ifndef FROSTLINE_WORKER_AGENT_MODEL_RECORD_H_
#define FROSTLINE_WORKER_AGENT_MODEL_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/clock.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::agent {

struct ModelRecord {
  std::string agent;           // that runs the attempt, or did
  WallMicros study = 0;        // when it was created; 0: not known
  std::vector<double> losses;  // empty until there is a result
  double violation = 0.0;      // of the study's constraints, in all
  std::int64_t revision = 0;   // 0 until it is settled

  bool operator==(const ModelRecord&) const = default;
  bool IsScored() const { return !losses.empty(); }
  bool IsSettled() const { return revision > 0; }
};

// Says whether `training.extra.export` is `best`, or `true` as it was once.
bool ExportsBestOnly(const v1::TrialSpec& spec);

// Takes the result of a trial that succeeded.
// REQUIRES: `metrics` has every objective.
void Score(const v1::TrialSpec& spec,
           const google::protobuf::Map<std::string, double>& metrics,
           ModelRecord& record);

// Answers whether `better` leaves `other` no reason to be kept. Both are
// scored; what is not settled yet counts as the later.
bool Beats(const ModelRecord& better, const ModelRecord& other);

std::string RecordPathOf(const std::string& attempt_folder);
// Answers nothing where there is none, or none of ours.
std::optional<ModelRecord> ReadRecord(const std::string& path);
absl::Status WriteRecord(const std::string& path, const ModelRecord& record);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_MODEL_RECORD_H_
